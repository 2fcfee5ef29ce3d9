"""Confirmations and their buttons (SPEC §4.5).

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
from cogs._inbound import place_and_person
from cogs.views import lines, marks, notice_verbs, standing
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
    "cards": ("Show", discord.ButtonStyle.secondary),
}

CARDS = 5
"""Cards of one line that are shown at once; the panels list everything."""


def buttons(view: NoticeView, *, private: bool = False, whole: bool = False) -> ui.View:
    """The buttons that a confirmation has as things stand now. ``whole``: a card of its line, shown alone."""
    drawn = ui.View(timeout=None)
    line = view.notice.message_id or 0 if view.line is not None and whole else 0
    for verb in notice_verbs.verbs(view, private=private, whole=whole):
        drawn.add_item(NoticeButton(verb, view.notice.id, line))
    drawn.stop()
    return drawn


def form(
    view: NoticeView,
    name_of: _render.NameOf = _render.a_member,
    *,
    note: str = "",
    private: bool = False,
    embeds: bool = True,
    whole: bool = False,
) -> dict[str, Any]:
    """How a confirmation is sent or edited: an embed, or text where we may not embed; its buttons; no pings.

    ``private``: nobody but the entry's owner sees it. ``whole``: the card, where a line stands for it.
    """
    if view.line is not None and not whole:
        line = lines.line_words(view.line)
        return {"content": line, "embed": None, "view": buttons(view), "allowed_mentions": QUIET}
    embed = _render.notice_embed(view, name_of, note=note, private=private)
    return {
        "content": None if embeds else _render.as_text(embed),
        "embed": embed if embeds else None,
        "view": buttons(view, private=private, whole=whole),
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
    template=(
        r"ks:(?P<verb>undo|pin|unpin|edit|widen|approve|discard|show|cards):(?P<id>\d+)(?::(?P<line>\d+))?"
    ),
):
    """One button of a confirmation. ``line``: the message of the line whose card it stands beneath."""

    def __init__(self, verb: str, notice_id: int, line: int = 0) -> None:
        label, style = LABELS[verb]
        named = f"ks:{verb}:{notice_id}:{line}" if line else f"ks:{verb}:{notice_id}"
        super().__init__(ui.Button(label=label, style=style, custom_id=named))
        self.verb = verb
        self.notice_id = notice_id
        self.line = line

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction, item: ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        return cls(match["verb"], int(match["id"]), int(match["line"] or 0))

    async def callback(self, interaction: discord.Interaction) -> None:
        async with _errors.answering(interaction):
            if self.verb == "edit":
                await _open_edit(interaction, self.notice_id, self.line)
            elif self.verb == "show":
                await _show(interaction, self.notice_id, self.line)
            elif self.verb == "cards":
                await _cards(interaction, self.notice_id)
            else:
                await _press(interaction, self.verb, self.notice_id, self.line)


BUTTONS: tuple[type[ui.DynamicItem[Any]], ...] = (NoticeButton, marks.RetryButton, marks.RestoreButton)
"""What the client must know to answer presses on messages from before a restart."""


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


async def _press(interaction: discord.Interaction, verb: str, notice_id: int, line: int) -> None:
    """Acknowledge, act, draw again. A refused press answers with its reason, to who pressed only."""
    await interaction.response.defer()
    place, person = place_and_person(interaction)
    view = await standing.confirmed_here(interaction, notice_id, line)
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
        return await engine_of(interaction).suggestions.decide(
            person, place, view.proposal.id, verb == "approve"
        )
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
    whole = message is not None and message.flags.ephemeral
    await interaction.edit_original_response(
        **form(view, name_of(interaction), note=note, private=private, embeds=embeds, whole=whole)
    )


async def _cards(interaction: discord.Interaction, notice_id: int) -> None:
    """The cards of a line that who pressed may see, each in an answer of its own with its buttons."""
    await interaction.response.defer(ephemeral=True, thinking=True)
    place, person = place_and_person(interaction)
    view = await standing.confirmed_here(interaction, notice_id)
    if isinstance(view, str):
        await interaction.edit_original_response(content=view)
        return
    engine = engine_of(interaction)
    found = [await engine.notice_view(each.id, place) for each in await engine.facts.line_of(notice_id)]
    views = [each for each in found if each is not None]
    mine = [each for each in views if notice_verbs.may_see(each, person, place)]
    await interaction.edit_original_response(content=lines.cards_words(len(mine), len(views), CARDS))
    for each in mine[:CARDS]:
        shown = form(each, name_of(interaction), private=True, whole=True)
        await interaction.followup.send(
            ephemeral=True, **{name: value for name, value in shown.items() if value is not None}
        )


async def _show(interaction: discord.Interaction, notice_id: int, line: int) -> None:
    await interaction.response.defer(ephemeral=True, thinking=True)
    place, person = place_and_person(interaction)
    view = await standing.confirmed_here(interaction, notice_id, line)
    if isinstance(view, str) or (gone := notice_verbs.out_of_reach(view)):
        await interaction.edit_original_response(content=view if isinstance(view, str) else gone)
    elif not notice_verbs.may_see(view, person, place):
        said = notice_verbs.refusal(view, "show", person) or KEPT_FOR_DMS
        await interaction.edit_original_response(content=said)
    else:
        shown = _render.changed_embed(view, name_of(interaction))
        await interaction.edit_original_response(embed=shown, allowed_mentions=QUIET)


async def _open_edit(interaction: discord.Interaction, notice_id: int, line: int) -> None:
    """The text box must be the first answer within three seconds: only reads happen before it.

    It opens for nobody who may not write the entry; the engine judges again when it is sent.
    """
    place, person = place_and_person(interaction)
    view = await standing.confirmed_here(interaction, notice_id, line)
    if isinstance(view, str) or view.entry is None:
        await _errors.whisper(interaction, view if isinstance(view, str) else GONE)
        return
    if refused := (
        notice_verbs.refusal(view, "edit", person)
        or notice_verbs.out_of_reach(view)
        or await may_not_write(interaction, view.entry.scope)
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
