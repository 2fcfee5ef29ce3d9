"""The panel of `/persona edit`: every part of a persona with a button to change it.

Rights are the engine's matter, at each press. What was written and could not be kept is offered back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import discord
from discord import ui

from cogs import _errors
from cogs._inbound import place_and_person
from cogs._render import escape
from cogs.views import persona_words
from cogs.views.pages import cut
from cogs.views.panel import Drawing, Panel
from cogs.views.persona_boxes import PARTS, Part, PartBox, PictureBox, drawn
from cogs.views.persona_choice import name_of_persona
from memory.errors import KeepsakeError
from memory.personas.rules import PersonaRefused, shared_triggers
from memory.types import DetailLevel, Persona

if TYPE_CHECKING:
    from memory.engine import Engine

_COLOUR = discord.Colour(0x5865F2)
_LEVELS: tuple[DetailLevel | None, ...] = (None, *DetailLevel)


class PersonaPanel(Panel):
    """One person's open view of one persona."""

    command = "persona edit"

    def __init__(self, engine: Engine, opener_id: int, persona: Persona, said: str = "") -> None:
        super().__init__(opener_id)
        self._engine = engine
        self._persona = persona
        self._name = persona.name
        self._said = said
        self._gone = False
        self._draft: tuple[Part, str] | None = None

    async def load(self, interaction: discord.Interaction) -> None:
        """The persona as it stands now."""
        place, person = place_and_person(interaction)
        found = await self._engine.editing.find(person, place, self._persona.id)
        if found is None or found.lineage != self._persona.lineage:
            self._gone = True
            return
        self._persona, self._name = found, name_of_persona(interaction, found)

    def draw(self) -> Iterable[ui.Item[Any]]:
        box: ui.Container[Drawing] = ui.Container(accent_colour=_COLOUR)
        box.add_item(ui.TextDisplay(f"## {escape(cut(self._name, 80))}"))
        if self._said:
            box.add_item(ui.TextDisplay(cut(self._said, 900)))
        if self._draft is not None:
            part, text = self._draft
            again = partial(self._write, part=part, text=text)
            box.add_item(
                ui.ActionRow(
                    self.button("Try again with my words", again),
                    self.button("Discard my words", self._discard),
                )
            )
        if self._gone:
            box.add_item(ui.TextDisplay("This persona was deleted. `/persona list` shows who is here."))
        else:
            self._add_parts(box)
        yield box
        self._said = ""

    def _add_parts(self, box: ui.Container[Drawing]) -> None:
        persona = self._persona
        box.add_item(ui.Separator())
        for field, words in persona_words.sections(persona):
            part = PARTS[field]
            edit = partial(self._write, part=part, text=part.write(persona))
            box.add_item(ui.Section(ui.TextDisplay(words), accessory=self.button("Edit", edit)))
        if not persona.built_in:
            have = "It has a picture of its own." if persona.picture else "It has no picture."
            box.add_item(
                ui.Section(
                    ui.TextDisplay(f"**Picture**\n{have}"), accessory=self.button("Change", self._picture)
                )
            )
        level = _LEVELS[(_LEVELS.index(persona.detail) + 1) % len(_LEVELS)]
        label = f"Use {level.value}" if level else "As the server"
        words = f"**Detail level**\n{persona_words.detail_words(persona)}"
        change = partial(self._set, changes={"detail": level})
        box.add_item(ui.Section(ui.TextDisplay(words), accessory=self.button(label, change)))
        label = "Turn off" if persona.learns else "Turn on"
        change = partial(self._set, changes={"learns": not persona.learns})
        learning = persona_words.learning(persona)
        box.add_item(ui.Section(ui.TextDisplay(learning), accessory=self.button(label, change)))

    async def _set(self, interaction: discord.Interaction, *, changes: Mapping[str, Any]) -> None:
        await interaction.response.defer()
        await self._store(interaction, self._persona, changes)
        await self._again(interaction)

    async def _again(self, interaction: discord.Interaction) -> None:
        await self.load(interaction)
        await self.redraw(interaction)

    async def _store(
        self,
        interaction: discord.Interaction,
        seen: Persona,
        changes: Mapping[str, Any],
        picture: bytes | None = None,
    ) -> bool:
        place, person = place_and_person(interaction)
        try:
            kept = await self._engine.editing.change(person, place, seen, changes, picture)
            self._said = "Saved. It holds from the next message."
            if "triggers" in changes:
                others = [p for p in await self._engine.personas.of_guild(place.guild_id) if p.id != kept.id]
                self._said += persona_words.shared_words(shared_triggers(kept, others))
        except KeepsakeError as error:
            self._said = _errors.known(error)
            return False
        return True

    async def _discard(self, interaction: discord.Interaction) -> None:
        self._draft = None
        await self.redraw(interaction)

    async def _refused(self, interaction: discord.Interaction) -> bool:
        """Asked before a box opens, so that nobody writes a long text for nothing."""
        place, person = place_and_person(interaction)
        try:
            self._engine.editing.may(person, place)
        except PersonaRefused as refused:
            self._said = _errors.known(refused)
            await self._again(interaction)
            return True
        return False

    async def _write(self, interaction: discord.Interaction, *, part: Part, text: str) -> None:
        if await self._refused(interaction):
            return
        seen = self._persona

        async def submit(sent: discord.Interaction, typed: str) -> None:
            await sent.response.defer()
            try:
                value = part.read(typed, seen)
            except PersonaRefused as refused:
                self._said, kept = _errors.known(refused), False
            else:
                kept = await self._store(sent, seen, {part.field: value})
            self._draft = None if kept else (part, typed)
            await self._again(sent)

        await interaction.response.send_modal(PartBox(part, self._name, text, submit))

    async def _picture(self, interaction: discord.Interaction) -> None:
        if await self._refused(interaction):
            return
        seen = self._persona

        async def submit(sent: discord.Interaction, file: discord.Attachment | None, away: bool) -> None:
            await sent.response.defer()
            if file is not None:
                png, self._said = await drawn(sent, file)
                if png is not None:
                    await self._store(sent, seen, {"picture": seen.picture}, png)
            elif away:
                await self._store(sent, seen, {"picture": ""})
            await self._again(sent)

        await interaction.response.send_modal(PictureBox(self._name, bool(seen.picture), submit))
