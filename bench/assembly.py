"""Assembly: how long a full window's prompt takes to build, and again with one more message.

Four scopes of 120 memories and the 50 messages of `balanced`, counted by the real o200k_base tokenizer.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from memory.llm.port import ModelInfo
from memory.llm.tokenizers import load
from memory.prompt.assembly import Prompt, build
from memory.prompt.blocks import input_blocks, memory_blocks, memory_group, prompt_block, whom, window_blocks
from memory.prompt.budget import Count
from memory.prompt.ledger import Block, Kind
from memory.prompt.texts import system_prompt
from memory.types import DEFAULT_LINEAGE, AuthorKind, Memory, Message, Scope
from memory.window.rules import render_line

ROUNDS = 40
_NOW = datetime(2026, 11, 30, 18, 0, tzinfo=UTC)
_INFO = ModelInfo("gpt-4o", 128_000, "o200k_base", exact=True)
_NAMES = {7: "Alice", 500: "The Tea House"}
_SCOPES = (
    Scope.server(500),
    Scope.server(500, DEFAULT_LINEAGE),
    Scope.user(7),
    Scope.user(7, DEFAULT_LINEAGE),
)
_WORDS = (
    *("likes", "prefers", "remembers", "tea", "picnic", "sunday", "garden", "blue"),
    *("never", "always", "birthday", "march", "cats", "chess"),
)


def _sentence(seed: int, words: int) -> str:
    return " ".join(_WORDS[(seed * 7 + i * i) % len(_WORDS)] for i in range(words)) + f" {seed}."


def _memories(round_: int) -> list[list[Memory]]:
    sections = []
    for s, scope in enumerate(_SCOPES):
        first = 1_000 * s
        at = [_NOW - timedelta(days=120 - i) for i in range(120)]
        sections.append(
            [
                Memory(first + i, scope, _sentence(first + i + 10_000 * round_, 14), i < 20, at[i], at[i])
                for i in range(120)
            ]
        )
    return sections


def _message(number: int, round_: int) -> Message:
    at = _NOW + timedelta(minutes=number)
    text = _sentence(number + 500_000 + 10_000 * round_, 25)
    line = render_line("Alice", at, text, kind=AuthorKind.MEMBER)
    return Message(number, 1, 7, "Alice", AuthorKind.MEMBER, text, line, 0, "", at)


def _build(sections: Sequence[Sequence[Memory]], messages: Sequence[Message], count: Count) -> Prompt:
    blocks: list[Block] = [prompt_block(Kind.SYSTEM, "system prompt", system_prompt("Keepsake"), count)]
    blocks += [memory_group(kind, count) for kind in (Kind.SERVER_MEMORIES, Kind.PERSONAL_MEMORIES)]
    for memories in sections:
        scope = memories[0].scope
        personal = scope.kind.value == "user"
        blocks += memory_blocks(
            Kind.PERSONAL_MEMORIES if personal else Kind.SERVER_MEMORIES,
            memories,
            about=whom(scope, _NAMES[scope.subject_id]),
            owner=scope.subject_id if personal else None,
            protected_ids=frozenset(m.id for m in memories if m.pinned),
            now=_NOW,
            names=_NAMES,
            count=count,
        )
    blocks += window_blocks(messages[:-1], count=count)
    blocks += input_blocks(messages[-1:], count=count)
    return build(blocks, info=_INFO, reserve=1_024)


def _timed(work: Callable[[], Prompt]) -> tuple[float, Prompt]:
    began = time.perf_counter()
    prompt = work()
    return (time.perf_counter() - began) * 1_000, prompt


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[max(0, round(len(values) * 0.95) - 1)]


def run() -> dict[str, object]:
    """Measure. Milliseconds. ``first``: no text counted before; ``again``: the same with one more message."""
    tokenizer, _ = load(_INFO.name)
    first: list[float] = []
    again: list[float] = []
    prompt = None
    for round_ in range(ROUNDS):
        sections = _memories(round_)
        messages = [_message(i, round_) for i in range(51)]
        spent, _ = _timed(partial(_build, sections, messages, tokenizer.count))
        first.append(spent)
        more = [*messages, _message(51, round_)]
        spent, prompt = _timed(partial(_build, sections, more, tokenizer.count))
        again.append(spent)
    assert prompt is not None
    return {
        "bench": "assembly",
        "rounds": ROUNDS,
        "blocks": len(prompt.ledger.entries),
        "tokens": prompt.ledger.used,
        "p50_ms": round(statistics.median(first), 3),
        "p95_ms": round(_p95(first), 3),
        "again_p50_ms": round(statistics.median(again), 3),
        "again_p95_ms": round(_p95(again), 3),
        "ratio": round(statistics.median(again) / statistics.median(first), 3),
    }
