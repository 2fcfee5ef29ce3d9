"""The last steps of every write, inside its transaction: room, sameness, journal, confirmation, suggestion.

Order: the entry, its journal line and its notice are committed together, or none of them is (SPEC §4.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memory.facts.outcomes import Outcome, OutcomeKind, handle
from memory.facts.rules import normalise
from memory.facts.writes import WAITING, WAITING_FOR, Hand, MemoryLimits, Write
from memory.store import Tx
from memory.types import Clock, JournalEntry, Memory, Notice, Op, Proposal, Scope, Source, SubjectKind

_LOOKED_AT = 50
"""Posted confirmations of one entry that are looked at, and how many of them are drawn again at most."""

_DRAWN_AGAIN = 3


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
        history = (
            [] if write.op is Op.ADD and write.undoes is None else await tx.journal.of_memory(changed.id)
        )
        redraw = await _earlier_notice(tx, history, write)
        others = await _standing_notices(tx, history, changed.id) if history else []
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
            source=write.source or _kept_source(op, history) or source_of(hand),
            undoes=None if write.undoes is None else write.undoes.id,
        )
        if write.undoes is not None and not await tx.journal.mark_undone(write.undoes.id, entry.id):
            raise Withdrawn(already_undone())
        notice = await self._notice(tx, hand, at, entry.id, None)
        unpinned, pinned = await tx.memories.counts(changed.scope)
        return Outcome(
            kind,
            memory=after,
            journal=entry,
            notice=notice,
            redraw=redraw,
            redraws=each_once(redraw, *others),
            scope=changed.scope,
            unpinned=unpinned,
            pinned=pinned,
            limit=self.limits.unpinned(changed.scope),
        )

    async def propose(
        self, tx: Tx, write: Write, hand: Hand, scope: Scope, text: str, memory: Memory | None
    ) -> Outcome:
        """Keep a write until somebody decides (SPEC §4.4, §4.8).

        The same one again makes no second suggestion, but a notice of it in the place of each turn that makes
        it: people look for the button where they talk.
        """
        at = self.clock.now()
        own = scope.kind is SubjectKind.USER and scope.subject_id == hand.person_id
        await tx.proposals.expire(at - WAITING_FOR, at)
        twin = await self._waiting_twin(tx, write, scope, text, memory)
        if twin is not None:
            told = await tx.notices.of_proposal(twin.id)
            new = all(notice.turn_id != hand.actor.turn_id for notice in told)
            notice = await self._notice(tx, hand, at, None, twin.id) if new else None
            return Outcome(
                OutcomeKind.NEEDS_APPROVAL, proposal=twin, notice=notice, memory=memory, scope=scope, own=own
            )
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
        notice = await self._notice(tx, hand, at, None, proposal.id)
        return Outcome(
            OutcomeKind.NEEDS_APPROVAL, proposal=proposal, notice=notice, memory=memory, scope=scope, own=own
        )

    async def _notice(
        self, tx: Tx, hand: Hand, at: datetime, journal_id: int | None, proposal_id: int | None
    ) -> Notice:
        """A confirmation of that write or suggestion, to be posted where the hand is."""
        return await tx.notices.add(
            hand.place.channel_id, hand.place.guild_id, hand.actor.turn_id, journal_id, proposal_id, at
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
            wished = proposal.op, proposal.memory_id, proposal.keywords
            same_wish = wished == (write.op, target, write.keywords)
            if proposal.scope == scope and same_wish and normalise(proposal.text) == norm:
                return proposal
        return None


async def _earlier_notice(tx: Tx, history: Sequence[JournalEntry], write: Write) -> Notice | None:
    """The confirmation of what is undone, or else of the entry's latest text."""
    if write.undoes is not None:
        return await tx.notices.by_journal(write.undoes.id)
    told = next((entry for entry in history if _told(entry)), None)
    return None if told is None else await tx.notices.by_journal(told.id)


def _kept_source(op: Op, history: Sequence[JournalEntry]) -> Source | None:
    """New words for what was once said in a message still have to do with that message: the latest known."""
    if op is not Op.UPDATE:
        return None
    sources = (entry.source for entry in history)
    return next((source for source in sources if source is not None and source.message_id is not None), None)


async def _standing_notices(tx: Tx, history: Sequence[JournalEntry], memory_id: int) -> list[Notice]:
    """The newest posted confirmations that show this entry as it stands now: they have to be drawn again.

    A pressed message stands for its own write and for what the press did; it shows the latest text that was
    told in it, or else its own write. An update that was undone says what holds instead, and comes last.
    """
    writes = {entry.id: entry for entry in history}
    shown: dict[int, JournalEntry] = {}
    notices: dict[int, Notice] = {}
    for notice in await tx.notices.of_memory(memory_id, _LOOKED_AT):
        entry = None if notice.journal_id is None else writes.get(notice.journal_id)
        if entry is None or notice.message_id is None:
            continue
        if notice.message_id not in shown or not _told(shown[notice.message_id]):
            shown[notice.message_id], notices[notice.message_id] = entry, notice
    standing = [at for at, entry in shown.items() if entry.after is not None and entry.undone_by is None]
    undone = [at for at, entry in shown.items() if entry.op is Op.UPDATE and entry.undone_by is not None]
    return [notices[at] for at in [*standing, *undone][:_DRAWN_AGAIN]]


def _told(entry: JournalEntry) -> bool:
    """Did this write give the entry a new text?"""
    return entry.op in (Op.ADD, Op.UPDATE) and entry.undoes is None


def each_once(*notices: Notice | None) -> tuple[Notice, ...]:
    """The confirmations that there are, in order; of two in one message the later."""
    return tuple({notice.message_id or -notice.id: notice for notice in notices if notice}.values())


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
