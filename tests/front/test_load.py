"""A busy evening (SPEC §15): one channel is flooded during a turn, fifty channels call at once, and all the
while people use commands and press buttons. Nothing is lost, nothing piles up, nobody waits long.

Real time and the real bot: the playground's world has no virtual clock, and times come from ``perf_counter``.
An interaction's time begins when a person wants to act, so it counts too when the loop is blocked before the
event is even read. Everybody's shelves are full of long entries: the most that a search has to look through.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import math
import re
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import bot as entry
import play
from memory import wiring
from memory.llm.port import Event, Finished, Request, Role, TextPiece, ToolCall
from memory.settings import Settings, sqlite_url
from memory.store import Store
from memory.types import DEFAULT_LINEAGE, GLOBAL, Person, Place, Scope, Usage
from play.scene import GUILD_ID, PEOPLE
from play.simulation import Ticks
from tests.fakes import FakeClock, FakeSurface, ScriptedModel

ROOMS = 50
FLOOD = 100
ACKNOWLEDGED_MS = 1_500
"""Discord gives an interaction up after 3,000."""
FOUND_MS = 300

VISITORS = 12
ROUNDS = 2
PAUSE_S = 0.4
"""How often a visitor acts; but never before the former answer is there, as nobody presses blindly."""
WAVE_S = 2.0
"""How often all fifty channels call at once, for as long as anybody still acts."""

PIECES = 8
PIECE_S = 0.15
"""An answer takes over a second to stream."""

FULL = 100
"""Entries on a full shelf (SPEC §4.1)."""
NOUNS = ("lantern", "boat", "string", "rope", "kettle", "orchard", "violin", "granite", "saddle", "mirror")
LINEAGES = (DEFAULT_LINEAGE, GLOBAL)
AT = datetime(2026, 3, 1, tzinfo=UTC)

Act = Callable[[], Awaitable[object]]

_wanted: ContextVar[float] = ContextVar("wanted")
"""When whoever acts now wanted to, in seconds of ``perf_counter``."""


class SlowModel(ScriptedModel):
    """Streams slowly, saves a memory in every fourth turn, and sees how many streams a channel has at once.

    In #general it says nothing until the test lets it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.let_go = asyncio.Event()
        self.streaming: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self._asked = itertools.count(1)

    async def stream(self, request: Request) -> AsyncIterator[Event]:
        said = next(m.text for m in reversed(request.messages) if m.role is Role.USER)
        (room,) = set(re.findall(r"\(in (\w+)\)", said))  # or another channel's words are in this prompt
        self.streaming[room] += 1
        self.most[room] = max(self.most[room], self.streaming[room])
        try:
            if room == "general":
                await self.let_go.wait()
            async for event in self._answer(room, begun=request.messages[-1].role is Role.TOOL):
                yield event
        finally:
            self.streaming[room] -= 1

    async def _answer(self, room: str, *, begun: bool) -> AsyncIterator[Event]:
        number = 0 if begun else next(self._asked)
        if number and number % 4 == 0:
            told = json.dumps({"content": f"Told story number {number} in {room}", "about": "user"})
            yield Finished("", (ToolCall("call", "save_memory", told),), Usage(100, 10))
            return
        for piece in whole_answer(room).split(" "):
            await asyncio.sleep(PIECE_S)
            yield TextPiece(f"{piece} ")
        yield Finished(whole_answer(room), (), Usage(100, 10))


def whole_answer(room: str) -> str:
    return " ".join(f"{room}-{piece}" for piece in range(PIECES))


