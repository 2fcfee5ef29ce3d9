"""Proposals: writes that wait for somebody's approval. Each is decided once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import BindParameter, and_, bindparam, case, func, insert, or_, select, update

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
from memory.store.link import Fetched, Link, batches
from memory.store.tables import journal, proposals
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
    _c.journal_id,
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
    .values(state=ProposalState.EXPIRED.value, decided_at=bindparam("new_at"))
)
_WRITTEN_BY = update(proposals).where(_c.id == bindparam("key")).values(journal_id=bindparam("new_journal"))
_waits_in = and_(
    _waiting,
    _c.lineage == bindparam("of_lineage"),
    or_(
        and_(_c.subject_kind == SubjectKind.SERVER.value, _c.subject_id == bindparam("guild")),
        and_(_c.subject_kind == SubjectKind.USER.value, _c.source_guild_id == bindparam("guild")),
    ),
)
_DROP_IN = (
    update(proposals)
    .where(_waits_in)
    .values(state=ProposalState.DISCARDED.value, decided_by=bindparam("by"), decided_at=bindparam("new_at"))
    .returning(_c.id)
)
_COUNT_IN = select(func.count()).select_from(proposals).where(_waits_in)
_TEXTS_IN = select(_c.id, _c.text).where(
    _c.subject_kind == bindparam("kind"),
    _c.subject_id == bindparam("subject"),
    _c.lineage == bindparam("lineage"),
    _c.text != "",
)
_these: BindParameter[int] = bindparam("ids", expanding=True)
_wordless = update(proposals).values(
    text="", keywords="", state=case((_waiting, ProposalState.DISCARDED.value), else_=_c.state)
)
_ERASE = _wordless.where(
    or_(
        _c.memory_id.in_(_these),
        _c.journal_id.in_(select(journal.c.id).where(journal.c.memory_id.in_(_these))),
    )
)
_ERASE_THESE = _wordless.where(_c.id.in_(_these))


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
        journal_id,
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
        journal_id=journal_id,
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

    async def drop_in(self, guild_id: int, lineage: str, by: int | None, at: datetime) -> list[int]:
        """Discard what a persona suggested in a server and what still waits; returns their ids."""
        asked = {"guild": guild_id, "of_lineage": lineage, "by": by, "new_at": to_micros(at)}
        return sorted(await self._link.ids(_DROP_IN, asked))

    async def count_in(self, guild_id: int, lineage: str) -> int:
        """How many :meth:`drop_in` would discard."""
        return int(await self._link.value(_COUNT_IN, {"guild": guild_id, "of_lineage": lineage}))

    async def texts_in(self, scope: Scope) -> dict[int, str]:
        """The words of all that was ever suggested for a scope, by suggestion."""
        asked = {"kind": scope.kind.value, "subject": scope.subject_id, "lineage": scope.lineage}
        return {int(row[0]): str(row[1]) for row in await self._link.rows(_TEXTS_IN, asked)}

    async def erase(self, memory_ids: Sequence[int], ids: Sequence[int] = ()) -> None:
        """These entries were cleared: suggestions about them or behind them, and ``ids``, lose their words.

        What still waited is discarded.
        """
        for batch in batches(memory_ids):
            await self._link.write(_ERASE, {"ids": list(batch)})
        for batch in batches(ids):
            await self._link.write(_ERASE_THESE, {"ids": list(batch)})

    async def written_by(self, proposal_id: int, journal_id: int) -> None:
        """The write that approved it. Its text was approved; that of the proposal was suggested."""
        await self._link.write(_WRITTEN_BY, {"key": proposal_id, "new_journal": journal_id})

    async def expire(self, before: datetime, at: datetime) -> int:
        """Those made before that time wait no longer from ``at`` on; returns how many."""
        return await self._link.write(_EXPIRE, {"before": to_micros(before), "new_at": to_micros(at)})
