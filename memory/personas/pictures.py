"""Avatars: any picture a person gives becomes a small PNG of ours, or is refused with the reason.

What is kept is drawn anew from the pixels, so that nothing else of the file lives on. Slow: call in a thread.
"""

from __future__ import annotations

import hashlib
import io
from typing import Any

from PIL import Image, ImageOps

from memory.personas.rules import PersonaRefused

SIDE = 512
"""Pixels of an avatar's longer side, at most."""

FILE_LIMIT = 10_000_000
"""Bytes of a picture or a card that is read at all."""

PIXEL_LIMIT = 25_000_000
"""Pixels of a picture that is unpacked; more is taken for an attack on our memory."""

FORMATS = ("PNG", "JPEG", "WEBP", "GIF")


def avatar(data: bytes) -> bytes:
    """The first frame as a PNG of at most 512 pixels. Raises :class:`PersonaRefused`."""
    check_size(len(data))
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as picture:
            width, height = picture.size
            if width * height > PIXEL_LIMIT:
                raise PersonaRefused(
                    f"That picture is {width:,} × {height:,} pixels; {PIXEL_LIMIT:,} in all are allowed."
                )
            picture.draft("RGB", (2 * SIDE, 2 * SIDE))  # a large JPEG is unpacked smaller
            upright = ImageOps.exif_transpose(picture).convert("RGBA")
            upright.thumbnail((SIDE, SIDE))
            return _png(upright)
    except PersonaRefused:
        raise
    except Image.DecompressionBombError:
        raise PersonaRefused(
            f"That picture has too many pixels; {PIXEL_LIMIT:,} in all are allowed."
        ) from None
    except Exception as error:  # a broken picture makes Pillow raise errors of a dozen kinds
        raise PersonaRefused(
            "I can't read that as a picture. PNG, JPEG, WebP and GIF work; the file may be damaged."
        ) from error


def plain(seed: str) -> bytes:
    """A picture of one colour, for a card of a persona without an avatar."""
    red, green, blue = (80 + part // 2 for part in hashlib.sha256(seed.encode()).digest()[:3])
    return _png(Image.new("RGB", (SIDE, SIDE), (red, green, blue)))


def digest(png: bytes) -> str:
    """By which a picture is kept, once however many have it."""
    return hashlib.sha256(png).hexdigest()


def check_size(length: int) -> None:
    """Refuses a file before it is read. Raises :class:`PersonaRefused`."""
    if length > FILE_LIMIT:
        have, most = f"{length / 1e6:,.1f} MB", f"{FILE_LIMIT / 1e6:,.0f} MB"
        raise PersonaRefused(f"That file has {have}; {most} are allowed. Nothing was changed.")


def _png(picture: Any) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG", optimize=True)
    return out.getvalue()
