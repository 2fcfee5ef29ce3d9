"""The only sender of a persona's words: typing, streaming edits, the split final reply.

Mentions are off in everything posted here. A partial view is a courtesy and gives way first when edits run
short; the final text is owed, and only a channel that refuses it raises :class:`DeliveryError`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any, Protocol

import aiohttp
import discord

from cogs import _names
from cogs._inbound import REPORT_SIGN
from cogs._split import LIMIT, split
from memory.ports import DeliveryError, Posted
from memory.types import Clock, Place

__all__ = ["Budget", "DiscordReply", "OwnVoice", "Speakable", "Voice", "clean", "post", "split"]

log = logging.getLogger(__name__)

EDIT_EVERY = timedelta(seconds=1.2)
"""Least time between two edits of one reply: Discord takes about five edits in five seconds a channel."""

EDITS_A_SECOND = 40
"""Streaming edits of the whole process: Discord takes 50 requests a second a token (SPEC §14)."""

HEAD = 2 * LIMIT
"""Characters of a growing text that are looked at for its partial view, which is one message."""

SHOW_DEADLINE = 5.0
"""Seconds that a streaming edit may hold up the model's stream."""

TYPING_EVERY = 8.0
"""Seconds: Discord shows typing for ten."""

TYPING_ROUNDS = 30
"""Four minutes at most, whatever becomes of the turn."""

MORE = " …"
"""Beneath a partial view that does not show everything yet."""

NONCE_LENGTH = 25
"""Discord takes no longer nonce."""

QUIET = discord.AllowedMentions.none()

_LONE = re.compile(r"[\ud800-\udfff]")
_UNSENT = re.compile(f"[\\x00{REPORT_SIGN}{_names.SIGN}]")

_CANNOT_REPLY = (160002, 50035)
"""Discord: no right to reference a message here; the referenced message can't be referenced."""

_NOT_OURS = 50005
"""Discord: the message was written by somebody else."""

_PASSING = (408, 429)
"""Below 500, and all the same only for now: too slow, too many."""

Speakable = (
    discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread | discord.DMChannel
)
"""Where a message can be posted."""

TROUBLE = (discord.HTTPException, aiohttp.ClientError, TimeoutError, OSError)
"""What sending can raise. discord.py has tried 429 and 5xx again by then."""


class Budget:
    """A bucket of edits for the whole process. Never waits: who finds it empty leaves the edit out."""

    def __init__(self, clock: Clock, a_second: int = EDITS_A_SECOND) -> None:
        self._clock = clock
        self._a_second = a_second
        self._left = float(a_second)
        self._at: datetime | None = None

    def spend(self) -> bool:
        """Take one edit. False when there is none left at this moment."""
        now = self._clock.now()
        if self._at is not None and now > self._at:
            gained = (now - self._at).total_seconds() * self._a_second
            self._left = min(float(self._a_second), self._left + gained)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


def clean(text: str) -> str:
    """A text that Discord takes: no lone surrogates, no NUL, none of our own unseen signs."""
    return _LONE.sub("\ufffd", _UNSENT.sub("", text)).strip()


async def post(
    channel: Speakable,
    content: str | None = None,
    *,
    reply_to: int = 0,
    embed: discord.Embed | None = None,
    view: discord.ui.View | None = None,
    nonce: str | None = None,
) -> discord.Message:
    """Post one message of ours, as a reply when ``reply_to`` still stands. Mentions nobody.

    Raises :data:`TROUBLE`.
    """
    reference = None
    if reply_to:
        guild = getattr(channel, "guild", None)
        reference = discord.MessageReference(
            message_id=reply_to,
            channel_id=channel.id,
            guild_id=guild.id if guild else None,
            fail_if_not_exists=False,
        )
    try:
        return await _send(channel, content, embed, view, nonce, reference)
    except discord.HTTPException as error:
        if reference is None or error.code not in _CANNOT_REPLY:
            raise
    return await _send(channel, content, embed, view, nonce, None)


