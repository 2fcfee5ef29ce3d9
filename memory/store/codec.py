"""How values become columns and back. Pure.

Times are whole microseconds since 1970 UTC; lists are JSON text, empty when there is nothing; text never
holds NUL or half of a surrogate pair: PostgreSQL cannot keep them, and both databases must behave alike.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from memory.types import Memory, Scope, Source, SubjectKind

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
NORM_BYTES = 1_000
"""A longer normalised text is indexed by its digest: an index row of PostgreSQL holds 2,704 bytes."""

SUBJECT_KINDS = {kind.value: kind for kind in SubjectKind}


def to_micros(at: datetime) -> int:
    """Microseconds since 1970 UTC. A naive time is a bug and raises TypeError."""
    return (at - EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    return EPOCH + micros * _MICROSECOND  # exact, and the quickest of five ways measured


def maybe_time(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)


def clean(text: str) -> str:
    """``text`` with every NUL and lone surrogate replaced by U+FFFD; its length in code points is kept."""
    if text.isascii():
        return text.replace("\x00", "\ufffd") if "\x00" in text else text
    return _UNSTORABLE.sub("\ufffd", text)


def norm_key(norm: str) -> str:
    """What the unique index holds for a normalised text."""
    norm = clean(norm)
    encoded = norm.encode()
    return norm if len(encoded) <= NORM_BYTES else "sha256:" + hashlib.sha256(encoded).hexdigest()


def ids_text(ids: Iterable[int]) -> str:
    found = list(ids)
    return json.dumps(found) if found else ""


def words_text(words: Iterable[str]) -> str:
    found = [clean(word) for word in words]
    return json.dumps(found, ensure_ascii=False) if found else ""


def ids_of(text: str) -> tuple[int, ...]:
    return tuple(json.loads(text)) if text else ()


def words_of(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text else ()


def source_of(channel_id: int | None, message_id: int | None, guild_id: int | None) -> Source | None:
    return None if channel_id is None else Source(channel_id, message_id, guild_id)


def source_values(source: Source | None) -> dict[str, int | None]:
    """The three columns of a source."""
    if source is None:
        return {"source_channel_id": None, "source_message_id": None, "source_guild_id": None}
    return {
        "source_channel_id": source.channel_id,
        "source_message_id": source.message_id,
        "source_guild_id": source.guild_id,
    }


def scope_values(scope: Scope) -> dict[str, str | int]:
    """The three columns of a scope."""
    return {
        "subject_kind": scope.kind.value,
        "subject_id": scope.subject_id,
        "lineage": clean(scope.lineage),
    }


def memory_text(memory: Memory | None) -> str | None:
    """A memory as the journal keeps it."""
    if memory is None:
        return None
    source = memory.source
    return json.dumps(
        {
            "id": memory.id,
            "scope": [memory.scope.kind.value, memory.scope.subject_id, clean(memory.scope.lineage)],
            "text": clean(memory.text),
            "pinned": memory.pinned,
            "created": to_micros(memory.created_at),
            "updated": to_micros(memory.updated_at),
            "version": memory.version,
            "dm_only": memory.dm_only,
            "keywords": [clean(word) for word in memory.keywords],
            "channels": list(memory.channels),
            "author": memory.author_id,
            "source": None if source is None else [source.channel_id, source.message_id, source.guild_id],
        },
        ensure_ascii=False,
    )


def memory_of(text: str | None) -> Memory | None:
    """What :func:`memory_text` wrote."""
    if text is None:
        return None
    kept: dict[str, Any] = json.loads(text)
    kind, subject_id, lineage = kept["scope"]
    return Memory(
        id=kept["id"],
        scope=Scope(SubjectKind(kind), subject_id, lineage),
        text=kept["text"],
        pinned=kept["pinned"],
        created_at=from_micros(kept["created"]),
        updated_at=from_micros(kept["updated"]),
        version=kept["version"],
        dm_only=kept["dm_only"],
        keywords=tuple(kept["keywords"]),
        channels=tuple(kept["channels"]),
        author_id=kept["author"],
        source=None if kept["source"] is None else Source(*kept["source"]),
    )
