"""Finding one entry by what a person picked or typed, and naming people. Only what they may read here."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import discord
from discord import app_commands

from cogs import engine_of
from cogs._inbound import place_and_person
from cogs._render import NameOf, a_member
from cogs.views.entry_text import choice_label, parse_handle
from memory.errors import KeepsakeError
from memory.types import Memory, SubjectKind

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


async def complete_readable(interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
    """Choices among all that this person may read here."""
    return await _complete(interaction, typed)


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
        found = await _candidates(interaction, typed, pinned)
        if writable and any(m.scope.kind is SubjectKind.SERVER for m in found):
            place, person = place_and_person(interaction)
            config = await engine_of(interaction).config.get(place)
            if not (person.manages or config.member_access):
                found = [m for m in found if m.scope.kind is not SubjectKind.SERVER]
    except KeepsakeError as error:
        log.warning("no choices: %s", error)
        return []
    name = name_of(interaction)
    return [app_commands.Choice(name=choice_label(m, name), value=str(m.id)) for m in found[:CHOICES]]


async def _candidates(interaction: discord.Interaction, typed: str, pinned: bool | None) -> list[Memory]:
    """A handle typed out finds its entry; anything else is searched for."""
    place, person = place_and_person(interaction)
    facts = engine_of(interaction).facts
    memory_id = parse_handle(typed)
    exact = await facts.get(person, place, memory_id) if memory_id is not None else None
    if exact is not None and pinned in (None, exact.pinned):
        return [exact]
    return list(await facts.find(person, place, typed[:200], limit=CHOICES, pinned=pinned))
