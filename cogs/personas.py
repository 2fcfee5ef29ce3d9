"""`/persona …`: the characters of a server. Making and changing them needs Manage Server (SPEC §11, §12).

Everybody in the server sees the list, a persona and its card. In a direct message its member chooses who
talks there. Rights are the engine's matter; what was typed and refused is offered back.
"""

from __future__ import annotations

import asyncio
import io
import re
from dataclasses import replace

import aiohttp
import discord
from discord import app_commands, ui
from discord.ext import commands

from cogs import _errors, engine_of
from cogs._errors import answering
from cogs._inbound import place_and_person
from cogs._outcomes import QUIET
from cogs._render import escape
from cogs.memories import EVERYWHERE, INSTALLED
from cogs.views import persona_words
from cogs.views.help_panel import SERVERS_ONLY
from cogs.views.modals import OwnView
from cogs.views.persona_asking import Go, ask_to_delete, ask_which, say
from cogs.views.persona_boxes import NewBox, Words, drawn
from cogs.views.persona_choice import (
    choices,
    complete_any,
    complete_own,
    name_of_persona,
    picked,
    server_of,
)
from cogs.views.persona_panel import PersonaPanel
from memory.config.rules import Level
from memory.errors import KeepsakeError
from memory.personas.rules import Card, PersonaRefused, shared_triggers
from memory.types import Persona

_COLOUR = discord.Colour(0x5865F2)

WHERE = [
    app_commands.Choice(name="this channel", value=Level.CHANNEL.value),
    app_commands.Choice(name="the whole server", value=Level.SERVER.value),
]
FORMS = [
    app_commands.Choice(name="PNG: a picture with the card in it", value="png"),
    app_commands.Choice(name="JSON: plain text", value="json"),
]

NEXT = (
    "-# `/persona use` lets it answer here; its trigger words, if it has any, call it."
    " `/persona edit` changes it."
)


