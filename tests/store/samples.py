"""Values that the store's tests share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from memory.store import Store, Tx
from memory.types import AuthorKind, Memory, Message, Place, Scope, Source

NOW = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
PLACE = Place(channel_id=700, guild_id=70, parent_id=7, name="kitchen")
HERE = Scope.server(70, "keepsake")
ANA = Scope.user(1001, "keepsake")
BIG = 2**63 - 1
HUGE_TEXT = "naïve 🎉👩‍👩‍👧 日本 ñandú ẞ"


def message(message_id: int, **changes: Any) -> Message:
    kept: dict[str, Any] = {
        "channel_id": 700,
        "author_id": 1001,
        "author_name": "Ana",
        "kind": AuthorKind.MEMBER,
        "text": f"text {message_id}",
        "line": f"[12:00] Ana: text {message_id}",
        "tokens": 9,
        "encoding": "o200k_base",
        "at": NOW,
    }
    return Message(id=message_id, **{**kept, **changes})


async def remember(tx: Tx, scope: Scope, text: str, **changes: Any) -> Memory:
    kept: dict[str, Any] = {
        "norm": text.casefold(),
        "pinned": False,
        "dm_only": False,
        "keywords": (),
        "channels": (),
        "author_id": 1001,
        "source": Source(700, 5, 70),
        "at": NOW,
        "mentions": (),
    }
    return await tx.memories.add(scope, text, **{**kept, **changes})


async def texts(store: Store, *scopes: Scope) -> list[str]:
    async with store.read() as tx:
        return [memory.text for memory in await tx.memories.of_scopes(scopes, dm=True)]
