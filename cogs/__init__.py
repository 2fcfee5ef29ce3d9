"""The Discord front: adapts what people do in Discord to the engine, and draws its answers.

A cog holds no state of its own and decides nothing that the engine decides. Everything here reaches the
engine by :func:`engine_of`; nothing else hangs on the bot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

import discord

if TYPE_CHECKING:
    from memory.engine import Engine

EXTENSIONS = (
    "cogs.chat",
    "cogs.memories",
    "cogs.pinning",
    "cogs.personal",
    "cogs.context",
    "cogs.approvals",
    "cogs.config",
    "cogs.personas",
    "cogs.actions",
    "cogs.drafts",
    "cogs.help",
)
"""Every cog, in the order in which they are loaded. The one list of them."""


class Host(Protocol):
    """A client that carries the engine."""

    engine: Engine


def engine_of(source: discord.Client | discord.Interaction) -> Engine:
    """The engine behind a client, or behind the client of an interaction."""
    client = source.client if isinstance(source, discord.Interaction) else source
    return cast("Host", client).engine
