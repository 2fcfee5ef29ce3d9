"""The part of `/memory` that keeps order: tags, moving, clearing, files; the commands are in cogs.memories.

Rights are the engine's matter. A clear is asked about twice: the pinned entries are a question of their own.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import discord

from cogs import _outcomes, _render, _scopes, engine_of
from cogs._entries import NOT_THERE, find_entry, may_not_write
from cogs._errors import whisper
from cogs._inbound import place_and_person
from cogs._outcomes import QUIET
from cogs.views.asking import Confirm
from cogs.views.entry_text import outcome_words
from cogs.views.tag_box import TagAgain, TagBox
from memory.facts.outcomes import Outcome, OutcomeKind, describe
from memory.types import Memory, Person, Place, Scope, SubjectKind

if TYPE_CHECKING:
    from memory.facts.service import Cleared, Clearing

FILE_BYTES = 1_000_000
"""A larger file is not fetched; the engine counts again."""


async def tag(interaction: discord.Interaction, entry: str) -> None:
    found = await find_entry(interaction, entry)
    refused = NOT_THERE if found is None else await may_not_write(interaction, found.scope)
    if found is None or refused:
        await whisper(interaction, refused)
        return
    box = _box(found, found.keywords, found.channels, interaction.guild)
    await interaction.response.send_modal(box)


async def move(interaction: discord.Interaction, entry: str, to: str) -> None:
    found = await find_entry(interaction, entry)
    if found is None:
        await whisper(interaction, NOT_THERE)
        return
    scope = await _scopes.any_scope(interaction, to)
    if isinstance(scope, str):
        await whisper(interaction, scope)
        return
    facts = engine_of(interaction).facts
    await _outcomes.carry_out(interaction, lambda who, where: facts.move(who, where, found.id, scope))


async def clear(interaction: discord.Interaction, scope: str) -> None:
    await interaction.response.defer(ephemeral=interaction.guild_id is not None, thinking=True)
    picked = await _scopes.any_scope(interaction, scope)
    if isinstance(picked, str):
        await interaction.edit_original_response(content=picked)
        return
    place, person = place_and_person(interaction)
    found = await engine_of(interaction).facts.clearing(person, place, picked)
    if isinstance(found, Outcome):
        await interaction.edit_original_response(content=outcome_words(found, _render.a_member))
        return
    await _ask(interaction, _Question(picked, await _whose(interaction, picked)), found)


async def export(interaction: discord.Interaction, scope: str) -> None:
    await interaction.response.defer(ephemeral=interaction.guild_id is not None, thinking=True)
    picked = await _scopes.any_scope(interaction, scope)
    if isinstance(picked, str):
        await interaction.edit_original_response(content=picked)
        return
    place, person = place_and_person(interaction)
    found = await engine_of(interaction).facts.export(person, place, picked)
    if found is None:
        refused = outcome_words(Outcome(OutcomeKind.NOT_ALLOWED, scope=picked), _render.a_member)
        await interaction.edit_original_response(content=refused)
        return
    data, count, hidden = found
    whose = await _whose(interaction, picked)
    elsewhere = f" {_entries(hidden).capitalize()} more, kept for our DMs, can be exported there."
    more = elsewhere if hidden else ""
    if not count:
        nothing = f"There is nothing to export: {whose} hold no entry.{more}"
        await interaction.edit_original_response(content=nothing, allowed_mentions=QUIET)
        return
    said = f"{_entries(count).capitalize()} of {whose}.{more}"
    await interaction.edit_original_response(
        content=said,
        attachments=[discord.File(io.BytesIO(data), filename=await _file_name(interaction, picked))],
        allowed_mentions=QUIET,
    )


async def bring_in(interaction: discord.Interaction, scope: str, file: discord.Attachment) -> None:
    await interaction.response.defer(ephemeral=interaction.guild_id is not None, thinking=True)
    picked = await _scopes.any_scope(interaction, scope)
    if isinstance(picked, str):
        await interaction.edit_original_response(content=picked)
        return
    if file.size > FILE_BYTES:
        line = f"The file has {file.size:,} bytes, and I read at most {FILE_BYTES:,}."
        await interaction.edit_original_response(content=f"Nothing was imported. {line}")
        return
    data = await file.read()
    place, person = place_and_person(interaction)
    done = await engine_of(interaction).facts.bring_in(person, place, picked, data)
    said = _render.escape(done.told()) if done.refused else done.told()
    await interaction.edit_original_response(content=said, allowed_mentions=QUIET)
    if done.saved and picked.kind is SubjectKind.SERVER:
        what = f"{_entries(done.saved)} into {await _whose(interaction, picked)}"
        await _outcomes.announce(interaction, "Imported", what)


def _box(
    memory: Memory, keywords: tuple[str, ...], channels: tuple[int, ...], guild: discord.Guild | None
) -> TagBox:
    async def send(sent: discord.Interaction, words: tuple[str, ...], chosen: tuple[int, ...]) -> None:
        facts = engine_of(sent).facts

        async def act(person: Person, place: Place) -> Outcome:
            return await facts.tag(person, place, memory.id, words, chosen, memory.version)

        def again(outcome: Outcome | None) -> TagAgain:
            now = outcome.memory if outcome is not None and outcome.memory is not None else memory
            return TagAgain(sent.user.id, lambda: _box(now, words, chosen, guild))

        await _outcomes.carry_out(sent, act, again)

    return TagBox(memory, keywords, channels, guild, send)


@dataclass(frozen=True, slots=True)
class _Question:
    """One step of a clear. ``whose``: its scope in words. ``done``: what was deleted before, in a sentence.

    ``no_first``: the *keep* button stands first, where the question before had its *delete*.
    """

    scope: Scope
    whose: str
    pinned: bool = False
    done: str = ""
    no_first: bool = False

    def kept(self, count: int) -> str:
        if not self.done:
            return "Kept. Nothing was changed."
        return (
            f"{self.done} {'The pinned one was' if count == 1 else f'The {count:,} pinned ones were'} kept."
        )

    def words(self, count: int, also: str) -> str:
        which, one = "pinned" if self.pinned else "unpinned", count == 1
        its, them = ("Its", "it") if one else ("Their", "them")
        return (
            f"**Delete {_entries(count, which)} of {self.whose} for good?**\n{its} words go from the history"
            f" too, and nobody can bring {them} back: there is no undo. `/memory export` saves {them}"
            f" first.{also}"
        )

    def keep_label(self, count: int) -> str:
        """Wider than any *delete* when it stands first, so that it covers where that one was."""
        if self.no_first:
            which = "pinned" if self.pinned else "unpinned"
            return f"Keep the {which} one as it is" if count == 1 else f"Keep the {which} ones as they are"
        return "Keep it" if count == 1 else "Keep them"


async def _ask(
    interaction: discord.Interaction, question: _Question, found: Clearing, before: str = ""
) -> None:
    """Put the question, with the count; or say that there is nothing (more) to clear."""
    before = before or question.done
    asked = found.pinned if question.pinned else found.unpinned
    if not asked and not question.pinned and found.gone:
        await _ask_words(interaction, question, found, before)
        return
    if not asked and not question.pinned and found.pinned:
        before = f"{before}\nThere is no unpinned entry among {question.whose}.".strip()
        await _ask(interaction, replace(question, pinned=True), found, before)
        return
    if not asked:
        said = before or f"There is nothing to clear: {question.whose} are empty."
        await interaction.edit_original_response(content=said + _hidden(found), view=None)
        return

    async def go(pressed: discord.Interaction) -> None:
        await _clear(pressed, question, asked)

    count = len(asked)
    view = Confirm(
        interaction.user.id,
        f"Delete {_entries(count)}",
        question.keep_label(count),
        go,
        kept=question.kept(count) + _hidden(found),
        no_first=question.no_first,
    )
    also = "" if question.pinned or not found.pinned else " I ask about the pinned ones separately."
    said = f"{before}\n{question.words(count, also)}".strip() + _hidden(found)
    view.message = await interaction.edit_original_response(content=said, view=view, allowed_mentions=QUIET)


async def _ask_words(
    interaction: discord.Interaction, question: _Question, found: Clearing, before: str
) -> None:
    """No unpinned entry is left there, but the words of what was deleted are."""

    async def go(pressed: discord.Interaction) -> None:
        await _clear(pressed, question, ())

    view = Confirm(
        interaction.user.id,
        "Delete the words",
        "Keep them",
        go,
        kept="Kept. Nothing was changed.",
        no_first=question.no_first,
    )
    words = (
        f"There is no unpinned entry among {question.whose}. **Delete the words of"
        f" {_entries(found.gone, 'deleted')} for good?** The history keeps them, and undo brings them back."
    )
    said = f"{before}\n{words}".strip() + _hidden(found)
    view.message = await interaction.edit_original_response(content=said, view=view, allowed_mentions=QUIET)


async def _clear(interaction: discord.Interaction, question: _Question, asked: tuple[int, ...]) -> None:
    place, person = place_and_person(interaction)
    engine = engine_of(interaction)
    done = await engine.clear(person, place, question.scope, asked, pinned=question.pinned)
    following = replace(question, no_first=not question.no_first)
    if done.refused is not None:
        said = outcome_words(done.refused, _render.a_member)
        await interaction.edit_original_response(content=f"{question.done} {said}".strip())
    elif done.changed:
        nothing = "nothing more" if question.done else "nothing"
        before = f"{question.done} The entries changed while I asked, so {nothing} was deleted yet."
        await _ask(interaction, following, done.left, before.strip())
    else:
        await _cleared(interaction, following, done)


async def _cleared(interaction: discord.Interaction, question: _Question, done: Cleared) -> None:
    what = _entries(done.count, "pinned" if question.pinned else "unpinned")
    if not done.count:
        what = "the words of deleted entries"
    said = f"{question.done} Deleted {what} of {question.whose} for good.".strip()
    if not question.pinned and done.left.pinned:
        await _ask(interaction, replace(question, pinned=True, done=said), done.left)
    else:
        await interaction.edit_original_response(content=said + _hidden(done.left), view=None)
    if question.scope.kind is SubjectKind.SERVER:
        await _outcomes.announce(interaction, "Cleared", f"{what} of {question.whose}, for good")


async def _called(interaction: discord.Interaction, scope: Scope) -> str:
    """The name of the persona that a scope is for."""
    place, person = place_and_person(interaction)
    return (await engine_of(interaction).facts.lineages(person, place)).name(scope.lineage)


async def _whose(interaction: discord.Interaction, scope: Scope) -> str:
    """A scope in words, with its persona by name."""
    return describe(scope, _render.escape(await _called(interaction, scope)))


async def _file_name(interaction: discord.Interaction, scope: Scope) -> str:
    """Of whom and for which persona a file is, in letters that every system takes."""
    kind = "server" if scope.kind is SubjectKind.SERVER else "personal"
    name = re.sub(r"\W+", "-", (await _called(interaction, scope)).casefold()).strip("-_")
    return f"keepsake-memories-{kind}-{name or 'persona'}.json"


def _entries(count: int, which: str = "") -> str:
    return f"{count:,} {which} {'entry' if count == 1 else 'entries'}".replace("  ", " ")


def _hidden(found: Clearing) -> str:
    if not found.hidden:
        return ""
    return f"\n-# 🔒 {_entries(found.hidden)} more, kept for our DMs, can be cleared there."
