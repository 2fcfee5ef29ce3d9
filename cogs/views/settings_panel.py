"""The panel of `/config show`: every setting of this place, from its metadata, each with its own button.

Rights are asked for again at each press; who may not change settings sees them without buttons.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import discord
from discord import ui

from cogs import _errors
from cogs._inbound import place_and_person
from cogs.views.modals import TextModal
from cogs.views.pages import cut
from cogs.views.panel import Drawing, Panel
from memory.config import ConfigKey, ConfigRefused, ConfigType, Level, PlaceConfig, Setting
from memory.config.rules import ORIGINS, keys_at, plan_change
from memory.errors import KeepsakeError
from memory.types import Place

if TYPE_CHECKING:
    from memory.engine import Engine

_COLOUR = discord.Colour(0x5865F2)


class SettingsPanel(Panel):
    """One person's open view of one place's settings."""

    command = "config show"

    def __init__(self, engine: Engine, opener_id: int, place: Place) -> None:
        super().__init__(opener_id)
        self._engine = engine
        self._place = place
        self._may = False
        self._config: PlaceConfig | None = None
        self._server: PlaceConfig | None = None
        self._said = ""
        self._draft: tuple[Setting, Level, str] | None = None

    async def load(self, interaction: discord.Interaction) -> None:
        place, person = place_and_person(interaction)
        self._may = place.is_dm or person.manages
        self._config = await self._engine.config.get(place)
        if place.guild_id is not None:
            self._server = await self._engine.config.get(Place(0, place.guild_id))

    def draw(self) -> Iterable[ui.Item[Any]]:
        config = self._config
        if config is None:
            return
        box: ui.Container[Drawing] = ui.Container(accent_colour=_COLOUR)
        box.add_item(ui.TextDisplay("## Settings here"))
        if self._said:
            box.add_item(ui.TextDisplay(cut(self._said, 600)))
        if self._draft is not None:
            setting, level, text = self._draft
            again = partial(self._write, setting=setting, level=level, text=text)
            box.add_item(
                ui.ActionRow(
                    self.button("Try again with my words", again),
                    self.button("Discard my words", self._discard),
                )
            )
        if self._server is not None:
            self._add_level(box, self._server, Level.SERVER)
        self._add_level(box, config, Level.CHANNEL)
        yield box
        self._said = ""

    def _add_level(self, box: ui.Container[Drawing], config: PlaceConfig, level: Level) -> None:
        keys = keys_at(level, dm=self._place.is_dm)
        box.add_item(ui.Separator())
        box.add_item(ui.TextDisplay(f"**{_where(level, self._place)}**"))
        for key in keys:
            setting = config.setting(key.name)
            text = ui.TextDisplay[Drawing](_words(setting))
            if not self._may:
                box.add_item(text)
                continue
            label, press = self._offer(setting, level)
            box.add_item(ui.Section(text, accessory=self.button(label, press)))

    def _offer(self, setting: Setting, level: Level) -> tuple[str, Any]:
        """What one press on a setting does: the other way round, the next choice, or a text box."""
        key = setting.key
        if key.type is ConfigType.TEXT:
            return "Edit", partial(self._write, setting=setting, level=level, text=setting.value)
        values = [choice.value for choice in key.choices] or ["on", "off"]
        following = values[(values.index(setting.value) + 1) % len(values)]
        label = f"Turn {following}" if key.type is ConfigType.SWITCH else f"Use {following}"
        return label, partial(self._set, key=key, level=level, value=following)

    async def _set(
        self, interaction: discord.Interaction, *, key: ConfigKey, level: Level, value: str
    ) -> None:
        await interaction.response.defer()
        await self._store(interaction, key.name, level, value)
        await self.load(interaction)
        await self.redraw(interaction)

    async def _store(self, interaction: discord.Interaction, name: str, level: Level, value: str) -> bool:
        place, person = place_and_person(interaction)
        try:
            self._said = await self._engine.config.set(person, place, name, value, level=level)
        except KeepsakeError as error:
            self._said = _errors.known(error)
            return False
        return True

    async def _discard(self, interaction: discord.Interaction) -> None:
        self._draft = None
        await self.redraw(interaction)

    async def _write(
        self, interaction: discord.Interaction, *, setting: Setting, level: Level, text: str
    ) -> None:
        place, person = place_and_person(interaction)
        try:
            plan_change(person, place, setting.key.name, None, level)
        except ConfigRefused as refused:
            self._said = _errors.known(refused)
            await self.load(interaction)
            await self.redraw(interaction)
            return

        async def submit(sent: discord.Interaction, typed: str, _ticked: bool) -> None:
            await sent.response.defer()
            kept = await self._store(sent, setting.key.name, level, typed)
            self._draft = None if kept else (setting, level, typed)
            await self.load(sent)
            await self.redraw(sent)

        await interaction.response.send_modal(prompt_modal(setting.key, text, submit))


def prompt_modal(key: ConfigKey, text: str, submit: Any) -> TextModal:
    """The box for a long setting. Left empty, it goes back to the default."""
    return TextModal(
        key.title,
        key.title,
        submit,
        limit=key.high,
        text=text,
        placeholder="Leave empty to have none",
        required=False,
    )


def _words(setting: Setting) -> str:
    key = setting.key
    value = key.shown(setting.value)
    meaning = next((f" ({choice.help})" for choice in key.choices if choice.value == setting.value), "")
    origin = "" if key.type is ConfigType.TEXT and not setting.value else f" · {ORIGINS[setting.origin]}"
    return f"{key.title}: **{value}**{meaning}\n-# {key.help}{origin}"


def _where(level: Level, place: Place) -> str:
    if level is Level.SERVER:
        return "This server"
    if place.is_dm:
        return "Our direct messages"
    return "This channel" if place.parent_id is None else "This thread"
