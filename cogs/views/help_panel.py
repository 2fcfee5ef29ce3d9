"""The panel of `/help`: a tab for each topic. Its words promise no more privacy than there is.

The Commands tab is made from the commands themselves, so that a new one appears there by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import Enum
from functools import partial
from typing import Any

import discord
from discord import app_commands, ui

from cogs.views.pages import cut
from cogs.views.panel import Drawing, Panel

PAGE_UNITS = 3_800
"""Room for one tab. With every command there is, nothing is cut."""

SERVERS_ONLY = {"servers_only": True}
"""Extras of a subcommand that is refused in DMs: Discord knows only whole groups that are not for DMs."""

_COLOUR = discord.Colour(0x5865F2)


class Topic(Enum):
    """What there is to read about; the value is the button's label."""

    START = "Start"
    COMMANDS = "Commands"
    TAGGING = "Tagging"
    RIGHTS = "Personas and rights"


LAYERS = (
    "**1 · The conversation here.** The latest messages of this channel, word for word.",
    "**2 · A summary.** What no longer fits there, told shorter.",
    "**3 · Saved memories.** Facts that stay until somebody deletes them: about a server, or about you.",
)

NO_SUMMARY = (
    "**2 · A summary.** This version keeps none yet: what leaves the conversation is known to me only"
    " if it was saved."
)

CALLING = """\
**Talking to me**
Mention me, reply to me, or write to me in a direct message. A persona also answers replies to it and its \
trigger words: `/persona list` shows who is here."""

SAVING = """\
**Saving**
Say “remember that …” or “forget that …”, or use the commands. I say so whenever I save, change or delete \
something, with an Undo button, unless that is turned off here. \
What I may not decide waits for a yes: `/approvals`.
`/memories` shows what I know about a server, `/personal memories` what I know about you.

**Pins**
Pinned memories are always kept in mind, and only people can change them: `/pins add`, or **Pin** on a \
confirmation.

`/context preview` shows exactly what I would be given if you wrote now."""

KEYWORDS = """\
**When and where a memory is used**
- **Without keywords** it is always on.
- **With keywords** it is used only when one of them appears in the latest messages or in yours. Capitals \
don't matter, and parts of words count: `cat` is found in “cats”.
- **A keyword in "quotes"** counts only as a whole word: `"cat"` is not found in “cats”.
- **With channels** it is used only there and in their threads.
- **With both**, both must fit.
- **Pinned** memories don't wait for their keywords. Their channels count."""

SETTING_TAGS = """\
**Where to set them**
`/memory tag` opens a box with all tags of a memory: up to 5 keywords of at most 50 characters, and up to 5 \
channels. `/memory add` takes keywords at once. In our direct messages a memory takes keywords only."""

TAG_SWITCH = """\
**The switch**
Tags can be turned off for a whole server with `/config server`, setting *Keywords and channel tags* (Manage \
Server). Then every memory is used as if it had none."""

PERSONAS = """\
**Personas**
Characters that I play, each with memories of its own. Everybody can call and see them; members with Manage \
Server make, change and delete them and choose with `/persona use` who answers. In our direct messages you \
choose."""

RIGHTS = """\
**Who may do what**
- **Your personal memories:** no other member can list, change or delete them, admins included. But whoever \
reads a channel reads the confirmation of what I save there, and I may use what I know about you wherever we \
talk.
- **A server's memories:** everybody there can read them. Changing them needs Manage Server, unless an admin \
lets every member do it.
- **What I suggest:** about you, you alone approve it; about the server, who may change its memories.
- **Regenerate:** who asked, or Manage Server. **Rewind to here:** Manage Server; in our direct messages you.
- **Fork here, `/refresh`:** who can write in the channel.
- **Exclude from prompt:** your own messages and my replies to you; Manage Server any.
- **Settings:** Manage Server; in our direct messages you, where they have a meaning there.

What I save from a direct message is used in direct messages only, until you choose **Use everywhere**."""


