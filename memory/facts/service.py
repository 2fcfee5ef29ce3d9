"""Saved memories as the front uses them. Every method judges rights itself, at the moment it acts.

Reading: only what this person may read in this place. What they may not read does not exist for them, so the
answers for an unknown id and for somebody else's are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory.facts import approvals, batch, finding, showing, telling, transfer
from memory.facts.clearing import Cleared as Cleared  # for the front's types
from memory.facts.clearing import Clearing as Clearing
from memory.facts.clearing import clear, clearing
from memory.facts.gate import WriteGate
from memory.facts.lineages import (
    InUse,
    OwnName,
    built_in_alone,
    lineages,
    unnamed,
)
from memory.facts.lineages import Lineages as Lineages  # for the front's types
from memory.facts.outcomes import Outcome, OutcomeKind
from memory.facts.recording import Withdrawn, entry_readable_state
from memory.facts.reversal import latest_here
from memory.facts.rights import member_access
from memory.facts.rules import (
    may_read,
    may_read_memory,
    mentions_in,
    readable,
)
from memory.facts.shelves import Shelf as Shelf  # for the front's types
from memory.facts.shelves import shelf_of
from memory.facts.showing import called
from memory.facts.writes import Hand, MemoryLimits, Write
from memory.ports import NoticeView, Waiting
from memory.store import Store, Tx
from memory.types import (
    GLOBAL,
    Actor,
    ActorKind,
    Clock,
    JournalEntry,
    Memory,
    Notice,
    Op,
    Person,
    Persona,
    Place,
    Proposal,
    Scope,
    Source,
)


class Facts:
    """Saved memories (SPEC §4). Methods that write return an :class:`Outcome` and never raise for bad input.

    Raises :class:`memory.errors.StoreError` when the database fails; then nothing was written.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        limits: MemoryLimits | None = None,
        in_use: InUse = built_in_alone,
    ) -> None:
        self.store = store
        self._in_use = in_use
        self.own_name: OwnName = unnamed
        self.clock = clock
        self.limits = limits or MemoryLimits()
        self.gate = WriteGate(clock, self.limits)

    # writing

    async def write(self, write: Write, hand: Hand) -> Outcome:
        """One write in a transaction of its own: all of it, or nothing."""
        answers = await self._in_dm(hand.actor.person, hand.place)
        try:
            async with self.store.write() as tx:
                outcome = await self.gate.apply(tx, write, hand)
                return replace(outcome, persona=await self._named(tx, outcome.scope, hand.place, answers))
        except Withdrawn as stopped:
            return stopped.outcome

    async def add(
        self,
        person: Person,
        place: Place,
        scope: Scope,
        text: str,
        *,
        pinned: bool = False,
        keywords: Sequence[str] = (),
        source: Source | None = None,
    ) -> Outcome:
        """SAVED, DUPLICATE, LIMIT_REACHED, NOT_ALLOWED, EMPTY or TOO_LONG. In a DM: for DMs only (§4.2)."""
        write = Write(Op.ADD, scope=scope, text=text, pinned=pinned, keywords=tuple(keywords), source=source)
        return await self.write(write, self._hand(person, place))

    async def add_all(
        self,
        person: Person,
        place: Place,
        scope: Scope,
        entries: Sequence[tuple[str, Source | None]],
        *,
        pinned: bool = False,
    ) -> list[Outcome]:
        """Several at once, all or none: each SAVED or DUPLICATE, in order; or the one refusal, alone."""
        hand = self._hand(person, place)
        answers = await self._in_dm(hand.actor.person, hand.place)
        try:
            async with self.store.write() as tx:
                called = await self._named(tx, scope, place, answers)
                return await batch.add_all(self.gate, tx, hand, scope, entries, pinned=pinned, called=called)
        except Withdrawn as stopped:
            return [stopped.outcome]

    async def edit(
        self, person: Person, place: Place, memory_id: int, text: str, expected_version: int | None = None
    ) -> Outcome:
        """UPDATED; CHANGED_MEANWHILE when the entry is no longer at ``expected_version``."""
        write = Write(Op.UPDATE, memory_id=memory_id, text=text, expected_version=expected_version)
        return await self.write(write, self._hand(person, place))

    async def delete(
        self, person: Person, place: Place, memory_id: int, expected_version: int | None = None
    ) -> Outcome:
        """DELETED, pinned or not: pins bind the model, not people."""
        write = Write(Op.DELETE, memory_id=memory_id, expected_version=expected_version)
        return await self.write(write, self._hand(person, place))

    async def pin(self, person: Person, place: Place, memory_id: int, pinned: bool) -> Outcome:
        """PINNED or UNPINNED (``wrote`` False: it already was so); LIMIT_REACHED when there is no room."""
        write = Write(Op.PIN if pinned else Op.UNPIN, memory_id=memory_id)
        return await self.write(write, self._hand(person, place))

    async def tag(
        self,
        person: Person,
        place: Place,
        memory_id: int,
        keywords: Sequence[str],
        channels: Sequence[int],
        expected_version: int | None = None,
    ) -> Outcome:
        """Set all keywords and channels of an entry: TAGGED, or BAD_TAGS with the numbers."""
        write = Write(
            Op.TAG,
            memory_id=memory_id,
            keywords=tuple(keywords),
            channels=tuple(channels),
            expected_version=expected_version,
        )
        return await self.write(write, self._hand(person, place))

    async def move(self, person: Person, place: Place, memory_id: int, to: Scope) -> Outcome:
        """MOVED, also when it was joined to an entry that says the same there; LIMIT_REACHED, NOT_ALLOWED."""
        return await self.write(Write(Op.MOVE, memory_id=memory_id, scope=to), self._hand(person, place))

    async def widen(self, person: Person, place: Place, memory_id: int) -> Outcome:
        """Use an entry saved in a DM everywhere. Only from a DM: elsewhere it does not show."""
        return await self.write(Write(Op.WIDEN, memory_id=memory_id), self._hand(person, place))

    async def undo(self, person: Person, place: Place, journal_id: int | None) -> Outcome:
        """Reverse one write, or with None the person's own latest that they may read here.

        Later writes that were made in a DM are passed over in a server, and that there are some is said.
        """
        hand = self._hand(person, place)
        if journal_id is not None:
            async with self.store.read() as tx:
                entry = await tx.journal.get(journal_id)
            if entry is None:
                return Outcome(OutcomeKind.NOT_FOUND)
            return await self.write(Write(entry.op, undoes=entry), hand)
        in_use = await self._in_use(person, place, False)
        async with self.store.read() as tx:
            known = await lineages(tx, person, place, in_use, self.own_name(place))
            entry, passed_over = await latest_here(tx, person, place, known.scopes)
            cleared = await tx.journal.cleared_by(person.id, known.scopes)
        if cleared and (entry is None or entry.id < cleared):
            return Outcome(OutcomeKind.NOT_FOUND, detail=_CLEARED)
        if entry is None:
            return Outcome(OutcomeKind.NOT_FOUND, detail=_UNDO_IN_DM if passed_over else _NOTHING_TO_UNDO)
        outcome = await self.write(Write(entry.op, undoes=entry), hand)
        if not passed_over:
            return outcome
        return replace(outcome, note=f"{outcome.note} {_LATER_IN_DM}".strip())

    async def decide(
        self, person: Person, place: Place, proposal_id: int, approve: bool, text: str | None = None
    ) -> Outcome:
        """Approve, with other words when ``text`` is given, or discard a waiting suggestion.

        When the gate refuses, it waits on and says why.
        """
        try:
            async with self.store.write() as tx:
                return await approvals.decide(
                    self.gate, self.clock, tx, person, place, proposal_id, approve=approve, text=text
                )
        except Withdrawn as stopped:
            return stopped.outcome

    def _hand(self, person: Person, place: Place) -> Hand:
        return Hand(Actor(ActorKind.MEMBER, person), place)

    async def _in_dm(self, person: Person | None, place: Place) -> Persona | None:
        """Who answers in a DM, where a server's character has a name only while it is in use."""
        return await self._in_use(person, place, True) if place.is_dm and person is not None else None

    async def _named(self, tx: Tx, scope: Scope | None, place: Place, answers: Persona | None) -> str:
        """What an answer in ``place`` calls the persona that a scope is for."""
        if scope is None or scope.lineage == GLOBAL:
            return ""
        return await called(tx, place.guild_id, scope.lineage, self.own_name(place), answers)

    async def lineages(self, person: Person, place: Place) -> Lineages:
        """Whose memories this person meets here, and what to call each persona. For lists of choices."""
        in_use = await self._in_use(person, place, True)
        async with self.store.read() as tx:
            return await lineages(tx, person, place, in_use, self.own_name(place))

    # whole scopes

    async def clearing(self, person: Person, place: Place, scope: Scope) -> Clearing | Outcome:
        """What a clear of that scope would delete here, or why this person may not."""
        async with self.store.read() as tx:
            return await clearing(tx, person, place, scope)

    async def clear(
        self, person: Person, place: Place, scope: Scope, asked: Sequence[int], *, pinned: bool
    ) -> Cleared:
        """Delete for good the unpinned (or the pinned) entries of a scope, if they are those asked about.

        The front calls the engine's clear, which draws the confirmations again.
        """
        async with self.store.write() as tx:
            return await clear(tx, self.clock, self._hand(person, place), scope, asked, pinned=pinned)

    async def export(self, person: Person, place: Place, scope: Scope) -> tuple[bytes, int, int] | None:
        """A scope as a file, how many entries it holds, and how many stayed out, being used in DMs only.

        None when this person may not read it here.
        """
        if not may_read(scope, person, place):
            return None
        async with self.store.read() as tx:
            kept = await tx.memories.of_scopes([scope], dm=True)
        shown = readable(kept, person, place)
        return transfer.written(scope, shown, self.clock.now()), len(shown), len(kept) - len(shown)

    async def bring_in(self, person: Person, place: Place, scope: Scope, data: bytes) -> transfer.Imported:
        """Import a file into a scope: all that is new in it, or nothing and why."""
        hand = Hand(Actor(ActorKind.IMPORT, person), place)
        try:
            lines = transfer.read(data, scope, self.limits)
            answers = await self._in_dm(hand.actor.person, hand.place)
            async with self.store.write() as tx:
                called = await self._named(tx, scope, place, answers)
                return await transfer.bring_in(self.gate, tx, hand, scope, lines, called)
        except transfer.BadFile as bad:
            return transfer.Imported(refused=str(bad))
        except Withdrawn as stopped:
            return transfer.Imported(refused=stopped.outcome.line())

    # reading

    async def shelves(self, person: Person, place: Place) -> list[Shelf]:
        """Every scope this person can read here, empty ones too: server first, this persona before every.

        Those of other personas follow: the server's, and those in which the person has entries.
        """
        in_use = await self._in_use(person, place, False)
        async with self.store.read() as tx:
            known = await lineages(tx, person, place, in_use, self.own_name(place))
            kept = await tx.memories.of_scopes(known.scopes, dm=True)
            access = await member_access(tx, place)
        return [
            shelf_of(scope, known, kept, person, place, access=access, limits=self.limits)
            for scope in known.scopes
        ]

    async def find(
        self,
        person: Person,
        place: Place,
        query: str,
        limit: int = finding.FOUND,
        pinned: bool | None = None,
    ) -> list[Memory]:
        """Search and autocomplete among what this person may read here; an empty query gives the newest."""
        in_use = await self._in_use(person, place, True)
        async with self.store.read() as tx:
            known = await lineages(tx, person, place, in_use, self.own_name(place))
            kept = readable(await tx.memories.of_scopes(known.scopes, dm=place.is_dm), person, place)
            named = {user_id for memory in kept for user_id in mentions_in(memory.text)}
            names = await tx.names.get(place.guild_id or 0, sorted(named)) if named else {}
        if pinned is not None:
            kept = [memory for memory in kept if memory.pinned is pinned]
        return finding.find(kept, query, limit, names)

    async def get(self, person: Person, place: Place, memory_id: int) -> Memory | None:
        """The entry, or None when there is none that this person may read here."""
        async with self.store.read() as tx:
            memory = await tx.memories.get(memory_id)
        if memory is None or not may_read_memory(memory, person, place):
            return None
        return memory

    async def history(self, person: Person, place: Place, memory_id: int) -> list[JournalEntry]:
        """Every write of one entry, newest first, deleted entries too; empty when they may not read it here.

        Outside DMs the time before an entry was widened is left out, and so is what it was in a scope that
        they may not read here. Of a cleared entry only that it was written and cleared is left.
        """
        async with self.store.read() as tx:
            memory = await tx.memories.get(memory_id)
            entries = await tx.journal.of_memory(memory_id)
        newest = entry_readable_state(entries[0]) if entries else None
        state = memory or newest
        if entries and entries[0].op is Op.CLEAR:
            return [entry for entry in entries if may_read(entry.scope, person, place)]
        if state is None or not may_read_memory(state, person, place):
            return []
        seen = [_shown(entry, person, place) for entry in entries if may_read(entry.scope, person, place)]
        return [entry for entry in seen if entry is not None]

    async def proposals(self, person: Person, place: Place) -> list[Proposal]:
        """Suggestions that wait for this person here, oldest first."""
        async with self.store.read() as tx:
            return await approvals.waiting_here(tx, self.clock, person, place)

    async def queue(self, person: Person, place: Place) -> list[Waiting]:
        """The same, each with the entry that it would change or delete."""
        async with self.store.read() as tx:
            return await approvals.queue(tx, self.clock, person, place)

    async def line_of(self, notice_id: int) -> list[Notice]:
        """The notices that share one line with that one; none when it stands alone."""
        async with self.store.read() as tx:
            notice = await tx.notices.get(notice_id)
            return [] if notice is None else await telling.line_of(tx, notice)

    async def on_its_card(self, outcome: Outcome) -> Outcome:
        """A suggestion that was approved elsewhere: its card is to confirm the write from now on."""
        async with self.store.write() as tx:
            return await telling.on_its_card(tx, self.clock, outcome)

    async def notice_view(self, notice_id: int, *, persona_name: str, server_name: str) -> NoticeView | None:
        """All that a confirmation shows (see :mod:`memory.facts.showing`); None when there is none."""
        async with self.store.read() as tx:
            notice = await tx.notices.get(notice_id)
            if notice is None:
                return None
            if notice.guild_id is not None:
                return await showing.notice_view(tx, notice, persona_name, server_name)
            scope = await showing.about(tx, notice)
        place = Place(notice.channel_id, None)
        answers = None if scope is None else await self._in_dm(Person(scope.subject_id, ""), place)
        async with self.store.read() as tx:
            return await showing.notice_view(tx, notice, persona_name, server_name, answers)


def _shown(entry: JournalEntry, person: Person, place: Place) -> JournalEntry | None:
    """What this person may see of a write, here; None when they may not know of it."""
    state = entry_readable_state(entry)
    if state is None or not may_read_memory(state, person, place):
        return None
    if entry.before is None or may_read_memory(entry.before, person, place):
        return entry
    return replace(entry, before=None)


_NOTHING_TO_UNDO = "There is nothing of yours to undo here."
_CLEARED = (
    "Your latest change here was a clear, which is final. Nothing was undone. An earlier change of yours has"
    " **Undo** beneath its confirmation."
)
_LATER_IN_DM = "A later change of yours was made in a DM and stays. Undo it there."
_UNDO_IN_DM = "Your latest change was made in a DM. Undo it there."
