"""Reading: shelves, search, history, what a turn is given, what a confirmation shows."""

from __future__ import annotations

import pytest

from memory.facts.outcomes import Outcome, OutcomeKind, handle, quote
from memory.facts.service import Facts
from memory.facts.tool_words import tool_words
from memory.facts.writes import MemoryLimits
from memory.store import Store
from memory.types import GLOBAL, Op, Scope
from tests.facts.world import (
    ADMIN,
    ANA,
    ANAS,
    ANAS_DM,
    ANAS_GLOBAL,
    BEN,
    BENS,
    ELSEWHERE,
    SERVER,
    SERVER_GLOBAL,
    SQUARE,
    Desk,
    grant,
    saved,
    texts,
    turn_is_given,
)
from tests.fakes import FakeClock


async def test_shelves_show_the_servers_and_ones_own_scopes_newest_first(
    facts: Facts, clock: FakeClock
) -> None:
    for number in range(3):
        await saved(facts, f"fact {number}")
        clock.move(minutes=1)
    await saved(facts, "Movie night", SERVER, pinned=True)
    await saved(facts, "Ben's", BENS)
    shelves = await facts.shelves(ANA, SQUARE)
    assert [each.scope for each in shelves] == [SERVER, SERVER_GLOBAL, ANAS, ANAS_GLOBAL]
    assert texts(shelves[2].memories) == ["fact 2", "fact 1", "fact 0"]
    assert [(each.unpinned, each.pinned) for each in shelves] == [(0, 1), (0, 0), (3, 0), (0, 0)]
    assert [each.may_write for each in shelves] == [False, False, True, True]
    assert [each.persona for each in shelves] == ["the built-in persona", "all personas"] * 2
    assert shelves[2].limit == 100


async def test_a_shelf_in_a_server_counts_what_is_for_dms_only_without_showing_it(facts: Facts) -> None:
    await saved(facts, "Afraid of the dark", place=ANAS_DM)
    await saved(facts, "Likes tea")
    here = (await facts.shelves(ANA, SQUARE))[2]
    assert texts(here.memories) == ["Likes tea"] and (here.unpinned, here.hidden_dm_only) == (2, 1)
    there = (await facts.shelves(ANA, ANAS_DM))[0]
    assert len(there.memories) == 2 and there.hidden_dm_only == 0


async def test_shelves_tell_a_member_with_access_that_they_may_write(facts: Facts, store: Store) -> None:
    await grant(store)
    assert all(each.may_write for each in await facts.shelves(ANA, SQUARE))
    assert [each.may_write for each in await facts.shelves(ANA, ELSEWHERE)] == [False, False, True, True]


async def test_in_a_dm_only_ones_own_shelves_are_shown(facts: Facts) -> None:
    await saved(facts, "Movie night", SERVER)
    assert [each.scope for each in await facts.shelves(ADMIN, ANAS_DM)] == [
        Scope.user(ADMIN.id, "keepsake"),
        Scope.user(ADMIN.id, GLOBAL),
    ]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("m3", "Tiene alergia al cacahuate"),
        ("3", "Tiene alergia al cacahuate"),
        ("PEANUT", "peanut butter is fine"),
        ("allerg", "Allergic to peanuts"),
        ("ALERGIÁ", "Tiene alergia al cacahuate"),
        ("ｐｅａｎｕｔ butter", "peanut butter is fine"),
        ("peanuts allergic", "Allergic to peanuts"),
        ("food", "Movie night"),
        ("@Ben", "Plays chess with <@2222>"),
        ("eanut", "peanut butter is fine"),
    ],
)
async def test_search_finds_by_words_handle_keyword_and_member_best_first(
    facts: Facts, store: Store, query: str, first: str
) -> None:
    await saved(facts, "Allergic to peanuts")
    await facts.add(ADMIN, SQUARE, SERVER, "Movie night", keywords=["food"])
    await saved(facts, "Tiene alergia al cacahuate")
    await saved(facts, "peanut butter is fine")
    await saved(facts, "Plays chess with <@2222>")
    async with store.write() as tx:
        await tx.names.put(SQUARE.guild_id or 0, {BEN.id: "Ben"})
    assert texts(await facts.find(ANA, SQUARE, query))[0] == first


