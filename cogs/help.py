"""`/help`: what is remembered where, the commands, when a memory is used, who may do what."""

from __future__ import annotations

from typing import Any

import discord
from discord import app_commands
from discord.ext import commands

from cogs.views.help_panel import HelpPanel, Topic


class Help(commands.Cog):
    """The help panel."""

    @app_commands.command(name="help", description="How I remember, the commands, and who may do what")
    @app_commands.describe(topic="What to read about")
    @app_commands.choices(topic=[app_commands.Choice(name=t.value, value=t.name) for t in Topic])
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    @app_commands.allowed_installs(guilds=True, users=False)
    async def help(self, interaction: discord.Interaction, topic: str = Topic.START.name) -> None:
        tree: Any = getattr(interaction.client, "tree", None)
        found = tree.get_commands() if tree is not None else []
        dm = interaction.guild_id is None
        await HelpPanel(interaction.user.id, found, Topic[topic], dm=dm).open(interaction)


async def setup(bot: commands.Bot) -> None:
    await bot.add_cog(Help())
