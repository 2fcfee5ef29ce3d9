"""Questions under an answer that only who asked can see: what to do with words not kept, or a yes and a no.

A second press does nothing. What was typed is kept in the box that opens.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import discord
from discord import ui

from cogs import _outcomes, engine_of
from cogs._inbound import place_and_person
from cogs.views.entry_text import handle
from cogs.views.modals import OwnView, TextModal
from cogs.views.panel import acknowledge
from memory.facts.outcomes import Outcome, OutcomeKind
from memory.types import Person, Place, Scope, SubjectKind


@dataclass(frozen=True, slots=True)
class Draft:
    """Words on their way into an entry. ``memory_id`` None: a new one. ``version``: what was being edited.
    ``orphan``: the entry they were for is gone.
    """

    text: str
    scope: Scope
    memory_id: int | None = None
    version: int | None = None
    pinned: bool = False
    orphan: bool = False
    keywords: tuple[str, ...] = ()

    def modal(self, limit: int) -> TextModal:
        """The box with those words in it."""

        async def submit(sent: discord.Interaction, text: str, _ticked: bool) -> None:
            await keep(sent, replace(self, text=text))

        new = self.memory_id is None
        title = "Add a memory" if new else f"Edit {handle(self.memory_id or 0)}"
        label = "What should I remember?" if new else "What it should say"
        return TextModal(title, label, submit, limit=limit, text=self.text)


async def keep(interaction: discord.Interaction, draft: Draft) -> None:
    """Write a draft and answer with the confirmation, or offer the words back."""
    await _outcomes.carry_out(interaction, _writing(interaction, draft), _offering(interaction, draft))


def _writing(interaction: discord.Interaction, draft: Draft) -> _outcomes.Act:
    facts = engine_of(interaction).facts

    async def act(person: Person, place: Place) -> Outcome:
        if draft.memory_id is None:
            return await facts.add(
                person, place, draft.scope, draft.text, pinned=draft.pinned, keywords=draft.keywords
            )
        return await facts.edit(person, place, draft.memory_id, draft.text, draft.version)

    return act


def _offering(interaction: discord.Interaction, draft: Draft) -> _outcomes.Offer:
    """What can still come of a draft that was not kept: without the right, trying again is no help."""
    user_id = interaction.user.id

    def offer(outcome: Outcome | None) -> OwnView:
        shared = draft.scope.kind is SubjectKind.SERVER
        if shared and outcome is not None and outcome.kind is OutcomeKind.NOT_ALLOWED:
            return SaveAboutMe(user_id, draft)
        if outcome is not None and outcome.kind is OutcomeKind.BAD_TAGS:
            return SaveUntagged(user_id, draft)
        return TryAgain(user_id, draft)

    return offer


class TryAgain(OwnView):
    """The words that were not kept, in the box again; for a new entry when theirs is gone."""

    def __init__(self, opener_id: int, draft: Draft) -> None:
        super().__init__(opener_id)
        self._draft = draft

    @ui.button(label="Try again with my words", style=discord.ButtonStyle.primary)
    async def again(self, interaction: discord.Interaction, _button: ui.Button[Self]) -> None:
        engine, draft = engine_of(interaction), self._draft
        if draft.memory_id is not None:
            place, person = place_and_person(interaction)
            now = await engine.facts.get(person, place, draft.memory_id)
            version = now.version if now else None
            draft = replace(draft, memory_id=now.id if now else None, version=version)
        await interaction.response.send_modal(draft.modal(engine.settings.max_memory_length))


class _Once(OwnView):
    """Buttons of which the first press counts. A later one is acknowledged and does nothing."""

    def __init__(self, opener_id: int) -> None:
        super().__init__(opener_id)
        self._decided = False

    async def _first(self, interaction: discord.Interaction) -> bool:
        if self._decided:
            await acknowledge(interaction)
            return False
        self._decided = True
        return True


class SaveAboutMe(_Once):
    """The same words about who wrote them, for the same personas. The answer becomes the confirmation."""

    def __init__(self, opener_id: int, draft: Draft) -> None:
        super().__init__(opener_id)
        scope = Scope.user(opener_id, draft.scope.lineage)
        self._draft = Draft(draft.text, scope, pinned=draft.pinned, keywords=draft.keywords)

    @ui.button(label="Save it about me", style=discord.ButtonStyle.primary)
    async def save(self, interaction: discord.Interaction, _button: ui.Button[Self]) -> None:
        if await self._first(interaction):
            await interaction.response.edit_message(content="One moment…", view=None)
            draft = self._draft
            await _outcomes.write(interaction, _writing(interaction, draft), _offering(interaction, draft))
            self.stop()


class SaveUntagged(_Once):
    """The same words without the keywords that were refused: always used, until they are tagged."""

    def __init__(self, opener_id: int, draft: Draft) -> None:
        super().__init__(opener_id)
        self._draft = replace(draft, keywords=())

    @ui.button(label="Save it without keywords", style=discord.ButtonStyle.primary)
    async def save(self, interaction: discord.Interaction, _button: ui.Button[Self]) -> None:
        if await self._first(interaction):
            await interaction.response.edit_message(content="One moment…", view=None)
            draft = self._draft
            await _outcomes.write(interaction, _writing(interaction, draft), _offering(interaction, draft))
            self.stop()


class Confirm(_Once):
    """A yes and a no. ``go`` runs at most once; the question is answered already, so it edits that answer.

    ``kept``: what to say when it is refused, or never answered. ``no_first``: the no stands where a question
    before this one had its yes, so that a second press of that one does no harm.
    """

    def __init__(
        self,
        opener_id: int,
        yes: str,
        no: str,
        go: Callable[[discord.Interaction], Awaitable[None]],
        *,
        kept: str = "Kept. Nothing was changed.",
        no_first: bool = False,
    ) -> None:
        super().__init__(opener_id)
        self._go = go
        self._kept = kept
        buttons = [
            (yes, self._yes, discord.ButtonStyle.danger),
            (no, self._no, discord.ButtonStyle.secondary),
        ]
        for label, press, style in reversed(buttons) if no_first else buttons:
            self._add(label, press, style)

    def _add(
        self,
        label: str,
        press: Callable[[discord.Interaction], Awaitable[None]],
        style: discord.ButtonStyle,
    ) -> None:
        button: Any = ui.Button(label=label, style=style)
        button.callback = press
        self.add_item(button)

    async def _yes(self, interaction: discord.Interaction) -> None:
        if await self._first(interaction):
            await interaction.response.edit_message(content="One moment…", view=None)
            await self._go(interaction)
            self.stop()

    async def _no(self, interaction: discord.Interaction) -> None:
        if await self._first(interaction):
            await interaction.response.edit_message(content=self._kept, view=None)
            self.stop()

    async def on_timeout(self) -> None:
        if self.message is not None and not self._decided:
            with contextlib.suppress(discord.HTTPException):
                await self.message.edit(content=self._kept, view=None)
