"""What the database holds at one moment, read whole by a connection of our own beside the product's.

One trip without a thread: cheap enough for before and after every step, and in the middle of a turn.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from memory.store.codec import from_micros, ids_of, maybe_time, memory_of, source_of, words_of
from memory.types import ActorKind, JournalEntry, Memory, Op, ProposalState, Scope, SubjectKind

Kept = dict[int, Memory]
"""All entries, by id."""


@dataclass(frozen=True, slots=True)
class Suggested:
    """A suggestion with all that was ever decided about it. ``guild_id``: where it was made, None in a DM."""

    id: int
    scope: Scope
    op: Op
    text: str
    memory_id: int | None
    keywords: tuple[str, ...]
    turn_id: int | None
    guild_id: int | None
    state: ProposalState
    created_at: datetime
    decided_by: int | None
    decided_at: datetime | None
    journal_id: int | None


@dataclass(frozen=True, slots=True)
class Spoken:
    """A turn, as far as the steps have to know it."""

    id: int
    channel_id: int
    guild_id: int | None
    lineage: str
    state: str
    triggers: tuple[int, ...]
    authors: tuple[int, ...]
    replies: tuple[int, ...]
    persona_id: int


@dataclass(frozen=True, slots=True)
class Moment:
    """Everything that counts, by id, oldest first."""

    memories: Kept
    journal: dict[int, JournalEntry]
    suggestions: dict[int, Suggested]
    turns: dict[int, Spoken]


class Eyes:
    """Reads; and makes the database empty for the next example."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA synchronous=OFF")

    def close(self) -> None:
        self._connection.close()

    def empty(self) -> None:
        """Nothing was ever written: own ids count from 1 again."""
        named = self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        tables = [name for (name,) in named if name != "alembic_version" and not name.startswith("sqlite_")]
        self._connection.execute("BEGIN IMMEDIATE")
        for name in (*tables, "sqlite_sequence"):
            self._connection.execute(f'DELETE FROM "{name}"')
        self._connection.execute("COMMIT")

    def memories(self) -> Kept:
        return {row[0]: _memory(row) for row in self._connection.execute(_MEMORIES)}

    def makers(self, suggestion: int) -> set[int]:
        """The turns that made it: the same one again is told of again, and waits for both."""
        rows = self._connection.execute(_MAKERS, (suggestion,))
        return {turn_id for (turn_id,) in rows if turn_id is not None}

    def moment(self) -> Moment:
        self._connection.execute("BEGIN")
        try:
            return Moment(
                self.memories(),
                {row[0]: _entry(row) for row in self._connection.execute(_JOURNAL)},
                {row[0]: _suggested(row) for row in self._connection.execute(_SUGGESTIONS)},
                {row[0]: _spoken(row) for row in self._connection.execute(_TURNS)},
            )
        finally:
            self._connection.execute("COMMIT")


_MEMORIES = """SELECT id, subject_kind, subject_id, lineage, text, pinned, created_at, updated_at, version,
    dm_only, keywords, channels, author_id, source_channel_id, source_message_id, source_guild_id
    FROM memories ORDER BY id"""
_JOURNAL = """SELECT id, memory_id, subject_kind, subject_id, lineage, op, actor_kind, actor_id, turn_id,
    before, after, at, source_channel_id, source_message_id, source_guild_id, undoes, undone_by
    FROM journal ORDER BY id"""
_SUGGESTIONS = """SELECT id, subject_kind, subject_id, lineage, op, text, memory_id, keywords, turn_id,
    source_guild_id, state, created_at, decided_by, decided_at, journal_id FROM proposals ORDER BY id"""
_TURNS = """SELECT id, channel_id, guild_id, lineage, state, trigger_ids, author_ids, reply_ids, persona_id
    FROM turns ORDER BY id"""
_MAKERS = "SELECT turn_id FROM notices WHERE proposal_id = ?"

# Most rows are as they were a step before.


@lru_cache(maxsize=4_096)
def _memory(row: tuple) -> Memory:
    number, kind, subject, lineage, text, pinned, created, updated, version, *more = row
    dm_only, keywords, channels, author, *source = more
    return Memory(
        number,
        Scope(SubjectKind(kind), subject, lineage),
        text,
        bool(pinned),
        from_micros(created),
        from_micros(updated),
        version,
        bool(dm_only),
        words_of(keywords),
        ids_of(channels),
        author,
        source_of(*source),
    )


@lru_cache(maxsize=4_096)
def _entry(row: tuple) -> JournalEntry:
    number, memory_id, kind, subject, lineage, op, actor, actor_id, turn_id, before, after, at, *more = row
    *source, undoes, undone_by = more
    return JournalEntry(
        number,
        memory_id,
        Scope(SubjectKind(kind), subject, lineage),
        Op(op),
        ActorKind(actor),
        actor_id,
        turn_id,
        memory_of(before),
        memory_of(after),
        from_micros(at),
        source_of(*source),
        undoes,
        undone_by,
    )


@lru_cache(maxsize=4_096)
def _suggested(row: tuple) -> Suggested:
    number, kind, subject, lineage, op, text, memory_id, keywords, turn_id, guild_id, *more = row
    state, created, decided_by, decided, journal_id = more
    return Suggested(
        number,
        Scope(SubjectKind(kind), subject, lineage),
        Op(op),
        text,
        memory_id,
        words_of(keywords),
        turn_id,
        guild_id,
        ProposalState(state),
        from_micros(created),
        decided_by,
        maybe_time(decided),
        journal_id,
    )


@lru_cache(maxsize=4_096)
def _spoken(row: tuple) -> Spoken:
    number, channel_id, guild_id, lineage, state, triggers, authors, replies, persona_id = row
    lists = [tuple(json.loads(text)) if text else () for text in (triggers, authors, replies)]
    return Spoken(number, channel_id, guild_id, lineage, state, *lists, persona_id)
