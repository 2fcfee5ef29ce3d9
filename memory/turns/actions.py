"""What a member does to one message; *Regenerate* and *Exclude from prompt* are here (SPEC §4.6, §5, §12).

Regenerating is one transaction: the memories go back, the turn is replaced, its reply leaves the window, its
triggers wait again. From there on it is a turn like any other, which edits the messages that stand already.
"""

from __future__ import annotations

from datetime import datetime

from memory.store import Tx
from memory.turns.acting import WAS_REWOUND, Acted, Acting, holding, refused, said
from memory.turns.fork import Fork
from memory.turns.rewind import Rewind
from memory.types import AuthorKind, Message, Person, Place, Turn, TurnState

NOT_A_REPLY = (
    "That is not a reply of mine that I still use, so nothing was changed. Regenerate works on my latest"
    " reply in a channel."
)
NOT_LATEST = (
    "Only my latest reply in this channel can be regenerated, and that is an earlier one. Nothing was"
    " changed. To go back further, use **Rewind to here**."
)
NOT_YOURS = "Only who asked, or somebody with Manage Server, can regenerate this. Nothing was changed."
UNASKED = (
    "The message that this reply answers was deleted, so it can't be answered again. Nothing was changed."
)

NOT_STORED = (
    "I don't keep that message, so it is not in what I am given, and nothing was changed. I keep what is said"
    " from the first time I am called in a channel until a day after the last."
)
NOT_TO_EXCLUDE = (
    "You can exclude your own messages and my replies to you; every other message needs Manage Server."
    " Nothing was changed."
)


class Actions:
    """What a member does to one message. Every answer is a plain line for who asked."""

    def __init__(self, acting: Acting) -> None:
        self._with = acting
        self._rewind = Rewind(acting)
        self._fork = Fork(acting)

    async def regenerate(self, person: Person, place: Place, message_id: int) -> Acted:
        """Answer the latest turn again. Its author, or Manage Server (SPEC §12)."""
        by = self._with
        await by.settle(place)
        async with by.store.write() as tx:
            await tx.lock_channel(place.channel_id)
            turn = await self._regenerable(tx, person, place, message_id)
            if isinstance(turn, Acted):
                return turn
            back = await by.facts.gate.roll_back(tx, [turn.id], by.hand(person, place))
            await tx.turns.discard(turn.id, TurnState.REPLACED)
            await by.do.recorder.drop_reply(tx, place, turn.reply_ids)
            await tx.triggers.put_back(turn.id)
        by.turns.replaces(turn, person)
        by.do.stage("replaced")
        by.gate.wake(place.channel_id)
        by.draw_again(f"notices of turn {turn.id}", place, back.redraws)
        return Acted(True, f"I answer again. {said(back)}".strip())

    async def _regenerable(self, tx: Tx, person: Person, place: Place, message_id: int) -> Turn | Acted:
        """The turn whose reply this is, if it may be regenerated now."""
        turn = await tx.turns.by_reply(message_id)
        ours = turn is not None and turn.place.channel_id == place.channel_id
        if ours and turn is not None and person.id not in turn.author_ids and not person.manages:
            return refused(NOT_YOURS)
        if busy := await self._with.blocked(tx, place.channel_id):
            return busy
        if turn is None or not ours or turn.state is not TurnState.DELIVERED:
            return refused(NOT_A_REPLY)
        later = await tx.turns.later(place.channel_id, 0, turn.started_at)
        if any(each.id > turn.id and each.state is TurnState.DELIVERED for each in later):
            return refused(NOT_LATEST)
        if not await tx.messages.many(place.channel_id, turn.trigger_ids):
            return refused(UNASKED)
        return turn

    async def exclude(self, person: Person, place: Place, message_id: int) -> Acted:
        """Leave a message out of the prompt, or take it in again; all parts of a reply together."""
        by = self._with
        async with by.store.write() as tx:
            row = await tx.messages.get(place.channel_id, message_id)
            turn = await tx.turns.by_reply(message_id)
            if row is None:
                rewound = holding(await tx.channels.rewinds(place.channel_id), message_id)
                return refused(WAS_REWOUND if rewound else NOT_STORED)
            if turn is not None and turn.place.channel_id != place.channel_id:
                turn = None
            if not (person.manages or place.is_dm or await _concerns(tx, person, row, turn)):
                return refused(NOT_TO_EXCLUDE)
            parts = turn.reply_ids if turn is not None else (message_id,)
            await tx.messages.set_excluded(place.channel_id, parts, not row.excluded)
        whole = f"That reply, all {len(parts)} parts of it," if len(parts) > 1 else "That message"
        if row.excluded:
            return Acted(True, f"{whole} is in what I am given again.")
        return Acted(
            True,
            f"{whole} is left out of what I am given from now on. It stays here, and what I saved from it"
            " stays saved. Use the same command on it again to take it back in.",
        )

    async def rewind_question(
        self, person: Person, place: Place, message_id: int, said_at: datetime
    ) -> Acted:
        """What *Rewind to here* would do, with counts. Changes nothing; ``done``: it can be done."""
        return await self._rewind.question(person, place, message_id, said_at)

    async def rewind(
        self, person: Person, place: Place, message_id: int, said_at: datetime, marker_id: int
    ) -> Acted:
        """Take the channel back to a message. ``marker_id``: of the message that says so, later than all."""
        return await self._rewind.carry_out(person, place, message_id, said_at, marker_id)

    async def fork(self, person: Person, place: Place, message_id: int, opening: str) -> Acted:
        """A new thread with a copy of the window up to a message. The front has asked who may write there."""
        return await self._fork.make(person, place, message_id, opening)


async def _concerns(tx: Tx, person: Person, row: Message, turn: Turn | None) -> bool:
    """Is it the person's own message, or a reply to them?"""
    if row.kind is not AuthorKind.PERSONA:
        return row.author_id == person.id
    if turn is not None:
        return person.id in turn.author_ids
    asked = None if row.reply_to is None else await tx.messages.get(row.channel_id, row.reply_to)
    return asked is not None and asked.author_id == person.id
