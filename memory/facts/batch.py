"""Several new entries at once: all or none (SPEC §4.3). Each passes the write gate like any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory.facts.gate import WriteGate
from memory.facts.living import lock_scopes
from memory.facts.outcomes import Outcome, OutcomeKind, describe
from memory.facts.recording import Withdrawn
from memory.facts.writes import Hand, Write
from memory.store import Tx
from memory.types import Op, Scope, Source

_GOOD = (OutcomeKind.SAVED, OutcomeKind.DUPLICATE)


async def add_all(
    gate: WriteGate,
    tx: Tx,
    hand: Hand,
    scope: Scope,
    entries: Sequence[tuple[str, Source | None]],
    *,
    pinned: bool,
    called: str = "",
) -> list[Outcome]:
    """One outcome an entry, SAVED or DUPLICATE. Raises :class:`Withdrawn` with the first refusal."""
    await lock_scopes(tx, scope)
    before = await tx.memories.counts(scope)
    done: list[Outcome] = []
    for text, source in entries:
        write = Write(Op.ADD, scope=scope, text=text, pinned=pinned, source=source)
        outcome = await gate.apply(tx, write, hand)
        if outcome.kind is OutcomeKind.LIMIT_REACHED:
            wanted = len(entries) - sum(not each.wrote for each in done)
            raise Withdrawn(_no_room(replace(outcome, persona=called), before, wanted))
        if outcome.kind not in _GOOD:
            raise Withdrawn(outcome)
        done.append(outcome)
    return done


def _no_room(outcome: Outcome, before: tuple[int, int], wanted: int) -> Outcome:
    """The refusal with the counts as they are: what this batch had added was taken back."""
    unpinned, pins = before
    used, kind = (pins, "pinned") if outcome.of_pins else (unpinned, "unpinned")
    detail = (
        f"Nothing was saved: {describe(outcome.scope, outcome.persona)} hold {used} of {outcome.limit} {kind}"
        f" entries, so there is room for {max(0, outcome.limit - used)}, and this would add {wanted}."
    )
    return replace(outcome, unpinned=unpinned, pinned=pins, detail=detail)