async def test_an_empty_search_gives_the_newest_twenty_five(facts: Facts, clock: FakeClock) -> None:
    for number in range(30):
        await saved(facts, f"fact {number}")
        clock.move(seconds=1)
    found = await facts.find(ANA, SQUARE, "  ", limit=100)
    assert texts(found) == [f"fact {number}" for number in range(29, 4, -1)]
    assert await facts.find(ANA, SQUARE, "", limit=0) == []


async def test_search_can_be_limited_to_pinned_or_unpinned_entries(facts: Facts) -> None:
    await saved(facts, "Likes tea", pinned=True)
    await saved(facts, "Likes cake")
    assert texts(await facts.find(ANA, SQUARE, "likes", pinned=True)) == ["Likes tea"]
    assert texts(await facts.find(ANA, SQUARE, "likes", pinned=False)) == ["Likes cake"]


@pytest.mark.parametrize(
    "query", ["zzz", "m99", "%", "_", "' OR 1=1", "\x00", "\u200b", "(((", "m", "😀" * 200]
)
async def test_a_search_for_nonsense_finds_nothing_wrong(facts: Facts, query: str) -> None:
    await saved(facts, "Ben's secret", BENS)
    assert await facts.find(ANA, SQUARE, query) == []


async def test_history_lists_every_write_newest_first_deleted_entries_too(facts: Facts) -> None:
    memory = await saved(facts, "Likes tea")
    await facts.edit(ANA, SQUARE, memory.id, "Likes coffee")
    await facts.delete(ANA, SQUARE, memory.id)
    history = await facts.history(ANA, SQUARE, memory.id)
    assert [each.op for each in history] == [Op.DELETE, Op.UPDATE, Op.ADD]
    assert history[1].before is not None and history[1].before.text == "Likes tea"


async def test_history_is_refused_to_everybody_else_also_after_deletion(facts: Facts) -> None:
    memory = await saved(facts, "Ana's secret")
    server = await saved(facts, "Movie night", SERVER)
    for _ in range(2):
        assert await facts.history(BEN, SQUARE, memory.id) == []
        assert await facts.history(ADMIN, SQUARE, memory.id) == []
        assert await facts.history(BEN, ELSEWHERE, server.id) == []
        await facts.delete(ANA, SQUARE, memory.id)
        await facts.delete(ADMIN, SQUARE, server.id)
    assert len(await facts.history(BEN, SQUARE, server.id)) == 2


async def test_history_in_a_server_leaves_out_the_time_before_an_entry_was_widened(facts: Facts) -> None:
    memory = await saved(facts, "Very private wording", place=ANAS_DM)
    await facts.edit(ANA, ANAS_DM, memory.id, "Public wording")
    assert await facts.history(ANA, SQUARE, memory.id) == []
    await facts.widen(ANA, ANAS_DM, memory.id)
    history = await facts.history(ANA, SQUARE, memory.id)
    assert [each.op for each in history] == [Op.WIDEN] and "Very private" not in repr(history)
    assert len(await facts.history(ANA, ANAS_DM, memory.id)) == 3


async def test_a_server_turn_is_given_no_dm_entries_and_nobody_out_of_play(
    facts: Facts, store: Store
) -> None:
    for text, scope in [("server", SERVER), ("global", SERVER_GLOBAL), ("ana", ANAS), ("ben", BENS)]:
        await saved(facts, text, scope)
    await saved(facts, "ana in dm", place=ANAS_DM)
    async with store.read() as tx:
        assert texts(await turn_is_given(facts, tx, SQUARE, [ANA.id])) == ["global", "server", "ana"]
        assert texts(await turn_is_given(facts, tx, ANAS_DM, [ANA.id])) == ["ana", "ana in dm"]
        assert texts(await turn_is_given(facts, tx, ELSEWHERE, [BEN.id])) == ["ben"]


