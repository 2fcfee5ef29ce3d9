"""Confirmations and their buttons (SPEC §4.5), the Retry of a failed turn, the Restore of a refresh.

A button's id says what it does and to which record, so it works after a restart. Nothing is trusted from the
message: at each press the record is read again, :mod:`cogs.views.standing` says whether it stands in that
message, and the engine judges who pressed. The answer is the message drawn again, or one line that only who
pressed can see.
"""

from __future__ import annotations

import logging
import re
from typing import Any, Self

import discord
from discord import ui

from cogs import _errors, _render, engine_of
from cogs._delivery import QUIET, TROUBLE
from cogs._entries import may_not_write, name_of
from cogs._inbound import RETRY_ID, place_and_person
from cogs.views import notice_verbs, standing
from cogs.views.entry_text import handle, outcome_words
from cogs.views.modals import OwnView, TextModal
from cogs.views.notice_verbs import GONE, GONE_SINCE, GONE_SINCE_HERE, KEPT_FOR_DMS
from memory.errors import KeepsakeError
from memory.facts.outcomes import Outcome, OutcomeKind
from memory.ports import NoticeView
from memory.types import Memory, Notice, Person, Place

log = logging.getLogger(__name__)

LABELS = {
    "undo": ("Undo", discord.ButtonStyle.secondary),
    "pin": ("Pin", discord.ButtonStyle.secondary),
    "unpin": ("Unpin", discord.ButtonStyle.secondary),
    "edit": ("Edit", discord.ButtonStyle.secondary),
    "widen": ("Use everywhere", discord.ButtonStyle.secondary),
    "approve": ("Approve", discord.ButtonStyle.success),
    "discard": ("Discard", discord.ButtonStyle.danger),
    "show": ("Show what changed", discord.ButtonStyle.secondary),
}


def buttons(view: NoticeView, *, private: bool = False) -> ui.View:
    """The buttons that a confirmation has as things stand now."""
    drawn = ui.View(timeout=None)
    for verb in notice_verbs.verbs(view, private=private):
        drawn.add_item(NoticeButton(verb, view.notice.id))
    drawn.stop()
    return drawn


def form(
    view: NoticeView,
    name_of: _render.NameOf = _render.a_member,
    *,
    note: str = "",
    private: bool = False,
    embeds: bool = True,
) -> dict[str, Any]:
    """How a confirmation is sent or edited: an embed, or text where we may not embed; its buttons; no pings.

    ``private``: nobody but the entry's owner sees it.
    """
    embed = _render.notice_embed(view, name_of, note=note, private=private)
    return {
        "content": None if embeds else _render.as_text(embed),
        "embed": embed if embeds else None,
        "view": buttons(view, private=private),
        "allowed_mentions": QUIET,
    }


def may_embed(channel: object) -> bool:
    """May we show embeds there? What can't be told counts as yes: a message without one is never empty."""
    me = getattr(getattr(channel, "guild", None), "me", None)
    if me is None or not isinstance(channel, discord.abc.GuildChannel | discord.Thread):
        return True
    try:
        return channel.permissions_for(me).embed_links
    except discord.ClientException:
        return True


class NoticeButton(
    ui.DynamicItem[ui.Button[Any]],
    template=r"ks:(?P<verb>undo|pin|unpin|edit|widen|approve|discard|show):(?P<id>\d+)",
):
    """One button of a confirmation."""

    def __init__(self, verb: str, notice_id: int) -> None:
        label, style = LABELS[verb]
        super().__init__(ui.Button(label=label, style=style, custom_id=f"ks:{verb}:{notice_id}"))
        self.verb = verb
        self.notice_id = notice_id

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction, item: ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        return cls(match["verb"], int(match["id"]))

    async def callback(self, interaction: discord.Interaction) -> None:
        async with _errors.answering(interaction):
            if self.verb == "edit":
                await _open_edit(interaction, self.notice_id)
            elif self.verb == "show":
                await _show(interaction, self.notice_id)
            else:
                await _press(interaction, self.verb, self.notice_id)


class RetryButton(ui.DynamicItem[ui.Button[Any]], template=RETRY_ID):
    """Beneath the line of a failed turn: runs it again."""

    def __init__(self, turn_id: int) -> None:
        super().__init__(
            ui.Button(label="Retry", style=discord.ButtonStyle.primary, custom_id=f"ks:retry:{turn_id}")
        )
        self.turn_id = turn_id

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction, item: ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        return cls(int(match["id"]))

    async def callback(self, interaction: discord.Interaction) -> None:
        async with _errors.answering(interaction):
            await interaction.response.defer()
            place, person = place_and_person(interaction)
            refusal: str | None = standing.no_retry(interaction)
            if not refusal:
                asked = interaction.message.reference if interaction.message else None
                answers = asked.message_id if asked else None
                refusal = await engine_of(interaction).retry(person, place, self.turn_id, answers)
            if refusal is not None:
                await _errors.whisper(interaction, refusal)
            else:
                await interaction.delete_original_response()


