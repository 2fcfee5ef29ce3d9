"""What people see of a ledger: redacted for all but the owner; as a table, text or JSON (SPEC §5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from memory.prompt.ledger import Block, Entry, Kind, Ledger, Status
from memory.prompt.storage import from_json, to_json

__all__ = [
    "EXPLAIN_LIMIT",
    "PERSONAL_TITLE",
    "explain",
    "from_json",
    "redact",
    "snapshot_text",
    "to_json",
]

PERSONAL_TITLE = "a member's personal memory"
EXPLAIN_LIMIT = 1_900
"""Characters of :func:`explain`: it fits into one Discord message with its code fence."""

_REASONS = 6
_ROW = "{:<28}{:>5}{:>5}{:>9}{:>7}"


def redact(ledger: Ledger, viewer_id: int | None) -> Ledger:
    """The ledger as ``viewer_id`` may see it: of others' personal memories only counts and tokens remain."""
    return replace(ledger, entries=tuple(_redact(e, viewer_id) for e in ledger.entries))


def _redact(entry: Entry, viewer_id: int | None) -> Entry:
    block = entry.block
    opens = block.heading and block.owner is None and not block.memory_ids
    personal = block.kind is Kind.PERSONAL_MEMORIES or block.owner is not None
    if not personal or opens or (block.owner is not None and block.owner == viewer_id):
        return entry
    section = f"memories.user.{block.owner or 'unknown'}"
    hidden = Block(
        id=section,
        kind=block.kind,
        title=PERSONAL_TITLE,
        role=block.role,
        text="",
        tokens=block.tokens,
        protected=block.protected,
        pinned=block.pinned,
        owner=block.owner,
        join=block.join,
        heading=block.heading,
        under="" if block.heading else section,
        entries=block.entries,
    )
    return replace(entry, block=hidden)


def explain(ledger: Ledger) -> str:
    """A monospace table for a person: kinds with blocks in and out, tokens and share; what is out and why."""
    about = " (approximate)" if ledger.approximate else ""
    used = f"{ledger.used:,}{about} = {_percent(ledger.used, ledger.budget)}"
    lines = [
        f"model {ledger.model[:60]} · tokenizer {ledger.encoding[:30]}{about}",
        f"limit {ledger.context_window:,} · reserved for the reply {ledger.reserve:,}",
        f"budget {ledger.budget:,} · used {used} · strategy {ledger.strategy[:30]}",
        "",
        _ROW.format("part", "in", "out", "tokens", "share").rstrip(),
    ]
    lines += [_row(kind, entries, ledger.used) for kind, entries in _by_kind(ledger.entries)]
    inside = sum(e.block.entries for e in ledger.entries if _in(e) and not e.block.heading)
    outside = sum(e.block.entries for e in ledger.entries if not _in(e) and not e.block.heading)
    lines.append(
        _ROW.format("together", inside, outside, f"{ledger.used:,}", "100 %" if ledger.used else "0 %")
    )
    reasons = _reasons(ledger.entries)
    if reasons:
        lines += ["", "not in the prompt:", *reasons]
    lines += [f"note: {_short(note, 160)}" for note in ledger.notes]
    return _cut(lines)


def _row(kind: Kind, entries: Sequence[Entry], used: int) -> str:
    counted = [e for e in entries if not e.block.heading]
    inside = sum(e.block.entries for e in counted if _in(e))
    outside = sum(e.block.entries for e in counted if not _in(e))
    tokens = sum(e.block.tokens for e in entries if _in(e))
    return _ROW.format(kind.label, inside, outside, f"{tokens:,}", _percent(tokens, used))


def _by_kind(entries: Iterable[Entry]) -> list[tuple[Kind, list[Entry]]]:
    kinds: dict[Kind, list[Entry]] = {}
    for entry in entries:
        kinds.setdefault(entry.block.kind, []).append(entry)
    return sorted(kinds.items(), key=lambda item: _KINDS.index(item[0]))


_KINDS = tuple(Kind)


def _reasons(entries: Iterable[Entry]) -> list[str]:
    """One line for each kind and reason, the most tokens first."""
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    for entry in entries:
        if not _in(entry) and not entry.block.heading:
            why = entry.why if entry.status is Status.EXCLUDED else f"summarised {entry.why}".strip()
            blocks, tokens = sums.get((entry.block.kind.label, why), (0, 0))
            sums[entry.block.kind.label, why] = blocks + entry.block.entries, tokens + entry.block.tokens
    ranked = sorted(sums.items(), key=lambda item: -item[1][1])
    lines = [f"{n} × {kind}, {tokens:,} tokens: {_short(why, 120)}" for (kind, why), (n, tokens) in ranked]
    more = len(lines) - _REASONS
    return [*lines[:_REASONS], f"… and {more} more reasons"] if more > 0 else lines


def _in(entry: Entry) -> bool:
    return entry.status is Status.INCLUDED


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole > 0 else "0 %"


def _short(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _cut(lines: Sequence[str]) -> str:
    """As many whole lines as fit."""
    kept: list[str] = []
    size = 0
    for line in lines:
        size += len(line) + 1
        if size > EXPLAIN_LIMIT - 2:
            kept.append("…")
            break
        kept.append(line)
    return "\n".join(kept).replace("`", "'")


def snapshot_text(ledger: Ledger) -> str:
    """The whole prompt as text, a header line before each message. Hidden memories are counted, not shown."""
    about = ", approximate" if ledger.approximate else ""
    head = f"# {ledger.model}, {ledger.used:,} of {ledger.budget:,} tokens ({ledger.encoding}{about})"
    parts = [head]
    runs = groupby(enumerate(ledger.included()), key=lambda item: item[1].join or item[0])
    for _, run in runs:
        blocks = [block for _, block in run]
        tokens = sum(b.tokens for b in blocks)
        parts.append(f"## {blocks[0].role.value} · {blocks[0].title} · {tokens:,} tokens\n{_words(blocks)}")
    return "\n\n".join(parts) + "\n"


def _words(blocks: Sequence[Block]) -> str:
    """A message's text, each member's hidden entries as their number."""
    shown: list[str] = []
    for (hidden, _), run in groupby(blocks, key=lambda b: (b.title == PERSONAL_TITLE, b.owner)):
        part = list(run)
        entries = sum(1 for b in part if not b.heading)
        noun = "entry" if entries == 1 else "entries"
        words = f"({entries} {noun}, shown to their owner only)" if hidden else "".join(b.text for b in part)
        shown.append(words.rstrip("\n"))
    return "\n".join([*shown, *(f"[image sent: {url}]" for b in blocks for url in b.images)])
