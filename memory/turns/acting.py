"""What the message actions share: their plain answers, who may, what must rest meanwhile (SPEC §4.6, §12).

An action judges everything again inside its one transaction. Drawing confirmations again comes after it, in
the background, and never undoes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory.config.service import Config
from memory.facts.rollback import RolledBack
from memory.facts.service import Facts
from memory.facts.writes import Hand
from memory.store import Store, Tx
from memory.turns.background import Background
from memory.turns.delivery import Delivery
from memory.turns.doors import Doors
from memory.turns.gate import Gate
from memory.turns.run import Turns
from memory.types import Actor, ActorKind, Notice, Person, Place, Rewound

NAMED = 10
"""Entries that an answer names one by one; more are counted."""

BUSY = "I am answering in this channel right now, so nothing was changed. Try again when the answer is there."

UNSETTLED = (
    "An answer of mine in this channel is not finished yet, so nothing was changed. It is settled as soon as"
    " Discord lets me post here; try again after that."
)

WAS_REWOUND = (
    "That message was taken out by **Rewind to here**, so I no longer use it. Nothing was changed;"
    " choose another message."
)


@dataclass(frozen=True, slots=True)
class Acted:
    """What became of an action: a plain answer for who asked. ``place``: where a fork was made."""

    done: bool
    line: str
    place: Place | None = None


def refused(line: str) -> Acted:
    """Nothing was changed."""
    return Acted(False, line)


@dataclass(frozen=True, slots=True)
class Acting:
    """The rooms that an action needs."""

    do: Doors
    facts: Facts
    config: Config
    turns: Turns
    delivery: Delivery
    gate: Gate
    background: Background

    @property
    def store(self) -> Store:
        return self.do.store

    def hand(self, person: Person, place: Place) -> Hand:
        return Hand(Actor(ActorKind.MEMBER, person), place)

    async def settle(self, place: Place) -> None:
        """A reply that stands on Discord and could not be stored yet is stored first."""
        await self.delivery.close_late(place.channel_id)

    async def blocked(self, tx: Tx, channel_id: int) -> Acted | None:
        """Why no action may change this channel's turns now: one runs, waits, or was left unfinished."""
        if self.gate.busy(channel_id) or await tx.triggers.waiting(channel_id, 1):
            return refused(BUSY)
        unfinished = await tx.turns.unfinished()
        if any(turn.place.channel_id == channel_id for turn in unfinished):
            return refused(UNSETTLED)
        return None

    def draw_again(self, key: str, place: Place, notices: Sequence[Notice]) -> None:
        """Confirmations of what was taken back say so from now on. Best effort."""
        if notices:
            self.background.start(key, lambda: self._draw(place, notices))

    async def _draw(self, place: Place, notices: Sequence[Notice]) -> None:
        surface = self.do.surface
        name = surface.persona_name(place)
        server = "" if place.guild_id is None else surface.server_name(place.guild_id)
        for notice in notices:
            view = await self.facts.notice_view(notice.id, persona_name=name, server_name=server)
            if view is not None:
                await surface.redraw(view)


def said(back: RolledBack) -> str:
    """What became of the memories, in sentences; "" when the turns had written none."""
    parts = []
    if back.undone:
        parts.append(f"{counted(len(back.undone), 'memory change')} taken back.")
    if back.discarded:
        parts.append(f"{counted(back.discarded, 'waiting suggestion')} discarded.")
    parts += [kept.line() for kept in back.kept[:NAMED]]
    if len(back.kept) > NAMED:
        parts.append(f"{len(back.kept) - NAMED} more entries stay, too; their confirmations say so.")
    return " ".join(parts)


def counted(number: int, what: str) -> str:
    """“1 memory change was”, “3 memory changes were”."""
    return f"1 {what} was" if number == 1 else f"{number:,} {what}s were"


def holding(rewinds: Sequence[Rewound], message_id: int) -> bool:
    """Is this message in a stretch that was rewound?"""
    return any(each.holds(message_id) for each in rewinds)
