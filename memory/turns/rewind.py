"""*Rewind to here*: the channel is taken back to one message (SPEC §4.6).

One transaction: every later turn's memories go back, the newest turn first; what was said later leaves
storage, and the stretch up to the marker is remembered, so that no backfill, edit or late event brings it
back. A `/refresh` inside the stretch never happened. The messages stay on Discord, and it can't be undone.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory.errors import StoreError
from memory.facts.rollback import standing_writes
from memory.store import Tx
from memory.turns.acting import WAS_REWOUND, Acted, Acting, holding, refused, said
from memory.types import Person, Place, Rewound, Turn, TurnState

SKEW = timedelta(hours=1)
"""How far our clock and Discord's may differ. Only narrows what is looked at: ids decide what is later."""

NOT_ALLOWED = "Rewinding needs the Manage Server permission. Nothing was changed."
UNKNOWN_CHANNEL = "Nobody has called me in this channel yet, so there is nothing to rewind."
NOTHING_LATER = "Nothing that I keep here is later than that message, so nothing was changed."

_OVER = (TurnState.REPLACED, TurnState.REWOUND)
_END = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class _Stretch:
    """What is later than the chosen message. ``after``: the last id that stays. ``turns``: newest first."""

    after: int
    turns: tuple[Turn, ...]
    messages: int

    @property
    def turn_ids(self) -> list[int]:
        return [turn.id for turn in self.turns]


class Rewind:
    """Asks, then does it."""

    def __init__(self, acting: Acting) -> None:
        self._with = acting

    async def question(self, person: Person, place: Place, message_id: int, said_at: datetime) -> Acted:
        """The question with its counts, or why it is not asked."""
        await self._with.settle(place)
        async with self._with.store.read() as tx:
            stretch = await self._stretch(tx, person, place, message_id, said_at)
            if isinstance(stretch, Acted):
                return stretch
            writes = await standing_writes(tx, stretch.turn_ids)
        return Acted(True, _question(stretch, writes))

    async def carry_out(
        self, person: Person, place: Place, message_id: int, said_at: datetime, marker_id: int
    ) -> Acted:
        """Do it. Everything is judged again: what was said since the question is rewound with the rest."""
        by, channel_id = self._with, place.channel_id
        await by.settle(place)
        async with by.store.write() as tx:
            await tx.lock_channel(channel_id)
            stretch = await self._stretch(tx, person, place, message_id, said_at, marker_id)
            if isinstance(stretch, Acted):
                return stretch
            back = await by.facts.gate.roll_back(tx, stretch.turn_ids, by.hand(person, place))
            for turn in stretch.turns:
                await tx.turns.discard(turn.id, TurnState.REWOUND)
                straddling = [i for i in turn.reply_ids if i <= stretch.after]
                if straddling:  # of a reply that goes on later than the message: backfill would bring it back
                    await tx.messages.set_excluded(channel_id, straddling, True)
            await _leave(tx, channel_id, stretch.after, marker_id)
            await _drop_refreshes(tx, channel_id, stretch.after, marker_id)
            await tx.channels.set_window_start(channel_id, 0)  # it fills from older messages again
            rewound = Rewound(channel_id, stretch.after, marker_id)
            await tx.channels.add_rewind(rewound, person.id, by.do.clock.now())
        by.do.recorder.rewound(channel_id)
        with contextlib.suppress(StoreError):  # it is done; this is for what was being stored at that moment
            async with by.store.write() as tx:
                await _leave(tx, channel_id, stretch.after, marker_id)
        by.draw_again(f"notices of rewind {marker_id}", place, back.redraws)
        return Acted(True, f"{_done(stretch)} {said(back)}".strip())

    async def _stretch(
        self,
        tx: Tx,
        person: Person,
        place: Place,
        message_id: int,
        said_at: datetime,
        last: int = _END,
    ) -> _Stretch | Acted:
        """What is later than that message, or than the whole reply that it is a part of."""
        if not (person.manages or place.is_dm):
            return refused(NOT_ALLOWED)
        if await tx.channels.get(place.channel_id) is None:
            return refused(UNKNOWN_CHANNEL)
        if busy := await self._with.blocked(tx, place.channel_id):
            return busy
        if holding(await tx.channels.rewinds(place.channel_id), message_id):
            return refused(WAS_REWOUND)
        reply = await tx.turns.by_reply(message_id)
        here = reply is not None and reply.place.channel_id == place.channel_id
        after = max(reply.reply_ids) if reply is not None and here else message_id
        found = await tx.turns.later(place.channel_id, message_id - 1, said_at - SKEW)
        turns = tuple(turn for turn in found if turn.state not in _OVER and _is_later(turn, after))
        messages = len(await tx.messages.ids_between(place.channel_id, after + 1, last))
        if not turns and not messages:
            return refused(NOTHING_LATER)
        return _Stretch(after, turns, messages)


def _is_later(turn: Turn, after: int) -> bool:
    """Did this turn answer later than that message? One that failed: at its last trigger."""
    return max(turn.reply_ids) > after if turn.reply_ids else max(turn.trigger_ids) >= after


async def _leave(tx: Tx, channel_id: int, after: int, last: int) -> None:
    await tx.messages.delete_between(channel_id, after, last)
    await tx.triggers.drop_between(channel_id, after, last)


async def _drop_refreshes(tx: Tx, channel_id: int, after: int, last: int) -> None:
    """A `/refresh` whose marker is in the stretch is undone with it; the one before it is in force again."""
    marker = await tx.channels.epoch_at(channel_id, last)
    while marker > after:
        await tx.channels.drop_epochs(channel_id, [marker])
        marker = await tx.channels.epoch_at(channel_id, last)


def _question(stretch: _Stretch, writes: int) -> str:
    messages = f"{stretch.messages:,} later message{'' if stretch.messages == 1 else 's'}"
    replies = sum(bool(turn.reply_ids) for turn in stretch.turns)
    of_them = (
        f" ({replies:,} of them {'is a reply' if replies == 1 else 'are replies'} of mine)" if replies else ""
    )
    taken = (
        f"{writes:,} memory change{'' if writes == 1 else 's'} made in my later answers will be taken back;"
        " what somebody pinned, changed or approved since stays."
        if writes
        else "No memory was changed in my later answers."
    )
    return (
        f"Rewind to that message? I keep {messages}{of_them} of this channel and will no longer use "
        f"{'it' if stretch.messages == 1 else 'them'}."
        f" {taken} The messages stay on Discord. This can't be undone."
    )


def _done(stretch: _Stretch) -> str:
    count = f"{stretch.messages:,} message{'' if stretch.messages == 1 else 's'}"
    return f"Rewound: I no longer use the {count} that I had kept after that one."