class Personas(commands.Cog):
    """The persona commands."""

    persona = app_commands.Group(
        name="persona",
        description="The characters that I play",
        allowed_contexts=EVERYWHERE,
        allowed_installs=INSTALLED,
    )

    @persona.command(
        name="create",
        description="Make a new persona (Manage Server)",
        extras=SERVERS_ONLY,
    )
    async def create(self, interaction: discord.Interaction) -> None:
        async with answering(interaction):
            place, person = place_and_person(interaction)
            engine_of(interaction).editing.may(person, place)
            await interaction.response.send_modal(NewBox(Words(), _make))

    @persona.command(
        name="edit",
        description="Change a persona (Manage Server)",
        extras=SERVERS_ONLY,
    )
    @app_commands.describe(persona="Which one")
    @app_commands.autocomplete(persona=complete_any)
    async def edit(self, interaction: discord.Interaction, persona: str) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with answering(interaction):
            place, person = place_and_person(interaction)
            engine_of(interaction).editing.may(person, place)
            await _open(interaction, await picked(interaction, persona))

    @persona.command(
        name="delete",
        description="Delete a persona; its memories are kept (Manage Server)",
        extras=SERVERS_ONLY,
    )
    @app_commands.describe(persona="Which one")
    @app_commands.autocomplete(persona=complete_own)
    async def delete(self, interaction: discord.Interaction, persona: str) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with answering(interaction):
            place, person = place_and_person(interaction)
            engine_of(interaction).editing.may(person, place)
            found = await picked(interaction, persona)
            await ask_to_delete(interaction, found.id)

    @persona.command(name="list", description="Who can be talked to here")
    async def list(self, interaction: discord.Interaction) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with answering(interaction):
            view = _page(await _list_words(interaction))
            await interaction.edit_original_response(view=view, allowed_mentions=QUIET)

    @persona.command(name="show", description="A persona as it is written")
    @app_commands.describe(persona="Which one")
    @app_commands.autocomplete(persona=complete_any)
    async def show(self, interaction: discord.Interaction, persona: str) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with answering(interaction):
            await _show(interaction, await picked(interaction, persona))

    @persona.command(
        name="use", description="Who answers when nobody else is called (Manage Server; DMs: you)"
    )
    @app_commands.describe(persona="Who", where="Where (this channel, unless you choose)")
    @app_commands.choices(where=WHERE)
    @app_commands.autocomplete(persona=complete_any)
    async def use(
        self, interaction: discord.Interaction, persona: str, where: str = Level.CHANNEL.value
    ) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with answering(interaction):
            place, person = place_and_person(interaction)
            found = await picked(interaction, persona)
            engine = engine_of(interaction)
            found = await engine.editing.use(person, place, 0 if found.built_in else found.id, Level(where))
            name = persona_words.bold(name_of_persona(interaction, found))
            if place.is_dm:
                line = f"{name} answers you here from now on."
            else:
                there = "in this server" if where == Level.SERVER else "here"
                line = f"{name} answers {there} from now on, when nobody else is called."
            await say(interaction, f"{line}\n-# {persona_words.learning(found)}")

    @persona.command(
        name="dismiss", description="Take a persona out of this channel (Manage Server; in DMs you)"
    )
    @app_commands.describe(persona="Which one")
    @app_commands.autocomplete(persona=complete_own)
    async def dismiss(self, interaction: discord.Interaction, persona: str) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with answering(interaction):
            place, person = place_and_person(interaction)
            found = await picked(interaction, persona)
            engine = engine_of(interaction)
            found = await engine.editing.dismiss(person, place, 0 if found.built_in else found.id)
            more = "" if place.is_dm else " It can still be called by its trigger words or a reply."
            name = persona_words.bold(name_of_persona(interaction, found))
            await say(
                interaction,
                f"{name} takes no part in this channel now. Everything that is remembered is kept.{more}",
            )

    @persona.command(
        name="import",
        description="Add a persona from a character card (Manage Server)",
        extras=SERVERS_ONLY,
    )
    @app_commands.describe(file="A character card, PNG or JSON", name="Another name than the card's")
    async def import_(
        self, interaction: discord.Interaction, file: discord.Attachment, name: str = ""
    ) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with answering(interaction):
            place, person = place_and_person(interaction)
            engine = engine_of(interaction)
            engine.editing.may(person, place)
            read = await _read(interaction, file)
            lineage = read.persona.lineage
            known = await engine.personas.by_lineage(place.guild_id, lineage) if lineage else None
            if known is None:
                made = await engine.editing.import_card(person, place, read, name)
                await _made(interaction, made, read.notes)
                return
            here = persona_words.bold(known.name)
            await say(
                interaction,
                f"This is the card of {here}, who is here already. What should become of it?",
                ask_which(person.id, _updating(known, read, name), _adding(read, name)),
            )

    @persona.command(name="export", description="A persona as a character card to take along")
    @app_commands.describe(persona="Which one", form="As a picture (unless you choose) or as text")
    @app_commands.choices(form=FORMS)
    @app_commands.autocomplete(persona=complete_own)
    async def export(self, interaction: discord.Interaction, persona: str, form: str = "png") -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with answering(interaction):
            found = await picked(interaction, persona)
            data = await engine_of(interaction).editing.card(found, png=form != "json")
            name = f"{re.sub(r'[^a-z0-9]+', '-', found.name.lower()).strip('-') or 'persona'}.card.{form}"
            await interaction.edit_original_response(
                content=f"The card of {persona_words.bold(found.name)}. It holds no memories."
                " Members' own memories with this character follow it to a server that imports it.",
                attachments=[discord.File(io.BytesIO(data), name)],
                allowed_mentions=QUIET,
            )


async def _make(interaction: discord.Interaction, words: Words, file: discord.Attachment | None) -> None:
    """Make what was written, or offer the words back."""
    await interaction.response.defer(ephemeral=True, thinking=True)
    engine, said = engine_of(interaction), ""
    if file is not None:
        picture, said = await drawn(interaction, file)
        words = replace(words, picture=picture or words.picture)
    place, person = place_and_person(interaction)
    try:
        made = await engine.editing.create(person, place, words.persona(), words.picture)
    except KeepsakeError as error:
        await say(interaction, _errors.known(error), _Again(person.id, words))
        return
    await _made(interaction, made, (said,) if said else ())


class _Again(OwnView):
    """The words of a persona that was not made, in the box again."""

    def __init__(self, opener_id: int, words: Words) -> None:
        super().__init__(opener_id)
        self._words = words

    @ui.button(label="Try again with my words", style=discord.ButtonStyle.primary)
    async def again(self, interaction: discord.Interaction, _button: ui.Button[_Again]) -> None:
        await interaction.response.send_modal(NewBox(self._words, _make))


async def _made(interaction: discord.Interaction, persona: Persona, notes: tuple[str, ...]) -> None:
    """The panel of a persona that is new or was renewed. ``notes``: what was not taken, escaped or ours."""
    place, _ = place_and_person(interaction)
    others = [p for p in await engine_of(interaction).personas.of_guild(place.guild_id) if p.id != persona.id]
    shared = persona_words.shared_words(shared_triggers(persona, others))
    said = "\n".join((f"{persona_words.bold(persona.name)} is ready.", *notes, NEXT)) + shared
    await _open(interaction, persona, said)


