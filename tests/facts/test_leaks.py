"""Random worlds of two servers, three members and their DMs: nobody is ever shown what they may not read.

Every text is a secret of its own, so that wherever it turns up in an answer it can be recognised.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from itertools import count

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memory.facts.outcomes import Outcome, handle
from memory.facts.service import Facts
from memory.facts.tools import MemoryTools, ToolContext
from memory.llm.port import ToolCall
from memory.store import Store
from memory.types import GLOBAL, Op, Person, Place, Scope, SubjectKind
from tests.facts.world import grant, turn_is_given
from tests.fakes import FakeClock

LINEAGES = ("keepsake", GLOBAL)
NUMBERS = count(1)


@dataclass
class World:
    """One example's own ids in the shared database, and what was written by whom."""

    facts: Facts
    tools: MemoryTools
    base: int
    open_server: bool
    secrets: dict[str, dict[int, tuple[Scope, bool]]] = field(default_factory=dict)
    memories: list[int] = field(default_factory=list)
    journals: list[int] = field(default_factory=list)
    proposals: list[tuple[int, Scope, str]] = field(default_factory=list)
    notices: list[int] = field(default_factory=list)

    def person(self, who: int, place: Place) -> Person:
        """Member 0 manages server 0, and only there."""
        return Person(self.base + 10 + who, f"Member{who}", manages=who == 0 and place.guild_id == self.base)

    def place(self, where: int, who: int) -> Place:
        if where == 2:
            return Place(self.base + 30 + who, None)
        return Place(self.base + 20 + where, self.base + where)

    def scope(self, what: int, who: int, lineage: int) -> Scope:
        if what < 2:
            return Scope.server(self.base + what, LINEAGES[lineage])
        return Scope.user(self.base + 10 + who, LINEAGES[lineage])

    def reads(self, scope: Scope, private: bool, person: Person, place: Place) -> bool:
        if scope.kind is SubjectKind.SERVER:
            return place.guild_id == scope.subject_id
        return person.id == scope.subject_id and (place.guild_id is None or not private)

    def writes(self, scope: Scope, person: Person, place: Place) -> bool:
        if scope.kind is SubjectKind.USER:
            return person.id == scope.subject_id
        if place.guild_id != scope.subject_id:
            return False
        return person.manages or (self.open_server and scope.subject_id == self.base)

    def leaked(self, answer: object, person: Person, place: Place) -> list[str]:
        """Secrets in an answer that this person may not read there."""
        said = repr(answer)
        found = [secret for secret in self.secrets if secret in said]
        return [
            secret
            for secret in found
            if not any(self.reads(*held, person, place) for held in self.secrets[secret].values())
        ]

    def private(self) -> list[str]:
        """Secrets that nothing but entries for DMs only ever held."""
        return [secret for secret, held in self.secrets.items() if all(each[1] for each in held.values())]

    def note(self, outcome: Outcome) -> None:
        """Keep what was committed: ids for later steps, and each text with who may read it."""
        if outcome.journal is not None:
            self.journals.append(outcome.journal.id)
            self.memories.append(outcome.journal.memory_id)
            if outcome.journal.after is not None:
                after = outcome.journal.after
                self.secrets.setdefault(after.text, {})[after.id] = (after.scope, after.dm_only)
        if outcome.proposal is not None:
            self.proposals.append((outcome.proposal.id, outcome.proposal.scope, outcome.proposal.text))
        self.notices += [outcome.notice.id] if outcome.notice is not None else []


@pytest.fixture
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Facts]:
    store = await Store.open(f"sqlite+aiosqlite:///{tmp_path_factory.mktemp('leaks') / 'keepsake.db'}")
    yield Facts(store, FakeClock())
    await store.close()


STEP = st.tuples(
    st.sampled_from(
        ["add", "add", "add", "same", "edit", "delete", "pin", "widen", "undo", "tell", "change", "decide"]
    ),
    st.integers(0, 2),
    st.integers(0, 2),
    st.integers(0, 2),
    st.integers(0, 2),
    st.integers(0, 1),
    st.integers(0, 1_000),
)
Step = tuple[str, int, int, int, int, int, int]


