"""When two memories say nearly the same, pure. Conservative: unsure means different.

Never when they differ in a negation, a number or a name (SPEC §4.4): such a difference is the fact itself.
Both texts are read into the words that carry their meaning (reading), and those must be equal one by one: a
word in no list (lexicon) is only equal to itself, so what one side says more is a difference too. The order
matters, except where a sentence is known to mean the same the other way round.

A save compares with every entry of its scope inside the write transaction, and anybody may write any entry:
the words read, the words in another order and the spellings compared are limited, and beyond is "unsure".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memory.facts.lexicon import COPULAS, DEFINITE, INDEFINITE, MONTH_FORMS, MOVABLE, OWNING, SINCE
from memory.facts.reading import Item, Reading, gerund, is_year, read

MOST_REORDERED = 24
"""Words with content of a text that may say the same in another order: one short clause."""

MOST_SPELLINGS = 8
"""Words of a pair that may be spelt differently; more of them is another text."""

LONGEST_SPELLING = 32
"""Letters of a word that may be spelt differently."""


def near_duplicate(a: str, b: str) -> bool:
    """Do two memories say nearly the same? False whenever a negation, a number or a name differs."""
    left, right = read(a), read(b)
    if left is None or right is None or len(left.items) != len(right.items):
        return False
    if not left.items or (len(left.items) == 1 and not _both_say_what(left, right)):
        return False
    if not _same_roles(left, right):
        return False
    spelling = _Spelling(filipino=left.filipino and right.filipino)
    if spelling.all_same(left.items, right.items):
        return _same_sides(left, right)
    free = not (left.turned or right.turned) and left.one_clause and right.one_clause
    if not free or len(left.items) > MOST_REORDERED:
        return False
    return _moved(left, right, spelling) or _turned_about(left, right, spelling)


def _both_say_what(left: Reading, right: Reading) -> bool:
    """One word is a fact where something is said to be it: is vegetarian, a vegetarian; not the one."""
    definite = [not DEFINITE.isdisjoint(each.items[0].between) for each in (left, right)]
    return left.predicate and right.predicate and definite[0] == definite[1]


def _same_roles(left: Reading, right: Reading) -> bool:
    """Of whom, whose, to whom and by whom, asked or told."""
    if left.asks != right.asks or left.owners != right.owners or left.receivers != right.receivers:
        return False
    persons, others = left.persons, right.persons
    if (set(persons) ^ set(others)) & {"we", "2"}:
        return False
    if persons and others:
        if set(persons) != set(others):
            return False
        if len(set(persons)) > 1 and _runs(persons) != _runs(others):
            return False
    if left.marked != right.marked or left.places != right.places:
        return False
    return (
        left.acting == right.acting or not (persons and others) or _tells_of_one(left) or _tells_of_one(right)
    )


def _tells_of_one(reading: Reading) -> bool:
    """Filipino says both with siya and with niya what somebody likes, has, and has so many of."""
    first = reading.items[0]
    return first.form == "=like" or first.form.isdecimal() or "=have" in first.between


def _runs(persons: Sequence[str]) -> list[str]:
    return [person for at, person in enumerate(persons) if at == 0 or persons[at - 1] != person]


def _moved(left: Reading, right: Reading, spelling: _Spelling) -> bool:
    """Does only the time stand elsewhere, or in Filipino where somebody lives?"""
    more = frozenset({"=live"}) if left.filipino and right.filipino else frozenset[str]()
    moving, staying = _parted(left.items, more)
    others, rest = _parted(right.items, more)
    return bool(moving and staying) and spelling.all_same(moving, others) and spelling.all_same(staying, rest)


def _parted(items: Sequence[Item], more: frozenset[str]) -> tuple[list[Item], list[Item]]:
    """The words that tell when, if they stand together, and the others."""
    when = [_tells_when(items, at) for at in range(len(items))]
    places = [
        at
        for at, item in enumerate(items)
        if when[at] or item.form in more or (item.form in SINCE and when[at + 1 : at + 2] == [True])
    ]
    if not places or places[-1] - places[0] + 1 != len(places):
        return [], list(items)
    return list(items[places[0] : places[-1] + 1]), [*items[: places[0]], *items[places[-1] + 1 :]]


def _tells_when(items: Sequence[Item], at: int) -> bool:
    form = items[at].form
    dated = at > 0 and items[at - 1].form in MONTH_FORMS and form.isdecimal()
    return form in MOVABLE or dated or is_year(form)


def _turned_about(left: Reading, right: Reading, spelling: _Spelling) -> bool:
    """This is that: that is this."""
    one, other = left.items, right.items
    count = len(one)
    return any(
        one[at].copula
        and other[count - at].copula
        and spelling.all_same([*one[at:], *one[:at]], other)
        and _fitting(_sides(left, at), _sides(right, count - at)[::-1])
        for at in range(1, count)
    )


def _same_sides(left: Reading, right: Reading) -> bool:
    """Her friend is a teacher, a friend is her teacher: the same words, and another fact."""
    one, other = (
        [at for at, item in enumerate(each.items) if "be" in item.between and at] for each in (left, right)
    )
    if not one or not other:
        return True
    if one != other:
        return False
    return _not_swapped(_sides(left, one[0]), _sides(right, one[0]))


def _fitting(one: _Sides, other: _Sides) -> bool:
    """The boss is Tom; Tom is a boss: not the same."""
    return (one[0].any_one, one[1].any_one) == (other[0].any_one, other[1].any_one) and _not_swapped(
        one, other
    )


def _not_swapped(one: _Sides, other: _Sides) -> bool:
    mine, yours = one[0].owned, one[1].owned
    return mine == yours or (mine, yours) != (other[1].owned, other[0].owned)


class _Side(NamedTuple):
    any_one: bool
    owned: bool


_Sides = tuple[_Side, _Side]


def _sides(reading: Reading, at: int) -> _Sides:
    """Of both sides of the copula before this word: is it any one of its kind, is it somebody's?"""
    between = reading.items[at].between
    middle = next(place for place, word in enumerate(between) if word in COPULAS)
    first = reading.items[0].between + tuple(w for item in reading.items[1:at] for w in item.between)
    second = (
        between[middle:] + tuple(w for item in reading.items[at + 1 :] for w in item.between) + reading.tail
    )
    return _side(first + between[:middle]), _side(second)


