"""Explicit requests to remember or to forget, recognised by phrase lists in English, Spanish and Filipino.

A leaf like :mod:`memory.types`: pure, imported by the engine (which must say so when a request was made and
nothing was written, SPEC §4.4) and by the offline responder (which obeys). A phrase counts only where a
request can begin: at the start of a sentence or clause, after a name, a greeting or a "please". So
"do you remember …?", "I can't forget that" and "naaalala mo ba …?" are none.

Anybody can send any text, so the time is bounded by construction: the text read, the places tried and every
repetition in a pattern have a limit, or give nothing back. Beyond the limits there is no request.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from memory.phrases.lists import AFTERWARDS, AT_START, FORGET, LEAD, OPENING, REMEMBER, SMALL_WORDS, Language

__all__ = ["Language", "Request", "asks_to_forget", "asks_to_remember", "guess_language", "plain"]

READ_HEAD, READ_TAIL = 3_500, 500
"""Code points read of a longer text: its beginning and its end. Together a whole Discord message (4,000)."""

PLACES = 300
"""Sentences and clauses of one text at whose beginning a request is looked for."""

CANDIDATES = 30
"""Places of one text that may begin like a request without being one; after that the text has none."""

OPENINGS = 6
"""Words like "hey", "so", "ok" that may stand before a request."""

_LEAST, _LATE = 4, 120
"""Code points of the thing before "…, remember that", and from the sentence's end in which it may begin."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a member asked for. ``thing``: their own words for it, "" when they only pointed at it.

    ``handle`` is a memory's handle (``m12``) when they named one.
    """

    thing: str
    language: Language
    handle: str | None = None


@dataclass(frozen=True, slots=True)
class _List:
    """The patterns of one language: all in one to see whether any fits, then each in its order."""

    tongue: Language
    opening: re.Pattern[str]
    any: re.Pattern[str]
    each: tuple[re.Pattern[str], ...]

    def matches(self, sentence: str, start: int) -> Iterator[re.Match[str]]:
        """Every way in which a request begins at ``start``."""
        for _ in range(OPENINGS):
            opening = self.opening.match(sentence, start)
            if opening is None:
                break
            start = opening.end()
        if self.any.match(sentence, start):
            yield from filter(None, (pattern.match(sentence, start) for pattern in self.each))


def _lists(rows: tuple[tuple[Language, str], ...]) -> tuple[_List, ...]:
    lists = []
    for tongue in Language:
        bodies = [body for each, body in rows if each is tongue]
        opening, *patterns = (
            re.compile(source, re.IGNORECASE)
            for source in (
                rf"[¡¿]{{0,9}}+(?:{OPENING[tongue]})\b[,!:]? ",
                rf"{LEAD[tongue]}(?:{'|'.join(bodies)})",
                *(rf"{LEAD[tongue]}(?:{body})" for body in bodies),
            )
        )
        lists.append(_List(tongue, opening, patterns[0], tuple(patterns[1:])))
    return tuple(lists)


_IN_CLAUSE = _lists(REMEMBER)
_AT_START = (*_IN_CLAUSE, *_lists(AT_START))
_FORGET = _lists(FORGET)
_THANKS = "(?:please|pls|thanks|thank you|por favor|gracias|salamat|ok|okay|ha|po)"
_THANKS_RX = re.compile(rf"[\s,]{{1,3}}{_THANKS}$", re.IGNORECASE)
_LATE_RX = tuple(
    (
        tongue,
        re.compile(
            rf"\s?[,.;!—-]{{1,3}}\s?(?:{body})(?:[\s,]{{1,3}}{_THANKS})?[.!\s]{{0,9}}$",
            re.IGNORECASE,
        ),
    )
    for tongue, body in AFTERWARDS
)

_PIECE = re.compile(r"\S{1,64}")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")
_CLAUSE = re.compile(r"(?:[,;:—]|\s[-–])\s+|\s(?:and|so|but|y|pero|at|kaya)\s+", re.IGNORECASE)
_HANDLE = re.compile(r"^(?:memory\s+|memoria\s+|recuerdo\s+)?#?(m\d{1,18})\b", re.IGNORECASE)
_ASKING = re.compile(
    r"(?:when|how|what|who|where|why|if|whether|which|cuando|cuándo|cómo|quién|dónde|noong|nung|kung)\b",
    re.IGNORECASE,
)
_STORY = re.compile(
    r"(?:one\s+)?(?:time|day|night|guy|girl|dude|game|movie|song|show|summer|year|place|scene|party|trip)\b"
    r"(?!.{0,300}(?:\b(?:is|are|starts?|begins?|will|has)\b|'s\b))",
    re.IGNORECASE,
)
"""What follows "remember that" in talk about the past; not in "that movie night is on Friday"."""

_POINTER = re.compile(
    r"(?:that|this|it|about\s+(?:it|that)|eso|esto|'?yan|iyan|'?to|ito|(?:mo\s+)?na)?[\s.!,]*+"
    r"(?:please|por favor|ok|okay)?[\s.!,]*+",
    re.IGNORECASE,
)
_MINE = re.compile(r"(?:i|i'm|im|i've|we|we're)\b", re.IGNORECASE)


def plain(text: str) -> str:
    """Compatibility forms folded, apostrophes straightened, blanks single; line ends stay.

    Of a text over ``READ_HEAD + READ_TAIL`` code points only its beginning and its end.
    """
    text = _cut(text)
    if not text.isascii():  # word by word: a run of accents takes the square of its length
        text = _cut(_PIECE.sub(lambda piece: unicodedata.normalize("NFKC", piece.group()), text))
    text = text.replace("’", "'").replace("‘", "'").replace("`", "'")
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


def _cut(text: str) -> str:
    if len(text) <= READ_HEAD + READ_TAIL:
        return text
    return f"{text[:READ_HEAD]}\n{text[-READ_TAIL:]}"


@dataclass(slots=True)
class _Patience:
    """What may still be tried in one text."""

    places: int = PLACES
    candidates: int = CANDIDATES

    def begun(
        self, sentence: str, at_start: tuple[_List, ...], in_clause: tuple[_List, ...]
    ) -> Iterator[tuple[Language, re.Match[str]]]:
        """Whatever begins like a request in a sentence, while there is patience."""
        for start in _clauses(sentence):
            if self.places <= 0:
                return
            self.places -= 1
            for each in in_clause if start else at_start:
                for match in each.matches(sentence, start):
                    if self.candidates <= 0:
                        return
                    self.candidates -= 1
                    yield each.tongue, match


def _clauses(sentence: str) -> Iterator[int]:
    """Where a request may begin: at 0, the sentence's own start, and after each break."""
    yield 0
    yield from (mark.end() for mark in _CLAUSE.finditer(sentence))


