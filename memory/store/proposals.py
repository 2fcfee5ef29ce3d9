"""Proposals: writes that wait for somebody's approval. Each is decided once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import and_, bindparam, func, insert, or_, select, update

from memory.store.codec import (
    SUBJECT_KINDS,
    clean,
    from_micros,
    scope_values,
    source_of,
    source_values,
    to_micros,
    words_of,
    words_text,
)
from memory.store.link import Fetched, Link
from memory.store.tables import proposals
from memory.types import Op, Proposal, ProposalState, Scope, Source, SubjectKind

_c = proposals.c
_COLUMNS = (
    _c.id,
    _c.subject_kind,
    _c.subject_id,
    _c.lineage,
    _c.op,
    _c.text,
    _c.memory_id,
    _c.keywords,
    _c.turn_id,
    _c.proposer_id,
    _c.source_channel_id,
    _c.source_message_id,
    _c.source_guild_id,
    _c.state,
    _c.created_at,
)
_all = select(*_COLUMNS)
_waiting = _c.state == ProposalState.WAITING.value
_ADD = insert(proposals).returning(_c.id)
_GET = _all.where(_c.id == bindparam("key"))
_OF_TURN = _all.where(_c.turn_id == bindparam("turn")).order_by(_c.id)
_WAITING = _all.where(
    _waiting,
    or_(
        and_(_c.subject_kind == SubjectKind.SERVER.value, _c.subject_id == bindparam("guild")),
        and_(_c.subject_kind == SubjectKind.USER.value, _c.subject_id == bindparam("subject")),
    ),
).order_by(_c.id)
_COUNT = select(func.count()).where(
    _waiting,
    _c.subject_kind == bindparam("kind"),
    _c.subject_id == bindparam("subject"),
    _c.lineage == bindparam("lineage"),
)
_DECIDE = (
    update(proposals)
    .where(_c.id == bindparam("key"), _waiting)
    .values(state=bindparam("new_state"), decided_by=bindparam("by"), decided_at=bindparam("new_at"))
)
_EXPIRE = (
    update(proposals)
    .where(_waiting, _c.created_at < bindparam("before"))
    .values(state=ProposalState.EXPIRED.value, decided_at=bindparam("before"))
)


def _proposal(row: Fetched) -> Proposal:
    (
        proposal_id,
        kind,
        subject_id,
        lineage,
        op,
        text,
        memory_id,
        keywords,
        turn_id,
        proposer_id,
        source_channel,
        source_message,
        source_guild,
        state,
        created_at,
    ) = row
    return Proposal(
        id=proposal_id,
        scope=Scope(SUBJECT_KINDS[kind], subject_id, lineage),
        op=Op(op),
        text=text,
        memory_id=memory_id,
        keywords=words_of(keywords),
        turn_id=turn_id,
        proposer_id=proposer_id,
        source=source_of(source_channel, source_message, source_guild),
        state=ProposalState(state),
        created_at=from_micros(created_at),
    )


class Proposals:
    """Waiting writes and what became of them."""

    __slots__ = ("_link",)

    def __init__(self, link: Link) -> None:
        self._link = link

    async def add(
        self,
        scope: Scope,
        op: Op,
        text: str,
        at: datetime,
        *,
        memory_id: int | None = None,
        keywords: Sequence[str] = (),
        turn_id: int | None = None,
        proposer_id: int | None = None,
        source: Source | None = None,
    ) -> Proposal:
        """A waiting proposal. ``memory_id`` is what an UPDATE or DELETE is about."""
        values = {
            **scope_values(scope),
            "op": op.value,
            "text": text,
            "memory_id": memory_id,
            "keywords": words_text(keywords),
            "turn_id": turn_id,
            "proposer_id": proposer_id,
            **source_values(source),
            "state": ProposalState.WAITING.value,
            "created_at": to_micros(at),
        }
        proposal_id: int = await self._link.value(_ADD, values)
        return Proposal(
            id=proposal_id,
            scope=scope,
            op=op,
            text=clean(text),
            memory_id=memory_id,
            keywords=tuple(clean(word) for word in keywords),
            turn_id=turn_id,
            proposer_id=proposer_id,
            source=source,
            state=ProposalState.WAITING,
            created_at=at,
        )

    async def get(self, proposal_id: int) -> Proposal | None:
        row = await self._link.row(_GET, {"key": proposal_id})
        return None if row is None else _proposal(row)

    async def of_turn(self, turn_id: int) -> list[Proposal]:
        """What one turn proposed, oldest first."""
        return [_proposal(row) for row in await self._link.rows(_OF_TURN, {"turn": turn_id})]

    async def decide(self, proposal_id: int, state: ProposalState, by: int | None, at: datetime) -> bool:
        """False when it no longer waits: only one decision wins."""
        decision = {"key": proposal_id, "new_state": state.value, "by": by, "new_at": to_micros(at)}
        return await self._link.write(_DECIDE, decision) > 0

    async def waiting(self, guild_id: int | None, subject_id: int | None) -> list[Proposal]:
        """Those about that server and those about that member, oldest first. None asks for nobody."""
        asked = {"guild": guild_id, "subject": subject_id}
        return [_proposal(row) for row in await self._link.rows(_WAITING, asked)]

    async def count_waiting(self, scope: Scope) -> int:
        asked = {"kind": scope.kind.value, "subject": scope.subject_id, "lineage": scope.lineage}
        return int(await self._link.value(_COUNT, asked))

    async def expire(self, before: datetime) -> int:
        """Those made before that time wait no longer; returns how many."""
        return await self._link.write(_EXPIRE, {"before": to_micros(before)})
