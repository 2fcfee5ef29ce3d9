"""Cutting a long text into messages. Pure.

A cut is made where a reader would breathe: between paragraphs, lines, sentences, words, in that order. It
never falls inside a code fence's sign, a mention, a link, an emoji or another character of several code
points; a code block that is cut is closed and opened again with its language. Nothing but white space at a
cut is lost. Lengths are code points.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

LIMIT = 2_000
"""Characters of one Discord message."""

FENCE = "```"
_CLOSE = "\n```"
_LANGUAGE = re.compile(r"[A-Za-z0-9_+\-.#]{1,20}(?=\n)")

_WHOLE = re.compile(
    r"<(?:@[!&]?|#|a?:\w{1,64}:|t:|/[^:<>\n]{1,128}:)-?\d{1,20}(?::[a-zA-Z])?>"  # mentions, emoji, times
    r"|\[[^\[\]\n]{1,200}\]\(\S{1,500}?\)"  # masked links
    r"|https?://\S{1,900}"
    r"|(?<!`)`[^`\n]{1,200}`(?!`)"
    r"|\*\*[^*\n]{1,200}\*\*|__[^_\n]{1,200}__|\|\|[^|\n]{1,200}\|\||~~[^~\n]{1,200}~~"
)
_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_LINE = re.compile(r"\n")
_SENTENCE = re.compile(r"(?<=[.!?…。！？])[\"'”’)\]]*\s+")
_WORD = re.compile(r"\s+")

_BOUNDARIES = ((_PARAGRAPH, 0.5), (_LINE, 0.4), (_SENTENCE, 0.3), (_WORD, 0.0))
"""Where to cut, best first, and how full a part must be at least for such a cut."""

_ATTACHED = frozenset("\u200d\ufe0e\ufe0f\u20e3")
_FAR = 64
"""Code points that are looked back at most for the beginning of one character."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One message: ``body`` is a slice of the text, the rest opens and closes a code block around it."""

    opening: str
    body: str
    closing: str

    @property
    def text(self) -> str:
        return f"{self.opening}{self.body}{self.closing}"


def split(text: str, limit: int = LIMIT) -> list[str]:
    """The messages that together say ``text``; none is empty. ``limit`` ≥ 60. [] for white space only."""
    return [piece.text for piece in pieces(text, limit)]


def pieces(text: str, limit: int = LIMIT) -> list[Piece]:
    """:func:`split` with what was added told apart from what was there."""
    return list(_Cutter(text, limit).run())


class _Cutter:
    def __init__(self, text: str, limit: int) -> None:
        self.text = text
        self.limit = limit
        self.fences = _fences(text)
        self.whole = [m.span() for m in _WHOLE.finditer(text)]
        self.whole_starts = [start for start, _ in self.whole]

    def run(self) -> Iterator[Piece]:
        start, end = _trimmed(self.text)
        while start < end:
            opening = self._reopening(start)
            cut = self._cut(start, end, self.limit - len(opening))
            inside = self._inside(cut)
            body = self.text[start:cut].rstrip("\n" if inside else None)
            if body.strip():
                yield Piece(opening, body, _CLOSE if inside else "")
            start = self._next(cut, end, inside)

    def _cut(self, start: int, end: int, room: int) -> int:
        """The end of the part that begins at ``start`` and has ``room`` characters."""
        if end - start + (len(_CLOSE) if self._inside(end) else 0) <= room:
            return end
        last = min(start + room - len(_CLOSE), end)
        for boundary, full in _BOUNDARIES:
            cut = self._last_boundary(boundary, start + int(room * full), start, last)
            if cut is not None:
                return self._at_fence(start, cut, room)
        return self._at_fence(start, self._hard(start, last), room)

    def _last_boundary(self, boundary: re.Pattern[str], least: int, start: int, last: int) -> int | None:
        found = None
        for match in boundary.finditer(self.text, max(least, start + 1), last + 1):
            if match.start() <= last and self._may_cut(match.start()):
                found = match.start()
        return found

    def _may_cut(self, at: int) -> bool:
        return not self._in_fence_sign(at) and not self._in_whole(at)

    def _hard(self, start: int, last: int) -> int:
        """No boundary: between two characters, before something whole if that leaves a part at all."""
        index = bisect_right(self.whole_starts, last) - 1
        if index >= 0:
            begin, finish = self.whole[index]
            if begin > start and begin < last < finish:
                last = begin
        cut = last
        while cut > max(start + 1, last - _FAR) and _joined(self.text, cut):
            cut -= 1
        if _joined(self.text, cut):
            cut = last
        while cut > start and self._in_fence_sign(cut):
            cut -= 1
        return cut if cut > start else last

    def _at_fence(self, start: int, cut: int, room: int) -> int:
        """Never leave an empty code block on either side of a cut."""
        if not self._inside(cut):
            return cut
        index = bisect_right(self.fences, cut) - 1
        opened = self.fences[index]
        if opened > start and not self.text[self._after_opening(opened) : cut].strip():
            return opened if self.text[start:opened].strip() else cut
        if index + 1 < len(self.fences):
            closing = self.fences[index + 1] + len(FENCE)
            if not self.text[cut : closing - len(FENCE)].strip() and closing - start <= room:
                return closing
        return cut

    def _next(self, cut: int, end: int, inside: bool) -> int:
        if inside:
            return cut + 1 if cut < end and self.text[cut] == "\n" else cut
        while cut < end and self.text[cut].isspace():
            cut += 1
        return cut

    def _inside(self, at: int) -> bool:
        """Is this place inside a code block?"""
        return bisect_right(self.fences, at - len(FENCE)) % 2 == 1

    def _in_fence_sign(self, at: int) -> bool:
        index = bisect_right(self.fences, at) - 1
        return index >= 0 and self.fences[index] < at < self.fences[index] + len(FENCE)

    def _in_whole(self, at: int) -> bool:
        index = bisect_right(self.whole_starts, at) - 1
        if index < 0:
            return False
        begin, finish = self.whole[index]
        return begin < at < finish

    def _reopening(self, start: int) -> str:
        if not self._inside(start):
            return ""
        opened = self.fences[bisect_right(self.fences, start - len(FENCE)) - 1]
        language = _LANGUAGE.match(self.text, opened + len(FENCE))
        return f"{FENCE}{language[0] if language else ''}\n"

    def _after_opening(self, opened: int) -> int:
        language = _LANGUAGE.match(self.text, opened + len(FENCE))
        return language.end() if language else opened + len(FENCE)


def _fences(text: str) -> list[int]:
    found, at = [], text.find(FENCE)
    while at != -1:
        found.append(at)
        at = text.find(FENCE, at + len(FENCE))
    return found


def _trimmed(text: str) -> tuple[int, int]:
    stripped = text.rstrip()
    return len(stripped) - len(stripped.lstrip()), len(stripped)


def _joined(text: str, at: int) -> bool:
    """Do the code points around this place belong to one character?"""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if after in _ATTACHED or before == "\u200d" or unicodedata.category(after).startswith("M"):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True
    if before == "\r" and after == "\n":
        return True
    return _is_flag(before) and _is_flag(after) and _flags_before(text, at) % 2 == 1


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flags_before(text: str, at: int) -> int:
    count = 0
    while at - count > 0 and count < _FAR and _is_flag(text[at - count - 1]):
        count += 1
    return count