async def _open(interaction: discord.Interaction, persona: Persona, said: str = "") -> None:
    panel = PersonaPanel(engine_of(interaction), interaction.user.id, persona, said)
    await panel.load(interaction)
    await panel.open(interaction)


async def _read(interaction: discord.Interaction, file: discord.Attachment) -> Card:
    """The card in a file, which is fetched only when it is small enough. Raises PersonaRefused."""
    editing = engine_of(interaction).editing
    editing.check_file(file.size)
    try:
        data = await file.read()
    except (discord.HTTPException, aiohttp.ClientError, OSError, TimeoutError) as error:
        raise PersonaRefused("Discord did not hand me the file. Nothing was changed: try again.") from error
    return await editing.read_card(data)


def _updating(known: Persona, card: Card, name: str) -> Go:
    async def go(pressed: discord.Interaction) -> None:
        place, person = place_and_person(pressed)
        try:
            kept = await engine_of(pressed).editing.update_from(person, place, known, card, name)
        except KeepsakeError as error:
            await say(pressed, _errors.known(error))
            return
        await _said_made(pressed, kept, card, "holds what the card says now")

    return go


def _adding(card: Card, name: str) -> Go:
    async def go(pressed: discord.Interaction) -> None:
        place, person = place_and_person(pressed)
        engine = engine_of(pressed)
        taken = shared_triggers(card.persona, await engine.personas.of_guild(place.guild_id))
        try:
            made = await engine.editing.import_card(person, place, card, name, copy=True)
        except KeepsakeError as error:
            await say(pressed, _errors.known(error))
            return
        dropped = {word: other for word, other in taken.items() if word not in made.triggers}
        left_out = persona_words.left_words_out(dropped)
        notes = ("It is a character of its own, without memories.", left_out, *card.notes)
        await _made(pressed, made, tuple(note for note in notes if note))

    return go


async def _said_made(interaction: discord.Interaction, persona: Persona, card: Card, what: str) -> None:
    """A question can't become a panel (Discord), so this is said in lines."""
    await say(interaction, "\n".join((f"{persona_words.bold(persona.name)} {what}.", *card.notes, NEXT)))


async def _show(interaction: discord.Interaction, persona: Persona) -> None:
    name = name_of_persona(interaction, persona)
    png = await engine_of(interaction).personas.picture(persona.picture) if persona.picture else None
    text: ui.TextDisplay[ui.LayoutView] = ui.TextDisplay(persona_words.shown(persona, name))
    if png is None:
        view, files = _page_of(text), []
    else:
        picture: ui.Thumbnail[ui.LayoutView] = ui.Thumbnail(
            "attachment://picture.png", description=f"The picture of {name}"
        )
        view, files = (
            _page_of(ui.Section(text, accessory=picture)),
            [discord.File(io.BytesIO(png), "picture.png")],
        )
    await interaction.edit_original_response(view=view, attachments=files, allowed_mentions=QUIET)


async def _list_words(interaction: discord.Interaction) -> str:
    place, _ = place_and_person(interaction)
    engine = engine_of(interaction)
    found = await choices(interaction)
    used, cast = await asyncio.gather(engine.editing.in_use(place), engine.editing.cast(place))
    here = used.here if any(p.id == used.here and not p.built_in for p in found) else 0
    server = used.server if any(p.id == used.server and not p.built_in for p in found) else 0
    names, marks = {}, {}
    for persona in found:
        number = 0 if persona.built_in else persona.id
        said = []
        if number == here:
            said.append("**answers here**")
        if number == server and server != here:
            said.append("answers elsewhere in this server")
        if persona.lineage in cast and number != here:
            said.append("takes part here")
        if place.is_dm and not persona.built_in:
            said.append(f"from {escape(server_of(interaction, persona))}")
        names[persona.id] = name_of_persona(interaction, persona)
        marks[persona.id] = " · ".join(said)
    most = None if place.is_dm else engine.settings.max_personas_per_server
    return persona_words.listed(found, names, marks, most)


def _page(text: str) -> ui.LayoutView:
    return _page_of(ui.TextDisplay(text))


def _page_of(item: ui.Item[ui.LayoutView]) -> ui.LayoutView:
    box: ui.Container[ui.LayoutView] = ui.Container(item, accent_colour=_COLOUR)
    view = ui.LayoutView(timeout=None)
    view.add_item(box)
    view.stop()
    return view


async def setup(bot: commands.Bot) -> None:
    await bot.add_cog(Personas())
