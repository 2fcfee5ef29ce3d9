"""One scope as its reader sees it in a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory.facts.lineages import Lineages
from memory.facts.rules import may_write, readable
from memory.facts.writes import MemoryLimits
from memory.types import Memory, Person, Place, Scope


@dataclass(frozen=True, slots=True)
class Shelf:
    """One scope as its reader sees it here. ``memories``: newest first, pinned ones among them.

    ``persona``: what to call the one that uses it; ``in_use``: it answers here when nobody else is called;
    ``named``: it is called by its own name. ``unpinned`` and ``pinned`` count against the caps, hidden
    ones included; ``hidden_dm_only``: how many are left out because they are used in DMs only.
    """

    scope: Scope
    persona: str
    memories: tuple[Memory, ...]
    unpinned: int
    pinned: int
    may_write: bool
    hidden_dm_only: int = 0
    limit: int = 0
    pinned_limit: int = 0
    in_use: bool = True
    named: bool = False


def shelf_of(
    scope: Scope,
    known: Lineages,
    kept: Sequence[Memory],
    person: Person,
    place: Place,
    *,
    access: bool,
    limits: MemoryLimits,
) -> Shelf:
    """``kept``: the entries of all scopes. ``access``: may every member write this server's memories?"""
    held = [memory for memory in kept if memory.scope == scope]
    shown = readable(held, person, place)
    shown.sort(key=lambda memory: (memory.updated_at, memory.id), reverse=True)
    pinned = sum(memory.pinned for memory in held)
    return Shelf(
        scope=scope,
        persona=known.name(scope.lineage),
        memories=tuple(shown),
        unpinned=len(held) - pinned,
        pinned=pinned,
        may_write=may_write(scope, person, place, member_access=access),
        hidden_dm_only=len(held) - len(shown),
        limit=limits.unpinned(scope),
        pinned_limit=limits.pinned,
        in_use=scope.lineage == known.in_use,
        named=scope.lineage in known.own_names,
    )
