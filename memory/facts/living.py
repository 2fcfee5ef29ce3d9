"""Is there still somebody to whom these memories belong? A persona can be deleted while it is replying.

Whoever writes for a persona and whoever deletes it wait for each other on its lineage, which is always locked
before any scope.
"""

from __future__ import annotations

from dataclasses import replace

from memory.facts.writes import Hand
from memory.store import Tx
from memory.types import DEFAULT_LINEAGE, GLOBAL, JournalEntry, Memory, Op, Place, Scope, SubjectKind

GONE = "That persona was deleted meanwhile. Nothing was written."


async def has_persona(tx: Tx, scope: Scope) -> bool:
    """Is the persona of that scope still there: in that server, or for a member's own in any?"""
    if scope.lineage in (GLOBAL, DEFAULT_LINEAGE):
        return True
    if scope.kind is SubjectKind.SERVER:
        return any(row.lineage == scope.lineage for row in await tx.personas.of_guild(scope.subject_id))
    return await tx.personas.elsewhere(scope.lineage, but=0) > 0


async def still_speaks(tx: Tx, hand: Hand) -> bool:
    """Is the persona in whose name the model writes still one of this place? Holds it until the unit ends."""
    if hand.lineage in (GLOBAL, DEFAULT_LINEAGE):
        return True
    await tx.lock_lineage(hand.lineage)
    if hand.place.guild_id is None:
        return await has_persona(tx, Scope.user(0, hand.lineage))
    return await has_persona(tx, Scope.server(hand.place.guild_id, hand.lineage))


async def lock_scopes(tx: Tx, *scopes: Scope | None) -> None:
    """Lock scopes, their characters first, always in one order, so that two never wait for each other."""
    known = {scope for scope in scopes if scope is not None}
    for lineage in sorted({scope.lineage for scope in known} - {GLOBAL, DEFAULT_LINEAGE}):
        await tx.lock_lineage(lineage)
    for scope in sorted(known):
        await tx.lock_scope(scope)


def rehomed(memory: Memory) -> Memory:
    """The entry as one for all personas."""
    return replace(memory, scope=for_all(memory.scope))


def for_all(scope: Scope) -> Scope:
    """The scope of the same subject for all personas."""
    return replace(scope, lineage=GLOBAL)


async def lives_for(tx: Tx, scope: Scope, place: Place) -> bool:
    """Would an entry that comes back to that scope be used again?

    A character that lives only where its member was never seen is none of theirs. In a direct message any
    will do: there they may talk to it without having been seen in its server.
    """
    if scope.kind is SubjectKind.SERVER or scope.lineage in (GLOBAL, DEFAULT_LINEAGE) or place.is_dm:
        return await has_persona(tx, scope)
    for guild_id in await tx.personas.homes(scope.lineage):
        if guild_id == place.guild_id or await tx.names.get(guild_id, [scope.subject_id]):
            return True
    return False


def taken_along(entry: JournalEntry) -> bool:
    """Is that the move of an entry whose persona was deleted? It stands under the scope that it left."""
    return entry.op is Op.MOVE and entry.after is not None and entry.after.scope != entry.scope


async def carried_to(tx: Tx, entry: JournalEntry) -> Scope | None:
    """Where the entry that this write left is by now, if nothing but deletions of personas took it along."""
    if entry.after is None:
        return None
    scope = entry.after.scope
    for later in reversed(await tx.journal.of_memory(entry.memory_id)):
        if later.id > entry.id and taken_along(later) and later.scope == scope and later.after is not None:
            scope = later.after.scope
    return scope
