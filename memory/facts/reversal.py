"""Undo: the reverse of one journaled write, through the gate, once (SPEC §4.5, §4.6).

An addition is deleted, a deletion comes back under its own id, a text returns to what it was, with the time
of its last change. What somebody changed since is kept, and said; room and sameness are checked again. The
undo is journaled itself. :mod:`memory.facts.rollback` takes back a whole turn's writes by the same steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory.facts.living import carried_to, for_all, lives_for, lock_scopes, rehomed
from memory.facts.moving import MOVED_SINCE, move_back
from memory.facts.outcomes import Outcome, OutcomeKind
from memory.facts.recording import Recorder, already_undone, changed_since, entry_readable_state
from memory.facts.rights import Verdict, judge, may_write_now
from memory.facts.rules import may_read_memory, mentions_in, normalise
from memory.facts.tagging import untag
from memory.facts.writes import Hand, Write
from memory.store import Tx
from memory.types import (
    JournalEntry,
    Memory,
    Op,
    Person,
    Place,
    Scope,
)

_BATCH = 50
"""Writes that are read at once while looking for the newest."""


async def latest_here(
    tx: Tx, person: Person, place: Place, scopes: Sequence[Scope]
) -> tuple[JournalEntry | None, bool]:
    """A person's newest standing write that is undone here, and whether later ones of a DM were passed over.

    In a server a write is passed over that was made in a DM, or whose entry is used in DMs only; and, without
    a word, one whose entry was moved to where this person may not read it.
    """
    passed_over = False
    before: int | None = None
    while batch := await tx.journal.standing_by(person.id, scopes, before=before, limit=_BATCH):
        for entry in batch:
            now = await tx.memories.get(entry.memory_id)
            states = [state for state in (entry_readable_state(entry), now) if state is not None]
            in_dm = _made_in_dm(entry) or any(state.dm_only for state in states)
            if not place.is_dm and in_dm:
                passed_over = True
            elif all(may_read_memory(state, person, place) for state in states):
                return entry, passed_over
        before = batch[-1].id
    return None, passed_over


def _made_in_dm(entry: JournalEntry) -> bool:
    return entry.source is not None and entry.source.guild_id is None


async def lock_written(tx: Tx, entries: Sequence[JournalEntry]) -> None:
    """Lock where these writes were, and where a deletion of their personas takes what they wrote."""
    states = [state for entry in entries for state in (entry.before, entry.after) if state is not None]
    scopes = {entry.scope for entry in entries} | {state.scope for state in states}
    await lock_scopes(tx, *scopes, *(for_all(scope) for scope in scopes))


async def reverse(recorder: Recorder, tx: Tx, write: Write, hand: Hand) -> Outcome:
    """Undo ``write.undoes``. Raises :class:`Withdrawn` when another undo of it was committed meanwhile."""
    person = hand.actor.person
    if write.undoes is None or person is None:
        return Outcome(OutcomeKind.NOT_FOUND)
    await lock_written(tx, [write.undoes])
    entry = await tx.journal.get(write.undoes.id)
    state = None if entry is None else entry_readable_state(entry)
    if entry is None or state is None or not may_read_memory(state, person, hand.place):
        return Outcome(OutcomeKind.NOT_FOUND)
    now = await tx.memories.get(entry.memory_id)
    if now is not None and not may_read_memory(now, person, hand.place):
        return Outcome(OutcomeKind.NOT_FOUND)
    if await judge(tx, entry.scope, write, hand) is Verdict.REFUSE:
        return Outcome(OutcomeKind.NOT_ALLOWED, scope=entry.scope)
    if entry.undone_by is not None:
        return already_undone()
    owns = entry.before is None and await may_write_now(tx, entry.scope, person, hand.place)
    return await carry_back(recorder, tx, write, hand, entry, now, owns=owns)


async def carry_back(
    recorder: Recorder,
    tx: Tx,
    write: Write,
    hand: Hand,
    entry: JournalEntry,
    now: Memory | None,
    *,
    owns: bool,
) -> Outcome:
    """The reverse of one standing write, its scope locked and the right to it judged by the caller.

    ``now``: the entry as it stands. ``owns``: what was pinned since an addition may be taken back too.
    """
    if now is not None and entry.after is not None and now.scope != await carried_to(tx, entry):
        return changed_since(now, now.id, MOVED_SINCE)
    if entry.after is None:
        return await _restore(recorder, tx, write, hand, entry, now)
    if entry.before is None:
        return await _take_back(recorder, tx, write, hand, entry, now, owns)
    if now is None:
        return changed_since(None, entry.memory_id, "")
    if entry.op is Op.TAG:
        return await untag(recorder, tx, write, hand, entry, now)
    if entry.op is Op.MOVE:
        return await move_back(recorder, tx, write, hand, entry, now)
    if entry.op is Op.UPDATE:
        return await _former_text(recorder, tx, write, hand, entry, now)
    return await _former_flag(recorder, tx, write, hand, entry, now)


async def _take_back(
    recorder: Recorder, tx: Tx, write: Write, hand: Hand, entry: JournalEntry, now: Memory | None, owns: bool
) -> Outcome:
    """Undo of an addition. Whoever may not write the scope cannot take back what was pinned since."""
    assert entry.after is not None
    if now is None:
        return changed_since(None, entry.memory_id, "")
    pinned_since = now.pinned and not entry.after.pinned
    if not _same_state(now, entry.after) or (pinned_since and not owns):
        return changed_since(now, now.id, "If it is no longer right, delete it.")
    if not await tx.memories.remove(now.id, now.version):
        return changed_since(now, now.id, "")
    return await recorder.record(tx, OutcomeKind.UNDONE, Op.DELETE, hand, write, now, None)


async def _restore(
    recorder: Recorder, tx: Tx, write: Write, hand: Hand, entry: JournalEntry, now: Memory | None
) -> Outcome:
    """Undo of a deletion: back under its own id, if there is room and nothing says the same meanwhile.

    Where its persona is gone it comes back as the others of that persona did: for all personas.
    """
    former = entry.before
    assert former is not None
    if now is not None:
        return changed_since(now, now.id, "It is already back.")
    lives = await lives_for(tx, former.scope, hand.place)
    former = former if lives else rehomed(former)
    norm = normalise(former.text)
    same = await tx.memories.find_same(former.scope, norm, former.dm_only)
    if same is not None:
        return Outcome(OutcomeKind.DUPLICATE, memory=same, similar=same, scope=former.scope)
    full = await recorder.full(tx, former.scope, pinned=former.pinned)
    if full is not None:
        return full
    back = await tx.memories.restore(former, norm, mentions_in(former.text))
    if back is None:
        return Outcome(OutcomeKind.DUPLICATE, scope=former.scope)
    done = await recorder.record(tx, OutcomeKind.UNDONE, Op.ADD, hand, write, None, back)
    return done if lives else replace(done, note=FOR_ALL)


FOR_ALL = "It is for all personas now, because the one that it belonged to was deleted."
"""Follows what came back although its persona is gone."""


async def _former_text(
    recorder: Recorder, tx: Tx, write: Write, hand: Hand, entry: JournalEntry, now: Memory
) -> Outcome:
    former, left = entry.before, entry.after
    assert former is not None and left is not None
    if not _same_state(now, left):
        return changed_since(now, now.id, "Edit it if that is not right.")
    norm = normalise(former.text)
    same = await tx.memories.find_same(now.scope, norm, former.dm_only)
    if same is not None and same.id != now.id:
        return Outcome(OutcomeKind.DUPLICATE, memory=same, similar=same, scope=now.scope)
    back = await tx.memories.change(
        now.id,
        now.version,
        at=former.updated_at,
        text=former.text,
        norm=norm,
        dm_only=former.dm_only,
        keywords=former.keywords,
        channels=former.channels,
        mentions=mentions_in(former.text),
    )
    if back is None:
        return changed_since(now, now.id, "")
    return await recorder.record(tx, OutcomeKind.UNDONE, Op.UPDATE, hand, write, now, back)


async def _former_flag(
    recorder: Recorder, tx: Tx, write: Write, hand: Hand, entry: JournalEntry, now: Memory
) -> Outcome:
    """Undo of a pin, an unpin or a widening: only that flag goes back, whatever the text says by now."""
    former, left = entry.before, entry.after
    assert former is not None and left is not None
    at = recorder.clock.now()
    if former.pinned != left.pinned:
        if now.pinned != left.pinned:
            return changed_since(now, now.id, "")
        full = await recorder.full(tx, now.scope, pinned=former.pinned)
        if full is not None:
            return full
        op = Op.PIN if former.pinned else Op.UNPIN
        back = await tx.memories.change(now.id, now.version, at=at, pinned=former.pinned)
    else:
        if now.dm_only != left.dm_only:
            return changed_since(now, now.id, "")
        norm = normalise(now.text)
        same = await tx.memories.find_same(now.scope, norm, former.dm_only)
        if same is not None and same.id != now.id:
            return Outcome(OutcomeKind.DUPLICATE, memory=same, similar=same, scope=now.scope)
        op = Op.WIDEN
        back = await tx.memories.change(now.id, now.version, at=at, dm_only=former.dm_only)
    if back is None:
        return changed_since(now, now.id, "")
    return await recorder.record(tx, OutcomeKind.UNDONE, op, hand, write, now, back)


def _same_state(now: Memory, left: Memory) -> bool:
    """Is the entry what that write left? A pin set or taken since changes nothing that was said."""
    return (now.text, now.keywords, now.channels, now.dm_only) == (
        left.text,
        left.keywords,
        left.channels,
        left.dm_only,
    )
