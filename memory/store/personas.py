"""Personas of servers, their pictures, and who is in the cast of a channel."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, exists, func, select, update
from sqlalchemy.dialects.postgresql import insert  # ON CONFLICT reads the same on SQLite

from memory.store.codec import clean, to_micros, words_of, words_text
from memory.store.link import Fetched, Link
from memory.store.tables import Big, CleanText, cast_members, channels, personas, pictures, turns
from memory.types import DEFAULT_LINEAGE, DetailLevel, Persona, Sample, TurnState

_c = personas.c
_COLUMNS = (
    _c.id,
    _c.guild_id,
    _c.lineage,
    _c.name,
    _c.description,
    _c.prompt,
    _c.attributes,
    _c.samples,
    _c.triggers,
    _c.detail,
    _c.learns,
    _c.picture,
    _c.version,
)
_all = select(*_COLUMNS)
_GET = _all.where(_c.id == bindparam("key"))
_OF_GUILD = _all.where(_c.guild_id == bindparam("guild")).order_by(_c.id)
_ELSEWHERE = select(func.count()).where(_c.lineage == bindparam("lineage"), _c.id != bindparam("but"))
_HOMES = select(_c.guild_id).where(_c.lineage == bindparam("lineage")).order_by(_c.guild_id)
_GUILDS = select(_c.guild_id).where(_c.lineage != bindparam("lineage")).distinct()
_ADD = insert(personas).on_conflict_do_nothing().returning(_c.id)
_FIELDS = (
    "name",
    "name_key",
    "description",
    "prompt",
    "attributes",
    "samples",
    "triggers",
    "detail",
    "learns",
    "picture",
    "version",
    "updated_at",
)
_CHANGE = (
    update(personas)
    .where(_c.id == bindparam("key"), _c.version == bindparam("expected"))
    .values({name: bindparam(f"new_{name}") for name in _FIELDS})
)
_REMOVE = delete(personas).where(_c.id == bindparam("key"), _c.version == bindparam("expected"))
_PICTURE = select(pictures.c.png).where(pictures.c.digest == bindparam("key"))
_ADD_PICTURE = insert(pictures).on_conflict_do_nothing()
_DROP_PICTURE = delete(pictures).where(
    pictures.c.digest == bindparam("key"),
    ~select(_c.id).where(_c.picture == bindparam("key")).exists(),
)
_CAST = (
    select(cast_members.c.lineage)
    .where(cast_members.c.channel_id == bindparam("channel"))
    .order_by(cast_members.c.joined_at, cast_members.c.lineage)
)
_JOIN = insert(cast_members).on_conflict_do_nothing()
_lineage = bindparam("lineage", type_=CleanText)
_JOIN_SPOKEN = (
    insert(cast_members)
    .from_select(
        ["channel_id", "lineage", "joined_at"],
        select(
            channels.c.channel_id, bindparam("lineage", type_=CleanText), bindparam("joined_at", type_=Big)
        ).where(
            channels.c.guild_id == bindparam("guild"),
            exists().where(
                turns.c.channel_id == channels.c.channel_id,
                turns.c.lineage == _lineage,
                turns.c.state == TurnState.DELIVERED.value,
            ),
        ),
    )
    .on_conflict_do_nothing()
)
_LEAVE = delete(cast_members).where(
    cast_members.c.channel_id == bindparam("channel"), cast_members.c.lineage == bindparam("lineage")
)


def _samples_text(samples: Sequence[Sample]) -> str:
    pairs = [[clean(each.said), clean(each.answer)] for each in samples]
    return json.dumps(pairs, ensure_ascii=False) if pairs else ""


def _samples_of(text: str) -> tuple[Sample, ...]:
    return tuple(Sample(said, answer) for said, answer in json.loads(text)) if text else ()


def _persona(row: Fetched) -> Persona:
    (
        persona_id,
        guild_id,
        lineage,
        name,
        description,
        prompt,
        attributes,
        samples,
        triggers,
        detail,
        learns,
        picture,
        version,
    ) = row
    return Persona(
        id=persona_id,
        guild_id=guild_id,
        lineage=lineage,
        name=name,
        description=description,
        prompt=prompt,
        attributes=words_of(attributes),
        samples=_samples_of(samples),
        triggers=words_of(triggers),
        detail=DetailLevel(detail) if detail else None,
        learns=learns,
        picture=picture,
        version=version,
    )


def _values(persona: Persona, name_key: str) -> dict[str, Any]:
    return {
        "name": persona.name,
        "name_key": name_key,
        "description": persona.description,
        "prompt": persona.prompt,
        "attributes": words_text(persona.attributes),
        "samples": _samples_text(persona.samples),
        "triggers": words_text(persona.triggers),
        "detail": persona.detail.value if persona.detail else "",
        "learns": persona.learns,
        "picture": persona.picture,
        "version": persona.version,
    }


def _new(values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"new_{name}": value for name, value in values.items()}


class Personas:
    """One row a character of a server. Two of one server never share a name or a lineage."""

    __slots__ = ("_link",)

    def __init__(self, link: Link) -> None:
        self._link = link

    async def of_guild(self, guild_id: int) -> list[Persona]:
        """By id: the oldest first."""
        return [_persona(row) for row in await self._link.rows(_OF_GUILD, {"guild": guild_id})]

    async def guilds(self) -> list[int]:
        """The servers that have a character of their own."""
        return await self._link.ids(_GUILDS, {"lineage": DEFAULT_LINEAGE})

    async def get(self, persona_id: int) -> Persona | None:
        row = await self._link.row(_GET, {"key": persona_id})
        return None if row is None else _persona(row)

    async def elsewhere(self, lineage: str, but: int) -> int:
        """How many other personas, of any server, carry this lineage."""
        return int(await self._link.value(_ELSEWHERE, {"lineage": lineage, "but": but}))

    async def homes(self, lineage: str) -> list[int]:
        """The servers that have this character."""
        return await self._link.ids(_HOMES, {"lineage": lineage})

    async def add(self, persona: Persona, name_key: str, by: int | None, at: datetime) -> Persona | None:
        """A new row, version 1; ``persona.id`` is ignored. None when its name or lineage is taken there.

        ``name_key``: the name in the form in which two names are the same.
        """
        assert persona.guild_id is not None
        new = replace(persona, version=1)
        values = {
            **_values(new, name_key),
            "guild_id": persona.guild_id,
            "lineage": persona.lineage,
            "created_at": to_micros(at),
            "created_by": by,
            "updated_at": to_micros(at),
        }
        persona_id: int | None = await self._link.value(_ADD, values)
        return None if persona_id is None else await self.get(persona_id)

    async def change(self, persona: Persona, name_key: str, at: datetime) -> Persona | None:
        """All but lineage and server become those of ``persona``; the version rises.

        None when it is no longer at ``persona.version``. Raises :class:`StoreError` when the name is taken:
        look before, in the same unit.
        """
        new = replace(persona, version=persona.version + 1)
        values = _new({**_values(new, name_key), "updated_at": to_micros(at)})
        if not await self._link.write(_CHANGE, {"key": persona.id, "expected": persona.version, **values}):
            return None
        return await self.get(persona.id)

    async def remove(self, persona: Persona) -> bool:
        """False when it is gone, or no longer at that version."""
        gone = await self._link.write(_REMOVE, {"key": persona.id, "expected": persona.version}) > 0
        if gone and persona.picture:
            await self.drop_picture(persona.picture)
        return gone

    async def picture(self, digest: str) -> bytes | None:
        found: bytes | None = await self._link.value(_PICTURE, {"key": digest})
        return found

    async def add_picture(self, digest: str, png: bytes) -> None:
        """Keep an avatar; the same one is kept once."""
        await self._link.write(_ADD_PICTURE, {"digest": digest, "png": png})

    async def drop_picture(self, digest: str) -> None:
        """Delete an avatar that no persona has any more."""
        await self._link.write(_DROP_PICTURE, {"key": digest})

    async def cast(self, channel_id: int) -> list[str]:
        """Lineages of the personas that take part in a channel, in the order in which they joined."""
        return [str(row[0]) for row in await self._link.rows(_CAST, {"channel": channel_id})]

    async def join(self, channel_id: int, lineage: str, at: datetime) -> bool:
        """False when it is in the cast already."""
        values = {"channel_id": channel_id, "lineage": lineage, "joined_at": to_micros(at)}
        return await self._link.write(_JOIN, values) > 0

    async def join_where_spoken(self, guild_id: int, lineage: str, at: datetime) -> int:
        """Put a persona into the cast of every channel of a server where it has answered; of how many."""
        values = {"guild": guild_id, "lineage": lineage, "joined_at": to_micros(at)}
        return await self._link.write(_JOIN_SPOKEN, values)

    async def leave(self, channel_id: int, lineage: str) -> bool:
        """False when it was not in the cast."""
        return await self._link.write(_LEAVE, {"channel": channel_id, "lineage": lineage}) > 0
