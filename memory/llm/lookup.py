"""Finding the lines that answer a question, by words alone: small, pure, the same for every language.

Words are folded (NFKC, case, accents) and lightly stemmed; a word that is not there exactly may match one
that shares most of its three-letter pieces, which serves Spanish and Filipino inflection and typing errors.
Rare words count for more (as in BM25), long lines for a little less.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memory.llm.offline_prompt import Line, Where
from memory.phrases import straight

RELEVANT = 0.45
"""The share of a question's weight that a line must cover to be an answer."""

_ALIKE = 0.5
_STRANGE = 0.5
"""Weight of a word that stands nowhere: it says how a member asks rather than what for."""

_STOP_WORDS = (
    # English
    "everything everyone everybody every all "
    "a an the is are am was were be been do does did have has had i me my mine you your yours he she it "
    "his her "
    "its we us our they them their this that these those what when where who whom whose which why how of "
    "in on "
    "at to for from with about and or not no can could will would should shall may might know remember "
    "recall "
    "tell say said please there here s re ve ll m t d just also anything something so if as by any does many "
    "much name's whats called ever again let get got go keepsake bot hey hi hello ok "
    # Spanish
    "todo todos toda todas "
    "el la los las un una unos unas es soy eres somos son era fue ser estar esta estoy estas de del al a "
    "en y o "
    "que cual cuales cuando donde como quien por para con sin mi mis tu tus su sus me te se lo le les nos yo "
    "ella ellos sabes sabe recuerdas recuerda recuerdo dime dijo dije tengo tienes tiene hay si no mas muy "
    "nuestro nuestra ese esa eso este esto algo sobre cuanto cuantos porque hola "
    # Filipino
    "lahat "
    "ang ng mga sa si ni kay ako ko akin aking ikaw ka mo siya niya kami namin natin tayo sila nila ano "
    "anong "
    "sino saan nasaan kailan paano bakit alin ilan ba po opo na ay at o may mayroon meron hindi oo lang "
    "din rin "
    "yung iyon ito yan naaalala alam natatandaan tungkol kong mong niyang para pa nga kasi kumusta sabi"
)
_STOP = frozenset(_STOP_WORDS.split())

_SAME = (
    "birthday born birthdate cumpleanos nacimiento kaarawan bday",
    "allergy allergic alergia alergico alergica allergies",
    "name named llamo llama llamas nombre pangalan nickname apodo palayaw",
    "live lives living vivo vive vives nakatira tirahan",
    "like likes love loves enjoys gusta gustan gusto mahilig",
    "favourite favorite favorito favorita preferido preferida paborito paboritong",
    "colour color kulay kulayng",
    "food eat eats comida como come comer pagkain kain kumakain",
    "cat kitty gato gata pusa",
    "dog perro perra aso",
    "work works job trabajo trabaja trabaho",
    "age edad taon",
    "game games juego juega juegos laro naglalaro play plays",
    "meeting meet reunion pulong meetup",
)
_CONCEPT = {word: f"={group.split()[0]}" for group in _SAME for word in group.split()}

COPULA = re.compile(r"\s*[:=]\s+|\s+(?:is now|es ahora|is|are|es|son|ay)\s+", re.IGNORECASE)
"""What stands between what an entry is about and its value."""

_WORD = re.compile(r"[^\W_]+")
_ENDINGS = ("ings", "ing", "edly", "ies", "ed", "es", "s", "os", "as", "o", "a")


def fold(text: str) -> str:
    """NFKC, casefolded, without accents, quotation marks straight."""
    apart = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", straight(text)).casefold())
    return "".join(c for c in apart if not unicodedata.combining(c))


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    if word in _CONCEPT:
        return _CONCEPT[word]
    if len(word) > 4 and not word.isdigit():
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                return word[: -len(ending)]
    return word


def terms(text: str) -> list[str]:
    """The words of a text that mean something, folded and stemmed."""
    return [_stem(word) for word in _WORD.findall(fold(text)) if word not in _STOP]


@lru_cache(maxsize=4096)
def _grams(word: str) -> frozenset[str]:
    padded = f"^{word}$"
    return frozenset(padded[i : i + 3] for i in range(len(padded) - 2))


def _alike(one: str, other: str) -> float:
    if one == other:
        return 1.0
    if one[0] == "=" or other[0] == "=" or min(len(one), len(other)) < 4 or one.isdigit() or other.isdigit():
        return 0.0
    a, b = _grams(one), _grams(other)
    dice = 2 * len(a & b) / (len(a) + len(b))
    return dice if dice >= _ALIKE else 0.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A line and how much of the question's weight it covers (about 0 to 1; favoured lines may pass 1)."""

    line: Line
    score: float


def rank(question: str, lines: Sequence[Line], favour: Callable[[Line], float] = lambda _: 1.0) -> list[Hit]:
    """Lines that cover something of the question, best first.

    Of equals the entry with fewer words that were not asked for comes first, then the newest.
    """
    asked = list(dict.fromkeys(terms(question)))
    if not asked or not lines:
        return []
    documents = [
        terms(f"{line.owner} {line.text}" if line.where is Where.MEMORY else line.text) for line in lines
    ]
    seen = Counter(term for document in documents for term in set(document))
    total = len(documents)
    weights = {term: math.log(1 + (total + 0.5) / (seen[term] + 0.5)) for term in asked}
    for term in asked:
        if not seen[term] and not any(_alike(term, other) for other in seen):
            weights[term] *= _STRANGE
    whole = sum(weights.values())
    hits = []
    for at, (line, document) in enumerate(zip(lines, documents, strict=True)):
        covered = sum(
            weight * max((_alike(term, other) for other in document), default=0.0)
            for term, weight in weights.items()
        )
        if covered:
            length = 1.0 / (1.0 + 0.004 * max(0, len(document) - 12))
            extra = (
                (_extra(key(line.text), asked), _extra(document, asked))
                if line.where is Where.MEMORY
                else (0, 0)
            )
            hits.append((round(-favour(line) * length * covered / whole, 9), *extra, -at, line))
    return [Hit(hit[-1], -hit[0]) for hit in sorted(hits, key=lambda hit: hit[:-1])]


def key(text: str) -> list[str]:
    """The words before "is" or a colon: what an entry gives the value of. None without such a word."""
    parts = COPULA.split(text, maxsplit=1)
    return terms(parts[0]) if len(parts) == 2 else []


def _extra(document: Sequence[str], asked: Sequence[str]) -> int:
    return sum(not any(_alike(term, other) for other in asked) for term in document)


def closest(lines: Sequence[Line], question: str) -> list[Line]:
    """Without entries about something of a longer name ("sister's birthday" for "birthday"), if any fits."""
    asked = terms(question)
    exact = [line for line in lines if not _extra(key(line.text), asked)]
    return exact or list(lines)


def names(line: Line, name: str) -> bool:
    """Does this line mention somebody by this name?"""
    wanted = fold(name)
    return wanted in _WORD.findall(fold(f"{line.owner} {line.text}"))


def covers(line: Line, question: str) -> bool:
    """Does this line hold every word of the question that means something? What is deleted must."""
    document = terms(line.text)
    asked = terms(question)
    return bool(asked) and all(any(_alike(term, other) for other in document) for term in asked)