def _side(words: Sequence[str]) -> _Side:
    return _Side(not INDEFINITE.isdisjoint(words), not OWNING.isdisjoint(words))


class _Spelling:
    """Tells whether two words are the same but for number or spelling, of one pair of texts."""

    def __init__(self, *, filipino: bool) -> None:
        self._filipino = filipino
        self._left = MOST_SPELLINGS

    def all_same(self, ones: Sequence[Item], others: Sequence[Item]) -> bool:
        return len(ones) == len(others) and all(map(self.same, ones, others))

    def same(self, one: Item, other: Item) -> bool:
        if one.form.endswith("ed") and ("be" in one.between) is not ("be" in other.between):
            return False  # is married, married
        if one.form == other.form:
            return not (one.name or other.name) or (one.capital and other.capital)
        if one.exact or other.exact or one.name or other.name or (one.capital and other.capital):
            return False
        a, b = sorted((one.form, other.form), key=len)
        if len(a) < 3 or a[:2] != b[:2] or a.startswith("="):
            return False
        if b in (a + "s", a + "es") or (a[-1] == "y" and b == a[:-1] + "ies"):
            return not (one.counted or other.counted)
        if self._filipino and b == a + "ng" and a[-1] in "aeiou":
            return True
        return _does(one, other) or _does(other, one) or self._differs_little(a, b)

    def _differs_little(self, a: str, b: str) -> bool:
        """One letter doubled in a word of seven, or another in the middle of one of ten."""
        if not 7 <= len(a) <= len(b) <= LONGEST_SPELLING or len(b) - len(a) > 1 or self._left <= 0:
            return False
        self._left -= 1
        at = next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
        if len(a) < len(b):
            return b[at] == b[at - 1] and a[at:] == b[at + 1 :]
        return len(a) >= 10 and 3 <= at < len(a) - 3 and a[at + 1 :] == b[at + 1 :]


def _does(doing: Item, does: Item) -> bool:
    """``is studying`` and ``studies``."""
    if not doing.doing or not does.form.endswith("s"):
        return False
    verb = does.form[:-3] + "y" if does.form.endswith("ies") else does.form[:-1]
    return doing.form in (gerund(verb), gerund(verb.removesuffix("e")))
