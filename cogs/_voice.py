"""A persona's voice: its webhook's messages, or the bot's own with the name in front (SPEC §11).

A webhook has no nonce, and its requests are tried again unseen. So where one may have landed without our
knowing, the channel is looked at and what stands there twice is taken back.
"""

from __future__ import annotations

import contextlib
import logging
from datetime import timedelta
from typing import Any

import discord

from cogs._delivery import QUIET, TROUBLE, OwnVoice, Speakable
from cogs._hooks import Hooks, lost
from memory.ports import Speaker
from memory.types import Clock

log = logging.getLogger(__name__)

TRIED_AGAIN = timedelta(seconds=1)
"""A request that took longer may have been sent more than once: the library waits that long in between."""

LOOKED_AT = 20
"""Messages that are looked through for one that landed unseen."""


class _LostError(Exception):
    """The webhook is gone, or speaks in another channel now."""


class PersonaVoice:
    """One persona in one channel (:class:`cogs._delivery.Voice`)."""

    def __init__(self, channel: Speakable, speaker: Speaker, hooks: Hooks, clock: Clock) -> None:
        self._channel = channel
        self._speaker = speaker
        self._hooks = hooks
        self._clock = clock
        self._own = OwnVoice(channel, speaker.name)
        self._webhook: discord.Webhook | None = None
        self._looked = self._made = False
        self._by_bot: set[int] = set()
        self._doubtful: dict[str, int] = {}
        self._newest = 0
        self.room = self._own.room  # either way the same, so that a webhook may be lost between two parts
        missing: Any = discord.utils.MISSING
        self._thread: Any = channel if isinstance(channel, discord.Thread) else missing

    async def _standing(self) -> discord.Webhook | None:
        """The webhook for what was said already: none is made, and none given another picture, for that."""
        if not self._looked:
            self._webhook = await self._hooks.standing(self._channel, self._speaker.lineage)
            self._looked = True
        return self._webhook

    async def _speaking(self) -> discord.Webhook | None:
        """The webhook to speak through."""
        if not self._made:
            self._webhook = await self._hooks.of(self._channel, self._speaker)
            self._looked = self._made = True
        return self._webhook

    async def _again(self, gone: discord.Webhook) -> discord.Webhook | None:
        self._doubtful.clear()
        self._webhook = await self._hooks.of(self._channel, self._speaker, gone=gone.id)
        return self._webhook

    async def say(self, text: str, reply_to: int, nonce: str | None) -> int:
        self._newest = max(self._newest, reply_to)
        webhook = await self._speaking()
        if webhook is not None:
            try:
                return await self._execute(webhook, text)
            except _LostError:
                webhook = await self._again(webhook)
        if webhook is not None:
            try:
                return await self._execute(webhook, text)
            except _LostError:
                self._webhook = None
        message_id = await self._own.say(text, reply_to, nonce)
        self._by_bot.add(message_id)
        return message_id

    async def _execute(self, webhook: discord.Webhook, text: str) -> int:
        await self.settle()
        after = max(self._newest, getattr(self._channel, "last_message_id", None) or 0)
        self._doubtful[text] = after
        begun = self._clock.now()
        try:
            sent = await webhook.send(
                text,
                username=self._speaker.name,
                allowed_mentions=QUIET,
                thread=self._thread,
                wait=True,
            )
        except discord.HTTPException as error:
            if lost(error):
                raise _LostError from error
            raise
        if sent.channel.id != self._channel.id:
            with contextlib.suppress(*TROUBLE):
                await sent.delete()
            raise _LostError
        self._newest = max(self._newest, sent.id)
        if self._clock.now() - begun >= TRIED_AGAIN:
            await self.settle(but=sent.id)
        self._doubtful.clear()
        return sent.id

    async def change(self, message_id: int, text: str) -> bool:
        webhook = await self._standing() if message_id not in self._by_bot else None
        if webhook is not None:
            try:
                await webhook.edit_message(
                    message_id, content=text, allowed_mentions=QUIET, thread=self._thread
                )
            except discord.HTTPException as error:
                if lost(error):
                    self._webhook, self._made = None, False
                elif not isinstance(error, discord.NotFound):
                    raise
            else:
                return True
        return await self._own.change(message_id, text)

    async def remove(self, message_id: int) -> None:
        webhook = await self._standing() if message_id not in self._by_bot else None
        if webhook is not None:
            with contextlib.suppress(*TROUBLE):
                await webhook.delete_message(message_id, thread=self._thread)
                return
        await self._own.remove(message_id)

    async def settle(self, *, but: int = 0) -> None:
        """Delete what carries a text that may have landed unseen, ``but`` for the one we know of."""
        webhook = self._webhook
        if webhook is None or not self._doubtful:
            return
        try:
            after = discord.Object(min(self._doubtful.values()))
            found = [m async for m in self._channel.history(limit=LOOKED_AT, after=after, oldest_first=True)]
        except TROUBLE as error:
            log.info("a channel could not be looked at: %s", type(error).__name__)
            return
        for message in found:
            if message.webhook_id == webhook.id and message.content in self._doubtful and message.id != but:
                await self.remove(message.id)
        self._doubtful.clear()
