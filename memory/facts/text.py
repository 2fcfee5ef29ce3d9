"""Text rules of saved memories, pure: what is kept of what was typed, and when two texts are the same.

Hostile text is data. It is cleaned of what nobody can see, stored as typed, and never interpreted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

_MENTION = re.compile(r"<@!?(\d{1,20})>")
_MAX_ID = 2**63 - 1

_JOINERS = "\u200c\u200d"
_MARKS = "\u200e\u200f\u061c"
"""Left-to-right, right-to-left and Arabic letter marks: harmless, and right-to-left text needs them."""

_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
"""Characters that are not format characters by category, and yet show nothing."""

_SELECTOR_CLASS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_SELECTOR_RUN = re.compile(f"([{_SELECTOR_CLASS}])[{_SELECTOR_CLASS}]+")
_LOOSE_SELECTOR = re.compile(rf"(^|\s)[{_SELECTOR_CLASS}]+")
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_LINE_ENDS = re.compile("\r\n?|\x85|\u2028|\u2029|\x0b|\x0c")
_SUPERSCRIPT = re.compile("[\u00b2\u00b3\u00b9\u2070-\u2079\u2080-\u2089]+")
_ENDING = " .,;:!\u2026\u3002\uff01\uff0c\uff1b\uff1a\u3001\uff0e"
"""Punctuation that ends a sentence without changing it. A question mark changes it, so it stays."""


class TextProblem(StrEnum):
    EMPTY = "empty"
    TOO_LONG = "too_long"


@dataclass(frozen=True, slots=True)
class Clean:
    """A text that may be stored, and the form that decides whether two texts are the same."""

    text: str
    norm: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a text may not be stored. ``length`` and ``limit`` are code points."""

    kind: TextProblem
    length: int = 0
    limit: int = 0


def clean(text: str) -> str:
    """``text`` without what nobody can see: controls, bidi overrides, lone surrogates, zero-width junk.

    Line breaks, tabs, emoji sequences, right-to-left marks and the joiners that scripts need are kept.
    """
    text = _LINE_ENDS.sub("\n", text)
    flags = [span for match in _FLAG.finditer(text) for span in range(match.start(), match.end())]
    kept_tags = frozenset(flags)
    chars = [char for at, char in enumerate(text) if at in kept_tags or _is_kept(char)]
    text = _SELECTOR_RUN.sub(r"\1", "".join(chars))
    text = _LOOSE_SELECTOR.sub(r"\1", text)
    return _without_loose_joiners(text).strip(" \t\n\u3000\u00a0" + _JOINERS + _MARKS).strip()


def _is_kept(char: str) -> bool:
    if char in "\n\t" or char in _JOINERS or char in _MARKS:
        return True
    code = ord(char)
    if code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:
        return False
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs")


def _without_loose_joiners(text: str) -> str:
    if "\u200c" not in text and "\u200d" not in text:
        return text
    kept: list[str] = []
    for at, char in enumerate(text):
        if char in _JOINERS:
            before = kept[-1] if kept else ""
            after = text[at + 1] if at + 1 < len(text) else ""
            if not (_joins(before) and _joins(after)):
                continue
        kept.append(char)
    return "".join(kept)


def _joins(char: str) -> bool:
    """Can a joiner stand beside this character? Emoji and scripts without capitals: yes."""
    if not char or char in _JOINERS or char.isspace():
        return False
    return unicodedata.category(char)[0] not in "NPZC" and unicodedata.category(char) not in ("Lu", "Ll")


def _is_ignored(char: str) -> bool:
    code = ord(char)
    if code == 0x200D or 0xE0020 <= code <= 0xE007F:
        return False  # parts of an emoji: clean() leaves them nowhere else
    return (
        unicodedata.category(char) in ("Cf", "Cs")
        or (unicodedata.category(char) == "Cc" and not char.isspace())
        or char in _FILLERS
        or 0xFE00 <= code <= 0xFE0F
        or 0xE0100 <= code <= 0xE01EF
    )


def _is_visible(char: str) -> bool:
    category = unicodedata.category(char)
    return not _is_ignored(char) and category not in ("Mn", "Me", "Zs", "Zl", "Zp", "Cc", "Cf")


def normalise(text: str) -> str:
    """The form in which duplicates are compared (SPEC §4.4).

    NFKC, casefolded, spaces folded, invisible characters gone, closing punctuation trimmed. Idempotent.
    """
    form = _SUPERSCRIPT.sub(lambda match: "^" + match.group(), clean(text))
    for _ in range(4):
        folded = _normalised_once(form)
        if folded == form:
            break
        form = folded
    return form


def _normalised_once(text: str) -> str:
    text = "".join(char for char in text if not _is_ignored(char))
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = " ".join(text.split())
    return text.rstrip(_ENDING) or text


def fold(text: str) -> str:
    """The form in which people search: :func:`normalise` without accents, punctuation kept.

    Quick: a search folds every entry that a person may read, at every key that they press.
    """
    if text.isascii():
        return " ".join(text.translate(_ASCII_UNSEEN).casefold().split())
    text = _without(text, lambda char: _is_ignored(char) or unicodedata.category(char) == "Cf")
    parts = unicodedata.normalize("NFKD", text).casefold()
    bare = _without(unicodedata.normalize("NFKD", parts), lambda char: unicodedata.category(char) == "Mn")
    return " ".join(bare.split())


def _without(text: str, unwanted: Callable[[str], bool]) -> str:
    """Each different character is judged once; a text has few."""
    gone = [ord(char) for char in set(text) if unwanted(char)]
    return text.translate(dict.fromkeys(gone)) if gone else text


_ASCII_UNSEEN = {code: None for code in range(128) if _is_ignored(chr(code))}


def check_text(text: str, limit: int) -> Clean | Problem:
    """Clean a text and judge it: :class:`Clean`, or a :class:`Problem` with the numbers.

    ``limit`` and lengths are code points after cleaning and trimming (SPEC §4.1).
    """
    kept = clean(text)
    if not any(_is_visible(char) for char in kept):
        return Problem(TextProblem.EMPTY, 0, limit)
    if len(kept) > limit:
        return Problem(TextProblem.TOO_LONG, len(kept), limit)
    return Clean(kept, normalise(kept))


def mentions_in(text: str) -> tuple[int, ...]:
    """Ids of the members that a text names as ``<@id>`` or ``<@!id>``, each once, in order."""
    ids = (int(match.group(1)) for match in _MENTION.finditer(text))
    return tuple(dict.fromkeys(number for number in ids if 0 < number <= _MAX_ID))


def check_keywords(words: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """The keywords that may be stored (≤ 5 of ≤ 50 code points, SPEC §4.1), and how many were dropped."""
    kept: dict[str, str] = {}
    dropped = 0
    for word in words:
        bare = " ".join(clean(word).split())
        if not any(_is_visible(char) for char in bare) or normalise(bare) in kept:
            continue
        if len(bare) > KEYWORD_LENGTH or len(kept) >= KEYWORDS:
            dropped += 1
            continue
        kept[normalise(bare)] = bare
    return tuple(kept.values()), dropped


KEYWORDS = 5
KEYWORD_LENGTH = 50
