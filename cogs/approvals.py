"""`/approvals`: the suggestions that wait for who asks. Anybody may open it; it lists what is theirs."""

from __future__ import annotations

import discord
from discord import app_commands
from discord.ext import commands

from cogs import engine_of
from cogs.views.queue import QueuePanel


class Approvals(commands.Cog):
    """The queue of suggestions."""

    @app_commands.command(name="approvals", description="What waits for your yes before I remember it")
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    @app_commands.allowed_installs(guilds=True, users=False)
    async def approvals(self, interaction: discord.Interaction) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        panel = QueuePanel(engine_of(interaction), interaction.user.id)
        await panel.load(interaction)
        await panel.open(interaction)


async def setup(bot: commands.Bot) -> None:
    await bot.add_cog(Approvals())
