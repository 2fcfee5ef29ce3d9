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

WIDTH = 1_000
SCALE = 2
"""Drawn at twice the size, so that it is sharp on dense screens."""

LEAST_PIXELS = 4
"""A part that is there is never too thin to be seen."""

_GROUND, _CARD = (30, 31, 34), (43, 45, 49)
_TEXT, _DIM, _FREE, _LINE = (242, 243, 245), (181, 186, 193), (64, 66, 73), (30, 31, 34)
_HATCH, _LENS = (128, 132, 142), (54, 57, 63)

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
        kind, count = entry.block.kind, 0 if entry.block.heading else 1
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
    """The layout: a title, the whole window as a thin bar, the prompt in it as a thick one, a legend."""

    margin, thin_top, thin_height, thick_top, thick_height, row = 32, 116, 22, 176, 56, 34

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._fonts: dict[int, ImageFont.FreeTypeFont | ImageFont.ImageFont] = {}
        self.parts = parts(ledger)
        self.inside = [part for part in self.parts if part.tokens]
        self.numbers = {part.kind: number for number, part in enumerate(self.inside, start=1)}
        self.free = max(0, ledger.budget - ledger.used)
        self.kept = max(0, ledger.context_window - ledger.budget)
        self.legend_top = self.thick_top + self.thick_height + 28
        height = self.legend_top + (len(self.parts) + 2) * self.row + 24
        self.image = Image.new("RGB", (WIDTH * SCALE, height * SCALE), _GROUND)
        self.pen = ImageDraw.Draw(self.image)
        self.pen.rounded_rectangle(self._box(8, 8, WIDTH - 8, height - 8), 14 * SCALE, fill=_CARD)
        self._title()
        self._bars()
        self._legend()

    def png(self) -> bytes:
        out = io.BytesIO()
        self.image.save(out, "PNG", compress_level=6)
        return out.getvalue()

    def _title(self) -> None:
        ledger = self.ledger
        about = "about " if ledger.approximate else ""
        share = 100 * ledger.used / ledger.budget if ledger.budget > 0 else 0
        self._write(self.margin, 60, f"{about}{ledger.used:,} of {ledger.budget:,} tokens", 28, _TEXT)
        self._write(WIDTH - self.margin, 60, f"{share:.0f} % of the budget", 20, _DIM, right=True)
        note = (
            f"{_plain(ledger.model)} · window {ledger.context_window:,} · strategy {_plain(ledger.strategy)}"
        )
        self._write(self.margin, 92, note, 18, _DIM)

    def _bars(self) -> None:
        """The thin bar shows how much of the window is used; the thick one enlarges that part."""
        left, room = self.margin * SCALE, (WIDTH - 2 * self.margin) * SCALE
        tokens = [part.tokens for part in self.inside]
        used, free, kept = widths([sum(tokens), self.free, self.kept], room)
        thin_end = (self.thin_top + self.thin_height) * SCALE
        thick_top = self.thick_top * SCALE
        self.pen.polygon(
            ((left, thin_end), (left + used, thin_end), (left + room, thick_top), (left, thick_top)),
            fill=_LENS,
        )
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
        font, label = self._font(18 * SCALE), str(self.numbers[part.kind])
        if self.pen.textlength(label, font=font) + 6 * SCALE > width:
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
        for offset in range(-tall, width, 7 * SCALE):
            pen.line((offset, tall, offset + tall, 0), fill=_HATCH, width=2 * SCALE)
        pen.rectangle((0, 0, width - 1, tall - 1), outline=_HATCH, width=SCALE)
        self.image.paste(tile, (x, top * SCALE))

    def _legend(self) -> None:
        y = self.legend_top
        for part in self.parts:
            number = self.numbers.get(part.kind)
            box = self._box(self.margin, y + 3, self.margin + 18, y + 21)
            if number:
                self.pen.rounded_rectangle(box, 4 * SCALE, fill=COLOURS[part.kind])
            else:
                self.pen.rounded_rectangle(box, 4 * SCALE, outline=_HATCH, width=SCALE)
            self._row(y, str(number or ""), part.kind.value.capitalize(), _detail(part), part.tokens)
            y += self.row
        free = self._box(self.margin, y + 3, self.margin + 18, y + 21)
        self.pen.rounded_rectangle(free, 4 * SCALE, fill=_FREE)
        self._row(y, "", "Free", "", self.free)
        y += self.row
        self._hatch(self.margin * SCALE, 18 * SCALE, y + 3, 18)
        self._row(y, "", "Kept for reply and tools", "", self.kept)

    def _row(self, y: int, number: str, name: str, detail: str, tokens: int) -> None:
        line, left, right = y + 20, self.margin, WIDTH - self.margin
        self._write(left + 52, line, number, 20, _DIM, right=True)
        self._write(left + 66, line, name, 20, _TEXT)
        self._write(left + 360, line, detail, 18, _DIM)
        share = 100 * tokens / max(1, self.ledger.context_window)
        self._write(right - 100, line, f"{tokens:,}", 20, _TEXT, right=True)
        self._write(right, line, f"{share:.1f} %", 18, _DIM, right=True)

    def _write(self, x: float, y: float, text: str, size: int, ink: Colour, *, right: bool = False) -> None:
        """Write with the letters standing on ``y``."""
        anchor = "rs" if right else "ls"
        self.pen.text((x * SCALE, y * SCALE), text, font=self._font(size * SCALE), fill=ink, anchor=anchor)

    def _font(self, size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
        if size not in self._fonts:
            self._fonts[size] = ImageFont.load_default(size)
        return self._fonts[size]

    def _box(self, left: int, top: int, right: int, bottom: int) -> tuple[int, int, int, int]:
        return left * SCALE, top * SCALE, right * SCALE, bottom * SCALE


def _detail(part: Part) -> str:
    words = [f"{part.blocks:,} {'part' if part.blocks == 1 else 'parts'}"] if part.blocks else []
    if part.left_out:
        words.append(f"{part.left_out:,} left out")
    return ", ".join(words)


def _is_light(colour: Colour) -> bool:
    red, green, blue = colour
    return 0.299 * red + 0.587 * green + 0.114 * blue > 140


def _plain(text: str) -> str:
    """What the bundled font can show of a name."""
    return "".join(c if " " <= c <= "~" else "?" for c in text)[:48]
