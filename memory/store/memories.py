"""Saved memories. The database itself refuses the same normalised text twice in one scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Executable,
    Select,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert as insert_or_skip  # ON CONFLICT reads the same on SQLite

from memory.store.codec import (
    SUBJECT_KINDS,
    clean,
    from_micros,
    ids_of,
    ids_text,
    norm_key,
    scope_values,
    source_of,
    source_values,
    to_micros,
    words_of,
    words_text,
)
from memory.store.leaving import STAYING, going
from memory.store.link import Fetched, Link, batches
from memory.store.scopes import KEPT, any_scope, scope_parameters
from memory.store.tables import memories, memory_mentions
from memory.types import GLOBAL, Memory, Scope, Source, SubjectKind

_c = memories.c
_COLUMNS = (
    _c.id,
    _c.subject_kind,
    _c.subject_id,
    _c.lineage,
    _c.text,
    _c.pinned,
    _c.created_at,
    _c.updated_at,
    _c.version,
    _c.dm_only,
    _c.keywords,
    _c.channels,
    _c.author_id,
    _c.source_channel_id,
    _c.source_message_id,
    _c.source_guild_id,
)
_all = select(*_COLUMNS)
_of: ColumnElement[bool] = and_(
    _c.subject_kind == bindparam("kind"),
    _c.subject_id == bindparam("subject"),
    _c.lineage == bindparam("lineage"),
)


_GET = _all.where(_c.id == bindparam("key"))
_HELD = _all.add_columns(_c.norm).where(_c.id == bindparam("key")).with_for_update()
_COUNTS = select(func.count(), func.coalesce(func.sum(case((_c.pinned, 1), else_=0)), 0)).where(_of)
_SAME = _all.where(_of, _c.norm == bindparam("norm_key"), _c.dm_only == bindparam("only"))
_ADD = insert(memories).returning(_c.id)
_RESTORE = insert_or_skip(memories).on_conflict_do_nothing().returning(_c.id)
_CHANGE = (
    update(memories)
    .where(_c.id == bindparam("key"), _c.version == bindparam("expected"))
    .values(
        subject_kind=bindparam("new_subject_kind"),
        subject_id=bindparam("new_subject_id"),
        lineage=bindparam("new_lineage"),
        text=bindparam("new_text"),
        norm=bindparam("new_norm"),
        pinned=bindparam("new_pinned"),
        dm_only=bindparam("new_dm_only"),
        keywords=bindparam("new_keywords"),
        channels=bindparam("new_channels"),
        updated_at=bindparam("new_updated_at"),
        version=bindparam("new_version"),
    )
)
_CHANGING = (
    *("subject_kind", "subject_id", "lineage", "text", "norm", "pinned", "dm_only", "keywords", "channels"),
    *("updated_at", "version"),
)
_REMOVE = delete(memories).where(_c.id == bindparam("key"))
_REMOVE_VERSION = _REMOVE.where(_c.version == bindparam("expected"))
_HELD_IN = select(_c.id).where(_of, _c.pinned == bindparam("is_pinned")).order_by(_c.id)
_HELD_IN_SERVERS = _HELD_IN.where(_c.dm_only.is_(False))
_these = _c.id.in_(bindparam("ids", expanding=True))
_REMOVE_ALL = delete(memories).where(_these)
_REHOME_ALL = update(memories).where(_these).values(lineage=GLOBAL, version=_c.version + 1)
_PIN_ALL = update(memories).where(_these).values(pinned=True, version=_c.version + 1)
_LINEAGES = (
    select(_c.lineage)
    .where(_c.subject_kind == bindparam("kind"), _c.subject_id == bindparam("subject"))
    .group_by(_c.lineage)
    .order_by(func.min(_c.id))
)
_MENTION = insert(memory_mentions)
_FORGET_MENTIONS = delete(memory_mentions).where(memory_mentions.c.memory_id == bindparam("key"))
_MENTIONED = select(memory_mentions.c.user_id).where(memory_mentions.c.memory_id == bindparam("key"))
_MENTIONED = _MENTIONED.order_by(memory_mentions.c.user_id)


@lru_cache(maxsize=2 * KEPT)
def _of_scopes(count: int, dm: bool) -> Select[*tuple[Any, ...]]:
    statement = _all.where(any_scope(memories, count)).order_by(_c.id)
    return statement if dm else statement.where(_c.dm_only.is_(False))


@lru_cache(maxsize=2)
def _leaving(alone: bool) -> Select[*tuple[Any, ...]]:
    return _all.where(going(alone)).order_by(_c.id).with_for_update()


_STAYING = select(func.count()).select_from(memories).where(STAYING)


@lru_cache(maxsize=2)
def _global_twins(alone: bool) -> Select[*tuple[Any, ...]]:
    twin = memories.alias("twin")
    alike = and_(
        twin.c.lineage == GLOBAL,
        *(twin.c[name] == _c[name] for name in ("subject_kind", "subject_id", "dm_only", "norm")),
    )
    columns = [twin.c[column.name] for column in _COLUMNS]
    joined = select(*columns, _c.id.label("of_id")).select_from(memories.join(twin, alike))
    return joined.where(going(alone))


def _memory(row: Sequence[Any], scopes: dict[tuple[str, int, str], Scope]) -> Memory:
    (
        memory_id,
        kind,
        subject_id,
        lineage,
        text,
        pinned,
        created_at,
        updated_at,
        version,
        dm_only,
        keywords,
        channels,
        author_id,
        source_channel,
        source_message,
        source_guild,
    ) = row
    key = (kind, subject_id, lineage)
    scope = scopes.get(key)
    if scope is None:
        scope = scopes[key] = Scope(SUBJECT_KINDS[kind], subject_id, lineage)
    created = from_micros(created_at)
    return Memory(
        memory_id,
        scope,
        text,
        pinned,
        created,
        created if updated_at == created_at else from_micros(updated_at),
        version,
        dm_only,
        words_of(keywords) if keywords else (),
        ids_of(channels) if channels else (),
        author_id,
        None if source_channel is None else source_of(source_channel, source_message, source_guild),
    )


def _one(row: Fetched | None) -> Memory | None:
    return None if row is None else _memory(row, {})


def _in(scope: Scope) -> dict[str, Any]:
    return {"kind": scope.kind.value, "subject": scope.subject_id, "lineage": scope.lineage}


def _leaving_from(lineage: str, guild_id: int, others: Sequence[int]) -> dict[str, Any]:
    return {"lineage": lineage, "guild": guild_id, **({"others": list(others)} if others else {})}


def _values(memory: Memory, norm: str) -> dict[str, Any]:
    """All columns but the id."""
    return {
        **scope_values(memory.scope),
        "dm_only": memory.dm_only,
        "norm": norm_key(norm),
        "text": memory.text,
        "pinned": memory.pinned,
        "created_at": to_micros(memory.created_at),
        "updated_at": to_micros(memory.updated_at),
        "version": memory.version,
        "keywords": words_text(memory.keywords),
        "channels": ids_text(memory.channels),
        "author_id": memory.author_id,
        **source_values(memory.source),
    }


def _stored(memory: Memory) -> Memory:
    """The memory as a later read will give it."""
    scope = memory.scope
    return replace(
        memory,
        text=clean(memory.text),
        keywords=tuple(clean(word) for word in memory.keywords),
        scope=Scope(scope.kind, scope.subject_id, clean(scope.lineage)),
    )


class Memories:
    """The entries of every scope."""

    __slots__ = ("_link",)

    def __init__(self, link: Link) -> None:
        self._link = link

    async def get(self, memory_id: int) -> Memory | None:
        return _one(await self._link.row(_GET, {"key": memory_id}))

    async def of_scopes(self, scopes: Sequence[Scope], *, dm: bool) -> list[Memory]:
        """All entries of these scopes in one statement, by id. ``dm`` False leaves out those for DMs only."""
        if not scopes:
            return []
        wanted = list(dict.fromkeys(scopes))
        known: dict[tuple[str, int, str], Scope] = {}
        rows = await self._link.rows(_of_scopes(len(wanted), dm), scope_parameters(wanted))
        return [_memory(row, known) for row in rows]

    async def counts(self, scope: Scope) -> tuple[int, int]:
        """How many unpinned and how many pinned entries, those for DMs only included."""
        row = await self._link.row(_COUNTS, _in(scope))
        total, pinned = (0, 0) if row is None else row
        return int(total) - int(pinned), int(pinned)

    async def find_same(self, scope: Scope, norm: str, dm_only: bool) -> Memory | None:
        """The entry that holds this normalised text there."""
        return _one(await self._link.row(_SAME, {**_in(scope), "norm_key": norm_key(norm), "only": dm_only}))

    async def mentions(self, memory_id: int) -> list[int]:
        """Members whom its text names, by id."""
        return await self._link.ids(_MENTIONED, {"key": memory_id})

    async def add(
        self,
        scope: Scope,
        text: str,
        norm: str,
        pinned: bool,
        dm_only: bool,
        keywords: Sequence[str],
        channels: Sequence[int],
        author_id: int | None,
        source: Source | None,
        at: datetime,
        mentions: Sequence[int],
    ) -> Memory:
        """A new entry, version 1. Raises :class:`StoreError` when the same text is there: find_same first."""
        memory = Memory(
            id=0,
            scope=scope,
            text=text,
            pinned=pinned,
            created_at=at,
            updated_at=at,
            dm_only=dm_only,
            keywords=tuple(keywords),
            channels=tuple(channels),
            author_id=author_id,
            source=source,
        )
        memory_id: int = await self._link.value(_ADD, _values(memory, norm))
        await self._mention(memory_id, mentions)
        return replace(_stored(memory), id=memory_id)

    async def change(
        self,
        memory_id: int,
        expected_version: int,
        *,
        at: datetime,
        text: str | None = None,
        norm: str | None = None,
        pinned: bool | None = None,
        dm_only: bool | None = None,
        keywords: Sequence[str] | None = None,
        channels: Sequence[int] | None = None,
        mentions: Sequence[int] | None = None,
        scope: Scope | None = None,
    ) -> Memory | None:
        """What is not None changes; the version rises.

        None when the version moved on, the entry is gone, or its (new) scope holds the new text already.
        ``updated_at`` becomes ``at`` unless only ``pinned``, ``dm_only`` or ``scope`` changed.
        """
        row = await self._link.row(_HELD, {"key": memory_id})
        if row is None:
            return None
        held_norm = row[-1]
        memory = _memory(row[:-1], {})
        if memory.version != expected_version:
            return None
        rewritten = any(given is not None for given in (text, keywords, channels))
        changed = replace(
            memory,
            scope=memory.scope if scope is None else scope,
            text=memory.text if text is None else text,
            pinned=memory.pinned if pinned is None else pinned,
            dm_only=memory.dm_only if dm_only is None else dm_only,
            keywords=memory.keywords if keywords is None else tuple(keywords),
            channels=memory.channels if channels is None else tuple(channels),
            updated_at=at if rewritten else memory.updated_at,
            version=memory.version + 1,
        )
        new_norm = held_norm if norm is None else norm_key(norm)
        if (new_norm, changed.dm_only, changed.scope) != (held_norm, memory.dm_only, memory.scope):
            same = {**_in(changed.scope), "norm_key": new_norm, "only": changed.dm_only}
            if await self._link.row(_SAME, same) is not None:
                return None
        values = _values(changed, "")
        values["norm"] = new_norm
        moving = {f"new_{name}": values[name] for name in _CHANGING}
        if not await self._link.write(_CHANGE, {"key": memory_id, "expected": expected_version, **moving}):
            return None
        if mentions is not None:
            await self._link.write(_FORGET_MENTIONS, {"key": memory_id})
            await self._mention(memory_id, mentions)
        return _stored(changed)

    async def remove(self, memory_id: int, expected_version: int | None = None) -> bool:
        """False when it is gone, or no longer at that version."""
        if expected_version is None:
            return await self._link.write(_REMOVE, {"key": memory_id}) > 0
        return await self._link.write(_REMOVE_VERSION, {"key": memory_id, "expected": expected_version}) > 0

    async def restore(self, memory: Memory, norm: str, mentions: Sequence[int]) -> Memory | None:
        """Put a removed entry back as it was, under its old id.

        None when the id is in use, or the same text is in its scope meanwhile.
        """
        values: Mapping[str, Any] = {"id": memory.id, **_values(memory, norm)}
        if await self._link.value(_RESTORE, values) is None:
            return None
        await self._mention(memory.id, mentions)
        return _stored(memory)

    async def held(self, scope: Scope, *, pinned: bool, dm: bool) -> list[int]:
        """Ids of a scope's pinned or unpinned entries. ``dm`` False leaves out those for DMs only."""
        return await self._link.ids(_HELD_IN if dm else _HELD_IN_SERVERS, {**_in(scope), "is_pinned": pinned})

    async def lineages(self, kind: SubjectKind, subject_id: int) -> list[str]:
        """The lineages in which somebody or a server has entries, the oldest entry's first."""
        asked = {"kind": kind.value, "subject": subject_id}
        return [str(row[0]) for row in await self._link.rows(_LINEAGES, asked)]

    # many at once

    async def of_lineage(self, lineage: str, guild_id: int, others: Sequence[int]) -> list[Memory]:
        """A persona's entries about that server, and those of members that go with it there, by id.

        ``others``: further servers where the character lives; what members seen there have stays with it.
        They stay as they are until the unit ends.
        """
        known: dict[tuple[str, int, str], Scope] = {}
        asked = _leaving_from(lineage, guild_id, others)
        return [_memory(row, known) for row in await self._link.rows(_leaving(not others), asked)]

    async def staying(self, lineage: str, guild_id: int, others: Sequence[int]) -> int:
        """How many entries of members seen there stay with the character, which lives in ``others`` too."""
        if not others:
            return 0
        return int(await self._link.value(_STAYING, _leaving_from(lineage, guild_id, others)))

    async def global_twins(self, lineage: str, guild_id: int, others: Sequence[int]) -> dict[int, Memory]:
        """For those of :meth:`of_lineage` whose text stands in the scope for all personas too: that entry."""
        known: dict[tuple[str, int, str], Scope] = {}
        asked = _leaving_from(lineage, guild_id, others)
        rows = await self._link.rows(_global_twins(not others), asked)
        return {int(row[-1]): _memory(row[:-1], known) for row in rows}

    async def rehome_all(self, memory_ids: Sequence[int]) -> None:
        """These are for all personas from now on; their versions rise."""
        await self._each(_REHOME_ALL, memory_ids)

    async def pin_all(self, memory_ids: Sequence[int]) -> None:
        """These are pinned from now on; their versions rise."""
        await self._each(_PIN_ALL, memory_ids)

    async def remove_all(self, memory_ids: Sequence[int]) -> None:
        await self._each(_REMOVE_ALL, memory_ids)

    async def _each(self, statement: Executable, memory_ids: Sequence[int]) -> None:
        for batch in batches(memory_ids):
            await self._link.write(statement, {"ids": list(batch)})

    async def _mention(self, memory_id: int, user_ids: Sequence[int]) -> None:
        named = [{"memory_id": memory_id, "user_id": user_id} for user_id in dict.fromkeys(user_ids)]
        await self._link.write_all(_MENTION, named)
