"""The box for an entry's keywords and channels. What was refused stands in it again when it opens anew."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import discord
from discord import ui

from cogs import _errors
from cogs.views.entry_text import handle
from cogs.views.modals import OPEN_S, OwnView
from cogs.views.pages import cut
from memory.types import Memory

KEYWORD_UNITS = 1_000
"""Room for what is typed: more than five keywords of fifty characters, so that we say why more is refused."""

CHANNELS = 5
"""Channels of one entry (SPEC §4.1)."""

_KINDS = [
    discord.ChannelType.text,
    discord.ChannelType.news,
    discord.ChannelType.voice,
    discord.ChannelType.forum,
    discord.ChannelType.public_thread,
    discord.ChannelType.private_thread,
    discord.ChannelType.news_thread,
]

Send = Callable[[discord.Interaction, tuple[str, ...], tuple[int, ...]], Awaitable[None]]


def split_keywords(typed: str) -> tuple[str, ...]:
    """Keywords as a person types them, separated by commas or lines; commas inside "quotes" separate too."""
    words = (" ".join(word.split()) for word in re.split(r"[,;\n\u3001\uff0c]", typed))
    return tuple(word for word in words if word)


class TagBox(ui.Modal):
    """Keywords as text, and in a server its channels. Those of other servers stay unless unticked."""

    def __init__(
        self,
        memory: Memory,
        keywords: Sequence[str],
        channels: Sequence[int],
        guild: discord.Guild | None,
        send: Send,
    ) -> None:
        super().__init__(title=cut(f"Tags of {handle(memory.id)}", 45), timeout=OPEN_S)
        self._send = send
        here = [] if guild is None else [c for c in channels if guild.get_channel_or_thread(c) is not None]
        self._elsewhere = tuple(c for c in channels if c not in here)
        self.words: ui.TextInput[TagBox] = ui.TextInput(
            style=discord.TextStyle.paragraph,
            custom_id="keywords",
            default=cut("\n".join(keywords), KEYWORD_UNITS) or None,
            placeholder="One a line, or with commas. In “quotes”: whole words only",
            required=False,
            max_length=KEYWORD_UNITS,
        )
        self.add_item(
            ui.Label(
                text="Keywords: used only when one appears",
                description="Up to 5, of at most 50 characters each. None: always.",
                component=self.words,
            )
        )
        self.picked: ui.ChannelSelect[Any] | None = None
        if guild is not None:
            self.picked = ui.ChannelSelect(
                custom_id="channels",
                channel_types=_KINDS,
                placeholder="Any channel",
                min_values=0,
                max_values=CHANNELS,
                required=False,
                default_values=[
                    discord.SelectDefaultValue(id=c, type=discord.SelectDefaultValueType.channel)
                    for c in here[:CHANNELS]
                ],
            )
            self.add_item(
                ui.Label(
                    text="Channels: used only there",
                    description="Up to 5, with their threads. None: everywhere.",
                    component=self.picked,
                )
            )
        self.tick: ui.Checkbox[Any] | None = None
        if self._elsewhere:
            self.tick = ui.Checkbox(custom_id="elsewhere", default=True)
            count = len(self._elsewhere)
            kept = f"Keep {count} more {'channel' if count == 1 else 'channels'}"
            self.add_item(ui.Label(text=kept, description="Of other servers, or gone.", component=self.tick))

    async def on_submit(self, interaction: discord.Interaction) -> None:
        chosen = [] if self.picked is None else [channel.id for channel in self.picked.values]
        kept = self._elsewhere if self.tick is not None and self.tick.value else ()
        await self._send(interaction, split_keywords(self.words.value), (*chosen, *kept))

    async def on_error(  # type: ignore[override]  # discord.py gives a modal's handler no item
        self, interaction: discord.Interaction, error: Exception, /
    ) -> None:
        await _errors.answer(interaction, error)


class TagAgain(OwnView):
    """Under a refusal: the box again, with what was typed and chosen."""

    def __init__(self, opener_id: int, box: Callable[[], TagBox]) -> None:
        super().__init__(opener_id)
        self._box = box

    @ui.button(label="Try again with my tags", style=discord.ButtonStyle.primary)
    async def again(self, interaction: discord.Interaction, _button: ui.Button[TagAgain]) -> None:
        await interaction.response.send_modal(self._box())
