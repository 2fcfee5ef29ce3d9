"""`/memory …` and `/memories`: adding, changing, finding and taking back what is remembered.

Rights are the engine's matter; this cog only asks. What was typed and refused is offered back.
"""

from __future__ import annotations

import logging

import discord
from discord import app_commands
from discord.ext import commands

from cogs import _outcomes, drafts, engine_of, keeping
from cogs._entries import (
    NOT_THERE,
    complete_readable,
    complete_writable,
    find_entry,
    may_not_write,
    name_of,
)
from cogs._errors import whisper
from cogs._inbound import place_and_person
from cogs._outcomes import QUIET
from cogs._scopes import NOT_IN_DMS, any_scope, lineage_here, main_scopes, picked_scope, scope_of
from cogs._scopes import readable as readable_scopes
from cogs._scopes import writable as writable_scopes
from cogs.views.asking import Confirm, Draft, SaveAboutMe, keep
from cogs.views.entry_text import PRIVATE_UNITS, handle, history_text, parse_handle, quoted
from cogs.views.listings import PersonalListing, SearchListing, ServerListing
from cogs.views.pages import cut
from cogs.views.panel import SleepingPanel
from cogs.views.panels import open_panel
from cogs.views.tag_box import split_keywords
from memory.facts.drafts import DESCRIPTION
from memory.types import GLOBAL, Memory, Scope

log = logging.getLogger(__name__)

NO_SERVER = (
    "In a direct message there is no server to remember things about, so nothing was saved. Choose one of the"
    " two “me” scopes, or run the command in the server. The button saves it as a memory about you."
)


NO_SCOPE = (
    "I don't know that scope, so nothing was saved. Pick one from the list that appears while you type,"
    " or save it as a memory about you with this button."
)


EVERYWHERE = app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=False)
"""Commands work in servers and in direct messages with the bot."""

INSTALLED = app_commands.AppInstallationType(guild=True, user=False)


