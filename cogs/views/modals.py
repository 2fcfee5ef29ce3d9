"""Text boxes. One is always the first answer to an interaction, so nothing is waited for before it opens.

What a person typed is never lost: whoever gets the text and can't keep it must offer it back in the same box.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import discord
from discord import ui

from cogs import _errors
from cogs.views.pages import cut, units

BOX_UNITS = 4_000
"""The most that Discord's text box takes."""

OPEN_S = 3_600.0
"""Seconds that a box may stay open. A later submit is refused by Discord and keeps its text."""

Submit = Callable[[discord.Interaction, str, bool], Awaitable[None]]


class TextModal(ui.Modal):
    """One text, and a tick box when ``tick`` names one. ``limit``: what we keep, in characters.

    Discord may count an emoji as two characters, so the box takes more than the limit: a text that is too
    long is refused by us, with the counts, and offered back.
    """

    def __init__(
        self,
        title: str,
        label: str,
        submit: Submit,
        *,
        limit: int,
        text: str = "",
        placeholder: str = "",
        tick: str = "",
        ticked: bool = False,
        required: bool = True,
    ) -> None:
        super().__init__(title=cut(title, 45), timeout=OPEN_S)
        self._submit = submit
        self.box: ui.TextInput[TextModal] = ui.TextInput(
            style=discord.TextStyle.paragraph,
            custom_id="text",
            default=cut(text, BOX_UNITS) or None,
            placeholder=cut(placeholder, 100) or None,
            required=required,
            max_length=min(BOX_UNITS, max(2 * limit, units(text))),
        )
        self.add_item(ui.Label(text=label, description=f"Up to {limit:,} characters.", component=self.box))
        self.tick: ui.Checkbox[TextModal] | None = None
        if tick:
            self.tick = ui.Checkbox(custom_id="tick", default=ticked)
            self.add_item(ui.Label(text=tick, component=self.tick))

    async def on_submit(self, interaction: discord.Interaction) -> None:
        await self._submit(interaction, self.box.value, bool(self.tick and self.tick.value))

    async def on_error(  # type: ignore[override]  # discord.py gives a modal's handler no item
        self, interaction: discord.Interaction, error: Exception, /
    ) -> None:
        await _errors.answer(interaction, error)


class OwnView(ui.View):
    """Buttons on an ephemeral answer, for who asked only. ``message``: where they stand until time is up."""

    def __init__(self, opener_id: int, *, timeout: float = 600.0) -> None:
        super().__init__(timeout=timeout)
        self._opener_id = opener_id
        self.message: discord.InteractionMessage | discord.WebhookMessage | None = None

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        return interaction.user.id == self._opener_id

    async def on_timeout(self) -> None:
        if self.message is not None:
            with contextlib.suppress(discord.HTTPException):
                await self.message.edit(view=None)

    async def on_error(self, interaction: discord.Interaction, error: Exception, item: Any, /) -> None:
        await _errors.answer(interaction, error)
