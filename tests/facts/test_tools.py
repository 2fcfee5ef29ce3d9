"""The model's tools, as a turn calls them, against a real store."""

from __future__ import annotations

import pytest

from memory.facts.outcomes import OutcomeKind as Kind
from memory.facts.service import Facts
from memory.facts.tools import MemoryTools
from memory.store import Store
from memory.types import GLOBAL, ActorKind, Person, Place, Scope
from tests.facts.world import (
    ADMIN,
    ANA,
    ANAS,
    ANAS_DM,
    ANAS_GLOBAL,
    BEN,
    BENS,
    CARLA,
    SERVER,
    SERVER_GLOBAL,
    SQUARE,
    Desk,
    character,
    everything,
    grant,
    saved,
    texts,
)
from tests.fakes import FakeClock


async def test_what_the_trigger_author_tells_is_saved_unpinned_in_their_persona_scope(
    desk: Desk, store: Store
) -> None:
    result = await desk.save("Allergic to peanuts", keywords=["food"])
    memory = result.outcome.memory
    assert result.words == "saved m1" and memory is not None
    assert (memory.scope, memory.pinned, memory.dm_only, memory.keywords) == (ANAS, False, False, ("food",))
    entry = result.outcome.journal
    assert entry is not None and entry.actor_kind is ActorKind.MODEL and entry.source is not None
    assert (entry.actor_id, entry.turn_id, entry.source.message_id) == (ANA.id, 77, 5000)
    assert result.outcome.notice is not None and result.outcome.notice.turn_id == 77


async def test_the_user_defaults_to_the_one_trigger_author_and_may_be_named(desk: Desk) -> None:
    assert (await desk.save("Likes tea", user="ana")).words == "saved m1"
    assert (await desk.save("Likes cake", user="<@1111>")).words == "saved m2"


async def test_with_several_trigger_authors_the_user_must_be_named(desk: Desk, store: Store) -> None:
    desk.authors = (ANA, BEN)
    vague = await desk.save("Likes tea")
    assert vague.words.startswith("ambiguous_user") and "“Ana”, “Ben”" in vague.words
    assert not await everything(store)
    named = await desk.save("Likes tea", user="Ben")
    assert named.outcome.memory is not None and named.outcome.memory.scope == BENS
    assert named.outcome.journal is not None and named.outcome.journal.actor_id == BEN.id


async def test_an_ambiguous_name_is_answered_with_candidates_that_are_accepted_back(desk: Desk) -> None:
    desk.in_play = (ANA, Person(8001, "Kim"), Person(8002, "kim"))
    first = await desk.save("Likes tea", user="KIM")
    assert first.words.startswith("ambiguous_user") and len(first.outcome.candidates) == 2
    again = await desk.save("Likes tea", user=first.outcome.candidates[1])
    assert again.outcome.proposal is not None and again.outcome.proposal.scope.subject_id == 8002


@pytest.mark.parametrize("name", ["Zed", "<@3333>", "3333", "everyone", "Carla"])
async def test_a_name_that_is_not_in_play_is_answered_with_who_is(
    desk: Desk, store: Store, name: str
) -> None:
    result = await desk.save("x is y", user=name)
    assert result.words.startswith("user_not_found") and "“Ana”, “Ben”" in result.words
    assert not await everything(store)


async def test_a_fact_about_another_member_in_play_waits_for_that_member(desk: Desk, store: Store) -> None:
    result = await desk.save("Ben likes jazz", user="Ben")
    proposal, notice = result.outcome.proposal, result.outcome.notice
    assert result.words.startswith("needs_approval") and not await everything(store)
    assert proposal is not None and proposal.scope == BENS and proposal.proposer_id == ANA.id
    assert notice is not None and notice.proposal_id == proposal.id and notice.journal_id is None
    assert "it waits for Ben: only they can approve it." in result.words
    assert "it waits for Ben: only they can approve it." in result.outcome.line()


async def test_the_same_suggestion_again_makes_no_second_one(desk: Desk, facts: Facts) -> None:
    first = await desk.save("Ben likes jazz", user="Ben")
    again = await desk.save("ben likes JAZZ.", user="Ben")
    assert again.outcome.proposal == first.outcome.proposal and again.outcome.notice is None
    assert len(await facts.proposals(BEN, SQUARE)) == 1


