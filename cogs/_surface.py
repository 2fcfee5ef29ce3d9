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

from cogs import _render, engine_of
from cogs._delivery import TROUBLE, Budget, DiscordReply, Speakable, part_nonce, post
from cogs._inbound import REPORT_SIGN, incoming, is_notice, is_report, retried_turn, with_files
from cogs.views import notices
from memory.ports import Failure, NoticeView, Posted, Reply
from memory.types import AttachmentKind, AuthorKind, Incoming, Place

log = logging.getLogger(__name__)

HISTORY_FILES = 5
"""Text files of the newest messages that are read when history is read back; older ones are only named."""

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
    """The bot's channels. Holds nothing but the edit budget of the process."""

    def __init__(self, bot: commands.AutoShardedBot) -> None:
        self._bot = bot
        self._clock = engine_of(bot).clock
        self._budget = Budget(self._clock)

    def reply(self, place: Place, reply_to: int, standing: Sequence[Posted] = ()) -> Reply:
        return DiscordReply(
            place, reply_to, standing, find=self._find, clock=self._clock, budget=self._budget
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
    ) -> list[Incoming]:
        me = self.own_id()
        seen: list[tuple[Incoming, discord.Message]] = []
        try:
            channel = await self._find(place)
            if channel is None:
                return []
            async for message in channel.history(
                limit=limit + limit // 4 + 10,
                before=discord.Object(before) if before is not None else None,
                after=discord.Object(after) if after is not None else None,
                oldest_first=False,
            ):
                said = incoming(message, me)
                if said is None or (said.kind is AuthorKind.PERSONA and is_notice(message)):
                    continue
                seen.append((replace(said, place=_named(place, said.place)), message))
                if len(seen) >= limit:
                    break
        except TROUBLE as error:
            log.info(
                "history could not be read: %s", type(error).__name__, extra={"channel": place.channel_id}
            )
            return []
        return list(reversed(await _with_newest_files(seen)))

    async def own_replies(
        self, place: Place, reply_to: int, partial_id: int | None = None
    ) -> list[Posted] | None:
        try:
            channel = await self._reach(place)
            if channel is None:
                return []
            found = await self._answers(channel, reply_to, AFTER_TRIGGER, (reply_to, partial_id))
            if partial_id is not None and partial_id not in {p.message_id for p in found}:
                found += await self._answers(channel, partial_id - 1, PARTS, (reply_to, partial_id))
        except discord.NotFound:
            return []
        except TROUBLE as error:
            log.info(
                "own replies could not be read: %s", type(error).__name__, extra={"channel": place.channel_id}
            )
            return None
        return sorted({p.message_id: p for p in found}.values(), key=lambda p: p.message_id)

    async def _answers(
        self, channel: Speakable, after: int, limit: int, sought: tuple[int, int | None]
    ) -> list[Posted]:
        """Ours among ``limit`` messages after that one that answer (or are) what is sought; all parts."""
        reply_to, partial_id = sought
        me, found, ours = self.own_id(), list[Posted](), False
        async for message in channel.history(limit=limit, after=discord.Object(after), oldest_first=True):
            report = is_report(message)
            answered = message.reference.message_id if message.reference is not None else None
            if message.author.id != me:
                ours = False
            elif message.id == partial_id or answered == reply_to:
                ours = report or not is_notice(message)
            elif answered is not None:
                ours = False
            elif is_notice(message):
                continue
            if ours:
                text = message.content.removeprefix(REPORT_SIGN)
                turn_id = retried_turn(message) if report else None
                found.append(Posted(message.id, text, report, turn_id))
                ours = not report
        return found

    async def post_notice(self, place: Place, view: NoticeView) -> int | None:
        try:
            channel = await self._find(place)
            if channel is None:
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
                view=notices.one(notices.RetryButton(failure.turn_id)) if failure.retry else None,
                nonce=part_nonce("ksr", failure.turn_id) if failure.turn_id else None,
            )
        except TROUBLE as error:
            log.warning("a failed turn could not be reported: %s", error, extra={"turn": failure.turn_id})
            return None
        return message.id

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

    def blind_spots(self) -> tuple[str, ...]:
        return () if self._bot.intents.message_content else (NO_CONTENT,)

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
