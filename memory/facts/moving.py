"""An entry goes to another scope under its own id: right and room in both, the pin with it (SPEC §4.3).

Where the same text already is, the two become one. Nobody learns by a move what stands in a scope that they
may not read: states of an entry are shown only to those who may read the scope in which it was then.
"""

from __future__ import annotations

from memory.facts.living import GONE, has_persona
from memory.facts.outcomes import Outcome, OutcomeKind, handle
from memory.facts.recording import Recorder, changed_since
from memory.facts.rights import Verdict, judge
from memory.facts.rules import normalise
from memory.facts.writes import Hand, Write
from memory.store import Tx
from memory.types import JournalEntry, Memory, Op, SubjectKind


async def move(recorder: Recorder, tx: Tx, write: Write, hand: Hand, memory: Memory) -> Outcome:
    """Move an entry that the hand may change. Both scopes are locked."""
    target = write.scope
    if target is None:
        raise ValueError("a MOVE names its scope")
    if memory.dm_only and target.kind is SubjectKind.SERVER:
        detail = (
            f"Nothing was moved: {handle(memory.id)} was saved in our DM and is used in DMs only. Press **Use"
            " everywhere** on it first, then move it in the server."
        )
        return Outcome(OutcomeKind.NOT_ALLOWED, memory=memory, scope=target, detail=detail)
    if await judge(tx, target, write, hand) is not Verdict.WRITE:
        return Outcome(OutcomeKind.NOT_ALLOWED, memory=memory, scope=target)
    if target == memory.scope:
        return Outcome(OutcomeKind.MOVED, memory=memory, scope=target)
    if not await has_persona(tx, target):
        return Outcome(OutcomeKind.NOT_ALLOWED, memory=memory, scope=target, detail=GONE)
    twin = await recorder.same(tx, target, normalise(memory.text), dm_only=memory.dm_only)
    if twin is None or (memory.pinned and not twin.pinned):
        full = await recorder.full(tx, target, pinned=memory.pinned)
        if full is not None:
            return full
    if twin is not None:
        return await join(recorder, tx, write, hand, memory, twin, OutcomeKind.MOVED)
    now = recorder.clock.now()
    after = await tx.memories.change(memory.id, memory.version, at=now, scope=target)
    if after is None:
        return Outcome(OutcomeKind.CHANGED_MEANWHILE, memory=memory, scope=memory.scope)
    return await recorder.record(tx, OutcomeKind.MOVED, Op.MOVE, hand, write, memory, after)


async def join(
    recorder: Recorder, tx: Tx, write: Write, hand: Hand, memory: Memory, twin: Memory, kind: OutcomeKind
) -> Outcome:
    """Two entries that say the same become one: ``memory`` goes, its pin passes to the entry that stays."""
    if not await tx.memories.remove(memory.id, memory.version):
        return Outcome(OutcomeKind.CHANGED_MEANWHILE, memory=memory, scope=memory.scope)
    joined = await recorder.record(tx, kind, Op.DELETE, hand, write, memory, None)
    kept = twin
    if memory.pinned and not twin.pinned:
        now = recorder.clock.now()
        pinned = await tx.memories.change(twin.id, twin.version, at=now, pinned=True)
        if pinned is not None:
            await recorder.record(tx, OutcomeKind.PINNED, Op.PIN, hand, write, twin, pinned)
            kept = pinned
    return Outcome(
        joined.kind,
        memory=kept,
        journal=joined.journal,
        notice=joined.notice,
        redraw=joined.redraw,
        redraws=joined.redraws,
        scope=twin.scope,
    )


async def move_back(
    recorder: Recorder, tx: Tx, write: Write, hand: Hand, entry: JournalEntry, now: Memory
) -> Outcome:
    """Undo of a MOVE: right and room where it was; words that changed since stay where they are."""
    former, left = entry.before, entry.after
    assert former is not None and left is not None
    if await judge(tx, former.scope, write, hand) is not Verdict.WRITE:
        return Outcome(OutcomeKind.NOT_ALLOWED, scope=former.scope)
    if not await has_persona(tx, former.scope):
        return Outcome(OutcomeKind.NOT_ALLOWED, scope=former.scope, detail=GONE)
    if (now.text, now.dm_only) != (left.text, left.dm_only):
        return changed_since(now, now.id, "Move it yourself if that is still right.")
    norm = normalise(now.text)
    same = await recorder.same(tx, former.scope, norm, dm_only=now.dm_only)
    if same is not None:
        return Outcome(OutcomeKind.DUPLICATE, memory=same, similar=same, scope=former.scope)
    full = await recorder.full(tx, former.scope, pinned=now.pinned)
    if full is not None:
        return full
    back = await tx.memories.change(now.id, now.version, at=recorder.clock.now(), scope=former.scope)
    if back is None:
        return changed_since(now, now.id, "")
    return await recorder.record(tx, OutcomeKind.UNDONE, Op.MOVE, hand, write, now, back)


MOVED_SINCE = "It was moved since. Change it where it is now."
"""Follows a refusal to undo what was written in another scope."""
