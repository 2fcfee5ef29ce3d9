"""What every panel has in common. A panel answers only to who opened it, survives double clicks, and says
when it has gone to sleep.

A panel is a controller; what is seen is a :class:`Drawing`, and each change makes a new one. A press on an
older drawing (a double click, a slow client) is acknowledged and does nothing. A press on a panel that this
process no longer knows (it restarted) is answered by :class:`SleepingPanel`.
"""

from __future__ import annotations

import contextlib
import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakValueDictionary

import discord
from discord import ui

from cogs import _errors

if TYPE_CHECKING:
    from collections.abc import Iterable

log = logging.getLogger(__name__)

Press = Callable[[discord.Interaction], Awaitable[None]]
PickChannel = Callable[[discord.Interaction, int], Awaitable[None]]
Pick = Callable[[discord.Interaction, str], Awaitable[None]]
PickMany = Callable[[discord.Interaction, list[str]], Awaitable[None]]

IDLE_S = 600.0
"""Seconds without a press until a panel sleeps: well inside the 15 minutes that Discord lets us edit it."""

AWAKE: WeakValueDictionary[str, Panel] = WeakValueDictionary()
"""The panels of this process by their key. Weak: a panel lives as long as its drawing does."""

NO_MENTIONS = discord.AllowedMentions.none()


def asleep_line(command: str) -> str:
    return f"-# This panel is asleep. Run `/{command}` to open a fresh one."


async def acknowledge(interaction: discord.Interaction) -> None:
    """Tell Discord that a press arrived, without changing anything. Safe to call twice at once."""
    if interaction.extras.get("acknowledged") or interaction.response.is_done():
        return
    interaction.extras["acknowledged"] = True
    with contextlib.suppress(discord.HTTPException, discord.InteractionResponded):
        await interaction.response.defer()


class Panel:
    """One open panel. Children draw it: :meth:`draw` returns what to show now."""

    command = "help"
    """The command that opens it, as a person types it after the slash."""

    def __init__(self, opener_id: int) -> None:
        self.opener_id = opener_id
        self.key = secrets.token_hex(4)
        self.generation = 0
        self._items = 0
        self._busy = False
        self._last: discord.Interaction | None = None
        self._drawing: Drawing | None = None
        AWAKE[self.key] = self

    @property
    def client(self) -> discord.Client | None:
        """The client that shows it."""
        return self._last.client if self._last is not None else None

    def draw(self) -> Iterable[ui.Item[Any]]:
        """The components to show, at most 39 of them and 3,900 units (one line is kept for sleep)."""
        raise NotImplementedError

    def button(
        self,
        label: str,
        press: Press,
        *,
        style: discord.ButtonStyle = discord.ButtonStyle.secondary,
        disabled: bool = False,
    ) -> ui.Button[Drawing]:
        return _PanelButton(self, self._next_id(), label, press, style=style, disabled=disabled)

    def select(
        self, placeholder: str, options: Sequence[discord.SelectOption], pick: Pick
    ) -> ui.Select[Drawing]:
        async def first(interaction: discord.Interaction, values: list[str]) -> None:
            await pick(interaction, values[0])

        return _PanelSelect(self, self._next_id(), placeholder, options, first)

    def choices(
        self, placeholder: str, options: Sequence[discord.SelectOption], pick: PickMany, *, most: int
    ) -> ui.Select[Drawing]:
        """A select of which at least one and at most ``most`` are chosen."""
        return _PanelSelect(self, self._next_id(), placeholder, options, pick, most=most)

    def channels(
        self, placeholder: str, kinds: Sequence[discord.ChannelType], pick: PickChannel
    ) -> ui.ChannelSelect[Drawing]:
        """A choice of one channel of the server; what was picked is its id."""
        return _PanelChannels(self, self._next_id(), placeholder, kinds, pick)

    def asleep(self) -> str:
        """What it says once it has gone to sleep."""
        return asleep_line(self.command)

    def drawing(self) -> Drawing:
        """A new drawing; older ones no longer do anything."""
        self.generation += 1
        self._items = 0
        drawing = Drawing(self)
        for item in self.draw():
            drawing.add_item(item)
        return drawing

    async def open(self, interaction: discord.Interaction) -> None:
        """Show the panel as the (ephemeral) response, whether deferred already or not."""
        self._last = interaction
        drawing = self._swap()
        if interaction.response.is_done():
            await interaction.edit_original_response(content=None, view=drawing, allowed_mentions=NO_MENTIONS)
        else:
            await interaction.response.send_message(
                view=drawing, ephemeral=True, allowed_mentions=NO_MENTIONS
            )

    async def redraw(self, interaction: discord.Interaction) -> None:
        """Show the panel as it is now in place of the old drawing."""
        self._last = interaction
        drawing = self._swap()
        if interaction.response.is_done():
            await interaction.edit_original_response(view=drawing, allowed_mentions=NO_MENTIONS)
        else:
            await interaction.response.edit_message(view=drawing, allowed_mentions=NO_MENTIONS)

    async def press(
        self,
        interaction: discord.Interaction,
        generation: int,
        act: Callable[[], Awaitable[None]],
    ) -> None:
        """Run one press. A second one meanwhile, or one on an old drawing, is only acknowledged."""
        if self._busy or generation != self.generation:
            await acknowledge(interaction)
            return
        self._busy = True
        try:
            await act()
        finally:
            self._busy = False

    async def sleep(self) -> None:
        """Disable the panel and say how to open a new one."""
        drawing, last = self._drawing, self._last
        AWAKE.pop(self.key, None)
        if drawing is None or last is None:
            return
        for item in drawing.walk_children():
            if isinstance(item, ui.Button | ui.Select | ui.ChannelSelect):
                item.disabled = True
        drawing.add_item(ui.TextDisplay(self.asleep()))
        with contextlib.suppress(discord.HTTPException):
            await last.edit_original_response(view=drawing, allowed_mentions=NO_MENTIONS)

    def _swap(self) -> Drawing:
        old, self._drawing = self._drawing, self.drawing()
        AWAKE[self.key] = self
        if old is not None:
            old.stop()
        return self._drawing

    def _next_id(self) -> str:
        self._items += 1
        slug = self.command.replace(" ", "-")
        return f"ks:panel:{slug}:{self.key}:{self.generation}:{self._items}"


