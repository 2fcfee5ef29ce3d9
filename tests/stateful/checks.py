"""What must hold of any step, whoever made it: pure, from the database before it and after it.

The rights are those of SPEC §4.2, §4.4, §4.8 and §12, in a line each; everything else the database says of
itself: its entries, its journal, its suggestions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from enum import Enum, auto

from memory.types import (
    GLOBAL,
    ActorKind,
    JournalEntry,
    Memory,
    Op,
    Person,
    Place,
    ProposalState,
    Scope,
    SubjectKind,
)
from tests.stateful.cast import ARIA, MARA
from tests.stateful.eyes import Kept, Moment, Suggested

UNPINNED, PINNED = 3, 1
"""The caps of a scope in these tests."""

A_WEEK = timedelta(days=7)

ALL_BUT_TIME = {f.name for f in fields(Memory)} - {"updated_at", "version"}
CHANGES = {
    Op.UPDATE: {"text", "dm_only"},
    Op.PIN: {"pinned"},
    Op.UNPIN: {"pinned"},
    Op.WIDEN: {"dm_only"},
    Op.TAG: {"keywords", "channels"},
    Op.MOVE: {"scope"},
}
"""What a write may change in an entry besides its version and the time of its change."""

WHOLE = {"text", "keywords", "channels", "dm_only"}
"""What must stand as it was added for the addition to be undone."""


class Kind(Enum):
    """Who may have written in a step."""

    NOBODY = auto()
    PERSON = auto()
    CLEAR = auto()
    IMPORT = auto()
    APPROVAL = auto()
    TURNS = auto()
    ROLLBACK = auto()
    LEAVING = auto()


@dataclass(frozen=True, slots=True)
class Step:
    """What was just done. ``suggestion``: the one decided on; ``turns``: those taken back.

    ``access``: may every member write the server's? ``asks``:
    does everything that the model writes there wait?
    """

    kind: Kind
    person: Person | None = None
    place: Place | None = None
    suggestion: int | None = None
    turns: frozenset[int] = frozenset()
    access: bool = False
    asks: bool = False

    def acting(self) -> tuple[Person, Place]:
        assert self.person is not None and self.place is not None
        return self.person, self.place


# rights


def reads(scope: Scope, dm_only: bool, person: Person, place: Place) -> bool:
    """A server's: whoever is there. One's own: oneself, and what was said in a DM in a DM only."""
    if scope.kind is SubjectKind.SERVER:
        return place.guild_id == scope.subject_id
    return scope.subject_id == person.id and (place.guild_id is None or not dm_only)


def knows(memory: Memory, person: Person, place: Place) -> bool:
    return reads(memory.scope, memory.dm_only, person, place)


def writes(scope: Scope, person: Person, place: Place, access: bool) -> bool:
    """A server's: who manages it, or everybody when an admin allowed it. One's own: oneself."""
    mine = scope.kind is SubjectKind.USER or person.manages or access
    return mine and reads(scope, False, person, place)


# the journal


def new_entries(old: Moment, new: Moment) -> list[JournalEntry]:
    return [entry for number, entry in new.journal.items() if number not in old.journal]


def explained(old: Moment, new: Moment) -> None:
    """From what was there, the journal's new lines lead to what is there, and say nothing else."""
    added = new_entries(old, new)
    cleared = {entry.memory_id for entry in added if entry.op is Op.CLEAR}
    undone = {entry.undoes: entry.id for entry in added if entry.undoes is not None}
    for number, entry in old.journal.items():
        wordless = replace(entry, before=None, after=None) if entry.memory_id in cleared else entry
        if number in undone:
            assert entry.undone_by is None, f"undone twice: {entry}"
            wordless = replace(wordless, undone_by=undone[number])
        assert new.journal.get(number) == wordless, "a line of the journal was changed"
    state = dict(old.memories)
    for entry in added:
        if entry.op is Op.CLEAR:
            assert entry.before is None and entry.after is None
            state.pop(entry.memory_id, None)
            continue
        assert state.get(entry.memory_id) == entry.before, ("not what was there", entry)
        if entry.after is None:
            state.pop(entry.memory_id)
        else:
            state[entry.memory_id] = entry.after
        _changes_what_it_says(entry, old)
    unsaid = {i for i in {*state, *new.memories} if state.get(i) != new.memories.get(i)}
    assert not unsaid, ("nothing says why", unsaid)


