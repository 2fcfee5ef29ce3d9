"""Keywords and channels of an entry: at most 5 keywords of 50 characters and 5 channels (SPEC §4.1, §7).

What a person gives beyond that is refused with the numbers; nothing is cut without a word.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory.facts.outcomes import Outcome, OutcomeKind, quote
from memory.facts.recording import Recorder, changed_since
from memory.facts.rules import check_keywords, clean, normalise
from memory.facts.text import KEYWORD_LENGTH, KEYWORDS
from memory.facts.writes import Hand, Write
from memory.store import Tx
from memory.types import JournalEntry, Memory, Op

CHANNELS = 5
"""Channels of one entry (SPEC §4.1)."""


def fault_in(keywords: Sequence[str], channels: Sequence[int] = ()) -> str:
    """Why these can't be an entry's tags, with the numbers; "" when they can."""
    bare = [" ".join(clean(word).split()) for word in keywords]
    for word in bare:
        if len(word) > KEYWORD_LENGTH:
            return (
                f"Nothing was saved: the keyword {quote(word, 60)} has {len(word):,} characters and the limit"
                f" is {KEYWORD_LENGTH}. Shorten it."
            )
    different = {normalise(word) for word in bare} - {""}
    if len(different) > KEYWORDS:
        return (
            f"Nothing was saved: these are {len(different):,} keywords and an entry takes {KEYWORDS}."
            f" Leave out {len(different) - KEYWORDS:,}."
        )
    if len(set(channels)) > CHANNELS:
        return (
            f"Nothing was saved: these are {len(set(channels)):,} channels and an entry takes {CHANNELS}."
            f" Leave out {len(set(channels)) - CHANNELS:,}."
        )
    return ""


def bad_tags(write: Write, memory: Memory | None = None) -> Outcome | None:
    """A refusal when a person's keywords or channels are over the limits."""
    fault = fault_in(write.keywords, write.channels)
    if not fault:
        return None
    scope = write.scope if memory is None else memory.scope
    return Outcome(OutcomeKind.BAD_TAGS, memory=memory, scope=scope, detail=fault)


async def tag(recorder: Recorder, tx: Tx, write: Write, hand: Hand, memory: Memory) -> Outcome:
    """Set all keywords and channels of an entry."""
    refused = bad_tags(write, memory)
    if refused is not None:
        return refused
    keywords, channels = check_keywords(write.keywords)[0], tuple(dict.fromkeys(write.channels))
    if (keywords, channels) == (memory.keywords, memory.channels):
        return Outcome(OutcomeKind.TAGGED, memory=memory, scope=memory.scope)
    now = recorder.clock.now()
    after = await tx.memories.change(memory.id, memory.version, at=now, keywords=keywords, channels=channels)
    if after is None:
        return Outcome(OutcomeKind.CHANGED_MEANWHILE, memory=memory, scope=memory.scope)
    return await recorder.record(tx, OutcomeKind.TAGGED, Op.TAG, hand, write, memory, after)


async def untag(
    recorder: Recorder, tx: Tx, write: Write, hand: Hand, entry: JournalEntry, now: Memory
) -> Outcome:
    """Undo of a TAG: the former keywords and channels, whatever the text says by now."""
    former, left = entry.before, entry.after
    assert former is not None and left is not None
    if (now.keywords, now.channels) != (left.keywords, left.channels):
        return changed_since(now, now.id, "Its keywords or channels were changed again. Set them anew.")
    back = await tx.memories.change(
        now.id,
        now.version,
        at=recorder.clock.now(),
        keywords=former.keywords,
        channels=former.channels,
    )
    if back is None:
        return changed_since(now, now.id, "")
    return await recorder.record(tx, OutcomeKind.UNDONE, Op.TAG, hand, write, now, back)
