"""`/pins …`: entries that are always kept in mind, and that only people can change."""

from __future__ import annotations

import discord
from discord import app_commands
from discord.ext import commands

from cogs import _outcomes, engine_of
from cogs._entries import NOT_THERE, complete_pinned, complete_unpinned, find_entry
from cogs._errors import whisper
from cogs.memories import EVERYWHERE, INSTALLED
from cogs.views.listings import PinListing
from cogs.views.panels import open_panel


class Pinning(commands.Cog):
    """The pin commands."""

    pins = app_commands.Group(
        name="pins",
        description="Entries that I always keep in mind",
        allowed_contexts=EVERYWHERE,
        allowed_installs=INSTALLED,
    )

    @pins.command(name="list", description="Every pinned entry that you can read here")
    async def show(self, interaction: discord.Interaction) -> None:
        await open_panel(interaction, engine_of(interaction), PinListing())

    @pins.command(name="add", description="Pin an entry: I always keep it in mind and can't change it")
    @app_commands.describe(entry="Type a few of its words, or its handle such as m12")
    @app_commands.autocomplete(entry=complete_unpinned)
    async def add(self, interaction: discord.Interaction, entry: str) -> None:
        await _set(interaction, entry, pinned=True)

    @pins.command(name="remove", description="Unpin an entry; its text is kept")
    @app_commands.describe(entry="Type a few of its words, or its handle such as m12")
    @app_commands.autocomplete(entry=complete_pinned)
    async def remove(self, interaction: discord.Interaction, entry: str) -> None:
        await _set(interaction, entry, pinned=False)


async def _set(interaction: discord.Interaction, entry: str, *, pinned: bool) -> None:
    found = await find_entry(interaction, entry)
    if found is None:
        await whisper(interaction, NOT_THERE)
        return
    facts = engine_of(interaction).facts
    await _outcomes.carry_out(interaction, lambda who, where: facts.pin(who, where, found.id, pinned))


async def setup(bot: commands.Bot) -> None:
    await bot.add_cog(Pinning())
