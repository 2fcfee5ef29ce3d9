"""Search among entries that the asker may already read. Pure: it ranks, it never widens what is readable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memory.facts.outcomes import handle
from memory.facts.rules import fold
from memory.types import Memory

FOUND = 25
"""Most results of one search: Discord shows no more in an autocomplete."""

_MENTION = re.compile(r"<@!?(\d{1,20})>")


def find(
    memories: Iterable[Memory], query: str, limit: int = FOUND, names: Mapping[int, str] | None = None
) -> list[Memory]:
    """The best matches first, at most ``limit`` (and never more than 25); for an empty query the newest.

    Case, width and accents are ignored. ``m12`` or ``12`` finds that entry. All words must occur, in the text
    (members by their name in ``names``) or in a keyword.
    """
    most = max(0, min(limit, FOUND))
    newest = sorted(memories, key=lambda memory: (memory.updated_at, memory.id), reverse=True)
    wanted = fold(query)
    if not wanted:
        return newest[:most]
    asked = _Query(wanted, tuple(wanted.split()), tuple(f" {word}" for word in wanted.split()))
    ranked = [(rank, memory) for memory in newest if (rank := _rank(memory, asked, names or {})) is not None]
    ranked.sort(key=lambda pair: pair[0])
    return [memory for _, memory in ranked[:most]]


@dataclass(frozen=True, slots=True)
class _Query:
    whole: str
    words: Sequence[str]
    starts: Sequence[str]


def _rank(memory: Memory, query: _Query, names: Mapping[int, str]) -> int | None:
    """0 the handle, 1 the text begins so, 2 words begin so in a row, 3 inside, 4 every word, 5 a keyword."""
    if query.whole.lstrip("#[").rstrip("]") in (handle(memory.id), str(memory.id)):
        return 0
    shown = _MENTION.sub(lambda match: "@" + names.get(int(match.group(1)), match.group(1)), memory.text)
    text = fold(shown)
    spaced = " " + re.sub(r"[^\w\s]", " ", text)
    if text.startswith(query.whole):
        return 1
    if f" {query.whole}" in spaced:
        return 2
    if query.whole in text:
        return 3
    if all(start in spaced for start in query.starts):
        return 4
    keywords = [fold(word) for word in memory.keywords]
    if any(query.whole in word for word in keywords):
        return 5
    if all(word in text or any(word in keyword for keyword in keywords) for word in query.words):
        return 6
    return 7 if handle(memory.id).startswith(query.whole) and len(query.whole) > 1 else None
