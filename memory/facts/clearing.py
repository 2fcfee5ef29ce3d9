"""Clear: every unpinned entry of one scope goes for good, its journaled words too (SPEC §4.6).

The pinned ones are asked about separately and go by the same step. What was asked about is what goes: when
the entries are others by the time of the press, nothing is deleted. That each was cleared stays journaled.
With them go the words of entries that were in that scope to the last and are gone already (deleted, or joined
to another elsewhere), and those of suggestions for it that say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory.facts.living import lock_scopes
from memory.facts.outcomes import Outcome, OutcomeKind
from memory.facts.recording import entry_readable_state, source_of
from memory.facts.rights import may_write_now
from memory.facts.rules import normalise
from memory.facts.writes import Hand
from memory.store import Tx
from memory.types import ActorKind, Clock, Notice, Op, Person, Place, Scope

REDRAWN = 50
"""Posted confirmations that are drawn again without the cleared words, the newest ones."""


@dataclass(frozen=True, slots=True)
class Clearing:
    """What a clear would delete here: ids, so that exactly what was asked about goes.

    ``hidden``: entries of the scope that are left alone, because they are used in DMs only and this is none.
    ``gone``: how many were deleted before, whose words are in the history still.
    """

    unpinned: tuple[int, ...] = ()
    pinned: tuple[int, ...] = ()
    hidden: int = 0
    gone: int = 0


@dataclass(frozen=True, slots=True)
class Cleared:
    """What became of a clear. ``count``: entries that went. ``left``: what the scope holds now.

    ``refused``: nothing went, and why. ``changed``: nothing went, for ``left`` is not what was asked about.
    ``notices``: confirmations that still show cleared words.
    """

    left: Clearing
    count: int = 0
    changed: bool = False
    refused: Outcome | None = None
    notices: tuple[Notice, ...] = ()


async def clearing(tx: Tx, person: Person, place: Place, scope: Scope) -> Clearing | Outcome:
    """What a clear of that scope would be about, or why this person may not."""
    if not await may_write_now(tx, scope, person, place):
        return Outcome(OutcomeKind.NOT_ALLOWED, scope=scope)
    unpinned, pinned = [await tx.memories.held(scope, pinned=p, dm=place.is_dm) for p in (False, True)]
    hidden = 0 if place.is_dm else sum(await tx.memories.counts(scope)) - len(unpinned) - len(pinned)
    return Clearing(tuple(unpinned), tuple(pinned), hidden, len(await _gone(tx, scope, place)))


async def clear(
    tx: Tx, clock: Clock, hand: Hand, scope: Scope, asked: Sequence[int], *, pinned: bool
) -> Cleared:
    """Delete for good the pinned or the unpinned entries of a scope, if they are those ``asked`` about."""
    person = hand.actor.person
    if person is None:
        return Cleared(Clearing(), refused=Outcome(OutcomeKind.NOT_ALLOWED, scope=scope))
    await lock_scopes(tx, scope)
    found = await clearing(tx, person, hand.place, scope)
    if isinstance(found, Outcome):
        return Cleared(Clearing(), refused=found)
    ids = found.pinned if pinned else found.unpinned
    if set(ids) != set(asked):
        return Cleared(found, changed=True)
    gone = await _gone(tx, scope, hand.place)
    wordless = [*ids, *gone]
    said = await _suggested(tx, scope, wordless)
    told = await tx.notices.of_memories(wordless, REDRAWN), await tx.notices.of_proposals(said, REDRAWN)
    notices = sorted({n.id: n for each in told for n in each}.values(), key=lambda n: n.id, reverse=True)
    await tx.memories.remove_all(ids)
    await tx.journal.erase(wordless)
    await tx.proposals.erase(wordless, said)
    await tx.journal.add_all(
        Op.CLEAR,
        [(scope, memory_id, None, None) for memory_id in wordless],
        actor_kind=ActorKind.MEMBER,
        actor_id=person.id,
        at=clock.now(),
        source=source_of(hand),
    )
    left = Clearing((), found.pinned, found.hidden) if not pinned else Clearing(found.unpinned)
    return Cleared(left, len(ids), notices=tuple(notices[:REDRAWN]))


async def _gone(tx: Tx, scope: Scope, place: Place) -> list[int]:
    """Entries of which only the journal speaks still. In a server those for DMs only are left alone."""
    states = [(e.memory_id, entry_readable_state(e)) for e in await tx.journal.gone_from(scope)]
    return [memory_id for memory_id, state in states if state and (place.is_dm or not state.dm_only)]


async def _suggested(tx: Tx, scope: Scope, memory_ids: Sequence[int]) -> list[int]:
    """Suggestions for that scope in the words of these entries, whoever wrote the entry in the end.

    An approval of what was there already wrote nothing, so only its words tell what it was about.
    """
    suggested = await tx.proposals.texts_in(scope)
    if not suggested:
        return []
    known = await tx.memories.of_scopes([scope], dm=True)
    texts = {m.text for m in known if m.id in set(memory_ids)} | await tx.journal.texts_of(memory_ids)
    norms = {normalise(text) for text in texts}
    return [number for number, text in suggested.items() if normalise(text) in norms]