def _changes_what_it_says(entry: JournalEntry, old: Moment) -> None:
    """An edit changes no tags, a tag no text. A move or widening leaves nothing where two became one."""
    before, after = entry.before, entry.after
    if before is not None and after is not None:
        assert after.version > before.version
        changed = {name for name in ALL_BUT_TIME if getattr(before, name) != getattr(after, name)}
        may = CHANGES[entry.op] | ({"channels"} if entry.op is Op.MOVE else set())
        if entry.op is Op.UPDATE and entry.undoes is None and entry.actor_kind is not ActorKind.MODEL:
            may = {"text"}
        assert changed <= may, (changed, entry)
    if entry.undoes is not None:
        _takes_back(entry, old.journal[entry.undoes])
    else:
        assert (before is None) is (entry.op is Op.ADD), entry
        assert (after is None) is (entry.op is Op.DELETE) or entry.op in (Op.MOVE, Op.WIDEN), entry


def _takes_back(entry: JournalEntry, undone: JournalEntry) -> None:
    """An undo finds what the undone write left, and brings back what was there before it."""
    before, after = entry.before, entry.after
    if undone.after is not None:
        assert before is not None
        for name in WHOLE if undone.op is Op.ADD else CHANGES[undone.op] - {"scope"}:
            assert getattr(before, name) == getattr(undone.after, name), ("a later change is lost", entry)
    if after is None:
        assert undone.before is None, ("only an addition is undone by a deletion", entry)
    elif before is None:
        assert undone.before is not None and alike(undone.before, after), ("came back as another", entry)
    else:
        assert undone.before is not None
        for name in CHANGES[entry.op]:
            assert getattr(after, name) == getattr(undone.before, name), (name, entry)


def alike(then: Memory, now: Memory) -> bool:
    """The same but for the version, which only ever rises; or for all personas, when its own is gone."""
    for_all = replace(then, scope=replace(then.scope, lineage=GLOBAL))
    return any(each == replace(now, version=each.version) for each in (then, for_all))


# who wrote


def rightly_written(old: Moment, new: Moment, step: Step) -> None:
    """Every new line of the journal was written by who may, by the route that the step was."""
    for entry in new_entries(old, new):
        if entry.actor_kind is ActorKind.MODEL:
            _by_the_model(entry, new, step)
        elif step.kind is Kind.LEAVING:
            assert entry.op in (Op.MOVE, Op.DELETE, Op.PIN) and entry.actor_id == step.acting()[0].id
        elif step.kind is Kind.ROLLBACK:
            taken = None if entry.undoes is None else old.journal[entry.undoes]
            assert taken is not None and taken.actor_kind is ActorKind.MODEL and taken.turn_id in step.turns
            assert entry.actor_id == step.acting()[0].id
        else:
            _by_a_person(entry, old, step)


def _states(entry: JournalEntry) -> Iterator[Memory]:
    yield from (state for state in (entry.before, entry.after) if state is not None)


def _by_the_model(entry: JournalEntry, new: Moment, step: Step) -> None:
    assert step.kind is Kind.TURNS and entry.turn_id is not None and entry.undoes is None, entry
    turn = new.turns[entry.turn_id]
    for state in _states(entry):
        scope = state.scope
        assert scope.lineage == turn.lineage != GLOBAL, f"another persona's: {entry}"
        assert not state.pinned, f"the model wrote a pinned entry: {entry}"
        assert turn.guild_id is None or not state.dm_only, f"for DMs only: {entry}"
        if scope.kind is SubjectKind.USER:
            assert scope.subject_id in turn.authors, f"of a member who did not call: {entry}"
        else:
            assert turn.guild_id == scope.subject_id
            assert step.access or all(author == MARA.id for author in turn.authors), f"no access: {entry}"
    assert turn.guild_id is None or not step.asks, f"where everything waits: {entry}"
    assert turn.guild_id is not None or entry.after is None or entry.after.dm_only, f"from a DM: {entry}"