async def person_step(world: World, step: Step) -> None:
    """One write by a person, through a command or a button, on anything that exists anywhere."""
    verb, who, where, what, whom, lineage, pick = step
    place = world.place(where, who)
    person = world.person(who, place)
    facts = world.facts
    target = world.memories[pick % len(world.memories)] if world.memories else 1
    secret = f"secret{next(NUMBERS)}x"
    if verb == "same" and world.secrets:
        secret = list(world.secrets)[pick % len(world.secrets)]
    if verb in ("add", "same"):
        scope = world.scope(what, whom, lineage)
        outcome = await facts.add(person, place, scope, secret, pinned=pick % 5 == 0)
        assert not outcome.wrote or world.writes(scope, person, place)
        assert outcome.memory is None or not outcome.wrote or outcome.memory.dm_only == place.is_dm
    elif verb == "edit":
        outcome = await facts.edit(person, place, target, secret)
    elif verb == "delete":
        outcome = await facts.delete(person, place, target)
    elif verb == "pin":
        outcome = await facts.pin(person, place, target, pick % 2 == 0)
    elif verb == "widen":
        outcome = await facts.widen(person, place, target)
    elif verb == "decide":
        if not world.proposals:
            return
        number, scope, _ = world.proposals[pick % len(world.proposals)]
        outcome = await facts.decide(person, place, number, pick % 4 > 0)
        assert not outcome.wrote or world.writes(scope, person, place)
    else:
        undone = world.journals[pick % len(world.journals)] if world.journals and pick % 3 else None
        outcome = await facts.undo(person, place, undone)
        if outcome.journal is not None and outcome.journal.op is not Op.DELETE:
            assert world.writes(outcome.journal.scope, person, place)
    world.note(outcome)
    assert not world.leaked(outcome, person, place)
    if outcome.journal is not None and verb not in ("undo", "add", "same"):
        assert world.writes(outcome.journal.scope, person, place)


async def model_step(world: World, step: Step) -> None:
    """One tool call of a turn that member ``who`` triggered, with any handle that exists anywhere."""
    verb, who, where, what, whom, _, pick = step
    place = world.place(where, who)
    author = world.person(who, place)
    others = () if place.is_dm else tuple(world.person(each, place) for each in range(3))
    shown = {handle(number): number for number in world.memories}
    ctx = ToolContext(place, "keepsake", world.base + pick, (author,), (author, *others), shown)
    secret = f"secret{next(NUMBERS)}x"
    arguments: dict[str, object] = {"content": secret, "about": "server" if what == 0 else "user"}
    name = "save_memory"
    if what != 0:
        arguments["user"] = f"Member{whom}"
    if verb == "change" and world.memories:
        name = "update_memory" if pick % 2 else "delete_memory"
        arguments = {"handle": handle(world.memories[pick % len(world.memories)])}
        arguments |= {"content": secret} if pick % 2 else {}
    result = await world.tools.call(ctx, ToolCall("call", name, json.dumps(arguments)))
    world.note(result.outcome)
    entry = result.outcome.journal
    if entry is not None:
        assert world.writes(entry.scope, author, place) and entry.scope.lineage == "keepsake"
        assert entry.before is None or not entry.before.pinned
        assert entry.after is None or entry.after.dm_only == place.is_dm or entry.before is not None
    assert place.is_dm or not [secret for secret in world.private() if secret in result.words]


async def look_everywhere(world: World) -> None:
    """Everybody looks at everything from everywhere."""
    for who in range(3):
        for where in range(3):
            place = world.place(where, who)
            person = world.person(who, place)
            seen: list[object] = [await world.facts.shelves(person, place)]
            seen.append(await world.facts.find(person, place, ""))
            seen.append(await world.facts.find(person, place, "secret"))
            for number in dict.fromkeys(world.memories):
                seen.append(await world.facts.get(person, place, number))
                seen.append(await world.facts.history(person, place, number))
            assert not world.leaked(seen, person, place)
            for waiting in await world.facts.proposals(person, place):
                assert world.writes(waiting.scope, person, place)
            await look_at_prompt(world, person, place)
    for number in world.notices:
        view = await world.facts.notice_view(number, persona_name="K", server_name="S")
        if view is not None and view.notice.guild_id is not None:
            assert not [secret for secret in world.private() if secret in repr(view)]


async def look_at_prompt(world: World, person: Person, place: Place) -> None:
    """What a turn of this person is given: this place's server and who is in play, DM entries in DMs only."""
    async with world.facts.store.read() as tx:
        for memory in await turn_is_given(world.facts, tx, place, [person.id]):
            assert world.reads(memory.scope, memory.dm_only, person, place)


@settings(
    max_examples=200,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking would take longer than a person reading
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(STEP, min_size=4, max_size=14), open_server=st.booleans())
async def test_nobody_is_ever_shown_or_given_what_they_may_not_read(
    shared: Facts, steps: list[Step], open_server: bool
) -> None:
    world = World(shared, MemoryTools(shared), next(NUMBERS) * 10_000, open_server)
    if open_server:
        await grant(shared.store, world.base)
    for step in steps:
        await (model_step if step[0] in ("tell", "change") else person_step)(world, step)
    await look_everywhere(world)
