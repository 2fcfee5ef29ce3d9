"""`/memory generate` and *Save to memory*: entries that are reviewed before they are saved (SPEC §4.3).

Nothing is saved before its words were shown to who asked. Refusals say what to do instead.
"""

from __future__ import annotations

import discord
from discord import app_commands
from discord.ext import commands

from cogs import engine_of
from cogs._errors import answering
from cogs._inbound import place_and_person
from cogs.views.drafting import MENU, DescriptionPanel, PickPanel, around, clicked_message
from cogs.views.review import SleepingDrafts
from memory.facts.drafts import NOT_SAID
from memory.types import Scope


async def generate(interaction: discord.Interaction, description: str, scope: Scope | None) -> None:
    """Drafts of a description, to be reviewed. ``scope`` None: it is to be chosen first."""
    await interaction.response.defer(ephemeral=True, thinking=True)
    panel = DescriptionPanel(engine_of(interaction), interaction.user.id, description, scope)
    async with answering(interaction):
        await panel.begin(interaction)


async def save_to_memory(interaction: discord.Interaction, message: discord.Message) -> None:
    """Pick messages around the clicked one, to be saved as they are or drafted by the model."""
    await interaction.response.defer(ephemeral=True, thinking=True)
    place, _ = place_and_person(interaction)
    clicked = clicked_message(interaction, message)
    if clicked is None:
        await interaction.edit_original_response(content=NOT_SAID)
        return
    near = await around(interaction, message) or []
    heard = {each.message_id: each for each in (clicked, *near)}
    in_order = [heard[key] for key in sorted(heard)]
    async with answering(interaction):
        offered = await engine_of(interaction).pickable(place, in_order, message.id)
        panel = PickPanel(engine_of(interaction), interaction.user.id, message, offered)
        await panel.load(interaction)
        await panel.open(interaction)


async def setup(bot: commands.Bot) -> None:
    bot.add_dynamic_items(SleepingDrafts)
    bot.tree.add_command(app_commands.ContextMenu(name=MENU, callback=save_to_memory))