class Drawing(ui.LayoutView):
    """What is seen of a panel until its next change."""

    def __init__(self, panel: Panel) -> None:
        super().__init__(timeout=IDLE_S)
        self.panel = panel

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        if interaction.user.id == self.panel.opener_id:
            return True
        await interaction.response.send_message(
            f"This panel belongs to who opened it. Run `/{self.panel.command}` for your own.",
            ephemeral=True,
        )
        return False

    async def on_timeout(self) -> None:
        await self.panel.sleep()

    async def on_error(self, interaction: discord.Interaction, error: Exception, item: Any, /) -> None:
        await _errors.answer(interaction, error)


class _PanelButton(ui.Button[Drawing]):
    def __init__(
        self,
        panel: Panel,
        custom_id: str,
        label: str,
        press: Press,
        *,
        style: discord.ButtonStyle,
        disabled: bool,
    ) -> None:
        super().__init__(label=label, style=style, disabled=disabled, custom_id=custom_id)
        self._panel = panel
        self._press = press
        self._generation = panel.generation

    async def callback(self, interaction: discord.Interaction) -> None:
        await self._panel.press(interaction, self._generation, lambda: self._press(interaction))


class _PanelSelect(ui.Select[Drawing]):
    def __init__(
        self,
        panel: Panel,
        custom_id: str,
        placeholder: str,
        options: Sequence[discord.SelectOption],
        pick: PickMany,
        *,
        most: int = 1,
    ) -> None:
        super().__init__(custom_id=custom_id, placeholder=placeholder, options=list(options), max_values=most)
        self._panel = panel
        self._pick = pick
        self._generation = panel.generation

    async def callback(self, interaction: discord.Interaction) -> None:
        await self._panel.press(
            interaction, self._generation, lambda: self._pick(interaction, list(self.values))
        )


class _PanelChannels(ui.ChannelSelect[Drawing]):
    def __init__(
        self,
        panel: Panel,
        custom_id: str,
        placeholder: str,
        kinds: Sequence[discord.ChannelType],
        pick: PickChannel,
    ) -> None:
        super().__init__(custom_id=custom_id, placeholder=placeholder, channel_types=list(kinds))
        self._panel = panel
        self._pick = pick
        self._generation = panel.generation

    async def callback(self, interaction: discord.Interaction) -> None:
        await self._panel.press(
            interaction, self._generation, lambda: self._pick(interaction, self.values[0].id)
        )


class SleepingPanel(
    ui.DynamicItem[ui.Button[Any]],
    template=r"ks:panel:(?P<command>[a-z-]+):(?P<key>[0-9a-f]{8}):(?P<generation>\d+):\d+",
):
    """Answers presses that no open panel answers, so that none ever ends in "interaction failed"."""

    def __init__(self, item: ui.Button[Any], command: str, key: str, generation: int) -> None:
        super().__init__(item)
        self.command = command
        self.key = key
        self.generation = generation

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction, item: ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        button: Any = item  # a select too: only its id is used
        return cls(button, match["command"].replace("-", " "), match["key"], int(match["generation"]))

    async def callback(self, interaction: discord.Interaction) -> None:
        panel = AWAKE.get(self.key)
        if panel is None or panel.client is not interaction.client:
            await self._say_asleep(interaction)
        elif panel.generation != self.generation:
            await acknowledge(interaction)

    async def _say_asleep(self, interaction: discord.Interaction) -> None:
        if interaction.extras.get("acknowledged") or interaction.response.is_done():
            return
        interaction.extras["acknowledged"] = True
        view = ui.LayoutView()
        view.add_item(ui.TextDisplay(asleep_line(self.command)))
        with contextlib.suppress(discord.HTTPException):
            await interaction.response.edit_message(view=view)
