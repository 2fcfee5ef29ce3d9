"""Turns: OPEN, then COMMITTED with the outbox row, then closed once and never touched again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, insert, or_, select, update

from memory.store.codec import clean, from_micros, ids_of, ids_text, to_micros
from memory.store.link import Fetched, Link
from memory.store.tables import turn_replies, turns
from memory.types import Place, Turn, TurnState, Usage

_c = turns.c
_COLUMNS = (
    _c.id,
    _c.channel_id,
    _c.guild_id,
    _c.parent_id,
    _c.name,
    _c.lineage,
    _c.state,
    _c.trigger_ids,
    _c.author_ids,
    _c.started_at,
    _c.reply_ids,
    _c.partial_id,
    _c.error,
    _c.prompt_tokens,
    _c.completion_tokens,
    _c.cached_tokens,
    _c.model,
    _c.persona_id,
)
_UNFINISHED_STATES = (TurnState.OPEN.value, TurnState.COMMITTED.value)
_all = select(*_COLUMNS)
_newest = _all.where(_c.channel_id == bindparam("channel")).order_by(_c.id.desc()).limit(1)
_OPEN = insert(turns).returning(_c.id)
_GET = _all.where(_c.id == bindparam("key"))
_UNFINISHED = _all.where(_c.state.in_(_UNFINISHED_STATES)).order_by(_c.id)
_LATEST = _newest
_LATEST_WITH_LEDGER = _newest.where(_c.ledger.is_not(None))
_LEDGER = select(_c.ledger).where(_c.id == bindparam("key"))
_BY_REPLY = _all.join(turn_replies, turn_replies.c.turn_id == _c.id).where(
    turn_replies.c.message_id == bindparam("message")
)
_PARTIAL = update(turns).where(_c.id == bindparam("key")).values(partial_id=bindparam("new"))
_COMMIT = (
    update(turns)
    .where(_c.id == bindparam("key"), _c.state == TurnState.OPEN.value)
    .values(
        state=TurnState.COMMITTED.value,
        prompt_tokens=bindparam("new_prompt"),
        completion_tokens=bindparam("new_completion"),
        cached_tokens=bindparam("new_cached"),
        model=bindparam("new_model"),
        ledger=bindparam("new_ledger"),
        committed_at=bindparam("new_at"),
    )
)
_CLOSE = (
    update(turns)
    .where(_c.id == bindparam("key"), _c.state.in_(_UNFINISHED_STATES))
    .values(
        state=bindparam("new_state"),
        reply_ids=bindparam("new_replies"),
        error=bindparam("new_error"),
        closed_at=bindparam("new_at"),
    )
)
_DISCARD = (
    update(turns)
    .where(_c.id == bindparam("key"), _c.state == TurnState.DELIVERED.value)
    .values(state=bindparam("new_state"))
)
_NO_REPLIES = delete(turn_replies).where(turn_replies.c.turn_id == bindparam("key"))
_OWNERS = select(turn_replies.c.message_id, turn_replies.c.turn_id).where(
    turn_replies.c.message_id.in_(bindparam("ids", expanding=True))
)
_LATER = _all.where(
    _c.channel_id == bindparam("channel"),
    or_(_c.closed_at.is_(None), _c.closed_at >= bindparam("since")),
).order_by(_c.id.desc())
_REPLIED = insert(turn_replies)
_UNREPLIED = delete(turn_replies).where(turn_replies.c.message_id.in_(bindparam("ids", expanding=True)))


def _turn(row: Fetched) -> Turn:
    (
        turn_id,
        channel_id,
        guild_id,
        parent_id,
        name,
        lineage,
        state,
        trigger_ids,
        author_ids,
        started_at,
        reply_ids,
        partial_id,
        error,
        prompt,
        completion,
        cached,
        model,
        persona_id,
    ) = row
    return Turn(
        id=turn_id,
        place=Place(channel_id, guild_id, parent_id, name),
        lineage=lineage,
        state=TurnState(state),
        trigger_ids=ids_of(trigger_ids),
        author_ids=ids_of(author_ids),
        started_at=from_micros(started_at),
        reply_ids=ids_of(reply_ids),
        partial_id=partial_id,
        error=error,
        usage=Usage(prompt, completion, cached),
        model=model,
        persona_id=persona_id,
    )


class Turns:
    """One row a reply."""

    __slots__ = ("_link",)

    def __init__(self, link: Link) -> None:
        self._link = link

    async def open(
        self,
        place: Place,
        lineage: str,
        trigger_ids: Sequence[int],
        author_ids: Sequence[int],
        at: datetime,
        persona_id: int = 0,
    ) -> Turn:
        """A new OPEN turn."""
        values = {
            "channel_id": place.channel_id,
            "guild_id": place.guild_id,
            "parent_id": place.parent_id,
            "name": place.name,
            "lineage": lineage,
            "state": TurnState.OPEN.value,
            "trigger_ids": ids_text(trigger_ids),
            "author_ids": ids_text(author_ids),
            "started_at": to_micros(at),
            "reply_ids": "",
            "error": "",
            "prompt_tokens": 0,
            "completion_tokens": 0,
            "cached_tokens": 0,
            "model": "",
            "persona_id": persona_id,
        }
        turn_id: int = await self._link.value(_OPEN, values)
        return Turn(
            id=turn_id,
            place=Place(place.channel_id, place.guild_id, place.parent_id, clean(place.name)),
            lineage=clean(lineage),
            state=TurnState.OPEN,
            trigger_ids=tuple(trigger_ids),
            author_ids=tuple(author_ids),
            started_at=at,
            persona_id=persona_id,
        )

    async def get(self, turn_id: int) -> Turn | None:
        return await self._first(_GET, {"key": turn_id})

    async def set_partial(self, turn_id: int, message_id: int | None) -> None:
        """Where a partial reply stands on Discord; None when it was withdrawn."""
        await self._link.write(_PARTIAL, {"key": turn_id, "new": message_id})

    async def commit(self, turn_id: int, usage: Usage, model: str, ledger_json: str, at: datetime) -> bool:
        """OPEN becomes COMMITTED. False when it was not open: then nothing changes."""
        result = {
            "key": turn_id,
            "new_prompt": usage.prompt,
            "new_completion": usage.completion,
            "new_cached": usage.cached,
            "new_model": model,
            "new_ledger": ledger_json,
            "new_at": to_micros(at),
        }
        return await self._link.write(_COMMIT, result) > 0

    async def close(
        self, turn_id: int, state: TurnState, reply_ids: Sequence[int] = (), error: str = "", *, at: datetime
    ) -> bool:
        """OPEN or COMMITTED becomes ``state``. False when it was closed already: then nothing changes."""
        end = {
            "key": turn_id,
            "new_state": state.value,
            "new_replies": ids_text(reply_ids),
            "new_error": error,
            "new_at": to_micros(at),
        }
        if not await self._link.write(_CLOSE, end):
            return False
        if reply_ids:
            replies = list(dict.fromkeys(reply_ids))
            await self._link.write(_UNREPLIED, {"ids": replies})  # a message edited into another turn's reply
            await self._link.write_all(_REPLIED, [{"message_id": one, "turn_id": turn_id} for one in replies])
        return True

    async def discard(self, turn_id: int, state: TurnState) -> bool:
        """A DELIVERED turn is REPLACED or REWOUND: its messages are nobody's reply any more.

        False when it was not delivered: then nothing changes.
        """
        if not await self._link.write(_DISCARD, {"key": turn_id, "new_state": state.value}):
            return False
        await self._link.write(_NO_REPLIES, {"key": turn_id})
        return True

    async def later(self, channel_id: int, message_id: int, said_at: datetime) -> list[Turn]:
        """The channel's turns with a trigger or a reply later than that message, newest first.

        ``said_at``: when it was said. Whatever became of the turn, it is among them.
        """
        asked = {"channel": channel_id, "since": to_micros(said_at)}
        turns = map(_turn, await self._link.rows(_LATER, asked))
        return [t for t in turns if max((*t.trigger_ids, *t.reply_ids), default=0) > message_id]

    async def reply_owners(self, message_ids: Sequence[int]) -> dict[int, int]:
        """Which turn each of these messages is (part of) the reply of."""
        if not message_ids:
            return {}
        rows = await self._link.rows(_OWNERS, {"ids": list(message_ids)})
        return {row[0]: row[1] for row in rows}

    async def unfinished(self) -> list[Turn]:
        """OPEN and COMMITTED ones, oldest first: what a restart has to settle."""
        return [_turn(row) for row in await self._link.rows(_UNFINISHED)]

    async def latest(self, channel_id: int) -> Turn | None:
        return await self._first(_LATEST, {"channel": channel_id})

    async def latest_with_ledger(self, channel_id: int) -> Turn | None:
        """The channel's latest turn that got as far as a ledger."""
        return await self._first(_LATEST_WITH_LEDGER, {"channel": channel_id})

    async def ledger(self, turn_id: int) -> str:
        """The ledger's JSON, empty when there is none."""
        return await self._link.value(_LEDGER, {"key": turn_id}) or ""

    async def by_reply(self, message_id: int) -> Turn | None:
        """The turn that posted this message as (part of) its reply."""
        return await self._first(_BY_REPLY, {"message": message_id})

    async def _first(self, statement: Any, parameters: dict[str, int]) -> Turn | None:
        row = await self._link.row(statement, parameters)
        return None if row is None else _turn(row)
