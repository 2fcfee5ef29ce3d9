"""The webhooks through which personas speak: found, made, dressed, replaced (SPEC §11).

One a persona and parent channel, its threads included, at most ten of ours a channel. Where there can be none
the answer is None and the log says why: the persona's name then stands in front of its words. A webhook is
known as ours before it says its first word, so that its messages are never taken for somebody else's.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from weakref import WeakValueDictionary

import discord
from discord.ext import commands

from cogs import engine_of
from cogs._delivery import TROUBLE, Speakable
from memory.errors import KeepsakeError
from memory.ports import Speaker
from memory.types import Hook

log = logging.getLogger(__name__)

MOST = 10
"""Webhooks of ours in one channel (SPEC §11)."""

ALL = 15
"""Webhooks of one channel, everybody's together (Discord)."""

USED_EVERY = timedelta(minutes=10)
"""How exactly it is kept which webhook was least recently used."""

NO_RIGHT = (
    "I lack Manage Webhooks here, so personas speak with their name in front instead of under a name and a"
    " picture of their own."
)

Parent = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.ForumChannel

_PARENTS = (discord.TextChannel, discord.VoiceChannel, discord.StageChannel, discord.ForumChannel)
_FORBIDDEN_NAME = re.compile(r"clyde|discord|^(?:everyone|here)$", re.IGNORECASE)
_LOST = (10003, 10015, 50027)
"""Discord: the thread is not of this webhook's channel; no such webhook; no such token."""


def lost(error: discord.HTTPException) -> bool:
    """Is the webhook itself gone, or no longer where it was?"""
    return error.code in _LOST


def may_be_called(name: str) -> bool:
    """Does Discord take this name for a webhook?"""
    return 1 <= len(name.strip()) <= 80 and _FORBIDDEN_NAME.search(name.strip()) is None


def may_be_made(channel: object) -> bool:
    """Have we the right to make webhooks for what is said in this channel?"""
    parent = parent_of(channel)
    return parent is not None and parent.permissions_for(parent.guild.me).manage_webhooks


def parent_of(channel: object) -> Parent | None:
    """The channel that a webhook for this one belongs to; None in a DM, or when it can't be seen."""
    if isinstance(channel, discord.Thread):
        channel = channel.parent
    return channel if isinstance(channel, _PARENTS) and channel.guild.me is not None else None


