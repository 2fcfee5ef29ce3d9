"""The review of drafts: what is shown is exactly what is saved, and nothing is before **Save** is pressed.

Answers only to who opened it. A review that has gone to sleep, or that this process no longer knows, keeps
its words on the screen and says that nothing was saved.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import discord
from discord import ui

from cogs import _errors, _outcomes, _render
from cogs._entries import name_of
from cogs._inbound import place_and_person
from cogs.views.entry_text import handle, outcome_words, quoted
from cogs.views.modals import TextModal
from cogs.views.pages import cut, plan_pages, units
from cogs.views.panel import AWAKE, Drawing, Panel, acknowledge
from memory.errors import KeepsakeError
from memory.facts.drafts import Draft, Drafts
from memory.facts.outcomes import Outcome, OutcomeKind
from memory.types import Scope, SubjectKind

if TYPE_CHECKING:
    from memory.engine import Engine
    from memory.facts.service import Shelf

Back = Callable[[discord.Interaction], Awaitable[None]]
"""Shows again what the drafts were made of."""

SAID_UNITS = 600
"""Room for what just happened."""

NOTE_UNITS = 300
"""Room for what was left out."""

DRAFTS_UNITS = 2_200
"""Room for the drafts of one page; the rest of 4,000 is for headings and warnings."""

_BLURPLE = discord.Colour(0x5865F2)
_GREEN, _RED = discord.ButtonStyle.success, discord.ButtonStyle.danger

ASLEEP = "-# This has gone to sleep, so nothing was saved. Its words stay here for you to copy."


class DraftPanel(Panel):
    """A step on the way to saved drafts. ``reopen``: how to begin again, as a sentence."""

    reopen = ""

    def asleep(self) -> str:
        return f"{ASLEEP} {self.reopen}"

    def _next_id(self) -> str:
        self._items += 1
        return f"ks:drafts:{self.key}:{self.generation}:{self._items}"


class ReviewPanel(DraftPanel):
    """Drafts on their way into one scope. ``from_chat``: they came from messages of this channel."""

    def __init__(
        self,
        engine: Engine,
        opener_id: int,
        drafts: Drafts,
        scope: Scope,
        *,
        pinned: bool,
        from_chat: bool,
        back: Back,
        reopen: str,
    ) -> None:
        super().__init__(opener_id)
        self.reopen = reopen
        self._engine = engine
        self._drafts = dict(enumerate(drafts.drafts))
        self._note = drafts.note
        self._scope = scope
        self._pinned = pinned
        self._from_chat = from_chat
        self._back = back
        self._whose = ""
        self._places_left: int | None = None
        self._names: _render.NameOf = _render.a_member
        self._page = 0
        self._said = ""
        self._over = ""

    async def load(self, interaction: discord.Interaction) -> None:
        """Whose entries these become, and the room that there is now."""
        place, person = place_and_person(interaction)
        self._names = name_of(interaction)
        shelves = await self._engine.facts.shelves(person, place)
        shelf = next((each for each in shelves if each.scope == self._scope), None)
        if shelf is not None:
            self._whose = shelf_title(shelf)
            self._places_left = max(0, shelf.pinned_limit - shelf.pinned)

    # ------------------------------------------------------------------ drawing

    def draw(self) -> Iterable[ui.Item[Any]]:
        box: ui.Container[Drawing] = ui.Container(accent_colour=_BLURPLE)
        if self._over:
            box.add_item(ui.TextDisplay(self._over))
            yield box
            return
        box.add_item(ui.TextDisplay(self._heading()))
        if self._said:
            box.add_item(ui.TextDisplay(cut(self._said, SAID_UNITS)))
        self._said = ""
        box.add_item(ui.Separator())
        numbered = list(enumerate(self._drafts.items(), 1))
        blocks = [self._block(number, draft) for number, (_, draft) in numbered]
        pages = plan_pages([units(block) for block in blocks], room=DRAFTS_UNITS)
        self._page = max(0, min(self._page, len(pages) - 1))
        for index in pages[self._page]:
            number, (key, _) = numbered[index]
            box.add_item(ui.TextDisplay(blocks[index]))
            edit = self.button(f"Edit {number}", partial(self._ask_edit, key=key, number=number))
            remove = self.button(f"Remove {number}", partial(self._remove, key=key))
            box.add_item(ui.ActionRow(edit, remove))
        box.add_item(ui.Separator())
        self._add_footer(box, len(pages))
        yield box

    def _heading(self) -> str:
        kind = "pinned" if self._pinned else "unpinned"
        lines = [
            "## Review before anything is saved",
            f"{_counted(len(self._drafts))} · {_render.escape(self._whose)} · saved {kind}",
        ]
        if self._note:
            lines.append(f"-# {_render.escape(cut(self._note, NOTE_UNITS))}")
        if not self._engine.model.info.configured:
            lines.append("-# No model is configured: these are the words as they were written.")
        return "\n".join(lines)

    def _block(self, number: int, draft: Draft) -> str:
        """One draft, whole. Only one that is too long to be saved may be shown in part."""
        small = ""
        if draft.over:
            small = (
                f"\n-# ⚠️ {len(draft.text):,} characters; the limit is {draft.limit:,}."
                f" Shorten it by {draft.over:,}."
            )
        room = DRAFTS_UNITS - units(small) - 60
        words = quoted(draft.text, self._names, limit=4_000)
        shown = cut(words, room)
        part = "\n-# Shown in part here; **Edit** shows it whole." if shown != words else ""
        return f"**{number}.**\n{shown}{small}{part}"

    def _add_footer(self, box: ui.Container[Drawing], pages: int) -> None:
        too_long = [number for number, draft in enumerate(self._drafts.values(), 1) if draft.over]
        wanted, left = len(self._drafts), self._places_left
        narrow = self._pinned and left is not None and left < wanted
        if pages > 1:
            box.add_item(ui.TextDisplay(f"-# Page {self._page + 1} of {pages}"))
            first, last = self._page == 0, self._page == pages - 1
            box.add_item(
                ui.ActionRow(
                    self.button("Previous", partial(self._turn, step=-1), disabled=first),
                    self.button("Next", partial(self._turn, step=1), disabled=last),
                )
            )
        if not wanted:
            box.add_item(ui.TextDisplay("No draft is left. Nothing was saved."))
        if too_long:
            numbers = ", ".join(str(number) for number in too_long)
            box.add_item(ui.TextDisplay(f"⚠️ Too long to be saved: {numbers}. Edit or remove first."))
        if narrow:
            box.add_item(
                ui.TextDisplay(
                    f"⚠️ {_places(left or 0)}, and {_counted(wanted)} would need one each. Nothing is saved"
                    " until you choose: remove some, or save all of them unpinned."
                )
            )
        blocked = bool(too_long) or not wanted
        buttons = [
            self.button(
                "Save all pinned" if narrow else "Save all",
                partial(self._save, pinned=self._pinned),
                style=_GREEN,
                disabled=blocked or (narrow and not left),
            )
        ]
        if narrow:
            unpinned = partial(self._save, pinned=False)
            buttons.append(self.button("Save all unpinned", unpinned, disabled=blocked))
        buttons += [self.button("Back", self._go_back), self.button("Cancel", self._cancel, style=_RED)]
        box.add_item(ui.ActionRow(*buttons))

    # ------------------------------------------------------------------ changing the drafts

    async def _turn(self, interaction: discord.Interaction, step: int) -> None:
        self._page += step
        await self.redraw(interaction)

    async def _remove(self, interaction: discord.Interaction, key: int) -> None:
        self._drafts.pop(key, None)
        await self.redraw(interaction)

    async def _ask_edit(self, interaction: discord.Interaction, key: int, number: int) -> None:
        draft = self._drafts[key]

        async def submit(sent: discord.Interaction, text: str, _ticked: bool) -> None:
            await self._edited(sent, key, draft, text)

        title = f"Draft {number}"
        modal = TextModal(title, "What it should say", submit, limit=draft.limit, text=draft.text)
        await interaction.response.send_modal(modal)

    async def _edited(self, interaction: discord.Interaction, key: int, draft: Draft, text: str) -> None:
        """Take the words in. Those that come too late, or for a draft that is gone, are not lost either."""
        if self._over or self._busy:
            words = cut(quoted(text, self._names), 1_500)
            line = f"This came too late to be saved with the others. Your words:\n{words}"
            await _errors.whisper(interaction, line)
            return
        changed = self._engine.drafts.draft(text, draft.source)
        if changed is None:
            self._said = "A draft can't be empty, so it was left as it was. **Remove** drops it."
        else:
            self._drafts[key] = changed
        await self.redraw(interaction)

    async def _go_back(self, interaction: discord.Interaction) -> None:
        AWAKE.pop(self.key, None)
        if self._drawing is not None:
            self._drawing.stop()  # something else stands in its message now, so it must not go to sleep there
        await self._back(interaction)

    async def _cancel(self, interaction: discord.Interaction) -> None:
        self._over = "Cancelled. Nothing was saved."
        await self.redraw(interaction)

    # ------------------------------------------------------------------ saving

    async def _save(self, interaction: discord.Interaction, *, pinned: bool) -> None:
        """Save what is shown. Who presses and what they may write is asked at this very press."""
        await interaction.response.defer()
        place, person = place_and_person(interaction)
        try:
            outcomes = await self._engine.drafts.keep(
                person,
                place,
                self._scope,
                tuple(self._drafts.values()),
                pinned=pinned,
                from_chat=self._from_chat,
            )
            refused = next((each for each in outcomes if each.kind not in _KEPT), None)
            said = "" if refused is None else outcome_words(refused, self._names)
        except KeepsakeError as error:
            outcomes, said = [], _errors.known(error)
        if said:
            self._said = f"⚠️ {said}"
            with contextlib.suppress(KeepsakeError):
                await self.load(interaction)
            await self.redraw(interaction)
            return
        self._over = saved_words(outcomes, self._names)
        await self.redraw(interaction)
        shown_in = interaction.message.id if interaction.message else None
        for outcome in outcomes:
            await _outcomes.publish(interaction, outcome, shown_in)


_KEPT = (OutcomeKind.SAVED, OutcomeKind.DUPLICATE)


def saved_words(outcomes: list[Outcome], name_of: _render.NameOf, room: int = 3_600) -> str:
    """What became of every draft, each in a line with its handle."""
    wrote = [each for each in outcomes if each.wrote]
    same = [each for each in outcomes if not each.wrote]
    parts = [f"### ✅ Saved {len(wrote)}" if wrote else "### Nothing new was saved"]
    parts += [_line(each, "📌 pinned" if _pinned(each) else "", name_of) for each in wrote]
    if same:
        parts.append("Already there, so not saved a second time:")
        parts += [_line(each, "📌 pinned" if _pinned(each) else "not pinned", name_of) for each in same]
    if any(each.memory is not None and each.memory.dm_only for each in wrote):
        parts.append("-# 🔒 Said in a DM, so used in our DMs only until you choose **Use everywhere**.")
    parts += dict.fromkeys(f"-# {_render.escape(each.note)}" for each in wrote if each.note)
    if wrote:
        them = "it back" if len(wrote) == 1 else "them back, one at a time"
        parts.append(f"-# `/memory undo` takes {them}.")
    return cut("\n".join(parts), room)


def _line(outcome: Outcome, mark: str, name_of: _render.NameOf) -> str:
    memory = outcome.memory
    if memory is None:
        return "- an entry"
    words = _render.escape(cut(" ".join(_render.named(memory.text, name_of).split()), 100))
    return f"- {handle(memory.id)} {words}{f' · {mark}' if mark else ''}"


def _pinned(outcome: Outcome) -> bool:
    return outcome.memory is not None and outcome.memory.pinned


def _counted(drafts: int) -> str:
    return "1 draft" if drafts == 1 else f"{drafts} drafts"


def _places(left: int) -> str:
    return "Only 1 pinned place is left" if left == 1 else f"Only {left} pinned places are left"


def shelf_title(shelf: Shelf) -> str:
    """Whom its entries are about, and for which personas."""
    whose = "About this server" if shelf.scope.kind is SubjectKind.SERVER else "About you"
    return f"{whose} · {shelf.persona}"


class SleepingDrafts(
    ui.DynamicItem[ui.Button[Any]],
    template=r"ks:drafts:(?P<key>[0-9a-f]{8}):(?P<generation>\d+):\d+",
):
    """Answers presses that no open review answers: its words stay, its buttons go out."""

    def __init__(self, item: ui.Button[Any], key: str, generation: int) -> None:
        super().__init__(item)
        self.key = key
        self.generation = generation

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction, item: ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        button: Any = item  # a select too: only its id is used
        return cls(button, match["key"], int(match["generation"]))

    async def callback(self, interaction: discord.Interaction) -> None:
        panel = AWAKE.get(self.key)
        if panel is not None and panel.client is interaction.client:
            if panel.generation != self.generation:
                await acknowledge(interaction)
            return
        if interaction.extras.get("acknowledged") or interaction.response.is_done():
            return
        interaction.extras["acknowledged"] = True
        if interaction.message is None:
            await _errors.whisper(interaction, ASLEEP)
            return
        view = ui.LayoutView.from_message(interaction.message, timeout=None)
        for item in view.walk_children():
            if isinstance(item, ui.Button | ui.Select):
                item.disabled = True
        view.add_item(ui.TextDisplay(ASLEEP))
        view.stop()
        with contextlib.suppress(discord.HTTPException):
            await interaction.response.edit_message(view=view)
