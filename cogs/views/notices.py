"""Confirmations and their buttons (SPEC §4.5), the Retry of a failed turn, the Restore of a refresh.

A button's id says what it does and to which record, so it works after a restart. Nothing is trusted from the
message: at each press the record is read again and the engine judges who pressed. The answer is the message
drawn again, or one line that only who pressed can see.
"""

from __future__ import annotations

import logging
import re
from typing import Any, Self

import discord
from discord import ui

from cogs import _errors, _render, engine_of
from cogs._entries import name_of
from cogs._inbound import place_and_person
from cogs.views.modals import OwnView, TextModal
from memory.errors import KeepsakeError
from memory.facts.outcomes import Outcome, OutcomeKind
from memory.ports import NoticeView
from memory.types import Memory, Notice, Person, Place, ProposalState, SubjectKind

log = logging.getLogger(__name__)

QUIET = discord.AllowedMentions.none()

GONE = "That is no longer stored, so there is nothing to change."
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

embed = _render.notice_embed


def buttons(view: NoticeView) -> ui.View:
    """The buttons that a confirmation has as things stand now."""
    drawn = ui.View(timeout=None)
    for verb in verbs(view):
        drawn.add_item(NoticeButton(verb, view.notice.id))
    drawn.stop()
    return drawn


def verbs(view: NoticeView) -> list[str]:
    """What can be done with a confirmation now."""
    if view.proposal is not None:
        if view.proposal.state is not ProposalState.WAITING:
            return []
        return ["approve", "discard", *(["show"] if _render.has_hidden_text(view) else [])]
    if view.entry is None or _render.is_undone(view):
        return []
    found = ["undo"]
    if view.memory is not None:
        found += ["unpin" if view.memory.pinned else "pin", "edit"]
        found += ["widen"] if view.memory.dm_only else []
    return [*found, "show"] if _render.has_hidden_text(view) else found


def may_see(view: NoticeView, person: Person, place: Place) -> bool:
    """May this person read the old text? A server's: who is there. A personal one: its owner alone."""
    record = view.entry or view.proposal
    if record is None:
        return False
    if record.scope.kind is SubjectKind.SERVER:
        return place.guild_id == record.scope.subject_id
    before = view.entry.before if view.entry is not None else view.memory
    kept_for_dms = before is not None and before.dm_only and not place.is_dm
    return record.scope.subject_id == person.id and not kept_for_dms


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


class RetryButton(ui.DynamicItem[ui.Button[Any]], template=r"ks:retry:(?P<id>\d+)"):
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
            refusal = await engine_of(interaction).retry(person, place, self.turn_id)
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
            if not (place.is_dm or person.manages):
                await _errors.whisper(
                    interaction, "Restoring needs the Manage Server permission. Nothing was changed."
                )
                return
            if not await engine_of(interaction).restore(place, person, self.marker_id):
                await _errors.whisper(interaction, "That was already restored.")
                return
            await interaction.edit_original_response(
                embed=restored_embed(person.name), view=None, allowed_mentions=QUIET
            )


BUTTONS: tuple[type[ui.DynamicItem[Any]], ...] = (NoticeButton, RetryButton, RestoreButton)
"""What the client must know to answer presses on messages from before a restart."""


def one(item: ui.DynamicItem[Any]) -> ui.View:
    """A message's only button."""
    drawn = ui.View(timeout=None)
    drawn.add_item(item)
    drawn.stop()
    return drawn


def refresh_embed(name: str) -> discord.Embed:
    """The marker of a fresh start."""
    return discord.Embed(
        title="Fresh start",
        description=(
            "I no longer use what was said above this line. Saved memories stay."
            f"\n-# by {_render.escape(name)} · Restore, or deleting this message, undoes it"
        ),
        colour=_render.WAITING,
    )


def restored_embed(name: str) -> discord.Embed:
    return discord.Embed(
        title="Fresh start undone",
        description=(f"I use what was said above this line again.\n-# restored by {_render.escape(name)}"),
        colour=_render.GREY,
    )


async def redraw(client: discord.Client, notice: Notice) -> None:
    """Draw a confirmation again where it stands in its channel. Never raises."""
    channel = client.get_channel(notice.channel_id)
    message: Any = getattr(channel, "get_partial_message", lambda _id: None)(notice.message_id)
    if notice.message_id is None or message is None:
        return
    try:
        view = await engine_of(client).notice_view(notice.id, Place(notice.channel_id, notice.guild_id))
        if view is not None:
            await message.edit(embed=embed(view), view=buttons(view), allowed_mentions=QUIET)
    except (KeepsakeError, discord.HTTPException) as error:
        log.info("a confirmation could not be drawn again: %s", type(error).__name__)


