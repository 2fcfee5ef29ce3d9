"""Memories stay whole in any order of adding, tool writes, pinning, editing, regenerating, rewinding,
clearing, persona deletion and crashes (SPEC §4.1, §4.6): caps hold, the model never changes a pin, rollback
restores exactly the earlier state, and the journal explains every difference.

The machine keeps no copy of the rules. It compares the database with itself: before a step, after it, and
with what its journal says.
"""

from __future__ import annotations

import asyncio
import itertools
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from memory import wiring
from memory.engine import Engine
from memory.facts.outcomes import OutcomeKind
from memory.settings import Settings
from memory.types import DEFAULT_LINEAGE, GLOBAL, Memory, Op, Person, Persona, Scope, SubjectKind
from tests.fakes import GENERAL, GUILD, FakeClock, FakeSurface, ScriptedModel, calls, says

ANA, MARA = Person(501, "Ana"), Person(503, "Mara", manages=True)
PEOPLE = (ANA, MARA)
ARIA = "aria-lineage"
UNPINNED, PINNED = 4, 2
TEXTS = (
    "Keeps bees on the roof.",
    "Was born in Oaxaca.",
    "Allergic to shellfish.",
    "Owns a blue bicycle.",
    "Studies marine law at night.",
    "Has a sister called Inés.",
    "Never drinks coffee.",
    "Plays the cello on Sundays.",
    "The harvest fair opens on 12 May.",
    "Wi-Fi is off after midnight.",
)
STAGES = ("taken", "prepared", "wrote", "answered", "committed", "delivered", "closed")

Kept = dict[int, Memory]

text = st.integers(0, len(TEXTS) - 1)
who = st.sampled_from(PEOPLE)
which = st.integers(0, 30)


class Killed(BaseException):
    """The process dies here: nothing after it runs, what was committed stays."""


@dataclass
class Turned:
    """A turn that was answered: what was kept before it, and which message it answered."""

    before: Kept
    author: Person
    trigger: int
    reply: int
    touched: set[int] = field(default_factory=set)


def essence(memory: Memory) -> tuple[object, ...]:
    """What rollback must bring back: everything but the version, which only ever rises."""
    return (
        memory.scope,
        memory.text,
        memory.pinned,
        memory.dm_only,
        memory.keywords,
        memory.channels,
        memory.created_at,
        memory.updated_at,
        memory.author_id,
    )


