"""The adaptation of simcord: a simulated Discord that lives in real time.

simcord is a test tool: its clock stands still, each action waits until the bot has settled, one action
runs at a time, one page exists at a time, and ids begin anew in each process. A person who plays needs the
opposite. The classes here replace exactly those properties and leave the rest (gateway payloads, REST
routes, permissions) to simcord. Each replaced part says why.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
import weakref
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import discord
from simcord import _dpy_internals
from simcord._clock import Clock
from simcord.backend import Backend, serializers
from simcord.enums import ChannelType, MessageType
from simcord.env import Env
from simcord.gateway import ShardRouter
from simcord.http import FakeHTTPClient, FakeWebhookAdapter

from play.passing import Passing
from play.webhooks import make_them_whole

if TYPE_CHECKING:
    from play.seats import Seat

log = logging.getLogger("keepsake.play")

ANSWER_WITHIN = 3.0
"""Seconds in which Discord expects the first answer to an interaction."""
CLOSE_WITHIN = 15.0
READY_WITHIN = 60.0

_bots_work: contextvars.ContextVar[bool] = contextvars.ContextVar("play_bots_work", default=False)


class WallClock(Clock):  # type: ignore[misc]  # simcord's own clock stands still at 2026-01-01
    """Follows the wall clock, and never steps back behind what was already handed out.

    Message ids carry their time; an id lower than an earlier one would reorder a channel.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        super().__init__()
        self._read = now
        self._latest = now()
        self._began = self._latest

    def now(self) -> datetime:
        self._latest = max(self._latest, self._read())
        return self._latest

    def never_before(self, at: datetime) -> None:
        """Continue after ``at``, the newest time that a saved world carries."""
        self._latest = max(self._latest, at + timedelta(milliseconds=1))

    @property
    def elapsed(self) -> float:
        return (self.now() - self._began).total_seconds()

    @elapsed.setter
    def elapsed(self, value: float) -> None:
        """simcord resets and advances its clock; the wall clock can't be moved."""

    def advance(self, seconds: float) -> None:
        """See ``elapsed``."""


class Ticks(list[Any]):
    """Stands in for simcord's ever-growing transcript: counts what passes and keeps none of it.

    Every change of the world passes here (a gateway event, a REST call of the bot), so the count tells
    a page when to look again, and a playground that runs for days doesn't fill the memory.
    """

    def __init__(self) -> None:
        super().__init__()
        self.passed = 0
        self._waiting: set[asyncio.Event] = set()

    def append(self, item: Any) -> None:
        self.passed += 1
        for event in self._waiting:
            event.set()

    async def next(self, within: float) -> None:
        """Return at the next change, or after ``within`` seconds."""
        event = asyncio.Event()
        self._waiting.add(event)
        try:
            # Not wait_for: in Python 3.11 it swallows a cancellation that meets the event.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(within):
                    await event.wait()
        finally:
            self._waiting.discard(event)


class LiveBackend(Backend):  # type: ignore[misc]
    """simcord's Discord, which doesn't tell a channel of a private thread that was made in it."""

    def create_system_message(self, channel_id: int, kind: int, *args: Any, **options: Any) -> Any:
        """simcord announces every thread to all who see the channel."""
        thread = self.channels.get(options.get("target_channel_id"))
        if kind == MessageType.THREAD_CREATED and thread.type == ChannelType.PRIVATE_THREAD:
            return None
        return super().create_system_message(channel_id, kind, *args, **options)


