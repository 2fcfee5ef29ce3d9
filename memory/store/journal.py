"""The journal: every committed write, with what was before and what is after."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Select, bindparam, exists, func, insert, or_, select, update

from memory.store.codec import (
    SUBJECT_KINDS,
    from_micros,
    memory_of,
    memory_text,
    scope_values,
    source_of,
    source_values,
    to_micros,
)
from memory.store.link import Fetched, Link, batches
from memory.store.scopes import KEPT, any_scope, scope_parameters
from memory.store.tables import journal, memories
from memory.types import ActorKind, JournalEntry, Memory, Op, Scope, Source

_c = journal.c
_COLUMNS = (
    _c.id,
    _c.memory_id,
    _c.subject_kind,
    _c.subject_id,
    _c.lineage,
    _c.op,
    _c.actor_kind,
    _c.actor_id,
    _c.turn_id,
    _c.before,
    _c.after,
    _c.at,
    _c.source_channel_id,
    _c.source_message_id,
    _c.source_guild_id,
    _c.undoes,
    _c.undone_by,
)
_all = select(*_COLUMNS)
_ADD = insert(journal).returning(_c.id)
_ADD_ALL = insert(journal)
_ERASE = (
    update(journal).where(_c.memory_id.in_(bindparam("ids", expanding=True))).values(before=None, after=None)
)
_later = journal.alias("later")
_LAST_IN = _all.where(
    _c.subject_kind == bindparam("kind"),
    _c.subject_id == bindparam("subject"),
    _c.lineage == bindparam("lineage"),
    or_(_c.before.is_not(None), _c.after.is_not(None)),
    ~exists().where(memories.c.id == _c.memory_id),
    ~exists().where(_later.c.memory_id == _c.memory_id, _later.c.id > _c.id),
).order_by(_c.id)
_STATES = select(_c.before, _c.after).where(_c.memory_id.in_(bindparam("ids", expanding=True)))
_GET = _all.where(_c.id == bindparam("key"))
_OF_MEMORY = _all.where(_c.memory_id == bindparam("memory")).order_by(_c.id.desc())
_OF_TURN = _all.where(_c.turn_id == bindparam("turn")).order_by(_c.id)
_UNDONE = (
    update(journal).where(_c.id == bindparam("key"), _c.undone_by.is_(None)).values(undone_by=bindparam("by"))
)

_ABOVE_ALL = (1 << 63) - 1
"""An id above every entry's."""


@lru_cache(maxsize=KEPT)
def _standing_by(count: int) -> Select[*tuple[Any, ...]]:
    return (
        _all.where(
            _c.actor_id == bindparam("person"),
            _c.id < bindparam("before"),
            _c.undone_by.is_(None),
            _c.undoes.is_(None),
            or_(_c.before.is_not(None), _c.after.is_not(None)),  # what was cleared can't be undone
            any_scope(journal, count),
        )
        .order_by(_c.id.desc())
        .limit(bindparam("most"))
    )


@lru_cache(maxsize=KEPT)
def _cleared_by(count: int) -> Select[*tuple[Any, ...]]:
    return select(func.max(_c.id)).where(
        _c.actor_id == bindparam("person"), _c.op == Op.CLEAR.value, any_scope(journal, count)
    )


def _entry(row: Fetched) -> JournalEntry:
    (
        entry_id,
        memory_id,
        kind,
        subject_id,
        lineage,
        op,
        actor_kind,
        actor_id,
        turn_id,
        before,
        after,
        at,
        source_channel,
        source_message,
        source_guild,
        undoes,
        undone_by,
    ) = row
    return JournalEntry(
        id=entry_id,
        memory_id=memory_id,
        scope=Scope(SUBJECT_KINDS[kind], subject_id, lineage),
        op=Op(op),
        actor_kind=ActorKind(actor_kind),
        actor_id=actor_id,
        turn_id=turn_id,
        before=memory_of(before),
        after=memory_of(after),
        at=from_micros(at),
        source=source_of(source_channel, source_message, source_guild),
        undoes=undoes,
        undone_by=undone_by,
    )


