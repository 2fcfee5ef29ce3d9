"""`/context …`: exactly what the model is given, what was left out and why (SPEC §5).

Always seen by the asker alone. The ledgers come redacted: others' personal memories are counts and tokens.
"""

from __future__ import annotations

import asyncio
import io

import discord
from discord import app_commands, ui
from discord.ext import commands

from cogs import _render, engine_of
from cogs._errors import answering, whisper
from cogs._inbound import place_and_person
from cogs._outcomes import QUIET
from cogs.memories import EVERYWHERE, INSTALLED
from cogs.views import budget_picture, persona_words
from cogs.views.entry_text import handle, when
from cogs.views.pages import cut
from cogs.views.persona_choice import complete_any, name_of_persona, picked
from memory.engine import LastTurn
from memory.prompt.ledger import Ledger, Status
from memory.prompt.views import explain
from memory.types import DEFAULT_LINEAGE, Turn

REASONS = 6
"""Reasons for leaving something out that are listed; the attached table has them all."""

HANDLES = 40
"""Memories that are named one by one; more are counted."""

PICTURE, TABLE, SNAPSHOT = "budget.png", "blocks.txt", "prompt.txt"

_COLOUR = discord.Colour(0x5865F2)


class Context(commands.Cog):
    """Looking into the prompt."""

    context = app_commands.Group(
        name="context",
        description="What I am given to answer with, and what was left out",
        allowed_contexts=EVERYWHERE,
        allowed_installs=INSTALLED,
    )

    @context.command(name="preview", description="What I would be given if you wrote to me now")
    @app_commands.describe(
        text="What you would write (may be left out)",
        persona="Who would answer (who answers here, unless you choose)",
    )
    @app_commands.autocomplete(persona=complete_any)
    async def preview(
        self,
        interaction: discord.Interaction,
        text: app_commands.Range[str, 0, 2000] = "",
        persona: str = "",
    ) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        place, person = place_and_person(interaction)
        async with answering(interaction):
            engine = engine_of(interaction)
            who = await picked(interaction, persona) if persona else await engine.answering(person, place)
            ledger = await engine.preview(person, place, text, who)
            more = "-# Nothing was sent and nothing was saved."
            answers = f"**Who would answer** {persona_words.bold(name_of_persona(interaction, who))}"
            await _show(interaction, "What I would be given now", answers, ledger, more)

    @context.command(name="last", description="What I was given for my latest reply here, and what it cost")
    async def last(self, interaction: discord.Interaction) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        place, person = place_and_person(interaction)
        found = await engine_of(interaction).last(person, place)
        if found is None:
            await interaction.edit_original_response(
                content="I have not answered anybody here yet. `/context preview` shows the next prompt."
            )
            return
        answered = f"**Answered** {await _who(interaction, found.turn)}"
        title = "What I was given for my latest reply"
        await _show(interaction, title, answered, found.ledger, last_words(found))

    @context.command(
        name="snapshot", description="The whole prompt as a text file (Manage Server; in DMs you)"
    )
    async def snapshot(self, interaction: discord.Interaction) -> None:
        place, person = place_and_person(interaction)
        if not (place.is_dm or person.manages):
            await whisper(
                interaction,
                "The whole prompt needs the Manage Server permission. `/context preview` shows everybody what"
                " fills it.",
            )
            return
        await interaction.response.defer(ephemeral=True, thinking=True)
        async with answering(interaction):
            text = await engine_of(interaction).snapshot(person, place)
            await interaction.edit_original_response(
                content="All that I would be given now. Others' personal memories are counted, not shown.",
                attachments=[_file(text, SNAPSHOT)],
                allowed_mentions=QUIET,
            )


def ledger_words(ledger: Ledger) -> str:
    """The numbers of a ledger in a few lines."""
    about = " (approximate: not this model's own)" if ledger.approximate else ""
    share = 100 * ledger.used / ledger.budget if ledger.budget > 0 else 0
    kept = max(0, ledger.context_window - ledger.budget)
    return "\n".join(
        (
            f"**Model** {_render.escape(cut(ledger.model, 80))} · **tokenizer** {ledger.encoding}{about}",
            f"**Limit** {ledger.context_window:,} tokens · **kept for reply and tools** {kept:,}",
            f"**Used** {ledger.used:,} of the other {ledger.budget:,} ({share:.0f} %)"
            f" · **strategy** {ledger.strategy}",
        )
    )