async def _send(
    channel: Speakable,
    content: str | None,
    embed: discord.Embed | None,
    view: discord.ui.View | None,
    nonce: str | None,
    reference: discord.MessageReference | None,
) -> discord.Message:
    nothing: Any = None  # discord.py takes None for each of these, though its signatures don't say so
    return await channel.send(
        content,
        embed=embed or nothing,
        view=view or nothing,
        nonce=nonce or nothing,
        reference=reference or nothing,
        mention_author=False,
        allowed_mentions=QUIET,
    )


class Voice(Protocol):
    """In whose name the messages of a reply are posted, in one channel.

    ``room``: characters of the reply that one message takes. :meth:`say` and :meth:`change` raise
    :data:`TROUBLE`.
    """

    room: int

    async def say(self, text: str, reply_to: int, nonce: str | None) -> int:
        """Post a message; returns its id."""

    async def change(self, message_id: int, text: str) -> bool:
        """Put the text into a message that stands already. False when it is gone, or not this voice's."""

    async def remove(self, message_id: int) -> None:
        """Delete a message. Never raises."""

    async def settle(self) -> None:
        """Take back what may have been posted without our knowing. Never raises."""


class OwnVoice:
    """The bot itself. ``name``: a persona's, that stands in front of each message."""

    def __init__(self, channel: Speakable, name: str = "") -> None:
        self._channel = channel
        self._name = name
        self.room = LIMIT - (_names.room_beside(name) if name else 0)

    def _worded(self, text: str) -> str:
        return _names.under(self._name, text) if self._name else text

    async def say(self, text: str, reply_to: int, nonce: str | None) -> int:
        return (await post(self._channel, self._worded(text), reply_to=reply_to, nonce=nonce)).id

    async def change(self, message_id: int, text: str) -> bool:
        message = self._channel.get_partial_message(message_id)
        try:
            await message.edit(content=self._worded(text), allowed_mentions=QUIET)
        except discord.NotFound:
            return False
        except discord.Forbidden as error:
            if error.code != _NOT_OURS:
                raise
            return False
        return True

    async def remove(self, message_id: int) -> None:
        with contextlib.suppress(*TROUBLE):
            await self._channel.get_partial_message(message_id).delete()

    async def settle(self) -> None:
        """Discord posts what carries the same nonce once."""


