"""What a confirmation shows: the write or the suggestion that it is about, in its place's words."""

from __future__ import annotations

from dataclasses import replace

from memory.facts import telling
from memory.facts.lineages import unknown_here
from memory.facts.living import carried_to
from memory.facts.outcomes import describe
from memory.facts.rules import mentions_in
from memory.ports import NoticeView
from memory.store import Tx
from memory.types import (
    DEFAULT_LINEAGE,
    GLOBAL,
    JournalEntry,
    Memory,
    Notice,
    Op,
    Persona,
    Scope,
    SubjectKind,
    TurnState,
)


async def about(tx: Tx, notice: Notice) -> Scope | None:
    """The scope of what a confirmation is about; None when that is gone."""
    entry = None if notice.journal_id is None else await tx.journal.get(notice.journal_id)
    if entry is not None:
        return entry.scope
    proposal = None if notice.proposal_id is None else await tx.proposals.get(notice.proposal_id)
    return None if proposal is None else proposal.scope


async def notice_view(
    tx: Tx, notice: Notice, persona_name: str, server_name: str, answers: Persona | None = None
) -> NoticeView | None:
    """All that a confirmation shows. What is used in DMs only never shows in a server's notice.

    ``persona_name``: of the built-in persona there. ``answers``: who answers there when it stands in a DM.
    """
    entry = None if notice.journal_id is None else await tx.journal.get(notice.journal_id)
    proposal = None if notice.proposal_id is None else await tx.proposals.get(notice.proposal_id)
    approved = entry is not None and proposal is not None
    reworded = telling.reworded(entry, proposal)
    dm = notice.guild_id is None
    proposal = None if approved else await telling.as_approved(tx, proposal, dm=dm)
    it = entry or proposal
    if it is None:
        return None
    memory = None if it.memory_id is None else await tx.memories.get(it.memory_id)
    outlived = entry is not None and await _outlived(tx, entry, memory)
    line = await telling.tally(tx, notice, server_name)
    moved = memory is not None and memory.scope != (
        it.scope if entry is None else await carried_to(tx, entry) or it.scope
    )
    memory = None if moved else memory
    route = await _route(tx, notice, entry, persona_name, answers)
    cleared = entry is not None and entry.before is None and entry.after is None
    name = await called(tx, notice.guild_id, it.scope.lineage, persona_name, answers)
    subject = server_name
    texts = [m.text for m in (memory, *((entry.before, entry.after) if entry else ())) if m]
    named = {i for text in (*texts, proposal.text if proposal else "") for i in mentions_in(text)}
    if it.scope.kind is SubjectKind.USER:
        named.add(it.scope.subject_id)
    names = await tx.names.get(notice.guild_id or 0, sorted(named)) if named else {}
    if it.scope.kind is SubjectKind.USER:
        subject = names.get(it.scope.subject_id, "a member")
    if notice.guild_id is not None:
        memory = None if memory is not None and memory.dm_only else memory
        entry = None if entry is None else _in_server(entry)
    return NoticeView(
        notice,
        entry,
        proposal,
        memory,
        name,
        subject,
        names,
        outlived,
        line,
        moved=moved,
        cleared=cleared,
        route=route,
        approved=approved,
        reworded=reworded,
    )


async def called(tx: Tx, guild_id: int | None, lineage: str, built_in: str, answers: Persona | None) -> str:
    """The name of the persona that an entry is for, where its confirmation stands, or an answer to a write.

    ``answers``: who answers in that DM: there a server's character has a name only while it is in use.
    """
    if lineage in (GLOBAL, DEFAULT_LINEAGE):
        return built_in
    if answers is not None and answers.lineage == lineage:
        return answers.name
    rows = [] if guild_id is None else await tx.personas.of_guild(guild_id)
    named = next((row.name for row in rows if row.lineage == lineage), None)
    return named or await unknown_here(tx, lineage)


async def _route(
    tx: Tx, notice: Notice, entry: JournalEntry | None, built_in: str, answers: Persona | None
) -> str:
    """From where to where an entry was moved, in the words of its scopes alone."""
    if entry is None or entry.op is not Op.MOVE or entry.before is None or entry.after is None:
        return ""
    ends = [
        describe(scope, await called(tx, notice.guild_id, scope.lineage, built_in, answers))
        for scope in (entry.before.scope, entry.after.scope)
    ]
    return f"from {ends[0]} to {ends[1]}"


async def _outlived(tx: Tx, entry: JournalEntry, memory: Memory | None) -> bool:
    """Does this write stand although its reply was regenerated or rewound (SPEC §4.6)?"""
    gone = entry.after is not None and memory is None
    if gone or entry.turn_id is None or entry.undone_by is not None:
        return False
    turn = await tx.turns.get(entry.turn_id)
    return turn is not None and turn.state in (TurnState.REPLACED, TurnState.REWOUND)


def _in_server(entry: JournalEntry) -> JournalEntry:
    """A journal entry without the states that were for DMs only, or in somebody's own scope before a move."""
    before, after = entry.before, entry.after
    own = before is not None and before.scope.kind is SubjectKind.USER and before.scope != entry.scope
    before = None if before is not None and (before.dm_only or own) else before
    after = None if after is not None and after.dm_only else after
    return replace(entry, before=before, after=after)
