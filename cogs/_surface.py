"""Discord as the engine's surface (:class:`memory.ports.Surface`): finds channels, posts, reads back.

Nothing here raises but what the port says. What can't be seen is empty, and unsure means no.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

import discord
from discord.ext import commands

from cogs import _names, _render, engine_of
from cogs._branching import branch
from cogs._delivery import TROUBLE, Budget, DiscordReply, OwnVoice, Speakable, Voice, part_nonce, post
from cogs._hooks import NO_RIGHT, Hooks, may_be_made, parent_of
from cogs._inbound import (
    REPORT_SIGN,
    incoming,
    is_notice,
    is_report,
    person_of,
    place_of,
    retried_turn,
    with_files,
)
from cogs._voice import PersonaVoice
from cogs.views import marks, notices
from memory.errors import KeepsakeError
from memory.ports import DeliveryError, Failure, NoticeView, Past, Posted, Reply, Speaker
from memory.types import AttachmentKind, AuthorKind, Hook, Incoming, Place

log = logging.getLogger(__name__)

HISTORY_FILES = 5
"""Text files of the newest messages that are read when history is read back; older ones are only named."""

LOOKED_AT = 5
"""Messages that are looked at for each one that is wanted: notices and system lines stand between them."""

AFTER_TRIGGER = 100
"""Messages after a trigger that are looked through for its answer."""

PARTS = 25
"""Messages from a known part of an answer on that are looked through for its further parts."""

NO_CONTENT = (
    "The Message Content intent is not granted, so I see what is said only in mentions, replies that ping me"
    " and direct messages; those still work. To let me follow a conversation, switch on “Message Content"
    " Intent” on the bot's page in Discord's developer portal and restart."
)

_SPEAKABLE = (
    discord.TextChannel,
    discord.VoiceChannel,
    discord.StageChannel,
    discord.Thread,
    discord.DMChannel,
)


class DiscordSurface:
    """The bot's channels. Holds nothing but the edit budget of the process, and the door to webhooks."""

    def __init__(self, bot: commands.AutoShardedBot) -> None:
        self._bot = bot
        self._clock = engine_of(bot).clock
        self._budget = Budget(self._clock)
        self._hooks = Hooks(bot)

    def reply(
        self, place: Place, reply_to: int, standing: Sequence[Posted] = (), speaker: Speaker | None = None
    ) -> Reply:
        def voice(channel: Speakable) -> Voice:
            if speaker is None:
                return OwnVoice(channel)
            return PersonaVoice(channel, speaker, self._hooks, self._clock)

        return DiscordReply(
            place, reply_to, standing, find=self._find, clock=self._clock, budget=self._budget, voice=voice
        )

    async def _find(self, place: Place) -> Speakable | None:
        """The channel of a place; None when it is gone or out of our reach."""
        try:
            return await self._reach(place)
        except discord.Forbidden:
            return None

    async def _reach(self, place: Place) -> Speakable | None:
        """The channel of a place, from the cache or from Discord; None when there is none to speak in."""
        channel: object = self._bot.get_channel(place.channel_id)
        if channel is None:
            try:
                channel = await self._bot.fetch_channel(place.channel_id)
            except (discord.NotFound, discord.InvalidData):
                return None
        return channel if isinstance(channel, _SPEAKABLE) else None

    async def history(
        self, place: Place, *, limit: int, before: int | None = None, after: int | None = None
    ) -> Past | None:
        me, speaks_for = self.own_id(), engine_of(self._bot).personas.speaks_through
        seen: list[tuple[Incoming, discord.Message]] = []
        looked_at, since = 0, 0 if after is None else after + 1
        try:
            channel = await self._reach(place)
            if channel is None:
                return None
            async for message in channel.history(
                limit=limit * LOOKED_AT,
                before=discord.Object(before) if before is not None else None,
                after=discord.Object(after) if after is not None else None,
                oldest_first=False,
            ):
                looked_at += 1
                said = incoming(message, me, speaks_for(message.webhook_id))
                if said is not None and not (message.author.id == me and is_notice(message)):
                    said = await self._recognised(place, said) if said.author.id == me else said
                    seen.append((replace(said, place=_named(place, said.place)), message))
                if len(seen) >= limit or looked_at >= limit * LOOKED_AT:
                    since = message.id
                    break
        except TROUBLE as error:
            log.info(
                "history could not be read: %s", type(error).__name__, extra={"channel": place.channel_id}
            )
            return None
        return Past(tuple(reversed(await _with_newest_files(seen))), since)

    async def _recognised(self, place: Place, said: Incoming) -> Incoming:
        """Words of ours that had a name in front, as the persona's that has that name now, if any has."""
        if said.kind is AuthorKind.PERSONA:
            return said
        engine = engine_of(self._bot)
        try:
            known = await engine.personas.of_guild(place.guild_id)
            if place.is_dm:
                known = (await engine.personas.get(place, await engine.config.persona_id(place)),)
        except KeepsakeError as error:
            log.error("personas could not be read: %s", error)
            return said
        name = said.author.name
        found = next((p for p in known if not p.built_in and _names.same(p.name, name)), None)
        return replace(said, kind=AuthorKind.PERSONA, lineage=found.lineage) if found else said

    async def own_replies(
        self, place: Place, reply_to: int, partial_id: int | None = None, speaker: Speaker | None = None
    ) -> list[Posted] | None:
        try:
            channel = await self._reach(place)
            if channel is None:
                return []
            sought = (reply_to, partial_id)
            found = await self._answers(channel, reply_to, AFTER_TRIGGER, sought, speaker)
            if partial_id is not None and partial_id not in {p.message_id for p in found}:
                found += await self._answers(channel, partial_id - 1, PARTS, sought, speaker)
        except discord.NotFound:
            return []
        except TROUBLE as error:
            log.info(
                "own replies could not be read: %s", type(error).__name__, extra={"channel": place.channel_id}
            )
            return None
        return sorted({p.message_id: p for p in found}.values(), key=lambda p: p.message_id)

    async def _answers(
        self,
        channel: Speakable,
        after: int,
        limit: int,
        sought: tuple[int, int | None],
        speaker: Speaker | None,
    ) -> list[Posted]:
        """Ours among ``limit`` messages after that one that answer (or are) what is sought; all parts.

        A persona's words refer to nothing: each of its messages is among them.
        """
        reply_to, partial_id = sought
        me, found, ours = self.own_id(), list[Posted](), False
        async for message in channel.history(limit=limit, after=discord.Object(after), oldest_first=True):
            report = is_report(message)
            answered = message.reference.message_id if message.reference is not None else None
            if message.id == partial_id or (speaker is not None and self._said_by(message, speaker)):
                ours = True
            elif message.author.id != me:
                ours = False
            elif answered == reply_to:
                ours = report or not is_notice(message)
            elif answered is not None:
                ours = False
            elif is_notice(message):
                continue
            if ours:
                _, text = _names.taken_apart(message.content) or ("", message.content)
                turn_id = retried_turn(message) if report else None
                found.append(Posted(message.id, text.removeprefix(REPORT_SIGN), report, turn_id))
                ours = not report and message.author.id == me
        return found

    def _said_by(self, message: discord.Message, speaker: Speaker) -> bool:
        """Did this persona say it, through its webhook or with its name in front?"""
        if message.author.id != self.own_id():
            lineage = engine_of(self._bot).personas.speaks_through(message.webhook_id)
            return lineage == speaker.lineage
        named = _names.taken_apart(message.content)
        return named is not None and _names.same(named[0], speaker.name)

    async def post_notice(self, place: Place, view: NoticeView) -> int | None:
        try:
            channel = await self._find(place)
            if channel is None or place_of(channel).guild_id != place.guild_id:
                return None
            form = notices.form(view, self._names(place), embeds=notices.may_embed(channel))
            nonce = part_nonce("ksn", view.notice.id)
            message = await post(
                channel, form["content"], embed=form["embed"], view=form["view"], nonce=nonce
            )
        except TROUBLE as error:
            log.warning("a notice could not be posted: %s", error, extra={"notice": view.notice.id})
            return None
        return message.id

    async def report(self, place: Place, reply_to: int, failure: Failure) -> int | None:
        line = f"{REPORT_SIGN}{failure.line[:1_900]}"
        try:
            channel = await self._find(place)
            if channel is None:
                return None
            message = await post(
                channel,
                line,
                reply_to=reply_to,
                view=marks.one(marks.RetryButton(failure.turn_id)) if failure.retry else None,
                nonce=part_nonce("ksr", failure.turn_id) if failure.turn_id else None,
            )
        except TROUBLE as error:
            log.warning("a failed turn could not be reported: %s", error, extra={"turn": failure.turn_id})
            return None
        return message.id

    async def redraw(self, view: NoticeView) -> None:
        notice = view.notice
        if notice.message_id is None:
            return
        place = Place(notice.channel_id, notice.guild_id)
        try:
            channel = await self._find(place)
            if channel is None:
                return
            form = notices.form(view, self._names(place), embeds=notices.may_embed(channel))
            await channel.get_partial_message(notice.message_id).edit(**form)
        except TROUBLE as error:
            log.info("a notice could not be redrawn: %s", type(error).__name__, extra={"notice": notice.id})

    async def retire(self, hooks: Sequence[Hook]) -> None:
        await self._hooks.retire(hooks)

    async def branch(self, place: Place, title: str, opening: str, people: Sequence[int]) -> Place:
        try:
            made = await branch(await self._find(place), title, opening, people)
        except (*TROUBLE, discord.ClientException) as error:
            raise DeliveryError(f"Discord did not let me make it ({type(error).__name__}).") from error
        return Place(made.id, place.guild_id, made.parent_id, made.name)

    def in_server(self, guild_id: int) -> bool:
        return self._bot.get_guild(guild_id) is not None

    async def is_member(self, guild_id: int, user_id: int) -> bool:
        return await self._member(guild_id, user_id) is not None

    async def manages(self, guild_id: int, user_id: int) -> bool:
        member = await self._member(guild_id, user_id)
        return member is not None and person_of(member).manages

    async def _member(self, guild_id: int, user_id: int) -> discord.Member | None:
        guild = self._bot.get_guild(guild_id)
        if guild is None:
            return None
        try:
            return guild.get_member(user_id) or await guild.fetch_member(user_id)
        except TROUBLE:
            return None

    async def can_read(self, place: Place, user_id: int) -> bool:
        try:
            channel = await self._find(place)
            if channel is None:
                return False
            if isinstance(channel, discord.DMChannel):
                return channel.recipient is not None and channel.recipient.id == user_id
            member = channel.guild.get_member(user_id) or await channel.guild.fetch_member(user_id)
            may = channel.permissions_for(member)
            if not (may.view_channel and may.read_message_history):
                return False
            if isinstance(channel, discord.Thread) and channel.is_private() and not may.manage_threads:
                await channel.fetch_member(user_id)
        except (*TROUBLE, discord.ClientException):
            return False
        return True

    def blind_spots(self, place: Place, speaker: Speaker | None = None) -> tuple[str, ...]:
        channel = self._bot.get_channel(place.channel_id)
        in_front = speaker is not None and parent_of(channel) is not None and not may_be_made(channel)
        content = () if self._bot.intents.message_content else (NO_CONTENT,)
        return (*content, NO_RIGHT) if in_front else content

    def own_id(self) -> int:
        return self._bot.user.id if self._bot.user is not None else 0

    def persona_name(self, place: Place) -> str:
        guild = self._bot.get_guild(place.guild_id) if place.guild_id is not None else None
        if guild is not None and guild.me is not None:
            return guild.me.display_name
        return self._bot.user.display_name if self._bot.user is not None else "Keepsake"

    def server_name(self, guild_id: int) -> str:
        guild = self._bot.get_guild(guild_id)
        return guild.name if guild is not None and guild.name else "this server"

    def _names(self, place: Place) -> _render.NameOf:
        guild = self._bot.get_guild(place.guild_id) if place.guild_id is not None else None

        def name(user_id: int) -> str:
            found = (guild.get_member(user_id) if guild else None) or self._bot.get_user(user_id)
            return found.display_name if found else _render.a_member(user_id)

        return name


