"""What the model suggested waits, and is decided by who may, once, in the words that they give it."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from memory.facts.outcomes import OutcomeKind
from memory.types import Op, Person, ProposalState
from tests.stateful.cast import (
    SQUARE,
    aside,
    keywords,
    owner_of,
    personas,
    place_of,
    someone,
    text,
    which,
    who,
)
from tests.stateful.checks import A_WEEK, UNPINNED, Kind, count, writes
from tests.stateful.eyes import Suggested
from tests.stateful.people import People
from tests.stateful.talking import Talking

DONE = (OutcomeKind.SAVED, OutcomeKind.UPDATED, OutcomeKind.DELETED, OutcomeKind.DUPLICATE)


class Suggesting(People, Talking):
    """Approving, in other words too, and discarding."""

    @precondition(lambda self: self.now.suggestions)
    @rule(
        person=someone,
        private=aside,
        decided=st.booleans(),
        index=which,
        approve=st.sampled_from((True, True, False)),
        words=st.none() | text,
    )
    def decide(
        self,
        person: Person | None,
        private: bool,
        decided: bool,
        index: int,
        approve: bool,
        words: str | None,
    ) -> None:
        known = list(self.now.suggestions.values())
        waiting = [each for each in known if each.state is ProposalState.WAITING]
        pool = waiting if waiting and not decided else known
        self._decide(person, private, pool[index % len(pool)], approve, words)

    @rule(
        caller=who,
        what=st.sampled_from(("server", "Ana", "Ben", "update", "update", "delete")),
        to=personas,
        words=text,
        index=which,
        tags=keywords,
        since=st.sampled_from(("nothing", "edit", "pin", "tag", "delete", "a week")),
        deciding=st.lists(st.tuples(someone, st.booleans(), st.none() | text), min_size=1, max_size=2),
    )
    def suggest_and_decide(
        self,
        caller: Person,
        what: str,
        to: str,
        words: str,
        index: int,
        tags: Sequence[str],
        since: str,
        deciding: Sequence[tuple[Person | None, bool, str | None]],
    ) -> None:
        """One suggestion, where everything waits, to its end: what it is about may be another by then."""
        before = set(self.now.suggestions)
        asks = "autosave" in self.on
        if not asks:
            self.switch("autosave")
        self._talk(SQUARE, [(caller, to, [(what, words, index, tags)])])
        if not asks:
            self.switch("autosave")
        for number in set(self.now.suggestions) - before:
            self._meanwhile(self.now.suggestions[number], since, words[::-1])
            for person, approve, instead in deciding:
                self._decide(person, False, self.now.suggestions[number], approve, instead)

    def _meanwhile(self, asked: Suggested, since: str, words: str) -> None:
        """Who may, does something with what the suggestion is about."""
        memory = self.now.memories.get(asked.memory_id or 0)
        if since == "a week":
            self.clock.move(days=7, seconds=1)
        elif memory is not None and since != "nothing":
            person = owner_of(asked.scope)
            self._change(person, SQUARE, memory, since, words, ("since",))

    def _decide(
        self, person: Person | None, private: bool, asked: Suggested, approve: bool, words: str | None
    ) -> None:
        person = person or owner_of(asked.scope)
        place = place_of(person, private)
        self.tick()
        stale = self._stale(asked)
        late = self.clock.now() - asked.created_at > A_WEEK
        done = self.run(self.engine.suggestions.decide(person, place, asked.id, approve, words))
        old = self.settle(Kind.APPROVAL, person, place, suggestion=asked.id)
        now = self.now.suggestions[asked.id]
        if not writes(asked.scope, person, place, self.access):
            assert done.kind is OutcomeKind.NOT_ALLOWED
            self.unchanged(old)
        elif asked.state is not ProposalState.WAITING:
            assert not done.wrote
            self.unchanged(old)
        elif late:
            assert not self.changed and now.state is ProposalState.EXPIRED
        elif not approve:
            assert not self.changed and now.state is ProposalState.DISCARDED
        elif stale:
            assert done.kind not in DONE
            self.unchanged(old)
        else:
            room = asked.op is not Op.ADD or count(old.memories, asked.scope) < UNPINNED
            assert done.kind in DONE or not room, done
            if done.wrote:
                self._as_approved(asked, words)

    def _stale(self, asked: Suggested) -> bool:
        """Was what it would change edited, pinned, tagged, moved or deleted since?"""
        if asked.op is Op.ADD:
            return False
        lines = [e for e in self.now.journal.values() if e.memory_id == asked.memory_id]
        return asked.memory_id not in self.now.memories or any(e.at > asked.created_at for e in lines)

    def _as_approved(self, asked: Suggested, words: str | None) -> None:
        (number,) = self.changed
        now = self.now.memories.get(number)
        if asked.op is Op.DELETE:
            assert now is None
        else:
            assert now is not None and now.text == (asked.text if words is None else words)
