"""Recording: what is said becomes rows of the live window (SPEC §2).

A channel is recorded from the first call in it until 24 h after the last turn; one where nobody calls the bot
leaves no trace. Every write here is idempotent by message id, so a replayed event changes nothing.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from memory.llm.port import Tokenizer
from memory.ports import Posted, Surface
from memory.store import Store, Tx
from memory.types import (
    AttachmentKind,
    AuthorKind,
    Channel,
    Clock,
    Incoming,
    Message,
    Person,
    Place,
    Rewound,
)
from memory.window import rules

log = logging.getLogger(__name__)

RECORDING = timedelta(hours=24)
"""How long after the last turn a channel is still recorded (SPEC §2)."""

HISTORY = 80
"""Messages asked of Discord's history at most: the widest window there is (SPEC §2, `detailed`)."""

JUST_SAID = timedelta(minutes=1)
"""A channel that looks empty may not show yet what was said this short a time ago."""

REMEMBERED_DELETIONS = 4_096
"""Deleted ids kept in mind, so that a slower event can't bring a deleted message back."""

_SMALL_PRINT = re.compile(r"(?:\n?^-# [^\n]*)+\s*\Z", re.MULTILINE)
"""Our own small print beneath a reply: for people, not for the window."""


class Recorder:
    """Turns events into stored messages, and keeps them in step with Discord."""

    def __init__(self, store: Store, clock: Clock, tokenizer: Tokenizer) -> None:
        self._store = store
        self._clock = clock
        self._tokenizer = tokenizer
        self._active: dict[int, datetime] = {}
        self._in_step: set[int] = set()
        self._locks: dict[int, asyncio.Lock] = {}
        self._deleted: dict[int, None] = {}
        self._rewound: dict[int, tuple[Rewound, ...]] = {}
        self._rewinds_made = 0

    async def load(self) -> list[Channel]:
        """Learn which channels are being recorded; returns them. Called once at start."""
        now = self._clock.now()
        async with self._store.read() as tx:
            channels = await tx.channels.active(now - RECORDING)
        for channel in channels:
            self._active[channel.place.channel_id] = channel.last_turn_at or now
        return channels

    def recording(self, channel_id: int) -> bool:
        """Is this channel recorded at this moment?"""
        since = self._active.get(channel_id)
        if since is not None and self._clock.now() - since > RECORDING:
            del self._active[channel_id]
            since = None
        return since is not None

    def touch(self, channel_id: int) -> None:
        """A turn ran here: recording goes on for another 24 h."""
        self._active[channel_id] = self._clock.now()

    def out_of_step(self) -> None:
        """Events may have been missed: every channel is compared with Discord before its next turn."""
        self._in_step.clear()

    def message(self, incoming: Incoming, *, turn_id: int | None = None) -> Message:
        """The row for one message. Each text is tokenised here, once."""
        persona = incoming.kind is AuthorKind.PERSONA
        text = _SMALL_PRINT.sub("", incoming.text) if persona else incoming.text
        line = rules.render_line(
            incoming.author.name,
            incoming.at,
            text,
            incoming.attachments,
            kind=incoming.kind,
            mentions=incoming.mentions,
        )
        return Message(
            id=incoming.message_id,
            channel_id=incoming.place.channel_id,
            author_id=incoming.author.id,
            author_name=rules.clean_name(incoming.author.name),
            kind=incoming.kind,
            text=text,
            line=line,
            tokens=self._tokenizer.count(line),
            encoding=self._tokenizer.encoding,
            at=incoming.at,
            reply_to=incoming.reply_to,
            turn_id=turn_id,
            images=tuple(a.url for a in incoming.attachments if a.kind is AttachmentKind.IMAGE and a.url),
            lineage=incoming.lineage if persona else "",
        )

    async def observe(self, incoming: Incoming, *, trigger: bool, persona_id: int = 0) -> bool:
        """Store one message, and its trigger when it calls us. Returns True for a call not seen before.

        ``persona_id``: whom it calls. What comes late from a stretch that was rewound is let go.
        """
        place = incoming.place
        if not trigger and not self.recording(place.channel_id):
            return False
        if await self._out(place.channel_id, incoming.message_id):
            return False
        row = self.message(incoming)
        async with self._store.write() as tx:
            if trigger and not await tx.triggers.add(row.id, place.channel_id, self._clock.now(), persona_id):
                return False
            await tx.channels.put(place)
            await tx.messages.add(self._not_deleted([row]))
            await tx.names.put(place.guild_id or 0, _names(incoming))
        if await self.let_go(place.channel_id, [row.id]):
            return False
        if trigger and not self.recording(place.channel_id):
            self._in_step.discard(place.channel_id)
            self.touch(place.channel_id)
        return trigger

    async def edited(self, incoming: Incoming) -> None:
        """A person edited a message: the window shows the new words at once.

        Where recording is on, an edit that overtook its own message stores it; elsewhere only what is
        stored already is changed.
        """
        if not self.recording(incoming.place.channel_id) and not await self._stored([incoming.message_id]):
            return
        row = self.message(incoming)
        keep = self.recording(row.channel_id) and not await self._out(row.channel_id, row.id)
        async with self._store.write() as tx:
            known = await tx.messages.edit(row, self._clock.now())
            if not known and keep and not await tx.messages.add(self._not_deleted([row])):
                await tx.messages.edit(row, self._clock.now())  # stored meanwhile, with the old words
        await self.let_go(row.channel_id, [row.id])

    async def deleted(self, channel_id: int, ids: Sequence[int]) -> None:
        """Messages are gone on Discord: they are gone here too, and no longer call anybody."""
        self._deleted.update(dict.fromkeys(ids))
        while len(self._deleted) > REMEMBERED_DELETIONS:
            del self._deleted[next(iter(self._deleted))]
        if not self.recording(channel_id) and not await self._stored(ids):
            return
        async with self._store.write() as tx:
            await tx.messages.delete(ids)
            await tx.triggers.drop(ids)
            await tx.channels.drop_epochs(channel_id, ids)

    def rewound(self, channel_id: int) -> None:
        """A stretch of this channel was taken out."""
        self._rewound.pop(channel_id, None)
        self._rewinds_made += 1

    async def _out(self, channel_id: int, message_id: int) -> bool:
        """Is this message in a stretch that was rewound?"""
        return any(each.holds(message_id) for each in await self._rewinds(channel_id))

    async def let_go(self, channel_id: int, ids: Sequence[int]) -> bool:
        """Was one of these deleted or rewound while it was being stored? Then it leaves, and calls nobody.

        Asked after every transaction that stores messages: the one that takes a message out may run beside
        it, and can't see what is not committed yet.
        """
        deleted = [i for i in ids if i in self._deleted]
        rewound = [i for i in ids if await self._out(channel_id, i)]
        if not deleted and not rewound:
            return False
        async with self._store.write() as tx:
            await tx.messages.delete(deleted)
            await self._forget(tx, channel_id, rewound)
            await tx.triggers.drop([*deleted, *rewound])
        return True

    @staticmethod
    async def _forget(tx: Tx, channel_id: int, ids: Iterable[int]) -> None:
        """Out of this channel only: a fork keeps its copies."""
        for message_id in ids:
            await tx.messages.delete_between(channel_id, message_id - 1, message_id)

    async def _rewinds(self, channel_id: int) -> tuple[Rewound, ...]:
        known = self._rewound.get(channel_id)
        if known is None:
            made = self._rewinds_made
            async with self._store.read() as tx:
                known = tuple(await tx.channels.rewinds(channel_id))
            if made != self._rewinds_made:  # what was read may be from before
                return await self._rewinds(channel_id)
            if len(self._rewound) >= REMEMBERED_DELETIONS:
                self._rewound.clear()
            self._rewound[channel_id] = known
        return known

    async def _stored(self, ids: Sequence[int]) -> bool:
        """Is anything kept under one of these ids? Spares the writer where nobody calls the bot."""
        async with self._store.read() as tx:
            return bool(await tx.messages.stored(ids) or await tx.channels.has_epoch(ids))

    def _not_deleted(self, rows: list[Message]) -> list[Message]:
        return [row for row in rows if row.id not in self._deleted]

    async def keep_reply(
        self,
        tx: Tx,
        place: Place,
        author: tuple[int, str],
        parts: Iterable[Posted],
        turn_id: int,
        lineage: str = "",
    ) -> None:
        """Store what a persona posted, one row for each Discord message."""
        now = self._clock.now()
        rows = [
            self.message(persona_message(part, place, author, now, lineage), turn_id=turn_id)
            for part in parts
        ]
        kept = self._not_deleted(rows)
        added = set(await tx.messages.add(kept))
        if late := [row for row in kept if row.id not in added]:  # read back while it was being written
            await self._forget(tx, place.channel_id, [row.id for row in late])
            await tx.messages.add(late)

    async def drop_reply(self, tx: Tx, place: Place, message_ids: Sequence[int]) -> None:
        """A reply that is regenerated leaves the window of its own channel."""
        await self._forget(tx, place.channel_id, message_ids)

    async def caught_up(self, place: Place, surface: Surface) -> None:
        """The window is as Discord has it now, also where recording had stopped."""
        if not self.recording(place.channel_id):
            self._in_step.discard(place.channel_id)
        await self.in_step(place, surface)

    async def in_step(self, place: Place, surface: Surface) -> None:
        """Compare the window with Discord's history once: what was missed is added, edited, deleted.

        This is also the backfill of a first call (SPEC §2): then nothing is stored yet and all is missing.
        """
        channel_id = place.channel_id
        if channel_id in self._in_step:
            return
        lock = self._locks.setdefault(channel_id, asyncio.Lock())
        try:
            async with lock:
                if channel_id not in self._in_step and await self._compare(place, surface):
                    self._in_step.add(channel_id)
        finally:
            if not lock.locked():
                self._locks.pop(channel_id, None)

    async def _compare(self, place: Place, surface: Surface) -> bool:
        """False when Discord could not be asked: the next turn asks again."""
        past = await surface.history(place, limit=HISTORY)
        if past is None:
            return False
        if place.parent_id is not None:
            await self._copies_in_step(place, surface)
        there = list(past.messages)
        async with self._store.read() as tx:
            channel = await tx.channels.get(place.channel_id)
            epoch = channel.epoch if channel else 0
            here = await tx.messages.window(place.channel_id, _first_own(place, past.since), 0)
            notices = await tx.notices.is_notice([m.message_id for m in there])
        before = self._clock.now() - JUST_SAID
        newest = there[-1].message_id if there else max((m.id for m in here if m.at < before), default=0)
        rewinds = await self._rewinds(place.channel_id)
        there = [m for m in there if not any(each.holds(m.message_id) for each in rewinds)]
        known = {m.id: m for m in here if m.id <= newest}
        said = {m.message_id: m for m in there if m.message_id not in notices}
        gone = [i for i in known if i not in said]
        wanted = {i: m for i, m in said.items() if i > epoch}
        rows = {i: self.message(m) for i, m in wanted.items() if i not in known or m.text != known[i].text}
        fresh = [row for i, row in rows.items() if i not in known]
        changed = [
            row
            for i, row in rows.items()
            if i in known and known[i].kind is not AuthorKind.PERSONA and row.line != known[i].line
        ]
        if not (gone or fresh or changed):
            return True
        now = self._clock.now()
        async with self._store.write() as tx:
            await tx.channels.put(place)
            await tx.messages.delete(gone)
            await tx.triggers.drop(gone)
            await tx.messages.add(self._not_deleted(fresh))
            for row in changed:
                await tx.messages.edit(row, now)
            names = {k: v for i in rows for k, v in _names(wanted[i]).items()}
            await tx.names.put(place.guild_id or 0, names)
        await self.let_go(place.channel_id, [row.id for row in fresh])
        log.info(
            "window in step with Discord",
            extra={"channel": place.channel_id, "added": len(fresh), "gone": len(gone)},
        )
        return True

    async def _copies_in_step(self, fork: Place, surface: Surface) -> None:
        """What a fork copied and was deleted since, where it was said, is gone from the fork, too.

        The channel that it was said in need not be recorded any more; nothing is added to it here.
        """
        async with self._store.read() as tx:
            copies = await tx.messages.ids_between(fork.channel_id, 0, fork.channel_id - 1)
            homes = await tx.messages.homes(copies)
            channels = [await tx.channels.get(home) for home in homes if home != fork.channel_id]
        for channel in channels:
            if channel is None or (past := await surface.history(channel.place, limit=HISTORY)) is None:
                continue
            there = {m.message_id for m in past.messages}
            asked = [i for i in homes[channel.place.channel_id] if i >= _first_own(channel.place, past.since)]
            if gone := [i for i in asked if i not in there]:
                await self.deleted(channel.place.channel_id, gone)


def _first_own(place: Place, since: int) -> int:
    """Where a place's own messages begin: what is older than a thread was copied into it by a fork."""
    return since if place.parent_id is None else max(since, place.channel_id)


def persona_message(
    part: Posted, place: Place, author: tuple[int, str], at: datetime, lineage: str = ""
) -> Incoming:
    """Our own posted message in the shape of any other."""
    return Incoming(
        part.message_id, place, Person(*author), part.text, at, kind=AuthorKind.PERSONA, lineage=lineage
    )


def _names(incoming: Incoming) -> dict[int, str]:
    names = dict(incoming.mentions)
    names[incoming.author.id] = incoming.author.name
    return {user_id: rules.clean_name(name) for user_id, name in names.items()}
