"""How much fits in one panel, pure. Discord shows 4,000 characters and 40 components a message.

Discord does not say how it counts a character, so the dearest way is used everywhere here: UTF-16 units, in
which an emoji costs two.
"""

from __future__ import annotations

from collections.abc import Sequence

from discord import ui

MAX_UNITS = 4_000
"""Displayed characters of a components v2 message (Discord)."""

MAX_COMPONENTS = 40
"""Components of a message, nested ones counted (Discord)."""

PAGE_ENTRIES = 5
"""Entries on one page: what can be read without scrolling, and what 40 components allow."""

PAGE_UNITS = 2_600
"""Room for the entries of a page; the rest of 4,000 is for headings, an announcement and the page line."""

ENTRY_UNITS = 1_250
"""Room for one entry on a page. Longer ones are cut there and whole when opened."""

CUT = "…"


def units(text: str) -> int:
    """The length of a text in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut(text: str, limit: int) -> str:
    """The text, or its beginning with an ellipsis, in at most ``limit`` units. Never splits an escape."""
    encoded = text.encode("utf-16-le", "surrogatepass")
    if len(encoded) // 2 <= limit:
        return text
    kept = encoded[: 2 * max(0, limit - units(CUT))].decode("utf-16-le", "ignore")
    return kept.rstrip("\\").rstrip() + CUT


def plan_pages(costs: Sequence[int], *, most: int = PAGE_ENTRIES, room: int = PAGE_UNITS) -> list[range]:
    """Cut entries of those costs (units) into pages: as many as fit, at least one, at most ``most``."""
    pages: list[range] = []
    start, used = 0, 0
    for index, cost in enumerate(costs):
        if index > start and (index - start >= most or used + cost > room):
            pages.append(range(start, index))
            start, used = index, 0
        used += cost
    pages.append(range(start, len(costs)))
    return pages


def measure(view: ui.LayoutView) -> tuple[int, int]:
    """What a panel costs: its components, and the units of everything it displays."""
    items = list(view.walk_children())
    shown = sum(units(item.content) for item in items if isinstance(item, ui.TextDisplay))
    return len(items), shown


def fits(view: ui.LayoutView) -> bool:
    """May Discord be given this panel?"""
    components, shown = measure(view)
    return components <= MAX_COMPONENTS and shown <= MAX_UNITS