async def test_a_turn_is_given_at_most_the_configured_number_of_unpinned_entries(
    store: Store, clock: FakeClock
) -> None:
    facts = Facts(store, clock, MemoryLimits(injected=2))
    for number in range(4):
        await saved(facts, f"fact {number}", pinned=number == 0)
        clock.move(seconds=1)
    async with store.read() as tx:
        assert texts(await turn_is_given(facts, tx, SQUARE, [ANA.id])) == ["fact 0", "fact 2", "fact 3"]


async def test_a_confirmation_knows_the_write_the_entry_as_it_stands_and_the_members_name(
    facts: Facts, store: Store
) -> None:
    async with store.write() as tx:
        await tx.names.put(SQUARE.guild_id or 0, {ANA.id: "Ana the Great"})
    added = await facts.add(ANA, SQUARE, ANAS, "Likes tea")
    assert added.notice is not None
    await facts.pin(ANA, SQUARE, 1, True)
    view = await facts.notice_view(added.notice.id, persona_name="Keepsake", server_name="The Square")
    assert view is not None and view.entry == added.journal and view.proposal is None
    assert view.memory is not None and view.memory.pinned
    assert (view.persona_name, view.subject_name) == ("Keepsake", "Ana the Great")
    await facts.undo(ANA, SQUARE, added.journal.id if added.journal else None)
    again = await facts.notice_view(added.notice.id, persona_name="Keepsake", server_name="The Square")
    assert again is not None and again.memory is None and again.entry is not None and again.entry.undone_by


async def test_a_confirmation_in_a_server_never_shows_what_became_for_dms_only(
    desk: Desk, facts: Facts
) -> None:
    added = await facts.add(ANA, SQUARE, ANAS, "Works as a nurse")
    desk.place = ANAS_DM
    await desk.shows(*(await facts.find(ANA, SQUARE, ""))).update("m1", "Works as a nurse and hates it")
    assert added.notice is not None
    view = await facts.notice_view(added.notice.id, persona_name="K", server_name="S")
    assert view is not None and view.memory is None and "hates it" not in repr(view)


async def test_the_confirmation_of_a_suggestion_shows_the_suggestion(desk: Desk, facts: Facts) -> None:
    result = await desk.save("Ben likes jazz", user="Ben")
    assert result.outcome.notice is not None
    view = await facts.notice_view(result.outcome.notice.id, persona_name="K", server_name="S")
    assert view is not None and view.proposal == result.outcome.proposal and view.entry is None
    assert view.subject_name == "a member"
    assert await facts.notice_view(999, persona_name="K", server_name="S") is None


@pytest.mark.parametrize("kind", list(OutcomeKind))
def test_every_outcome_has_a_sentence_for_people_and_words_for_the_model(kind: OutcomeKind) -> None:
    bare = Outcome(kind)
    assert bare.line().endswith((".", "…")) and tool_words(bare)
    spoken = {
        *("saved", "duplicate", "similar_exists", "limit_reached", "pinned_protected", "ambiguous_user"),
        *(
            "user_not_found",
            "not_allowed",
            "privacy_restricted",
            "disabled",
            "needs_approval",
            "too_long",
            "error",
        ),
    }
    first = tool_words(bare).split(":")[0].split("(")[0].split()[0]
    assert first in spoken and (kind.value not in spoken or first == kind.value)


def test_memory_text_in_a_line_is_quoted_on_one_line_and_cannot_close_its_quotes() -> None:
    quoted = quote("a” said nobody\n\n“b" + "x" * 500)
    assert quoted.startswith('“a" said nobody "b') and quoted.endswith("…”") and len(quoted) == 122
    assert quoted.count("“") == quoted.count("”") == 1 and handle(12) == "m12"
