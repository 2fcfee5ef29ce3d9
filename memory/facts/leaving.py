"""A persona is deleted: its memories become those of all personas, of the same subject (SPEC §4.6).

Where the same text is there already the two become one, and a pin passes. A member's own stay with the
character if it lives in another server, too, where the bot is and that member was seen; those of members
who were never seen in this server are left alone as long as it lives in another. Caps may be exceeded; later
writes are refused until below. Whatever the number of entries, this takes a few statements in the
transaction that deletes the persona.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memory.facts.clearing import REDRAWN
from memory.facts.living import lock_scopes, rehomed
from memory.store import Tx
from memory.types import (
    GLOBAL,
    ActorKind,
    Clock,
    Memory,
    Notice,
    Op,
    Person,
    Persona,
    Place,
    Scope,
    Source,
    SubjectKind,
)


@dataclass(frozen=True, slots=True)
class Left:
    """Entries about the server and of members that are (or were) concerned; of them merged and deleted ones.

    ``server`` and ``personal`` count all of each, whatever becomes of them. ``staying``: members' own that
    stay with the character elsewhere, of members seen here. ``discarded``: suggestions that waited;
    ``notices``: where these are shown.
    """

    server: int = 0
    personal: int = 0
    merged: int = 0
    deleted: int = 0
    discarded: int = 0
    staying: int = 0
    notices: tuple[Notice, ...] = ()


InServer = Callable[[int], bool]
"""Is the bot in that server now?"""


async def leaving_counts(tx: Tx, persona: Persona, in_server: InServer) -> Left:
    """What the deletion of a persona would be about."""
    guild_id, lineage = _home(persona), persona.lineage
    await tx.lock_lineage(lineage)
    others = await _others(tx, persona, in_server)
    entries = await tx.memories.of_lineage(lineage, guild_id, others)
    twins = await tx.memories.global_twins(lineage, guild_id, others)
    staying = await tx.memories.staying(lineage, guild_id, others)
    waiting = await tx.proposals.count_in(guild_id, lineage)
    return Left(*_counts(entries), merged=len(twins), discarded=waiting, staying=staying)


async def leave(
    tx: Tx,
    clock: Clock,
    persona: Persona,
    person: Person,
    place: Place,
    in_server: InServer,
    *,
    delete_server: bool,
) -> Left:
    """Hand on what a persona remembered; with ``delete_server``, what it knew of the server is deleted.

    Part of another's transaction, before the persona itself is removed. The caller has asked for the right.
    """
    guild_id, lineage = _home(persona), persona.lineage
    await lock_scopes(tx, Scope.server(guild_id, lineage), Scope.server(guild_id))
    others = await _others(tx, persona, in_server)
    entries = await tx.memories.of_lineage(lineage, guild_id, others)
    twins = await tx.memories.global_twins(lineage, guild_id, others)
    staying = await tx.memories.staying(lineage, guild_id, others)
    journal = _Journal(tx, clock, person, Source(place.channel_id, None, place.guild_id))
    deleted = [m for m in entries if delete_server and m.scope.kind is SubjectKind.SERVER]
    gone = {m.id for m in deleted}
    merged = [m for m in entries if m.id in twins and m.id not in gone]
    moved = [m for m in entries if m.id not in twins and m.id not in gone]
    pins = [twins[m.id] for m in merged if m.pinned and not twins[m.id].pinned]
    await tx.memories.remove_all([m.id for m in (*deleted, *merged)])
    await tx.memories.rehome_all([m.id for m in moved])
    await tx.memories.pin_all([m.id for m in pins])
    await journal.add(Op.DELETE, [(m, None) for m in (*deleted, *merged)])
    await journal.add(Op.MOVE, [(m, _rehomed(m)) for m in moved])
    await journal.add(Op.PIN, [(m, replace(m, pinned=True, version=m.version + 1)) for m in pins])
    dropped = await tx.proposals.drop_in(guild_id, lineage, person.id, clock.now())
    return Left(
        *_counts(entries),
        merged=len(merged),
        deleted=len(deleted),
        discarded=len(dropped),
        staying=staying,
        notices=tuple(await tx.notices.of_proposals(dropped, REDRAWN)),
    )


async def _others(tx: Tx, persona: Persona, in_server: InServer) -> list[int]:
    """Further servers in which the character is met. One that the bot has left keeps nothing from anybody."""
    homes = await tx.personas.homes(persona.lineage)
    return [guild_id for guild_id in homes if guild_id != persona.guild_id and in_server(guild_id)]


class _Journal:
    """One line an entry. It stands under the scope where the entry was, so that nobody's `/memory undo` finds
    it: one of many moves undone would go back to a persona that is gone."""

    def __init__(self, tx: Tx, clock: Clock, person: Person, source: Source) -> None:
        self._tx, self._clock, self._person, self._source = tx, clock, person, source

    async def add(self, op: Op, changes: Sequence[tuple[Memory, Memory | None]]) -> None:
        await self._tx.journal.add_all(
            op,
            [(before.scope, before.id, before, after) for before, after in changes],
            actor_kind=ActorKind.MEMBER,
            actor_id=self._person.id,
            at=self._clock.now(),
            source=self._source,
        )


def _rehomed(memory: Memory) -> Memory:
    return replace(rehomed(memory), version=memory.version + 1)


def _counts(entries: Sequence[Memory]) -> tuple[int, int]:
    server = sum(m.scope.kind is SubjectKind.SERVER for m in entries)
    return server, len(entries) - server


def _home(persona: Persona) -> int:
    if persona.guild_id is None or persona.lineage == GLOBAL or persona.built_in:
        raise ValueError("only a character of a server can be deleted")
    return persona.guild_id
