"""Buttons that stand beneath lines and markers of ours: the Retry of a failed turn, the Restore of a refresh.

As with confirmations, a button's id names a record, and at each press it is asked whether its message is that
record's own.
"""

from __future__ import annotations

import re
from typing import Any, Self

import discord
from discord import ui

from cogs import _errors, _markers, engine_of
from cogs._delivery import QUIET
from cogs._inbound import RETRY_ID, place_and_person
from cogs.views import standing


class RetryButton(ui.DynamicItem[ui.Button[Any]], template=RETRY_ID):
    """Beneath the line of a failed turn: runs it again."""

    def __init__(self, turn_id: int) -> None:
        super().__init__(
            ui.Button(label="Retry", style=discord.ButtonStyle.primary, custom_id=f"ks:retry:{turn_id}")
        )
        self.turn_id = turn_id

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction, item: ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        return cls(int(match["id"]))

    async def callback(self, interaction: discord.Interaction) -> None:
        async with _errors.answering(interaction):
            await interaction.response.defer()
            place, person = place_and_person(interaction)
            refusal: str | None = standing.no_retry(interaction)
            if not refusal:
                asked = interaction.message.reference if interaction.message else None
                answers = asked.message_id if asked else None
                refusal = await engine_of(interaction).retry(person, place, self.turn_id, answers)
            if refusal is not None:
                await _errors.whisper(interaction, refusal)
            else:
                await interaction.delete_original_response()


class RestoreButton(ui.DynamicItem[ui.Button[Any]], template=r"ks:restore:(?P<id>\d+)"):
    """On the marker of a `/refresh`: undoes it. Manage Server; in a DM the member (SPEC §12)."""

    def __init__(self, marker_id: int) -> None:
        super().__init__(
            ui.Button(
                label="Restore", style=discord.ButtonStyle.secondary, custom_id=f"ks:restore:{marker_id}"
            )
        )
        self.marker_id = marker_id

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction, item: ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        return cls(int(match["id"]))

    async def callback(self, interaction: discord.Interaction) -> None:
        async with _errors.answering(interaction):
            await interaction.response.defer()
            place, person = place_and_person(interaction)
            if refused := standing.no_marker(interaction, self.marker_id):
                await _errors.whisper(interaction, refused)
                return
            if not (place.is_dm or person.manages):
                await _errors.whisper(
                    interaction, "Restoring needs the Manage Server permission. Nothing was changed."
                )
                return
            if not await engine_of(interaction).restore(place, person, self.marker_id):
                await _errors.whisper(interaction, "That was already restored.")
                return
            await interaction.edit_original_response(
                embed=_markers.restored_embed(person.name), view=None, allowed_mentions=QUIET
            )


def one(item: ui.DynamicItem[Any]) -> ui.View:
    """A message's only button."""
    drawn = ui.View(timeout=None)
    drawn.add_item(item)
    drawn.stop()
    return drawn
