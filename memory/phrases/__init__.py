"""Explicit requests to remember or to forget, recognised by phrase lists in English, Spanish and Filipino.

A leaf like :mod:`memory.types`: pure, imported by the engine (which must say so when a request was made and
nothing was written, SPEC §4.4) and by the offline responder (which obeys). A phrase counts only where a
request can begin: at the start of a sentence or clause, after a name, a greeting or a "please". So
"do you remember …?", "I can't forget that" and "naaalala mo ba …?" are none.

Anybody can send any text, so the time is bounded by construction: the text read, the places tried and every
repetition in a pattern have a limit, or give nothing back. Beyond the limits there is no request.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from memory.phrases.lists import (
    AFTERWARDS,
    AT_START,
    BECOMES,
    CHANGE,
    FORGET,
    LEAD,
    OPENING,
    REMEMBER,
    SMALL_WORDS,
    Language,
)

__all__ = [
    "Language",
    "Request",
    "asks_to_change",
    "asks_to_forget",
    "asks_to_remember",
    "guess_language",
    "plain",
    "straight",
]

READ_HEAD, READ_TAIL = 3_500, 500
"""Code points read of a longer text: its beginning and its end. Together a whole Discord message (4,000)."""

PLACES = 300
"""Sentences and clauses of one text at whose beginning a request is looked for."""

CANDIDATES = 30
"""Places of one text that may begin like a request without being one; after that the text has none."""

OPENINGS = 6
"""Words like "hey", "so", "ok" that may stand before a request."""

FURTHER_LINES = 40
"""Lines after the first that a request may run through."""

SPLITS = 8
"""Ways to part "change … to …" that are offered."""

_LEAST, _LATE = 4, 120
"""Code points of the thing before "…, remember that", and from the sentence's end in which it may begin."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a member asked for. ``thing``: their own words for it, "" when they only pointed at it.

    ``handle`` is a memory's handle (``m12``) when they named one; ``shared``: they said "for the server";
    ``changes``: what is to change and its new value, in every way in which "change … to …" can be parted.
    """

    thing: str
    language: Language
    handle: str | None = None
    shared: bool = False
    changes: tuple[tuple[str, str], ...] = ()


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
_CHANGE = _lists(CHANGE)
_BECOMES_RX = {tongue: re.compile(words, re.IGNORECASE) for tongue, words in BECOMES.items()}
_THANKS = "(?:please|pls|thanks|thank you|por favor|gracias|salamat|ok|okay|ha|po)"
_THANKS_RX = re.compile(rf"[\s,]{{1,3}}{_THANKS}$", re.IGNORECASE)
_ALL = (
    r"(?:for|para(?: sa)?) (?:(?:the|this|our|my|whole|el|este|nuestro|mi|todo|buong) ){0,3}"
    r"(?:server|servidor|guild|grupo|group|clan|everyone|everybody|tod[oa]s|lahat)"
    r"(?: (?:namin|natin|na ito))?"
)
_TO_ALL = re.compile(rf"{_ALL}(?: ?[,:] ?| (?:that|que|na) |$)", re.IGNORECASE)
"""Between "remember this" and the thing itself, or after "remember that": it is about the server."""

_LATE_RX = tuple(
    (
        tongue,
        re.compile(
            rf"\s?[,.;!—-]{{1,3}}\s?(?:{body})(?P<all> {_ALL})?(?:[\s,]{{1,3}}{_THANKS})?[.!\s]{{0,9}}$",
            re.IGNORECASE,
        ),
    )
    for tongue, body in AFTERWARDS
)

_PIECE = re.compile(r"\S{1,64}")
_SENTENCE = re.compile(r"((?<=[.!?…])\s+|\n+)")
_FOR_ALL = re.compile(
    r" (?:for|para|por|sa|on|in|into|to|en|del) (?:\w{1,20} ){0,2}(?:server|servidor|guild|group|grupo|clan"
    r"|us|all|everyone|everybody|nosotr[oa]s|tod[oa]s|amin|atin|lahat)\b"
)
"""In the words that make up the request: it is about the server."""

_FURTHER = re.compile(
    r"[-–•*+] ?|\d{1,3}[.)] |(?:and|or|but|also|y|e|o|pero|también|at|pati|saka)\b", re.IGNORECASE
)
_COURTESY = re.compile(
    r"(?:please|pls|thanks?(?: you)?|thx|ty|por favor|(?:muchas )?gracias|(?:maraming )?salamat)\b.{0,30}",
    re.IGNORECASE,
)
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


_STRAIGHT = str.maketrans("’‘‚‛ʼʻ´`＇“”„‟«»＂", "'" * 9 + '"' * 7)


def straight(text: str) -> str:
    """``text`` with every apostrophe and quotation mark as the straight one: keyboards differ, words don't.

    Each takes the place of one, so positions in the text stay what they are.
    """
    return text.translate(_STRAIGHT)


def plain(text: str) -> str:
    """Compatibility forms folded, quotation marks straightened, blanks single; line ends stay.

    Of a text over ``READ_HEAD + READ_TAIL`` code points only its beginning and its end.
    """
    text = straight(_cut(text))
    if not text.isascii():  # word by word: a run of accents takes the square of its length
        text = _cut(_PIECE.sub(lambda piece: unicodedata.normalize("NFKC", piece.group()), text))
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


def _cut(text: str) -> str:
    if len(text) <= READ_HEAD + READ_TAIL:
        return text
    return f"{text[:READ_HEAD]}\n\n{text[-READ_TAIL:]}"


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
    if len(thing) > 1 and thing[0] == thing[-1] and thing[0] in "\"'" and thing[0] not in thing[1:-1]:
        thing = thing[1:-1].strip()
    return thing


def _found(tongue: Language, match: re.Match[str], sentence: str, further: str = "") -> Request | None:
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
    thing = "" if told and _POINTER.fullmatch(told) else _tidy(f"{rest} {further}")
    if asked and not thing:
        return None
    to_all = _TO_ALL.match(thing)
    thing = _tidy(thing[to_all.end() :]) if to_all else thing
    return Request(thing, tongue, shared=to_all is not None or bool(_FOR_ALL.search(opened)))


def _pieces(text: str) -> list[tuple[str, str]]:
    """Each sentence or line, and what parts it from the one before."""
    parts = ["", *_SENTENCE.split(text)]
    return [(gap, piece) for gap, piece in zip(parts[::2], parts[1::2], strict=True) if piece.strip()]


def _sentences(text: str) -> Iterator[str]:
    """Sentences; one that ends in a colon takes all that follows it."""
    return (sentence for sentence, _ in _with_lines(_pieces(text)))


def _with_lines(pieces: list[tuple[str, str]]) -> Iterator[tuple[str, int]]:
    """The sentences, each with the number of the piece after it."""
    for at, (_, piece) in enumerate(pieces):
        if piece.rstrip().endswith(":") and at + 1 < len(pieces):
            yield " ".join(text for _, text in pieces[at:]), len(pieces)
            return
        yield piece, at + 1


def _further(pieces: list[tuple[str, str]], at: int, polite: bool) -> str:
    """The lines from ``at`` on that go on with the request before them, joined by a space."""
    lines: list[str] = []
    before = pieces[at - 1][1]
    for gap, line in pieces[at : at + FURTHER_LINES]:
        joined = bool(_FURTHER.match(line))
        ended = before.endswith((".", "!", "?", "…")) or gap.count("\n") > 1
        if "\n" not in gap or (ended and not joined) or (line.endswith("?") and not (polite and joined)):
            break
        if _COURTESY.fullmatch(line) or any(
            next(each.matches(line, 0), None) for each in (*_AT_START, *_FORGET, *_CHANGE)
        ):
            break
        lines.append(line)
        before = line
    return " ".join(lines)


def asks_to_remember(text: str) -> Request | None:
    """The request to remember in a member's message, or None. Never raises.

    Its thing may run on over the next lines, which are joined by a space.
    """
    patience = _Patience()
    pieces = _pieces(plain(text))
    for sentence, following in _with_lines(pieces):
        late = _afterwards(sentence)
        for tongue, match in patience.begun(sentence, _AT_START, _IN_CLAUSE):
            found = _found(tongue, match, sentence)
            if found is not None and (found.thing or late is None):
                further = _further(pieces, following, match.group("polite") is not None)
                return (_found(tongue, match, sentence, further) or found) if further else found
        if late is not None:
            return late
    return None


def _afterwards(sentence: str) -> Request | None:
    """ "I'm allergic to nuts, remember that": the thing comes first."""
    for tongue, pattern in _LATE_RX:
        match = pattern.search(sentence, max(_LEAST, len(sentence) - _LATE))
        if match:
            return Request(_tidy(sentence[: match.start()]), tongue, shared=match["all"] is not None)
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
            named = _HANDLE.match(_tidy(rest))
            return Request(_tidy(rest), tongue, named.group(1).casefold() if named else None)
    return None


def asks_to_change(text: str) -> Request | None:
    """The request to give something remembered a new value ("change my birthday to May 6"), or None."""
    patience = _Patience()
    for sentence in _sentences(plain(text)):
        for tongue, match in patience.begun(sentence, _CHANGE, _CHANGE):
            if sentence.rstrip().endswith("?") and match.group("polite") is None:
                continue
            rest = _tidy(sentence[match.end() :])
            parted = itertools.islice(_BECOMES_RX[tongue].finditer(rest), SPLITS)
            ways = [(_tidy(rest[: mark.start()]), _tidy(rest[mark.end() :])) for mark in parted]
            changes = tuple((thing, value) for thing, value in ways if thing and value)
            if changes:
                named = _HANDLE.match(changes[0][0])
                handle = named.group(1).casefold() if named else None
                return Request(rest, tongue, handle, changes=changes)
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