class RestoreButton(ui.DynamicItem[ui.Button[Any]], template=r"ks:restore:(?P<id>\d+)"):
    """On the marker of a `/refresh`: undoes it. Manage Server; in a DM the member (SPEC §12)."""

    def __init__(self, marker_id: int) -> None:
        super().__init__(
            ui.Button(
                label="Restore", style=discord.ButtonStyle.secondary, custom_id=f"ks:restore:{marker_id}"
            )
        )
        self.marker_id = marker_id

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction, item: ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        return cls(int(match["id"]))

    async def callback(self, interaction: discord.Interaction) -> None:
        async with _errors.answering(interaction):
            await interaction.response.defer()
            place, person = place_and_person(interaction)
            if refused := standing.no_marker(interaction, self.marker_id):
                await _errors.whisper(interaction, refused)
                return
            if not (place.is_dm or person.manages):
                await _errors.whisper(
                    interaction, "Restoring needs the Manage Server permission. Nothing was changed."
                )
                return
            if not await engine_of(interaction).restore(place, person, self.marker_id):
                await _errors.whisper(interaction, "That was already restored.")
                return
            await interaction.edit_original_response(
                embed=_render.restored_embed(person.name), view=None, allowed_mentions=QUIET
            )


BUTTONS: tuple[type[ui.DynamicItem[Any]], ...] = (NoticeButton, RetryButton, RestoreButton)
"""What the client must know to answer presses on messages from before a restart."""


def one(item: ui.DynamicItem[Any]) -> ui.View:
    """A message's only button."""
    drawn = ui.View(timeout=None)
    drawn.add_item(item)
    drawn.stop()
    return drawn


async def redraw(client: discord.Client, outcome: Outcome, *, but: int = 0) -> None:
    """Draw the earlier confirmations of an entry again where they stand in their channels. Never raises.

    ``but``: the message that was drawn already.
    """
    for notice in outcome.redraws:
        if notice.message_id != but:
            await _draw_again(client, notice)


async def _draw_again(client: discord.Client, notice: Notice) -> None:
    channel = client.get_channel(notice.channel_id) or client.get_partial_messageable(notice.channel_id)
    message: Any = getattr(channel, "get_partial_message", lambda _id: None)(notice.message_id)
    if notice.message_id is None or message is None:
        return
    try:
        view = await engine_of(client).notice_view(notice.id, Place(notice.channel_id, notice.guild_id))
        if view is not None:
            await message.edit(**form(view, private=notice.guild_id is None, embeds=may_embed(channel)))
    except (KeepsakeError, *TROUBLE) as error:
        log.info("a confirmation could not be drawn again: %s", type(error).__name__)


async def _press(interaction: discord.Interaction, verb: str, notice_id: int) -> None:
    """Acknowledge, act, draw again. A refused press answers with its reason, to who pressed only."""
    await interaction.response.defer()
    place, person = place_and_person(interaction)
    view = await standing.confirmed_here(interaction, notice_id)
    if isinstance(view, str):
        await _errors.whisper(interaction, view)
        return
    if refused := notice_verbs.refusal(view, verb, person):
        await _errors.whisper(interaction, refused)
        return
    if already := notice_verbs.already(view, verb):
        await _errors.whisper(interaction, already)
        await _draw(interaction, view)
        return
    outcome = await _act(interaction, verb, view, place, person)
    if outcome is None:
        await _errors.whisper(interaction, GONE)
        return
    note = _NOTES.get(verb, "").format(name=person.name)
    if not await _answer(interaction, outcome, notice_id, note, becomes=verb == "approve"):
        await _errors.whisper(interaction, _refused(interaction, outcome, view))


_NOTES = {"undo": "undone by {name}", "approve": "approved by {name}", "discard": "by {name}"}


def _refused(interaction: discord.Interaction, outcome: Outcome, view: NoticeView) -> str:
    """Why a press did nothing. What its confirmation is about is seen, so it is never “no such memory”."""
    if outcome.kind is OutcomeKind.NOT_FOUND and not outcome.detail:
        return _gone_since(interaction, view)
    return outcome_words(outcome, name_of(interaction))


def _gone_since(interaction: discord.Interaction, view: NoticeView) -> str:
    place, person = place_and_person(interaction)
    elsewhere = notice_verbs.is_theirs(view, person) and not place.is_dm
    return GONE_SINCE_HERE if elsewhere else GONE_SINCE


async def _act(
    interaction: discord.Interaction, verb: str, view: NoticeView, place: Place, person: Person
) -> Outcome | None:
    facts = engine_of(interaction).facts
    if verb in ("approve", "discard"):
        if view.proposal is None:
            return None
        return await facts.decide(person, place, view.proposal.id, verb == "approve")
    if view.entry is None:
        return None
    if verb == "undo":
        return await facts.undo(person, place, view.entry.id)
    if verb == "widen":
        return await facts.widen(person, place, view.entry.memory_id)
    return await facts.pin(person, place, view.entry.memory_id, verb == "pin")