class Journal:
    """Entries are added and marked as undone; they outlive the memory. Their texts go when it is cleared."""

    __slots__ = ("_link",)

    def __init__(self, link: Link) -> None:
        self._link = link

    async def add(
        self,
        memory_id: int,
        scope: Scope,
        op: Op,
        actor_kind: ActorKind,
        actor_id: int | None,
        turn_id: int | None,
        before: Memory | None,
        after: Memory | None,
        at: datetime,
        source: Source | None = None,
        undoes: int | None = None,
    ) -> JournalEntry:
        """Journal one write. It does not mark the entry that it ``undoes``: see :meth:`mark_undone`."""
        kept_before, kept_after = memory_text(before), memory_text(after)
        values = {
            "memory_id": memory_id,
            **scope_values(scope),
            "op": op.value,
            "actor_kind": actor_kind.value,
            "actor_id": actor_id,
            "turn_id": turn_id,
            "before": kept_before,
            "after": kept_after,
            "at": to_micros(at),
            **source_values(source),
            "undoes": undoes,
        }
        entry_id: int = await self._link.value(_ADD, values)
        return JournalEntry(
            id=entry_id,
            memory_id=memory_id,
            scope=scope,
            op=op,
            actor_kind=actor_kind,
            actor_id=actor_id,
            turn_id=turn_id,
            before=memory_of(kept_before),
            after=memory_of(kept_after),
            at=at,
            source=source,
            undoes=undoes,
        )

    async def add_all(
        self,
        op: Op,
        changes: Sequence[tuple[Scope, int, Memory | None, Memory | None]],
        *,
        actor_kind: ActorKind,
        actor_id: int | None,
        at: datetime,
        source: Source | None = None,
    ) -> None:
        """Journal the same kind of write for many entries: scope, id, before and after of each."""
        same = {"op": op.value, "actor_kind": actor_kind.value, "actor_id": actor_id, "at": to_micros(at)}
        rows = [
            {
                "memory_id": memory_id,
                **scope_values(scope),
                **same,
                "turn_id": None,
                "before": memory_text(before),
                "after": memory_text(after),
                **source_values(source),
                "undoes": None,
                "undone_by": None,
            }
            for scope, memory_id, before, after in changes
        ]
        await self._link.write_all(_ADD_ALL, rows)

    async def erase(self, memory_ids: Sequence[int]) -> None:
        """Every text that was journaled of these entries goes; that something was written stays."""
        for batch in batches(memory_ids):
            await self._link.write(_ERASE, {"ids": list(batch)})

    async def gone_from(self, scope: Scope) -> list[JournalEntry]:
        """The last write of each entry that is gone and was in that scope then, if its words are kept."""
        asked = {"kind": scope.kind.value, "subject": scope.subject_id, "lineage": scope.lineage}
        return [_entry(row) for row in await self._link.rows(_LAST_IN, asked)]

    async def texts_of(self, memory_ids: Sequence[int]) -> set[str]:
        """Every text that is journaled of these entries."""
        found: set[str] = set()
        for batch in batches(memory_ids):
            rows = await self._link.rows(_STATES, {"ids": list(batch)})
            states = (memory_of(kept) for row in rows for kept in row)
            found |= {state.text for state in states if state is not None}
        return found

    async def get(self, entry_id: int) -> JournalEntry | None:
        row = await self._link.row(_GET, {"key": entry_id})
        return None if row is None else _entry(row)

    async def of_memory(self, memory_id: int) -> list[JournalEntry]:
        """Newest first."""
        return [_entry(row) for row in await self._link.rows(_OF_MEMORY, {"memory": memory_id})]

    async def of_turn(self, turn_id: int) -> list[JournalEntry]:
        """Oldest first."""
        return [_entry(row) for row in await self._link.rows(_OF_TURN, {"turn": turn_id})]

    async def standing_by(
        self, person_id: int, scopes: Sequence[Scope], *, before: int | None = None, limit: int = 1
    ) -> list[JournalEntry]:
        """Writes in these scopes that this member made, or triggered in a turn, and that stand; newest first.

        ``before``: only those with a lower id. Undoing is not counted as a write, so asking again goes
        further back instead of undoing the undo.
        """
        if not scopes:
            return []
        wanted = list(dict.fromkeys(scopes))
        below = _ABOVE_ALL if before is None else before
        asked = {"person": person_id, "before": below, "most": limit, **scope_parameters(wanted)}
        return [_entry(row) for row in await self._link.rows(_standing_by(len(wanted)), asked)]

    async def cleared_by(self, person_id: int, scopes: Sequence[Scope]) -> int:
        """The id of the newest clear by this member in these scopes; 0 when there is none."""
        wanted = list(dict.fromkeys(scopes))
        asked = {"person": person_id, **scope_parameters(wanted)}
        found: int | None = await self._link.value(_cleared_by(len(wanted)), asked) if wanted else None
        return found or 0

    async def mark_undone(self, entry_id: int, by_id: int) -> bool:
        """``by_id`` is the entry that undid it. False when it was undone already: only one caller wins."""
        return await self._link.write(_UNDONE, {"key": entry_id, "by": by_id}) > 0