async def test_a_server_fact_by_a_member_without_access_waits_for_somebody_with_access(
    desk: Desk, store: Store
) -> None:
    result = await desk.save("Movie night is Friday", about="server")
    assert result.words.startswith("needs_approval") and not await everything(store)
    assert "a member with Manage Server" in result.words


async def test_a_server_fact_is_written_only_when_every_trigger_author_has_access(
    desk: Desk, store: Store
) -> None:
    desk.authors = (ADMIN, ANA)
    assert (await desk.save("Movie night is Friday", about="server")).outcome.kind is Kind.NEEDS_APPROVAL
    desk.authors = (ADMIN,)
    assert (await desk.save("Movie night is Friday", about="server")).words == "saved m1"
    await grant(store)
    desk.authors = (ANA, BEN)
    assert (await desk.save("Game night is Monday", about="server")).words == "saved m2"
    assert [each.scope for each in await everything(store)] == [SERVER, SERVER]


async def test_in_a_dm_there_is_no_server_and_what_is_saved_is_for_dms(desk: Desk) -> None:
    desk.place, desk.in_play = ANAS_DM, (ANA,)
    assert (await desk.save("Movie night is Friday", about="server")).words.startswith("not_allowed")
    result = await desk.save("Afraid of the dark")
    assert result.outcome.memory is not None and result.outcome.memory.dm_only


async def test_what_the_model_updates_in_a_dm_is_for_dms_until_its_owner_widens_it(
    desk: Desk, facts: Facts
) -> None:
    memory = await saved(facts, "Works as a nurse")
    desk.place, desk.in_play = ANAS_DM, (ANA,)
    result = await desk.shows(memory).update("m1", "Works as a nurse and hates it")
    assert result.words.startswith("saved m1") and await facts.get(ANA, SQUARE, memory.id) is None
    assert "DMs only" in result.outcome.line()
    undone = await facts.undo(ANA, ANAS_DM, None)
    shown = await facts.get(ANA, SQUARE, memory.id)
    assert undone.kind is Kind.UNDONE and shown is not None and shown.text == "Works as a nurse"


async def test_the_same_text_is_answered_with_duplicate(desk: Desk, store: Store) -> None:
    await desk.save("Likes tea")
    again = await desk.save("likes TEA.")
    assert again.words.startswith("duplicate m1") and len(await everything(store)) == 1


async def test_a_near_duplicate_names_the_entry_and_is_saved_when_the_call_is_repeated(
    desk: Desk, store: Store
) -> None:
    await desk.save("Ana likes tea")
    near = await desk.save("Ana really likes tea")
    assert near.words.startswith("similar_exists(m1)") and len(await everything(store)) == 1
    again = await desk.save("Ana really likes tea")
    assert again.words == "saved m2"


async def test_a_repeat_in_the_same_round_or_in_another_turn_confirms_nothing(desk: Desk) -> None:
    await desk.save("Ana likes tea")
    desk.round = 1
    assert (await desk.save("Ana really likes tea")).outcome.kind is Kind.SIMILAR_EXISTS
    assert (await desk.save("Ana really likes tea")).outcome.kind is Kind.SIMILAR_EXISTS
    desk.turn_id = 78
    assert (await desk.save("Ana really likes tea")).outcome.kind is Kind.SIMILAR_EXISTS
    desk.round = 2
    assert (await desk.save("Ana really likes tea")).outcome.kind is Kind.SAVED


async def test_a_fact_that_differs_in_a_number_is_saved_at_once(desk: Desk) -> None:
    await desk.save("Birthday is 3 May")
    assert (await desk.save("Birthday is 4 May")).words == "saved m2"


async def test_the_entry_named_as_similar_or_just_saved_may_be_updated_in_the_same_turn(
    desk: Desk, facts: Facts
) -> None:
    await saved(facts, "Ana likes tea")
    await desk.save("Ana really likes tea")
    assert (await desk.update("m1", "Ana really likes tea")).words.startswith("saved m1")


