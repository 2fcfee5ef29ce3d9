"""Showing the result of a write to who asked for it, and to the server where it concerns the server.

Order: the write is committed before anything here runs; whatever fails here never undoes it.
A personal entry's confirmation is seen by its owner alone; a server's by everybody there.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import discord

from cogs import _errors, _render, engine_of
from cogs._entries import name_of
from cogs._inbound import place_and_person
from cogs.views import notices
from cogs.views.entry_text import private_words
from cogs.views.modals import OwnView
from memory.errors import KeepsakeError
from memory.facts.outcomes import Outcome, OutcomeKind
from memory.ports import NoticeView
from memory.types import Notice, Person, Place, SubjectKind

log = logging.getLogger(__name__)

QUIET = discord.AllowedMentions.none()


Act = Callable[[Person, Place], Awaitable[Outcome]]
"""One write, by who acts, where they act."""

Offer = Callable[[Outcome | None], OwnView]
"""The buttons under an answer that nothing was written: by what was refused, None when the write failed."""


async def carry_out(interaction: discord.Interaction, act: Act, offer: Offer | None = None) -> None:
    """Acknowledge a command at once, write, and answer. In a DM the answer stays: only its member is there.

    ``offer``: what else can be done with the same words, shown when they could not be written.
    """
    await interaction.response.defer(ephemeral=interaction.guild_id is not None, thinking=True)
    await write(interaction, act, offer)


async def write(interaction: discord.Interaction, act: Act, offer: Offer | None = None) -> None:
    """Write, and answer an interaction that was acknowledged before with what became of it."""
    place, person = place_and_person(interaction)
    try:
        outcome = await act(person, place)
    except KeepsakeError as error:
        log.warning("a write failed: %s", error)
        await _line(interaction, _errors.known(error), offer and offer(None))
        return
    await show(interaction, outcome, offer)


async def show(interaction: discord.Interaction, outcome: Outcome, offer: Offer | None = None) -> None:
    """Answer a (deferred) command with what became of its write. Only who asked sees the answer.

    A personal write: its confirmation. A server's: a line for who asked, and the confirmation for everybody
    there. A refusal: a line for who asked, with the buttons that ``offer`` makes for it.
    """
    view = await _view_of(interaction, outcome.notice) if outcome.wrote else None
    if view is None or outcome.notice is None or _for_all(interaction, view):
        said = private_words(outcome, name_of(interaction))
        await _line(interaction, said, None if outcome.wrote or offer is None else offer(outcome))
        await publish(interaction, outcome)
        return
    form = notices.form(view, name_of(interaction), private=True)
    if outcome.kind is OutcomeKind.UNDONE:
        form |= {"content": private_words(outcome, name_of(interaction)), "embed": None}
    elif outcome.note:
        form["content"] = outcome.note
    message = await interaction.edit_original_response(**form)
    await _posted(interaction, outcome.notice, message.id)
    await notices.redraw(interaction.client, outcome)


async def publish(interaction: discord.Interaction, outcome: Outcome, shown_in: int | None = None) -> None:
    """Post the confirmation of a server's write for everybody there, after the response was given.

    A personal one was shown to its owner already: ``shown_in`` is the message where. Never raises.
    """
    await notices.redraw(interaction.client, outcome)
    if outcome.wrote and outcome.notice is not None:
        await _publish(interaction, outcome.notice, shown_in)
    if outcome.wrote and outcome.also is not None:
        await _publish(interaction, outcome.also, None)


async def _publish(interaction: discord.Interaction, notice: Notice, shown_in: int | None) -> None:
    view = await _view_of(interaction, notice)
    try:
        if view is not None and _for_all(interaction, view):
            if await engine_of(interaction).only_audited(notice, place_and_person(interaction)[0]):
                return
            form = {k: v for k, v in notices.form(view, name_of(interaction)).items() if v is not None}
            message = await interaction.followup.send(**form, ephemeral=False, wait=True)
            await _posted(interaction, notice, message.id)
        elif shown_in is not None:
            await _posted(interaction, notice, shown_in)
    except (discord.HTTPException, KeepsakeError) as error:
        log.warning("a confirmation was not shown: %s", type(error).__name__)


async def announce(interaction: discord.Interaction, title: str, what: str) -> None:
    """Tell what was done to the server's memories as a whole, where confirmations go. Never raises."""
    place, _ = place_and_person(interaction)
    by = _render.escape(interaction.user.display_name)
    embed = discord.Embed(title=title, description=f"{what}\n-# by {by}", colour=_render.GREY)
    try:
        there = await engine_of(interaction).told_in(place)
        if there == place:
            await interaction.followup.send(embed=embed, ephemeral=False, allowed_mentions=QUIET)
        elif there is not None:
            audit = interaction.client.get_channel(there.channel_id)
            if isinstance(audit, discord.TextChannel | discord.Thread) and audit.guild.id == place.guild_id:
                await audit.send(embed=embed, allowed_mentions=QUIET)
    except (discord.HTTPException, KeepsakeError) as error:
        log.warning("a whole scope's change was not shown: %s", type(error).__name__)


async def _line(interaction: discord.Interaction, line: str, buttons: OwnView | None) -> None:
    extra: dict[str, Any] = {} if buttons is None else {"view": buttons}
    message = await interaction.edit_original_response(content=line, allowed_mentions=QUIET, **extra)
    if buttons is not None:
        buttons.message = message


async def _view_of(interaction: discord.Interaction, notice: Notice | None) -> NoticeView | None:
    """What a confirmation shows; None when it can't be read: the write is safe, and its line is shown."""
    if notice is None:
        return None
    place, _ = place_and_person(interaction)
    try:
        return await engine_of(interaction).notice_view(notice.id, place)
    except KeepsakeError as error:
        log.warning("notice %s could not be read: %s", notice.id, error)
        return None


async def _posted(interaction: discord.Interaction, notice: Notice, message_id: int) -> None:
    """Record where a confirmation stands. Its write is safe whatever happens here."""
    try:
        await engine_of(interaction).notice_posted(notice.id, message_id)
    except KeepsakeError as error:
        log.warning("notice %s was shown but not recorded: %s", notice.id, error)


def _for_all(interaction: discord.Interaction, view: NoticeView) -> bool:
    """Does this confirmation concern everybody here?"""
    record = view.entry or view.proposal
    server = record is not None and record.scope.kind is SubjectKind.SERVER
    return server and interaction.guild_id is not None
