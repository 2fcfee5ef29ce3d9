"""The playground: the real, unmodified bot in a Discord-like page, with no token and no network.

``run`` is what ``python bot.py --play`` calls; ``World`` is the same without a browser, for tests.
simcord (a simulated Discord for tests) does the simulating; what differs is in ``simulation``, ``passing``,
``rendering`` and ``webhooks``.
"""

from __future__ import annotations

from play import _quiet as _quiet
from play.running import run
from play.seeding import seed
from play.world import PlayError, Said, World

__all__ = ["PlayError", "Said", "World", "run", "seed"]
