"""Regenerate and rewind: what the model did is gone, and what people did since stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from memory.turns.acting import Acted
from memory.types import GLOBAL, Memory, Person, Place, ProposalState
from tests.stateful.cast import DMS, MARA, PEOPLE, PLACES, aside, owner_of, personas, place_of, text, who
from tests.stateful.checks import UNPINNED, Kind, alike, count
from tests.stateful.eyes import Kept, Moment
from tests.stateful.people import People
from tests.stateful.talking import Talking, Wish, scripts
from tests.stateful.world import Turned

talked = precondition(lambda self: any(self.turns.values()))


class GoingBack(People, Talking):
    """By who may; the entries are again what they were, those left out that somebody has changed since."""

    def _where(self, index: int) -> Place:
        places = [place for place in PLACES if self.turns[place.channel_id]]
        return places[index % len(places)]

    @staticmethod
    def _who(person: Person, place: Place) -> Person:
        """In a DM there is nobody but its member."""
        return person if not place.is_dm else next(p for p in PEOPLE if DMS.get(p.id) == place)

    @talked
    @rule(person=who, where=st.integers(0, 2))
    def regenerate(self, person: Person, where: int) -> None:
        place = self._where(where)
        self._regenerate(self._who(person, place), place)

    def _regenerate(self, person: Person, place: Place) -> None:
        last = self.turns[place.channel_id][-1]
        (reply,) = last.turn.replies
        self.tick()
        self.taken.clear()
        acted = self.run(self._done(self.engine.actions.regenerate(person, place, reply)))
        old = self.settle(Kind.ROLLBACK, person, place, turns=frozenset([last.turn.id]))
        if person.id not in last.turn.authors and not person.manages:
            assert not acted.done
            self.unchanged(old)
            return
        assert acted.done, acted.line
        self._same(old, last, [last])
        (again,) = [turn for number, turn in self.now.turns.items() if number not in old.turns]
        assert again.triggers == last.turn.triggers and again.state == "delivered"
        (now,) = again.replies
        assert self.surface.messages[now].text.startswith("All right.")
        assert (
            now == reply if again.persona_id == last.turn.persona_id else reply not in self.surface.messages
        )
        self.turns[place.channel_id][-1] = Turned(again, self.taken[0][0])

    @rule(
        caller=who,
        private=aside,
        to=personas,
        script=scripts,
        since=st.sampled_from(("nothing", "edit", "pin", "pin", "tag", "delete")),
        words=text,
        rewinding=st.booleans(),
    )
    def talk_and_go_back(
        self,
        caller: Person,
        private: bool,
        to: str,
        script: Sequence[Wish],
        since: str,
        words: str,
        rewinding: bool,
    ) -> None:
        """One answer and its end: somebody may have changed what it wrote by then."""
        place = place_of(caller, private)
        self._talk(place, [(caller, to, script)])
        wrote = sorted(self.changed & set(self.now.memories))
        if wrote and since != "nothing":
            memory = self.now.memories[wrote[0]]
            self._change(owner_of(memory.scope), place, memory, since, words, ("since",))
        if rewinding:
            self._rewind(self._who(MARA, place), place, 1)
        else:
            self._regenerate(caller, place)

    async def _done(self, action) -> Acted:
        acted: Acted = await action
        await self.engine.idle()
        await self.engine.idle()
        return acted

    @talked
    @rule(person=st.sampled_from((MARA, MARA, *PEOPLE)), where=st.integers(0, 2), back=st.integers(1, 4))
    def rewind(self, person: Person, where: int, back: int) -> None:
        place = self._where(where)
        self._rewind(self._who(person, place), place, back)

    def _rewind(self, person: Person, place: Place, back: int) -> None:
        turns = self.turns[place.channel_id]
        to = turns[max(0, len(turns) - back)].turn.triggers[-1]
        self.tick()
        marker = self.surface.post(place, "rewound", notice=True)
        at = self.surface.messages[to].at
        gone = [turned for turned in turns if max(turned.turn.replies) > to]
        acted = self.run(self._done(self.engine.actions.rewind(person, place, to, at, marker.id)))
        later = {n for n, turn in self.now.turns.items() if max(turn.replies or turn.triggers) >= to}
        old = self.settle(Kind.ROLLBACK, person, place, turns=frozenset(later))
        if not place.is_dm and not person.manages:
            assert not acted.done
            self.unchanged(old)
            return
        assert acted.done, acted.line
        self._same(old, gone[0], gone)
        window = self.run(self._window(place))
        assert not [i for i in window if to < i < marker.id]
        del turns[-len(gone) :]

    async def _window(self, place: Place) -> list[int]:
        async with self.ground.store.read() as tx:
            return [m.id for m in await tx.messages.window(place.channel_id, 0, 0)]

    def _same(self, old: Moment, first: Turned, gone: list[Turned]) -> None:
        """Exactly as before the first of the turns that are gone. ``old``: just before going back."""
        ids = {turned.turn.id for turned in gone}
        for each in self.now.suggestions.values():
            waits = each.state is ProposalState.WAITING and each.turn_id in ids
            assert not waits or self.ground.eyes.makers(each.id) - ids, ("waits on for no turn", each)
        touched = set().union(_unanswered(old), *(turned.touched for turned in gone))
        now = self.now.memories
        pins = {i: m for i, m in old.memories.items() if m.pinned}
        assert {i: now.get(i) for i in pins} == pins, "a pinned entry went"
        for number in ({*first.before, *now}) - touched:
            then, is_now = first.before.get(number), now.get(number)
            if then is None or is_now is None:
                assert is_now is None, ("an addition stays", is_now)
                assert then is None or self._no_room(then, old.memories), ("not back", then)
            elif not alike(then, is_now):
                assert self._taken(then, old.memories), (then, is_now)

    def _no_room(self, memory: Memory, before: Kept) -> bool:
        """Was its place taken, or the same saved again, while it was gone?"""
        back = [m for i, m in self.now.memories.items() if i not in before]
        for scope in (memory.scope, replace(memory.scope, lineage=GLOBAL)):
            full = count(before, scope) + sum(m.scope == scope for m in back) >= UNPINNED
            if full or self._taken(replace(memory, scope=scope), before):
                return True
        return False

    def _taken(self, memory: Memory, before: Kept) -> bool:
        others = [*before.values(), *self.now.memories.values()]
        said = (memory.scope, memory.text)
        return any((other.scope, other.text) == said and other.id != memory.id for other in others)


def _unanswered(old: Moment) -> set[int]:
    """What turns that died wrote: gone with a rewind, and kept when another turn is regenerated."""
    return {
        entry.memory_id
        for entry in old.journal.values()
        if entry.turn_id is not None and old.turns[entry.turn_id].state in ("failed", "reported")
    }
