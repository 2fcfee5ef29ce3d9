"""A playground's world: builds the little server, runs the bot in it, saves and restores what was said.

This is the face for tests and for the page's server: people act (``say``, ``press``, …), the bot is the
real, unmodified client, and ``restart`` replaces the client while the world and the database stay.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import discord
from simcord.actors import MemberActor
from simcord.backend.access import channel_accessible
from simcord.builders import ChannelHandle, GuildHandle, UserHandle
from simcord.results import ResponseMessage

from play import building, saved
from play.scene import BOT_ID, BOT_NAME, GUILD_ID, PEOPLE, ROOMS, Persona
from play.seats import Seat
from play.simulation import LiveEnv

log = logging.getLogger("keepsake.play")

SAVE_EVERY = 0.2
"""At most this many seconds of messages are lost when the process is killed."""


LONGEST = 2_000
"""Characters of one message."""


class PlayError(Exception):
    """The playground can't start; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message as a person sees it. ``embeds`` are titles and descriptions, ``buttons`` labels."""

    id: int
    author: str
    text: str
    embeds: tuple[str, ...] = ()
    buttons: tuple[str, ...] = ()
    ephemeral: bool = False


class World:
    """One simulated Discord with one bot. ``async with World(…)`` starts and stops it.

    ``data_dir`` holds the world's file; it is created. Raises :class:`PlayError` when another process
    plays there. ``seed`` is awaited once in a world's life, when the bot is ready.
    """

    def __init__(
        self,
        make_bot: Callable[[], discord.Client],
        *,
        data_dir: Path,
        clock_now: Callable[[], datetime],
        seed: Callable[[World], Awaitable[None]] | None = None,
    ) -> None:
        self.people: Mapping[str, Persona] = {person.key: person for person in PEOPLE}
        self.guild_id = GUILD_ID
        self.bot_id = BOT_ID
        self.online = asyncio.Event()
        self._make_bot = make_bot
        self._now = clock_now
        self._seed = seed
        self._file = saved.WorldFile(data_dir)
        self._env: LiveEnv | None = None
        self._seats: dict[tuple[str, int], Seat] = {}
        self._saver: asyncio.Task[None] | None = None
        self._restarting = asyncio.Lock()
        self._seeded = False

    async def __aenter__(self) -> World:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def env(self) -> LiveEnv:
        if self._env is None:
            raise PlayError("The playground hasn't been started.")
        return self._env

    @property
    def bot(self) -> discord.Client:
        """The client that runs now; another one after a restart."""
        client: discord.Client = self.env.bot
        return client

    @property
    def bot_is_up(self) -> bool:
        """Whether the client is connected; it may also have stopped by itself."""
        return self.online.is_set() and not self.bot.is_closed()

    # ------------------------------------------------------------------ life

    async def start(self) -> None:
        """Restore or build the world, connect the bot, seed it at its first start."""
        self._file.lock()
        try:
            stored = await asyncio.to_thread(self._file.load)
            self._env = LiveEnv(self._make_bot(), self._now)
            building.build(self.env.backend)
            if stored is None:
                building.tell_scene(self.env.backend, self._now())
            else:
                self._seeded = stored.seeded
                saved.restore(self.env.backend, stored)
            await self.env.start()
        except BaseException:
            self._file.unlock()
            raise
        self.online.set()
        self._saver = asyncio.create_task(self._save_forever(), name="play-saver")
        await self._seed_once()

    async def _seed_once(self) -> None:
        await _register_missing_commands(self.bot, self.env.backend)
        if self._seeded:
            return
        if self._seed is not None:
            try:
                await self._seed(self)
            except Exception:
                log.exception("the playground's first memories couldn't be saved")
                return
        self._seeded = True
        await self.save()

    async def stop(self) -> None:
        """Close the bot and save the world. Safe to call twice."""
        self.online.clear()
        if self._saver is not None:
            self._saver.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._saver
            self._saver = None
        if self._env is not None and self._env._started:
            await self._env.shutdown()
            await self.save()
        self._file.unlock()

    async def restart(self) -> None:
        """End the bot's client and start a new one from ``make_bot``: same world, same database."""
        async with self._restarting:
            self.online.clear()
            await self.env.detach()
            await self.env.attach(self._make_bot())
            await _register_missing_commands(self.bot, self.env.backend)
            self.online.set()

    async def save(self) -> None:
        """Write the world's file, whole and atomically."""
        await self._file.save(saved.picture(self.env.backend, seeded=self._seeded))

    async def _save_forever(self) -> None:
        written = -1
        while True:
            await self.env.ticks.next(3600.0)
            while written != self.env.ticks.passed:
                written = self.env.ticks.passed
                try:
                    await self.save()
                except OSError:
                    log.exception("the playground's world couldn't be saved")
                await asyncio.sleep(SAVE_EVERY)

    # ------------------------------------------------------------------ places

    def room(self, key: str) -> int:
        """A channel's id by its key: general, tavern, council."""
        return next(room.id for room in ROOMS if room.key == key)

    def dm(self, person: str) -> int:
        """The id of a person's direct messages with the bot."""
        return self.people[person].dm_id

    def may_see(self, person: str, channel_id: int) -> bool:
        return bool(channel_accessible(self.env.backend, channel_id, self.people[person].id, history=True))

    def places(self, person: str) -> list[dict[str, object]]:
        """The channels and threads that this person sees, and their direct messages, for a list.

        ``last`` is the newest message of somebody else, to show what is unread.
        """
        backend = self.env.backend
        guild = backend.guilds[GUILD_ID]
        ids = [
            channel_id
            for parent in guild.channel_ids
            for channel_id in (
                parent,
                *(i for i in guild.thread_ids if backend.channels[i].parent_id == parent),
            )
        ]
        viewer = self.people[person].id
        return [
            {
                "id": str(channel_id),
                "name": backend.channels[channel_id].name or BOT_NAME,
                "kind": self._kind(channel_id),
                "last": str(
                    max(
                        (m.id for m in backend.messages[channel_id].values() if m.visible_to(viewer)),
                        default=0,
                    )
                ),
                "typing": self.env.passing.typing(channel_id),
            }
            for channel_id in (*ids, self.dm(person))
            if self.may_see(person, channel_id)
        ]

    def _kind(self, channel_id: int) -> str:
        channel = self.env.backend.channels[channel_id]
        if channel.guild_id is None:
            return "dm"
        if channel.is_thread:
            return "thread"
        return "private" if channel.overwrites else "text"

    def channel(self, channel_id: int) -> ChannelHandle:
        stored = self.env.backend.get_channel(channel_id)
        guild = self._guild() if stored.guild_id is not None else None
        return ChannelHandle(self.env, guild, stored)

    def actor(self, person: str, channel_id: int) -> Any:
        """simcord's handle for this person there: a member of the server, or the DM's other end."""
        user = UserHandle(self.env, self.env.backend.get_user(self.people[person].id))
        if self.env.backend.get_channel(channel_id).guild_id is None:
            return user
        return MemberActor(self.env, self._guild(), user)

    def _guild(self) -> GuildHandle:
        return GuildHandle(self.env, self.env.backend.get_guild(GUILD_ID))

    # ------------------------------------------------------------------ people act

    async def say(
        self,
        person: str,
        channel_id: int,
        text: str,
        *,
        reply_to: int | None = None,
        file: tuple[str, bytes] | None = None,
    ) -> int:
        """Post a message as this person; ``@Keepsake`` and ``@Ana`` become mentions. Returns its id.

        ``file`` is a name and its content. Doesn't wait for what the bot does with it.
        """
        backend = self.env.backend
        author = self.people[person].id
        if not self.may_see(person, channel_id):
            raise PlayError(f"{person} can't see that channel.")
        if (length := len(self.mentions(text))) > LONGEST:
            raise PlayError(f"Messages are limited to 2,000 characters; this one has {length:,}.")
        message = backend.create_message(
            channel_id,
            author,
            self.mentions(text),
            reference=None
            if reply_to is None
            else {"channel_id": str(channel_id), "message_id": str(reply_to)},
            attachments=backend.store_attachments(channel_id, [file] if file is not None else []),
        )
        await asyncio.sleep(0)
        return int(message.id)

    async def press(self, person: str, message_id: int, label: str) -> None:
        """Press the button with this label on a message."""
        channel_id = self._channel_of(message_id)
        stored = ResponseMessage(self.env, self.env.backend.get_message(channel_id, message_id))
        await self.actor(person, channel_id).click(stored, label=label)

    async def command(self, person: str, channel_id: int, name: str, **options: object) -> None:
        """Run a slash command as this person."""
        actor = self.actor(person, channel_id)
        if isinstance(actor, UserHandle):
            await actor.slash(name, **options)
        else:
            await actor.slash(self.channel(channel_id), name, **options)

    def read(self, person: str, channel_id: int) -> list[Said]:
        """What this person sees in a channel, oldest first."""
        if not self.may_see(person, channel_id):
            return []
        stored = sorted(self.env.backend.messages[channel_id].values(), key=lambda message: message.id)
        viewer = self.people[person].id
        return [building.said(self.env.backend, item) for item in stored if item.visible_to(viewer)]

    async def wait_for(self, seen: Callable[[], bool], within: float = 10.0) -> bool:
        """Wait until ``seen`` holds, looking at every change of the world. False when time is up."""
        loop = asyncio.get_running_loop()
        end = loop.time() + within
        while not seen():
            if loop.time() >= end:
                return False
            await self.env.ticks.next(min(0.25, end - loop.time()))
        return True

    def mentions(self, text: str) -> str:
        """``@Name`` of the bot or a person, typed by hand, as the mention that Discord would send."""
        names = {person.name.lower(): person.id for person in PEOPLE} | {BOT_NAME.lower(): BOT_ID}
        pattern = re.compile(rf"(?<![\w<@])@({'|'.join(map(re.escape, names))})\b", re.IGNORECASE)
        return pattern.sub(lambda match: f"<@{names[match[1].lower()]}>", text)

    def _channel_of(self, message_id: int) -> int:
        for channel_id, messages in self.env.backend.messages.items():
            if message_id in messages:
                return int(channel_id)
        raise PlayError(f"There is no message {message_id}.")

    # ------------------------------------------------------------------ the page

    async def seat(self, person: str, channel_id: int, timezone: str) -> Seat:
        """The page of this person in this channel; one each, made at the first look."""
        key = (person, channel_id)
        if key not in self._seats:
            seat = Seat(
                self.env, self.channel(channel_id), self.actor(person, channel_id), timezone, self.mentions
            )
            await seat.__aenter__()
            self._seats[key] = seat
            self.env.seats.append(seat)
        return self._seats[key]


async def _register_missing_commands(bot: discord.Client, backend: Any) -> None:
    """A bot that syncs its commands only when they changed would have none in a fresh world."""
    tree = getattr(bot, "tree", None)
    if isinstance(tree, discord.app_commands.CommandTree) and not any(backend.commands.values()):
        try:
            await tree.sync()
        except discord.DiscordException:
            log.exception("the slash commands couldn't be registered")
