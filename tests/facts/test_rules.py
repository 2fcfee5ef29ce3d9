"""Who may read and write what, what a turn is given, and whom a name means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.facts.rules import (
    labels,
    may_read,
    may_read_memory,
    may_write,
    resolve_name,
    scopes_in_play,
    select,
    with_mentions,
)
from memory.types import DEFAULT_LINEAGE, GLOBAL, Memory, Person, Place, Scope
from tests.facts.world import (
    ADMIN,
    ANA,
    ANAS,
    ANAS_DM,
    ANAS_GLOBAL,
    BEN,
    BENS,
    ELSEWHERE,
    GUILD,
    SERVER,
    SERVER_GLOBAL,
    SQUARE,
    memory,
)


@pytest.mark.parametrize(
    ("scope", "person", "place", "reads", "writes", "writes_when_granted"),
    [
        (SERVER, ANA, SQUARE, True, False, True),
        (SERVER, ADMIN, SQUARE, True, True, True),
        (SERVER, ANA, ELSEWHERE, False, False, False),
        (SERVER, ADMIN, ELSEWHERE, False, False, False),
        (SERVER, ADMIN, ANAS_DM, False, False, False),
        (SERVER_GLOBAL, ANA, SQUARE, True, False, True),
        (ANAS, ANA, SQUARE, True, True, True),
        (ANAS, ANA, ELSEWHERE, True, True, True),
        (ANAS, ANA, ANAS_DM, True, True, True),
        (ANAS, BEN, SQUARE, False, False, False),
        (ANAS, ADMIN, SQUARE, False, False, False),
    ],
)
def test_rights_are_those_of_the_table(
    scope: Scope, person: Person, place: Place, reads: bool, writes: bool, writes_when_granted: bool
) -> None:
    assert may_read(scope, person, place) is reads
    assert may_write(scope, person, place, member_access=False) is writes
    assert may_write(scope, person, place, member_access=True) is writes_when_granted


def test_a_user_whose_id_equals_a_servers_id_reaches_nothing_of_that_server() -> None:
    odd = Person(GUILD, "Odd", manages=True)
    assert not may_read(SERVER, odd, ANAS_DM)
    assert not may_read(Scope.user(GUILD), ANA, SQUARE)


def test_an_entry_saved_in_a_dm_is_read_in_dms_only() -> None:
    private = memory(1, dm_only=True)
    assert may_read_memory(private, ANA, ANAS_DM)
    assert not may_read_memory(private, ANA, SQUARE)


def test_a_server_turn_reads_the_servers_two_scopes_and_two_of_each_member_in_play() -> None:
    assert scopes_in_play(SQUARE, DEFAULT_LINEAGE, [ANA.id, BEN.id, ANA.id]) == (
        SERVER,
        SERVER_GLOBAL,
        ANAS,
        ANAS_GLOBAL,
        BENS,
        Scope.user(BEN.id, GLOBAL),
    )


def test_a_dm_turn_reads_that_users_two_scopes() -> None:
    assert scopes_in_play(ANAS_DM, DEFAULT_LINEAGE, [ANA.id]) == (ANAS, ANAS_GLOBAL)


SCOPES = [
    SERVER,
    SERVER_GLOBAL,
    *(Scope.user(user, lineage) for user in range(1, 6) for lineage in ("", "k")),
]


def entries(sizes: Sequence[int], pins: Sequence[int] = ()) -> list[Memory]:
    made: list[Memory] = []
    for scope, size in zip(SCOPES, sizes, strict=False):
        made += [memory(len(made) + each + 1, scope, minutes=each * 7 % 50) for each in range(size)]
    return [replace(each, pinned=at in pins) for at, each in enumerate(made)]


@given(
    sizes=st.lists(st.integers(0, 40), min_size=1, max_size=12),
    limit=st.integers(0, 120),
    pins=st.frozensets(st.integers(0, 400), max_size=60),
)
def test_every_pin_is_given_and_the_rest_is_spread_evenly_up_to_the_limit(
    sizes: list[int], limit: int, pins: frozenset[int]
) -> None:
    world = entries(sizes, tuple(pins))
    given_ = select(world, limit)
    loose = [each for each in world if not each.pinned]
    chosen = [each for each in given_ if not each.pinned]
    assert [each for each in given_ if each.pinned] == sorted(
        (each for each in world if each.pinned), key=lambda each: (each.scope, each.id)
    )
    assert len(chosen) == min(limit, len(loose))
    held, got = Counter(each.scope for each in loose), Counter(each.scope for each in chosen)
    most = max(got.values(), default=0)
    for scope in held:
        assert got[scope] == held[scope] or got[scope] >= most - 1
    for scope in got:
        newest = sorted((e for e in loose if e.scope == scope), key=lambda e: (e.updated_at, e.id))[
            -got[scope] :
        ]
        assert {each.id for each in newest} == {each.id for each in chosen if each.scope == scope}


@given(st.randoms(use_true_random=False))
def test_what_is_given_depends_on_nothing_but_the_entries(random: object) -> None:
    world = entries([20, 3, 40, 40, 17, 9])
    shuffled = list(world)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert select(shuffled, 50) == select(world, 50)


def test_what_a_small_scope_leaves_goes_to_the_others() -> None:
    counts = Counter(each.scope for each in select(entries([2, 120, 120]), 100))
    assert counts == {SCOPES[0]: 2, SCOPES[1]: 49, SCOPES[2]: 49}


def test_twelve_full_scopes_give_one_hundred_entries() -> None:
    assert len(select(entries([100] * 12))) == 100


def test_within_a_scope_entries_come_in_the_order_of_their_ids_so_that_an_addition_appends() -> None:
    before = select(entries([5, 5]), 100)
    after = select([*entries([5, 5]), memory(99, SCOPES[0], minutes=999)], 100)
    assert [each.id for each in after if each.scope == SCOPES[0]] == [
        *(each.id for each in before if each.scope == SCOPES[0]),
        99,
    ]


OTHER_ANA = Person(9992222, "ana")
PEOPLE = (ANA, BEN, Person(5555, "José 🌸"), Person(6666, "  "))


@pytest.mark.parametrize(
    "name", ["Ben", "ben", "@Ben", "  BEN ", "Ｂｅｎ", "<@2222>", "<@!2222>", "Be\u200bn"]
)
def test_a_name_means_the_member_who_bears_it(name: str) -> None:
    assert resolve_name(name, PEOPLE) == BEN


@pytest.mark.parametrize("name", ["Be", "Benn", "", "@", "<@777>", "2222", "everyone", "<@2222", "user"])
def test_a_name_that_nobody_in_play_bears_means_nobody(name: str) -> None:
    assert resolve_name(name, PEOPLE) is None


def test_the_exact_spelling_wins_over_the_same_letters_in_another_case() -> None:
    assert resolve_name("Ana", (ANA, OTHER_ANA)) == ANA
    assert resolve_name("ana", (ANA, OTHER_ANA)) == OTHER_ANA


def test_an_ambiguous_name_gives_candidates_that_are_accepted_back() -> None:
    twins = (Person(10001111, "Ana"), Person(20002222, "Ana"))
    candidates = resolve_name("ana", twins)
    assert candidates == ("Ana (1111)", "Ana (2222)")
    assert [resolve_name(each, twins) for each in candidates] == list(twins)


def test_candidates_whose_last_four_digits_are_equal_get_more_digits() -> None:
    twins = (Person(10001111, "Ana"), Person(10021111, "Ana"))
    candidates = resolve_name("Ana", twins)
    assert isinstance(candidates, tuple) and len(set(candidates)) == 2
    assert [resolve_name(each, twins) for each in candidates] == list(twins)


def test_nobody_can_take_anothers_label_by_bearing_it_as_a_name() -> None:
    thief = Person(30003333, "Ana (1111)")
    people = (Person(10001111, "Ana"), Person(20002222, "Ana"), thief)
    candidates = resolve_name("Ana", people)
    assert isinstance(candidates, tuple)
    assert [resolve_name(each, people) for each in candidates] == list(people[:2])
    assert resolve_name("Ana (1111)", people) == thief


def test_labels_are_plain_names_where_no_two_collide() -> None:
    assert labels((ANA, BEN)) == {ANA.id: "Ana", BEN.id: "Ben"}


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("@Ben likes tea", "<@2222> likes tea"),
        ("ask @ben.", "ask <@2222>."),
        ("Ben likes tea", "Ben likes tea"),
        ("@Benny likes tea", "@Benny likes tea"),
        ("mail me@Ben", "mail me@Ben"),
        ("@José 🌸 sings", "<@5555> sings"),
        ("<@2222> and <@777>", "<@2222> and <@777>"),
        ("@everyone", "@everyone"),
    ],
)
def test_a_member_named_with_an_at_is_stored_by_id(text: str, stored: str) -> None:
    assert with_mentions(text, PEOPLE) == stored


def test_an_at_name_that_two_members_bear_is_left_as_it_is() -> None:
    twins = (Person(10001111, "Ana"), Person(20002222, "Ana"))
    assert with_mentions("@Ana sings", twins) == "@Ana sings"
    assert with_mentions("@Ana (2222) sings", twins) == "<@20002222> sings"
