"""The last steps of every write, inside its transaction: room, sameness, journal, confirmation, suggestion.

Order: the entry, its journal line and its notice are committed together, or none of them is (SPEC §4.5).
"""

from __future__ import annotations

from memory.facts.outcomes import Outcome, OutcomeKind, handle
from memory.facts.rules import normalise
from memory.facts.writes import WAITING, WAITING_FOR, Hand, MemoryLimits, Write
from memory.store import Tx
from memory.types import Clock, JournalEntry, Memory, Notice, Op, Proposal, Scope, Source, SubjectKind


class Withdrawn(Exception):
    """Leaves a write transaction so that it rolls back. Carries what to tell the person."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.kind.value)
        self.outcome = outcome


class Recorder:
    """Checks room and sameness, and writes down what was done."""

    def __init__(self, clock: Clock, limits: MemoryLimits) -> None:
        self.clock = clock
        self.limits = limits

    async def full(self, tx: Tx, scope: Scope, *, pinned: bool) -> Outcome | None:
        """A refusal when ``scope`` has no place for one more such entry. Nothing is evicted (SPEC §4.1)."""
        unpinned, pins = await tx.memories.counts(scope)
        limit = self.limits.pinned if pinned else self.limits.unpinned(scope)
        if (pins if pinned else unpinned) < limit:
            return None
        return Outcome(
            OutcomeKind.LIMIT_REACHED,
            scope=scope,
            unpinned=unpinned,
            pinned=pins,
            limit=limit,
            of_pins=pinned,
        )

    async def same(
        self, tx: Tx, scope: Scope, norm: str, *, dm_only: bool, but: int | None = None
    ) -> Memory | None:
        """The entry of ``scope``, other than ``but``, that already says ``norm`` where it would be read.

        Outside DMs an entry that is used in DMs only counts for nothing: its existence must not show.
        """
        for private in (False, True) if dm_only else (False,):
            found = await tx.memories.find_same(scope, norm, private)
            if found is not None and found.id != but:
                return found
        return None

    async def record(
        self,
        tx: Tx,
        kind: OutcomeKind,
        op: Op,
        hand: Hand,
        write: Write,
        before: Memory | None,
        after: Memory | None,
    ) -> Outcome:
        """Journal a write that was just made, and queue its confirmation."""
        changed = after or before
        assert changed is not None
        at = self.clock.now()
        redraw = await self._earlier_notice(tx, changed.id, write)
        entry = await tx.journal.add(
            memory_id=changed.id,
            scope=changed.scope,
            op=op,
            actor_kind=hand.actor.kind,
            actor_id=hand.person_id,
            turn_id=hand.actor.turn_id,
            before=before,
            after=after,
            at=at,
            source=write.source or source_of(hand),
            undoes=None if write.undoes is None else write.undoes.id,
        )
        if write.undoes is not None and not await tx.journal.mark_undone(write.undoes.id, entry.id):
            raise Withdrawn(already_undone())
        notice = await tx.notices.add(
            channel_id=hand.place.channel_id,
            guild_id=hand.place.guild_id,
            turn_id=hand.actor.turn_id,
            journal_id=entry.id,
            proposal_id=None,
            at=at,
        )
        unpinned, pinned = await tx.memories.counts(changed.scope)
        return Outcome(
            kind,
            memory=after,
            journal=entry,
            notice=notice,
            redraw=redraw,
            scope=changed.scope,
            unpinned=unpinned,
            pinned=pinned,
            limit=self.limits.unpinned(changed.scope),
        )

    async def _earlier_notice(self, tx: Tx, memory_id: int, write: Write) -> Notice | None:
        """The confirmation that shows this entry already: of what is undone, or of its latest text."""
        if write.op is Op.ADD and write.undoes is None:
            return None
        if write.undoes is not None:
            return await tx.notices.by_journal(write.undoes.id)
        for entry in await tx.journal.of_memory(memory_id):
            if entry.op in (Op.ADD, Op.UPDATE) and entry.undoes is None:
                return await tx.notices.by_journal(entry.id)
        return None

    async def propose(
        self, tx: Tx, write: Write, hand: Hand, scope: Scope, text: str, memory: Memory | None
    ) -> Outcome:
        """Keep a write until somebody decides. The same one again changes nothing (SPEC §4.4, §4.8)."""
        at = self.clock.now()
        await tx.proposals.expire(at - WAITING_FOR)
        twin = await self._waiting_twin(tx, write, scope, text, memory)
        if twin is not None:
            return Outcome(OutcomeKind.NEEDS_APPROVAL, proposal=twin, memory=memory, scope=scope)
        waiting = await tx.proposals.count_waiting(scope)
        if waiting >= WAITING:
            detail = f"{waiting} of {WAITING} suggestions already wait for approval. Nothing was saved."
            return Outcome(OutcomeKind.LIMIT_REACHED, scope=scope, limit=WAITING, detail=detail)
        proposal = await tx.proposals.add(
            scope=scope,
            op=write.op,
            text=text,
            memory_id=None if memory is None else memory.id,
            keywords=write.keywords,
            turn_id=hand.actor.turn_id,
            proposer_id=hand.person_id,
            source=write.source or source_of(hand),
            at=at,
        )
        notice = await tx.notices.add(
            channel_id=hand.place.channel_id,
            guild_id=hand.place.guild_id,
            turn_id=hand.actor.turn_id,
            journal_id=None,
            proposal_id=proposal.id,
            at=at,
        )
        return Outcome(
            OutcomeKind.NEEDS_APPROVAL, proposal=proposal, notice=notice, memory=memory, scope=scope
        )

    async def _waiting_twin(
        self, tx: Tx, write: Write, scope: Scope, text: str, memory: Memory | None
    ) -> Proposal | None:
        norm = normalise(text)
        target = None if memory is None else memory.id
        shared = scope.kind is SubjectKind.SERVER
        waiting = await tx.proposals.waiting(
            scope.subject_id if shared else None, None if shared else scope.subject_id
        )
        for proposal in waiting:
            same_wish = proposal.op is write.op and proposal.memory_id == target
            if proposal.scope == scope and same_wish and normalise(proposal.text) == norm:
                return proposal
        return None


def source_of(hand: Hand) -> Source:
    """Where a write came from when no message is known: the place."""
    return Source(hand.place.channel_id, None, hand.place.guild_id)


def already_undone() -> Outcome:
    return Outcome(
        OutcomeKind.CHANGED_MEANWHILE, detail="That was already undone. Nothing was changed this time."
    )


def changed_since(memory: Memory | None, memory_id: int, advice: str) -> Outcome:
    """The entry is no longer what the undone write left; ``memory`` is what stands now."""
    if memory is None:
        detail = f"{handle(memory_id)} is already gone. Nothing was changed."
        return Outcome(OutcomeKind.CHANGED_MEANWHILE, detail=detail)
    return Outcome(OutcomeKind.CHANGED_MEANWHILE, memory=memory, scope=memory.scope, note=advice)


def entry_readable_state(entry: JournalEntry) -> Memory | None:
    """The state that decides who may know of a journal entry: what it left, or what it removed."""
    return entry.after or entry.before
