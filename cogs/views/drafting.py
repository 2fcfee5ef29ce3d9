"""Where drafts come from: picked messages, or a description. Their review is :mod:`cogs.views.review`.

What was picked or described is never lost: whatever goes wrong on the way to the drafts, it is offered again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import discord
from discord import ui

from cogs import _errors, _render, engine_of
from cogs._delivery import TROUBLE
from cogs._entries import name_of
from cogs._inbound import incoming, is_notice, place_and_person
from cogs.views.entry_text import outcome_words, quoted
from cogs.views.modals import TextModal
from cogs.views.pages import cut
from cogs.views.panel import Drawing
from cogs.views.review import SAID_UNITS, DraftPanel, ReviewPanel, shelf_title
from memory.errors import KeepsakeError, ModelError
from memory.facts.drafts import DESCRIPTION, PICKED, Drafts, Pick
from memory.facts.outcomes import Outcome, OutcomeKind
from memory.types import Incoming, Scope, SubjectKind

if TYPE_CHECKING:
    from memory.engine import Engine

OFFERED = 25
"""Messages that are offered: what one select holds (Discord)."""

MENU = "Save to memory"

_BLURPLE = discord.Colour(0x5865F2)
_FIRST, _RED = discord.ButtonStyle.primary, discord.ButtonStyle.danger
DESCRIPTION_UNITS = 2_200
"""Room for a description: the longest one, each character escaped."""

MOST_SCOPES = 25
"""Scopes to choose from: what one select holds (Discord)."""

NO_SCOPE = (
    "That scope is not known here, so nothing was drafted yet. Choose one below; in a direct message there is"
    " no server to remember things about."
)

_WORKING = "⏳ Writing drafts… Nothing is saved before you have seen them."


class SourcePanel(DraftPanel):
    """What drafts are made of, kept until they are saved or given up, and the scope that they are for."""

    pinned = from_chat = False

    def __init__(self, engine: Engine, opener_id: int) -> None:
        super().__init__(opener_id)
        self._engine = engine
        self._names: _render.NameOf = _render.a_member
        self._scopes: tuple[tuple[Scope, str], ...] = ()
        self._scope: Scope | None = None
        self._said = ""
        self._working = self._cancelled = False

    async def load(self, interaction: discord.Interaction) -> None:
        """The scopes that this person may write now, their own first; who chose another is told."""
        place, person = place_and_person(interaction)
        self._names = name_of(interaction)
        found = await self._engine.facts.shelves(person, place)
        shelves = [each for each in found if each.may_write][:MOST_SCOPES]
        shelves.sort(key=lambda each: each.scope.kind is not SubjectKind.USER)
        self._scopes = tuple((each.scope, shelf_title(each)) for each in shelves)
        if self._scope not in [scope for scope, _ in self._scopes]:
            if self._scope is not None:
                self._said = outcome_words(Outcome(OutcomeKind.NOT_ALLOWED, scope=self._scope), self._names)
            self._scope = self._scopes[0][0]

    def draw(self) -> Iterable[ui.Item[Any]]:
        box: ui.Container[Drawing] = ui.Container(accent_colour=_BLURPLE)
        if self._cancelled:
            box.add_item(ui.TextDisplay("Cancelled. Nothing was saved."))
        elif self._working:
            box.add_item(ui.TextDisplay(_WORKING))
        else:
            self._fill(box)
        yield box
        self._said = ""

    def _fill(self, box: ui.Container[Drawing]) -> None:
        raise NotImplementedError

    def _add_said(self, box: ui.Container[Drawing]) -> None:
        if self._said:
            box.add_item(ui.TextDisplay(f"⚠️ {cut(self._said, SAID_UNITS)}"))

    def _add_scopes(self, box: ui.Container[Drawing]) -> None:
        box.add_item(ui.TextDisplay("**Whom they are about, and for which personas**"))
        options = [
            discord.SelectOption(label=cut(title, 100), value=str(number), default=scope == self._scope)
            for number, (scope, title) in enumerate(self._scopes)
        ]
        box.add_item(ui.ActionRow(self.select("Choose", options, self._choose)))

    async def _choose(self, interaction: discord.Interaction, value: str) -> None:
        self._scope = self._scopes[int(value)][0]
        await self.redraw(interaction)

    async def work(
        self, interaction: discord.Interaction, make: Callable[[], Awaitable[Drafts | None]]
    ) -> None:
        """Make drafts and show their review, or say why there are none. None: it was said already."""
        self._working = True
        if not interaction.response.is_done():
            await self.redraw(interaction)
        found: Drafts | None = None
        try:
            found = await make()
            if found is not None and not found.drafts:
                self._said = (
                    f"There is nothing worth keeping in it, so nothing was saved. {found.note}".strip()
                )
        except ModelError as error:
            self._said = f"{_errors.known(error)} Nothing was saved, and nothing is lost: this is kept here."
        except KeepsakeError as error:
            self._said = _errors.known(error)
        finally:
            self._working = False
        if found is None or not found.drafts or self._scope is None:
            await self.redraw(interaction)
            return
        review = ReviewPanel(
            self._engine,
            self.opener_id,
            found,
            self._scope,
            pinned=self.pinned,
            from_chat=self.from_chat,
            back=self.redraw,
            reopen=self.reopen,
        )
        with contextlib.suppress(KeepsakeError):
            await review.load(interaction)
        await review.redraw(interaction)

    async def _cancel(self, interaction: discord.Interaction) -> None:
        self._cancelled = True
        await self.redraw(interaction)


class DescriptionPanel(SourcePanel):
    """A description that a member gave. The chat is not read."""

    reopen = "Run `/memory generate` to begin again."

    def __init__(self, engine: Engine, opener_id: int, description: str, scope: Scope | None) -> None:
        super().__init__(engine, opener_id)
        self._description = description
        self._scope = scope

    async def begin(self, interaction: discord.Interaction) -> None:
        """Draft at once, unless there is something to choose first."""
        unknown = self._scope is None
        await self.load(interaction)
        if unknown:
            self._said = NO_SCOPE
        if self._said:
            await self.open(interaction)
        else:
            await self._draft(interaction)

    def _fill(self, box: ui.Container[Drawing]) -> None:
        box.add_item(ui.TextDisplay("## Draft memories from a description"))
        self._add_said(box)
        box.add_item(ui.TextDisplay(cut(quoted(self._description, self._names), DESCRIPTION_UNITS)))
        self._add_scopes(box)
        box.add_item(
            ui.ActionRow(
                self.button("Draft", self._draft, style=_FIRST),
                self.button("Change the description", self._ask),
                self.button("Cancel", self._cancel, style=_RED),
            )
        )

    async def _draft(self, interaction: discord.Interaction) -> None:
        place, person = place_and_person(interaction)

        async def make() -> Drafts:
            return await self._engine.drafts.from_description(person, place, self._description)

        await self.work(interaction, make)

    async def _ask(self, interaction: discord.Interaction) -> None:
        async def submit(sent: discord.Interaction, text: str, _ticked: bool) -> None:
            self._description = text
            await self.redraw(sent)

        box = TextModal("Draft memories", "Description", submit, limit=DESCRIPTION, text=self._description)
        await interaction.response.send_modal(box)


class PickPanel(SourcePanel):
    """Messages around the one that was clicked, to be picked."""

    reopen = f"Choose **Apps → {MENU}** on the message to begin again."
    pinned = from_chat = True

    def __init__(
        self, engine: Engine, opener_id: int, clicked: discord.Message, offered: Sequence[Pick]
    ) -> None:
        super().__init__(engine, opener_id)
        self._clicked = clicked
        self._offered = {pick.id: pick for pick in _nearest(offered, clicked.id)}
        self._picked = [clicked.id]

    def _fill(self, box: ui.Container[Drawing]) -> None:
        box.add_item(ui.TextDisplay(f"## {MENU}\n{_HOW}"))
        self._add_said(box)
        box.add_item(ui.Separator())
        if not self._offered:
            box.add_item(ui.TextDisplay("No message is left to pick. Nothing was saved."))
            box.add_item(ui.ActionRow(self.button("Cancel", self._cancel, style=_RED)))
            return
        box.add_item(ui.TextDisplay(f"**Messages** · {len(self._picked)} picked, at most {PICKED}"))
        options = [self._option(pick) for pick in self._offered.values()]
        most = min(PICKED, len(options))
        box.add_item(ui.ActionRow(self.choices("Pick messages", options, self._pick, most=most)))
        self._add_scopes(box)
        if not self._engine.model.info.configured:
            box.add_item(
                ui.TextDisplay("-# No model is configured: **Draft with AI** gives their own sentences.")
            )
        box.add_item(
            ui.ActionRow(
                self.button("Draft with AI", partial(self._make, model=True), style=_FIRST),
                self.button("Use as-is", partial(self._make, model=False)),
                self.button("Cancel", self._cancel, style=_RED),
            )
        )

    def _option(self, pick: Pick) -> discord.SelectOption:
        words = " ".join(_render.named(pick.text, self._names).split())
        return discord.SelectOption(
            label=cut(words, 100),
            description=cut(f"{pick.author.name} · {pick.at}", 100),
            value=str(pick.id),
            default=pick.id in self._picked,
        )

    async def _pick(self, interaction: discord.Interaction, values: list[str]) -> None:
        chosen = {int(value) for value in values}
        self._picked = [message_id for message_id in self._offered if message_id in chosen]
        await self.redraw(interaction)

    async def _make(self, interaction: discord.Interaction, *, model: bool) -> None:
        place, _ = place_and_person(interaction)

        async def make() -> Drafts | None:
            if not await self._still_there(interaction):
                return None
            picks = [self._offered[message_id] for message_id in self._picked]
            if not model:
                return await self._engine.drafts.as_is(place, picks)
            named = next((pick for pick in picks if pick.id == self._clicked.id), None)
            return await self._engine.drafts.from_messages(place, picks, named)

        await self.work(interaction, make)

    async def _still_there(self, interaction: discord.Interaction) -> bool:
        """Read the picked messages again. What was deleted meanwhile is picked no more, and is said."""
        now = await around(interaction, self._clicked)
        if now is None:
            return True  # they can't be read again: what was read first counts
        place, _ = place_and_person(interaction)
        fresh = {pick.id: pick for pick in await self._engine.pickable(place, now)}
        self._offered |= {key: pick for key, pick in fresh.items() if key in self._offered}
        gone = [key for key in self._picked if key not in fresh and await self._is_gone(interaction, key)]
        if not gone:
            return True
        self._offered = {key: pick for key, pick in self._offered.items() if key not in gone}
        self._picked = [key for key in self._picked if key in self._offered]
        what = "1 picked message was" if len(gone) == 1 else f"{len(gone)} picked messages were"
        self._said = (
            f"{what} deleted meanwhile, or can't be saved any more. Nothing was saved."
            " Look at what is picked now, then choose again."
        )
        return False

    async def _is_gone(self, interaction: discord.Interaction, message_id: int) -> bool:
        """Not among its neighbours any more: deleted, or only pushed out of sight by new ones?"""
        channel: Any = interaction.channel
        try:
            message = await channel.fetch_message(message_id)
        except discord.NotFound:
            return True
        except TROUBLE:
            return False
        said = _said(interaction, message)
        place, _ = place_and_person(interaction)
        return said is None or not await self._engine.pickable(place, [said])


_HOW = (
    "Pick the messages, then let a model draft entries from them or use their words as they are. You see"
    " every entry before it is saved; they are saved pinned."
)


async def around(interaction: discord.Interaction, clicked: discord.Message) -> list[Incoming] | None:
    """The messages around the clicked one, oldest first, it among them while it stands.

    None when they can't be read, by us or by who asks: who may not read the history is offered none of it.
    """
    channel: Any = interaction.channel
    if channel is None or not (interaction.guild_id is None or interaction.permissions.read_message_history):
        return None
    try:
        found = [message async for message in channel.history(limit=OFFERED, around=clicked)]
    except TROUBLE:
        return None
    heard = [said for message in found if (said := _said(interaction, message)) is not None]
    return sorted(heard, key=lambda each: each.message_id)


def clicked_message(interaction: discord.Interaction, message: discord.Message) -> Incoming | None:
    """The clicked message as the engine sees it; None for a system line, a notice or a panel of ours."""
    return _said(interaction, message)


def _said(interaction: discord.Interaction, message: discord.Message) -> Incoming | None:
    me = interaction.client.user
    if me is None or (message.author.id == me.id and is_notice(message)):
        return None
    personas = engine_of(interaction).personas
    return incoming(message, me.id, personas.speaks_through(message.webhook_id))


def _nearest(offered: Sequence[Pick], clicked_id: int) -> list[Pick]:
    """At most as many as a select holds, the clicked one among them, in order."""
    at = next((index for index, pick in enumerate(offered) if pick.id == clicked_id), 0)
    first = max(0, min(at - OFFERED // 2, len(offered) - OFFERED))
    return list(offered[first : first + OFFERED])
