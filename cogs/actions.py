"""What a member does to one message, under Apps: Regenerate, Rewind to here, Fork here, Exclude from prompt.

The engine judges who may, again at every press (SPEC §12). Answers are for who asked; what concerns everybody
there is a message that everybody sees: a rewind's marker, a fork's first line.
"""

from __future__ import annotations

import logging
import re
from typing import Any, Self

import discord
from discord import app_commands, ui
from discord.ext import commands

from cogs import _errors, _markers, _render, engine_of
from cogs._admission import missing_here
from cogs._delivery import QUIET, TROUBLE
from cogs._inbound import place_and_person
from memory.config.rules import Mode
from memory.types import Place

log = logging.getLogger(__name__)

REMEMBERED = 256
"""Questions of which the first press is kept in mind, so that a second one does nothing."""

_pressed: dict[int, None] = {}


async def regenerate(interaction: discord.Interaction, message: discord.Message) -> None:
    """Answer the latest turn again, in the messages that stand already."""
    if missing := missing_here(interaction.channel, interaction.guild):
        await _errors.whisper(interaction, f"I can't post here: I lack {missing}. Nothing was changed.")
        return
    await interaction.response.defer(ephemeral=True, thinking=True)
    place, person = place_and_person(interaction)
    acted = await engine_of(interaction).actions.regenerate(person, place, message.id)
    await _say(interaction, acted.line)


async def exclude(interaction: discord.Interaction, message: discord.Message) -> None:
    """Leave a message out of the prompt, or take it in again."""
    await interaction.response.defer(ephemeral=True, thinking=True)
    place, person = place_and_person(interaction)
    acted = await engine_of(interaction).actions.exclude(person, place, message.id)
    await _say(interaction, acted.line)


_COPY = (
    "This thread begins with a copy of what I was given in {channel} up to {message}. From here on the two go"
    " their own ways; saved memories are shared."
)
_BLANK = (
    "This thread goes on from {message} in {channel}. Memory is blank there, so nothing of it was copied."
)


async def fork(interaction: discord.Interaction, message: discord.Message) -> None:
    """Go on from a message in a new thread. Who can write in the channel may (SPEC §12)."""
    may, thread = interaction.permissions, isinstance(interaction.channel, discord.Thread)
    if not (may.send_messages_in_threads if thread else may.send_messages):
        await _errors.whisper(
            interaction, "Only who can write in this channel can fork it. Nothing was changed."
        )
        return
    await interaction.response.defer(ephemeral=True, thinking=True)
    place, person = place_and_person(interaction)
    engine = engine_of(interaction)
    blank = (await engine.config.get(place)).mode is Mode.BLANK
    begins = (_BLANK if blank else _COPY).format(
        channel=f"<#{place.channel_id}>", message=f"[this message]({_link(place, message.id)})"
    )
    opening = f"### Fork\n{begins}\n-# by {_render.escape(person.name)}"
    acted = await engine.actions.fork(person, place, message.id, opening)
    there = f" Go on in <#{acted.place.channel_id}>." if acted.place is not None else ""
    await _say(interaction, f"{acted.line}{there}")


async def rewind(interaction: discord.Interaction, message: discord.Message) -> None:
    """Ask, with the counts; :class:`RewindButton` does it."""
    await interaction.response.defer(ephemeral=True, thinking=True)
    place, person = place_and_person(interaction)
    asked = await engine_of(interaction).actions.rewind_question(
        person, place, message.id, discord.utils.snowflake_time(message.id)
    )
    if not asked.done:
        await _say(interaction, asked.line)
        return
    choice = ui.View(timeout=None)
    choice.add_item(RewindButton("rewind", message.id))
    choice.add_item(RewindButton("stay", message.id))
    choice.stop()
    link = f"\n-# [that message]({_link(place, message.id)})"
    await interaction.edit_original_response(
        content=f"{asked.line}{link}", view=choice, allowed_mentions=QUIET
    )


class RewindButton(ui.DynamicItem[ui.Button[Any]], template=r"ks:(?P<verb>rewind|stay):(?P<id>\d+)"):
    """Beneath the question of a rewind. Works after a restart: the id says which message it is about."""

    def __init__(self, verb: str, message_id: int) -> None:
        going = verb == "rewind"
        super().__init__(
            ui.Button(
                label="Rewind" if going else "Leave it as it is",
                style=discord.ButtonStyle.danger if going else discord.ButtonStyle.secondary,
                custom_id=f"ks:{verb}:{message_id}",
            )
        )
        self.verb = verb
        self.message_id = message_id

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction, item: ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        return cls(match["verb"], int(match["id"]))

    async def callback(self, interaction: discord.Interaction) -> None:
        async with _errors.answering(interaction):
            if not _first_press(interaction):
                await interaction.response.defer()
            elif self.verb == "stay":
                await interaction.response.edit_message(
                    content="Left as it was. Nothing was changed.", view=None
                )
            else:
                await interaction.response.edit_message(content="One moment…", view=None)
                await _carry_out(interaction, self.message_id)


def _first_press(interaction: discord.Interaction) -> bool:
    """Is this the first press on that question? A second one may be on its way already."""
    asked = interaction.message.id if interaction.message is not None else 0
    if asked in _pressed:
        return False
    _pressed[asked] = None
    while len(_pressed) > REMEMBERED:
        del _pressed[next(iter(_pressed))]
    return True


async def _carry_out(interaction: discord.Interaction, message_id: int) -> None:
    """Post the marker, rewind up to it, say in it that it was done. Without a rewind it goes again."""
    place, person = place_and_person(interaction)
    actions, said_at = engine_of(interaction).actions, discord.utils.snowflake_time(message_id)
    asked = await actions.rewind_question(person, place, message_id, said_at)
    if not asked.done:
        await _say(interaction, asked.line)
        return
    link = _link(place, message_id)
    marker = await interaction.followup.send(
        embed=_markers.rewinding_embed(link), ephemeral=False, wait=True, allowed_mentions=QUIET
    )
    done = False
    try:
        acted = await actions.rewind(person, place, message_id, said_at, marker.id)
        done = acted.done
    finally:
        try:
            if done:
                await marker.edit(embed=_markers.rewound_embed(link, person.name), allowed_mentions=QUIET)
            else:
                await marker.delete()
        except TROUBLE as error:
            log.warning("a rewind's marker could not be brought up to date: %s", type(error).__name__)
    await _say(interaction, acted.line)


def _link(place: Place, message_id: int) -> str:
    guild = place.guild_id if place.guild_id is not None else "@me"
    return f"https://discord.com/channels/{guild}/{place.channel_id}/{message_id}"


async def _say(interaction: discord.Interaction, line: str) -> None:
    await interaction.edit_original_response(content=line[:2_000], view=None, allowed_mentions=QUIET)


MENUS = (
    app_commands.ContextMenu(name="Regenerate", callback=regenerate),
    app_commands.ContextMenu(name="Rewind to here", callback=rewind),
    app_commands.ContextMenu(
        name="Fork here",
        callback=fork,
        allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=False, private_channel=False),
    ),
    app_commands.ContextMenu(name="Exclude from prompt", callback=exclude),
)


async def setup(bot: commands.Bot) -> None:
    bot.add_dynamic_items(RewindButton)
    for menu in MENUS:
        bot.tree.add_command(menu)
