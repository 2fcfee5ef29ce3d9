"""Waiting for what must not be torn apart: a commit, or a connection that is being made."""

from __future__ import annotations

import asyncio
from typing import Any


async def finish(task: asyncio.Task[Any]) -> bool:
    """Wait until ``task`` is done, through any number of cancellations; True when there was one.

    The caller looks at the task's outcome, tidies up, and then lets the cancellation through.
    """
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            cancelled = True
    return cancelled
