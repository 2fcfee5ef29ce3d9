"""How a memory is read to tell whether another says the same, pure: the words that carry it, and their roles.

What is dropped carries no fact where it stands; what marks a role (by whom, whose, one or several) is kept
beside the words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from memory.facts import lexicon as lex
from memory.facts.words import (
    MOST_LETTERS,
    MOST_WORDS,
    Word,
    dated,
    folded,
    languages,
    names,
    phrased,
    tokens,
    told_apart,
)

_STOP = re.compile(r"[,;:()\n]|[.!?…](?=\s)|\s[-–—]\s")


class Item(NamedTuple):
    """A word with content in its place."""

    form: str
    name: bool
    """Must be written with a capital on the other side too."""
    capital: bool
    exact: bool
    counted: bool
    """Singular and plural differ here (a dog, her dogs)."""
    doing: bool
    """``is studying``: the same as ``studies``."""
    between: tuple[str, ...]
    """The plain words between this one and the one before."""

    @property
    def joined(self) -> bool:
        """Joined to the one before by ``and``, with nothing else than an article."""
        return self.between[:1] == ("and",) and lex.ARTICLES.issuperset(self.between[1:])

    @property
    def copula(self) -> bool:
        """Does ``is`` stand before this one?"""
        return not lex.COPULAS.isdisjoint(self.between)


class Reading(NamedTuple):
    """One text, read once."""

    items: tuple[Item, ...]
    turned: bool
    one_clause: bool
    asks: bool
    predicate: bool
    filipino: bool
    persons: tuple[str, ...]
    owners: frozenset[str]
    receivers: frozenset[str]
    marked: frozenset[str]
    """Words after Filipino ``ng``, who acts or what is acted upon."""
    places: frozenset[str]
    """Words after Filipino ``sa``, where or towards whom."""
    acting: bool
    tail: tuple[str, ...]
    """The plain words behind the last word with content."""


@lru_cache(maxsize=2)  # a save compares one text with many
def read(text: str) -> Reading | None:
    """None for a text without words or with too many to be sure."""
    whole = folded(text)
    written = tokens(whole) if len(whole) <= MOST_LETTERS else []
    if not written or len(written) > MOST_WORDS:
        return None
    spoken = {word.raw for word in written}
    english, spanish, filipino = languages(written, spoken)
    apart = told_apart(written, spanish=spanish, filipino=filipino)
    words = phrased(dated(apart))
    turned = any(word.form in lex.TURNING for word in words)
    said, tail = _items(words, turned=turned, filipino=filipino)
    items = _without_have(said, words)
    return Reading(
        items=tuple(items if turned else _in_order(_compounds(items))),
        turned=turned,
        one_clause=_STOP.search(text.strip()) is None
        and spoken.isdisjoint(lex.JOINING)
        and not (filipino and "at" in spoken),
        asks="?" in text,
        predicate=spoken.isdisjoint(lex.OWNING) and any(w.form == "be" or w.raw in lex.ACTING for w in words),
        filipino=filipino,
        persons=_persons(apart) if not spoken.isdisjoint(lex.PERSONS) else (),
        owners=_after(words, spoken & lex.POSSESSORS, only_names=True) | _owners(words),
        receivers=_after(
            words, spoken & (lex.RECEIVERS - {"a"} if english else lex.RECEIVERS), only_names=True
        ),
        marked=_after(words, spoken & lex.MARKERS, only_names=False),
        places=_after(words, spoken & lex.PLACED, only_names=False),
        acting=not spoken.isdisjoint(lex.ACTING),
        tail=tail,
    )


def _items(words: list[Word], *, turned: bool, filipino: bool) -> tuple[list[Item], tuple[str, ...]]:
    found: list[Item] = []
    between: list[str] = []
    plain = lex.DROPPED if turned else lex.DROPPED | lex.SOFT
    counting, chosen = False, any(word.form == "/" for word in words)
    for at, word in enumerate(words):
        if word.paused:
            between.append(",")
        if word.form in plain and not (
            names(word) or (chosen and _beside_slash(words, at)) or _counts(words, at)
        ):
            joins = word.raw in lex.AND or (filipino and word.raw == "at")
            between.append("and" if joins else word.form)
            counting = word.raw in lex.COUNTING or (counting and word.form in lex.SOFT)
            continue
        before = words[at - 1] if at else word
        verb = before.raw == "to" or before.form == "be"
        form, doing = _verb(words, at) if verb else (word.form, False)
        found.append(Item(form, names(word), word.capital, word.exact, counting, doing, tuple(between)))
        between = ["'s"] if word.owner else []
        counting = form == "=have" or (counting and not form.startswith("="))
    return found, tuple(between)


def _beside_slash(words: Sequence[Word], at: int) -> bool:
    return any(word.form == "/" for word in words[max(0, at - 1) : at + 2])


def _counts(words: Sequence[Word], at: int) -> bool:
    """A plain word that is a fact where it stands.

    Loves her: not her cat. At two, in two days: not two. Filipino ``mga``, where one and several are
    different facts: beside a possessor, or after there is.
    """
    raw = words[at].raw
    if raw == "her":
        following = words[at + 1] if at + 1 < len(words) else None
        return following is None or following.paused or following.form in lex.DROPPED
    if raw in lex.BEFORE_NUMBERS and at + 1 < len(words):
        form = words[at + 1].form
        return (form.isdecimal() and not is_year(form)) or (raw in lex.RANGES and form in lex.WEEK)
    if raw == "mga":
        beside = [*words[max(0, at - 1) : at], *words[at + 2 : at + 3]]
        return any(word.raw in lex.OWNING or word.form == "=have" for word in beside)
    return False


def is_year(form: str) -> bool:
    return len(form) == 4 and form[:2] in ("19", "20") and form.isdecimal()


def _verb(words: Sequence[Word], at: int) -> tuple[str, bool]:
    """The word after ``to`` or ``is``: to hike is hiking, está estudiando is estudia."""
    word, before = words[at], words[at - 1]
    if word.capital:
        return word.form, False
    if before.form != "be":
        asked = at > 1 and words[at - 2].form in lex.TO_DO and word.form == word.raw
        return (gerund(word.raw) if asked else word.form), False
    for ending, present in (("ando", "a"), ("iendo", "e"), ("yendo", "e")):
        if word.raw.endswith(ending) and len(word.raw) > 6:
            form = word.raw.removesuffix(ending) + present
            return lex.MEANINGS.get(form, form), False
    return word.form, word.form.endswith("ing")


def gerund(verb: str) -> str:
    """hike: hiking, swim: swimming, visit: visiting."""
    if verb.endswith("e") and not verb.endswith(("ee", "ye", "oe")):
        return (verb[:-2] + "y" if verb.endswith("ie") else verb[:-1]) + "ing"
    if re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", verb):
        return verb + verb[-1] + "ing"
    return verb + "ing"


def _without_have(items: list[Item], words: list[Word]) -> list[Item]:
    """To have an allergy, a name or two dogs says no more than the allergy, the name, the two dogs."""
    if all(item.form != "=have" for item in items):
        return items
    named = any(
        one.raw in lex.ACTING and one.raw.endswith("ng") and si.raw == "si" for one, si in pairwise(words)
    )
    needless = named or any(word.form in lex.HAD for word in words)
    found: list[Item] = []
    had: tuple[str, ...] | None = None
    for item, after in zip(items, [*items[1:], None], strict=True):
        if item.form == "=have" and after is not None and (needless or _many(after.form)):
            had = (*item.between, "=have")
        else:
            found.append(item if had is None else item._replace(between=had + item.between))
            had = None
    return found


def _many(form: str) -> bool:
    return form.isdecimal() and form != "1"


def _compounds(items: list[Item]) -> list[Item]:
    """A peanut allergy is an allergy to peanuts: the head first."""
    if not any(item.form in lex.HEADS for item in items):
        return items
    found: list[Item] = []
    for item in items:
        start = len(found)
        if item.form in lex.HEADS and not item.between:
            while start and not found[start - 1].form.startswith("="):
                start -= 1
                if found[start].between:
                    break
        if start < len(found):
            head = item._replace(form=lex.HEADS[item.form], between=found[start].between)
            found[start:] = [head, *(each._replace(counted=False) for each in found[start:])]
        elif item.form == "=allergy" and not start:
            found.append(item._replace(form=lex.HEADS[item.form]))
        else:
            found.append(item)
    return found


def _in_order(items: list[Item]) -> list[Item]:
    """Two things joined by ``and`` in the order of the alphabet, where nothing else can belong to one."""
    if any(item.form[0].isdigit() for item in items):
        return items
    found = list(items)
    for at in range(1, len(found)):
        one, other = found[at - 1], found[at]
        if (
            not other.joined
            or one.joined
            or (one.form + other.form).startswith("=")
            or other.form >= one.form
        ):
            continue
        first = one.between or at == 1 or found[at - 2].form.startswith("=")
        if first and (at + 1 == len(found) or found[at + 1].between[:1] in lex.LIST_ENDS):
            found[at - 1 : at + 1] = [
                other._replace(between=one.between),
                one._replace(between=other.between),
            ]
    return found


def _after(words: Sequence[Word], marks: AbstractSet[str], *, only_names: bool) -> frozenset[str]:
    """The word (or only the name) that each mark stands before."""
    if not marks:
        return frozenset()
    found: set[str] = set()
    marked = False
    for word in words:
        if word.raw in marks:
            marked = True
        elif marked and not (word.form in lex.PLAIN and not names(word)):
            if (names(word) or not only_names) and not (word.form in lex.DATES or word.form[0].isdigit()):
                found.add(word.form)
            marked = False
    return frozenset(found)


def _persons(words: Sequence[Word]) -> tuple[str, ...]:
    return tuple(lex.PERSONS[word.raw] for word in words if word.raw in lex.PERSONS and not names(word))


def _owners(words: Sequence[Word]) -> frozenset[str]:
    """Whose: the words with 's, but for whose name it is."""
    return frozenset(
        word.form
        for at, word in enumerate(words)
        if word.owner and [after.form for after in words[at + 1 : at + 2]] != ["=name"]
    )