class Wire(Ticks):
    """Between the bot and Discord: when each interaction was wanted, and when its first answer came."""

    def __init__(self, backend: Any) -> None:
        super().__init__()
        self.wanted: dict[int, float] = {}
        self.answered: dict[int, float] = {}
        backend.http_requests = self
        backend.subscribers.insert(0, self._event)

    def _event(self, event: str, payload: Mapping[str, Any]) -> None:
        if event == "INTERACTION_CREATE":
            self.wanted[int(payload["id"])] = _wanted.get()

    def append(self, item: Any) -> None:
        super().append(item)
        if answer := re.fullmatch(r"/?interactions/(\d+)/[^/]+/callback", item.path):
            self.answered.setdefault(int(answer[1]), time.perf_counter())

    def waits(self) -> list[float]:
        """Milliseconds, of those that were answered."""
        return [(at - self.wanted[i]) * 1_000 for i, at in self.answered.items()]


@dataclass
class Evening:
    """A running world with fifty more channels, and what people said in it: id → channel."""

    world: play.World
    model: SlowModel
    rooms: dict[str, int]
    said: dict[int, int] = field(default_factory=dict)
    calls: dict[int, int] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    async def say(self, room: str, *, call: bool) -> int:
        number, channel = next(self._numbers), self.rooms[room]
        text = f"{'@Keepsake' if call else 'Well,'} this is line {number} of tonight (in {room})"
        message = await self.world.say(PEOPLE[number % len(PEOPLE)].key, channel, text)
        self.said[message] = channel
        if call:
            self.calls[message] = channel
        return message

    async def flood(self) -> list[int]:
        """A hundred messages in #general, every other one a call. Returns the calls."""
        said = [await self.say("general", call=number % 2 == 1) for number in range(FLOOD)]
        return [message for message in said if message in self.calls]

    async def storm(self, until: asyncio.Future[Any]) -> None:
        """All channels call at once, again and again."""
        while not until.done():
            for room in self.rooms:
                await self.say(room, call=True)
                await self.say(room, call=False)
            await asyncio.wait([until], timeout=WAVE_S)


@asynccontextmanager
async def evening(folder: Path) -> AsyncIterator[Evening]:
    settings = make_settings(folder, max_personal_memories=1_000)  # so that there is room for more
    shelves = [Scope.user(person.id, lineage) for person in PEOPLE for lineage in LINEAGES]
    await fill(settings, [*server_shelves(GUILD_ID), *shelves])
    model = SlowModel()

    class Player(entry.Keepsake):
        async def setup_hook(self) -> None:
            self.engine = await wiring.build(settings, model=model)
            await super().setup_hook()

    world = play.World(lambda: Player(settings), data_dir=folder, clock_now=lambda: datetime.now(UTC))
    async with world:
        general = world.channel(world.room("general"))
        guild = general.guild
        assert guild is not None
        rooms = {name: guild.create_text_channel(name).id for name in (f"room{n}" for n in range(ROOMS))}
        yield Evening(world, model, {"general": general.id, **rooms})


def make_settings(folder: Path, **more: object) -> Settings:
    url = sqlite_url(folder / "keepsake.sqlite3")
    return Settings.model_validate({"database_url": url, "shard_count": 1, **more})


def server_shelves(guild_id: int) -> list[Scope]:
    return [Scope.server(guild_id, lineage) for lineage in LINEAGES]


