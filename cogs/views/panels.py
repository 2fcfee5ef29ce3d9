"""The memory panel: lists, opens, adds, edits, pins, deletes and takes back, all in one place.

Each press takes the person and their rights from the event, reads the entry again and says so when it was
changed or deleted meanwhile. What was typed and could not be kept is offered back in the same box.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import discord
from discord import ui

from cogs import _errors, _outcomes, _render
from cogs._entries import may_not_write, name_of
from cogs._inbound import place_and_person
from cogs.views.asking import Draft
from cogs.views.entry_text import (
    entry_block,
    entry_page,
    handle,
    history_text,
    private_words,
    scope_short,
)
from cogs.views.listings import Listing, Loaded, Tab
from cogs.views.modals import TextModal
from cogs.views.pages import cut, plan_pages, units
from cogs.views.panel import Drawing, Panel
from memory.errors import KeepsakeError
from memory.facts.outcomes import Outcome, OutcomeKind
from memory.types import JournalEntry, Memory, Person, Place, Scope

if TYPE_CHECKING:
    from memory.engine import Engine

FLASH_UNITS = 600
"""Room for the line that says what just happened."""

MENU = 25
"""Options of one menu (Discord)."""

Act = Callable[[Person, Place], Awaitable[Outcome]]

_BLURPLE = discord.Colour(0x5865F2)
_RED, _GREEN = discord.ButtonStyle.danger, discord.ButtonStyle.success
_FIRST = discord.ButtonStyle.primary


@dataclass(frozen=True, slots=True)
class Flash:
    """What just happened, with what can be done about it."""

    text: str
    undo: int | None = None
    draft: Draft | None = None


class MemoryPanel(Panel):
    """One person's open panel over one :class:`Listing`."""

    def __init__(self, engine: Engine, opener_id: int, listing: Listing) -> None:
        super().__init__(opener_id)
        self.command = listing.command
        self._engine = engine
        self._listing = listing
        self._loaded = Loaded((), frozenset())
        self._names: _render.NameOf = _render.a_member
        self._blocks: dict[Memory, str] = {}
        self._tab: int | None = None
        self._page = 0
        self._opened: Memory | None = None
        self._asking = False
        self._history: list[JournalEntry] | None = None
        self._flash: Flash | None = None

    # ------------------------------------------------------------------ what is known

    async def load(self, interaction: discord.Interaction) -> None:
        """Read everything again, with the rights of this very event."""
        place, person = place_and_person(interaction)
        self._loaded = await self._listing.load(self._engine, person, place)
        self._names = name_of(interaction)
        tabs = self._loaded.tabs
        if self._tab is None:  # opened: on the first list that holds something
            self._tab = next((i for i, tab in enumerate(tabs) if tab.memories), 0)
        self._tab = max(0, min(self._tab, len(tabs) - 1))

    @property
    def tab(self) -> Tab:
        return self._loaded.tabs[self._tab or 0]

    def _pages(self) -> tuple[list[str], list[range]]:
        now = self._engine.clock.now()
        known, names = self._blocks, self._names
        mixed = self.tab.scope is None
        self._blocks = {
            m: known.get(m) or entry_block(m, now, names, self._about(m) if mixed else "")
            for m in self.tab.memories
        }
        blocks = list(self._blocks.values())
        return blocks, plan_pages([units(block) for block in blocks])

    def _about(self, memory: Memory) -> str:
        return scope_short(memory.scope, _render.escape(cut(self._persona_of(memory), 40)))

    def _persona_of(self, memory: Memory) -> str:
        return self._loaded.personas.get(memory.scope, "one persona")

    async def _fresh(self, interaction: discord.Interaction) -> Memory | None:
        """The opened entry, unless it is gone or no longer what is on the screen: then that is shown."""
        opened = self._opened
        place, person = place_and_person(interaction)
        now = await self._engine.facts.get(person, place, opened.id) if opened else None
        if opened is not None and now is not None and now.version == opened.version:
            return now
        await self.load(interaction)
        self._close_entry()
        if now is None:
            self._flash = Flash("That entry is no longer here: it was deleted meanwhile.")
        else:
            self._opened = await self._read(interaction, now.id)
            self._flash = Flash("This entry was changed meanwhile, so nothing was done. It says this now:")
        await self.redraw(interaction)
        return None

    async def _read(self, interaction: discord.Interaction, memory_id: int) -> Memory | None:
        """The entry as it is now, with its source only for who can read there; None when it is gone."""
        place, person = place_and_person(interaction)
        now = await self._engine.facts.get(person, place, memory_id)
        return None if now is None else (await self._engine.seeing.sourced(person, place, [now]))[0]

    def _close_entry(self) -> None:
        self._opened, self._asking, self._history = None, False, None

    # ------------------------------------------------------------------ drawing

    def draw(self) -> Iterable[ui.Item[Any]]:
        if self._history is not None and self._opened is not None:
            yield self._history_box(self._opened, self._history)
        elif self._opened is not None:
            yield self._entry_box(self._opened)
        else:
            yield self._list_box()
        draft = self._flash.draft if self._flash else None
        self._flash = (
            Flash("Your words are kept here while this panel is open.", draft=draft) if draft else None
        )

    def _box(self) -> ui.Container[Drawing]:
        return ui.Container(accent_colour=_BLURPLE)

    def _add_flash(self, box: ui.Container[Drawing]) -> None:
        flash = self._flash
        if flash is None:
            return
        box.add_item(ui.TextDisplay(cut(flash.text, FLASH_UNITS)))
        buttons: list[ui.Button[Drawing]] = []
        if flash.undo is not None:
            buttons.append(self.button("Undo", partial(self._undo, journal_id=flash.undo)))
        if flash.draft is not None:
            label = "Save as a new entry" if flash.draft.orphan else "Try again"
            buttons.append(self.button(label, partial(self._again, draft=flash.draft), style=_FIRST))
            buttons.append(self.button("Discard my words", self._discard))
        if buttons:
            box.add_item(ui.ActionRow(*buttons))
        box.add_item(ui.Separator())

    def _list_box(self) -> ui.Container[Drawing]:
        box = self._box()
        tab = self.tab
        several = len(self._loaded.tabs) > 1
        note = f"**{_render.escape(tab.label)}** · {tab.note}" if several else tab.note
        box.add_item(ui.TextDisplay(f"## {self._listing.title}\n{note}"))
        for row in self._tab_rows() if several else ():
            box.add_item(row)
        box.add_item(ui.Separator())
        self._add_flash(box)
        blocks, pages = self._pages()
        self._page = max(0, min(self._page, len(pages) - 1))
        if not blocks:
            box.add_item(ui.TextDisplay(tab.empty))
        for index in pages[self._page]:
            memory_id = tab.memories[index].id
            press = self.button("Open", partial(self._open, memory_id=memory_id))
            box.add_item(ui.Section(ui.TextDisplay(blocks[index]), accessory=press))
        self._add_footer(box, tab, len(pages))
        return box

    def _add_footer(self, box: ui.Container[Drawing], tab: Tab, pages: int) -> None:
        buttons: list[ui.Button[Drawing]] = []
        if pages > 1:
            buttons.append(self.button("Previous", lambda i: self._turn(i, -1), disabled=self._page == 0))
            buttons.append(self.button("Next", lambda i: self._turn(i, 1), disabled=self._page == pages - 1))
        if tab.scope is not None:
            buttons.append(self.button("Add", self._ask_add, style=_GREEN))
        buttons.append(self.button("Refresh", self._refresh))
        box.add_item(ui.Separator())
        if pages > 1:
            box.add_item(ui.TextDisplay(f"-# Page {self._page + 1} of {pages}"))
        box.add_item(ui.ActionRow(*buttons))

    def _tab_rows(self) -> Iterable[ui.ActionRow[Drawing]]:
        """The lists of the persona in use and of all personas as buttons, the others' in one menu."""
        tabs = self._loaded.tabs
        yield ui.ActionRow(*[self._tab_button(i) for i, tab in enumerate(tabs) if not tab.other])
        others = [(i, tab) for i, tab in enumerate(tabs) if tab.other][:MENU]
        if others:
            options = [
                discord.SelectOption(
                    label=cut(f"{tab.label} ({len(tab.memories)})", 100), value=str(i), default=i == self._tab
                )
                for i, tab in others
            ]

            async def pick(interaction: discord.Interaction, value: str) -> None:
                await self._show_tab(interaction, int(value))

            yield ui.ActionRow(self.select("Other personas", options, pick))

    def _tab_button(self, index: int) -> ui.Button[Drawing]:
        """The open list's is bright, and reads it again: Discord draws a disabled button hardly legibly."""
        here = index == self._tab
        tab = self._loaded.tabs[index]
        return self.button(
            cut(f"{tab.label} ({len(tab.memories)})", 80),
            self._refresh if here else lambda i: self._show_tab(i, index),
            style=_FIRST if here else discord.ButtonStyle.secondary,
        )

    def _entry_box(self, memory: Memory) -> ui.Container[Drawing]:
        box = self._box()
        self._add_flash(box)
        box.add_item(
            ui.TextDisplay(
                entry_page(memory, self._engine.clock.now(), self._names, self._persona_of(memory))
            )
        )
        box.add_item(ui.Separator())
        if self._asking:
            pinned = "It is pinned. " if memory.pinned else ""
            box.add_item(ui.TextDisplay(f"**Delete this entry?** {pinned}You can undo it."))
            box.add_item(
                ui.ActionRow(
                    self.button("Delete it", self._delete, style=_RED), self.button("Keep it", self._keep)
                )
            )
            return box
        if memory.scope in self._loaded.writable:
            box.add_item(ui.ActionRow(*self._entry_buttons(memory)))
        else:
            box.add_item(ui.TextDisplay("-# You can read this entry. Changing it needs Manage Server."))
        box.add_item(
            ui.ActionRow(self.button("Back", self._back), self.button("History", self._show_history))
        )
        return box

    def _entry_buttons(self, memory: Memory) -> list[ui.Button[Drawing]]:
        pin = (
            self.button("Unpin", lambda i: self._pin(i, pinned=False))
            if memory.pinned
            else self.button("Pin", lambda i: self._pin(i, pinned=True))
        )
        buttons = [self.button("Edit", self._ask_edit, style=_FIRST), pin]
        if memory.dm_only:
            buttons.append(self.button("Use everywhere", self._widen))
        return [*buttons, self.button("Delete", self._ask_delete, style=_RED)]

    def _history_box(self, memory: Memory, entries: list[JournalEntry]) -> ui.Container[Drawing]:
        box = self._box()
        box.add_item(
            ui.TextDisplay(f"### History of {handle(memory.id)}\n{history_text(entries, self._names)}")
        )
        box.add_item(ui.Separator())
        box.add_item(ui.ActionRow(self.button("Back", self._hide_history)))
        return box

    # ------------------------------------------------------------------ looking around

    async def _refresh(self, interaction: discord.Interaction) -> None:
        await self.load(interaction)
        await self.redraw(interaction)

    async def _show_tab(self, interaction: discord.Interaction, index: int) -> None:
        self._tab, self._page = index, 0
        await self._refresh(interaction)

    async def _turn(self, interaction: discord.Interaction, step: int) -> None:
        self._page += step
        await self._refresh(interaction)

    async def _open(self, interaction: discord.Interaction, memory_id: int) -> None:
        await self.load(interaction)
        self._close_entry()
        self._opened = await self._read(interaction, memory_id)
        if self._opened is None:
            self._flash = Flash(f"{handle(memory_id)} is no longer here: it was deleted meanwhile.")
        await self.redraw(interaction)

    async def _back(self, interaction: discord.Interaction) -> None:
        self._close_entry()
        await self._refresh(interaction)

    async def _show_history(self, interaction: discord.Interaction) -> None:
        memory = await self._fresh(interaction)
        if memory is None:
            return
        place, person = place_and_person(interaction)
        found = await self._engine.facts.history(person, place, memory.id)
        self._history = await self._engine.seeing.sourced(person, place, found)
        await self.redraw(interaction)

    async def _hide_history(self, interaction: discord.Interaction) -> None:
        self._history = None
        await self.redraw(interaction)

    # ------------------------------------------------------------------ writing

    async def _ask_add(self, interaction: discord.Interaction) -> None:
        scope = self.tab.scope
        if scope is not None and await self._may(interaction, scope):
            await self._again(interaction, Draft("", scope))

    async def _may(self, interaction: discord.Interaction, scope: Scope) -> bool:
        """May they write there, now? If not, that is said before they are asked for anything."""
        refused = await may_not_write(interaction, scope)
        if not refused:
            return True
        await self.load(interaction)
        self._flash = Flash(refused)
        await self.redraw(interaction)
        return False

    async def _ask_edit(self, interaction: discord.Interaction) -> None:
        memory = await self._fresh(interaction)
        if memory is not None and await self._may(interaction, memory.scope):
            await self._again(interaction, Draft(memory.text, memory.scope, memory.id, memory.version))

    async def _discard(self, interaction: discord.Interaction) -> None:
        self._flash = None
        await self.redraw(interaction)

    async def _again(self, interaction: discord.Interaction, draft: Draft) -> None:
        """Open the box with those words in it. The first answer to the press, so nothing is waited for."""
        limit = self._engine.settings.max_memory_length
        version = self._opened.version if self._opened and draft.memory_id == self._opened.id else None

        async def submit(sent: discord.Interaction, text: str, pinned: bool) -> None:
            await self._save(sent, replace(draft, text=text, pinned=pinned), version)

        new = draft.memory_id is None
        await interaction.response.send_modal(
            TextModal(
                "Add a memory" if new else f"Edit {handle(draft.memory_id or 0)}",
                "What should I remember?" if new else "What it should say",
                submit,
                limit=limit,
                text=draft.text,
                placeholder="One fact, as one plain sentence" if new else "",
                tick="Pin it, so that I always keep it in mind" if new else "",
                ticked=draft.pinned,
            )
        )

    async def _save(self, interaction: discord.Interaction, draft: Draft, version: int | None) -> None:
        facts = self._engine.facts

        async def act(person: Person, place: Place) -> Outcome:
            if draft.memory_id is None:
                return await facts.add(person, place, draft.scope, draft.text, pinned=draft.pinned)
            return await facts.edit(person, place, draft.memory_id, draft.text, expected_version=version)

        await self._write(interaction, act, draft)

    async def _pin(self, interaction: discord.Interaction, *, pinned: bool) -> None:
        memory = await self._fresh(interaction)
        if memory is not None:
            await self._write(
                interaction, lambda who, where: self._engine.facts.pin(who, where, memory.id, pinned)
            )

    async def _widen(self, interaction: discord.Interaction) -> None:
        memory = await self._fresh(interaction)
        if memory is not None:
            await self._write(interaction, lambda who, where: self._engine.facts.widen(who, where, memory.id))

    async def _ask_delete(self, interaction: discord.Interaction) -> None:
        memory = await self._fresh(interaction)
        if memory is not None and await self._may(interaction, memory.scope):
            self._asking = True
            await self.redraw(interaction)

    async def _keep(self, interaction: discord.Interaction) -> None:
        self._asking = False
        await self.redraw(interaction)

    async def _delete(self, interaction: discord.Interaction) -> None:
        memory = await self._fresh(interaction)
        if memory is not None:
            self._close_entry()
            await self._write(
                interaction, lambda who, where: self._engine.facts.delete(who, where, memory.id)
            )

    async def _undo(self, interaction: discord.Interaction, journal_id: int) -> None:
        await self._write(interaction, lambda who, where: self._engine.facts.undo(who, where, journal_id))

    async def _write(self, interaction: discord.Interaction, act: Act, draft: Draft | None = None) -> None:
        """Acknowledge, write, read again, show what happened, then tell the server where it concerns it."""
        await interaction.response.defer()
        place, person = place_and_person(interaction)
        outcome: Outcome | None = None
        try:
            outcome = await act(person, place)
            self._flash = self._flash_of(outcome, draft)
        except KeepsakeError as error:
            self._flash = Flash(_errors.known(error), draft=draft)
        await self.load(interaction)
        if self._opened is not None:
            self._opened = await self._read(interaction, self._opened.id)
        await self.redraw(interaction)
        if outcome is not None:
            shown_in = interaction.message.id if interaction.message else None
            await _outcomes.publish(interaction, outcome, shown_in)

    def _flash_of(self, outcome: Outcome, draft: Draft | None) -> Flash:
        said = private_words(outcome, self._names)
        if outcome.wrote and outcome.journal is not None:
            undone = outcome.kind is OutcomeKind.UNDONE
            return Flash(f"{'↩️' if undone else '✅'} {said}", undo=None if undone else outcome.journal.id)
        if outcome.kind is OutcomeKind.DUPLICATE:
            return Flash(said)
        if outcome.kind is OutcomeKind.NOT_FOUND and draft is not None:
            draft = replace(draft, memory_id=None, orphan=True)
        return Flash(said, draft=draft)


async def open_panel(interaction: discord.Interaction, engine: Engine, listing: Listing) -> None:
    """Open a panel for who asked, shown to nobody else."""
    await interaction.response.defer(ephemeral=True, thinking=True)
    panel = MemoryPanel(engine, interaction.user.id, listing)
    await panel.load(interaction)
    await panel.open(interaction)