class DiscordReply:
    """One reply on its way (:class:`memory.ports.Reply`)."""

    def __init__(
        self,
        place: Place,
        reply_to: int,
        standing: Sequence[Posted],
        *,
        find: Callable[[Place], Awaitable[Speakable | None]],
        clock: Clock,
        budget: Budget,
        voice: Callable[[Speakable], Voice] = OwnVoice,
    ) -> None:
        self._place = place
        self._reply_to = reply_to
        self._find = find
        self._clock = clock
        self._budget = budget
        self._make_voice = voice
        self._voice: Voice | None = None
        self._parts: list[Posted] = list(standing)
        self._typing: asyncio.Task[None] | None = None
        self._looked_at: datetime | None = None
        self._first: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    async def _open(self) -> Voice | None:
        """The voice to speak with; None when the channel is gone or out of our reach."""
        channel = await self._find(self._place)
        if channel is None:
            return None
        if self._voice is None:
            self._voice = self._make_voice(channel)
        return self._voice

    async def typing(self) -> None:
        if self._typing is None:
            self._typing = asyncio.create_task(self._type(), name=f"typing in {self._place.channel_id}")

    async def _type(self) -> None:
        with contextlib.suppress(*TROUBLE):
            channel = await self._find(self._place)
            for _ in range(TYPING_ROUNDS if channel is not None else 0):
                assert channel is not None
                await channel.typing()
                await asyncio.sleep(TYPING_EVERY)

    async def _stop_typing(self) -> None:
        task, self._typing = self._typing, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def show(self, text: str) -> int | None:
        async with self._lock:
            if not self._early():
                try:
                    await self._show(text)
                except TROUBLE as error:
                    log.info("a partial reply could not be shown: %s", type(error).__name__)
            return self._parts[0].message_id if self._parts else None

    def _early(self) -> bool:
        """Was the text looked at a moment ago? Asked before it is touched: a stream comes in many pieces."""
        return self._looked_at is not None and self._clock.now() - self._looked_at < EDIT_EVERY

    async def _show(self, text: str) -> None:
        begun = clean(text[:HEAD])
        if not begun:
            return
        self._looked_at = self._clock.now()
        await self._landed()
        voice = await self._open()
        if voice is None:
            return
        texts = split(begun, voice.room - len(MORE))
        view = texts[0] + (MORE if len(texts) > 1 else "")
        if (self._parts and self._parts[0].text == view) or not self._budget.spend():
            return
        if self._parts:
            async with asyncio.timeout(SHOW_DEADLINE):
                await self._edit(voice, 0, view)
        else:
            self._first = asyncio.create_task(self._begin(voice, view))
            await asyncio.shield(self._first)

    async def _begin(self, voice: Voice, view: str) -> None:
        self._parts.append(Posted(await voice.say(view, self._reply_to, None), view))

    async def _landed(self) -> None:
        """Wait for a first message on its way: a turn that was cancelled meanwhile takes it back, too."""
        task, self._first = self._first, None
        if task is not None:
            await asyncio.wait([task])
            if not task.cancelled() and (error := task.exception()):
                log.info("a partial reply could not be shown: %s", type(error).__name__)

    async def finish(self, text: str, nonce: str) -> tuple[Posted, ...]:
        try:
            async with self._lock:
                return await self._finish(clean(text), nonce)
        except TROUBLE as error:
            raise _delivery_error(error) from error
        finally:
            await self._stop_typing()

    async def _finish(self, text: str, nonce: str) -> tuple[Posted, ...]:
        await self._landed()
        if not text:
            raise DeliveryError("Discord would not take the reply (there is nothing in it).", gone=True)
        voice = await self._open()
        if voice is None:
            raise DeliveryError("The channel is gone, or I can't see it any more.", gone=True)
        texts = split(text, voice.room)
        for index, part in enumerate(texts):
            if index < len(self._parts) and (
                self._parts[index].text == part or await self._edit(voice, index, part)
            ):
                continue
            said = await voice.say(part, self._reply_to if index == 0 else 0, part_nonce(nonce, index))
            self._parts.append(Posted(said, part))
        await self._delete(voice, len(texts))
        return tuple(self._parts)

    async def _edit(self, voice: Voice, index: int, text: str) -> bool:
        """Put the text into a message that stands already. False when that can't be.

        Then it is taken away with all that follow, which would stand before what takes its place.
        """
        message_id = self._parts[index].message_id
        if not await voice.change(message_id, text):
            await self._delete(voice, index)
            return False
        self._parts[index] = Posted(message_id, text)
        return True

    async def withdraw(self) -> None:
        await self._stop_typing()
        async with self._lock:
            await self._landed()
            with contextlib.suppress(*TROUBLE):
                voice = await self._open() if self._parts or self._voice else None
                if voice is not None:
                    await self._delete(voice, 0)

    async def _delete(self, voice: Voice, keep: int) -> None:
        """Delete what stands beyond the first ``keep`` messages."""
        while len(self._parts) > keep:
            await voice.remove(self._parts.pop().message_id)
        await voice.settle()


def part_nonce(nonce: str, index: int) -> str:
    """The nonce of one part: the same for the same reply, so that Discord posts it once."""
    part = f"{nonce}-{index}"
    return part if len(part) <= NONCE_LENGTH else blake2b(part.encode(), digest_size=12).hexdigest()


def _delivery_error(error: BaseException) -> DeliveryError:
    """What Discord said, in the engine's terms. ``gone``: trying the same again would end the same."""
    if isinstance(error, discord.Forbidden | discord.NotFound):
        said = error.text or error.status
        return DeliveryError(f"The channel is gone, or I may not post in it ({said}).", gone=True)
    if isinstance(error, discord.HTTPException):
        if error.status >= 500 or error.status in _PASSING:
            return DeliveryError(f"Discord answered {error.status}.")
        return DeliveryError(f"Discord would not take the reply ({error.text or error.status}).", gone=True)
    return DeliveryError(f"Discord could not be reached ({type(error).__name__}).")
