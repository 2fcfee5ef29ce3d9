"""The boxes in which a persona is written: all of a new one, one part of it, its picture.

What a person typed is never lost: whoever can't keep it offers it back in the same box.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import discord
from discord import ui

from cogs import _errors, engine_of
from cogs.views.modals import BOX_UNITS, OPEN_S
from cogs.views.pages import cut, units
from memory.errors import KeepsakeError
from memory.personas import rules
from memory.types import Persona

PICTURE_HELP = "PNG, JPEG, WebP or GIF; it is made at most 512 pixels wide."


@dataclass(frozen=True, slots=True)
class Words:
    """What was typed for a new persona. ``picture``: what was uploaded, drawn already."""

    name: str = ""
    description: str = ""
    prompt: str = ""
    triggers: str = ""
    picture: bytes | None = None

    def persona(self) -> Persona:
        lines = tuple(self.triggers.splitlines())
        return Persona(0, None, "", self.name, self.description, self.prompt, triggers=lines)


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a persona as a person writes it: a field, its box, and how words become its value."""

    field: str
    label: str
    help: str
    write: Callable[[Persona], str]
    read: Callable[[str, Persona], Any]
    short: bool = False
    placeholder: str = ""


def _lines(text: str, _persona: Persona) -> tuple[str, ...]:
    return tuple(text.splitlines())


PARTS: Mapping[str, Part] = {
    part.field: part
    for part in (
        Part(
            "name",
            "Name",
            f"Up to {rules.NAME_LIMIT} characters.",
            lambda p: p.name,
            lambda text, _: text,
            short=True,
        ),
        Part(
            "description",
            "Who it is",
            f"Up to {rules.TEXT_LIMIT:,} characters.",
            lambda p: p.description,
            lambda text, _: text,
        ),
        Part(
            "prompt",
            "Instructions",
            f"What it must always do. Up to {rules.TEXT_LIMIT:,} characters.",
            lambda p: p.prompt,
            lambda text, _: text,
        ),
        Part(
            "attributes",
            "Attributes, one a line",
            f"Up to {rules.MOST_ATTRIBUTES}, of {rules.ATTRIBUTE_LIMIT} characters each.",
            lambda p: "\n".join(p.attributes),
            _lines,
            placeholder="Curious\nSpeaks in short sentences",
        ),
        Part(
            "samples",
            "Sample dialogues",
            "Lines “member: …” and “persona: …”, an empty line between two."
            f" Up to {rules.MOST_SAMPLES}, {rules.TEXT_LIMIT:,} characters.",
            lambda p: rules.samples_text(p.samples),
            lambda text, p: rules.written_samples(text, p.name),
            placeholder="member: Good evening!\npersona: Evening, traveller. Sit down.",
        ),
        Part(
            "triggers",
            "Trigger words, one a line",
            f"They call it. Up to {rules.MOST_TRIGGERS}, of {rules.TRIGGER_LIMIT} characters each.",
            lambda p: "\n".join(p.triggers),
            _lines,
            placeholder="its name\na nickname",
        ),
    )
}


class _Box(ui.Modal):
    """A box whose errors become sentences."""

    def __init__(self, title: str) -> None:
        super().__init__(title=cut(title, 45), timeout=OPEN_S)

    def write(
        self, part: Part, text: str, *, required: bool = False, custom_id: str = ""
    ) -> ui.TextInput[Any]:
        box: ui.TextInput[Any] = ui.TextInput(
            style=discord.TextStyle.short if part.short else discord.TextStyle.paragraph,
            custom_id=custom_id or part.field,
            default=cut(text, BOX_UNITS) or None,
            placeholder=cut(part.placeholder, 100) or None,
            required=required,
            max_length=max(300, units(text)) if part.short else BOX_UNITS,
        )
        self.add_item(ui.Label(text=part.label, description=part.help, component=box))
        return box

    def upload(self) -> ui.FileUpload[Any]:
        files: ui.FileUpload[Any] = ui.FileUpload(
            custom_id="picture", required=False, min_values=0, max_values=1
        )
        self.add_item(ui.Label(text="Picture", description=PICTURE_HELP, component=files))
        return files

    async def on_error(  # type: ignore[override]  # discord.py gives a modal's handler no item
        self, interaction: discord.Interaction, error: Exception, /
    ) -> None:
        await _errors.answer(interaction, error)


NewSubmit = Callable[[discord.Interaction, Words, discord.Attachment | None], Awaitable[None]]


class NewBox(_Box):
    """All that a new persona needs; the rest is added afterwards."""

    def __init__(self, words: Words, submit: NewSubmit) -> None:
        super().__init__("A new persona")
        self._words = words
        self._submit = submit
        self._name = self.write(PARTS["name"], words.name, required=True)
        self._description = self.write(PARTS["description"], words.description)
        self._prompt = self.write(PARTS["prompt"], words.prompt)
        self._triggers = self.write(PARTS["triggers"], words.triggers)
        self._picture = self.upload()

    async def on_submit(self, interaction: discord.Interaction) -> None:
        words = replace(
            self._words,
            name=self._name.value,
            description=self._description.value,
            prompt=self._prompt.value,
            triggers=self._triggers.value,
        )
        files = self._picture.values
        await self._submit(interaction, words, files[0] if files else None)


class PartBox(_Box):
    """One part of a persona."""

    def __init__(
        self,
        part: Part,
        name: str,
        text: str,
        submit: Callable[[discord.Interaction, str], Awaitable[None]],
    ) -> None:
        super().__init__(f"Edit {name}")
        self._submit = submit
        self._box = self.write(part, text, required=part.field == "name", custom_id="text")

    async def on_submit(self, interaction: discord.Interaction) -> None:
        await self._submit(interaction, self._box.value)


class PictureBox(_Box):
    """Another picture, or none."""

    def __init__(
        self,
        name: str,
        has_one: bool,
        submit: Callable[[discord.Interaction, discord.Attachment | None, bool], Awaitable[None]],
    ) -> None:
        super().__init__(f"Picture of {name}")
        self._submit = submit
        self._picture = self.upload()
        self._away: ui.Checkbox[Any] | None = None
        if has_one:
            self._away = ui.Checkbox(custom_id="away", default=False)
            self.add_item(ui.Label(text="Take the present picture away", component=self._away))

    async def on_submit(self, interaction: discord.Interaction) -> None:
        files = self._picture.values
        away = bool(self._away and self._away.value)
        await self._submit(interaction, files[0] if files else None, away)


async def drawn(interaction: discord.Interaction, file: discord.Attachment) -> tuple[bytes | None, str]:
    """An uploaded picture as an avatar, or why it was not taken, ready to be shown."""
    editing = engine_of(interaction).editing
    try:
        editing.check_file(file.size)
        return await editing.drawn(await file.read()), ""
    except KeepsakeError as error:
        return None, f"The picture was not taken. {_errors.known(error)}"
    except (discord.HTTPException, OSError, TimeoutError) as error:
        return None, f"The picture was not taken. {_errors.sentence(error) or 'It could not be fetched.'}"