class Hooks:
    """Finds and makes webhooks. Never raises."""

    def __init__(self, bot: commands.AutoShardedBot) -> None:
        self._bot = bot
        self._personas = engine_of(bot).personas
        self._clock = engine_of(bot).clock
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    async def of(self, channel: Speakable, speaker: Speaker, *, gone: int = 0) -> discord.Webhook | None:
        """The webhook of a persona for this channel, made if there is none; None when there can be none.

        ``gone``: one that Discord no longer knows, to be replaced.
        """
        parent = parent_of(channel)
        if parent is None:
            return None
        lock = self._locks.setdefault(parent.id, asyncio.Lock())
        try:
            async with lock:
                return await self._of(parent, speaker, gone)
        except (KeepsakeError, *TROUBLE) as error:
            self._none(parent, _kind(error))
            return None

    async def standing(self, channel: Speakable, lineage: str) -> discord.Webhook | None:
        """The webhook of a persona that there is for this channel, as it is."""
        parent = parent_of(channel)
        try:
            hook = await self._personas.hook(parent.id, lineage) if parent is not None else None
        except KeepsakeError as error:
            log.error("a webhook could not be read: %s", error)
            return None
        return self._webhook(hook) if hook is not None else None

    async def _of(self, parent: Parent, speaker: Speaker, gone: int) -> discord.Webhook | None:
        hook = await self._personas.hook(parent.id, speaker.lineage)
        if hook is None or hook.id == gone:
            return await self._make(parent, speaker)
        if hook.picture != speaker.picture:
            await self._dress(hook, speaker)
        elif hook.used_at is None or self._clock.now() - hook.used_at >= USED_EVERY:
            await self._personas.hook_used(hook.id)
        return self._webhook(hook)

    async def _make(self, parent: Parent, speaker: Speaker) -> discord.Webhook | None:
        if not may_be_made(parent):
            return self._none(parent, "I lack Manage Webhooks")
        if not may_be_called(speaker.name):
            return self._none(parent, "Discord takes no webhook of that name")
        if await self._personas.by_lineage(parent.guild.id, speaker.lineage) is None:
            return self._none(parent, "the persona was deleted")
        if not await self._room(parent):
            return self._none(parent, f"the channel has {ALL} webhooks already")
        made = await parent.create_webhook(
            name=speaker.name, avatar=await self._avatar(speaker), reason="A persona speaks here"
        )
        hook = Hook(made.id, parent.id, parent.guild.id, speaker.lineage, made.token or "", speaker.picture)
        try:
            await self._personas.keep_hook(hook)
        except BaseException:
            await self.retire([hook])
            raise
        return self._webhook(hook)

    async def _room(self, parent: Parent) -> bool:
        """Is there a place for one more? What is ours makes room, the least recently used first.

        Before all others goes what is ours and not kept in mind: a crash left it before it ever spoke.
        """
        there = {webhook.id: webhook for webhook in await parent.webhooks()}
        kept = await self._personas.hooks_of(parent.id)
        for hook in kept:
            if hook.id not in there:
                await self._personas.drop_hook(hook.id)
        standing = [hook for hook in kept if hook.id in there]
        known = {hook.id for hook in standing}
        left = [w for w in there.values() if w.id not in known and _is_ours(w, parent.guild.me.id)]
        over = len(left) + len(standing) + 1 - MOST
        cleared = left[: max(over, len(there) + 1 - ALL, 0)]
        for webhook in cleared:
            await webhook.delete(reason="Left over")
        oldest = standing[: max(0, over - len(cleared))]
        await self.retire(oldest)
        return len(there) - len(cleared) - len(oldest) < ALL

    async def _dress(self, hook: Hook, speaker: Speaker) -> None:
        """Give it the persona's present picture. The name goes with each message."""
        try:
            await self._webhook(hook).edit(avatar=await self._avatar(speaker), reason="A new picture")
        except TROUBLE as error:  # were it gone, who speaks through it next has it made again
            log.info("a webhook kept its old picture: %s", _kind(error), extra={"channel": hook.channel_id})
            return
        await self._personas.keep_hook(replace(hook, picture=speaker.picture))

    async def _avatar(self, speaker: Speaker) -> bytes | None:
        return await self._personas.picture(speaker.picture) if speaker.picture else None

    def _webhook(self, hook: Hook) -> discord.Webhook:
        return discord.Webhook.partial(hook.id, hook.token, client=self._bot)

    async def retire(self, hooks: Sequence[Hook]) -> None:
        """Delete webhooks of ours, on Discord and in the table. One that is gone already is no trouble."""
        for hook in hooks:
            try:
                await self._webhook(hook).delete(reason="No longer needed")
            except discord.NotFound:
                pass
            except TROUBLE as error:
                log.info("a webhook could not be deleted: %s", type(error).__name__)
            try:
                await self._personas.drop_hook(hook.id)
            except KeepsakeError as error:
                log.error("a webhook could not be forgotten: %s", error)

    @staticmethod
    def _none(parent: Parent, why: str) -> None:
        log.info("a persona speaks with its name in front: %s", why, extra={"channel": parent.id})


def _is_ours(webhook: discord.Webhook, me: int) -> bool:
    made_by_us = webhook.user is not None and webhook.user.id == me
    return made_by_us and webhook.type is discord.WebhookType.incoming


def _kind(error: BaseException) -> str:
    """What went wrong, for the log: an error of the network may name the address, and with it the token."""
    return f"{type(error).__name__} {error.code if isinstance(error, discord.HTTPException) else ''}".rstrip()
