"""Keywords and channel tags, pure (SPEC §7).

No keywords: always on. Keywords: only when one of them appears in the visible context (window and current
input), case-insensitively after NFKC; a keyword in "quotes" matches whole words only. Channel tags by id.
When an entry has both, both must pass. Pinned entries ignore keywords, not channels.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

from memory.types import Memory

_QUOTES = "\"“”„«»'"


def fold(text: str) -> str:
    """How texts are compared: NFKC, then casefold."""
    return unicodedata.normalize("NFKC", text).casefold()


def context(lines: Iterable[str]) -> str:
    """The visible context of a turn, folded once for all keywords."""
    return fold("\n".join(lines))


def appears(keyword: str, folded: str) -> bool:
    """Does this keyword appear in a folded context?"""
    bare = keyword.strip()
    if len(bare) > 2 and bare[0] in _QUOTES and bare[-1] in _QUOTES:
        return _whole(fold(bare[1:-1].strip())).search(folded) is not None
    word = fold(bare)
    return bool(word) and word in folded


@lru_cache(maxsize=1_024)
def _whole(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")


def belongs(memory: Memory, here: Collection[int | None]) -> bool:
    """Is this entry for every channel, or for one of these?"""
    return not memory.channels or any(channel_id in here for channel_id in memory.channels)


def passes(memory: Memory, here: Collection[int | None], folded: str) -> bool:
    """Is this entry on in this channel and context? ``here``: the channel, and a thread's parent too."""
    if not belongs(memory, here):
        return False
    if not memory.keywords or memory.pinned:
        return True
    return any(appears(keyword, folded) for keyword in memory.keywords)


def active(memories: Sequence[Memory], here: Collection[int | None], lines: Iterable[str]) -> list[Memory]:
    """The entries that are on, in their order. The context is folded only if some entry needs it."""
    if not any(m.keywords or m.channels for m in memories):
        return list(memories)
    folded = context(lines)
    return [m for m in memories if passes(m, here, folded)]


def keyed(memory: Memory) -> bool:
    """Does this entry come and go with the conversation, and so stand behind the window (SPEC §5)?"""
    return bool(memory.keywords) and not memory.pinned