class Memories(commands.Cog):
    """The memory commands."""

    memory = app_commands.Group(
        name="memory",
        description="Add, change, find and take back what I remember",
        allowed_contexts=EVERYWHERE,
        allowed_installs=INSTALLED,
    )

    @app_commands.command(name="memories", description="Everything I remember about this server")
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    @app_commands.allowed_installs(guilds=True, users=False)
    async def memories(self, interaction: discord.Interaction) -> None:
        listing = PersonalListing() if interaction.guild_id is None else ServerListing()
        await open_panel(interaction, engine_of(interaction), listing)

    @memory.command(name="add", description="Remember something")
    @app_commands.describe(
        text="One fact, as one plain sentence",
        scope="Whom it is about, and for which personas (you, with the persona in use, unless you choose)",
        pinned="Pinned entries are always kept in mind, and only people can change them",
        keywords="Use it only when one of these appears: up to 5, with commas; in “quotes” whole words only",
    )
    @app_commands.autocomplete(scope=writable_scopes)
    async def add(
        self,
        interaction: discord.Interaction,
        text: str,
        scope: str = "user_persona",
        pinned: bool = False,
        keywords: str = "",
    ) -> None:
        where = await any_scope(interaction, scope)
        words = split_keywords(keywords)
        if isinstance(where, str):
            lineage = GLOBAL if picked_scope(scope) == "server_global" else await lineage_here(interaction)
            mine = Scope.user(interaction.user.id, lineage)
            line = NO_SERVER if where == NOT_IN_DMS else NO_SCOPE
            await _offer_personal(interaction, line, Draft(text, mine, pinned=pinned, keywords=words))
            return
        await keep(interaction, Draft(text, where, pinned=pinned, keywords=words))

    @memory.command(
        name="generate", description="Draft memories from a description; you see them before they are saved"
    )
    @app_commands.describe(
        description="What the memories should say, in your own words; the chat is not read",
        scope="Whom they are about, and for which personas (you, with the persona in use, unless you choose)",
    )
    @app_commands.autocomplete(scope=main_scopes)
    async def generate(
        self,
        interaction: discord.Interaction,
        description: app_commands.Range[str, 1, DESCRIPTION],
        scope: str = "user_persona",
    ) -> None:
        picked = picked_scope(scope)
        where = await scope_of(interaction, picked) if picked else None
        await drafts.generate(interaction, description, where)

    @memory.command(name="edit", description="Change the words of an entry")
    @app_commands.describe(entry="Type a few of its words, or its handle such as m12")
    @app_commands.autocomplete(entry=complete_writable)
    async def edit(self, interaction: discord.Interaction, entry: str) -> None:
        found = await find_entry(interaction, entry)
        refused = NOT_THERE if found is None else await may_not_write(interaction, found.scope)
        if found is None or refused:
            await whisper(interaction, refused)
            return
        limit = engine_of(interaction).settings.max_memory_length
        draft = Draft(found.text, found.scope, memory_id=found.id, version=found.version)
        await interaction.response.send_modal(draft.modal(limit))

    @memory.command(name="delete", description="Forget an entry")
    @app_commands.describe(entry="Type a few of its words, or its handle such as m12")
    @app_commands.autocomplete(entry=complete_writable)
    async def delete(self, interaction: discord.Interaction, entry: str) -> None:
        found = await find_entry(interaction, entry)
        refused = NOT_THERE if found is None else await may_not_write(interaction, found.scope)
        if found is None or refused:
            await whisper(interaction, refused)
        elif found.pinned:
            await _ask_to_delete(interaction, found)
        else:
            await _delete(interaction, found)

    @memory.command(name="tag", description="Say when and where an entry is used: its keywords and channels")
    @app_commands.describe(entry="Type a few of its words, or its handle such as m12")
    @app_commands.autocomplete(entry=complete_writable)
    async def tag(self, interaction: discord.Interaction, entry: str) -> None:
        await keeping.tag(interaction, entry)

    @memory.command(name="move", description="Move an entry: to you or the server, one persona or all")
    @app_commands.describe(
        entry="Type a few of its words, or its handle such as m12", to="Where it belongs from now on"
    )
    @app_commands.autocomplete(entry=complete_writable, to=writable_scopes)
    async def move(self, interaction: discord.Interaction, entry: str, to: str) -> None:
        await keeping.move(interaction, entry, to)

    @memory.command(name="clear", description="Delete every unpinned entry of one scope, for good")
    @app_commands.describe(scope="What to empty; you are asked before anything is deleted")
    @app_commands.autocomplete(scope=writable_scopes)
    async def clear(self, interaction: discord.Interaction, scope: str) -> None:
        await keeping.clear(interaction, scope)

    @memory.command(name="export", description="One scope's entries as a file")
    @app_commands.describe(scope="Whose entries")
    @app_commands.autocomplete(scope=readable_scopes)
    async def export(self, interaction: discord.Interaction, scope: str) -> None:
        await keeping.export(interaction, scope)

    @memory.command(name="import", description="Save the entries of an exported file, all or none of them")
    @app_commands.describe(scope="Where they belong", file="A file that /memory export made, up to 1 MB")
    @app_commands.autocomplete(scope=writable_scopes)
    async def bring_in(self, interaction: discord.Interaction, scope: str, file: discord.Attachment) -> None:
        await keeping.bring_in(interaction, scope, file)

    @memory.command(name="search", description="Find entries by their words")
    @app_commands.describe(query="Words to look for")
    async def search(self, interaction: discord.Interaction, query: app_commands.Range[str, 1, 200]) -> None:
        await open_panel(interaction, engine_of(interaction), SearchListing(query))

    @memory.command(name="history", description="Who changed an entry, when, and what it said before")
    @app_commands.describe(entry="Type a few of its words, or its handle such as m12 (deleted ones too)")
    @app_commands.autocomplete(entry=complete_readable)
    async def history(self, interaction: discord.Interaction, entry: str) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        memory_id = parse_handle(entry)
        place, person = place_and_person(interaction)
        facts = engine_of(interaction).facts
        entries = await facts.history(person, place, memory_id) if memory_id is not None else []
        if memory_id is None or not entries:
            await interaction.edit_original_response(content=NOT_THERE)
            return
        embed = discord.Embed(
            title=f"History of {handle(memory_id)}",
            description=history_text(
                await engine_of(interaction).seeing.sourced(person, place, entries), name_of(interaction)
            ),
        )
        await interaction.edit_original_response(embed=embed, allowed_mentions=QUIET)

    @memory.command(name="undo", description="Take back the last change that you made to a memory")
    async def undo(self, interaction: discord.Interaction) -> None:
        facts = engine_of(interaction).facts
        await _outcomes.carry_out(interaction, lambda who, where: facts.undo(who, where, None))


async def _offer_personal(interaction: discord.Interaction, line: str, draft: Draft) -> None:
    """Say that there is no such scope here, and keep the words. In a DM the answer stays."""
    view = SaveAboutMe(interaction.user.id, draft)
    await interaction.response.send_message(
        line,
        ephemeral=interaction.guild_id is not None,
        allowed_mentions=QUIET,
        view=view,
    )
    view.message = await interaction.original_response()


async def _ask_to_delete(interaction: discord.Interaction, memory: Memory) -> None:
    async def go(pressed: discord.Interaction) -> None:
        await _delete_asked(pressed, memory)

    view = Confirm(interaction.user.id, "Delete it", "Keep it", go)
    words = cut(quoted(memory.text, name_of(interaction)), PRIVATE_UNITS)
    await interaction.response.send_message(
        f"{handle(memory.id)} is pinned:\n{words}\nDelete it all the same?",
        view=view,
        ephemeral=True,
        allowed_mentions=QUIET,
    )
    view.message = await interaction.original_response()


async def _delete_asked(interaction: discord.Interaction, memory: Memory) -> None:
    """Delete what was shown. Something that was changed since is not what was meant."""
    facts = engine_of(interaction).facts
    await _outcomes.write(interaction, lambda who, where: facts.delete(who, where, memory.id, memory.version))


async def _delete(interaction: discord.Interaction, memory: Memory) -> None:
    facts = engine_of(interaction).facts
    await _outcomes.carry_out(
        interaction, lambda who, where: facts.delete(who, where, memory.id, memory.version)
    )


async def setup(bot: commands.Bot) -> None:
    bot.add_dynamic_items(SleepingPanel)
    await bot.add_cog(Memories())
