"""Starts the playground, prints its address, and stops it on Ctrl-C with everything saved."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from pathlib import Path
from types import FrameType

import discord

from play.server import PlayServer
from play.world import World

OFFLINE = "the offline responder (no model key)"


async def run(
    make_bot: Callable[[], discord.Client],
    *,
    data_dir: Path,
    port: int,
    clock_now: Callable[[], datetime],
    seed: Callable[[World], Awaitable[None]] | None = None,
    about: str = OFFLINE,
) -> None:
    """Serve the playground until Ctrl-C (SIGINT) or SIGTERM.

    ``make_bot`` makes a fresh client (at the start and at each restart). ``port`` is the wanted one; the next
    free one is taken when it is in use. ``clock_now`` must follow the wall clock. ``seed`` is awaited once in
    a world's life, after the bot is ready. ``about`` names on the page who answers: a model.
    Raises :class:`play.PlayError` with a plain sentence when it can't start.
    """
    stop = asyncio.Event()
    world = World(make_bot, data_dir=data_dir, clock_now=clock_now, seed=seed)
    with _stopping(stop):
        await _until(world.start(), stop)
        try:
            if stop.is_set():
                return
            server = PlayServer(world, about if about == OFFLINE else f"the model {about}")
            try:
                wanted = await server.start(port)
                if not wanted:
                    print(f"Port {port} is in use; the playground took {server.port}.")
                print(f"\n  Keepsake's playground: {server.url}\n\n  Ctrl-C stops it.\n", flush=True)
                await stop.wait()
                print("Stopping; a reply under way is finished first.", flush=True)
            finally:
                await server.stop()
        finally:
            await world.stop()
    print("The playground has stopped. Start it again to go on where it was.", flush=True)


async def _until(work: Awaitable[None], stop: asyncio.Event) -> None:
    """Await ``work``, or give it up when somebody stops the playground before it has started."""
    task = asyncio.ensure_future(work)
    waiting = asyncio.ensure_future(stop.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if not task.done():
        task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


@contextlib.contextmanager
def _stopping(stop: asyncio.Event) -> Iterator[None]:
    """Turn the first SIGINT or SIGTERM into ``stop``; a second one ends the process as usual."""
    loop = asyncio.get_running_loop()
    former: list[tuple[signal.Signals, object]] = []

    def asked(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.default_int_handler)
        loop.call_soon_threadsafe(stop.set)

    for number in (signal.SIGINT, signal.SIGTERM):
        # Works on every system; outside the main thread (a test) there is no signal to receive.
        with contextlib.suppress(ValueError, OSError):
            former.append((number, signal.signal(number, asked)))
    try:
        yield
    finally:
        for number, handler in former:
            with contextlib.suppress(ValueError, OSError, TypeError):
                signal.signal(number, handler)  # type: ignore[arg-type]  # what signal itself returned
