"""Notices: the confirmation of each committed write, committed with it and posted afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, insert, select, update

from memory.store.codec import to_micros
from memory.store.link import Fetched, Link, batches
from memory.store.tables import journal, notices
from memory.types import Notice, NoticeState

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
_OF_PROPOSAL = _all.where(_c.proposal_id == bindparam("key")).order_by(_c.id.desc())
_BY_MESSAGE = _all.where(_c.message_id == bindparam("key")).order_by(_c.id.desc()).limit(1)
_PENDING = (
    _all.where(_c.state == NoticeState.PENDING.value, _c.turn_id.is_not(None))
    .order_by(_c.id)
    .limit(bindparam("most"))
)
_one = update(notices).where(_c.id == bindparam("key"))
_POSTED = _one.values(state=NoticeState.POSTED.value, message_id=bindparam("message"))
_FAILED = _one.values(state=bindparam("new_state"), attempts=_c.attempts + 1)
_KNOWN = select(_c.message_id).where(_c.message_id.in_(bindparam("ids", expanding=True)))


def _notice(row: Fetched) -> Notice:
    notice_id, channel_id, guild_id, journal_id, proposal_id, state, message_id, turn_id, attempts = row
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

    async def of_proposal(self, proposal_id: int) -> list[Notice]:
        """All notices of one suggestion, newest first: each turn that made it again has its own."""
        return [_notice(row) for row in await self._link.rows(_OF_PROPOSAL, {"key": proposal_id})]

    async def by_message(self, message_id: int) -> Notice | None:
        return await self._first(_BY_MESSAGE, message_id)

    async def pending(self, limit: int) -> list[Notice]:
        """Those of turns, oldest first: a person's own write is confirmed by what they pressed."""
        return [_notice(row) for row in await self._link.rows(_PENDING, {"most": limit})]

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
