"""`/personal …`: what is remembered about who asks. Nobody else sees it, admins included (SPEC §12)."""

from __future__ import annotations

import discord
from discord import app_commands
from discord.ext import commands

from cogs import engine_of
from cogs.memories import EVERYWHERE, INSTALLED
from cogs.views.listings import PersonalListing
from cogs.views.panels import open_panel


class Personal(commands.Cog):
    """One's own things."""

    personal = app_commands.Group(
        name="personal",
        description="What I remember about you, for your eyes only",
        allowed_contexts=EVERYWHERE,
        allowed_installs=INSTALLED,
    )

    @personal.command(name="memories", description="Everything I remember about you; only you can see it")
    async def memories(self, interaction: discord.Interaction) -> None:
        await open_panel(interaction, engine_of(interaction), PersonalListing())


async def setup(bot: commands.Bot) -> None:
    await bot.add_cog(Personal())
