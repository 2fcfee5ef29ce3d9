"""The write gate: the one path by which a memory is added, changed, pinned, tagged, moved or deleted.

Inside one write transaction: lock the scope, then rights, text rules, sameness, pins, version, room, and only
then the write with its journal line and notice. A refusal writes nothing and evicts nothing (SPEC §4.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory.facts.living import GONE, has_persona, lock_scopes, still_speaks
from memory.facts.moving import join, move
from memory.facts.outcomes import Outcome, OutcomeKind
from memory.facts.recording import Recorder
from memory.facts.reversal import reverse
from memory.facts.rights import Verdict, judge, switched_off, told_unused
from memory.facts.rollback import RolledBack, roll_back
from memory.facts.rules import (
    Clean,
    Problem,
    TextProblem,
    check_keywords,
    check_text,
    may_read_memory,
    mentions_in,
    near_duplicate,
    normalise,
)
from memory.facts.tagging import bad_tags, tag
from memory.facts.writes import Hand, MemoryLimits, Write
from memory.store import Tx
from memory.types import Clock, Memory, Op, Scope, SubjectKind


class WriteGate:
    """Every route passes here: commands, buttons, the model's tools, approvals, undo."""

    def __init__(self, clock: Clock, limits: MemoryLimits | None = None) -> None:
        self.limits = limits or MemoryLimits()
        self.recorder = Recorder(clock, self.limits)

    async def apply(self, tx: Tx, write: Write, hand: Hand) -> Outcome:
        """Make one write, or say why not. ``tx`` must be a write transaction of the store.

        Raises only :class:`memory.errors.StoreError`, and :class:`Withdrawn` for an undo that lost a race.
        """
        if hand.is_model and not await still_speaks(tx, hand):
            return Outcome(OutcomeKind.NOT_ALLOWED, detail=GONE)
        if hand.is_model and (off := await switched_off(tx, hand)):
            return Outcome(OutcomeKind.DISABLED, detail=off)
        if write.undoes is not None:
            return await reverse(self.recorder, tx, write, hand)
        if write.op is Op.ADD:
            return await told_unused(tx, await self._add(tx, write, hand), hand)
        found = await self._target(tx, write, hand)
        if isinstance(found, Outcome):
            return found
        memory, verdict = found
        if write.op is Op.UPDATE:
            return await self._update(tx, write, hand, memory, verdict)
        if write.op is Op.DELETE:
            return await self._delete(tx, write, hand, memory, verdict)
        if write.op is Op.WIDEN:
            return await self._widen(tx, write, hand, memory)
        if write.op in (Op.TAG, Op.MOVE):
            if await self._moved(tx, write, hand, memory):
                return _changed(memory)
            if write.op is Op.TAG:
                return await tag(self.recorder, tx, write, hand, memory)
            return await told_unused(tx, await move(self.recorder, tx, write, hand, memory), hand)
        return await self._pin(tx, write, hand, memory)

    async def roll_back(self, tx: Tx, turn_ids: Sequence[int], hand: Hand) -> RolledBack:
        """Take back what the model wrote in these turns, newest first. The caller has asked for the right."""
        return await roll_back(self.recorder, tx, turn_ids, hand)

    async def _add(self, tx: Tx, write: Write, hand: Hand) -> Outcome:
        scope = write.scope
        if scope is None:
            raise ValueError("an ADD names its scope")
        await lock_scopes(tx, scope)
        verdict = await judge(tx, scope, write, hand)
        if verdict is Verdict.REFUSE:
            return Outcome(OutcomeKind.NOT_ALLOWED, scope=scope)
        if not await has_persona(tx, scope):
            return Outcome(OutcomeKind.NOT_ALLOWED, scope=scope, detail=GONE)
        text = self._checked(write.text)
        if isinstance(text, Outcome):
            return text
        refused = None if hand.is_model else bad_tags(write)
        if refused is not None:
            return refused
        dm_only = _born_dm_only(write, hand, scope)
        same = await self.recorder.same(tx, scope, text.norm, dm_only=dm_only)
        if same is not None:
            return Outcome(OutcomeKind.DUPLICATE, memory=same, similar=same, scope=scope)
        if hand.is_model and not write.confirmed:
            near = await self._near(tx, scope, text.text, hand)
            if near is not None:
                return Outcome(OutcomeKind.SIMILAR_EXISTS, memory=near, similar=near, scope=scope)
        if verdict is Verdict.PROPOSE:
            return await self.recorder.propose(tx, write, hand, scope, text.text, None)
        pinned = write.pinned and not hand.is_model
        full = await self.recorder.full(tx, scope, pinned=pinned)
        if full is not None:
            return full
        memory = await tx.memories.add(
            scope=scope,
            text=text.text,
            norm=text.norm,
            pinned=pinned,
            dm_only=dm_only,
            keywords=check_keywords(write.keywords)[0],
            channels=(),
            author_id=hand.person_id,
            source=write.source,
            at=self.recorder.clock.now(),
            mentions=mentions_in(text.text),
        )
        return await self.recorder.record(tx, OutcomeKind.SAVED, Op.ADD, hand, write, None, memory)

    async def _near(self, tx: Tx, scope: Scope, text: str, hand: Hand) -> Memory | None:
        """The newest entry readable here that says nearly the same."""
        kept = await tx.memories.of_scopes([scope], dm=hand.place.is_dm)
        return next((memory for memory in reversed(kept) if near_duplicate(memory.text, text)), None)

    def _checked(self, text: str) -> Clean | Outcome:
        found = check_text(text, self.limits.length)
        if isinstance(found, Problem):
            kind = OutcomeKind.EMPTY if found.kind is TextProblem.EMPTY else OutcomeKind.TOO_LONG
            return Outcome(kind, length=found.length, limit=found.limit)
        return found

    async def _target(self, tx: Tx, write: Write, hand: Hand) -> tuple[Memory, Verdict] | Outcome:
        """The entry to change, its scope locked, and the right to change it.

        What may not be read here does not exist here: the answer is the same as for an unknown id.
        """
        seen = None if write.memory_id is None else await tx.memories.get(write.memory_id)
        if seen is None:
            return Outcome(OutcomeKind.NOT_FOUND)
        await lock_scopes(tx, seen.scope, write.scope)
        memory = await tx.memories.get(seen.id)
        if memory is None or not _visible(memory, hand):
            return Outcome(OutcomeKind.NOT_FOUND)
        if memory.scope != seen.scope:
            return _changed(memory)
        verdict = await judge(tx, memory.scope, write, hand)
        if verdict is Verdict.REFUSE:
            return Outcome(OutcomeKind.NOT_ALLOWED, memory=memory, scope=memory.scope)
        if hand.is_model and write.op not in (Op.UPDATE, Op.DELETE):
            return Outcome(OutcomeKind.NOT_ALLOWED, memory=memory, scope=memory.scope)
        if hand.is_model and memory.pinned:
            return Outcome(OutcomeKind.PINNED_PROTECTED, memory=memory, scope=memory.scope)
        return memory, verdict

    async def _moved(self, tx: Tx, write: Write, hand: Hand, memory: Memory) -> bool:
        """Did the entry change since the writer saw it? For the model: since its turn began, by others."""
        if write.expected_version is not None:
            return memory.version != write.expected_version
        turn_id = hand.actor.turn_id
        if not hand.is_model or turn_id is None:
            return False
        turn = await tx.turns.get(turn_id)
        if turn is None:
            return False
        newest = next(iter(await tx.journal.of_memory(memory.id)), None)
        return newest is not None and newest.at > turn.started_at and newest.turn_id != turn_id

    async def _update(self, tx: Tx, write: Write, hand: Hand, memory: Memory, verdict: Verdict) -> Outcome:
        text = self._checked(write.text)
        if isinstance(text, Outcome):
            return text
        if text.text == memory.text:
            return Outcome(OutcomeKind.DUPLICATE, memory=memory, similar=memory, scope=memory.scope)
        if await self._moved(tx, write, hand, memory):
            return _changed(memory)
        dm_only = memory.dm_only or (hand.is_model and _in_own_dm(hand, memory.scope))
        same = await self.recorder.same(tx, memory.scope, text.norm, dm_only=dm_only, but=memory.id)
        if same is not None:
            return Outcome(OutcomeKind.DUPLICATE, memory=same, similar=same, scope=memory.scope)
        if verdict is Verdict.PROPOSE:
            return await self.recorder.propose(tx, write, hand, memory.scope, text.text, memory)
        after = await tx.memories.change(
            memory.id,
            memory.version,
            at=self.recorder.clock.now(),
            text=text.text,
            norm=text.norm,
            dm_only=dm_only,
            mentions=mentions_in(text.text),
        )
        if after is None:
            return _changed(memory)
        done = await self.recorder.record(tx, OutcomeKind.UPDATED, Op.UPDATE, hand, write, memory, after)
        return replace(done, note=USED_IN_SERVERS) if _told_in_dm(hand, after) else done

    async def _delete(self, tx: Tx, write: Write, hand: Hand, memory: Memory, verdict: Verdict) -> Outcome:
        if await self._moved(tx, write, hand, memory):
            return _changed(memory)
        if verdict is Verdict.PROPOSE:
            return await self.recorder.propose(tx, write, hand, memory.scope, "", memory)
        if not await tx.memories.remove(memory.id, memory.version):
            return _changed(memory)
        return await self.recorder.record(tx, OutcomeKind.DELETED, Op.DELETE, hand, write, memory, None)

    async def _pin(self, tx: Tx, write: Write, hand: Hand, memory: Memory) -> Outcome:
        wanted = write.op is Op.PIN
        kind = OutcomeKind.PINNED if wanted else OutcomeKind.UNPINNED
        if memory.pinned == wanted:
            return Outcome(kind, memory=memory, scope=memory.scope)
        if await self._moved(tx, write, hand, memory):
            return _changed(memory)
        full = await self.recorder.full(tx, memory.scope, pinned=wanted)
        if full is not None:
            return full
        now = self.recorder.clock.now()
        after = await tx.memories.change(memory.id, memory.version, at=now, pinned=wanted)
        if after is None:
            return _changed(memory)
        return await self.recorder.record(tx, kind, write.op, hand, write, memory, after)

    async def _widen(self, tx: Tx, write: Write, hand: Hand, memory: Memory) -> Outcome:
        """From DMs only to everywhere. Where the same text already is everywhere, the two become one."""
        if not memory.dm_only:
            return Outcome(OutcomeKind.WIDENED, memory=memory, scope=memory.scope)
        if await self._moved(tx, write, hand, memory):
            return _changed(memory)
        twin = await tx.memories.find_same(memory.scope, normalise(memory.text), False)
        if twin is not None:
            return await join(self.recorder, tx, write, hand, memory, twin, OutcomeKind.WIDENED)
        now = self.recorder.clock.now()
        after = await tx.memories.change(memory.id, memory.version, at=now, dm_only=False)
        if after is None:
            return _changed(memory)
        return await self.recorder.record(tx, OutcomeKind.WIDENED, Op.WIDEN, hand, write, memory, after)