def _named(asked: Place, found: Place) -> Place:
    """The place of a message read back: what was asked for, with what Discord knows better."""
    return Place(
        channel_id=asked.channel_id,
        guild_id=asked.guild_id if asked.guild_id is not None else found.guild_id,
        parent_id=asked.parent_id if asked.parent_id is not None else found.parent_id,
        name=found.name or asked.name,
    )


async def _with_newest_files(seen: Sequence[tuple[Incoming, discord.Message]]) -> list[Incoming]:
    """Newest first, the words of the newest text files read in."""
    having = [
        index for index, (said, _) in enumerate(seen) if any(_is_text(a.kind) for a in said.attachments)
    ][:HISTORY_FILES]
    result = [said for said, _ in seen]
    read = await asyncio.gather(*(with_files(*seen[index]) for index in having))
    for index, said in zip(having, read, strict=True):
        result[index] = said
    return [_unread_as_files(said) for said in result]


def _unread_as_files(said: Incoming) -> Incoming:
    if not any(_is_text(a.kind) and not a.text for a in said.attachments):
        return said
    kept = tuple(
        replace(a, kind=AttachmentKind.FILE) if _is_text(a.kind) and not a.text else a
        for a in said.attachments
    )
    return replace(said, attachments=kept)


def _is_text(kind: AttachmentKind) -> bool:
    return kind is AttachmentKind.TEXT
