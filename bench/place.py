"""What every bench shares: a place that takes everything at once, and a model that answers at once."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime, timedelta

from memory.llm.port import Event, Finished, ModelInfo, Request, TextPiece
from memory.ports import Failure, NoticeView, Past, Posted, Speaker
from memory.types import AuthorKind, Hook, Incoming, Person, Place, Usage

GUILD = 700
BOT = 9_000
BEGAN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_STORY = (
    "the old keeper said that ships still come here when the fog is thick and nobody knows why they carry "
    "lamps of green glass and a captain who never speaks but always pays in coins"
)
WORDS = tuple(_STORY.split())


class BenchClock:
    """Moves by itself a little with every message, so that days pass as in a real channel."""

    def __init__(self) -> None:
        self.at = BEGAN

    def now(self) -> datetime:
        return self.at

    def step(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


def sentence(number: int, words: int = 14) -> str:
    """Words of about the length of a chat message, different for every number."""
    start = number * 7
    picked = [WORDS[(start + i * (1 + number % 3)) % len(WORDS)] for i in range(words)]
    return f"{' '.join(picked)} {number}"


class InstantModel:
    """Answers at once with ``words`` words; keeps the last request."""

    tools_work = True

    def __init__(self, window: int = 128_000, words: int = 18) -> None:
        self.info = ModelInfo("gpt-4o", window, "o200k_base", exact=True)
        self.last: Request | None = None
        self._number = 0
        self._words = words

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        self.last = request
        self._number += 1
        text = "I hear you. " + sentence(self._number, self._words)
        yield TextPiece(text)
        yield Finished(text, (), Usage(1, 1))

    async def close(self) -> None:
        """Nothing to close."""


class OpenPlace:
    """A surface that takes every message and has no history."""

    def __init__(self, clock: BenchClock, first_id: int = 1_000) -> None:
        self.clock = clock
        self._id = first_id

    def next_id(self) -> int:
        self._id += 1
        return self._id

    def says(self, person: Person, place: Place, text: str) -> Incoming:
        """One member's message."""
        self.clock.step(20)
        return Incoming(self.next_id(), place, person, text, self.clock.now(), AuthorKind.MEMBER)

    def reply(
        self, place: Place, reply_to: int, standing: Sequence[Posted] = (), speaker: Speaker | None = None
    ) -> OpenReply:
        return OpenReply(self)

    async def history(
        self, place: Place, *, limit: int, before: int | None = None, after: int | None = None
    ) -> Past | None:
        return None

    async def own_replies(
        self, place: Place, reply_to: int, partial_id: int | None = None, speaker: Speaker | None = None
    ) -> list[Posted] | None:
        return []

    async def post_notice(self, place: Place, view: NoticeView) -> int | None:
        return self.next_id()

    async def report(self, place: Place, reply_to: int, failure: Failure) -> int | None:
        raise AssertionError(failure.line)

    async def redraw(self, view: NoticeView) -> None:
        """Nobody looks."""

    async def retire(self, hooks: Sequence[Hook]) -> None:
        """There are none."""

    async def branch(self, place: Place, title: str, opening: str, people: Sequence[int]) -> Place:
        raise AssertionError("a bench forks nothing")

    async def is_member(self, guild_id: int, user_id: int) -> bool:
        return True

    async def manages(self, guild_id: int, user_id: int) -> bool:
        raise AssertionError("a bench knows its callers")

    def in_server(self, guild_id: int) -> bool:
        return True

    async def can_read(self, place: Place, user_id: int) -> bool:
        return True

    def own_id(self) -> int:
        return BOT

    def blind_spots(self, place: Place, speaker: Speaker | None = None) -> tuple[str, ...]:
        return ()

    def persona_name(self, place: Place) -> str:
        return "Keepsake"

    def server_name(self, guild_id: int) -> str:
        return "The Tavern"


class OpenReply:
    """Takes the final text; shows nothing before it."""

    def __init__(self, place: OpenPlace) -> None:
        self._place = place

    async def typing(self) -> None:
        """Nobody looks."""

    async def show(self, text: str) -> int | None:
        return None

    async def finish(self, text: str, nonce: str) -> tuple[Posted, ...]:
        return (Posted(self._place.next_id(), text),)

    async def withdraw(self) -> None:
        """Nothing stands."""
