"""Pins can't drown a channel: those of members who did not call the bot share a part (SPEC §4.2).

The server's pins and the trigger authors' are protected and don't come by here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain, zip_longest

from memory.prompt.ledger import Block

PIN_SHARE = 0.25
"""Part of the budget that other members' pins share (SPEC §4.2)."""

WHY = "pins of members who did not call the bot share at most 25 % of the budget"


def is_shared(block: Block) -> bool:
    """True for a pin of somebody in play who is not a trigger author."""
    return block.owner is not None and block.pinned and not block.protected


def share_pins(blocks: Sequence[Block], budget: int) -> Mapping[int, str]:
    """Choose which of other members' pins are given: newest first, one a member in turn, while they fit.

    ``budget`` is the whole prompt's, in tokens. Headings are counted with their first pin. An entry
    too large for what is left doesn't keep a smaller, older one out. Returns index → why for those left out.
    """
    headings = {b.id: b for b in blocks if b.heading}
    members: dict[int | None, list[int]] = {}
    for index, block in enumerate(blocks):
        if is_shared(block) and not block.left_out:
            members.setdefault(block.owner, []).append(index)
    for pins in members.values():
        pins.sort(key=lambda i: (_age(blocks[i]), i), reverse=True)
    left = int(budget * PIN_SHARE)
    paid: set[str] = set()
    out: dict[int, str] = {}
    for index in chain.from_iterable(zip_longest(*members.values())):
        if index is None:
            continue
        block = blocks[index]
        above = _unpaid(block, headings, paid)
        cost = block.tokens + sum(headings[i].tokens for i in above)
        if cost > left:
            out[index] = WHY
            continue
        left -= cost
        paid.update(above)
    return out


def _unpaid(block: Block, headings: Mapping[str, Block], paid: Collection[str]) -> list[str]:
    """The headings that this entry would bring in."""
    above: list[str] = []
    under = block.under
    while under in headings and under not in paid:
        above.append(under)
        under = headings[under].under
    return above


def _age(block: Block) -> float:
    return block.at.timestamp() if block.at is not None else 0.0
