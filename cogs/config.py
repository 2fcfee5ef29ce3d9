"""`/config …`: settings of servers and channels, all from their metadata (Manage Server; in a DM its member).

Discord hides the command from who lacks the right; the right is asked for again at each use all the same.
"""

from __future__ import annotations

import discord
from discord import app_commands
from discord.ext import commands

from cogs import engine_of
from cogs._entries import CHOICES
from cogs._errors import answering, known, whisper
from cogs._inbound import place_and_person
from cogs._outcomes import QUIET
from cogs.memories import EVERYWHERE, INSTALLED
from cogs.views.help_panel import SERVERS_ONLY
from cogs.views.modals import OwnView, TextModal
from cogs.views.pages import cut
from cogs.views.settings_panel import SettingsPanel, prompt_modal, unfit
from memory.config import ConfigKey, ConfigRefused, ConfigType, Level
from memory.config.rules import key_of, keys_at, plan_change

BACK = app_commands.Choice(name="default (no longer set here)", value="default")


def _choices(level: Level) -> list[app_commands.Choice[str]]:
    """The settings by title and name: the docs use the name, and Discord finds either as one types."""
    found = [(f"{key.title} ({key.name})", key.name) for key in keys_at(level)]
    return [app_commands.Choice(name=label, value=name) for label, name in found]


class Configuration(commands.Cog, name="Config"):
    """The settings commands."""

    config = app_commands.Group(
        name="config",
        description="Settings of this server and its channels",
        default_permissions=discord.Permissions(manage_guild=True),
        allowed_contexts=EVERYWHERE,
        allowed_installs=INSTALLED,
    )

    @config.command(name="show", description="Every setting here, with buttons to change them")
    async def show(self, interaction: discord.Interaction) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        place, _ = place_and_person(interaction)
        panel = SettingsPanel(engine_of(interaction), interaction.user.id, place)
        await panel.load(interaction)
        await panel.open(interaction)

    @config.command(name="server", description="Change a setting of the whole server", extras=SERVERS_ONLY)
    @app_commands.describe(
        key="Which setting", value="Its new value; leave it out for a long text, and a box opens"
    )
    @app_commands.choices(key=_choices(Level.SERVER))
    async def server(self, interaction: discord.Interaction, key: str, value: str | None = None) -> None:
        await _change(interaction, key, value, Level.SERVER)

    @config.command(name="channel", description="Change a setting of this channel or thread")
    @app_commands.describe(
        key="Which setting", value="Its new value; leave it out for a long text, and a box opens"
    )
    @app_commands.choices(key=_choices(Level.CHANNEL))
    async def channel(self, interaction: discord.Interaction, key: str, value: str | None = None) -> None:
        await _change(interaction, key, value, Level.CHANNEL)

    @server.autocomplete("value")
    @channel.autocomplete("value")
    async def values(self, interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
        """The values of the setting that was chosen before."""
        try:
            key = key_of(str(getattr(interaction.namespace, "key", "")))
        except ConfigRefused:
            return []
        offered = channel_choices(interaction) if key.type is ConfigType.CHANNEL else value_choices(key)
        return [c for c in offered if typed.casefold() in c.name.casefold()][:CHOICES]


def value_choices(key: ConfigKey) -> list[app_commands.Choice[str]]:
    """What can be chosen for a setting; nothing for a text, which is written."""
    if key.type is ConfigType.TEXT:
        return []
    if key.type is ConfigType.SWITCH:
        return [app_commands.Choice(name=word, value=word) for word in ("on", "off")] + [BACK]
    found = [
        app_commands.Choice(name=cut(f"{choice.value}: {choice.help}", 95), value=choice.value)
        for choice in key.choices
    ]
    return [*found, BACK]


def channel_choices(interaction: discord.Interaction) -> list[app_commands.Choice[str]]:
    """The text channels of the server where I can post, in their order there."""
    guild = interaction.guild
    found = (
        [] if guild is None else [c for c in guild.text_channels if c.permissions_for(guild.me).send_messages]
    )
    return [BACK, *(app_commands.Choice(name=cut(f"#{c.name}", 95), value=str(c.id)) for c in found)]


async def _change(interaction: discord.Interaction, name: str, value: str | None, level: Level) -> None:
    """Check first, so that nobody writes a long text for nothing; then a box, or the change itself."""
    async with answering(interaction):
        await _checked_change(interaction, name, value, level)


async def _checked_change(
    interaction: discord.Interaction, name: str, value: str | None, level: Level
) -> None:
    place, person = place_and_person(interaction)
    change = plan_change(person, place, name, None, level)
    if value is None and change.key.type is ConfigType.TEXT:
        config = await engine_of(interaction).config.get(place)
        await interaction.response.send_modal(_box(change.key, config.setting(change.key.name).value, level))
    elif value is None:
        await whisper(interaction, f"Choose a value for “{change.key.title}”. Nothing was changed.")
    else:
        await _store(interaction, change.key, value, level)


def _box(key: ConfigKey, text: str, level: Level) -> TextModal:
    async def submit(sent: discord.Interaction, typed: str, _ticked: bool) -> None:
        await _store(sent, key, typed, level)

    return prompt_modal(key, text, submit)


async def _store(interaction: discord.Interaction, key: ConfigKey, value: str, level: Level) -> None:
    await interaction.response.defer(ephemeral=True, thinking=True)
    place, person = place_and_person(interaction)
    if said := unfit(interaction, key, value):
        await interaction.edit_original_response(content=said, allowed_mentions=QUIET)
        return
    try:
        said = await engine_of(interaction).config.set(person, place, key.name, value, level=level)
    except ConfigRefused as refused:
        if key.type is not ConfigType.TEXT:
            raise
        again = _Again(person.id, key, value, level)
        again.message = await interaction.edit_original_response(
            content=known(refused), view=again, allowed_mentions=QUIET
        )
        return
    await interaction.edit_original_response(content=said, allowed_mentions=QUIET)


class _Again(OwnView):
    """The words of a refused prompt, in the box again."""

    def __init__(self, opener_id: int, key: ConfigKey, text: str, level: Level) -> None:
        super().__init__(opener_id)
        self._key, self._text, self._level = key, text, level

    @discord.ui.button(label="Try again with my words", style=discord.ButtonStyle.primary)
    async def again(self, interaction: discord.Interaction, _button: discord.ui.Button[_Again]) -> None:
        await interaction.response.send_modal(_box(self._key, self._text, self._level))


async def setup(bot: commands.Bot) -> None:
    await bot.add_cog(Configuration())
