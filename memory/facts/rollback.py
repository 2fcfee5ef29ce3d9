"""Rollback: what the model wrote in whole turns is taken back, newest first (SPEC §4.6).

The right to it is the right to regenerate or to rewind, so it is asked by who calls this, not here. Every
step is undo's own and is journaled. What a person pinned, changed or approved since stays, and is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory.facts.living import taken_along
from memory.facts.outcomes import Outcome, OutcomeKind, handle
from memory.facts.recording import Recorder, each_once
from memory.facts.reversal import FOR_ALL, carry_back, lock_written
from memory.facts.writes import Hand, Write
from memory.store import Tx
from memory.types import ActorKind, JournalEntry, Memory, Notice, Op, ProposalState


@dataclass(frozen=True, slots=True)
class Kept:
    """An entry that is not as it was before the turn, and why, in a sentence without its text."""

    memory_id: int
    why: str

    def line(self) -> str:
        return f"{handle(self.memory_id)} {self.why}."


@dataclass(frozen=True, slots=True)
class RolledBack:
    """What became of the writes of some turns.

    ``undone``: the writes that were taken back. ``discarded``: how many waiting suggestions were.
    ``redraws``: the confirmations to draw again, one a message.
    """

    undone: tuple[JournalEntry, ...] = ()
    kept: tuple[Kept, ...] = ()
    discarded: int = 0
    redraws: tuple[Notice, ...] = ()


async def roll_back(recorder: Recorder, tx: Tx, turn_ids: Sequence[int], hand: Hand) -> RolledBack:
    """Take back what the model wrote in these turns, given newest first. ``hand``: who asked for it.

    Part of another's transaction; the turn's waiting suggestions are discarded in it too.
    """
    # nobody else changes what these turns wrote
    await lock_written(tx, [entry for turn_id in turn_ids for entry in await tx.journal.of_turn(turn_id)])
    undone: list[JournalEntry] = []
    kept: dict[int, Kept] = {}
    notices: list[Notice | None] = []
    discarded = 0
    for turn_id in turn_ids:
        for entry in reversed(await tx.journal.of_turn(turn_id)):
            if entry.undone_by is not None or entry.undoes is not None:
                continue
            done = await _take_back(recorder, tx, entry, hand)
            if isinstance(done, Outcome):
                undone.append(entry)
                notices += done.redraws
                if done.note == FOR_ALL:
                    kept.setdefault(entry.memory_id, Kept(entry.memory_id, _FOR_ALL))
            elif done:
                kept.setdefault(entry.memory_id, Kept(entry.memory_id, done))
            notices.append(await tx.notices.by_journal(entry.id))
        for proposal_id in await _discard(recorder, tx, turn_id, turn_ids, hand):
            discarded += 1
            notices += await tx.notices.of_proposal(proposal_id)
    return RolledBack(tuple(undone), tuple(kept.values()), discarded, each_once(*notices))


async def standing_writes(tx: Tx, turn_ids: Sequence[int]) -> int:
    """How many changes :func:`roll_back` would look at: those of the model that stand."""
    found = [entry for turn_id in turn_ids for entry in await tx.journal.of_turn(turn_id)]
    standing = [e for e in found if e.undone_by is None and e.undoes is None and not _cleared(e)]
    return sum(e.actor_kind is ActorKind.MODEL for e in standing)


def _cleared(entry: JournalEntry) -> bool:
    """Was its entry cleared since? Its texts are gone for good then."""
    return entry.before is None and entry.after is None


async def _take_back(recorder: Recorder, tx: Tx, entry: JournalEntry, hand: Hand) -> Outcome | str:
    """The outcome of a write that was taken back; else why what it did stays, "" when nothing of it does."""
    now = await tx.memories.get(entry.memory_id)
    if _cleared(entry):
        return ""
    if entry.after is not None:
        if now is None:
            return "" if entry.op is Op.ADD else "was deleted since and stays deleted"
        if stays := await _claimed(tx, entry, now):
            return stays
    if entry.actor_kind is not ActorKind.MODEL:
        return f"stays {'as it is' if entry.after else 'deleted'}: a person approved it"
    write = Write(entry.op, undoes=entry)
    outcome = await carry_back(recorder, tx, write, hand, entry, now, owns=False)
    return outcome if outcome.wrote else _why(entry, outcome)


async def _claimed(tx: Tx, entry: JournalEntry, now: Memory) -> str:
    """What a person did since with the entry that this write left; "" when nothing that still stands."""
    assert entry.after is not None
    if now.pinned and not entry.after.pinned:
        return "stays as it is: it was pinned since"
    for later in await tx.journal.of_memory(entry.memory_id):
        if later.id <= entry.id:
            break
        net = later.undone_by is None and later.undoes is None
        if net and not taken_along(later) and later.actor_kind is ActorKind.MEMBER and later.op in _CLAIMS:
            return f"stays as it is: it was {_CLAIMS[later.op]} since"
    return ""


async def _discard(
    recorder: Recorder, tx: Tx, turn_id: int, turn_ids: Sequence[int], hand: Hand
) -> list[int]:
    """Discard the suggestions of a turn that still wait; returns their ids. One that another turn made, too,
    waits on."""
    discarded = []
    for proposal in await tx.proposals.of_turn(turn_id):
        if proposal.state is not ProposalState.WAITING:
            continue
        makers = {notice.turn_id for notice in await tx.notices.of_proposal(proposal.id)}
        if makers - {None, *turn_ids}:
            continue
        now = recorder.clock.now()
        if await tx.proposals.decide(proposal.id, ProposalState.DISCARDED, hand.person_id, now):
            discarded.append(proposal.id)
    return discarded


def _why(entry: JournalEntry, outcome: Outcome) -> str:
    """Why undo refused, without a text that only some may read."""
    if entry.after is not None:
        taken = outcome.kind is OutcomeKind.DUPLICATE
        return f"stays as it is: {'its former text was saved again' if taken else 'it was changed'} since"
    reasons = {
        OutcomeKind.LIMIT_REACHED: "its place was taken since",
        OutcomeKind.DUPLICATE: "the same was saved again since",
    }
    return f"stays deleted: {reasons.get(outcome.kind, 'it was changed since')}"


_FOR_ALL = "is back, and for all personas: the one that it belonged to was deleted since"

_CLAIMS = {
    Op.UPDATE: "edited",
    Op.TAG: "tagged",
    Op.MOVE: "moved",
    Op.WIDEN: "opened to every place",
}
"""What a person may do to an entry that makes it theirs, besides pinning it."""