class Keeping(RuleBasedStateMachine):
    """One channel of one server, two members, two personas."""

    template: Path

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="keeping-"))
        shutil.copy(self.template, self.folder / "k.sqlite3")
        self.runner = asyncio.Runner()
        self.clock = FakeClock()
        self.surface = FakeSurface(self.clock)
        self.model = ScriptedModel(after=says("All right."))
        self.die_at = ""
        self.turns: list[Turned] = []
        self.over: dict[Scope, int] = {}
        self.aria = 0
        self.engine = self.run(self._start())
        self.kept: Kept = self.run(self._all())

    def run(self, work):
        return self.runner.run(work)

    async def _start(self) -> Engine:
        chosen, _ = Settings.load(
            {
                "DATABASE_URL": f"sqlite:///{self.folder / 'k.sqlite3'}",
                "MAX_SERVER_MEMORIES": str(UNPINNED),
                "MAX_PERSONAL_MEMORIES": str(UNPINNED),
                "MAX_PINNED_MEMORIES": str(PINNED),
            }
        )
        engine = await wiring.build(chosen, clock=self.clock, model=self.model, stage=self._stage)
        await engine.start(self.surface)
        await engine.reconnected()
        await engine.idle()
        await engine.idle()
        return engine

    def _stage(self, name: str) -> None:
        if name == self.die_at:
            raise Killed(name)

    async def _all(self) -> Kept:
        async with self.engine._rooms.store.read() as tx:
            scopes = [
                Scope(kind, subject, lineage)
                for kind, subject in (
                    (SubjectKind.SERVER, GUILD),
                    *((SubjectKind.USER, person.id) for person in PEOPLE),
                )
                for lineage in (DEFAULT_LINEAGE, ARIA, GLOBAL)
            ]
            return {m.id: m for m in await tx.memories.of_scopes(scopes, dm=True)}

    def changed(self) -> None:
        """After a person's step: what it changed counts as theirs."""
        now = self.run(self._all())
        touched = {i for i in {*now, *self.kept} if now.get(i) != self.kept.get(i)}
        for turn in self.turns:
            turn.touched |= touched
        self.kept = now

    # people

    @rule(
        person=who,
        server=st.booleans(),
        lineage=st.sampled_from((DEFAULT_LINEAGE, ARIA, GLOBAL)),
        words=text,
        pinned=st.booleans(),
    )
    def add(self, person: Person, server: bool, lineage: str, words: int, pinned: bool) -> None:
        scope = Scope.server(GUILD, lineage) if server else Scope.user(person.id, lineage)
        outcome = self.run(self.engine.facts.add(person, GENERAL, scope, TEXTS[words], pinned=pinned))
        if server and not person.manages:
            assert outcome.kind is OutcomeKind.NOT_ALLOWED
        self.changed()

    def _one(self, index: int, person: Person) -> Memory | None:
        mine = [
            m
            for m in self.kept.values()
            if m.scope.subject_id == person.id or (m.scope.kind is SubjectKind.SERVER and person.manages)
        ]
        return mine[index % len(mine)] if mine else None

    @rule(person=who, index=which, pinned=st.booleans())
    def pin(self, person: Person, index: int, pinned: bool) -> None:
        memory = self._one(index, person)
        assume(memory is not None)
        self.run(self.engine.facts.pin(person, GENERAL, memory.id, pinned))
        self.changed()

    @rule(person=who, index=which, words=text)
    def edit(self, person: Person, index: int, words: int) -> None:
        memory = self._one(index, person)
        assume(memory is not None)
        self.clock.move(seconds=1)
        self.run(self.engine.facts.edit(person, GENERAL, memory.id, TEXTS[words]))
        self.changed()

    @rule(person=who, index=which)
    def delete(self, person: Person, index: int) -> None:
        memory = self._one(index, person)
        assume(memory is not None)
        self.run(self.engine.facts.delete(person, GENERAL, memory.id))
        self.changed()

    @rule(person=who)
    def undo(self, person: Person) -> None:
        self.run(self.engine.facts.undo(person, GENERAL, None))
        self.changed()

    @rule(index=which)
    def move(self, index: int) -> None:
        memory = self._one(index, MARA)
        assume(memory is not None)
        to = Scope(memory.scope.kind, memory.scope.subject_id, GLOBAL)
        self.run(self.engine.facts.move(MARA, GENERAL, memory.id, to))
        self.changed()

    @rule(person=who, server=st.booleans(), pinned=st.booleans())
    def clear(self, person: Person, server: bool, pinned: bool) -> None:
        scope = Scope.server(GUILD, DEFAULT_LINEAGE) if server else Scope.user(person.id, DEFAULT_LINEAGE)
        asked = [m.id for m in self.kept.values() if m.scope == scope and m.pinned is pinned]
        before = dict(self.kept)
        done = self.run(self.engine.facts.clear(person, GENERAL, scope, asked, pinned=pinned))
        self.changed()
        if server and not person.manages:
            assert done.refused is not None and self.kept == before
        else:
            assert self.kept == {i: m for i, m in before.items() if i not in asked}

    # the model

    @rule(
        person=who,
        aria=st.booleans(),
        script=st.lists(
            st.tuples(st.sampled_from(("user", "server", "update", "delete")), text, which), max_size=3
        ),
    )
    def turn(self, person: Person, aria: bool, script: list[tuple[str, int, int]]) -> None:
        before = dict(self.kept)
        said = self._call(person, script, aria)
        after = self.run(self._all())
        reply = max(
            (
                m.id
                for m in self.surface.messages.values()
                if m.id > said and m.author.id == 9_000 and not m.notice and not m.report
            ),
            default=0,
        )
        assert reply, self.surface.reports
        pins = {i: m for i, m in before.items() if m.pinned}
        assert {i: after.get(i) for i in pins} == pins, "the model changed a pinned entry"
        assert all(not m.pinned for i, m in after.items() if i not in before), "the model pinned"
        self.turns.append(Turned(before, person, said, reply))
        self.kept = after

    def _call(self, person: Person, script: list[tuple[str, int, int]], aria: bool) -> int:
        self.clock.move(seconds=5)
        tools = []
        ids = sorted(self.kept) or [1]
        for what, words, index in script:
            if what in ("user", "server"):
                tools.append(("save_memory", {"content": TEXTS[words], "about": what}))
            elif what == "update":
                tools.append(
                    ("update_memory", {"handle": f"m{ids[index % len(ids)]}", "content": TEXTS[words]})
                )
            else:
                tools.append(("delete_memory", {"handle": f"m{ids[index % len(ids)]}"}))
        self.model.steps[:] = [calls(*tools), says("Done.")] if tools else [says("Hello.")]
        incoming = self.surface.say(person, "hello there")
        self.run(self._observe(incoming, self.aria if aria else 0))
        self.model.steps.clear()
        return incoming.message_id

    async def _observe(self, incoming, persona_id: int) -> None:
        await self.engine.observe(incoming, trigger=True, persona_id=persona_id)
        await self.engine.idle()
        await self.engine.idle()

    @rule(person=who, stage=st.sampled_from(STAGES), words=text)
    def crash(self, person: Person, stage: str, words: int) -> None:
        before, reports = dict(self.kept), len(self.surface.reports)
        self.die_at = stage
        said = self._call(person, [("user", words, 0)], False)
        self.die_at = ""
        self.model.steps[:] = []
        self.run(self.engine.close())
        self.engine = self.run(self._start())
        replies = [
            m
            for m in self.surface.messages.values()
            if m.id > said and m.reply_to == said and not m.report and not m.notice
        ]
        assert len(replies) + len(self.surface.reports) - reports == 1
        after = self.run(self._all())
        new = [m for i, m in after.items() if before.get(i) != m]
        assert len(new) <= 1 and all(m.text == TEXTS[words] for m in new)
        assert set(before) <= set(after)
        self.turns.clear()  # whether the turn counts as answered is the fault tests' matter
        self.kept = after

    # going back

    def _same(self, then: Kept, but: set[int]) -> None:
        """The entries are again what they were then, those left out that people have changed since."""
        now = self.run(self._all())
        for memory_id in ({*then, *now}) - but:
            old, new = then.get(memory_id), now.get(memory_id)
            assert (old and essence(old)) == (new and essence(new)), (memory_id, old, new)
        self.kept = now

    @precondition(lambda self: self.turns)
    @rule(manager=st.booleans())
    def regenerate(self, manager: bool) -> None:
        last = self.turns[-1]
        person = MARA if manager else last.author
        pins = {i: m for i, m in self.kept.items() if m.pinned}
        acted = self.run(self._regenerate(person, last.reply))
        assert acted.done, acted.line
        if not last.touched:
            self._same(last.before, set())
        else:
            now = self.run(self._all())
            for memory_id in last.touched:
                if memory_id in self.kept and memory_id in pins:
                    assert now.get(memory_id) == pins[memory_id]
            self.kept = now
        replies = [m for m in self.surface.messages.values() if m.id == last.reply]
        assert len(replies) == 1 and replies[0].text.startswith("All right."), "edited in place"
        self.turns[-1] = Turned(dict(self.kept), last.author, last.trigger, last.reply)

    async def _regenerate(self, person: Person, reply: int):
        acted = await self.engine.actions.regenerate(person, GENERAL, reply)
        await self.engine.idle()
        await self.engine.idle()
        return acted

    @precondition(lambda self: self.turns)
    @rule(back=st.integers(1, 4))
    def rewind(self, back: int) -> None:
        index = max(0, len(self.turns) - back)
        to = self.turns[index]
        marker = self.surface.post(GENERAL, "rewound", notice=True)
        touched = set().union(*(turn.touched for turn in self.turns[index:]))
        acted = self.run(
            self.engine.actions.rewind(
                MARA, GENERAL, to.trigger, self.surface.messages[to.trigger].at, marker.id
            )
        )
        assert acted.done, acted.line
        self.run(self.engine.idle())
        if not touched:
            self._same(to.before, set())
        self.kept = self.run(self._all())
        window = self.run(self._window())
        assert not [i for i in window if to.trigger < i < marker.id]
        del self.turns[index:]

    async def _window(self) -> list[int]:
        async with self.engine._rooms.store.read() as tx:
            return [m.id for m in await tx.messages.window(GENERAL.channel_id, 0, 0)]

    # personas

    @precondition(lambda self: not self.aria)
    @rule()
    def create_persona(self) -> None:
        self.aria = self.run(self._create())

    async def _create(self) -> int:
        async with self.engine._rooms.store.write() as tx:
            made = await tx.personas.add(Persona(0, GUILD, ARIA, "Aria"), "aria", MARA.id, self.clock.now())
        assert made is not None
        self.engine.personas.forget(GUILD)
        return made.id

    @precondition(lambda self: self.aria)
    @rule(delete_server=st.booleans())
    def delete_persona(self, delete_server: bool) -> None:
        texts = {(m.scope.kind, m.scope.subject_id, m.text) for m in self.kept.values()}
        self.run(self.engine.delete_persona(MARA, GENERAL, self.aria, delete_server))
        self.aria = 0
        self.changed()
        now = {(m.scope.kind, m.scope.subject_id, m.text) for m in self.kept.values()}
        lost = texts - now
        assert not lost or (delete_server and all(kind is SubjectKind.SERVER for kind, _, _ in lost))
        assert not [m for m in self.kept.values() if m.scope.lineage == ARIA]
        self.over = self._counts()

    # always

    def _counts(self) -> dict[Scope, int]:
        found: dict[Scope, int] = {}
        for memory in self.kept.values():
            if not memory.pinned:
                found[memory.scope] = found.get(memory.scope, 0) + 1
        return found

    @invariant()
    def the_caps_hold(self) -> None:
        """Only a persona's leaving may exceed them, and then nothing is added until there is room."""
        if not hasattr(self, "kept"):
            return
        counts = self._counts()
        for scope, count in counts.items():
            assert count <= max(UNPINNED, self.over.get(scope, 0)), scope
        self.over = {scope: counts.get(scope, 0) for scope in self.over}
        pins: dict[Scope, int] = {}
        for memory in self.kept.values():
            pins[memory.scope] = pins.get(memory.scope, 0) + memory.pinned
        if not self.over:
            assert all(count <= PINNED for count in pins.values()), pins

    @invariant()
    def the_journal_explains_what_is_there(self) -> None:
        if hasattr(self, "kept"):
            self.run(self._explained())

    async def _explained(self) -> None:
        async with self.engine._rooms.store.read() as tx:
            for memory_id in range(1, max(self.kept, default=0) + 3):
                entries = list(reversed(await tx.journal.of_memory(memory_id)))
                now = self.kept.get(memory_id)
                if not entries:
                    assert now is None, f"m{memory_id} is there and nothing says why"
                    continue
                last = entries[-1]
                assert last.after == now, (memory_id, last, now)
                for earlier, later in itertools.pairwise(entries):
                    if Op.CLEAR in (earlier.op, later.op) or later.before is None or earlier.after is None:
                        continue
                    assert later.before == earlier.after, (memory_id, earlier, later)

    def teardown(self) -> None:
        if hasattr(self, "engine"):
            self.run(self.engine.close())
            self.runner.close()
            shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database, made once: each case begins with a copy."""
    path = tmp_path_factory.mktemp("template") / "k.sqlite3"

    async def make() -> None:
        chosen, _ = Settings.load({"DATABASE_URL": f"sqlite:///{path}"})
        engine = await wiring.build(chosen, clock=FakeClock(), model=ScriptedModel())
        await engine.close()

    asyncio.run(make())
    return path


@pytest.mark.timeout(600)
def test_whatever_people_the_model_and_crashes_do_memories_stay_whole(template: Path) -> None:
    machine = type("Machine", (Keeping,), {"template": template})
    case = machine.TestCase
    case.settings = settings(
        max_examples=15,
        stateful_step_count=25,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    case("runTest").runTest()
