"""The ground that every step stands on: one database and loop for all examples, an engine, and the checks.

A step acts, then calls :meth:`World.settle` with who acted: what the database held before and holds now must
agree with it. What was seen last is ``now``.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis.stateful import RuleBasedStateMachine

from memory import wiring
from memory.engine import Engine
from memory.settings import Settings
from memory.store import Store, sqlite
from memory.types import Memory, Person, Persona, Place
from tests.fakes import GUILD, FakeClock, FakeSurface, ScriptedModel, says
from tests.stateful.cast import ARIA, MARA, PLACES, SQUARE, owner_of
from tests.stateful.checks import (
    PINNED,
    UNPINNED,
    Caps,
    Kind,
    Step,
    decided_once,
    explained,
    new_entries,
    rightly_written,
)
from tests.stateful.eyes import Eyes, Kept, Moment, Spoken

T = TypeVar("T")

SWITCHES = {
    "member_access": ("off", "on"),
    "autosave": ("on", "ask"),
    "persona_memories": ("isolated", "union"),
}


class Killed(BaseException):
    """The process dies here: nothing after it runs, what was committed stays."""


class Standing(Store):
    """A database that stays open while engines come and go. What was not committed is gone all the same."""

    async def close(self) -> None:
        """Closed at the end of the test."""

    async def shut(self) -> None:
        await super().close()


@dataclass(frozen=True)
class Ground:
    """What all examples share."""

    runner: asyncio.Runner
    store: Standing
    eyes: Eyes
    settings: Settings


async def _at_once(_connection: object, work: Callable[..., T], *given: object, **more: object) -> T:
    """A statement without its trip to the database's thread: others may run before it, as then."""
    await asyncio.sleep(0)
    return work(*given, **more)


@contextlib.contextmanager
def ground(folder: Path) -> Iterator[Ground]:
    """One database for all examples: opening one and compiling its statements anew costs more than a step."""
    path = folder / "k.sqlite3"
    chosen, _ = Settings.load(
        {
            "DATABASE_URL": f"sqlite:///{path}",
            "MAX_SERVER_MEMORIES": str(UNPINNED),
            "MAX_PERSONAL_MEMORIES": str(UNPINNED),
            "MAX_PINNED_MEMORIES": str(PINNED),
        }
    )
    with pytest.MonkeyPatch.context() as patch, asyncio.Runner() as runner:
        # A process that dies loses nothing that it wrote: waiting for the disk would test nothing here.
        patch.setattr(sqlite, "_WRITER", ("PRAGMA synchronous=OFF",))
        patch.setattr(sqlite.SqliteConnection, "_execute", _at_once)
        store = runner.run(Standing.open(chosen.database_url))
        assert isinstance(store, Standing)
        eyes = Eyes(path)
        try:
            yield Ground(runner, store, eyes, chosen)
        finally:
            eyes.close()
            runner.run(store.shut())


@dataclass
class Turned:
    """A turn that was answered: what was kept before it, and what others changed since."""

    turn: Spoken
    before: Kept
    touched: set[int] = field(default_factory=set)


class World(RuleBasedStateMachine):
    """An engine that lives through the steps, and what was seen of it."""

    ground: Ground

    def set_up(self) -> None:
        self.ground.eyes.empty()
        self.clock = FakeClock()
        self.surface = FakeSurface(self.clock)
        self.model = ScriptedModel(after=says("All right."))
        self.die_at = ""
        self.taken: list[tuple[Kept, int]] = []
        self.turns: dict[int, list[Turned]] = {place.channel_id: [] for place in PLACES}
        self.caps = Caps()
        self.on: set[str] = set()
        self.looks = 0
        self.changed: set[int] = set()
        self.engine = self.run(self._start())
        self.aria = self.run(self._create())
        self.now: Moment = self.ground.eyes.moment()

    def run(self, work: Awaitable[T]) -> T:
        return self.ground.runner.get_loop().run_until_complete(work)

    async def _start(self) -> Engine:
        engine = await wiring.build(
            self.ground.settings,
            clock=self.clock,
            model=self.model,
            store=self.ground.store,
            stage=self._stage,
        )
        await engine.start(self.surface)
        await engine.reconnected()
        await engine.idle()
        await engine.idle()
        return engine

    def restart(self) -> None:
        self.run(self.engine.close())
        self.engine = self.run(self._start())

    def _stage(self, name: str) -> None:
        if name == self.die_at:
            raise Killed(name)
        if name == "taken":
            self.taken.append((self.ground.eyes.memories(), len(self.model.requests)))
            self.clock.move(seconds=1)

    async def _create(self) -> int:
        async with self.ground.store.write() as tx:
            made = await tx.personas.add(Persona(0, GUILD, ARIA, "Aria"), "aria", MARA.id, self.clock.now())
        assert made is not None
        self.engine.personas.forget(GUILD)
        return made.id

    @property
    def access(self) -> bool:
        """May every member write the server's memories?"""
        return "member_access" in self.on

    def switch(self, what: str) -> None:
        """Member access, *ask* for all that the model writes, and reading for the other persona, too."""
        self.on ^= {what}
        self.run(self.engine.config.set(MARA, SQUARE, what, SWITCHES[what][what in self.on]))
        self.settle(Kind.NOBODY)

    def tick(self) -> None:
        """Time passes between two steps."""
        self.clock.move(seconds=5)

    def settle(self, kind: Kind, person: Person | None = None, place: Place | None = None, **more) -> Moment:
        """Look again. Returns what was there before the step."""
        step = Step(kind, person, place, access=self.access, asks="autosave" in self.on, **more)
        old, self.now = self.now, self.ground.eyes.moment()
        explained(old, self.now)
        rightly_written(old, self.now, step)
        decided_once(old, self.now, step)
        self.caps.hold(self.now.memories, leaving=kind is Kind.LEAVING)
        self.changed = {entry.memory_id for entry in new_entries(old, self.now)}
        here = place.channel_id if kind in (Kind.TURNS, Kind.ROLLBACK) and place is not None else None
        for channel_id, turns in self.turns.items():
            for turned in turns if channel_id != here else ():
                turned.touched |= self.changed
        return old

    def unchanged(self, old: Moment) -> None:
        assert self.now == old, "nobody had a right to change anything"

    def pick(self, index: int, person: Person | None) -> tuple[Memory, Person]:
        """An entry, and who does something with it: who may, when nobody is named."""
        kept = list(self.now.memories.values())
        memory = kept[index % len(kept)]
        return memory, person or owner_of(memory.scope)

    def teardown(self) -> None:
        if hasattr(self, "engine"):
            self.run(self.engine.close())
