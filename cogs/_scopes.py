"""Choosing a scope in a command: me or this server, with the persona in use, for all, or with another one.

Each persona is offered by its name; the one in use answers there when nobody else is called.
The engine judges every right again.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import discord
from discord import app_commands

from cogs import engine_of
from cogs._entries import CHOICES, writes_server
from cogs._inbound import place_and_person
from memory.errors import KeepsakeError
from memory.types import GLOBAL, Person, Place, Scope, SubjectKind

if TYPE_CHECKING:
    from memory.facts.service import Lineages

log = logging.getLogger(__name__)

SCOPES = [
    app_commands.Choice(name="me, with the persona in use", value="user_persona"),
    app_commands.Choice(name="me, for all personas", value="user_global"),
    app_commands.Choice(name="this server, with the persona in use", value="server_persona"),
    app_commands.Choice(name="this server, for all personas", value="server_global"),
]

_MAIN = frozenset(each.value for each in SCOPES)

NO_SUCH = (
    "I don't know that scope, so nothing was changed. Pick one from the list that appears while you type."
)

NOT_IN_DMS = (
    "In a direct message there is no server, so nothing was changed. Choose one of the scopes about you, or"
    " run the command in the server."
)


def picked_scope(choice: str) -> str | None:
    """The scope's value, whether it was picked from the list or its name was typed out."""
    for known in SCOPES:
        if choice.strip().casefold() in (known.value, known.name.casefold()):
            return known.value
    return None


async def scope_of(interaction: discord.Interaction, choice: str) -> Scope | None:
    """The scope that a choice of :data:`SCOPES` means here; None for a server's in a direct message."""
    whose, which = choice.split("_")
    lineage = GLOBAL if which == "global" else await lineage_here(interaction)
    if whose == "user":
        return Scope.user(interaction.user.id, lineage)
    return None if interaction.guild_id is None else Scope.server(interaction.guild_id, lineage)


async def lineage_here(interaction: discord.Interaction) -> str:
    """The lineage of who answers this person here when nobody else is called."""
    place, person = place_and_person(interaction)
    return (await engine_of(interaction).answering(person, place)).lineage


async def any_scope(interaction: discord.Interaction, choice: str) -> Scope | str:
    """The scope that was picked among :func:`choices`, or typed out; or what to tell who chose none."""
    picked = picked_scope(choice)
    if picked is not None:
        return await scope_of(interaction, picked) or NOT_IN_DMS
    place, person = place_and_person(interaction)
    known = await engine_of(interaction).facts.lineages(person, place)
    for each in SCOPES:
        if choice.strip().casefold() == _by_name(each, known.name(known.in_use)).name.casefold():
            return await scope_of(interaction, each.value) or NOT_IN_DMS
    for name, scope in _others(known, person, place):
        if choice.strip().casefold() in (_value(scope).casefold(), name.casefold()):
            return scope
    return NO_SUCH


async def choices(
    interaction: discord.Interaction, typed: str, *, readable: bool = False
) -> list[app_commands.Choice[str]]:
    """The scopes that this person may write (or, when ``readable``, read) here, other personas' last.

    Never raises. Who picks another by its name is told what it needs.
    """
    try:
        shared = interaction.guild_id is not None and (readable or await writes_server(interaction))
        place, person = place_and_person(interaction)
        known = await engine_of(interaction).facts.lineages(person, place)
        in_use = known.name(known.in_use)
        found = [_by_name(each, in_use) for each in (SCOPES if shared else SCOPES[:2])]
        for name, scope in _others(known, person, place):
            if shared or scope.kind is SubjectKind.USER:
                found.append(app_commands.Choice(name=name[:100], value=_value(scope)))
    except KeepsakeError as error:
        log.warning("only personal scopes are offered: %s", error)
        found = SCOPES[:2]
    fits = [c for c in found if typed.casefold() in c.name.casefold() and len(str(c.value)) <= 100]
    return fits[:CHOICES]


async def main_scopes(interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
    """Of the four of :data:`SCOPES`, those that this person may write here."""
    return [each for each in await choices(interaction, typed) if each.value in _MAIN]


async def readable(interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
    return await choices(interaction, typed, readable=True)


async def writable(interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
    return await choices(interaction, typed)


def _by_name(choice: app_commands.Choice[str], in_use: str) -> app_commands.Choice[str]:
    """One of :data:`SCOPES`, with the name of the persona in use."""
    name = choice.name.replace("the persona in use", in_use)
    return app_commands.Choice(name=name[:100], value=choice.value)


def _others(known: Lineages, person: Person, place: Place) -> list[tuple[str, Scope]]:
    """Scopes of other personas than the one in use, with what to call them: the server's, then one's own."""
    others = [lineage for lineage in known.names if lineage not in (GLOBAL, known.in_use)]
    found = []
    if place.guild_id is not None:
        here = {scope.lineage for scope in known.scopes if scope.kind is SubjectKind.SERVER}
        found += [
            (f"this server, with {known.name(lineage)}", Scope.server(place.guild_id, lineage))
            for lineage in others
            if lineage in here
        ]
    own = dict.fromkeys([*others, *(s.lineage for s in known.scopes if s.kind is SubjectKind.USER)])
    found += [
        (f"me, with {known.name(lineage)}", Scope.user(person.id, lineage))
        for lineage in own
        if lineage not in (GLOBAL, known.in_use)
    ]
    return found


def _value(scope: Scope) -> str:
    return f"{scope.kind.value}={scope.lineage}"
