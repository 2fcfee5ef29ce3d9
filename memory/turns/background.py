"""Background work of one process, keyed: at most one task a key, and none that waits for work."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine

log = logging.getLogger(__name__)


class Background:
    """Starts a coroutine for a key unless one runs already; then runs it once more afterwards."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._again: dict[str, Callable[[], Coroutine[object, object, None]]] = {}
        self._closed = False

    def start(self, key: str, work: Callable[[], Coroutine[object, object, None]]) -> None:
        """Run ``work`` in the background. Its exceptions are logged and stop nothing else."""
        if self._closed:
            return
        if key in self._tasks:
            self._again[key] = work
            return
        self._tasks[key] = asyncio.create_task(self._run(key, work), name=key)

    async def _run(self, key: str, work: Callable[[], Coroutine[object, object, None]]) -> None:
        try:
            await work()
        except Exception:
            log.exception("background work failed", extra={"key": key})
        finally:
            self._tasks.pop(key, None)
            again = self._again.pop(key, None)
            if again is not None:
                self.start(key, again)

    async def idle(self) -> None:
        """Wait until nothing runs."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def close(self) -> None:
        """Cancel what runs. Unfinished work is found again at the next start."""
        self._closed = True
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
