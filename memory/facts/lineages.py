"""Which personas' memories a person meets in a place: that of who is in use there first, then all others.

A server's characters are known there by name. Of a member's own entries, those with a character that is not
of this server are shown too, so that nothing about them is ever out of their sight (SPEC §12).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from memory.facts.rules import own_scopes
from memory.store import Tx
from memory.types import DEFAULT_LINEAGE, GLOBAL, Person, Persona, Place, Scope, SubjectKind

EVERY = "all personas"
BUILT_IN = "the built-in persona"
FOREIGN = "a character of another server"
DELETED = "a persona that was deleted"


async def unknown_here(tx: Tx, lineage: str) -> str:
    """What to call a character that is none of this server."""
    return FOREIGN if await tx.personas.elsewhere(lineage, but=0) else DELETED


InUse = Callable[[Person, Place, bool], Awaitable[Persona]]
"""Who answers that person there when nobody else is called. True: a list of choices asks,
which may trust what was true some minutes ago."""

OwnName = Callable[[Place], str]
"""What the built-in persona is called there."""


async def built_in_alone(_person: Person, place: Place, _lately: bool) -> Persona:
    """Where there are no personas, and wherever it can't be known."""
    return Persona(0, place.guild_id, DEFAULT_LINEAGE, "")


def unnamed(_place: Place) -> str:
    """Before there is a surface that knows the bot's name."""
    return BUILT_IN


@dataclass(frozen=True, slots=True)
class Lineages:
    """``in_use``: who answers here when nobody else is called. ``names``: what to call each lineage here.

    ``own_names``: those that are called by the name that they have. ``scopes``: all that the person can read
    here; the first are those of who is in use and of all personas.
    """

    in_use: str
    names: Mapping[str, str]
    scopes: tuple[Scope, ...]
    own_names: frozenset[str] = frozenset()

    def name(self, lineage: str) -> str:
        return self.names.get(lineage, FOREIGN)


async def lineages(tx: Tx, person: Person, place: Place, answers: Persona, own_name: str) -> Lineages:
    """Read once per answer; nothing is kept. ``answers``: what :data:`InUse` said."""
    in_use = answers.lineage
    here = [] if place.guild_id is None else await tx.personas.of_guild(place.guild_id)
    names = {persona.lineage: persona.name for persona in here if not persona.built_in}
    names |= {in_use: answers.name, DEFAULT_LINEAGE: own_name}
    own_names = frozenset(names)
    names[GLOBAL] = EVERY
    scopes = list(own_scopes(place, in_use, person.id))
    if place.guild_id is not None:
        scopes += [Scope.server(place.guild_id, lineage) for lineage in names]
    mine = await tx.memories.lineages(SubjectKind.USER, person.id)
    foreign = [lineage for lineage in mine if lineage not in names]
    called = {lineage: await unknown_here(tx, lineage) for lineage in foreign}
    several = len(foreign) > 1
    names |= {each: f"{called[each]} ({n})" if several else called[each] for n, each in enumerate(foreign, 1)}
    scopes += [Scope.user(person.id, lineage) for lineage in mine]
    return Lineages(in_use, names, tuple(dict.fromkeys(scopes)), own_names)