async def test_a_full_scope_is_answered_with_the_counts_and_nothing_is_evicted(
    small: Facts, store: Store
) -> None:
    desk = Desk(small, MemoryTools(small))
    for number in range(3):
        await saved(small, f"fact {number}")
    result = await desk.save("One more thing")
    assert result.words.startswith("limit_reached: 3 of 3 unpinned") and len(await everything(store)) == 3


async def test_a_text_over_the_limit_is_answered_with_the_limit(desk: Desk, store: Store) -> None:
    result = await desk.save("x" * 501)
    assert result.words.startswith("too_long(500): 501") and not await everything(store)


@pytest.mark.parametrize("content", ["", "  ", "\u200b", "\n"])
async def test_an_empty_content_is_answered_with_what_to_send(desk: Desk, content: str) -> None:
    assert (await desk.save(content)).words.startswith("error: content is empty")


async def test_a_shown_entry_is_updated_and_deleted_by_its_handle(
    desk: Desk, facts: Facts, store: Store
) -> None:
    desk.shows(await saved(facts, "Likes tea"), await saved(facts, "Likes cake"))
    assert (await desk.update("[M1]", "Likes coffee")).words.startswith("saved m1")
    assert (await desk.call("delete_memory", handle=2)).words == "saved: m2 deleted"
    assert texts(await everything(store)) == ["Likes coffee"]


@pytest.mark.parametrize("shown", ["m2", "m99", "", "mm1", "m1 or m2", "²", "99999999999999999999999"])
async def test_only_handles_of_the_present_prompt_are_accepted(
    desk: Desk, facts: Facts, store: Store, shown: str
) -> None:
    desk.shows(await saved(facts, "Likes tea"))
    await saved(facts, "Likes cake")
    for result in (await desk.update(shown, "hacked"), await desk.delete(shown)):
        assert result.words.startswith("error: there is no such memory in this prompt")
    assert texts(await everything(store)) == ["Likes tea", "Likes cake"]


async def test_a_pinned_entry_is_never_changed_by_the_model(desk: Desk, facts: Facts, store: Store) -> None:
    desk.shows(await saved(facts, "Likes tea", pinned=True))
    for result in (await desk.update("m1", "Likes coffee"), await desk.delete("m1")):
        assert result.words.startswith("pinned_protected")
    assert texts(await everything(store)) == ["Likes tea"]


@pytest.mark.parametrize(
    "scope", [ANAS_GLOBAL, SERVER_GLOBAL, Scope.user(ANA.id, "other"), Scope.server(901, "keepsake")]
)
async def test_the_model_changes_entries_of_its_own_persona_only(
    desk: Desk, facts: Facts, store: Store, scope: Scope
) -> None:
    await character(store, "other")
    place = SQUARE if scope.subject_id != 901 else Place(20, 901)
    memory = await saved(facts, "Likes tea", scope, place)
    desk.authors = (Person(ANA.id, "Ana", manages=True),)
    desk.shows(memory)
    for result in (await desk.update("m1", "hacked"), await desk.delete("m1")):
        assert result.words.startswith("not_allowed")


async def test_changing_another_members_entry_waits_for_that_member(
    desk: Desk, facts: Facts, store: Store
) -> None:
    desk.shows(await saved(facts, "Likes tea", BENS))
    update, delete = await desk.update("m1", "Likes coffee"), await desk.delete("m1")
    assert update.words.startswith("needs_approval") and delete.words.startswith("needs_approval")
    assert texts(await everything(store)) == ["Likes tea"]
    assert len(await facts.proposals(BEN, SQUARE)) == 2 and not await facts.proposals(ANA, SQUARE)


async def test_changing_the_entry_of_a_member_who_is_not_in_play_is_not_allowed(
    desk: Desk, facts: Facts
) -> None:
    desk.shows(await saved(facts, "Likes tea", Scope.user(CARLA.id, "keepsake")))
    assert (await desk.delete("m1")).words.startswith("not_allowed")


async def test_a_dm_entry_cannot_be_changed_from_a_server_even_by_a_known_handle(
    desk: Desk, facts: Facts, store: Store
) -> None:
    desk.shows(await saved(facts, "Secret", place=ANAS_DM))
    result = await desk.update("m1", "hacked")
    assert result.words.startswith("error") and texts(await everything(store)) == ["Secret"]


