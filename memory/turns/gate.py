"""The gate: one turn at a time in a channel, first come first served, a bounded number over all.

The queue itself is the ``triggers`` table, so it survives a crash and takes no memory; here is only who runs.
No task waits for work: one is started when a channel is woken, and ends when nothing waits in it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

log = logging.getLogger(__name__)

TURNS_AT_ONCE = 32
"""Turns that run at the same time in one process; more wait their turn. Bounds memory and connections."""


class Gate:
    """Runs ``turn(channel_id)`` for woken channels until it answers that nothing more is waiting there."""

    def __init__(self, turn: Callable[[int], Awaitable[bool]], *, at_once: int = TURNS_AT_ONCE) -> None:
        self._turn = turn
        self._places = asyncio.Semaphore(at_once)
        self._running: dict[int, asyncio.Task[None]] = {}
        self._again: set[int] = set()
        self._closed = False

    def wake(self, channel_id: int) -> None:
        """Something waits in this channel. Starts a turn, or has the running one look again at its end."""
        if self._closed:
            return
        if channel_id in self._running:
            self._again.add(channel_id)
            return
        task = asyncio.create_task(self._run(channel_id), name=f"turns of {channel_id}")
        self._running[channel_id] = task

    def busy(self, channel_id: int) -> bool:
        """Is a turn running or waiting for its place in this channel?"""
        return channel_id in self._running

    async def _run(self, channel_id: int) -> None:
        try:
            while not self._closed:
                self._again.discard(channel_id)
                async with self._places:
                    more = await self._turn(channel_id)
                if not more and channel_id not in self._again:
                    return
        except Exception:
            log.exception("a turn broke", extra={"channel": channel_id})
        finally:
            self._running.pop(channel_id, None)
            if channel_id in self._again and not self._closed:
                self._again.discard(channel_id)
                self.wake(channel_id)

    async def idle(self) -> None:
        """Wait until nothing runs."""
        while self._running:
            await asyncio.wait(list(self._running.values()))

    async def close(self, grace_s: float) -> None:
        """Start nothing more; give running turns ``grace_s`` seconds, then cancel them."""
        self._closed = True
        running = list(self._running.values())
        if running:
            _, late = await asyncio.wait(running, timeout=grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
