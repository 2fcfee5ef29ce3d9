"""`/personal …`: what is remembered about who asks. No other member lists or opens it (SPEC §12).

Words here promise that of the list alone: confirmations are read by whoever reads the channel.
"""

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
        description="What I remember about you",
        allowed_contexts=EVERYWHERE,
        allowed_installs=INSTALLED,
    )

    @personal.command(
        name="memories", description="Everything I remember about you, in a list shown only to you"
    )
    async def memories(self, interaction: discord.Interaction) -> None:
        await open_panel(interaction, engine_of(interaction), PersonalListing())


async def setup(bot: commands.Bot) -> None:
    await bot.add_cog(Personal())
