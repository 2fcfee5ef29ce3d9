"""A memory's words, pure: the tokens of a text, each in the form it is compared by.

A word keeps the form it has, except that words and phrases of one meaning (lexicon) get one form. How many
words and letters are read is limited: anybody may write any text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from memory.facts import lexicon as lex

MOST_WORDS, MOST_LETTERS = 100, 2_000
"""Words and code points, once folded, of a text that can still be a near duplicate.

500 characters of prose have about 100 words.
"""

_NUMBER = (
    r"(?<![\w.])[-−]?[.,]?\d+(?:[.,:/-]\d+)*(?:(?:st|nd|rd|th)\b)?|\d+(?:[.,:/-]\d+)*(?:(?:st|nd|rd|th)\b)?"
)
_LETTERS = r"[^\W\d_](?:[^\W\d_]|['’`\u0300-\u036f](?=[^\W\d_]))*"
_SIGN = r"[^\w\s.,;:!?'\"()\-…“”‘’`]"
_FLAG = r"\U0001f3f4[\U000e0020-\U000e007f]+"
_ADDRESS = r"<[@#:a][^>\s]{1,60}>|https?://\S+|(?<![\w.+%-])[\w.+%-]{1,64}+@[^\s@]{1,255}\.\w+"
_SIMPLE = re.compile(rf"{_LETTERS}|{_NUMBER}|[,;:().!?…\n–—]|{_FLAG}|{_SIGN}")
_TOKEN = re.compile(f"{_ADDRESS}|{_SIMPLE.pattern}")
_PAUSES, _ENDINGS = frozenset(",;:().!?…\n–—"), frozenset(".!?:;\n")
_ADDRESSED = re.compile(r"[<@]|://")
_APOSTROPHES = "'’`"
_CONTRACTED = re.compile(r"(?<=\w)['’`](re|m|ve|ll)\b", re.IGNORECASE)
_FULL = {"re": " are", "m": " am", "ve": " have", "ll": " will"}
_NOON = re.compile(r"\b([ap])\.\s?m\b\.?", re.IGNORECASE)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_PIECE = re.compile(r"\S{1,64}\s*")
_ACUTE = "\u0301"


class Word(NamedTuple):
    """One token: the form it is compared by, and how."""

    form: str
    raw: str = ""
    """As the person wrote it, lower case: pronouns and prepositions are told by it."""
    capital: bool = False
    exact: bool = False
    owner: bool = False
    """Ends in 's."""
    opens: bool = False
    """The first of a sentence, where a capital says nothing."""
    paused: bool = False
    """Behind a comma or the like."""


def languages(words: Sequence[Word], spoken: set[str]) -> tuple[bool, bool, bool]:
    """Which of the three speak in it: two in one sentence is usual."""
    english, spanish = not spoken.isdisjoint(lex.ENGLISH), not spoken.isdisjoint(lex.SPANISH)
    filipino = not spoken.isdisjoint(lex.FILIPINO)
    if not filipino and not spanish and not spoken.isdisjoint(lex.BEFORE_NAMES):
        filipino = any(one.raw in lex.BEFORE_NAMES and other.capital for one, other in pairwise(words))
    return english, spanish, filipino


def folded(text: str) -> str:
    """Compatibility forms folded; given up when it grows beyond MOST_LETTERS.

    Piece by piece: putting a run of accents in order takes the square of its length, and one sign can become
    eighteen.
    """
    folded, length = [], 0
    for piece in [text] if text.isascii() else _PIECE.findall(text):
        folded.append(unicodedata.normalize("NFKC", piece))
        length += len(folded[-1])
        if length > MOST_LETTERS:
            break
    whole = "".join(folded)
    if "'" in whole or "’" in whole or "`" in whole:
        whole = _CONTRACTED.sub(lambda match: _FULL[match.group(1).lower()], whole)
    whole = _NOON.sub(r"\1m", whole)
    return whole.lower() if whole.isupper() and " " in whole.strip() else whole


def tokens(folded: str) -> list[Word]:
    """Up to one more than MOST_WORDS."""
    found: list[Word] = []
    opens, paused = True, False
    for raw in (_TOKEN if _ADDRESSED.search(folded) else _SIMPLE).findall(folded):
        if raw in _PAUSES:
            opens, paused = opens or raw in _ENDINGS, bool(found)
            continue
        found.append(_word(raw, opens, paused))
        opens = paused = False
        if len(found) > MOST_WORDS:
            break
    return found


@lru_cache(maxsize=4096)  # a save looks at every word of its scope, and most are the same few
def _word(raw: str, opens: bool, paused: bool) -> Word:
    if len(raw) == 1 and not raw.isalnum():
        return Word(raw, raw, exact=True, paused=paused)
    if any(char.isdigit() for char in raw):
        return Word(_value(raw), raw, exact=True, paused=paused)
    shouted = raw.isupper() and len(raw) > 1 and raw.lower() not in lex.SHOUTED
    form = raw if shouted else _bare(raw)
    owner = form != "s" and raw[-1:] in ("s", "S") and raw[-2:-1] in tuple(_APOSTROPHES)
    if owner:
        form = form[:-1]
    exact = not all(char.isalpha() or char in _APOSTROPHES or unicodedata.combining(char) for char in raw)
    meaning = lex.MEANINGS.get(raw.casefold()) or lex.MEANINGS.get(form, form)
    name = raw[0].isupper() and not (raw.lower() in lex.SHOUTED and len(raw) > 1 and raw.isupper())
    if meaning in lex.DATES or meaning in lex.KIN or meaning in lex.TURNING:
        name = False
    return Word(meaning, form, name, exact, owner, opens, paused)


