"""What a memory panel lists: one server's entries, one's own, the pinned ones, or what a search found.

Nothing here decides who may read what: only what the engine gives to this person, in this place, is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cogs import _render
from cogs.views.entry_text import counted
from cogs.views.pages import cut
from memory.types import GLOBAL, Memory, Person, Place, Scope, SubjectKind

if TYPE_CHECKING:
    from memory.engine import Engine
    from memory.facts.service import Shelf

FOUND = 25
"""Most entries that a search shows: the best ones."""


@dataclass(frozen=True, slots=True)
class Tab:
    """One list. ``scope``: where Add writes, None when nothing can be added here. ``empty``: what to say
    and what to do when there is nothing."""

    label: str
    memories: tuple[Memory, ...]
    note: str
    empty: str
    scope: Scope | None = None
    other: bool = False
    """Of a persona that is not the one in use here: chosen from a menu rather than by a button."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The lists as they stand now.

    ``writable``: the scopes that this person may change. ``personas``: what to call each scope's persona.
    """

    tabs: tuple[Tab, ...]
    writable: frozenset[Scope]
    personas: Mapping[Scope, str] = field(default_factory=dict)


class Listing:
    """What to list. ``command`` opens it; ``title`` stands above it."""

    command = "memories"
    title = "Memories"

    async def load(self, engine: Engine, person: Person, place: Place) -> Loaded:
        raise NotImplementedError


class ServerListing(Listing):
    """Everything remembered about this server."""

    command = "memories"
    title = "What I remember about this server"

    async def load(self, engine: Engine, person: Person, place: Place) -> Loaded:
        shelves = await engine.facts.shelves(person, place)
        tabs = [_server_tab(engine, s) for s in shelves if s.scope.kind is SubjectKind.SERVER]
        return _loaded(tabs, shelves)


class PersonalListing(Listing):
    """Everything remembered about who looks. This list is shown to nobody else."""

    command = "personal memories"
    title = "What I remember about you"

    async def load(self, engine: Engine, person: Person, place: Place) -> Loaded:
        shelves = await engine.facts.shelves(person, place)
        own = [s for s in shelves if s.scope.kind is SubjectKind.USER]
        return _loaded([_personal_tab(engine, s) for s in own], shelves)


class PinListing(Listing):
    """The pinned entries of every scope that can be read here."""

    command = "pins list"
    title = "Pinned memories"

    async def load(self, engine: Engine, person: Person, place: Place) -> Loaded:
        shelves = await engine.facts.shelves(person, place)
        return _loaded([_pin_tab(engine, s) for s in shelves if s.pinned or not _other(s)], shelves)


class SearchListing(Listing):
    """What a search found, best first."""

    command = "memory search"
    title = "Search"

    def __init__(self, query: str) -> None:
        self.query = query

    async def load(self, engine: Engine, person: Person, place: Place) -> Loaded:
        found = await engine.facts.find(person, place, self.query, limit=FOUND)
        shelves = await engine.facts.shelves(person, place)
        asked = _render.escape(cut(" ".join(self.query.split()), 100))
        note = f"{len(found)} found for “{asked}”" if found else f"Nothing found for “{asked}”"
        empty = (
            "Try fewer or other words. `/memories` and `/personal memories` list everything that I keep."
            if place.guild_id is not None
            else "Try fewer or other words. `/personal memories` lists everything that I keep about you."
        )
        return _loaded([Tab("Results", tuple(found), note, empty)], shelves)


def _server_tab(engine: Engine, shelf: Shelf) -> Tab:
    note = _counts(engine, shelf)
    if not shelf.may_write:
        note += " · you can read these; changing them needs Manage Server"
    empty = "Nothing yet. " + (
        "Press **Add**, or tell me “remember that …” in a channel."
        if shelf.may_write
        else "Someone with Manage Server can add entries with `/memory add`."
    )
    return Tab(_label(shelf), _ordered(shelf.memories), note, empty, _add_to(shelf), _other(shelf))


def _personal_tab(engine: Engine, shelf: Shelf) -> Tab:
    note = f"{_counts(engine, shelf)} · this list is shown only to you"
    if shelf.hidden_dm_only:
        one = shelf.hidden_dm_only == 1
        kept, them = ("entry is", "it") if one else ("entries are", "them")
        note += f"\n-# 🔒 {shelf.hidden_dm_only} more {kept} kept for our DMs."
        note += f" Open this panel there to see {them}."
    empty = "Nothing yet. Press **Add**, or tell me “remember that …” while we talk."
    return Tab(_label(shelf), _ordered(shelf.memories), note, empty, _add_to(shelf), _other(shelf))


def _pin_tab(engine: Engine, shelf: Shelf) -> Tab:
    pinned = tuple(m for m in _ordered(shelf.memories) if m.pinned)
    note = f"{shelf.pinned} of {engine.settings.max_pinned_memories} pinned"
    empty = "Nothing is pinned here. Pin an entry with `/pins add`: I then always keep it in mind."
    who = "Server" if shelf.scope.kind is SubjectKind.SERVER else "You"
    which = "all personas" if shelf.scope.lineage == GLOBAL else shelf.persona
    return Tab(f"{who}, {which}", pinned, note, empty, other=_other(shelf))


def _counts(engine: Engine, shelf: Shelf) -> str:
    settings = engine.settings
    server = shelf.scope.kind is SubjectKind.SERVER
    limit = settings.max_server_memories if server else settings.max_personal_memories
    return counted(shelf.unpinned, shelf.pinned, limit, settings.max_pinned_memories)


def _label(shelf: Shelf) -> str:
    if shelf.scope.lineage == GLOBAL:
        return "All personas"
    return shelf.persona if shelf.named else shelf.persona[:1].upper() + shelf.persona[1:]


def _other(shelf: Shelf) -> bool:
    return not shelf.in_use and shelf.scope.lineage != GLOBAL


def _loaded(tabs: Sequence[Tab], shelves: Sequence[Shelf]) -> Loaded:
    personas = {shelf.scope: shelf.persona for shelf in shelves}
    return Loaded(tuple(tabs), frozenset(s.scope for s in shelves if s.may_write), personas)


def _ordered(memories: Sequence[Memory]) -> tuple[Memory, ...]:
    """Pinned first, then the newest."""
    return tuple(sorted(memories, key=lambda m: (not m.pinned, -m.updated_at.timestamp(), -m.id)))


def _add_to(shelf: Shelf) -> Scope | None:
    return shelf.scope if shelf.may_write else None