def _by_a_person(entry: JournalEntry, old: Moment, step: Step) -> None:
    person, place = step.acting()
    assert step.kind in (Kind.PERSON, Kind.CLEAR, Kind.IMPORT, Kind.APPROVAL), (step, entry)
    assert entry.actor_id == person.id and (entry.actor_kind is ActorKind.IMPORT) is (
        step.kind is Kind.IMPORT
    )
    assert (entry.turn_id is not None) is (step.kind is Kind.APPROVAL), entry
    if entry.op is Op.CLEAR:
        assert step.kind is Kind.CLEAR and writes(entry.scope, person, place, step.access), entry
        return
    taken = None if entry.undoes is None else old.journal[entry.undoes]
    own_turn = taken is not None and taken.actor_kind is ActorKind.MODEL and taken.actor_id == person.id
    for state in _states(entry):
        hidden = entry.op is Op.WIDEN or step.kind is Kind.IMPORT  # undone, or kept for DMs in the file
        seen = reads(state.scope, state.dm_only and not (hidden and state is entry.after), person, place)
        assert seen, ("wrote what they may not read", step, entry)
        took_back = own_turn and entry.after is None
        assert took_back or writes(state.scope, person, place, step.access), ("no right", step, entry)


# suggestions


def decided_once(old: Moment, new: Moment, step: Step) -> None:
    """What was decided stays so; what waited was decided by who may, or nobody could any more."""
    assert set(old.suggestions) <= set(new.suggestions)
    for number, now in new.suggestions.items():
        then = old.suggestions.get(number)
        if then is None:
            assert step.kind is Kind.TURNS and now.state is ProposalState.WAITING, (step, now)
            continue
        if step.kind is Kind.CLEAR and not now.text:  # the words of what was cleared go, too
            then = replace(then, text="", keywords=())
        if then == now:
            continue
        waited = replace(now, state=ProposalState.WAITING, decided_by=None, decided_at=None, journal_id=None)
        assert then == waited, ("was decided before, or is another", then, now)
        _rightly_decided(now, step)
    _approved_as_decided(old, new, step)


def _rightly_decided(now: Suggested, step: Step) -> None:
    late = None if now.decided_at is None else now.decided_at - now.created_at > A_WEEK
    if now.state is ProposalState.EXPIRED:
        assert late and now.decided_by is None, now
    elif step.kind is Kind.APPROVAL:
        person, place = step.acting()
        assert now.id == step.suggestion and now.decided_by == person.id, (step, now)
        assert not late and writes(now.scope, person, place, step.access), ("no right to decide", step, now)
    else:
        assert now.state is ProposalState.DISCARDED, ("approved by nobody", step, now)
        assert (
            step.kind is Kind.CLEAR
            or (step.kind is Kind.ROLLBACK and now.turn_id in step.turns)
            or (step.kind is Kind.LEAVING and now.scope.lineage == ARIA)
        ), (step, now)


def _approved_as_decided(old: Moment, new: Moment, step: Step) -> None:
    """An approval writes the one thing that was suggested, and nothing else is written by it."""
    if step.kind is not Kind.APPROVAL:
        return
    added = new_entries(old, new)
    now = new.suggestions.get(step.suggestion or 0)
    was = old.suggestions.get(step.suggestion or 0)
    approved = now is not None and now.state is ProposalState.APPROVED and now != was
    assert not added or (approved and len(added) == 1), ("written without approval", step, added)
    if not added:
        return
    (entry,) = added
    assert now is not None and now.journal_id == entry.id and entry.op is now.op
    assert entry.scope == now.scope and entry.turn_id == now.turn_id
    assert entry.before is None or (entry.memory_id == now.memory_id and not entry.before.pinned)
    if entry.before is None and entry.after is not None:
        assert entry.after.keywords == now.keywords and not entry.after.pinned
        assert entry.after.dm_only is (now.guild_id is None)


# caps


@dataclass
class Caps:
    """Only a persona's leaving may exceed them, and then nothing is added until there is room."""

    over: dict[tuple[Scope, bool], int] = field(default_factory=dict)

    def hold(self, kept: Kept, *, leaving: bool) -> None:
        counts: dict[tuple[Scope, bool], int] = {}
        for memory in kept.values():
            key = memory.scope, memory.pinned
            counts[key] = counts.get(key, 0) + 1
        over = {key: n for key, n in counts.items() if n > (PINNED if key[1] else UNPINNED)}
        for key, number in over.items():
            known = self.over.get(key, 0)
            assert number <= known or (leaving and key[0].lineage == GLOBAL), (key, number, known)
        self.over = over


def count(kept: Kept, scope: Scope, *, pinned: bool = False) -> int:
    return sum(memory.scope == scope and memory.pinned is pinned for memory in kept.values())