class LiveEnv(Env):  # type: ignore[misc]
    """simcord's environment without virtual time, settlement or exclusive operations."""

    def __init__(self, bot: discord.Client, now: Callable[[], datetime]) -> None:
        sharded = isinstance(bot, discord.AutoShardedClient)
        super().__init__(bot, check_errors=False, shard_count=(bot.shard_count or 1) if sharded else None)
        self.ticks = Ticks()
        self.port: int | None = None
        self.backend = LiveBackend(clock=WallClock(now))
        self.backend.transcript = self.ticks
        self.backend.http_requests = Ticks()
        self.seats: list[Seat] = []
        self._asked: dict[asyncio.Task[Any], Any] = {}
        self._tasks: weakref.WeakSet[asyncio.Task[Any]] = weakref.WeakSet()
        self._feed: Callable[[str, Mapping[str, Any]], None] | None = None
        self._former_factory: Any = None
        self.passing = Passing(self.backend)
        make_them_whole()

    # simcord allows one page per environment and points to it here; we have one per person and channel.
    @property
    def _preview(self) -> None:
        return None

    @_preview.setter
    def _preview(self, value: object) -> None:
        pass

    # ------------------------------------------------------------------ operations

    def _begin_operation(self, label: str) -> None:
        """simcord refuses overlapping operations, because it settles the whole bot after each.

        Ours don't settle, every backend call is synchronous, so two people may act at once.
        """

    def _end_operation(self) -> None:
        """See ``_begin_operation``."""

    def _mark_mutation(self) -> None:
        for seat in self.seats:
            seat._mark_action_dispatched()

    def _notify_dispatch_observers(self, interaction: Any) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._asked[task] = interaction
        super()._notify_dispatch_observers(interaction)

    async def _settle_internal(self, **_: Any) -> None:
        """simcord waits until the bot is idle and fails after 5 s; a real model takes a minute.

        As on Discord, sending waits for nothing, and pressing something waits for the bot's first
        answer, at most three seconds. Whatever comes later is seen when the page next asks.
        """
        task = asyncio.current_task()
        interaction = self._asked.pop(task, None) if task is not None else None
        loop = asyncio.get_running_loop()
        end = loop.time() + ANSWER_WITHIN
        while interaction is not None and not interaction.responded and loop.time() < end:
            await self.ticks.next(min(0.25, end - loop.time()))
        await asyncio.sleep(0)

    # simcord collects the bot's exceptions and shows them to whoever acted; the bot's own handlers and
    # the log are the place for them, and another member's failed turn is not this member's error.
    def errors_since(self, cursor: int) -> tuple[BaseException, ...]:
        return ()

    def _record_error(self, error: BaseException) -> None:
        log.error("the playground's page failed", exc_info=error)

    # ------------------------------------------------------------------ the bot's life

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._started = True
        self._former_factory = self._loop.get_task_factory()
        self._loop.set_task_factory(self._make_task)
        await self.attach(self.bot)

    def _make_task(self, loop: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> asyncio.Task[Any]:
        """Remember which tasks the bot made, so that a restart ends them, as the end of a process does."""
        make = self._former_factory or (lambda loop, coro, **kw: asyncio.Task(coro, loop=loop, **kw))
        task: asyncio.Task[Any] = make(loop, coro, **options)
        context: contextvars.Context | None = options.get("context")
        if context.get(_bots_work, False) if context is not None else _bots_work.get():
            self._tasks.add(task)
        return task

    @contextlib.contextmanager
    def _as_bot(self) -> Iterator[None]:
        """What the bot does in here, and every task that it starts, is the bot's."""
        token = _bots_work.set(True)
        former = _dpy_internals.set_webhook_adapter(self._webhook_adapter)
        try:
            yield
        finally:
            _dpy_internals.reset_webhook_adapter(former)
            _bots_work.reset(token)

    async def attach(self, bot: discord.Client) -> None:
        """Connect a client to the simulated Discord and wait until it is ready.

        simcord's own attach replaces the loop's timers and ``time.monotonic``; timers of the bot
        (view timeouts, ``tasks.loop``, ``asyncio.sleep``) must run in real time here.
        """
        self.bot = bot
        self._generation = 1  # simcord counts restarts, and its page forgets what is being typed at each
        self._shard_count, self._shard_ids = self._resolve_shards(bot)
        _dpy_internals.install_http(bot, FakeHTTPClient(self.backend, asyncio.get_running_loop()))
        _dpy_internals.set_guild_ready_timeout(bot, 0.0)
        self._webhook_adapter = FakeWebhookAdapter(self.backend)
        state = _dpy_internals.get_state(bot)
        self._message_states.add(state)
        state.shard_count, state.shard_ids = self._shard_count, list(self._shard_ids)
        router = ShardRouter(self.backend, state, bot.dispatch, self._shard_count, self._shard_ids)
        if not isinstance(bot, discord.AutoShardedClient):
            _dpy_internals.install_websocket(bot, router.websockets[0])

        def feed(event: str, payload: Mapping[str, Any]) -> None:
            if not bot.is_closed():
                with self._as_bot():
                    router.feed(event, payload)

        with self._as_bot():
            await bot.login("playground")
            if isinstance(bot, discord.AutoShardedClient):
                bot.shard_count = self._shard_count
                _dpy_internals.install_shards(bot, router.shards)
            for shard_id in self._shard_ids:
                router.identify(shard_id)
        for guild in self.backend.guilds.values():
            feed("GUILD_CREATE", serializers.guild_create_payload(self.backend, guild))
        self._feed = feed
        self.backend.subscribers.append(feed)
        async with asyncio.timeout(READY_WITHIN):
            await bot.wait_until_ready()

    async def detach(self) -> None:
        """Close the client, which lets it finish what it does, and end every task that it left behind."""
        try:
            async with asyncio.timeout(CLOSE_WITHIN):
                await self.bot.close()
        except Exception:
            log.exception("the bot failed while it was closed")
        if self._feed is not None:
            self.backend.subscribers.remove(self._feed)
            self._feed = None
        left = [task for task in self._tasks if not task.done() and task is not asyncio.current_task()]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=5)
        if isinstance(self.bot, discord.AutoShardedClient):
            _dpy_internals.clear_shards(self.bot)
        self.passing.forget()

    async def shutdown(self) -> None:
        await self._run_pre_shutdown()
        await self.detach()
        asyncio.get_running_loop().set_task_factory(self._former_factory)
        self._started = False