def long_entry(number: int) -> str:
    noun, other = NOUNS[number % 10], NOUNS[number // 10]
    return f"The {noun} number {number} belongs to the {other} by the river" + ", as everybody knows" * 20


async def fill(settings: Settings, scopes: Sequence[Scope]) -> None:
    """A hundred long entries in each scope."""
    store = await Store.open(settings.database_url)
    async with store.write() as tx:
        for scope, text in itertools.product(scopes, map(long_entry, range(FULL))):
            await tx.memories.add(scope, text, text.casefold(), False, False, (), (), None, None, AT, ())
    await store.close()


# --- What people do meanwhile ---


async def scripts(world: play.World) -> list[list[Act]]:
    """What each visitor will do. The confirmations that they press are made here."""
    made = []
    for person in PEOPLE:
        each = VISITORS // len(PEOPLE)
        confirmations = iter(await _confirmations(world, person.key, each * ROUNDS))
        for _ in range(each):
            rounds = [
                _round(world, person.key, len(made) * 10 + n, next(confirmations)) for n in range(ROUNDS)
            ]
            made.append([act for one in rounds for act in one])
    return made


async def _confirmations(world: play.World, who: str, number: int) -> list[int]:
    """Messages with the buttons Undo, Pin and Edit, which this person alone sees."""
    room = world.room("general")

    def shown() -> list[int]:
        return [said.id for said in world.read(who, room) if "Undo" in said.buttons]

    for count in range(number):
        await world.command(who, room, "memory add", text=f"Keeps book number {count} under the bed")
    assert await world.wait_for(lambda: len(shown()) == number)
    return shown()


def _round(world: play.World, who: str, number: int, confirmation: int) -> list[Act]:
    """Nine commands and presses."""
    room = world.room("general")
    actor, channel, noun = world.actor(who, room), world.channel(room), NOUNS[number % len(NOUNS)]
    return [
        lambda: actor.autocomplete(channel, "memory edit", "entry", noun[:3]),
        lambda: world.command(who, room, "memory add", text=f"Went to see {noun} number {number}"),
        lambda: world.press(who, confirmation, "Edit"),
        lambda: world.command(who, room, "memories"),
        lambda: world.press(who, confirmation, "Pin"),
        lambda: actor.autocomplete(channel, "memory history", "entry", "river"),
        lambda: world.command(who, room, "memory search", query=f"{noun} river"),
        lambda: world.command(who, room, "context preview", text="What would you say?"),
        lambda: world.press(who, confirmation, "Undo"),
    ]


async def visit(acts: Sequence[Act], begin_s: float) -> None:
    """One act after the other at a steady rate."""
    due = time.perf_counter() + begin_s
    for act in acts:
        await asyncio.sleep(due - time.perf_counter())
        _wanted.set(due)
        await act()
        due = max(due + PAUSE_S, time.perf_counter())


# --- What is looked at ---


def tasks() -> int:
    """Work under way. Not counted: the timer that an open panel or box has until it sleeps."""
    names = [getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks()]
    return sum("timeout_task" not in name for name in names)


def p99(values: Sequence[float]) -> float:
    return sorted(values)[math.ceil(0.99 * len(values)) - 1]


def figures(name: str, values: Sequence[float]) -> str:
    half = sorted(values)[len(values) // 2]
    return f"{name}: {len(values)}, median {half:.0f} ms, p99 {p99(values):.0f} ms, most {max(values):.0f} ms"


@dataclass(frozen=True)
class Ended:
    """A turn as the database keeps it."""

    channel: int
    triggers: list[int]
    replies: list[int]
    state: str
    began: int
    closed: int


def kept(folder: Path) -> tuple[set[int], list[Ended]]:
    """Ids of the stored messages, and the turns in order."""
    database = sqlite3.connect(folder / "keepsake.sqlite3")
    messages = {row[0] for row in database.execute("SELECT id FROM messages")}
    turns = [
        Ended(channel, json.loads(triggers), json.loads(replies or "[]"), *rest)
        for channel, triggers, replies, *rest in database.execute(
            "SELECT channel_id, trigger_ids, reply_ids, state, started_at, closed_at FROM turns ORDER BY id"
        )
    ]
    database.close()
    return messages, turns


def assert_all_are_answered(night: Evening, turns: Sequence[Ended]) -> None:
    """Each call belongs to one turn, and each turn's whole reply stands in its channel once."""
    assert Counter(call for turn in turns for call in turn.triggers) == Counter(list(night.calls))
    assert {turn.state for turn in turns} == {"delivered"}
    for room, channel in night.rooms.items():
        shown = [said for said in night.world.read("mara", channel) if said.author == "Keepsake"]
        replies = {said.id: said.text for said in shown if not (said.embeds or said.ephemeral)}
        assert sorted(replies) == sorted(i for turn in turns if turn.channel == channel for i in turn.replies)
        assert set(replies.values()) == {whole_answer(room)}


def assert_one_turn_at_a_time(night: Evening, turns: Sequence[Ended]) -> None:
    assert set(night.model.most.values()) == {1}
    channels: dict[int, list[Ended]] = defaultdict(list)
    for turn in turns:
        channels[turn.channel].append(turn)
    for there in channels.values():
        assert all(former.closed <= later.began for former, later in itertools.pairwise(there))


async def test_a_flood_and_fifty_busy_channels_lose_nothing_and_keep_nobody_waiting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with evening(tmp_path) as night:
        world, model = night.world, night.model
        acts = await scripts(world)
        wire = Wire(world.env.backend)
        assert await world.wait_for(lambda: tasks() <= 2)  # this test, and what saves the world
        await night.say("general", call=True)
        assert await world.wait_for(lambda: model.streaming["general"] == 1)
        flood = await night.flood()
        # The turn still runs. All is stored, and nothing waits but that turn and its typing.
        assert await world.wait_for(lambda: tasks() <= 4)
        assert set(night.said) <= kept(tmp_path)[0]
        model.let_go.set()
        people = [asyncio.create_task(visit(a, PAUSE_S * n / VISITORS)) for n, a in enumerate(acts)]
        evenings_end = asyncio.gather(*people)
        busy = asyncio.create_task(night.storm(evenings_end))
        await night.flood()
        await evenings_end
        await busy
        assert await world.wait_for(lambda: tasks() <= 2, within=20)
        messages, turns = kept(tmp_path)
        assert set(night.said) <= messages
        assert_all_are_answered(night, turns)
    assert_one_turn_at_a_time(night, turns)
    assert turns[1].triggers == flood  # what came during a turn is the next one, together
    assert set(wire.answered) == set(wire.wanted)
    waits = wire.waits()
    print(figures("acknowledged", waits), f"in {len(turns)} turns, {len(messages)} messages")
    assert len(waits) >= 200
    assert p99(waits) < ACKNOWLEDGED_MS, figures("acknowledged", waits)
    assert [r.getMessage() for r in caplog.records if r.levelno >= logging.ERROR] == []


async def test_a_search_stays_quick_while_fifty_channels_are_recorded(tmp_path: Path) -> None:
    settings, clock = make_settings(tmp_path), FakeClock()
    ana = Person(501, "Ana")
    await fill(settings, [*server_shelves(GUILD_ID), *(Scope.user(ana.id, lineage) for lineage in LINEAGES)])
    surface = FakeSurface(clock)
    engine = await wiring.build(settings, clock=clock, model=ScriptedModel())
    await engine.start(surface)
    places = [Place(10_000 + number, GUILD_ID, name=f"room{number}") for number in range(ROOMS)]
    said = set()

    async def talk(place: Place) -> None:
        for number in range(2_000 // ROOMS):
            message = surface.say(Person(501 + number % 3, "Somebody"), f"line {number}", place)
            said.add(message.message_id)
            await engine.observe(message, trigger=number == 0)

    async def look(until: asyncio.Future[Any]) -> list[float]:
        waits, turn, due = [], itertools.count(), time.perf_counter()
        while not until.done():
            place, number = places[next(turn) % ROOMS], next(turn) % FULL
            found = await engine.facts.find(ana, place, f"{NOUNS[number % 10]} number {number}")
            waits.append((time.perf_counter() - due) * 1_000)
            assert found[0].text == long_entry(number)
            assert not (await engine.config.get(place)).auto_reply
            due = max(due + 0.05, time.perf_counter())
            await asyncio.sleep(due - time.perf_counter())
        return waits

    talking = asyncio.gather(*map(talk, places))
    waits = await look(talking)
    await talking
    await engine.idle()
    await engine.close()
    print(figures("found", waits))
    messages, turns = kept(tmp_path)
    assert len(said) == 2_000
    assert said <= messages
    assert len(turns) == ROOMS
    assert len(waits) >= 50
    assert p99(waits) < FOUND_MS, figures("found", waits)
