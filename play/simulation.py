"""Every adaptation of simcord, in this one module: a simulated Discord that lives in real time.

simcord is a test tool: its clock stands still, each action waits until the bot has settled, one action
runs at a time, one page exists at a time, and ids begin anew in each process. A person who plays needs the
opposite. The classes here replace exactly those properties and leave the rest (gateway payloads, REST
routes, permissions, the page's renderer) to simcord. Each replaced part says why.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
import logging
import weakref
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import discord
from aiohttp import web
from simcord import _dpy_internals
from simcord._clock import Clock
from simcord.backend import Backend, serializers
from simcord.env import Env
from simcord.gateway import ShardRouter
from simcord.http import FakeHTTPClient, FakeWebhookAdapter
from simcord.preview import Preview, _server
from simcord.preview._server import PreviewServer

log = logging.getLogger("keepsake.play")

ANSWER_WITHIN = 3.0
"""Seconds in which Discord expects the first answer to an interaction."""
TYPING_LASTS = 10.0
"""Seconds for which Discord shows one typing signal."""
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


class LiveEnv(Env):  # type: ignore[misc]
    """simcord's environment without virtual time, settlement or exclusive operations."""

    def __init__(self, bot: discord.Client, now: Callable[[], datetime]) -> None:
        sharded = isinstance(bot, discord.AutoShardedClient)
        super().__init__(bot, check_errors=False, shard_count=(bot.shard_count or 1) if sharded else None)
        self.ticks = Ticks()
        self.port: int | None = None
        self.backend = Backend(clock=WallClock(now))
        self.backend.transcript = self.ticks
        self.backend.http_requests = Ticks()
        self.seats: list[Seat] = []
        self._typing: dict[int, float] = {}
        self._asked: dict[asyncio.Task[Any], Any] = {}
        self._tasks: weakref.WeakSet[asyncio.Task[Any]] = weakref.WeakSet()
        self._feed: Callable[[str, Mapping[str, Any]], None] | None = None
        self._former_factory: Any = None
        self.backend.subscribers.append(self._watch_typing)

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

    # ------------------------------------------------------------------ typing

    def _watch_typing(self, event: str, payload: Mapping[str, Any]) -> None:
        if event == "TYPING_START" and payload["user_id"] == str(self.backend.bot_user.id):
            self._typing[int(payload["channel_id"])] = asyncio.get_running_loop().time() + TYPING_LASTS
        elif event == "MESSAGE_CREATE" and payload.get("author", {}).get("bot"):
            self._typing.pop(int(payload["channel_id"]), None)

    def typing(self, channel_id: int) -> bool:
        """Whether the bot is typing in this channel."""
        return self._typing.get(channel_id, 0.0) > asyncio.get_running_loop().time()

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
        self._typing.clear()

    async def shutdown(self) -> None:
        await self._run_pre_shutdown()
        await self.detach()
        asyncio.get_running_loop().set_task_factory(self._former_factory)
        self._started = False


class Seat(Preview):  # type: ignore[misc]
    """One person's view of one channel: simcord's page, kept up to date while it is looked at."""

    _MAX_PAGES = 64
    _PAGE_LEASE_SECONDS = 12 * 3600.0  # a tab in the background, or a sleeping laptop, comes back

    def __init__(
        self, env: LiveEnv, channel: Any, viewer: Any, timezone: str, rewrite: Callable[[str], str]
    ) -> None:
        super().__init__(
            env,
            channel,
            (viewer,),
            layout="channel",
            display="responsive",
            width=960,
            height=720,
            locale="en-US",
            timezone=timezone,
            presentation_time=None,
            assets=None,
            port=0,
        )
        self._server = SeatServer(env, self)
        self._rewrite = rewrite
        self._turn = asyncio.Lock()
        self._seen: dict[str, int] = {}

    def _initial_target(self, viewer: Any, channel_id: int) -> int | None:
        """simcord opens a page at the bot's last message; a chat opens at its end."""
        return None

    async def _action(self, context_id: str | None, body: Mapping[str, Any]) -> dict[str, Any]:
        """simcord refuses an action that was prepared against an older picture, or while another runs.

        Here the picture changes with every streamed word. What the person pressed is still looked up
        and validated against the present state, so only the stamp is renewed; a second action waits.
        """
        async with self._turn:
            if isinstance(body, Mapping):
                page = self._get_page(context_id)
                body = {**body, "published_revision": page.revision}
                if body.get("kind") in {"send_message", "edit_message"} and isinstance(
                    body.get("content"), str
                ):
                    body["content"] = self._rewrite(body["content"])
            result: dict[str, Any] = await super()._action(context_id, body)
            return result

    def refresh_if_changed(self, context_id: str) -> None:
        """simcord publishes after actions only; publish whenever the world moved since the last look."""
        page = self._pages.get(context_id)
        ticks = self.env.ticks.passed
        if page is None or self._seen.get(context_id) == ticks:
            return
        self._seen[context_id] = ticks
        former = page.snapshot, page.revision, page.published_at, page.publication_reason
        before = _substance(page.snapshot)
        self._advance_presentation_time()
        self._publish(page, reason="refresh")
        if before == _substance(page.snapshot) and not page.pending_receipt_revision:
            page.snapshot, page.revision, page.published_at, page.publication_reason = former


class SeatServer(PreviewServer):  # type: ignore[misc]
    """Answers one seat's requests on the playground's own port, instead of a port of its own.

    simcord's checks of the token, the Host and the Origin stay; ``port`` is set for them.
    """

    _SECURITY_HEADERS = {  # noqa: RUF012  # simcord's name; our page shows the channel in a frame of its own
        **PreviewServer._SECURITY_HEADERS,
        "X-Frame-Options": "SAMEORIGIN",
        "Content-Security-Policy": PreviewServer._SECURITY_HEADERS["Content-Security-Policy"].replace(
            "frame-ancestors 'none'", "frame-ancestors 'self'"
        ),
    }

    def __init__(self, env: LiveEnv, seat: Seat | None = None) -> None:
        self._env = env
        super().__init__(seat)
        _server.web = web  # simcord imports it when it binds a port, which we don't let it

    @property
    def port(self) -> int | None:
        return self._env.port

    @port.setter
    def port(self, value: object) -> None:
        """simcord notes the port that it has bound; ours is the playground's."""

    async def start(self) -> None:
        """The playground's server listens already."""

    async def close(self) -> None:
        """See ``start``."""

    async def _state(self, request: web.Request) -> web.Response:
        context = request.headers.get("X-Simcord-Context")
        if context is not None and self._authorized(request, context=context):
            self.preview.refresh_if_changed(context)
        response: web.Response = await super()._state(request)
        response.headers["X-Play-Typing"] = "1" if self._env.typing(self.preview.channel.id) else "0"
        return response


def _substance(snapshot: Mapping[str, Any]) -> str:
    """A snapshot without its stamps: equal when a person would see no difference."""
    kept = {key: value for key, value in snapshot.items() if key not in {"publication", "publishedRevision"}}
    if isinstance(kept.get("profile"), Mapping):
        kept["profile"] = {**kept["profile"], "presentationTime": None}
    return json.dumps(kept, sort_keys=True, default=str)
