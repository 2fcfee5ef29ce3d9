"""The panel of `/config show`: every setting of this place, from its metadata, each with its own button.

The server's settings and the channel's are a page each: a message takes no more than 40 components.
Rights are asked for again at each press; who may not change settings sees them without those buttons.
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
from memory.config.rules import ORIGINS, RESET_WORDS, keys_at, plan_change
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
        self._level = Level.CHANNEL if place.is_dm else Level.SERVER
        self._choosing: ConfigKey | None = None

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
        if self._choosing is not None:
            for row in self._channel_rows(self._choosing):
                box.add_item(row)
        if self._server is not None:
            box.add_item(ui.ActionRow(*(self._tab(level) for level in Level)))
        shown = self._server if self._level is Level.SERVER and self._server is not None else config
        self._add_level(box, shown, self._level)
        yield box
        self._said = ""

    def _tab(self, level: Level) -> ui.Button[Drawing]:
        here = level is self._level
        style = discord.ButtonStyle.primary if here else discord.ButtonStyle.secondary
        press = partial(self._turn, level=level)
        return self.button(_where(level, self._place), press, style=style, disabled=here)

    def _channel_rows(self, key: ConfigKey) -> Iterable[ui.ActionRow[Drawing]]:
        """Below the press on a setting that is a channel."""
        pick = partial(self._pick_channel, key=key)
        yield ui.ActionRow(self.channels(f"{key.title}: choose a channel", _POSTABLE, pick))
        yield ui.ActionRow(
            self.button("No channel", partial(self._set, key=key, level=self._level, value="default")),
            self.button("Back", self._back),
        )

    def _add_level(self, box: ui.Container[Drawing], config: PlaceConfig, level: Level) -> None:
        keys = keys_at(level, dm=self._place.is_dm)
        box.add_item(ui.Separator())
        box.add_item(ui.TextDisplay(f"**{_where(level, self._place)}**"))
        for key in keys:
            setting = config.setting(key.name)
            text = ui.TextDisplay[Drawing](_words(setting, dm=self._place.is_dm))
            if not self._may:
                box.add_item(text)
                continue
            label, press = self._offer(setting, level)
            box.add_item(ui.Section(text, accessory=self.button(label, press)))

    def _offer(self, setting: Setting, level: Level) -> tuple[str, Any]:
        """What one press on a setting does: the other way round, the next choice, or a text box."""
        key = setting.key
        if key.type is ConfigType.CHANNEL:
            return "Choose", partial(self._choose, key=key)
        if key.type is ConfigType.TEXT:
            return "Edit", partial(self._write, setting=setting, level=level, text=setting.value)
        values = [choice.value for choice in key.choices] or ["on", "off"]
        following = values[(values.index(setting.value) + 1) % len(values)]
        label = f"Turn {following}" if key.type is ConfigType.SWITCH else f"Use {following}"
        return label, partial(self._set, key=key, level=level, value=following)

    async def _turn(self, interaction: discord.Interaction, *, level: Level) -> None:
        self._level, self._choosing = level, None
        await self._again(interaction)

    async def _choose(self, interaction: discord.Interaction, *, key: ConfigKey) -> None:
        self._choosing = key
        await self._again(interaction)

    async def _back(self, interaction: discord.Interaction) -> None:
        self._choosing = None
        await self._again(interaction)

    async def _pick_channel(
        self, interaction: discord.Interaction, channel_id: int, *, key: ConfigKey
    ) -> None:
        await self._set(interaction, key=key, level=self._level, value=str(channel_id))

    async def _again(self, interaction: discord.Interaction) -> None:
        if not interaction.response.is_done():
            await interaction.response.defer()
        await self.load(interaction)
        await self.redraw(interaction)

    async def _set(
        self, interaction: discord.Interaction, *, key: ConfigKey, level: Level, value: str
    ) -> None:
        await interaction.response.defer()
        if await self._store(interaction, key, level, value):
            self._choosing = None
        await self._again(interaction)

    async def _store(
        self, interaction: discord.Interaction, key: ConfigKey, level: Level, value: str
    ) -> bool:
        place, person = place_and_person(interaction)
        if said := unfit(interaction, key, value):
            self._said = said
            return False
        try:
            self._said = await self._engine.config.set(person, place, key.name, value, level=level)
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
            await self._again(interaction)
            return

        async def submit(sent: discord.Interaction, typed: str, _ticked: bool) -> None:
            await sent.response.defer()
            kept = await self._store(sent, setting.key, level, typed)
            self._draft = None if kept else (setting, level, typed)
            await self._again(sent)

        await interaction.response.send_modal(prompt_modal(setting.key, text, submit))


def unfit(interaction: discord.Interaction, key: ConfigKey, value: str) -> str:
    """Why I could not post in the channel that is to be set; "" when I can, and for any other setting."""
    if key.type is not ConfigType.CHANNEL or value.strip().lower() in RESET_WORDS:
        return ""
    try:
        channel_id = int(key.parse(value) or 0)
    except ConfigRefused as refused:
        return _errors.known(refused)
    guild = interaction.guild
    channel = None if guild is None else guild.get_channel_or_thread(channel_id)
    if guild is None or channel is None or channel.type not in _POSTABLE:
        return (
            f"“{key.title}” must be a text channel or thread of this server that I can see. Nothing was"
            " changed."
        )
    may = channel.permissions_for(guild.me)
    send = may.send_messages_in_threads if isinstance(channel, discord.Thread) else may.send_messages
    missing = [
        name for name, given in (("View Channel", may.view_channel), ("Send Messages", send)) if not given
    ]
    if not missing:
        return ""
    lacks = " and ".join(missing)
    return f"I can't post in <#{channel.id}>: I lack {lacks} there. Nothing was changed; give me that first."


_POSTABLE = (
    discord.ChannelType.text,
    discord.ChannelType.news,
    discord.ChannelType.public_thread,
    discord.ChannelType.private_thread,
)


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


def _words(setting: Setting, *, dm: bool) -> str:
    key = setting.key
    what = (dm and key.help_in_dm) or key.help
    value = key.shown(setting.value)
    meaning = next((f" ({choice.help})" for choice in key.choices if choice.value == setting.value), "")
    origin = "" if key.type is ConfigType.TEXT and not setting.value else f" · {ORIGINS[setting.origin]}"
    return f"{key.title}: **{value}**{meaning}\n-# {what}{origin}"


def _where(level: Level, place: Place) -> str:
    if level is Level.SERVER:
        return "This server"
    if place.is_dm:
        return "Our direct messages"
    return "This channel" if place.parent_id is None else "This thread"
