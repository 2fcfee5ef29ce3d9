"""Naming a persona in a command: a list while one types, and finding the one that was picked or typed.

Only what the engine lets this person know of here is ever offered or found.
"""

from __future__ import annotations

import logging
import re

import discord
from discord import app_commands

from cogs import engine_of
from cogs._inbound import place_and_person
from cogs.views.pages import cut
from memory.errors import KeepsakeError
from memory.personas.rules import PersonaRefused, name_key
from memory.types import Persona

log = logging.getLogger(__name__)

CHOICES = 25
"""Most choices of an autocomplete list (Discord)."""

NONE_HERE = (
    "There is no such persona here. Nothing was changed: pick one from the list that appears as you type."
)

_PICKED = re.compile(r"id:(\d{1,18})")


def own_name(interaction: discord.Interaction) -> str:
    """The built-in persona's name here: the bot's own."""
    if interaction.guild is not None and interaction.guild.me is not None:
        return interaction.guild.me.display_name
    return interaction.client.user.display_name if interaction.client.user is not None else "Keepsake"


def name_of_persona(interaction: discord.Interaction, persona: Persona) -> str:
    """A persona's name, not escaped."""
    return own_name(interaction) if persona.built_in else persona.name


def server_of(interaction: discord.Interaction, persona: Persona) -> str:
    """The name of its server, for who reads it elsewhere."""
    guild = interaction.client.get_guild(persona.guild_id or 0)
    return guild.name if guild is not None and guild.name else "another server"


async def choices(interaction: discord.Interaction) -> list[Persona]:
    """All that this person may choose from here, the built-in one first."""
    place, person = place_and_person(interaction)
    guilds = [guild.id for guild in interaction.client.guilds]
    return await engine_of(interaction).editing.choices(person, place, guilds)


async def complete_any(interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
    """Choices among all personas, the built-in one too."""
    return await _complete(interaction, typed, built_in=True)


async def complete_own(interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
    """Choices among the characters, without the built-in one."""
    return await _complete(interaction, typed, built_in=False)


async def _complete(
    interaction: discord.Interaction, typed: str, *, built_in: bool
) -> list[app_commands.Choice[str]]:
    """Never raises: a list that can't be made is empty, and the command then says why."""
    try:
        found = await choices(interaction)
    except KeepsakeError as error:
        log.warning("no choices: %s", error)
        return []
    wanted, made = name_key(typed), []
    for persona in found:
        if persona.built_in and not built_in:
            continue
        label = name_of_persona(interaction, persona)
        if persona.built_in:
            label = f"{label} (myself)"
        elif interaction.guild_id is None:
            label = f"{label} · {server_of(interaction, persona)}"
        if wanted in name_key(label):
            value = f"id:{0 if persona.built_in else persona.id}"
            made.append(app_commands.Choice(name=cut(label, 100), value=value))
    return made[:CHOICES]


async def picked(interaction: discord.Interaction, text: str) -> Persona:
    """The persona that was picked from the list or named in full. Raises PersonaRefused."""
    place, person = place_and_person(interaction)
    found: Persona | None = None
    if match := _PICKED.fullmatch(text.strip()):
        found = await engine_of(interaction).editing.find(person, place, int(match[1]))
    else:
        wanted = name_key(text)
        named = [p for p in await choices(interaction) if name_key(name_of_persona(interaction, p)) == wanted]
        if len(named) > 1:
            raise PersonaRefused("Several have that name. Nothing was changed: pick one from the list.")
        found = named[0] if named else None
    if found is None:
        raise PersonaRefused(NONE_HERE)
    return found