def _visible(memory: Memory, hand: Hand) -> bool:
    """May who writes know of this entry here? The model: whatever its prompt can hold."""
    if hand.is_model:
        return hand.place.is_dm or not memory.dm_only
    return hand.actor.person is not None and may_read_memory(memory, hand.actor.person, hand.place)


def _in_own_dm(hand: Hand, scope: Scope) -> bool:
    return hand.place.is_dm and scope.kind is SubjectKind.USER


def _told_in_dm(hand: Hand, after: Memory) -> bool:
    """Did a person's words from a DM become known in servers? They edit on purpose, but must be told."""
    return not hand.is_model and _in_own_dm(hand, after.scope) and not after.dm_only


def _born_dm_only(write: Write, hand: Hand, scope: Scope) -> bool:
    """Saved in a DM: used in DMs only, until its owner widens it (SPEC §4.2)."""
    if scope.kind is not SubjectKind.USER:
        return False
    return hand.place.is_dm if write.dm_only is None else write.dm_only


def _changed(memory: Memory) -> Outcome:
    return Outcome(OutcomeKind.CHANGED_MEANWHILE, memory=memory, scope=memory.scope)


USED_IN_SERVERS = "It is used in servers too."
"""Follows an edit made in a DM of an entry that is used everywhere."""
