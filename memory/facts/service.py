"""Saved memories as the front uses them. Every method judges rights itself, at the moment it acts.

Reading: only what this person may read in this place. What they may not read does not exist for them, so the
answers for an unknown id and for somebody else's are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory.facts import approvals, finding
from memory.facts.gate import WriteGate
from memory.facts.outcomes import Outcome, OutcomeKind
from memory.facts.recording import Withdrawn, entry_readable_state
from memory.facts.reversal import latest_here
from memory.facts.rights import member_access
from memory.facts.rules import (
    may_read,
    may_read_memory,
    may_write,
    mentions_in,
    own_scopes,
    readable,
    scopes_in_play,
    select,
)
from memory.facts.writes import Hand, MemoryLimits, Write
from memory.ports import NoticeView
from memory.store import Store, Tx
from memory.types import (
    DEFAULT_LINEAGE,
    GLOBAL,
    Actor,
    ActorKind,
    Clock,
    JournalEntry,
    Memory,
    Op,
    Person,
    Place,
    Proposal,
    Scope,
    Source,
    SubjectKind,
)


@dataclass(frozen=True, slots=True)
class Shelf:
    """One scope as its reader sees it here. ``memories``: newest first, pinned ones among them.

    ``unpinned`` and ``pinned`` count against the caps, hidden ones included; ``hidden_dm_only``: how many are
    left out because they are used in DMs only.
    """

    scope: Scope
    title: str
    memories: tuple[Memory, ...]
    unpinned: int
    pinned: int
    may_write: bool
    hidden_dm_only: int = 0
    limit: int = 0
    pinned_limit: int = 0


class Facts:
    """Saved memories (SPEC §4). Methods that write return an :class:`Outcome` and never raise for bad input.

    Raises :class:`memory.errors.StoreError` when the database fails; then nothing was written.
    """

    def __init__(
        self, store: Store, clock: Clock, limits: MemoryLimits | None = None, lineage: str = DEFAULT_LINEAGE
    ) -> None:
        self.store = store
        self.clock = clock
        self.limits = limits or MemoryLimits()
        self.lineage = lineage
        self.gate = WriteGate(clock, self.limits)

    # writing

    async def write(self, write: Write, hand: Hand) -> Outcome:
        """One write in a transaction of its own: all of it, or nothing."""
        try:
            async with self.store.write() as tx:
                return await self.gate.apply(tx, write, hand)
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
        scopes = own_scopes(place, self.lineage, person.id)
        async with self.store.read() as tx:
            entry, passed_over = await latest_here(tx, person, place, scopes)
        if entry is None:
            return Outcome(OutcomeKind.NOT_FOUND, detail=_UNDO_IN_DM if passed_over else _NOTHING_TO_UNDO)
        outcome = await self.write(Write(entry.op, undoes=entry), hand)
        if not passed_over:
            return outcome
        return replace(outcome, note=f"{outcome.note} {_LATER_IN_DM}".strip())

    async def decide(self, person: Person, place: Place, proposal_id: int, approve: bool) -> Outcome:
        """Approve or discard a waiting suggestion; when the gate refuses, it waits on and says why."""
        try:
            async with self.store.write() as tx:
                return await approvals.decide(
                    self.gate, self.clock, tx, person, place, proposal_id, approve=approve
                )
        except Withdrawn as stopped:
            return stopped.outcome

    def _hand(self, person: Person, place: Place) -> Hand:
        return Hand(Actor(ActorKind.MEMBER, person), place, self.lineage)

    # reading

    async def given(self, tx: Tx, place: Place, in_play_ids: Sequence[int]) -> list[Memory]:
        """What a turn here is given (SPEC §4.2): :func:`select` over the scopes in play, in one statement."""
        scopes = scopes_in_play(place, self.lineage, in_play_ids)
        return select(await tx.memories.of_scopes(scopes, dm=place.is_dm), self.limits.injected)

    async def shelves(self, person: Person, place: Place) -> list[Shelf]:
        """Every scope this person can read here, empty ones too: server first, this persona before every."""
        scopes = own_scopes(place, self.lineage, person.id)
        async with self.store.read() as tx:
            kept = await tx.memories.of_scopes(scopes, dm=True)
            access = await member_access(tx, place)
        return [self._shelf(scope, kept, person, place, access) for scope in scopes]

    def _shelf(
        self, scope: Scope, kept: Sequence[Memory], person: Person, place: Place, access: bool
    ) -> Shelf:
        held = [memory for memory in kept if memory.scope == scope]
        shown = readable(held, person, place)
        shown.sort(key=lambda memory: (memory.updated_at, memory.id), reverse=True)
        pinned = sum(memory.pinned for memory in held)
        return Shelf(
            scope=scope,
            title=_title(scope),
            memories=tuple(shown),
            unpinned=len(held) - pinned,
            pinned=pinned,
            may_write=may_write(scope, person, place, member_access=access),
            hidden_dm_only=len(held) - len(shown),
            limit=self.limits.unpinned(scope),
            pinned_limit=self.limits.pinned,
        )

    async def find(
        self,
        person: Person,
        place: Place,
        query: str,
        limit: int = finding.FOUND,
        pinned: bool | None = None,
    ) -> list[Memory]:
        """Search and autocomplete among what this person may read here; an empty query gives the newest."""
        scopes = own_scopes(place, self.lineage, person.id)
        async with self.store.read() as tx:
            kept = readable(await tx.memories.of_scopes(scopes, dm=place.is_dm), person, place)
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

        Outside DMs the time before an entry was widened is left out.
        """
        async with self.store.read() as tx:
            memory = await tx.memories.get(memory_id)
            entries = await tx.journal.of_memory(memory_id)
        newest = entry_readable_state(entries[0]) if entries else None
        state = memory or newest
        if state is None or not may_read_memory(state, person, place):
            return []
        seen = [_shown(entry, place) for entry in entries if may_read(entry.scope, person, place)]
        return [entry for entry in seen if entry is not None]

    async def proposals(self, person: Person, place: Place) -> list[Proposal]:
        """Suggestions that wait for this person here, oldest first."""
        async with self.store.read() as tx:
            access = await member_access(tx, place)
            waiting = await tx.proposals.waiting(place.guild_id, person.id)
        return [each for each in waiting if may_write(each.scope, person, place, member_access=access)]

    async def notice_view(self, notice_id: int, *, persona_name: str, server_name: str) -> NoticeView | None:
        """All that a confirmation shows. What is used in DMs only never shows in a server's notice."""
        async with self.store.read() as tx:
            notice = await tx.notices.get(notice_id)
            if notice is None:
                return None
            entry = None if notice.journal_id is None else await tx.journal.get(notice.journal_id)
            proposal = None if notice.proposal_id is None else await tx.proposals.get(notice.proposal_id)
            about = entry or proposal
            if about is None:
                return None
            memory = None if about.memory_id is None else await tx.memories.get(about.memory_id)
            subject = server_name
            texts = [m.text for m in (memory, *((entry.before, entry.after) if entry else ())) if m]
            named = {i for text in (*texts, proposal.text if proposal else "") for i in mentions_in(text)}
            if about.scope.kind is SubjectKind.USER:
                named.add(about.scope.subject_id)
            names = await tx.names.get(notice.guild_id or 0, sorted(named)) if named else {}
            if about.scope.kind is SubjectKind.USER:
                subject = names.get(about.scope.subject_id, "a member")
        if notice.guild_id is not None:
            memory = None if memory is not None and memory.dm_only else memory
            entry = None if entry is None else _in_server(entry)
        return NoticeView(notice, entry, proposal, memory, persona_name, subject, names)


def _in_server(entry: JournalEntry) -> JournalEntry:
    """A journal entry without the states that were for DMs only."""
    before = None if entry.before is not None and entry.before.dm_only else entry.before
    after = None if entry.after is not None and entry.after.dm_only else entry.after
    return replace(entry, before=before, after=after)


def _shown(entry: JournalEntry, place: Place) -> JournalEntry | None:
    if place.is_dm:
        return entry
    state = entry_readable_state(entry)
    return None if state is None or state.dm_only else _in_server(entry)


def _title(scope: Scope) -> str:
    whose = "This server" if scope.kind is SubjectKind.SERVER else "About you"
    return f"{whose} · every persona" if scope.lineage == GLOBAL else f"{whose} · this persona"


_NOTHING_TO_UNDO = "There is nothing of yours to undo here."
_LATER_IN_DM = "A later change of yours was made in a DM and stays. Undo it there."
_UNDO_IN_DM = "Your latest change was made in a DM. Undo it there."
