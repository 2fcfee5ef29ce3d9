"""The little server that a playground starts with: who is there, where they talk, what they said.

Ids are constants, so that the bot's database, which is a file of its own, means the same people and
places at every start.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Persona:
    """A person to play. ``color`` is the name's colour and the avatar's, as 0xRRGGBB."""

    key: str
    name: str
    id: int
    dm_id: int
    color: int
    admin: bool = False


@dataclass(frozen=True, slots=True)
class Room:
    """A channel of the server. ``members`` are the keys of who may see it; empty means everybody."""

    key: str
    id: int
    topic: str
    members: tuple[str, ...] = ()


APPLICATION_ID = 1440000000000000001
BOT_ID = 1440000000000000002
BOT_NAME = "Keepsake"
BOT_ROLE_ID = 1440000000000000003
ADMIN_ROLE_ID = 1440000000000000004
GUILD_ID = 1440000000000000100
GUILD_NAME = "The Lantern Inn"
BOT_COLOR = 0xE0A458

PEOPLE = (
    Persona("ana", "Ana", 1440000000000000201, 1440000000000000401, 0x5BC0BE),
    Persona("ben", "Ben", 1440000000000000202, 1440000000000000402, 0x9B87F5),
    Persona("mara", "Mara", 1440000000000000203, 1440000000000000403, 0xF2768A, admin=True),
)

ROOMS = (
    Room("general", 1440000000000000301, "Where everybody talks"),
    Room("tavern", 1440000000000000302, "Stories by the fire"),
    Room("council", 1440000000000000303, "Mara and Ben only", members=("mara", "ben")),
)

SCENE = (
    ("ana", "The tavern's chimney smokes again. Third time this week."),
    ("ben", "That's the wind from the harbour. My grandmother hung a wet cloth over the grate."),
    ("ana", "And did it help?"),
    ("ben", "It smelled of wet cloth. But yes."),
    ("ana", "The lantern festival is on Friday the 18th. Are you bringing the paper boats?"),
    ("ben", "Forty of them. I still need string, the red one."),
    ("ana", "I have red string. Come by the workshop before noon."),
    ("ben", "Deal. Somebody should write all this down, I forget everything."),
)
"""Eight lines in #general, between Ana and Ben."""


def scene_times(now: datetime) -> tuple[datetime, ...]:
    """When each line was said: over the last half hour, the newest four minutes ago."""
    last = now - timedelta(minutes=4)
    gaps = (0, 2, 3, 4, 8, 11, 13, 16)
    return tuple(last - timedelta(minutes=minutes, seconds=minutes * 7 % 50) for minutes in reversed(gaps))
