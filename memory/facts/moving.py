"""An entry goes to another scope under its own id: right and room in both, the pin with it (SPEC §4.3).

Where the same text already is, the two become one. Nobody learns by a move what stands in a scope that they
may not read: states of an entry are shown only to those who may read the scope in which it was then.
"""

from __future__ import annotations

from dataclasses import replace

from memory.facts.living import GONE, has_persona
from memory.facts.outcomes import Outcome, OutcomeKind, handle
from memory.facts.recording import Recorder, changed_since, each_once
from memory.facts.rights import Verdict, judge
from memory.facts.rules import normalise
from memory.facts.writes import Hand, Write
from memory.store import Tx
from memory.types import JournalEntry, Memory, Op, Scope, SubjectKind


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
    channels = await _channels_there(tx, memory, target)
    after = await tx.memories.change(
        memory.id,
        memory.version,
        at=memory.updated_at,
        scope=target,
        channels=None if channels == memory.channels else channels,
    )
    if after is None:
        return Outcome(OutcomeKind.CHANGED_MEANWHILE, memory=memory, scope=memory.scope)
    done = await recorder.record(tx, OutcomeKind.MOVED, Op.MOVE, hand, write, memory, after)
    return replace(done, note=_left_out(memory, after))


async def _channels_there(tx: Tx, memory: Memory, target: Scope) -> tuple[int, ...]:
    """The channel tags that go along. Into a server only its own do: those that were set there.

    What is somebody's own may be tagged in many servers; elsewhere those tags would show where else they are.
    """
    if target.kind is not SubjectKind.SERVER or memory.scope.kind is SubjectKind.SERVER:
        return memory.channels
    own: set[int] = set()
    for entry in await tx.journal.of_memory(memory.id) if memory.channels else ():
        here = entry.source is not None and entry.source.guild_id == target.subject_id
        if here and entry.op is Op.TAG and entry.undoes is None and entry.after is not None:
            own |= {*entry.after.channels} - {*(entry.before.channels if entry.before else ())}
    return tuple(channel for channel in memory.channels if channel in own)


def _left_out(memory: Memory, after: Memory) -> str:
    gone = len(memory.channels) - len(after.channels)
    if not gone:
        return ""
    tags = "1 channel tag was" if gone == 1 else f"{gone} channel tags were"
    rest = "" if after.channels else " It is for every channel now."
    return f"{tags} left out, as not set in this server.{rest}"


async def join(
    recorder: Recorder, tx: Tx, write: Write, hand: Hand, memory: Memory, twin: Memory, kind: OutcomeKind
) -> Outcome:
    """Two entries that say the same become one: ``memory`` goes, its pin passes to the entry that stays.

    It is journaled as what was asked for, with nothing left of ``memory``. Where the server's entry takes the
    pin of a member's own, the pin is what the others there are told.
    """
    if not await tx.memories.remove(memory.id, memory.version):
        return Outcome(OutcomeKind.CHANGED_MEANWHILE, memory=memory, scope=memory.scope)
    done = await recorder.record(tx, kind, write.op, hand, write, memory, None)
    told, also, redraws, kept = done.notice, None, done.redraws, twin
    if memory.pinned and not twin.pinned:
        now = recorder.clock.now()
        pinned = await tx.memories.change(twin.id, twin.version, at=now, pinned=True)
        if pinned is not None:
            pin = await recorder.record(tx, OutcomeKind.PINNED, Op.PIN, hand, write, twin, pinned)
            also, redraws, kept = pin.notice, each_once(*redraws, *pin.redraws), pinned
            if memory.scope.kind is SubjectKind.USER and twin.scope.kind is SubjectKind.SERVER:
                told, also = also, None
    where = "everywhere" if kind is OutcomeKind.WIDENED else "there"
    gone = "the copy of this DM" if kind is OutcomeKind.WIDENED else handle(memory.id)
    note = f"{handle(kept.id)} already says this {where}, so {gone} was joined to it."
    return Outcome(
        kind,
        memory=kept,
        journal=done.journal,
        notice=told,
        also=also,
        redraw=done.redraw,
        redraws=redraws,
        scope=twin.scope,
        note=note if kept is twin else f"{note} It is pinned now.",
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
    back = await tx.memories.change(
        now.id,
        now.version,
        at=now.updated_at,
        scope=former.scope,
        channels=former.channels if now.channels == left.channels else None,
    )
    if back is None:
        return changed_since(now, now.id, "")
    return await recorder.record(tx, OutcomeKind.UNDONE, Op.MOVE, hand, write, now, back)


MOVED_SINCE = "It was moved since. Change it where it is now."
"""Follows a refusal to undo what was written in another scope."""
