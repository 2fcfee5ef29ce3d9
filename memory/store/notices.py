"""Notices: the confirmation of each committed write, committed with it and posted afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, Executable, bindparam, insert, or_, select, update

from memory.store.codec import to_micros
from memory.store.link import Fetched, Link, batches
from memory.store.tables import journal, notices, proposals, turns
from memory.types import Notice, NoticeLook, NoticeState, Source, TurnState

_c = notices.c
_COLUMNS = (
    _c.id,
    _c.channel_id,
    _c.guild_id,
    _c.journal_id,
    _c.proposal_id,
    _c.state,
    _c.message_id,
    _c.turn_id,
    _c.attempts,
    _c.look,
)
_all = select(*_COLUMNS)
_ADD = insert(notices).returning(_c.id)
_GET = _all.where(_c.id == bindparam("key"))
_BY_JOURNAL = _all.where(_c.journal_id == bindparam("key")).order_by(_c.id.desc()).limit(1)
_OF_MEMORY = (
    _all.join(journal, journal.c.id == _c.journal_id)
    .where(journal.c.memory_id == bindparam("key"), _c.message_id.is_not(None))
    .order_by(_c.id.desc())
    .limit(bindparam("most"))
)
_asked: BindParameter[int] = bindparam("ids", expanding=True)
_OF_MEMORIES = (
    _all.where(
        or_(
            _c.journal_id.in_(select(journal.c.id).where(journal.c.memory_id.in_(_asked))),
            _c.proposal_id.in_(select(proposals.c.id).where(proposals.c.memory_id.in_(_asked))),
        ),
        _c.message_id.is_not(None),
    )
    .order_by(_c.id.desc())
    .limit(bindparam("most"))
)
_OF_PROPOSAL = _all.where(_c.proposal_id == bindparam("key")).order_by(_c.id.desc())
_OF_PROPOSALS = (
    _all.where(_c.proposal_id.in_(_asked), _c.message_id.is_not(None))
    .order_by(_c.id.desc())
    .limit(bindparam("most"))
)
_MADE_IN = (
    select(_c.proposal_id, turns.c.channel_id, turns.c.guild_id)
    .join(turns, turns.c.id == _c.turn_id)
    .where(_c.proposal_id.in_(_asked))
    .distinct()
)
_BY_MESSAGE = _all.where(_c.message_id == bindparam("key")).order_by(_c.id.desc()).limit(1)
_OF_TURN = _all.where(_c.turn_id == bindparam("turn")).order_by(_c.id)
_running = select(turns.c.id).where(turns.c.id == _c.turn_id, turns.c.state == TurnState.OPEN.value).exists()
_PENDING = (
    _all.where(_c.state == NoticeState.PENDING.value, _c.turn_id.is_not(None), ~_running)
    .order_by(_c.id)
    .limit(bindparam("most"))
)
_one = update(notices).where(_c.id == bindparam("key"))
_POSTED = _one.values(state=NoticeState.POSTED.value, message_id=bindparam("message"))
_SHOWN_AS = _one.values(channel_id=bindparam("new_channel"), look=bindparam("new_look"))
_FAILED = _one.values(state=bindparam("new_state"), attempts=_c.attempts + 1)
_KNOWN = select(_c.message_id).where(_c.message_id.in_(bindparam("ids", expanding=True)))


def _notice(row: Fetched) -> Notice:
    notice_id, channel_id, guild_id, journal_id, proposal_id, state, message_id, turn_id, attempts, look = row
    return Notice(
        id=notice_id,
        channel_id=channel_id,
        guild_id=guild_id,
        journal_id=journal_id,
        proposal_id=proposal_id,
        state=NoticeState(state),
        message_id=message_id,
        turn_id=turn_id,
        attempts=attempts,
        look=NoticeLook(look),
    )


class Notices:
    """Notices are recognised by the recorded id of their message, never by their look."""

    __slots__ = ("_link",)

    def __init__(self, link: Link) -> None:
        self._link = link

    async def add(
        self,
        channel_id: int,
        guild_id: int | None,
        turn_id: int | None,
        journal_id: int | None,
        proposal_id: int | None,
        at: datetime,
    ) -> Notice:
        """A pending notice."""
        values = {
            "channel_id": channel_id,
            "guild_id": guild_id,
            "turn_id": turn_id,
            "journal_id": journal_id,
            "proposal_id": proposal_id,
            "state": NoticeState.PENDING.value,
            "attempts": 0,
            "created_at": to_micros(at),
            "look": NoticeLook.CARD.value,
        }
        notice_id: int = await self._link.value(_ADD, values)
        return Notice(
            id=notice_id,
            channel_id=channel_id,
            guild_id=guild_id,
            journal_id=journal_id,
            proposal_id=proposal_id,
            state=NoticeState.PENDING,
            turn_id=turn_id,
        )

    async def get(self, notice_id: int) -> Notice | None:
        return await self._first(_GET, notice_id)

    async def by_journal(self, journal_id: int) -> Notice | None:
        return await self._first(_BY_JOURNAL, journal_id)

    async def of_memory(self, memory_id: int, limit: int) -> list[Notice]:
        """The posted confirmations of one entry's writes, newest first. Several may stand in one message."""
        return [_notice(row) for row in await self._link.rows(_OF_MEMORY, {"key": memory_id, "most": limit})]

    async def of_memories(self, memory_ids: Sequence[int], limit: int) -> list[Notice]:
        """The newest posted confirmations of writes to any of these entries, and suggestions about them."""
        return await self._newest(_OF_MEMORIES, memory_ids, limit)

    async def of_proposals(self, proposal_ids: Sequence[int], limit: int) -> list[Notice]:
        """The newest posted notices of these suggestions."""
        return await self._newest(_OF_PROPOSALS, proposal_ids, limit)

    async def _newest(self, statement: Executable, ids: Sequence[int], limit: int) -> list[Notice]:
        found: list[Notice] = []
        for batch in batches(list(ids)):
            asked = {"ids": list(batch), "most": limit}
            found += [_notice(row) for row in await self._link.rows(statement, asked)]
        return sorted(found, key=lambda notice: notice.id, reverse=True)[:limit]

    async def of_proposal(self, proposal_id: int) -> list[Notice]:
        """All notices of one suggestion, newest first: each turn that made it again has its own."""
        return [_notice(row) for row in await self._link.rows(_OF_PROPOSAL, {"key": proposal_id})]

    async def made_in(self, proposal_ids: Sequence[int]) -> dict[int, set[Source]]:
        """For each suggestion the channels of the turns that made it, without a message."""
        found: dict[int, set[Source]] = {}
        for batch in batches(list(proposal_ids)):
            for proposal_id, channel_id, guild_id in await self._link.rows(_MADE_IN, {"ids": list(batch)}):
                found.setdefault(proposal_id, set()).add(Source(channel_id, None, guild_id))
        return found

    async def by_message(self, message_id: int) -> Notice | None:
        return await self._first(_BY_MESSAGE, message_id)

    async def pending(self, limit: int) -> list[Notice]:
        """Those of turns that are over, oldest first. A person's own write is told by what they pressed."""
        return [_notice(row) for row in await self._link.rows(_PENDING, {"most": limit})]

    async def of_turn(self, turn_id: int) -> list[Notice]:
        """All of one turn, oldest first."""
        return [_notice(row) for row in await self._link.rows(_OF_TURN, {"turn": turn_id})]

    async def shown_as(self, notice_id: int, channel_id: int, look: NoticeLook) -> None:
        """It is to be posted in that channel, and shows like that from now on."""
        await self._link.write(
            _SHOWN_AS, {"key": notice_id, "new_channel": channel_id, "new_look": look.value}
        )

    async def posted(self, notice_id: int, message_id: int) -> None:
        await self._link.write(_POSTED, {"key": notice_id, "message": message_id})

    async def failed(self, notice_id: int, *, give_up: bool = True) -> None:
        """One more attempt went wrong. ``give_up`` False: it stays pending."""
        state = NoticeState.FAILED if give_up else NoticeState.PENDING
        await self._link.write(_FAILED, {"key": notice_id, "new_state": state.value})

    async def is_notice(self, message_ids: Sequence[int]) -> set[int]:
        """Those of ``message_ids`` that are notices of ours."""
        known: set[int] = set()
        for batch in batches(list(message_ids)):
            known.update(await self._link.ids(_KNOWN, {"ids": list(batch)}))
        return known

    async def _first(self, statement: Any, key: int) -> Notice | None:
        row = await self._link.row(statement, {"key": key})
        return None if row is None else _notice(row)
