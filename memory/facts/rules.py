"""Who may read and write what, and what a turn is given: decisions only, pure.

Rights (SPEC §4.2, §12) are judged on the event's own person and place, never on anything a text says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from memory.facts.similar import near_duplicate
from memory.facts.text import (
    Clean,
    Problem,
    TextProblem,
    check_keywords,
    check_text,
    clean,
    fold,
    mentions_in,
    normalise,
)
from memory.types import GLOBAL, Memory, Person, Place, Scope, SubjectKind

__all__ = [
    "Clean",
    "Problem",
    "TextProblem",
    "check_keywords",
    "check_text",
    "clean",
    "fold",
    "labels",
    "may_read",
    "may_read_memory",
    "may_write",
    "mentions_in",
    "near_duplicate",
    "normalise",
    "own_scopes",
    "readable",
    "resolve_name",
    "scopes_in_play",
    "select",
    "with_mentions",
]

INJECTED = 100
"""Unpinned entries given per turn, all scopes together (SPEC §4.1)."""


def may_read(scope: Scope, person: Person, place: Place) -> bool:
    """A server's entries: anybody, in that server only. Personal ones: their subject only."""
    if scope.kind is SubjectKind.SERVER:
        return place.guild_id == scope.subject_id
    return scope.subject_id == person.id


def may_read_memory(memory: Memory, person: Person, place: Place) -> bool:
    """:func:`may_read`, and an entry saved in a DM only in a DM until it is widened (SPEC §4.2)."""
    return may_read(memory.scope, person, place) and (place.is_dm or not memory.dm_only)


def readable(memories: Iterable[Memory], person: Person, place: Place) -> list[Memory]:
    """Those of ``memories`` that this person may read here, order kept."""
    return [memory for memory in memories if may_read_memory(memory, person, place)]


def may_write(scope: Scope, person: Person, place: Place, *, member_access: bool) -> bool:
    """A server's entries: there, with Manage Server or granted access. Personal: the subject alone (§12)."""
    if not may_read(scope, person, place):
        return False
    return scope.kind is SubjectKind.USER or person.manages or member_access


def own_scopes(place: Place, lineage: str, person_id: int) -> tuple[Scope, ...]:
    """The scopes that one person can read here: the server's two (not in a DM) and their own two."""
    return scopes_in_play(place, lineage, (person_id,))


def scopes_in_play(
    place: Place, lineage: str, in_play_ids: Sequence[int], cast: Sequence[str] = ()
) -> tuple[Scope, ...]:
    """What a turn reads (SPEC §4.2): S·P, S·global, and U·P, U·global for every member in play.

    In a DM: that user's two (``in_play_ids`` then holds that one user). ``cast``: the lineages whose server
    memories are read too, in a channel that is set to union; personal ones never are.
    """
    lineages = tuple(dict.fromkeys((lineage, GLOBAL)))
    scopes: list[Scope] = []
    if place.guild_id is not None:
        scopes += [Scope.server(place.guild_id, each) for each in dict.fromkeys((lineage, *cast, GLOBAL))]
    for user_id in dict.fromkeys(in_play_ids):
        scopes += [Scope.user(user_id, each) for each in lineages]
    return tuple(scopes)


def select(memories: Iterable[Memory], limit: int = INJECTED) -> list[Memory]:
    """What a turn is given of the entries of the scopes in play (SPEC §4.2).

    Every pinned entry, then up to ``limit`` unpinned ones, newest first by update, spread evenly: what a
    small scope leaves goes to the others. Result ordered by scope, then by id, so that an addition appends.
    """
    chosen: list[Memory] = []
    shelves: dict[Scope, list[Memory]] = {}
    for memory in memories:
        if memory.pinned:
            chosen.append(memory)
        else:
            shelves.setdefault(memory.scope, []).append(memory)
    for shelf in shelves.values():
        shelf.sort(key=_newness, reverse=True)
    for scope, share in _shares(shelves, max(limit, 0)).items():
        chosen += shelves[scope][:share]
    return sorted(chosen, key=lambda memory: (memory.scope, memory.id))