async def test_a_near_duplicate_that_lives_in_dms_only_does_not_show_in_a_server(
    desk: Desk, facts: Facts
) -> None:
    await saved(facts, "Ana likes tea", place=ANAS_DM)
    assert (await desk.save("Ana really likes tea")).words == "saved m2"
    assert "m1" not in (await desk.save("Ana likes tea")).words


async def test_an_entry_deleted_meanwhile_is_said_to_be_gone(desk: Desk, facts: Facts) -> None:
    memory = await saved(facts, "Likes tea")
    desk.shows(memory)
    await facts.delete(ANA, SQUARE, memory.id)
    result = await desk.update("m1", "Likes coffee")
    assert result.words.startswith("error: m1 was deleted meanwhile")


async def test_an_entry_that_a_person_edited_since_the_turn_began_is_not_overwritten_unseen(
    desk: Desk, facts: Facts, store: Store, clock: FakeClock
) -> None:
    memory = await saved(facts, "Likes tea")
    clock.move(minutes=1)
    async with store.write() as tx:
        turn = await tx.turns.open(SQUARE, "keepsake", (5000,), (ANA.id,), clock.now())
    desk.turn_id = turn.id
    clock.move(seconds=5)
    await facts.edit(ANA, SQUARE, memory.id, "Likes cocoa")
    first = await desk.shows(memory).update("m1", "Likes coffee")
    assert first.outcome.kind is Kind.CHANGED_MEANWHILE and "“Likes cocoa”" in first.words
    assert (await desk.update("m1", "Likes coffee and cocoa")).words.startswith("saved m1")
    assert (await desk.update("m1", "Likes coffee")).words.startswith("saved m1")


async def test_members_written_with_an_at_are_stored_by_id(desk: Desk) -> None:
    result = await desk.save("Plays chess with @Ben")
    assert result.outcome.memory is not None and result.outcome.memory.text == "Plays chess with <@2222>"


async def test_keywords_over_the_caps_are_dropped_and_said(desk: Desk) -> None:
    result = await desk.save("Likes tea", keywords=["a", "b", "c", "d", "e", "f", "x" * 51])
    assert result.words == "saved m1 (2 keywords dropped: at most 5 of 50 characters.)"


async def test_a_turn_without_a_trigger_author_writes_nothing(desk: Desk, store: Store) -> None:
    desk.authors = ()
    for about in ("user", "server"):
        result = await desk.save("x is y", about=about, user="Ben")
        assert not result.outcome.wrote and result.outcome.proposal is None
    assert not await everything(store)


async def test_the_default_lineage_may_not_be_global(desk: Desk) -> None:
    desk.lineage = GLOBAL
    assert (await desk.save("x is y")).words.startswith("not_allowed")


async def test_a_failing_database_is_answered_with_words_and_nothing_is_half_saved(
    url: str, clock: FakeClock
) -> None:
    store = await Store.open(url)
    facts = Facts(store, clock)
    desk = Desk(facts, MemoryTools(facts))
    await store.close()
    result = await desk.save("Likes tea")
    assert result.outcome.kind is Kind.ERROR and "nothing was saved" in result.words
    reopened = await Store.open(url)
    assert not await everything(reopened)
    await reopened.close()


async def test_at_most_fifty_suggestions_wait_in_a_scope(desk: Desk, clock: FakeClock) -> None:
    for number in range(50):
        assert (await desk.save(f"Ben fact {number}", user="Ben")).outcome.proposal is not None
    refused = await desk.save("Ben fact 50", user="Ben")
    assert refused.words.startswith("limit_reached: 50 of 50 suggestions")
    clock.move(days=7, seconds=1)
    assert (await desk.save("Ben fact 50", user="Ben")).outcome.proposal is not None


async def test_the_tools_are_described_with_strict_schemas(desk: Desk) -> None:
    specs = desk.tools.specs()
    assert [spec.name for spec in specs] == ["save_memory", "update_memory", "delete_memory"]
    assert all(spec.parameters["additionalProperties"] is False for spec in specs)
    assert "weeks" in specs[0].description and "500" in str(specs[0].parameters)
