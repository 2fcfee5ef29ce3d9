"""Deciding on a waiting suggestion: once, by who may, through the gate again (SPEC §4.4, §4.8, §12).

Personal: the member it is about, and nobody else. Server: who may write that scope. Who decides may change
the words first: what was suggested stays in the suggestion, what was approved is in the journal.
"""

from __future__ import annotations

from dataclasses import replace

from memory.facts.gate import WriteGate
from memory.facts.living import lock_scopes
from memory.facts.outcomes import Outcome, OutcomeKind, handle, quote
from memory.facts.recording import Withdrawn, each_once
from memory.facts.rights import may_write_now, member_access
from memory.facts.rules import may_read, may_read_memory, may_write, mentions_in
from memory.facts.writes import WAITING_FOR, Hand, Write
from memory.ports import Waiting
from memory.store import Tx
from memory.types import (
    Actor,
    ActorKind,
    Clock,
    Memory,
    Op,
    Person,
    Place,
    Proposal,
    ProposalState,
)

_DONE = (OutcomeKind.SAVED, OutcomeKind.UPDATED, OutcomeKind.DELETED, OutcomeKind.DUPLICATE)


async def waiting_here(tx: Tx, clock: Clock, person: Person, place: Place) -> list[Proposal]:
    """Suggestions that wait for this person here, oldest first. In a DM: those about them."""
    access = await member_access(tx, place)
    since = clock.now() - WAITING_FOR
    return [
        each
        for each in await tx.proposals.waiting(place.guild_id, person.id)
        if each.created_at >= since and may_write(each.scope, person, place, member_access=access)
    ]


async def queue(tx: Tx, clock: Clock, person: Person, place: Place) -> list[Waiting]:
    """The same, each with the entry that it is about."""
    waiting = await waiting_here(tx, clock, person, place)
    entries = [await _about(tx, each, person, place) for each in waiting]
    texts = [each.text for each in waiting] + [memory.text for memory in entries if memory is not None]
    named = {each.proposer_id for each in waiting if each.proposer_id is not None}
    named |= {user_id for text in texts for user_id in mentions_in(text)}
    names = await tx.names.get(place.guild_id or 0, sorted(named))
    return [Waiting(each, memory, names) for each, memory in zip(waiting, entries, strict=True)]


async def _about(tx: Tx, proposal: Proposal, person: Person, place: Place) -> Memory | None:
    """The entry that it would change or delete.

    One that was moved since is gone here: who decides may have no right to know what it says now.
    """
    memory = None if proposal.memory_id is None else await tx.memories.get(proposal.memory_id)
    if memory is None or memory.scope != proposal.scope or not may_read_memory(memory, person, place):
        return None
    return memory


async def decide(
    gate: WriteGate,
    clock: Clock,
    tx: Tx,
    person: Person,
    place: Place,
    proposal_id: int,
    *,
    approve: bool,
    text: str | None = None,
) -> Outcome:
    """Approve, in other words when ``text`` is given, or discard.

    Raises :class:`Withdrawn` when the gate refuses: the suggestion then waits on.
    """
    proposal = await tx.proposals.get(proposal_id)
    if proposal is None or not may_read(proposal.scope, person, place):
        return Outcome(OutcomeKind.NOT_ALLOWED, detail=_NOT_YOURS)
    if not await may_write_now(tx, proposal.scope, person, place):
        return Outcome(OutcomeKind.NOT_ALLOWED, scope=proposal.scope)
    await lock_scopes(tx, proposal.scope)
    now = clock.now()
    if proposal.state is ProposalState.WAITING and proposal.created_at < now - WAITING_FOR:
        await tx.proposals.decide(proposal.id, ProposalState.EXPIRED, None, now)
        return await _with_notices(tx, _settled(proposal, ProposalState.EXPIRED), proposal)
    wanted = ProposalState.APPROVED if approve else ProposalState.DISCARDED
    if not await tx.proposals.decide(proposal.id, wanted, person.id, now):
        decided = await tx.proposals.get(proposal.id)
        settled = _settled(proposal, proposal.state if decided is None else decided.state)
        return await _with_notices(tx, settled, proposal)
    if not approve:
        return await _with_notices(tx, Outcome(OutcomeKind.DISCARDED, scope=proposal.scope), proposal)
    outcome = await _apply(gate, tx, person, place, proposal, proposal.text if text is None else text)
    if outcome.kind not in _DONE:
        raise Withdrawn(outcome)
    if outcome.journal is not None:
        await tx.proposals.written_by(proposal.id, outcome.journal.id)
    return await _with_notices(tx, outcome, proposal)


async def _apply(
    gate: WriteGate, tx: Tx, person: Person, place: Place, proposal: Proposal, text: str
) -> Outcome:
    memory = await _about(tx, proposal, person, place)
    if proposal.op is not Op.ADD:
        stale = await _stale(tx, proposal, memory)
        if stale is not None:
            return stale
    from_dm = proposal.source is not None and proposal.source.guild_id is None
    write = Write(
        proposal.op,
        scope=proposal.scope if proposal.op is Op.ADD else None,
        memory_id=proposal.memory_id,
        text=text,
        keywords=proposal.keywords,
        expected_version=None if memory is None else memory.version,
        dm_only=from_dm,
        source=proposal.source,
    )
    actor = Actor(ActorKind.MEMBER, person, proposal.turn_id)
    return await gate.apply(tx, write, Hand(actor, place, proposal.scope.lineage))


async def _stale(tx: Tx, proposal: Proposal, memory: Memory | None) -> Outcome | None:
    """Why a suggestion is not carried out: its entry was pinned, changed or deleted after it was made."""
    if memory is None:
        gone = (
            "The memory that this suggestion is about is gone. Nothing was changed; discard the suggestion."
        )
        return Outcome(OutcomeKind.NOT_FOUND, detail=gone, scope=proposal.scope)
    if memory.pinned:
        pinned = (
            f"Nothing was changed: {handle(memory.id)} is pinned. Unpin it first, or discard the suggestion."
        )
        return Outcome(OutcomeKind.PINNED_PROTECTED, memory=memory, detail=pinned, scope=memory.scope)
    if any(entry.at > proposal.created_at for entry in await tx.journal.of_memory(memory.id)):
        changed = (
            f"Nothing was changed: {handle(memory.id)} was changed after this was suggested and now says"
            f" {quote(memory.text)}. Edit it yourself, or discard the suggestion."
        )
        return Outcome(OutcomeKind.CHANGED_MEANWHILE, memory=memory, detail=changed, scope=memory.scope)
    return None


async def _with_notices(tx: Tx, outcome: Outcome, proposal: Proposal) -> Outcome:
    """The outcome, with the suggestion as it is now and all its notices to draw again."""
    decided = await tx.proposals.get(proposal.id)
    notices = await tx.notices.of_proposal(proposal.id)
    return replace(
        outcome,
        proposal=decided or proposal,
        scope=outcome.scope or proposal.scope,
        redraw=next(iter(notices), None),
        redraws=each_once(*notices, *outcome.redraws),
    )


def _settled(proposal: Proposal, state: ProposalState) -> Outcome:
    said = {
        ProposalState.APPROVED: "It was already approved. Nothing was changed this time.",
        ProposalState.DISCARDED: "It was already discarded. Nothing was changed this time.",
    }.get(state, "The suggestion waited for more than 7 days and expired. Nothing was saved.")
    return Outcome(OutcomeKind.CHANGED_MEANWHILE, detail=said, scope=proposal.scope)


_NOT_YOURS = "Nothing was changed: only the member whom this is about can decide."