def _newness(memory: Memory) -> tuple[float, int]:
    return memory.updated_at.timestamp(), memory.id


def _shares(shelves: Mapping[Scope, Sequence[Memory]], limit: int) -> dict[Scope, int]:
    """Water-filling: each scope's share of ``limit``. The last odd places go to the newest entries."""
    shares: dict[Scope, int] = {}
    left = limit
    waiting = sorted(shelves, key=lambda scope: (len(shelves[scope]), scope))
    while waiting and len(shelves[waiting[0]]) <= left // len(waiting):
        scope = waiting.pop(0)
        shares[scope] = len(shelves[scope])
        left -= shares[scope]
    if not waiting:
        return shares
    level, odd = divmod(left, len(waiting))
    shares.update(dict.fromkeys(waiting, level))
    waiting.sort(key=lambda scope: _newness(shelves[scope][level]), reverse=True)
    for scope in waiting[:odd]:
        shares[scope] += 1
    return shares


def resolve_name(name: str, people: Sequence[Person]) -> Person | tuple[str, ...] | None:
    """The one of ``people`` whom a name means, or labelled candidates when several, or None.

    An exact display name first, then without regard to case and width; a leading @ is ignored; ``<@id>``
    counts only for an id among ``people``; a label given out by :func:`labels` is accepted back. A name that
    the prompt shows with digits, given without them, is ambiguous even if only one of its bearers is here.
    """
    wanted = name.strip()
    people = tuple({person.id: person for person in people}.values())
    given = labels(people)
    if re.fullmatch(r"<@!?\d{1,20}>", wanted):
        ids = mentions_in(wanted)
        return next((person for person in people if person.id in ids), None)
    bare = wanted.removeprefix("@").strip()
    if not bare:
        return None
    for form in (_same, _name_form):
        for candidate in dict.fromkeys((form(wanted), form(bare))):
            found = [person for person in people if candidate and form(person.name) == candidate]
            if len(found) == 1:
                return found[0]
            if found:
                return tuple(given[person.id] for person in found)
    labelled = [person for person in people if _name_form(given[person.id]) == _name_form(bare)]
    if len(labelled) == 1:
        return labelled[0]
    told_apart = [person for person in people if _bare_form(person.name) == _name_form(bare)]
    return tuple(given[person.id] for person in told_apart) or None


def _bare_form(name: str) -> str:
    """The name without the digits by which the prompt tells namesakes apart."""
    return _name_form(re.sub(r" \(…\d+\)$", "", name))


def _same(name: str) -> str:
    return name


def _name_form(name: str) -> str:
    folded = unicodedata.normalize("NFKC", clean(name)).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def labels(people: Sequence[Person]) -> dict[int, str]:
    """A distinct label for each person: the name, and where names collide the last digits of the id.

    Four digits, more only where four do not tell two people apart or somebody bears the label as a name.
    """
    forms = {person.id: _name_form(person.name) for person in people}
    names = list(forms.values())
    result: dict[int, str] = {}
    for person in people:
        if names.count(forms[person.id]) == 1:
            result[person.id] = person.name
            continue
        twins = [other for other in people if forms[other.id] == forms[person.id] and other.id != person.id]
        digits = str(person.id)
        for length in range(4, len(digits) + 1):
            tail = digits[-length:]
            label = f"{person.name} ({tail})"
            if _name_form(label) not in names and not any(str(twin.id).endswith(tail) for twin in twins):
                break
        result[person.id] = label if len(digits) >= 4 else f"{person.name} ({digits})"
    return result


def with_mentions(text: str, people: Sequence[Person]) -> str:
    """``@Name`` of one of ``people`` written as ``<@id>`` (SPEC §4.4), longest names first.

    Only whole names after an @ are replaced, and only those that mean one person.
    """
    given = labels(people)
    by_name = {given[person.id]: person.id for person in people if person.name.strip()}
    for label in sorted(by_name, key=lambda each: (-len(each), each)):
        pattern = rf"(?<![\w<])@{re.escape(label)}(?!\w)"
        text = re.sub(pattern, f"<@{by_name[label]}>", text, flags=re.IGNORECASE)
    return text
