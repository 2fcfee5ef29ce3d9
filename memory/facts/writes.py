"""What the write gate is asked to do, by whom, and within which limits. Plain values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from memory.types import (
    DEFAULT_LINEAGE,
    Actor,
    ActorKind,
    JournalEntry,
    Op,
    Person,
    Place,
    Scope,
    Source,
    SubjectKind,
)

WAITING = 50
"""Proposals that may wait in one scope (SPEC §4.8)."""

WAITING_FOR = timedelta(days=7)
"""How long a proposal waits (SPEC §4.8)."""


@dataclass(frozen=True, slots=True)
class MemoryLimits:
    """Budgets of SPEC §4.1: entries per scope, code points of an entry, entries given per turn."""

    server: int = 100
    personal: int = 100
    pinned: int = 20
    length: int = 500
    injected: int = 100

    def unpinned(self, scope: Scope) -> int:
        """How many unpinned entries a scope holds."""
        return self.server if scope.kind is SubjectKind.SERVER else self.personal


@dataclass(frozen=True, slots=True)
class Write:
    """One wish. ADD names ``scope`` and ``text``; everything else names ``memory_id``.

    MOVE names the new ``scope`` too; TAG gives all ``keywords`` and ``channels`` that it has from then on.

    ``expected_version``: refuse when the entry is at another. ``confirmed``: the model was told of a near
    duplicate and repeated itself. ``dm_only``: overrides what the place implies (an approved suggestion).
    ``undoes``: this is the reverse of that entry, and then ``op`` is that entry's own.
    """

    op: Op
    scope: Scope | None = None
    memory_id: int | None = None
    text: str = ""
    pinned: bool = False
    keywords: tuple[str, ...] = ()
    channels: tuple[int, ...] = ()
    expected_version: int | None = None
    confirmed: bool = False
    dm_only: bool | None = None
    source: Source | None = None
    undoes: JournalEntry | None = None


@dataclass(frozen=True, slots=True)
class Hand:
    """Who writes, and from where. For the model: its lineage, the trigger authors, and who is in play."""

    actor: Actor
    place: Place
    lineage: str = DEFAULT_LINEAGE
    authors: tuple[Person, ...] = ()
    in_play: tuple[Person, ...] = ()

    @property
    def is_model(self) -> bool:
        """The model or the background pass: bound by pins, persona scopes and approval."""
        return self.actor.kind in (ActorKind.MODEL, ActorKind.BACKGROUND)

    @property
    def person_id(self) -> int | None:
        return None if self.actor.person is None else self.actor.person.id
