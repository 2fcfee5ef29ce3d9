"""Questions about personas: what becomes of its memories when it goes, and which one a card is for.

Seen by who asked alone. The first press counts; a later one is acknowledged and does nothing. Rights and
numbers are asked for again at the press.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import discord
from discord import ui

from cogs import _errors, _render, engine_of
from cogs._inbound import place_and_person
from cogs._outcomes import QUIET, announce
from cogs.views import persona_words
from cogs.views.modals import OwnView
from cogs.views.panel import acknowledge
from memory.errors import KeepsakeError
from memory.types import Persona

Go = Callable[[discord.Interaction], Awaitable[None]]

KEPT = "Kept. Nothing was changed."


class Choose(OwnView):
    """Buttons of which one is pressed, once. The answer is edited in place of the question."""

    def __init__(self, opener_id: int, offers: Sequence[tuple[str, discord.ButtonStyle, Go]]) -> None:
        super().__init__(opener_id)
        self._decided = False
        for label, style, go in offers:
            button: Any = ui.Button(label=label, style=style)
            button.callback = self._press(go)
            self.add_item(button)

    def _press(self, go: Go) -> Go:
        async def press(interaction: discord.Interaction) -> None:
            if self._decided:
                await acknowledge(interaction)
                return
            self._decided = True
            await interaction.response.edit_message(content="One moment…", view=None)
            await go(interaction)
            self.stop()

        return press


async def say(interaction: discord.Interaction, line: str, view: OwnView | None = None) -> None:
    """Put a line in place of the answer, with buttons or none."""
    message = await interaction.edit_original_response(content=line, view=view, allowed_mentions=QUIET)
    if view is not None:
        view.message = message


async def _keep(interaction: discord.Interaction) -> None:
    await say(interaction, KEPT)


async def ask_to_delete(interaction: discord.Interaction, persona_id: int) -> None:
    """What deleting would do, in numbers, and what is to become of the server's memories."""
    place, person = place_and_person(interaction)
    persona, left = await engine_of(interaction).leaving(person, place, persona_id)
    delete, keep = discord.ButtonStyle.danger, discord.ButtonStyle.secondary
    offers: list[tuple[str, discord.ButtonStyle, Go]] = []
    if left.server:
        offers.append(("Delete it, keep its memories", delete, _deleting(persona, None)))
        offers.append(("Delete the server's too", delete, _deleting(persona, left.server)))
    else:
        offers.append(("Delete it", delete, _deleting(persona, None)))
    offers.append(("Cancel", keep, _keep))
    used = await engine_of(interaction).editing.in_use(place)
    where = "in this server" if persona.id == used.server else "here" if persona.id == used.here else ""
    words = persona_words.leaving_words(persona.name, left, where)
    await say(interaction, words, Choose(interaction.user.id, offers))


def _deleting(persona: Persona, counted: int | None) -> Go:
    """``counted``: the server's memories that go with it; None keeps them."""

    async def go(pressed: discord.Interaction) -> None:
        place, person = place_and_person(pressed)
        engine = engine_of(pressed)
        try:
            left = await engine.delete_persona(
                person, place, persona.id, counted is not None, counted=counted
            )
        except KeepsakeError as error:
            await say(pressed, f"{_errors.known(error)} `/persona delete` asks again.")
            return
        words = persona_words.left_words(
            persona.name,
            moved=left.server + left.personal - left.merged - left.deleted,
            merged=left.merged,
            deleted=left.deleted,
            discarded=left.discarded,
            staying=left.staying,
        )
        await say(pressed, words)
        if left.deleted:
            count = f"{left.deleted:,} {'memory' if left.deleted == 1 else 'memories'}"
            name = _render.escape(persona.name)
            await announce(pressed, "Deleted", f"The persona {name} and {count} about this server")

    return go


def ask_which(opener_id: int, update: Go, copy: Go) -> Choose:
    """A card of a character that is here already: the same one, or another."""
    return Choose(
        opener_id,
        (
            ("Update that persona", discord.ButtonStyle.primary, update),
            ("Add as a new one", discord.ButtonStyle.secondary, copy),
            ("Cancel", discord.ButtonStyle.secondary, _keep),
        ),
    )
