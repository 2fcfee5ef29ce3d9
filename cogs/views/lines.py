"""The words of the one line that stands for all writes of a turn (SPEC §4.5, compact). It names no text."""

from __future__ import annotations

from cogs import _render
from cogs.views.pages import cut
from memory.ports import Tally

_NAMED = 5
"""Names in the one line of a turn."""


def line_words(line: Tally) -> str:
    """The one line that stands for all writes of a turn. It names nobody's text."""
    done = [(line.saved, "saved"), (line.changed, "changed"), (line.deleted, "deleted")]
    counts = [f"{word} {count}" for count, word in done if count]
    counts[:1] = [_memories(line)] if counts else []
    about = ", ".join(_render.escape(name) for name in line.about[:_NAMED])
    more = len(line.about) - _NAMED
    about += f" and {more} more" if more > 0 else ""
    undone = f" · {line.undone} undone" if line.undone else ""
    return cut(f"-# {', '.join(counts)} · about {about}{undone}", _render.MESSAGE_UNITS)


def _memories(line: Tally) -> str:
    for count, word in ((line.saved, "Saved"), (line.changed, "Changed"), (line.deleted, "Deleted")):
        if count:
            return f"{word} {count} {'memory' if count == 1 else 'memories'}"
    return ""


def cards_words(mine: int, all_of_them: int, most: int) -> str:
    """What stands above the cards of a line, for who asked to see them."""
    others = all_of_them - mine
    said = []
    if others:
        whose = "1 is" if others == 1 else f"{others} are"
        said.append(f"{whose} about other members, and only they are shown what it says.")
    if mine > most:
        said.append(f"{mine - most} more are not shown here: `/memories` and `/personal memories` list all.")
    return "\n".join(said) or "Only you see this."
