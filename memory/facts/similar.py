"""When two memories say nearly the same, pure. Conservative: unsure means different.

Never when they differ in a negation, a number or a name (SPEC §4.4): such a difference is the fact itself.
A save compares with every entry of its scope inside the write transaction, and anybody may write any entry:
the words read, the words in another order and the spellings compared are limited, and beyond is "unsure".
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from memory.facts.lexicon import JOINING, NEGATIONS, NUMBERS, PLAIN, TURNING

MOST_WORDS, MOST_LETTERS = 128, 4_000
"""Words and code points, once folded, of a text that can still be a near duplicate.

500 characters of prose have about 100 words.
"""

MOST_REORDERED = 24
"""Words with content of a text that may say the same in another order: one short clause."""

MOST_SPELLINGS = 8
"""Words of a pair whose spelling differs in the middle (colour, color); more of them is another text."""

LONGEST_SPELLING = 32
"""Letters of a word whose spelling may differ in the middle."""

_TOKEN = re.compile(
    r"<[@#:a][^>\s]{1,60}>|https?://\S+|(?<![\w.+%-])[\w.+%-]{1,64}+@[^\s@]{1,255}\.\w+"
    r"|\U0001f3f4[\U000e0020-\U000e007f]+"
    r"|\d+(?:[.,:/-]\d+)*\w*|[^\W\d_](?:[^\W\d_]|['’`\u0300-\u036f](?=[^\W\d_]))*|[^\w\s.,;:!?'\"()\-…“”‘’`]"
)
_APOSTROPHES = "'’`"
_PIECE = re.compile(r"\S{1,64}\s*")
_PLAIN = PLAIN - TURNING
_CLAUSE = re.compile(r"[,;:()\n]|[.!?…]\s|\s[-–—]\s")


class _Word(NamedTuple):
    """One token: its folded form, and how it must be compared."""

    form: str
    exact: bool
    capital: bool
    latin: bool
    plain: bool


class _Reading(NamedTuple):
    """One text, read once: its words and what must be equal."""

    words: tuple[_Word, ...]
    content: tuple[_Word, ...]
    negations: list[tuple[str, str]]
    numbers: list[tuple[str, str]]
    names: list[str]
    may_reorder: bool


def near_duplicate(a: str, b: str) -> bool:
    """Do two memories say nearly the same? False whenever a negation, a number or a name differs.

    True when one says what the other says in the same order with at most a few plain words more, or, for one
    short clause without negation and number, in another order.
    """
    left, right = _read(a), _read(b)
    if left is None or right is None:
        return False
    first, second = sorted((left.content, right.content), key=lambda words: (len(words), words))
    if len(first) < 2 or len(first) < 0.6 * len(second):
        return False
    if left.negations != right.negations or left.numbers != right.numbers or not _same_names(left, right):
        return False
    if len(first) != len(second) and not all(word.latin for word in (*first, *second)):
        return False
    spelling = _Spelling()
    if _inside(first, second, spelling):
        return True
    return left.may_reorder and right.may_reorder and _inside_unordered(first, second, spelling)


@lru_cache(maxsize=2)  # a save compares one text with many
def _read(text: str) -> _Reading | None:
    """None for a text without words or with too many to be sure."""
    folded = _folded(text)
    words = _words(folded) if len(folded) <= MOST_LETTERS else []
    if not words or len(words) > MOST_WORDS:
        return None
    content = tuple(word for word in words if not word.plain)
    negations, numbers = _bound(words, _is_negation), _bound(words, _is_number)
    names = [word.form for word in content if word.capital or word.exact]
    free = not negations and not numbers and len(content) <= MOST_REORDERED
    return _Reading(tuple(words), content, negations, numbers, names, free and _may_reorder(text, words))


def _folded(text: str) -> str:
    """Compatibility forms folded; given up when it grows beyond MOST_LETTERS.

    Piece by piece: putting a run of accents in order takes the square of its length, and one sign can become
    eighteen.
    """
    if text.isascii():
        return text
    folded, length = [], 0
    for piece in _PIECE.findall(text):
        folded.append(unicodedata.normalize("NFKC", piece))
        length += len(folded[-1])
        if length > MOST_LETTERS:
            break
    return "".join(folded)


def _words(folded: str) -> list[_Word]:
    """Up to one more than MOST_WORDS."""
    return [_word(match.group()) for match in islice(_TOKEN.finditer(folded), MOST_WORDS + 1)]


@lru_cache(maxsize=4096)  # a save looks at every word of its scope, and most are the same few
def _word(raw: str) -> _Word:
    if len(raw) == 1 and not raw.isalnum():
        return _Word(raw, True, False, True, False)
    form = _bare(raw)
    exact = not (
        raw.isalpha()
        or all(char.isalpha() or char in _APOSTROPHES or unicodedata.combining(char) for char in raw)
    )
    latin = exact or raw[0].isascii() or "LATIN" in unicodedata.name(raw[0], "")
    return _Word(form, exact, raw[0].isupper(), latin, form in _PLAIN)


def _bare(raw: str) -> str:
    form = (raw if raw.isascii() else unicodedata.normalize("NFKD", raw)).casefold()
    if not form.isalnum():
        form = "".join(c for c in form if unicodedata.category(c) != "Mn" and c not in _APOSTROPHES)
    if form.endswith("s") and raw[-2:-1] in tuple(_APOSTROPHES):
        form = form[:-1]
    return NUMBERS.get(form, NEGATIONS.get(form, form.strip() or raw))


def _is_negation(word: _Word) -> bool:
    return word.form in TURNING


def _is_number(word: _Word) -> bool:
    return word.form[0].isdigit() or word.form == "last"


def _bound(words: Sequence[_Word], kind: Callable[[_Word], bool]) -> list[tuple[str, str]]:
    """Each negation or number with the stem of the word it belongs to, last first."""
    found: list[tuple[str, str]] = []
    following = ""
    for word in reversed(words):
        if kind(word):
            found.append((word.form, _stem(following)))
        if not word.plain:
            following = word.form
    return found


def _stem(form: str) -> str:
    if len(form) > 3 and form.endswith("s"):
        return form[:-1]
    return form


def _same_names(left: _Reading, right: _Reading) -> bool:
    """Is every capitalised or exact word of one side in the other, and do they come in the same order?"""
    named, others = set(left.names), set(right.names)
    if not (named <= {word.form for word in right.words} and others <= {word.form for word in left.words}):
        return False
    shared = named & others
    return [form for form in left.names if form in shared] == [form for form in right.names if form in shared]


def _may_reorder(text: str, words: Sequence[_Word]) -> bool:
    if _CLAUSE.search(text.strip().rstrip(".!")):
        return False
    names = [word for at, word in enumerate(words) if word.capital and not word.plain and at > 0]
    return len(names) <= 1 and not any(word.form in JOINING for word in words)


def _inside(short: Sequence[_Word], long: Sequence[_Word], spelling: _Spelling) -> bool:
    rest = iter(long)
    return all(any(spelling.same(word, other) for other in rest) for word in short)


def _inside_unordered(short: Sequence[_Word], long: Sequence[_Word], spelling: _Spelling) -> bool:
    """Equal words find each other first; what is left is compared one by one."""
    equal = Counter(word.form for word in short) & Counter(word.form for word in long)
    unmatched, rest = _without(short, equal), _without(long, equal)
    for word in unmatched:
        match = next((other for other in rest if spelling.same(word, other)), None)
        if match is None:
            return False
        rest.remove(match)
    return True


def _without(words: Sequence[_Word], gone: Counter[str]) -> list[_Word]:
    left, kept = gone.copy(), []
    for word in words:
        if left[word.form] > 0:
            left[word.form] -= 1
        else:
            kept.append(word)
    return kept


class _Spelling:
    """Tells whether two words are the same but for inflection or spelling, of one pair of texts."""

    def __init__(self) -> None:
        self._left = MOST_SPELLINGS

    def same(self, one: _Word, other: _Word) -> bool:
        """Spanish gender (hermano, hermana) is a difference."""
        a, b = one.form, other.form
        if a == b:
            return True
        if one.exact or other.exact or a[0] != b[0] or min(len(a), len(b)) < 3:
            return False
        if len(a) > len(b):
            a, b = b, a
        if b in (a + "s", a + "es"):
            return True
        if len(a) < 4 or _gender(a) != _gender(b):
            return False
        if a[:4] == b[:4] and b.startswith(a[: math.ceil(0.7 * len(b))]) and len(a) >= 0.7 * len(b):
            return True
        return len(a) >= 5 and self._differs_little(a, b)

    def _differs_little(self, a: str, b: str) -> bool:
        """Nine of ten letters in common, in order."""
        if len(b) > LONGEST_SPELLING or 20 * len(a) < 9 * (len(a) + len(b)) or self._left <= 0:
            return False
        self._left -= 1
        return 20 * _in_common(a, b) >= 9 * (len(a) + len(b))


def _in_common(a: str, b: str) -> int:
    """The length of the longest common subsequence, in one step a letter (Hyyrö's bits)."""
    places: dict[str, int] = {}
    for at, letter in enumerate(a):
        places[letter] = places.get(letter, 0) | 1 << at
    every = (1 << len(a)) - 1
    open_places = every
    for letter in b:
        taken = open_places & places.get(letter, 0)
        open_places = ((open_places + taken) | (open_places - taken)) & every
    return len(a) - open_places.bit_count()


def _gender(form: str) -> str:
    """The closing vowel that tells hermano from hermana, when there is one."""
    ending = form.removesuffix("s")[-1:]
    return ending if ending in ("o", "a") else ""