async def _answer(
    interaction: discord.Interaction, outcome: Outcome, notice_id: int, note: str, *, becomes: bool
) -> bool:
    """Show what became of a press; returns whether it was done. The message stands for its write, too.

    ``becomes``: the message turns into that write's own confirmation (an edit; an approved proposal).
    """
    done = outcome.wrote or outcome.kind is OutcomeKind.DISCARDED
    made = outcome.notice if outcome.wrote else None
    shown = made.id if made is not None and becomes else notice_id
    try:
        current = await _after(interaction, made, shown)
    except KeepsakeError as error:
        if not done:
            raise
        log.warning("a press was done and could not be shown: %s", error)
        await _errors.whisper(interaction, outcome_words(outcome, name_of(interaction)))
        return True
    if current is not None:
        await _draw(interaction, current, note if done else "")
    await redraw(interaction.client, outcome, but=interaction.message.id if interaction.message else 0)
    if done and outcome.note:
        await _errors.whisper(interaction, outcome.note)
    return done


async def _after(interaction: discord.Interaction, made: Notice | None, shown: int) -> NoticeView | None:
    """Record that the pressed message stands for the write that was ``made``; what to show in it now."""
    engine = engine_of(interaction)
    if made is not None and interaction.message is not None:
        await engine.notice_posted(made.id, interaction.message.id)
    return await engine.notice_view(shown, place_and_person(interaction)[0])


async def _draw(interaction: discord.Interaction, view: NoticeView, note: str = "") -> None:
    """Show a confirmation as it is now in the pressed message, as text where it stands as text."""
    place, person = place_and_person(interaction)
    message = interaction.message
    alone = place.is_dm or (message is not None and message.flags.ephemeral)
    private = alone and notice_verbs.may_see(view, person, place)
    embeds = alone or may_embed(interaction.channel)
    await interaction.edit_original_response(
        **form(view, name_of(interaction), note=note, private=private, embeds=embeds)
    )


async def _show(interaction: discord.Interaction, notice_id: int) -> None:
    await interaction.response.defer(ephemeral=True, thinking=True)
    place, person = place_and_person(interaction)
    view = await standing.confirmed_here(interaction, notice_id)
    if isinstance(view, str):
        await interaction.edit_original_response(content=view)
    elif not notice_verbs.may_see(view, person, place):
        said = notice_verbs.refusal(view, "show", person) or KEPT_FOR_DMS
        await interaction.edit_original_response(content=said)
    else:
        shown = _render.changed_embed(view, name_of(interaction))
        await interaction.edit_original_response(embed=shown, allowed_mentions=QUIET)


async def _open_edit(interaction: discord.Interaction, notice_id: int) -> None:
    """The text box must be the first answer within three seconds: only reads happen before it.

    It opens for nobody who may not write the entry; the engine judges again when it is sent.
    """
    place, person = place_and_person(interaction)
    view = await standing.confirmed_here(interaction, notice_id)
    if isinstance(view, str) or view.entry is None:
        await _errors.whisper(interaction, view if isinstance(view, str) else GONE)
        return
    if refused := notice_verbs.refusal(view, "edit", person) or await may_not_write(
        interaction, view.entry.scope
    ):
        await _errors.whisper(interaction, refused)
        return
    memory = await engine_of(interaction).facts.get(person, place, view.entry.memory_id)
    if memory is None:
        await _errors.whisper(interaction, _gone_since(interaction, view))
        return
    await interaction.response.send_modal(_edit_box(interaction, memory, notice_id, memory.text))


def _edit_box(interaction: discord.Interaction, memory: Memory, notice_id: int, text: str) -> TextModal:
    async def submit(sent: discord.Interaction, text: str, _ticked: bool) -> None:
        await sent.response.defer()
        place, person = place_and_person(sent)
        facts = engine_of(sent).facts
        try:
            outcome = await facts.edit(person, place, memory.id, text, expected_version=memory.version)
        except KeepsakeError as error:
            await _offer_again(sent, _errors.known(error), _EditAgain(memory, notice_id, text))
            return
        if not await _answer(sent, outcome, notice_id, f"by {person.name}", becomes=True):
            said = outcome_words(outcome, name_of(sent))
            await _offer_again(sent, said, _EditAgain(memory, notice_id, text))

    return TextModal(
        f"Edit {handle(memory.id)}",
        "What I should remember",
        submit,
        limit=engine_of(interaction).settings.max_memory_length,
        text=text,
    )


async def _offer_again(interaction: discord.Interaction, said: str, button: _EditAgain) -> None:
    again = OwnView(interaction.user.id)
    again.add_item(button)
    again.message = await interaction.followup.send(
        said, ephemeral=True, view=again, allowed_mentions=QUIET, wait=True
    )


class _EditAgain(ui.Button[OwnView]):
    """Opens the box again with what was typed, so that a refused text is not lost."""

    def __init__(self, memory: Memory, notice_id: int, text: str) -> None:
        super().__init__(label="Edit again", style=discord.ButtonStyle.primary)
        self._memory = memory
        self._notice_id = notice_id
        self._text = text

    async def callback(self, interaction: discord.Interaction) -> None:
        async with _errors.answering(interaction):
            place, person = place_and_person(interaction)
            now = await engine_of(interaction).facts.get(person, place, self._memory.id)
            box = _edit_box(interaction, now or self._memory, self._notice_id, self._text)
            await interaction.response.send_modal(box)
