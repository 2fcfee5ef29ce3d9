"""`/help`: what is remembered where, the commands, who may do what. Made from the commands themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import discord
from discord import app_commands, ui
from discord.ext import commands

from cogs._outcomes import QUIET
from cogs.views.pages import cut, units

HELP_UNITS = 3_500
"""The whole page: inside one message, with room to spare."""

_COLOUR = discord.Colour(0x5865F2)

INTRO = """\
## How I remember
Mention me, answer me, or write to me in a direct message."""

LAYERS = (
    "**1 · The conversation here.** The latest messages of this channel, word for word.",
    "**2 · A summary.** What no longer fits there, told shorter.",
    "**3 · Saved memories.** Facts that stay until somebody deletes them: about a server, or about you.",
)

NO_SUMMARY = (
    "**2 · A summary.** This version keeps none yet: what leaves the conversation is known to me only"
    " if it was saved."
)

SAVING = (
    "Say “remember that …” or “forget that …”, or use the commands. I say so whenever I save, change or"
    " delete something, with an Undo button. **Pinned** memories are always kept in mind, and only people"
    " can change them."
)

RIGHTS = """\
**Who may do what**
Your personal memories: no other member can list, change or delete them, admins included. But whoever reads \
a channel reads the confirmation of what I save there, and I may use what I know about you wherever we talk.
A server's memories: everybody there can read them. Changing them needs Manage Server, unless an admin lets \
every member do it.
What I save from a direct message is used in direct messages only, until you choose **Use everywhere**."""


class Help(commands.Cog):
    """The help page."""

    @app_commands.command(name="help", description="What I remember, the commands, and who may do what")
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    @app_commands.allowed_installs(guilds=True, users=False)
    async def help(self, interaction: discord.Interaction) -> None:
        tree: Any = getattr(interaction.client, "tree", None)
        found = tree.get_commands() if tree is not None else []
        view = page(found, dm=interaction.guild_id is None)
        await interaction.response.send_message(view=view, ephemeral=True, allowed_mentions=QUIET)


def page(found: Sequence[Any], *, dm: bool) -> ui.LayoutView:
    """The page for those commands; in a DM without what works in servers only."""
    box: ui.Container[ui.LayoutView] = ui.Container(accent_colour=_COLOUR)
    layers = layer_text({command.name for command in found})
    room = HELP_UNITS - units(layers) - units(RIGHTS)
    for text in (layers, cut(command_text(found, dm=dm), room), RIGHTS):
        box.add_item(ui.TextDisplay(text))
        box.add_item(ui.Separator())
    box.remove_item(box.children[-1])
    view = ui.LayoutView(timeout=None)
    view.add_item(box)
    view.stop()
    return view


def layer_text(names: Collection[str]) -> str:
    """The three layers; without a summary command there is no summary."""
    summary = LAYERS[1] if "summary" in names else NO_SUMMARY
    return "\n".join((INTRO, LAYERS[0], summary, LAYERS[2], SAVING))


def command_text(found: Sequence[Any], *, dm: bool) -> str:
    """One line for each command."""
    lines = ["**Commands**"]
    menus = []
    for command in sorted(found, key=lambda c: c.name):
        if isinstance(command, app_commands.ContextMenu):
            menus.append(command.name)
        elif not (dm and _servers_only(command)):
            lines += [_line(leaf) for leaf in _leaves(command)]
    if menus:
        lines.append(f"On a message, under Apps: {', '.join(menus)}")
    return "\n".join(lines)


def _leaves(command: Any) -> Iterator[app_commands.Command[Any, ..., Any]]:
    if isinstance(command, app_commands.Group):
        for child in command.commands:
            yield from _leaves(child)
    elif isinstance(command, app_commands.Command):
        yield command


def _line(command: app_commands.Command[Any, ..., Any]) -> str:
    root = command.root_parent or command
    wanted = root.default_permissions
    mark = " · Manage Server" if wanted is not None and wanted.manage_guild else ""
    return f"`/{command.qualified_name}` {command.description}{mark}"


def _servers_only(command: Any) -> bool:
    contexts = getattr(command, "allowed_contexts", None)
    return bool(getattr(command, "guild_only", False) or (contexts is not None and not contexts.dm_channel))


async def setup(bot: commands.Bot) -> None:
    await bot.add_cog(Help())
