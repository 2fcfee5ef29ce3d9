"""The one builder of turn, preview and snapshot: blocks in, ledger and messages out (SPEC §5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory.errors import BudgetError
from memory.llm.port import ChatMessage, ModelInfo
from memory.prompt.budget import MIN_RESERVE, Tally, required
from memory.prompt.budget import budget as budget_of
from memory.prompt.ledger import Block, Entry, Kind, Ledger, Status
from memory.prompt.pins import share_pins
from memory.prompt.strategies import truncate

_PLACE = {kind: place for place, kind in enumerate(Kind)}
_EMPTY = "nothing under this heading is in the prompt"


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent, and the account of it."""

    ledger: Ledger
    messages: tuple[ChatMessage, ...]


def build(blocks: Sequence[Block], *, info: ModelInfo, reserve: int, notes: Sequence[str] = ()) -> Prompt:
    """Fit ``blocks`` into the model's budget and put them in order: by kind, stable within a kind.

    ``reserve``: tokens kept for the reply (and tool descriptions). ``notes``: plain sentences for the ledger.
    Raises :class:`BudgetError`, with the numbers, when what is never removed does not fit.
    """
    ordered = sorted(blocks, key=lambda b: _PLACE[b.kind])
    limit = budget_of(info.context_window, reserve)
    out = {i: b.left_out for i, b in enumerate(ordered) if b.left_out and not required(b)}
    out |= share_pins(ordered, limit)
    candidates = [i for i in range(len(ordered)) if i not in out]
    left = truncate.plan([ordered[i] for i in candidates], limit)
    out |= {candidates[i]: why for i, why in left.items()}
    tally = Tally(ordered)
    for index in out:
        tally.remove(index)
    if tally.used > limit:
        raise BudgetError(tally.used, limit, _largest(tally))
    entries = tuple(_decide(b, tally.inside[i], out.get(i, _EMPTY)) for i, b in enumerate(ordered))
    ledger = Ledger(
        model=info.name,
        encoding=info.encoding,
        approximate=not info.exact or any(e.block.images for e in entries if e.status is Status.INCLUDED),
        context_window=info.context_window,
        reserve=max(reserve, MIN_RESERVE),
        budget=limit,
        used=tally.used,
        strategy=truncate.NAME,
        entries=entries,
        notes=tuple(notes),
    )
    return Prompt(ledger, to_messages(ledger.included()))


def to_messages(blocks: Iterable[Block]) -> tuple[ChatMessage, ...]:
    """Blocks as they are sent: one message each, joined neighbours one together."""
    messages: list[ChatMessage] = []
    run: list[Block] = []
    for block in blocks:
        if run and not (block.join and block.join == run[0].join):
            messages.append(_message(run))
            run = []
        run.append(block)
    if run:
        messages.append(_message(run))
    return tuple(messages)


def _message(run: Sequence[Block]) -> ChatMessage:
    text = "".join(b.text for b in run)
    return ChatMessage(run[0].role, text, run[0].id, tuple(url for b in run for url in b.images))


def _decide(block: Block, inside: bool, why: str) -> Entry:
    return Entry(block, Status.INCLUDED) if inside else Entry(block, Status.EXCLUDED, why)


def _largest(tally: Tally) -> tuple[tuple[str, int], ...]:
    """The three largest parts by title, a memory section with its heading counting as one."""
    parts: dict[str, tuple[str, int]] = {}
    for index, block in enumerate(tally.blocks):
        if tally.inside[index]:
            leader = tally.leader(index)
            own = block.heading or not block.join
            head = block if own or leader is None else tally.blocks[leader]
            title, tokens = parts.get(head.id, (head.title, 0))
            parts[head.id] = (title, tokens + block.tokens)
    return tuple(sorted(parts.values(), key=lambda part: -part[1])[:3])