class HelpPanel(Panel):
    """One person's open help. ``found``: the commands there are; ``dm``: leave out what is for servers."""

    command = "help"

    def __init__(self, opener_id: int, found: Sequence[Any], topic: Topic, *, dm: bool) -> None:
        super().__init__(opener_id)
        self._found = found
        self._topic = topic
        self._dm = dm

    def draw(self) -> Iterable[ui.Item[Any]]:
        box: ui.Container[Drawing] = ui.Container(accent_colour=_COLOUR)
        box.add_item(ui.ActionRow(*(self._tab(topic) for topic in Topic)))
        box.add_item(ui.Separator())
        box.add_item(ui.TextDisplay(cut(words_of(self._topic, self._found, dm=self._dm), PAGE_UNITS)))
        yield box

    def _tab(self, topic: Topic) -> ui.Button[Drawing]:
        here = topic is self._topic
        style = discord.ButtonStyle.primary if here else discord.ButtonStyle.secondary
        return self.button(topic.value, partial(self._turn, topic=topic), style=style, disabled=here)

    async def _turn(self, interaction: discord.Interaction, *, topic: Topic) -> None:
        self._topic = topic
        await self.redraw(interaction)


def words_of(topic: Topic, found: Sequence[Any], *, dm: bool) -> str:
    """What a tab says."""
    if topic is Topic.START:
        parts = ["## How I remember", layer_text({command.name for command in found}), CALLING, SAVING]
    elif topic is Topic.COMMANDS:
        parts = ["## Commands", command_text(found, dm=dm), menu_text(found, dm=dm)]
    elif topic is Topic.TAGGING:
        parts = ["## Tagging", KEYWORDS, SETTING_TAGS, *(() if dm else (TAG_SWITCH,))]
    else:
        parts = ["## Personas and rights", PERSONAS, RIGHTS]
    return "\n\n".join(part for part in parts if part).replace("\n\n", "\n", 1)


def layer_text(names: Collection[str]) -> str:
    """The three layers; without a summary command there is no summary."""
    return "\n".join((LAYERS[0], LAYERS[1] if "summary" in names else NO_SUMMARY, LAYERS[2]))


def command_text(found: Sequence[Any], *, dm: bool) -> str:
    """A line for each group and for each command without one, in the alphabet's order."""
    lines = []
    for command in sorted(found, key=lambda c: c.name):
        if isinstance(command, app_commands.ContextMenu) or (dm and _servers_only(command)):
            continue
        root = command.default_permissions
        mark = " · Manage Server" if not dm and root is not None and root.manage_guild else ""
        lines += [f"{line}{mark}" for line in _lines(command, dm=dm)]
    return "\n".join(lines)


def _lines(command: Any, *, dm: bool) -> Iterator[str]:
    if not isinstance(command, app_commands.Group):
        yield f"`/{command.qualified_name}` {command.description}"
        return
    here = [child for child in command.commands if not (dm and _servers_only(child))]
    names = [child.name for child in here if isinstance(child, app_commands.Command)]
    if names:
        yield f"`/{command.qualified_name} {' · '.join(names)}` {command.description}"
    for child in here:
        if isinstance(child, app_commands.Group):
            yield from _lines(child, dm=dm)


def menu_text(found: Sequence[Any], *, dm: bool) -> str:
    """The commands of a message's menu."""
    names = sorted(
        command.name
        for command in found
        if isinstance(command, app_commands.ContextMenu) and not (dm and _servers_only(command))
    )
    if not names:
        return ""
    return f"**On a message:** right-click it (on a phone: hold it), then **Apps**\n{' · '.join(names)}"


def _servers_only(command: Any) -> bool:
    contexts = getattr(command, "allowed_contexts", None)
    refused = contexts is not None and not contexts.dm_channel
    return refused or getattr(command, "guild_only", False) or "servers_only" in command.extras
