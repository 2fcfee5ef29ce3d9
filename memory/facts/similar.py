"""When two memories say nearly the same, pure. Conservative: unsure means different.

Never when they differ in a negation, a number or a name (SPEC §4.4): such a difference is the fact itself.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from memory.facts.lexicon import JOINING, NEGATIONS, NUMBERS, PLAIN, TURNING

_TOKEN = re.compile(
    r"<[@#:a][^>\s]{1,60}>|https?://\S+|\S+@\S+\.\w+"
    r"|\U0001f3f4[\U000e0020-\U000e007f]+"
    r"|\d+(?:[.,:/-]\d+)*\w*|[^\W\d_](?:[^\W\d_]|['’`\u0300-\u036f](?=[^\W\d_]))*|[^\w\s.,;:!?'\"()\-…“”‘’`]"
)
_APOSTROPHES = "'’`"
_CLAUSE = re.compile(r"[,;:()\n]|[.!?…]\s|\s[-–—]\s")


@dataclass(frozen=True, slots=True)
class _Word:
    """One token: its folded form, and how it must be compared."""

    form: str
    exact: bool
    capital: bool
    latin: bool


def near_duplicate(a: str, b: str) -> bool:
    """Do two memories say nearly the same? False whenever a negation, a number or a name differs.

    True when one says what the other says in the same order with at most a few plain words more, or, for one
    short clause without negation and number, in another order.
    """
    left, right = _words(a), _words(b)
    if not left or not right or _bound(left, _is_negation) != _bound(right, _is_negation):
        return False
    if _bound(left, _is_number) != _bound(right, _is_number) or not _same_names(left, right):
        return False
    first, second = _content(left), _content(right)
    if len(first) > len(second):
        first, second = second, first
    if len(first) < 2 or len(first) < 0.6 * len(second):
        return False
    if len(first) != len(second) and not all(word.latin for word in (*first, *second)):
        return False
    if _inside(first, second):
        return True
    return _may_reorder(a, left) and _may_reorder(b, right) and _inside_unordered(first, second)


def _words(text: str) -> list[_Word]:
    words = []
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text)):
        raw = match.group()
        bare = _bare(raw)
        if raw.isascii() and raw.isalpha():  # most words, and a save looks at every word of its scope
            words.append(_Word(bare, False, raw[0].isupper(), True))
            continue
        letters = all(char.isalpha() or char in _APOSTROPHES or unicodedata.combining(char) for char in raw)
        latin = not letters or "LATIN" in unicodedata.name(raw[0], "")
        words.append(_Word(bare, not letters, raw[0].isupper(), latin))
    return words


def _bare(raw: str) -> str:
    form = unicodedata.normalize("NFKD", raw).casefold()
    if not (form.isascii() and form.isalnum()):
        form = "".join(c for c in form if unicodedata.category(c) != "Mn" and c not in _APOSTROPHES)
    if form.endswith("s") and raw[-2:-1] in tuple(_APOSTROPHES):
        form = form[:-1]
    return NUMBERS.get(form, NEGATIONS.get(form, form.strip() or raw))


def _is_negation(word: _Word) -> bool:
    return word.form in TURNING


def _is_number(word: _Word) -> bool:
    return word.form[0].isdigit() or word.form == "last"


def _is_plain(word: _Word) -> bool:
    return word.form in PLAIN and not _is_negation(word)


def _content(words: Sequence[_Word]) -> list[_Word]:
    return [word for word in words if not _is_plain(word)]


def _bound(words: Sequence[_Word], kind: Callable[[_Word], bool]) -> list[tuple[str, str]]:
    """Each negation or number with the stem of the word it belongs to, in order."""
    found: list[tuple[str, str]] = []
    for at, word in enumerate(words):
        if kind(word):
            following = next((each.form for each in words[at + 1 :] if not _is_plain(each)), "")
            found.append((word.form, _stem(following)))
    return found


def _stem(form: str) -> str:
    if len(form) > 3 and form.endswith("s"):
        return form[:-1]
    return form


def _same_names(left: Sequence[_Word], right: Sequence[_Word]) -> bool:
    """Is every capitalised or exact word of one side in the other, and do they come in the same order?"""
    left_forms, right_forms = {word.form for word in left}, {word.form for word in right}
    named = [_names(left), _names(right)]
    if any(form not in right_forms for form in named[0]) or any(form not in left_forms for form in named[1]):
        return False
    shared = set(named[0]) & set(named[1])
    return [form for form in named[0] if form in shared] == [form for form in named[1] if form in shared]


def _names(words: Sequence[_Word]) -> list[str]:
    return [word.form for word in words if (word.capital or word.exact) and not _is_plain(word)]


def _inside(short: Sequence[_Word], long: Sequence[_Word]) -> bool:
    rest = iter(long)
    return all(any(_same_word(word, other) for other in rest) for word in short)


def _inside_unordered(short: Sequence[_Word], long: Sequence[_Word]) -> bool:
    rest = list(long)
    for word in short:
        match = next((other for other in rest if _same_word(word, other)), None)
        if match is None:
            return False
        rest.remove(match)
    return True


def _may_reorder(text: str, words: Sequence[_Word]) -> bool:
    if _CLAUSE.search(text.strip().rstrip(".!")) or any(
        _is_negation(word) or _is_number(word) for word in words
    ):
        return False
    names = [word for at, word in enumerate(words) if word.capital and not _is_plain(word) and at > 0]
    return len(names) <= 1 and not any(word.form in JOINING for word in words)


def _same_word(one: _Word, other: _Word) -> bool:
    """The same word but for inflection or spelling. Spanish gender (hermano, hermana) is a difference."""
    a, b = one.form, other.form
    if a == b:
        return True
    if one.exact or other.exact or min(len(a), len(b)) < 3 or a[0] != b[0]:
        return False
    if {a + "s", a + "es"} & {b} or {b + "s", b + "es"} & {a}:
        return True
    if min(len(a), len(b)) < 4 or _gender(a) != _gender(b):
        return False
    common = next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    if common >= 4 and common >= 0.7 * max(len(a), len(b)):
        return True
    return min(len(a), len(b)) >= 5 and SequenceMatcher(None, a, b, autojunk=False).ratio() >= 0.9


def _gender(form: str) -> str:
    """The closing vowel that tells hermano from hermana, when there is one."""
    ending = form.removesuffix("s")[-1:]
    return ending if ending in ("o", "a") else ""
