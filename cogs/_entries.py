"""Finding one entry by what a person picked or typed, and naming people. Only what they may read here."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import discord
from discord import app_commands

from cogs import engine_of
from cogs._inbound import place_and_person
from cogs._render import NameOf, a_member
from cogs.views.entry_text import choice_label, deleted_label, outcome_words, parse_handle
from memory.errors import KeepsakeError
from memory.facts.outcomes import Outcome, OutcomeKind
from memory.types import Memory, Scope, SubjectKind

log = logging.getLogger(__name__)

CHOICES = 25
"""Most choices of an autocomplete list (Discord)."""

NOT_THERE = (
    "I can't find that entry here. Nothing was changed. Pick one from the list that appears while you type,"
    " or look it up in `/memories` or `/personal memories`."
)
"""The same words for an entry that is gone, that never was, and that somebody else owns."""

Complete = Callable[[discord.Interaction, str], Awaitable[list[app_commands.Choice[str]]]]


def name_of(interaction: discord.Interaction) -> NameOf:
    """Members' present names, from what Discord has told us already."""
    guild, client = interaction.guild, interaction.client

    def name(user_id: int) -> str:
        if user_id == interaction.user.id:
            return interaction.user.display_name
        found = (guild.get_member(user_id) if guild else None) or client.get_user(user_id)
        return found.display_name if found else a_member(user_id)

    return name


async def find_entry(interaction: discord.Interaction, picked: str) -> Memory | None:
    """The entry that was picked or typed by its handle; None unless this person may read it here."""
    memory_id = parse_handle(picked)
    if memory_id is None:
        return None
    place, person = place_and_person(interaction)
    return await engine_of(interaction).facts.get(person, place, memory_id)


async def may_not_write(interaction: discord.Interaction, scope: Scope) -> str:
    """Why this person may not write in that scope here, ready to be shown; "" when they may.

    For asking before a box opens or a question is put. It only reads; the engine judges again at the write.
    """
    place, person = place_and_person(interaction)
    if scope.kind is SubjectKind.USER:
        allowed = scope.subject_id == person.id
    else:
        allowed = place.guild_id == scope.subject_id and await writes_server(interaction)
    return "" if allowed else outcome_words(Outcome(OutcomeKind.NOT_ALLOWED, scope=scope), a_member)


async def writes_server(interaction: discord.Interaction) -> bool:
    """May this person write this server's memories, now? Asked in a server only."""
    place, person = place_and_person(interaction)
    return person.manages or (await engine_of(interaction).config.get(place)).member_access


async def complete_readable(interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
    """Choices among all that this person may read here; the handle of a deleted entry finds it too."""
    return await _complete(interaction, typed) or await _deleted(interaction, typed)


async def complete_writable(interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
    """Choices among all that this person may change here."""
    return await _complete(interaction, typed, writable=True)


async def complete_unpinned(interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
    return await _complete(interaction, typed, writable=True, pinned=False)


async def complete_pinned(interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
    return await _complete(interaction, typed, writable=True, pinned=True)


async def _complete(
    interaction: discord.Interaction, typed: str, *, writable: bool = False, pinned: bool | None = None
) -> list[app_commands.Choice[str]]:
    """Never raises: a list that can't be made is empty, and the command then says why."""
    try:
        place, person = place_and_person(interaction)
        known = await engine_of(interaction).facts.lineages(person, place)
        found = await _candidates(interaction, typed, pinned)
        servers = any(m.scope.kind is SubjectKind.SERVER for m in found)
        if writable and servers and not await writes_server(interaction):
            found = [m for m in found if m.scope.kind is not SubjectKind.SERVER]
    except KeepsakeError as error:
        log.warning("no choices: %s", error)
        return []
    name = name_of(interaction)
    return [
        app_commands.Choice(name=choice_label(m, name, known.name(m.scope.lineage)), value=str(m.id))
        for m in found[:CHOICES]
    ]


async def _deleted(interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
    memory_id = parse_handle(typed)
    if memory_id is None:
        return []
    place, person = place_and_person(interaction)
    try:
        entries = await engine_of(interaction).facts.history(person, place, memory_id)
    except KeepsakeError as error:
        log.warning("no choices: %s", error)
        return []
    last = entries[0].before if entries and entries[0].after is None else None
    if last is None:
        return []
    return [app_commands.Choice(name=deleted_label(last, name_of(interaction)), value=str(memory_id))]


async def _candidates(interaction: discord.Interaction, typed: str, pinned: bool | None) -> list[Memory]:
    """A handle typed out finds its entry; anything else is searched for."""
    place, person = place_and_person(interaction)
    facts = engine_of(interaction).facts
    memory_id = parse_handle(typed)
    exact = await facts.get(person, place, memory_id) if memory_id is not None else None
    if exact is not None and pinned in (None, exact.pinned):
        return [exact]
    return list(await facts.find(person, place, typed[:200], limit=CHOICES, pinned=pinned))