def reasons(ledger: Ledger) -> str:
    """What is not in the prompt, by kind and reason; "" when nothing was left out."""
    counted: dict[tuple[str, str], list[int]] = {}
    for entry in ledger.entries:
        if entry.status is Status.INCLUDED or entry.block.heading:
            continue
        why = entry.why or (
            "its summary is given instead" if entry.status is Status.SUMMARISED else "no room"
        )
        sums = counted.setdefault((entry.block.kind.label, why), [0, 0])
        sums[0] += entry.block.entries
        sums[1] += entry.block.tokens
    ranked = sorted(counted.items(), key=lambda item: -item[1][1])
    lines = [
        f"- {number} × {kind}, {tokens:,} tokens: {_render.escape(cut(why, 150))}"
        for (kind, why), (number, tokens) in ranked[:REASONS]
    ]
    if len(ranked) > REASONS:
        lines.append(f"- … and {len(ranked) - REASONS} more reasons")
    return "\n".join(lines)


def last_words(found: LastTurn) -> str:
    """What the latest turn used, and where its reply stands."""
    turn = found.turn
    lines = []
    if turn.usage.prompt or turn.usage.completion:
        cached = f" ({turn.usage.cached:,} of them from its cache)" if turn.usage.cached else ""
        lines.append(
            f"**Counted by the model** {turn.usage.prompt:,} tokens in{cached}, {turn.usage.completion:,} out"
        )
    ids = sorted({i for block in found.ledger.included() for i in block.memory_ids})
    if ids:
        more = f" and {len(ids) - HANDLES} more" if len(ids) > HANDLES else ""
        lines.append(f"**Memories used** {' '.join(handle(i) for i in ids[:HANDLES])}{more}")
    link = _link(turn)
    lines.append(f"-# {when(turn.started_at, 'f')}{f' · [the reply]({link})' if link else ''}")
    return "\n".join(lines)


async def _who(interaction: discord.Interaction, turn: Turn) -> str:
    """Who gave a reply, by their present name."""
    place, person = place_and_person(interaction)
    engine = engine_of(interaction)
    if turn.lineage == DEFAULT_LINEAGE:
        return persona_words.bold(name_of_persona(interaction, await engine.personas.built_in(None)))
    if place.guild_id is not None:
        found = await engine.personas.by_lineage(place.guild_id, turn.lineage)
    else:
        found = await engine.editing.find(person, place, turn.persona_id)
    gone = found is None or found.lineage != turn.lineage
    return "a persona that is no longer here" if found is None or gone else persona_words.bold(found.name)


async def _show(interaction: discord.Interaction, title: str, who: str, ledger: Ledger, more: str) -> None:
    """Who it is for, the numbers, the picture, what was left out, and the table as a file."""
    picture = await asyncio.to_thread(budget_picture.draw, ledger)
    box: ui.Container[ui.LayoutView] = ui.Container(accent_colour=_COLOUR)
    box.add_item(ui.TextDisplay(f"## {title}\n{who}\n{ledger_words(ledger)}"))
    gallery: ui.MediaGallery[ui.LayoutView] = ui.MediaGallery()
    gallery.add_item(media=f"attachment://{PICTURE}", description=_alt(ledger))
    box.add_item(gallery)
    left_out = reasons(ledger)
    box.add_item(ui.TextDisplay(f"**Left out**\n{left_out}" if left_out else "Nothing was left out."))
    notes = "\n".join(f"- {_render.escape(cut(note, 200))}" for note in ledger.notes[:5])
    if notes:
        box.add_item(ui.TextDisplay(f"**Notes**\n{notes}"))
    box.add_item(ui.TextDisplay(more))
    box.add_item(ui.File(f"attachment://{TABLE}"))
    view = ui.LayoutView(timeout=None)
    view.add_item(box)
    view.stop()
    await interaction.edit_original_response(
        view=view,
        attachments=[discord.File(io.BytesIO(picture), PICTURE), _file(table(ledger), TABLE)],
        allowed_mentions=QUIET,
    )


def table(ledger: Ledger) -> str:
    """Every block on its own line, then the sums."""
    rows = [explain(ledger), "", "every block, in prompt order:"]
    for entry in ledger.entries:
        block = entry.block
        why = f" ({entry.why})" if entry.why else ""
        title = " ".join(block.title.split())
        rows.append(f"{block.tokens:>8,}  {entry.status.value:<10}  {block.kind.label}: {title}{why}")
    return "\n".join(rows) + "\n"


def _alt(ledger: Ledger) -> str:
    """The picture in words, for who can't see it."""
    listed = ", ".join(f"{p.kind.label} {p.tokens:,}" for p in budget_picture.parts(ledger) if p.tokens)
    return cut(f"{ledger.used:,} of {ledger.budget:,} tokens used: {listed}", 1_000)


def _link(turn: Turn) -> str:
    if not turn.reply_ids:
        return ""
    guild = turn.place.guild_id if turn.place.guild_id is not None else "@me"
    return f"https://discord.com/channels/{guild}/{turn.place.channel_id}/{turn.reply_ids[0]}"


def _file(text: str, name: str) -> discord.File:
    return discord.File(io.BytesIO(text.encode("utf-8", "replace")), name)


async def setup(bot: commands.Bot) -> None:
    await bot.add_cog(Context())
