"""The panel of `/approvals`: suggestions that wait for who opened it, oldest first (SPEC §4.8).

Server ones wait for who may write there, personal ones for the member they are about. The engine judges at
each press; what was decided elsewhere meanwhile is said, and the rest stays.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import discord
from discord import ui

from cogs import _errors, _render
from cogs._entries import name_of
from cogs._inbound import place_and_person
from cogs.views import notices
from cogs.views.entry_text import handle, outcome_words, quoted, when
from cogs.views.modals import TextModal
from cogs.views.pages import cut, plan_pages, units
from cogs.views.panel import Drawing, Panel
from memory.errors import KeepsakeError, StoreError
from memory.facts.outcomes import Outcome, OutcomeKind
from memory.ports import Waiting
from memory.types import DEFAULT_LINEAGE, Memory, Op, Proposal, SubjectKind

if TYPE_CHECKING:
    from memory.engine import Engine

COLOUR = discord.Colour(0x5865F2)

PAGE = 4
"""Suggestions on one page: each has its buttons, and a message takes 40 components."""

TEXT_UNITS, OLD_UNITS = 1_700, 500
"""Room for what is suggested and for what stands now. Edit shows a longer suggestion whole."""

EMPTY = (
    "Nothing waits for you here.\n-# What I want to remember about you, or about a server that you look"
    " after, waits here when it needs your yes."
)

HIDDEN = (
    "**A suggestion from a channel that you can't read**\n-# What it says is shown to those who can read it;"
    " they decide."
)
UNREAD = "You manage this server, so you may discard it unread."

UNDO = "`/memory undo` takes it back."

_ASKED = {Op.ADD: "Save this?", Op.UPDATE: "Change {entry}?", Op.DELETE: "Delete {entry}?"}
_DONE = (OutcomeKind.DISCARDED, OutcomeKind.DUPLICATE)


class QueuePanel(Panel):
    """One person's open view of what waits for them."""

    command = "approvals"

    def __init__(self, engine: Engine, opener_id: int) -> None:
        super().__init__(opener_id)
        self._engine = engine
        self._waiting: Sequence[Waiting] = ()
        self._manages = False
        self._personas: dict[str, str] = {}
        self._own_name = ""
        self._name: _render.NameOf = _render.a_member
        self._page = 0
        self._said = ""
        self._asking: bool | None = None
        self._draft: tuple[Proposal, str] | None = None

    async def load(self, interaction: discord.Interaction) -> None:
        place, person = place_and_person(interaction)
        self._waiting = await self._engine.suggestions.queue(person, place)
        self._manages = person.manages
        told = next((each.names for each in self._waiting if not each.hidden), {})
        known_here = name_of(interaction)
        self._name = lambda user_id: told.get(user_id) or known_here(user_id)
        self._own_name = self._engine.facts.own_name(place)
        known = await self._engine.personas.of_guild(place.guild_id)
        self._personas = {each.lineage: each.name for each in known if not each.built_in}

    def draw(self) -> Iterable[ui.Item[Any]]:
        box: ui.Container[Drawing] = ui.Container(accent_colour=COLOUR)
        pages = plan_pages([units(self._words(each)) for each in self._waiting], most=PAGE)
        self._page = min(self._page, len(pages) - 1)
        shown = [self._waiting[index] for index in pages[self._page]]
        box.add_item(ui.TextDisplay(self._heading(len(pages))))
        if self._said:
            box.add_item(ui.TextDisplay(cut(self._said, 600)))
            self._said = ""
        if self._draft is not None:
            box.add_item(self._offer_words(*self._draft))
        for each in shown:
            box.add_item(ui.TextDisplay(self._words(each)))
            if self._asking is None and (self._manages or not each.hidden):
                box.add_item(self._row(each))
        if not shown:
            box.add_item(ui.TextDisplay(EMPTY))
        theirs = [each for each in shown if not each.hidden]
        if self._asking is not None and theirs:
            box.add_item(self._confirm(self._asking, theirs))
        elif len(theirs) > 1:
            box.add_item(self._all_row(len(theirs)))
        if len(pages) > 1 and self._asking is None:
            box.add_item(self._pages_row(len(pages)))
        yield box

    def _heading(self, pages: int) -> str:
        count = len(self._waiting)
        said = "## What waits for you"
        if count:
            at = f" · page {self._page + 1} of {pages}" if pages > 1 else ""
            said += f"\n-# {count} {'suggestion' if count == 1 else 'suggestions'}, oldest first{at}"
        return said

    def _words(self, waiting: Waiting) -> str:
        """What is suggested, what stands now, about whom, by whom, since when, until when."""
        proposal = waiting.proposal
        if waiting.hidden:
            may = f" {UNREAD}" if self._manages else ""
            return f"{HIDDEN}{may}\n-# {' · '.join(self._small(proposal))}"
        entry = handle(proposal.memory_id) if proposal.memory_id is not None else ""
        lines = [f"**{_ASKED[proposal.op].format(entry=entry)}**"]
        if proposal.op is not Op.DELETE:
            lines.append(cut(quoted(proposal.text, self._name), TEXT_UNITS))
        if proposal.keywords:
            lines.append(f"-# {_render.keyword_words(proposal.keywords)}")
        if proposal.op is not Op.ADD:
            lines += self._standing(waiting.memory, deleted=proposal.op is Op.DELETE)
        lines.append(f"-# {' · '.join(self._small(proposal))}")
        return "\n".join(lines)

    def _standing(self, memory: Memory | None, *, deleted: bool) -> list[str]:
        if memory is None:
            return ["-# That memory was deleted or moved since, so there is nothing to approve any more."]
        text = cut(quoted(memory.text, self._name), TEXT_UNITS if deleted else OLD_UNITS)
        return [text] if deleted else ["It says now:", text]

    def _small(self, proposal: Proposal) -> list[str]:
        about = "about you" if proposal.scope.kind is SubjectKind.USER else "about this server"
        small = [about, self._persona(proposal)]
        if proposal.proposer_id is not None:
            small.append(f"suggested in a reply to {self._who(proposal.proposer_id)}")
        small += [when(proposal.created_at), "waits for 7 days"]
        link = _render.jump(proposal.source)
        return [*small, f"[message]({link})"] if link else small

    def _who(self, user_id: int) -> str:
        """A member by name, or as a mention, whose name Discord knows."""
        name = self._name(user_id)
        return f"<@{user_id}>" if name == _render.a_member(user_id) else _render.escape(name)

    def _persona(self, proposal: Proposal) -> str:
        if proposal.scope.lineage == DEFAULT_LINEAGE:
            return _render.escape(self._own_name)
        name = self._personas.get(proposal.scope.lineage)
        return "a persona of another server" if name is None else _render.escape(name)

    def _row(self, waiting: Waiting) -> ui.ActionRow[Drawing]:
        proposal = waiting.proposal
        approve = partial(self._decide, proposal=proposal, approve=True)
        discard = partial(self._decide, proposal=proposal, approve=False)
        row: ui.ActionRow[Drawing] = ui.ActionRow()
        if waiting.hidden:
            row.add_item(self.button("Discard", discard, style=discord.ButtonStyle.danger))
            return row
        row.add_item(self.button("Approve", approve, style=discord.ButtonStyle.success))
        if proposal.op is not Op.DELETE:
            row.add_item(self.button("Edit", partial(self._edit, proposal=proposal, text=proposal.text)))
        row.add_item(self.button("Discard", discard, style=discord.ButtonStyle.danger))
        return row

    def _all_row(self, count: int) -> ui.ActionRow[Drawing]:
        return ui.ActionRow(
            self.button(f"Approve all {count}", partial(self._ask, approve=True)),
            self.button(f"Discard all {count}", partial(self._ask, approve=False)),
        )

    def _confirm(self, approve: bool, shown: Sequence[Waiting]) -> ui.ActionRow[Drawing]:
        """The second press. It decides on what is shown here, whatever came since."""
        these = [each.proposal for each in shown]
        label = f"{'Approve' if approve else 'Discard'} these {len(these)}"
        style = discord.ButtonStyle.success if approve else discord.ButtonStyle.danger
        go = partial(self._decide_all, proposals=these, approve=approve)
        return ui.ActionRow(self.button(label, go, style=style), self.button("Back", self._back))

    def _pages_row(self, pages: int) -> ui.ActionRow[Drawing]:
        earlier, later = partial(self._turn, by=-1), partial(self._turn, by=1)
        return ui.ActionRow(
            self.button("Older", earlier, disabled=self._page == 0),
            self.button("Newer", later, disabled=self._page == pages - 1),
        )

    def _offer_words(self, proposal: Proposal, text: str) -> ui.ActionRow[Drawing]:
        """An edited text that was refused is not lost."""
        again = partial(self._edit, proposal=proposal, text=text)
        return ui.ActionRow(
            self.button("Try again with my words", again),
            self.button("Drop my words", self._drop),
        )

    async def _turn(self, interaction: discord.Interaction, *, by: int) -> None:
        self._page = max(0, self._page + by)
        await self._again(interaction)

    async def _ask(self, interaction: discord.Interaction, *, approve: bool) -> None:
        self._asking = approve
        await self.redraw(interaction)

    async def _back(self, interaction: discord.Interaction) -> None:
        self._asking = None
        await self._again(interaction)

    async def _drop(self, interaction: discord.Interaction) -> None:
        self._draft = None
        await self._again(interaction)

    async def _again(self, interaction: discord.Interaction) -> None:
        if not interaction.response.is_done():
            await interaction.response.defer()
        await self.load(interaction)
        await self.redraw(interaction)

    async def _decide(self, interaction: discord.Interaction, *, proposal: Proposal, approve: bool) -> None:
        await interaction.response.defer()
        self._said, _ = await self._carry_out(interaction, proposal, approve, None)
        await self._again(interaction)

    async def _decide_all(
        self, interaction: discord.Interaction, *, proposals: Sequence[Proposal], approve: bool
    ) -> None:
        await interaction.response.defer()
        self._asking = None
        done, refused = 0, list[str]()
        for proposal in proposals:
            said, ok = await self._carry_out(interaction, proposal, approve, None)
            done += ok
            refused += [] if ok else [f"- {said}"]
        self._said = f"{'Approved' if approve else 'Discarded'}: {done} of {len(proposals)}."
        if refused:
            self._said = "\n".join([self._said, *refused])
        await self._again(interaction)

    async def _edit(self, interaction: discord.Interaction, *, proposal: Proposal, text: str) -> None:
        async def submit(sent: discord.Interaction, typed: str, _ticked: bool) -> None:
            await sent.response.defer()
            self._said, ok = await self._carry_out(sent, proposal, True, typed)
            self._draft = None if ok else (proposal, typed)
            await self._again(sent)

        limit = self._engine.settings.max_memory_length
        await interaction.response.send_modal(
            TextModal("Approve in other words", "What I should remember", submit, limit=limit, text=text)
        )

    async def _carry_out(
        self, interaction: discord.Interaction, proposal: Proposal, approve: bool, text: str | None
    ) -> tuple[str, bool]:
        """Decide, draw the suggestion's notices again; what to say, and whether it no longer waits."""
        place, person = place_and_person(interaction)
        try:
            outcome = await self._engine.suggestions.decide(person, place, proposal.id, approve, text)
        except KeepsakeError as error:
            return _errors.known(error), False
        with contextlib.suppress(StoreError):  # the decision stands; its card says less then
            outcome = await self._engine.facts.on_its_card(outcome)
        await notices.redraw(interaction.client, outcome)
        said = outcome_words(outcome, self._name)
        return (f"{said} {UNDO}" if outcome.wrote else said), _decided(outcome)


def _decided(outcome: Outcome) -> bool:
    return outcome.wrote or outcome.kind in _DONE
