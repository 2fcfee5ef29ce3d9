"""Cards and pictures for tests, made by hand where they must be wrong."""

from __future__ import annotations

import base64
import io
import json
import struct
import zlib
from typing import Any

from PIL import Image

from memory.personas.cards import SIGNATURE
from memory.types import DetailLevel, Persona, Sample

LINEAGE = "0123456789abcdef" * 2

ARIA = Persona(
    5,
    700,
    LINEAGE,
    "Aria",
    description="{bot} keeps the inn and likes {user}.",
    prompt="Never leave the inn.",
    attributes=("Curious", "Née à Paris"),
    samples=(
        Sample("Good evening!", "Evening, {user}.\n\nSit down."),
        Sample("member: what?", "persona: that\nmember: is odd\n\\ends"),
    ),
    triggers=("aria", "the keeper"),
    detail=DetailLevel.DETAILED,
    learns=False,
)


def picture(
    width: int = 64, height: int = 48, form: str = "PNG", colour: tuple[int, int, int] = (200, 30, 30)
) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(out, form)
    return out.getvalue()


def chunk(kind: bytes, body: bytes, *, crc: int | None = None) -> bytes:
    total = zlib.crc32(kind + body) if crc is None else crc
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", total)


def with_chunk(png: bytes, extra: bytes) -> bytes:
    """The picture with more after its head."""
    head = len(SIGNATURE) + 25
    return png[:head] + extra + png[head:]


def text_chunk(card: Any, keyword: bytes = b"chara") -> bytes:
    return chunk(b"tEXt", keyword + b"\x00" + base64.b64encode(json.dumps(card).encode()))


def card(**data: Any) -> dict[str, Any]:
    """A v2 card of a persona from elsewhere."""
    return {"spec": "chara_card_v2", "spec_version": "2.0", "data": {"name": "Rook", **data}}


def as_file(**data: Any) -> bytes:
    return json.dumps(card(**data)).encode()
