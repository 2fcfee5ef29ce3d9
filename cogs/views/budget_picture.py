"""A picture of the model's context window: what fills it, what is free, what is kept for the reply.

Pure drawing with Pillow and its own font; slow enough to run in a thread. The colours are told apart by the
colour-blind too (Okabe and Ito's, with lighter and darker neighbours), and every part also carries a number
that its row in the legend repeats.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

from memory.prompt.ledger import Kind, Ledger, Status

WIDTH = 540
"""Pixels as Discord shows it: a picture inside a message's box is about that wide."""

SCALE = 3
"""Drawn at three times the size, so that it is sharp on dense screens."""

TYPE = 16
"""The only size of its letters, in pixels as shown: no smaller than the message's own words."""

LEAST_PIXELS = 4
"""A part that is there is never too thin to be seen."""

_CARD = (43, 45, 49)
_TEXT, _DIM, _FREE, _LINE = (242, 243, 245), (181, 186, 193), (64, 66, 73), (30, 31, 34)
_HATCH, _LENS = (128, 132, 142), (54, 57, 63)


class Columns:
    """Where the columns of the legend stand: numbers by their right edge, words by their left."""

    number, name, left_out = 50, 58, 268
    tokens, share = WIDTH - 86, WIDTH - 16


Colour = tuple[int, int, int]

