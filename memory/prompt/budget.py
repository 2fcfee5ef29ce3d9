"""What a prompt costs and what it may cost (SPEC §5). All numbers are tokens.

A message costs the tokens of its text + 4. Pieces that are joined to one message are counted one by one. That
is exact because of their shape: each ends in a line break with no other space before it, each but the first
begins with ``- `` or ``About ``, and no token of o200k_base or cl100k_base crosses such a place (a property
test holds us to it).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memory.prompt.ledger import Block, Kind

Count = Callable[[str], int]
"""Tokens of a text, by the model's tokenizer."""

PER_MESSAGE = 4
"""What a message costs besides its text (SPEC §5)."""

MIN_RESERVE = 1_024
"""The least that is kept free for the reply (SPEC §5)."""

IMAGE_TOKENS = 1_105
"""Flat estimate for one image: 85 + 6 tiles of 170, a full-size photo or screenshot at high detail."""

ALWAYS = frozenset({Kind.SYSTEM, Kind.SERVER_PROMPT, Kind.CHANNEL_PROMPT, Kind.PERSONA, Kind.INPUT})
"""Never removed, whatever a block says of itself (SPEC §5)."""


def budget(context_window: int, reserve: int) -> int:
    """Tokens that the prompt may cost. ``reserve``: the reply, and what tool descriptions cost on top."""
    return context_window - max(reserve, MIN_RESERVE)


def message_cost(text: str, count: Count, images: int = 0) -> int:
    """Cost of a block that is a message of its own."""
    return count(text) + PER_MESSAGE + images * IMAGE_TOKENS


def required(block: Block) -> bool:
    """True for what is never removed."""
    return block.protected or block.kind in ALWAYS


class Tally:
    """The blocks still in and what they cost together, kept up to date with every removal in O(1).

    A heading counts exactly while something under it is in; it is never removed by itself. It may stand under
    another one that comes before it: a section's under its group's.
    """

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = blocks
        self.inside = [not b.heading for b in blocks]
        self._followers = [0] * len(blocks)
        self._leader: list[int | None] = [None] * len(blocks)
        headings: dict[str, int] = {}
        for index, block in enumerate(blocks):
            self._leader[index] = headings.get(block.under)
            if block.heading:
                headings[block.id] = index
            else:
                self._enter(self._leader[index])
        self.used = sum(b.tokens for b, inside in zip(blocks, self.inside, strict=True) if inside)

    def _enter(self, leader: int | None) -> None:
        """One more thing stands under this heading; its first brings the heading in."""
        while leader is not None:
            self._followers[leader] += 1
            if self.inside[leader]:
                return
            self.inside[leader] = True
            leader = self._leader[leader]

    def leader(self, index: int) -> int | None:
        """Index of the heading above a block."""
        return self._leader[index]

    def remove(self, index: int) -> None:
        """Take a block out; a heading goes with the last thing under it."""
        if self.blocks[index].heading or not self.inside[index]:
            return
        leaving: int | None = index
        while leaving is not None:
            self.inside[leaving] = False
            self.used -= self.blocks[leaving].tokens
            leaving = self._leader[leaving]
            if leaving is not None:
                self._followers[leaving] -= 1
                if self._followers[leaving]:
                    return
