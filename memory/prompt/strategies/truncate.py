"""``truncate``: the oldest unprotected group leaves first (SPEC §5).

Order: history, oldest group first; then extras (passages, activated entries, lore, notes, sample dialogue,
conditioning, unpinned memories, other members' pins), oldest first within each; then summaries. What is
required never leaves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory.prompt.budget import Tally, required
from memory.prompt.ledger import Block, Kind

NAME = "truncate"

_ORDER = {
    Kind.WINDOW: 0,
    Kind.PASSAGES: 1,
    Kind.ACTIVATED: 2,
    Kind.LORE: 3,
    Kind.NOTES: 4,
    Kind.DIALOGUE: 5,
    Kind.CONDITIONING: 6,
    Kind.SERVER_MEMORIES: 7,
    Kind.PERSONAL_MEMORIES: 7,
    Kind.SUMMARY: 9,
}
_PINS = 8

_WHY = {
    Kind.WINDOW: "older history was left out to fit the model's budget",
    Kind.SUMMARY: "left out to fit the model's budget, after everything else that may go",
}
_WHY_EXTRA = "left out to fit the model's budget, after all older history"


def plan(blocks: Sequence[Block], budget: int) -> Mapping[int, str]:
    """Choose what leaves so that the rest costs at most ``budget`` tokens. Returns index → why.

    When what is required alone costs more, everything else leaves and the caller sees that it was not enough.
    """
    tally = Tally(blocks)
    out: dict[int, str] = {}
    if tally.used <= budget:
        return out
    for group in _groups(blocks):
        if tally.used <= budget:
            break
        for index in group:
            tally.remove(index)
            out[index] = _WHY.get(blocks[index].kind, _WHY_EXTRA)
    return out


def _groups(blocks: Sequence[Block]) -> list[list[int]]:
    """Removable groups, in the order of leaving. A group with a required block in it never leaves."""
    grouped: dict[str, list[int]] = {}
    for index, block in enumerate(blocks):
        if not block.heading:
            grouped.setdefault(f"g:{block.group}" if block.group else f"b:{index}", []).append(index)
    free = [g for g in grouped.values() if not any(required(blocks[i]) for i in g)]
    return sorted(free, key=lambda g: min(_rank(blocks[i], i) for i in g))


def _rank(block: Block, index: int) -> tuple[int, float, int]:
    order = _PINS if block.pinned else _ORDER.get(block.kind, 1)
    return order, block.at.timestamp() if block.at is not None else 0.0, index
