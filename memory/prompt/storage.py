"""The ledger as stored JSON, and back. Reading ignores fields that a newer version may have added."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import cast

from memory.llm.port import Role
from memory.prompt.ledger import Block, Entry, Kind, Ledger, Status

_VERSION = 1


def to_json(ledger: Ledger, *, bare: bool = False) -> str:
    """One line of ASCII JSON. Redact first, where somebody is going to read it.

    ``bare``: the account without words and pictures, which is what is stored of a turn: what is deleted is
    gone here, too.
    """
    return json.dumps(
        {
            "v": _VERSION,
            "model": ledger.model,
            "encoding": ledger.encoding,
            "approximate": ledger.approximate,
            "context_window": ledger.context_window,
            "reserve": ledger.reserve,
            "budget": ledger.budget,
            "used": ledger.used,
            "strategy": ledger.strategy,
            "notes": list(ledger.notes),
            "entries": [_entry_out(e, bare=bare) for e in ledger.entries],
        },
        separators=(",", ":"),
    )


def from_json(text: str) -> Ledger:
    """Read what :func:`to_json` wrote. Raises ValueError on anything else."""
    try:
        data = cast("Mapping[str, object]", json.loads(text))
        return Ledger(
            model=str(data["model"]),
            encoding=str(data["encoding"]),
            approximate=bool(data["approximate"]),
            context_window=_int(data["context_window"]),
            reserve=_int(data["reserve"]),
            budget=_int(data["budget"]),
            used=_int(data["used"]),
            strategy=str(data["strategy"]),
            entries=tuple(_entry_in(e) for e in _list(data["entries"])),
            notes=tuple(str(note) for note in _list(data["notes"])),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a stored ledger: {error}") from error


def _entry_out(entry: Entry, *, bare: bool) -> dict[str, object]:
    """Only what differs from a block's defaults, to keep the row small."""
    block = entry.block
    optional: dict[str, object] = {
        "why": entry.why,
        "protected": block.protected,
        "pinned": block.pinned,
        "group": block.group,
        "memory_ids": list(block.memory_ids),
        "images": [] if bare else list(block.images),
        "join": block.join,
        "heading": block.heading,
        "under": block.under,
        "left_out": block.left_out,
    }
    nullable: dict[str, object] = {
        "owner": block.owner,
        "message_id": block.message_id,
        "entries": None if block.entries == 1 else block.entries,
        "at": None if block.at is None else block.at.isoformat(),
    }
    return {
        "id": block.id,
        "kind": block.kind.value,
        "title": block.title,
        "role": block.role.value,
        "text": "" if bare else block.text,
        "tokens": block.tokens,
        "status": entry.status.value,
        **{key: value for key, value in optional.items() if value},
        **{key: value for key, value in nullable.items() if value is not None},
    }


def _entry_in(value: object) -> Entry:
    data = _mapping(value)
    at = data.get("at")
    block = Block(
        id=str(data["id"]),
        kind=Kind(str(data["kind"])),
        title=str(data["title"]),
        role=Role(str(data["role"])),
        text=str(data["text"]),
        tokens=_int(data["tokens"]),
        protected=bool(data.get("protected")),
        pinned=bool(data.get("pinned")),
        group=str(data.get("group", "")),
        owner=_optional_int(data.get("owner")),
        memory_ids=tuple(_int(i) for i in _list(data.get("memory_ids", []))),
        message_id=_optional_int(data.get("message_id")),
        images=tuple(str(url) for url in _list(data.get("images", []))),
        join=str(data.get("join", "")),
        heading=bool(data.get("heading")),
        under=str(data.get("under", "")),
        at=None if at is None else datetime.fromisoformat(str(at)),
        left_out=str(data.get("left_out", "")),
        entries=_int(data.get("entries", 1)),
    )
    return Entry(block, Status(str(data["status"])), str(data.get("why", "")))


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise TypeError("an object was expected")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError("a list was expected")
    return value


def _int(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("a whole number was expected")
    return value


def _optional_int(value: object) -> int | None:
    return None if value is None else _int(value)
