"""*Fork here*: a new thread that goes on from one message, with a copy of the window up to there (SPEC §4.6).

As private as the original, and saved memories are shared. The thread is made first, then the copy is one
transaction: at the worst a thread stands there that begins empty, and it is said.
"""

from __future__ import annotations

from dataclasses import dataclass

from memory.config.rules import Mode
from memory.errors import StoreError
from memory.ports import DeliveryError
from memory.store import Tx
from memory.turns.acting import WAS_REWOUND, Acted, Acting, holding, refused
from memory.types import AuthorKind, Person, Place

COPIED = 160
"""Messages copied at most: twice the widest window, so that the fork's own fills whatever its level."""

TITLE = 100
"""Longest name of a thread on Discord."""

NOT_IN_DM = "A direct message has no threads, so it can't be forked. Nothing was changed."
NOTHING_THERE = (
    "I keep nothing of this channel up to that message, so there is nothing to copy. No thread was made."
)

EMPTY = (
    "The thread begins empty: this channel's memory mode is blank, so nothing that was said here goes along."
)


@dataclass(frozen=True, slots=True)
class _Span:
    """What is copied: ``start`` to ``last``, later than the `/refresh` that was in force at that message."""

    start: int
    epoch: int
    last: int


class Fork:
    """Makes forks."""

    def __init__(self, acting: Acting) -> None:
        self._with = acting

    async def make(self, person: Person, place: Place, message_id: int, opening: str) -> Acted:
        """``opening``: what the new thread begins with, a notice of ours."""
        if place.is_dm:
            return refused(NOT_IN_DM)
        by = self._with
        await by.settle(place)
        await by.do.recorder.caught_up(place, by.do.surface)
        async with by.store.read() as tx:
            span = await _span(tx, place, message_id)
            if isinstance(span, Acted):
                return span
            rows = await tx.messages.window(place.channel_id, span.start, span.epoch)
        people = {m.author_id for m in rows if m.kind is AuthorKind.MEMBER}
        title = f"Fork of {place.name or 'a conversation'}"[:TITLE]
        try:
            made = await by.do.surface.branch(place, title, opening, sorted({*people, person.id}))
        except DeliveryError as error:
            return refused(f"No thread was made, and nothing was changed: {error}")
        try:
            async with by.store.write() as tx:
                begins = await self._copy(tx, place, made, message_id)
        except StoreError as error:
            return Acted(False, f"The thread was made, and it begins empty: {error}", made)
        by.config.forget()
        by.do.recorder.touch(made.channel_id)
        return Acted(True, begins, made)

    async def _copy(self, tx: Tx, place: Place, made: Place, message_id: int) -> str:
        """Window, cast and, from a thread, its own settings; the new one is recorded from now on.

        What it begins with, in a sentence. From a blank channel nothing is taken along but who is in it.
        """
        span = await _span(tx, place, message_id)
        now = self._with.do.clock.now()
        await tx.channels.put(made)
        await tx.channels.touch_turn(made.channel_id, now)
        for lineage in await tx.personas.cast(place.channel_id):
            await tx.personas.join(made.channel_id, lineage, now)
        if place.parent_id is not None:
            for key, value in (await tx.config.get("channel", place.channel_id)).items():
                await tx.config.set("channel", made.channel_id, key, value, now, None)
        if (await self._with.config.load(tx, place)).mode is Mode.BLANK:
            return EMPTY
        copied = 0
        if not isinstance(span, Acted):
            copied = await tx.messages.copy(
                place.channel_id, made.channel_id, start=span.start, epoch=span.epoch, last=span.last
            )
        messages = f"{copied:,} message{'' if copied == 1 else 's'}"
        return f"The thread begins with what I was given here up to that message ({messages})."


async def _span(tx: Tx, place: Place, message_id: int) -> _Span | Acted:
    """The stretch that ends with that message, or with the whole reply that it is a part of."""
    if holding(await tx.channels.rewinds(place.channel_id), message_id):
        return refused(WAS_REWOUND)
    reply = await tx.turns.by_reply(message_id)
    here = reply is not None and reply.place.channel_id == place.channel_id
    last = max(reply.reply_ids) if reply is not None and here else message_id
    epoch = await tx.channels.epoch_at(place.channel_id, message_id)
    rows = [m for m in await tx.messages.before(place.channel_id, last + 1, COPIED) if m.id > epoch]
    return _Span(rows[0].id, epoch, last) if rows else refused(NOTHING_THERE)