def _tidy(thing: str) -> str:
    thing = thing.strip(":,;—- \n")
    thing = thing.rstrip(" .!")
    thanks = _THANKS_RX.search(thing, max(0, len(thing) - 20))
    thing = (thing[: thanks.start()] if thanks else thing).rstrip(" .!?,;…")
    if len(thing) > 1 and thing[0] in "\"“'«" and thing[-1] in "\"”'»":
        thing = thing[1:-1].strip()
    return thing


def _found(tongue: Language, match: re.Match[str], sentence: str) -> Request | None:
    rest = sentence[match.end() :]
    asked = sentence.rstrip().endswith("?")
    opened = match.group(0).rstrip().casefold()
    told = rest.strip()
    exact = opened.endswith(("that", ":", " que", " na"))
    if not opened.endswith(":") and (_ASKING.match(told) or _STORY.match(told)):
        return None
    if asked and (match.group("polite") is None or not (exact or _MINE.match(told))):
        return None
    if tongue is Language.FIL and re.match(r"ba\b", told, re.IGNORECASE):
        return None
    thing = "" if _POINTER.fullmatch(told) else _tidy(rest)
    if asked and not thing:
        return None
    return Request(thing, tongue)


def _sentences(text: str) -> Iterator[str]:
    """Sentences; one that ends in a colon takes all that follows it."""
    pieces = [piece for piece in _SENTENCE.split(text) if piece.strip()]
    for at, piece in enumerate(pieces):
        if piece.rstrip().endswith(":") and at + 1 < len(pieces):
            yield " ".join(pieces[at:])
            return
        yield piece


def asks_to_remember(text: str) -> Request | None:
    """The request to remember in a member's message, or None. Never raises."""
    patience = _Patience()
    for sentence in _sentences(plain(text)):
        late = _afterwards(sentence)
        for tongue, match in patience.begun(sentence, _AT_START, _IN_CLAUSE):
            found = _found(tongue, match, sentence)
            if found is not None and (found.thing or late is None):
                return found
        if late is not None:
            return late
    return None


def _afterwards(sentence: str) -> Request | None:
    """ "I'm allergic to nuts, remember that": the thing comes first."""
    for tongue, pattern in _LATE_RX:
        match = pattern.search(sentence, max(_LEAST, len(sentence) - _LATE))
        if match:
            return Request(_tidy(sentence[: match.start()]), tongue)
    return None


def asks_to_forget(text: str) -> Request | None:
    """The request to forget in a member's message, or None. "Forget it" alone is an idiom, not a request."""
    patience = _Patience()
    for sentence in _sentences(plain(text)):
        for tongue, match in patience.begun(sentence, _FORGET, _FORGET):
            if sentence.rstrip().endswith("?") and match.group("polite") is None:
                continue
            rest = sentence[match.end() :].strip()
            if not rest or _POINTER.fullmatch(rest) or _ASKING.match(rest):
                continue
            named = _HANDLE.match(rest)
            return Request(_tidy(rest), tongue, named.group(1).casefold() if named else None)
    return None


_WORD_SETS = {tongue: frozenset(words.split()) for tongue, words in SMALL_WORDS.items()}
_TOKEN = re.compile(r"[^\W\d_']+(?:'[^\W\d_]+)?|'[^\W\d_]+")


def guess_language(text: str, default: Language = Language.EN) -> Language:
    """By counting stop words; ``default`` when none is seen or two languages tie."""
    text = plain(text).casefold()
    words = _TOKEN.findall(text)
    scores = {tongue: sum(word in known for word in words) for tongue, known in _WORD_SETS.items()}
    if any(sign in text for sign in "¿¡ñ"):
        scores[Language.ES] += 1
    best = max(scores.values())
    leaders = [tongue for tongue, score in scores.items() if score == best]
    return leaders[0] if best and len(leaders) == 1 else default