COLOURS: dict[Kind, Colour] = {
    Kind.SYSTEM: (0, 114, 178),
    Kind.SERVER_PROMPT: (86, 180, 233),
    Kind.CHANNEL_PROMPT: (166, 214, 245),
    Kind.PERSONA: (204, 121, 167),
    Kind.LORE: (232, 178, 208),
    Kind.SERVER_MEMORIES: (230, 159, 0),
    Kind.CONDITIONING: (148, 103, 189),
    Kind.DIALOGUE: (190, 160, 215),
    Kind.SUMMARY: (0, 158, 115),
    Kind.WINDOW: (110, 205, 175),
    Kind.PERSONAL_MEMORIES: (240, 228, 66),
    Kind.ACTIVATED: (178, 120, 60),
    Kind.PASSAGES: (213, 94, 0),
    Kind.NOTES: (255, 160, 122),
    Kind.INPUT: (242, 243, 245),
}


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of block in the prompt. Tokens that are in, blocks that are in, blocks that are out."""

    kind: Kind
    tokens: int
    blocks: int
    left_out: int


def parts(ledger: Ledger) -> list[Part]:
    """What fills the prompt, in prompt order. Kinds with nothing in and nothing out are left away."""
    tokens: dict[Kind, int] = {}
    inside: dict[Kind, int] = {}
    outside: dict[Kind, int] = {}
    for entry in ledger.entries:
        kind, count = entry.block.kind, 0 if entry.block.heading else entry.block.entries
        if entry.status is Status.INCLUDED:
            tokens[kind] = tokens.get(kind, 0) + entry.block.tokens
            inside[kind] = inside.get(kind, 0) + count
        else:
            outside[kind] = outside.get(kind, 0) + count
    found = [Part(k, tokens.get(k, 0), inside.get(k, 0), outside.get(k, 0)) for k in Kind]
    return [part for part in found if part.tokens or part.blocks or part.left_out]


def widths(sizes: Sequence[int], room: int) -> list[int]:
    """Pixels for parts of those sizes that fill ``room`` exactly. Whatever is there is at least seen."""
    total = sum(sizes)
    if total <= 0:
        return [0 for _ in sizes]
    least = [min(LEAST_PIXELS, room // max(1, len(sizes))) if size > 0 else 0 for size in sizes]
    spare = room - sum(least)
    exact = [spare * size / total for size in sizes]
    whole = [int(value) for value in exact]
    rest = spare - sum(whole)
    order = sorted(range(len(sizes)), key=lambda i: (sizes[i] > 0, exact[i] - whole[i]), reverse=True)
    for index in order[:rest]:
        whole[index] += 1
    return [a + b for a, b in zip(least, whole, strict=True)]


def draw(ledger: Ledger) -> bytes:
    """The picture as PNG."""
    return _Picture(ledger).png()


class _Picture:
    """The layout: the whole window as a thin bar, the prompt in it as a thick one, a legend with its heads.

    What stands above it in the message (the model, the limit, the strategy) is not said again.
    """

    margin, thin_top, thin_height, thick_top, thick_height, row = 16, 40, 16, 100, 40, 26

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._fonts: dict[int, ImageFont.FreeTypeFont | ImageFont.ImageFont] = {}
        self.parts = parts(ledger)
        self.inside = [part for part in self.parts if part.tokens]
        self.numbers = {part.kind: number for number, part in enumerate(self.inside, start=1)}
        self.free = max(0, ledger.budget - ledger.used)
        self.kept = max(0, ledger.context_window - ledger.budget)
        self.legend_top = self.thick_top + self.thick_height + 12
        height = self.legend_top + (len(self.parts) + 3) * self.row + 12
        self.image = Image.new("RGB", (WIDTH * SCALE, height * SCALE), _CARD)
        self.pen = ImageDraw.Draw(self.image)
        self._bars()
        self._legend()

    def png(self) -> bytes:
        out = io.BytesIO()
        self.image.save(out, "PNG", compress_level=6)
        return out.getvalue()

    def _bars(self) -> None:
        """The thin bar shows how much of the window is used; the thick one enlarges that part."""
        left, room = self.margin * SCALE, (WIDTH - 2 * self.margin) * SCALE
        tokens = [part.tokens for part in self.inside]
        used, free, kept = widths([sum(tokens), self.free, self.kept], room)
        thin_end = (self.thin_top + self.thin_height) * SCALE
        thick_top = self.thick_top * SCALE
        self._write(self.margin, self.thin_top - 10, "The model's whole limit", _DIM)
        self.pen.polygon(
            ((left, thin_end), (left + used, thin_end), (left + room, thick_top), (left, thick_top)),
            fill=_LENS,
        )
        self._write(self.margin + 8, self.thick_top - 12, "The used part of it, enlarged", _DIM)
        self._colours(left, widths(tokens, used), self.thin_top, self.thin_height, labels=False)
        self._fill(left + used, free, self.thin_top, self.thin_height, _FREE)
        self._hatch(left + used + free, kept, self.thin_top, self.thin_height)
        self._colours(left, widths(tokens, room), self.thick_top, self.thick_height, labels=True)

    def _colours(self, x: int, sizes: Sequence[int], top: int, height: int, *, labels: bool) -> None:
        for part, width in zip(self.inside, sizes, strict=True):
            self._fill(x, width, top, height, COLOURS[part.kind])
            if width > 3 * SCALE:
                self.pen.rectangle((x, top * SCALE, x + 1, (top + height) * SCALE - 1), fill=_LINE)
            if labels:
                self._label(x, width, part)
            x += width

    def _label(self, x: int, width: int, part: Part) -> None:
        font, label = self._font(TYPE * SCALE), str(self.numbers[part.kind])
        if self.pen.textlength(label, font=font) + 4 * SCALE > width:
            return
        ink = (20, 20, 22) if _is_light(COLOURS[part.kind]) else (255, 255, 255)
        middle = (self.thick_top + self.thick_height / 2) * SCALE
        self.pen.text((x + width / 2, middle), label, font=font, fill=ink, anchor="mm")

    def _fill(self, x: int, width: int, top: int, height: int, colour: Colour) -> None:
        if width > 0:
            self.pen.rectangle((x, top * SCALE, x + width - 1, (top + height) * SCALE - 1), fill=colour)

    def _hatch(self, x: int, width: int, top: int, height: int) -> None:
        tall = height * SCALE
        if width <= 0:
            return
        tile = Image.new("RGB", (width, tall), _CARD)
        pen = ImageDraw.Draw(tile)
        for offset in range(-tall, width, 5 * SCALE):
            pen.line((offset, tall, offset + tall, 0), fill=_HATCH, width=SCALE)
        pen.rectangle((0, 0, width - 1, tall - 1), outline=_HATCH, width=SCALE)
        self.image.paste(tile, (x, top * SCALE))

    def _legend(self) -> None:
        y = self.legend_top
        tokens = "tokens, about" if self.ledger.approximate else "tokens"
        self._write(Columns.tokens, y + 18, tokens, _DIM, right=True)
        self._write(Columns.share, y + 18, "of limit", _DIM, right=True)
        y += self.row
        for part in self.parts:
            number = self.numbers.get(part.kind)
            if number:
                self.pen.rounded_rectangle(self._swatch(y), 3 * SCALE, fill=COLOURS[part.kind])
            else:
                self.pen.rounded_rectangle(self._swatch(y), 3 * SCALE, outline=_HATCH, width=SCALE)
            self._row(y, str(number or ""), part.kind.label.capitalize(), part.tokens, _left_out(part))
            y += self.row
        self.pen.rounded_rectangle(self._swatch(y), 3 * SCALE, fill=_FREE)
        self._row(y, "", "Free", self.free)
        y += self.row
        self._hatch(self.margin * SCALE, 15 * SCALE, y + 5, 15)
        self._row(y, "", "Kept for reply and tools", self.kept)

    def _row(self, y: int, number: str, name: str, tokens: int, detail: str = "") -> None:
        line = y + 18
        self._write(Columns.number, line, number, _DIM, right=True)
        self._write(Columns.name, line, name, _TEXT)
        self._write(Columns.left_out, line, detail, _DIM)
        self._write(Columns.tokens, line, f"{tokens:,}", _TEXT, right=True)
        self._write(Columns.share, line, share(tokens, self.ledger.context_window), _DIM, right=True)

    def _write(self, x: float, y: float, text: str, ink: Colour, *, right: bool = False) -> None:
        """Write with the letters standing on ``y``."""
        anchor = "rs" if right else "ls"
        self.pen.text((x * SCALE, y * SCALE), text, font=self._font(TYPE * SCALE), fill=ink, anchor=anchor)

    def _font(self, size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
        if size not in self._fonts:
            self._fonts[size] = ImageFont.load_default(size)
        return self._fonts[size]

    def _swatch(self, y: int) -> tuple[int, int, int, int]:
        left, top, size = self.margin * SCALE, (y + 5) * SCALE, 15 * SCALE
        return left, top, left + size, top + size


def share(tokens: int, whole: int) -> str:
    """Per cent of the whole; what is there is never rounded to nothing."""
    percent = 100 * tokens / max(1, whole)
    return "< 0.1 %" if tokens and percent < 0.1 else f"{percent:.1f} %"


def _left_out(part: Part) -> str:
    return f"{part.left_out:,} left out" if part.left_out else ""


def _is_light(colour: Colour) -> bool:
    red, green, blue = colour
    return 0.299 * red + 0.587 * green + 0.114 * blue > 140