async def _press(interaction: discord.Interaction, verb: str, notice_id: int) -> None:
    """Acknowledge, act, draw again. A refused press answers with its reason, to who pressed only."""
    await interaction.response.defer()
    place, person = place_and_person(interaction)
    view = await engine_of(interaction).notice_view(notice_id, place)
    if view is None:
        await _errors.whisper(interaction, GONE)
        return
    if already := _already(view, verb):
        await _errors.whisper(interaction, already)
        await _draw(interaction, view)
        return
    outcome = await _act(interaction, verb, view, place, person)
    if outcome is None:
        await _errors.whisper(interaction, GONE)
        return
    note = _NOTES.get(verb, "").format(name=person.name)
    if not await _answer(interaction, outcome, notice_id, note, becomes=verb == "approve"):
        await _errors.whisper(interaction, outcome.line())


_NOTES = {"undo": "undone by {name}", "approve": "approved by {name}", "discard": "by {name}"}


def _already(view: NoticeView, verb: str) -> str:
    """What a second press is told: the same thing is not done twice."""
    if view.entry is not None and _render.is_undone(view):
        return "That was already undone."
    if view.proposal is not None and view.proposal.state is not ProposalState.WAITING:
        return f"That was already decided: {view.proposal.state.value}."
    if verb in ("pin", "unpin") and view.memory is not None and view.memory.pinned == (verb == "pin"):
        return "It is pinned already." if verb == "pin" else "It is not pinned any more."
    return ""


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
    engine = engine_of(interaction)
    place, _ = place_and_person(interaction)
    done = outcome.wrote or outcome.kind is OutcomeKind.DISCARDED
    made = outcome.notice if outcome.wrote else None
    if made is not None and interaction.message is not None:
        await engine.notice_posted(made.id, interaction.message.id)
    shown = made.id if made is not None and becomes else notice_id
    current = await engine.notice_view(shown, place)
    if current is not None:
        await _draw(interaction, current, note if done else "")
    if outcome.redraw is not None and outcome.redraw.id not in (shown, notice_id):
        await redraw(interaction.client, outcome.redraw)
    return done


async def _draw(interaction: discord.Interaction, view: NoticeView, note: str = "") -> None:
    drawn = embed(view, name_of(interaction), note=note)
    await interaction.edit_original_response(embed=drawn, view=buttons(view), allowed_mentions=QUIET)


async def _show(interaction: discord.Interaction, notice_id: int) -> None:
    await interaction.response.defer(ephemeral=True, thinking=True)
    place, person = place_and_person(interaction)
    view = await engine_of(interaction).notice_view(notice_id, place)
    if view is None:
        await interaction.edit_original_response(content=GONE)
    elif not may_see(view, person, place):
        await interaction.edit_original_response(
            content="Only the member it is about can see that, and what was kept for DMs only there."
        )
    else:
        shown = _render.changed_embed(view, name_of(interaction))
        await interaction.edit_original_response(embed=shown, allowed_mentions=QUIET)


async def _open_edit(interaction: discord.Interaction, notice_id: int) -> None:
    """The text box must be the first answer within three seconds: only reads happen before it."""
    place, person = place_and_person(interaction)
    engine = engine_of(interaction)
    view = await engine.notice_view(notice_id, place)
    entry = view.entry if view is not None else None
    memory = await engine.facts.get(person, place, entry.memory_id) if entry is not None else None
    if memory is None:
        theirs = view is not None and view.memory is not None
        await _errors.whisper(interaction, "Only the member it is about can edit that." if theirs else GONE)
        return
    await interaction.response.send_modal(_edit_box(interaction, memory, notice_id, memory.text))


def _edit_box(interaction: discord.Interaction, memory: Memory, notice_id: int, text: str) -> TextModal:
    async def submit(interaction: discord.Interaction, text: str, _ticked: bool) -> None:
        await interaction.response.defer()
        place, person = place_and_person(interaction)
        facts = engine_of(interaction).facts
        outcome = await facts.edit(person, place, memory.id, text, expected_version=memory.version)
        if not await _answer(interaction, outcome, notice_id, f"by {person.name}", becomes=True):
            again = OwnView(person.id)
            again.add_item(_EditAgain(memory, notice_id, text))
            await interaction.followup.send(
                outcome.line(), ephemeral=True, view=again, allowed_mentions=QUIET
            )

    return TextModal(
        f"Edit m{memory.id}",
        "What I should remember",
        submit,
        limit=engine_of(interaction).settings.max_memory_length,
        text=text,
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
