"""What people do to entries by commands and buttons: everybody tries everything everywhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from memory.facts.outcomes import Outcome, OutcomeKind
from memory.types import ActorKind, Memory, Op, Person, Place, SubjectKind
from tests.stateful.cast import (
    SQUARE,
    aside,
    channels,
    keywords,
    lineages,
    owner_of,
    place_of,
    scope_of,
    somebody,
    someone,
    text,
    which,
)
from tests.stateful.checks import UNPINNED, Kind, count, knows, new_entries, reads, writes
from tests.stateful.world import World

REFUSED = (OutcomeKind.NOT_ALLOWED, OutcomeKind.NOT_FOUND)

something = precondition(lambda world: world.now.memories)


class People(World):
    """Adding, editing, pinning, tagging, moving, deleting, undoing, clearing, importing."""

    def seed(
        self,
        person: Person,
        server: bool,
        lineage: str,
        words: str,
        pinned: bool,
        tags: Sequence[str],
        where: Sequence[int],
    ) -> None:
        """An entry that is there from the beginning."""
        scope = scope_of(person, server, lineage)
        facts = self.engine.facts
        done, _ = self._does(
            person, SQUARE, facts.add(person, SQUARE, scope, words, pinned=pinned, keywords=tags)
        )
        if where and done.memory is not None:
            self._does(person, SQUARE, facts.tag(person, SQUARE, done.memory.id, tags, where))

    @rule(**somebody, server=st.booleans(), lineage=lineages, words=text, pinned=st.booleans(), tags=keywords)
    def add(
        self,
        person: Person,
        private: bool,
        server: bool,
        lineage: str,
        words: str,
        pinned: bool,
        tags: Sequence[str],
    ) -> None:
        place = place_of(person, private)
        scope = scope_of(person, server, lineage)
        done, old = self._does(
            person, place, self.engine.facts.add(person, place, scope, words, pinned=pinned, keywords=tags)
        )
        if not writes(scope, person, place, self.access):
            assert done.kind is OutcomeKind.NOT_ALLOWED
        if done.wrote:
            (new,) = [m for i, m in self.now.memories.items() if i not in old.memories]
            said = (scope, words, pinned, place.is_dm and not server, tags)
            assert (new.scope, new.text, new.pinned, new.dm_only, new.keywords) == said

    def _does(self, person: Person, place: Place, work):
        self.tick()
        done: Outcome = self.run(work)
        return done, self.settle(Kind.PERSON, person, place)

    def _changes(self, person: Person, place: Place, memory: Memory, work, **into: object) -> None:
        """A change of one entry: exactly that, by who may, and by nobody else."""
        done, old = self._does(person, place, work)
        may = knows(memory, person, place) and writes(memory.scope, person, place, self.access)
        if not may:
            assert done.kind in REFUSED, done
            self.unchanged(old)
        if done.kind is OutcomeKind.DELETED:
            assert memory.id not in self.now.memories and self.changed == {memory.id}
        elif done.wrote:
            now = self.now.memories[memory.id]
            expected = replace(memory, **into, version=now.version, updated_at=now.updated_at)  # type: ignore[arg-type]
            assert now == expected and self.changed == {memory.id}

    @something
    @rule(person=someone, private=aside, index=which, words=text)
    def edit(self, person: Person | None, private: bool, index: int, words: str) -> None:
        memory, person = self.pick(index, person)
        self._change(person, place_of(person, private), memory, "edit", words, ())

    @something
    @rule(person=someone, private=aside, index=which, what=st.sampled_from(("pin", "unpin", "delete")))
    def change(self, person: Person | None, private: bool, index: int, what: str) -> None:
        memory, person = self.pick(index, person)
        self._change(person, place_of(person, private), memory, what, "", ())

    @precondition(lambda self: any(memory.dm_only for memory in self.now.memories.values()))
    @rule(person=someone, private=st.sampled_from((True, True, False)), index=which)
    def widen(self, person: Person | None, private: bool, index: int) -> None:
        """It may be joined to one that says the same everywhere."""
        secret = [memory for memory in self.now.memories.values() if memory.dm_only]
        memory = secret[index % len(secret)]
        person = person or owner_of(memory.scope)
        place = place_of(person, private)
        done, old = self._does(person, place, self.engine.facts.widen(person, place, memory.id))
        if not knows(memory, person, place):
            assert done.kind is OutcomeKind.NOT_FOUND
            self.unchanged(old)
        elif memory.id not in self.now.memories:
            self._joined(memory)

    def _change(
        self,
        person: Person,
        place: Place,
        memory: Memory,
        what: str,
        words: str,
        tags: Sequence[str],
        where: Sequence[int] = (),
    ) -> None:
        facts, number = self.engine.facts, memory.id
        if what == "edit":
            self._changes(person, place, memory, facts.edit(person, place, number, words), text=words)
        elif what == "delete":
            self._changes(person, place, memory, facts.delete(person, place, number))
        elif what == "tag":
            work = facts.tag(person, place, number, tags, where)
            self._changes(person, place, memory, work, keywords=tags, channels=where)
        else:
            pinned = what == "pin"
            self._changes(person, place, memory, facts.pin(person, place, number, pinned), pinned=pinned)

    @something
    @rule(person=someone, private=aside, index=which, words=keywords, where=channels)
    def tag(
        self,
        person: Person | None,
        private: bool,
        index: int,
        words: Sequence[str],
        where: Sequence[int],
    ) -> None:
        memory, person = self.pick(index, person)
        place = place_of(person, private)
        self._change(person, place, memory, "tag", "", words, where)
        if knows(memory, person, place) and writes(memory.scope, person, place, self.access):
            now = self.now.memories[memory.id]
            assert (now.keywords, now.channels) == (words, where)

    @something
    @rule(person=someone, private=aside, index=which, server=st.booleans(), lineage=lineages)
    def move(self, person: Person | None, private: bool, index: int, server: bool, lineage: str) -> None:
        """Also from one's own to the server's, which who has no access there may not."""
        memory, person = self.pick(index, person)
        place = place_of(person, private)
        to = scope_of(person, server, lineage)
        done, old = self._does(person, place, self.engine.facts.move(person, place, memory.id, to))
        may = all(writes(scope, person, place, self.access) for scope in (memory.scope, to))
        if not may or not knows(memory, person, place):
            self.unchanged(old)
        now = self.now.memories.get(memory.id)
        if done.wrote and now is not None:
            left = now.channels if server and memory.scope.kind is SubjectKind.USER else memory.channels
            assert set(left) <= set(memory.channels)
            assert now == replace(memory, scope=to, channels=left, version=now.version)
        elif done.wrote:
            self._joined(replace(memory, scope=to))

    def _joined(self, memory: Memory) -> None:
        """What says the same is there instead, and is pinned if this one was."""
        same = [m for m in self.now.memories.values() if (m.scope, m.text) == (memory.scope, memory.text)]
        assert any(m.pinned or not memory.pinned for m in same), ("gone with its pin", memory)

    @precondition(lambda self: self.now.journal)
    @rule(**somebody, latest=st.booleans(), index=which)
    def undo(self, person: Person, private: bool, latest: bool, index: int) -> None:
        place, lines = place_of(person, private), sorted(self.now.journal, reverse=True)
        line = None if latest else lines[index % len(lines)]
        self._does(person, place, self.engine.facts.undo(person, place, line))

    @something
    @rule(person=someone, private=aside, index=which)
    def clear(self, person: Person | None, private: bool, index: int) -> None:
        """All entries of a scope that are pinned, or that are not, as one that is there."""
        memory, person = self.pick(index, person)
        place = place_of(person, private)
        scope, pinned = memory.scope, memory.pinned
        held = [m for m in self.now.memories.values() if m.scope == scope and m.pinned is pinned]
        asked = [m.id for m in held if place.is_dm or not m.dm_only]
        self.tick()
        done = self.run(self.engine.clear(person, place, scope, asked, pinned=pinned))
        old = self.settle(Kind.CLEAR, person, place)
        if not writes(scope, person, place, self.access):
            assert done.refused is not None
            self.unchanged(old)
            return
        assert self.now.memories == {i: m for i, m in old.memories.items() if i not in asked}
        said = [e for e in self.now.journal.values() if e.memory_id in asked]
        assert all(e.before is None and e.after is None for e in said), "cleared words are kept"
        lines = {e.id for e in said}
        for each in self.now.suggestions.values():
            about = each.memory_id in asked or each.journal_id in lines
            assert not about or not (each.text or each.keywords), "cleared words are kept in a suggestion"

    @rule(
        **somebody,
        server=st.booleans(),
        lineage=lineages,
        lines=st.lists(
            st.tuples(text, keywords, st.sampled_from((False, False, False, True))), min_size=1, max_size=3
        ),
    )
    def bring_in(
        self, person: Person, private: bool, server: bool, lineage: str, lines: Sequence[tuple]
    ) -> None:
        """A file: all that is new in it, unpinned, or nothing."""
        place = place_of(person, private)
        scope = scope_of(person, server, lineage)
        self.tick()
        done = self.run(self.engine.facts.bring_in(person, place, scope, _file(lines)))
        old = self.settle(Kind.IMPORT, person, place)
        may = reads(scope, False, person, place) and (person.manages or not server)
        assert may or done.refused, "imported without a right"
        if done.refused:
            self.unchanged(old)
            return
        added = new_entries(old, self.now)
        assert len(added) == done.saved and all(e.op is Op.ADD for e in added)
        assert all(e.actor_kind is ActorKind.IMPORT for e in added)
        for entry in added:
            new = entry.after
            assert new is not None and new.scope == scope and not new.pinned
            assert any(
                (new.text, new.keywords, new.dm_only)
                == (words, tuple(tags), not server and (secret or place.is_dm))
                for words, tags, secret in lines
            )
        kept = {m.text for m in self.now.memories.values() if m.scope == scope}
        assert {words for words, _, _ in lines} <= kept
        assert count(self.now.memories, scope) <= max(UNPINNED, count(old.memories, scope))


def _file(lines: Sequence[tuple]) -> bytes:
    entries = [
        {"text": words, "keywords": list(tags), "dm_only": secret, "pinned": True}
        for words, tags, secret in lines
    ]
    return json.dumps({"format": "keepsake-memories", "version": 1, "memories": entries}).encode()
