"""What happens in channels, told to the engine; and `/refresh`, which begins a channel afresh (SPEC §2).

Events carry everything that is decided on: who, where, with which rights. Edits never call anybody.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from dataclasses import replace

import discord
from discord import app_commands
from discord.ext import commands

from cogs import _errors, _markers, engine_of
from cogs._admission import Heard, Ignore, Refuse, Run, admit, called, hear, missing_here
from cogs._delivery import QUIET, TROUBLE
from cogs._inbound import incoming, place_and_person, place_of, spoken, with_files
from cogs.views import marks
from memory.errors import KeepsakeError
from memory.types import DEFAULT_LINEAGE, Incoming, Place

log = logging.getLogger(__name__)

NO_VOICE = "🔇"
"""The reaction to a call in a channel where we can't post."""


class Chat(commands.Cog):
    """Messages in, turns out."""

    def __init__(self, bot: commands.AutoShardedBot) -> None:
        self._bot = bot

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        me, personas = self._bot.user, engine_of(self._bot).personas
        if (
            me is None
            or message.author.id == me.id
            or personas.speaks_through(message.webhook_id) is not None
        ):
            return
        said = incoming(message, me.id)
        if said is None:
            return
        heard = hear(message, me)
        persona_id = await self._called_by_name(message, said.place, heard)
        heard = replace(heard, calls_persona=persona_id is not None)
        decision = admit(heard, auto_reply=not called(heard) and await self._auto_reply(said))
        if isinstance(decision, Ignore):
            return
        if isinstance(decision, Refuse):
            await _decline(message, decision)
            return
        call = isinstance(decision, Run)
        if call and persona_id is None:
            with _logged("reading who is in use"):
                persona_id = await engine_of(self._bot).config.persona_id(said.place)
        await self._tell(await with_files(said, message), call=call, persona_id=persona_id or 0)

    async def _called_by_name(self, message: discord.Message, place: Place, heard: Heard) -> int | None:
        """The persona that a message calls: whose words it answers, else whose trigger word stands first.

        None when it calls none in particular; 0, the built-in one, for a persona that was deleted.
        """
        if heard.from_bot:
            return None
        called: int | None = None
        with _logged("reading whom a message calls"):
            called = await self._answered(place, heard)
            if called is None:
                personas = engine_of(self._bot).personas
                by_word = await personas.called_by_word(place.guild_id, spoken(message))
                called = by_word.id if by_word is not None else None
        return called

    async def _answered(self, place: Place, heard: Heard) -> int | None:
        """The persona whose words a message answers: by its webhook, else by the turn that posted them.

        None when it answers no persona's words: a confirmation or a panel of ours is nobody's.
        """
        if not heard.answers:
            return None
        engine = engine_of(self._bot)
        lineage = engine.personas.speaks_through(heard.through)
        if lineage is None:
            turn = await engine.turn_of(heard.answers)
            if turn is None:
                return None
            if place.guild_id is None:
                return turn.persona_id
            lineage = turn.lineage
        if lineage == DEFAULT_LINEAGE:
            return 0
        found = await engine.personas.by_lineage(place.guild_id, lineage)
        return found.id if found is not None else 0

    async def _auto_reply(self, said: Incoming) -> bool:
        if said.place.is_dm:
            return False
        try:
            return await engine_of(self._bot).config.auto_reply(said.place)
        except KeepsakeError as error:
            log.error("a channel's settings could not be read: %s", error)
            return False

    async def _tell(self, said: Incoming, *, call: bool, persona_id: int) -> None:
        """Hand a message to the engine. A call that can't even be stored is answered with the reason."""
        try:
            await engine_of(self._bot).observe(said, trigger=call, persona_id=persona_id)
        except KeepsakeError as error:
            log.error("a message could not be stored: %s", error, extra={"channel": said.place.channel_id})
            channel = self._bot.get_channel(said.place.channel_id)
            if call and isinstance(channel, discord.abc.Messageable):
                line = f"-# {_errors.known(error)}"
                with contextlib.suppress(*TROUBLE):
                    await channel.send(line[:2_000], allowed_mentions=QUIET)

    @commands.Cog.listener()
    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """A person's edit. Our streaming edits, webhooks and links that unfold are none."""
        message, me = payload.message, self._bot.user
        if me is None or message.author.id == me.id or message.webhook_id or message.edited_at is None:
            return
        unseen = not (message.content or message.attachments)
        if unseen and not self._bot.intents.message_content:
            return
        said = incoming(message, me.id)
        if said is not None:
            with _logged("storing an edit"):
                await engine_of(self._bot).edited(await with_files(said, message))

    @commands.Cog.listener()
    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        with _logged("storing a deletion"):
            await engine_of(self._bot).deleted(payload.channel_id, [payload.message_id])

    @commands.Cog.listener()
    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        with _logged("storing a deletion"):
            await engine_of(self._bot).deleted(payload.channel_id, sorted(payload.message_ids))

    @app_commands.command(
        name="refresh", description="Begin afresh here: I stop using what was said so far. Memories stay."
    )
    async def refresh(self, interaction: discord.Interaction) -> None:
        """Who can write in the channel may (SPEC §12). The marker is a message that anybody can see."""
        if refusal := _may_refresh(interaction):
            await _errors.whisper(interaction, refusal)
            return
        await interaction.response.defer(thinking=True)
        marker = await interaction.original_response()
        place, person = place_and_person(interaction)
        await engine_of(self._bot).refresh(place, person, marker.id)
        await interaction.edit_original_response(
            embed=_markers.refresh_embed(person.name, dm=place.is_dm),
            view=marks.one(marks.RestoreButton(marker.id)),
            allowed_mentions=QUIET,
        )


def _may_refresh(interaction: discord.Interaction) -> str:
    if interaction.guild_id is None:
        return ""
    may, thread = interaction.permissions, isinstance(interaction.channel, discord.Thread)
    if not (may.send_messages_in_threads if thread else may.send_messages):
        return "Only who can write in this channel can refresh it. Nothing was changed."
    missing = missing_here(interaction.channel, interaction.guild)
    return f"I can't post here: I lack {missing}. Nothing was changed." if missing else ""


async def _decline(message: discord.Message, decision: Refuse) -> None:
    """A call where we can't answer: a reaction if that is allowed, a line in the log, nothing stored."""
    log.info(
        "called where I can't answer: %s is missing",
        decision.reason,
        extra={"channel": place_of(message.channel).channel_id},
    )
    with contextlib.suppress(*TROUBLE):
        await message.add_reaction(NO_VOICE)


@contextlib.contextmanager
def _logged(what: str) -> Iterator[None]:
    """A store that is busy loses no event for good: the window is brought in step before the next turn.

    A call whose persona could not be read is for whoever answers there, or says why it can't be stored.
    """
    try:
        yield
    except KeepsakeError as error:
        log.error("%s failed: %s", what, error)


async def setup(bot: commands.AutoShardedBot) -> None:
    await bot.add_cog(Chat(bot))
