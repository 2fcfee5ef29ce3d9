"""The bot's own time in a turn, beside the floor of the same machine in the same run.

Window full at ``balanced``, four scopes of 120 entries. A turn's own time runs from the message to the
finished prompt, and from the answer to the closed turn; the model and Discord answer at once. The floor is
the very statements of that turn, run raw on the bare driver against a copy of the database, plus the new
texts tokenised once. Each turn is followed by its floor, so that both see the same machine. DATABASE_URL
picks the database (SQLite in a temporary folder when unset; on a PostgreSQL server two databases are made and
dropped).
"""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.place import GUILD, BenchClock, InstantModel, OpenPlace, sentence
from bench.raw import Databases, Raw, Recording, Unit
from memory import wiring
from memory.engine import Engine
from memory.llm import tokenizers
from memory.settings import Settings
from memory.store import Store
from memory.types import DEFAULT_LINEAGE, GLOBAL, Person, Place, Scope

TURNS = 100
UNCOUNTED = 20
"""Turns after the start that fill the caches of both sides."""

ENTRIES = 100
PINNED = 20
ANA = Person(101, "Ana", manages=True)
BEN = Person(102, "Ben")
PLACE = Place(71, GUILD, name="general")
SCOPES = (
    Scope.server(GUILD, DEFAULT_LINEAGE),
    Scope.server(GUILD, GLOBAL),
    Scope.user(ANA.id, DEFAULT_LINEAGE),
    Scope.user(ANA.id, GLOBAL),
)
"""120 entries each. Ben speaks too and has none, so that exactly these four are read."""


@dataclass
class Stages:
    """Clock readings at the stages of the present turn."""

    at: dict[str, float] = field(default_factory=dict)

    def stage(self, name: str) -> None:
        self.at[name] = time.perf_counter()


async def run(url: str = "") -> dict[str, object]:
    """Measure. Milliseconds; ``ratio`` is the median turn by the median floor."""
    with tempfile.TemporaryDirectory() as folder:
        async with Databases(url, Path(folder)) as databases:
            return await _measure(databases)


async def _measure(databases: Databases) -> dict[str, object]:
    clock, stages = BenchClock(), Stages()
    surface = OpenPlace(clock)
    engine, _ = await _engine(databases.url, clock, surface, stages)
    await _fill(engine, surface)
    await engine.close()
    raw = await databases.copy()
    engine, store = await _engine(databases.url, clock, surface, stages)
    recording = Recording()
    store.watch(recording.heard)
    turns, floors, statements = [], [], 0
    for number in range(TURNS):
        own = await _turn(engine, surface, stages, 1_000 + number)
        units = recording.take()
        floor = await _floor(raw, units, number)
        if number >= UNCOUNTED:
            turns.append(own)
            floors.append(floor)
            statements = sum(len(unit.statements) for unit in units)
    await engine.close()
    await raw.close()
    ratio = statistics.median(turns) / statistics.median(floors)
    return {
        "database": databases.url.partition(":")[0],
        "ratio": round(ratio, 2),
        "turn": _quantiles(turns),
        "floor": _quantiles(floors),
        "statements": statements,
        "turns": len(turns),
    }


async def _engine(url: str, clock: BenchClock, surface: OpenPlace, stages: Stages) -> tuple[Engine, Store]:
    settings, _ = Settings.load({"DATABASE_URL": url})
    store = await Store.open(settings.database_url)
    engine = await wiring.build(settings, clock=clock, model=InstantModel(), store=store, stage=stages.stage)
    await engine.start(surface)
    return engine, store


async def _fill(engine: Engine, surface: OpenPlace) -> None:
    """Fill the four scopes to their caps, and the window to its limit."""
    for scope in SCOPES:
        for number in range(ENTRIES + PINNED):
            words = f"{scope.kind.value} {scope.lineage or 'all'} {number}: {sentence(number, 12)}"
            await engine.facts.add(ANA, PLACE, scope, words, pinned=number < PINNED)
    for number in range(60):
        person = BEN if number % 2 else ANA
        calls = number % 6 == 0
        await engine.observe(surface.says(person, PLACE, sentence(number)), trigger=calls)
        await engine.idle()


async def _turn(engine: Engine, surface: OpenPlace, stages: Stages, number: int) -> float:
    """One turn's own time in seconds."""
    said = surface.says(ANA, PLACE, sentence(number))
    began = time.perf_counter()
    await engine.observe(said, trigger=True)
    await engine.idle()
    at = stages.at
    return (at["prepared"] - began) + (at["closed"] - at["answered"])


async def _floor(raw: Raw, units: list[Unit], number: int) -> float:
    """The same statements raw, and the two new texts (message and reply) tokenised once. Seconds."""
    tokenizer, _ = tokenizers.load("gpt-4o")
    began = time.perf_counter()
    for unit in units:
        await raw.run(unit)
    for text in (f"[09:00] Ana: {sentence(1_000 + number)} raw", f"I hear you. {sentence(number, 18)} raw"):
        tokenizer.count(text)
    return time.perf_counter() - began


def _quantiles(seconds: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(seconds, n=100)
    return {f"p{q}_ms": round(cuts[q - 1] * 1_000, 2) for q in (50, 95, 99)}