def _value(raw: str) -> str:
    if _THOUSANDS.fullmatch(raw):
        return raw.replace(",", "")
    return raw.replace("−", "-").replace(",", ".").casefold()


def _bare(raw: str) -> str:
    """Lower case, without apostrophes, and without the acute accent unless it ends the word."""
    form = raw.casefold()
    if raw.isascii():
        return form if form.isalpha() else "".join(c for c in form if c not in _APOSTROPHES) or raw
    form = "".join(c for c in unicodedata.normalize("NFD", form) if c not in _APOSTROPHES)
    last = len(form) - 1
    kept = "".join(c for at, c in enumerate(form) if c != _ACUTE or at == last)
    return unicodedata.normalize("NFC", kept) or raw


def told_apart(words: list[Word], *, spanish: bool, filipino: bool) -> list[Word]:
    """Words that two languages share, capitals that make a name of a plain word, and what 's stands for."""
    found: list[Word] = []
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else None
        if word.raw == "may":
            word = _may(words, at, filipino)
        elif names(word):
            word = word._replace(form=word.raw)
        elif (word.raw == "son" and spanish) or (word.raw == "am" and not (at and words[at - 1].exact)):
            word = word._replace(form="be")
        elif word.raw == "si" and filipino:
            word = word._replace(form="ang")
        if word.owner and (word.raw in lex.PERSONS or (following and following.raw in lex.AFTER_IS)):
            found += [word._replace(owner=False), Word("be", "is")]
        elif found and _is_ones(word) and _is_tens(found[-1]):
            found[-1] = found[-1]._replace(form=str(int(found[-1].form) + int(word.form)))
        else:
            found.append(word)
    return found


def _may(words: Sequence[Word], at: int, filipino: bool) -> Word:
    """The month beside a day or with a capital; else English might or Filipino there is."""
    word = words[at]
    before = at > 0 and (
        _is_day(words[at - 1]) or (at > 1 and words[at - 1].raw == "of" and _is_day(words[at - 2]))
    )
    after = at + 1 < len(words) and _is_day(words[at + 1])
    if filipino and after and at + 2 < len(words):
        after = words[at + 2].raw in lex.PLAIN or words[at + 2].form == "=birthday"
    if before or after or (word.capital and not word.opens):
        return word._replace(form="=m5", capital=False)
    return word._replace(form="=have" if filipino else "=may", capital=False)


def _is_tens(word: Word) -> bool:
    return word.form.isdigit() and word.raw.isalpha() and 20 <= int(word.form) <= 90


def _is_ones(word: Word) -> bool:
    return word.form.isdigit() and word.raw.isalpha() and 1 <= int(word.form) <= 9


def _is_day(word: Word) -> bool:
    return _day(word).isdecimal() and len(_day(word)) <= 2


def _day(word: Word) -> str:
    return word.form[:-2] if word.form[-2:] in ("st", "nd", "rd", "th") else word.form


def dated(words: list[Word]) -> list[Word]:
    """A day beside its month: the month first, the day without its ending."""
    if lex.MONTH_FORMS.isdisjoint(word.form for word in words):
        return words
    found: list[Word] = []
    at = 0
    while at < len(words):
        word = words[at]
        beside = at + 1
        if beside + 1 < len(words) and words[beside].raw in lex.OF_DATE:
            beside += 1
        if beside < len(words) and _is_day(word) and words[beside].form in lex.MONTH_FORMS:
            found += [words[beside], word._replace(form=_day(word))]
            at = beside + 1
        elif at + 1 < len(words) and word.form in lex.MONTH_FORMS and _is_day(words[at + 1]):
            found += [word, words[at + 1]._replace(form=_day(words[at + 1]))]
            at += 2
        else:
            found.append(word)
            at += 1
    return found


def phrased(words: list[Word]) -> list[Word]:
    """The longest phrase of the lexicon that begins at each word becomes one word."""
    forms = tuple("" if names(word) else word.form for word in words)
    found: list[Word] = []
    at = 0
    while at < len(words):
        length = lex.LONGEST.get(forms[at : at + 2], 1)
        while length and forms[at : at + length] not in lex.PHRASES:
            length -= 1
        if length:
            meaning = lex.PHRASES[forms[at : at + length]]
            if meaning == ("=born",):
                meaning = (_birthday(words[at + length :]),)
            first = words[at]
            found += [
                Word(each, opens=first.opens, owner=first.owner, paused=first.paused) for each in meaning
            ]
        else:
            found.append(words[at])
        at += length or 1
    return found


def _birthday(following: Sequence[Word]) -> str:
    """Born on a day of a month tells the birthday."""
    beyond = next((word for word in following if word.form not in lex.PLAIN), None)
    return "=birthday" if beyond is not None and beyond.form in lex.MONTH_FORMS else "=born"


def names(word: Word) -> bool:
    return word.capital and not word.opens and word.raw != "i"
