"""Whoever looks, wherever: what they may know, all of it, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis.stateful import invariant

from memory.types import Memory, Person, Place, ProposalState
from tests.stateful.cast import ANA, BEN, DMS, ELSEWHERE, MARA, SQUARE
from tests.stateful.checks import A_WEEK, knows, writes
from tests.stateful.world import World

LOOKS = (
    (ANA, SQUARE),
    (BEN, SQUARE),
    (ANA, DMS[ANA.id]),
    (BEN, ELSEWHERE),
    (BEN, DMS[BEN.id]),
    (MARA, SQUARE),
)
FOUND = 25


class Looking(World):
    """After each step somebody else looks, and Ana and Ben look at what was changed."""

    @invariant()
    def nobody_sees_what_is_not_theirs(self) -> None:
        if not hasattr(self, "now"):
            return
        self.looks += 1
        self.run(self._look([LOOKS[self.looks % len(LOOKS)]], self.changed))
        self.changed.clear()

    async def _look(self, around: Sequence[tuple[Person, Place]], at: Iterable[int]) -> None:
        for person, place in around:
            await self._looks_around(person, place)
        for number in at:
            for person in (ANA, BEN):
                await self._looks_at(number, person, SQUARE)

    async def _looks_around(self, person: Person, place: Place) -> None:
        may = {i: m for i, m in self.now.memories.items() if knows(m, person, place)}
        facts = self.engine.facts
        found = {m.id: m for m in await facts.find(person, place, "", FOUND)}
        assert found.items() <= may.items() and len(found) == min(len(may), FOUND)
        shelves = await facts.shelves(person, place)
        shown: dict[int, Memory] = {m.id: m for shelf in shelves for m in shelf.memories}
        assert shown == may, (person, place)
        waiting = {each.id for each in await facts.proposals(person, place)}
        since = self.clock.now() - A_WEEK
        assert waiting == {
            each.id
            for each in self.now.suggestions.values()
            if each.state is ProposalState.WAITING
            and each.created_at >= since
            and writes(each.scope, person, place, self.access)
        }

    async def _looks_at(self, number: int, person: Person, place: Place) -> None:
        memory = self.now.memories.get(number)
        may = memory is not None and knows(memory, person, place)
        assert await self.engine.facts.get(person, place, number) == (memory if may else None)
        for entry in await self.engine.facts.history(person, place, number):
            for state in (entry.before, entry.after):
                assert state is None or knows(state, person, place), (person, entry)

    def teardown(self) -> None:
        """In the end everybody looks everywhere, and at all that there ever was."""
        if hasattr(self, "now"):
            self.run(self._look(LOOKS, {entry.memory_id for entry in self.now.journal.values()}))
        super().teardown()
