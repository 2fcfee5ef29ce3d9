"""Suggestions: who decides, once, and through the gate again."""

from __future__ import annotations

import asyncio

import pytest

from memory.facts.outcomes import OutcomeKind as Kind
from memory.facts.service import Facts
from memory.facts.tools import MemoryTools
from memory.store import Store
from memory.types import ActorKind, Person, Place, ProposalState
from tests.facts.world import (
    ADMIN,
    ANA,
    ANAS_DM,
    BEN,
    BENS,
    BENS_DM,
    CARLA,
    ELSEWHERE,
    SERVER,
    SQUARE,
    Desk,
    everything,
    grant,
    proposal_id,
    saved,
    texts,
)
from tests.fakes import FakeClock


async def about_ben(desk: Desk, text: str = "Ben likes jazz") -> int:
    return proposal_id((await desk.save(text, user="Ben")).outcome)


async def test_the_member_it_is_about_approves_and_it_is_saved_in_their_name(
    desk: Desk, facts: Facts, store: Store
) -> None:
    number = await about_ben(desk)
    outcome = await facts.decide(BEN, SQUARE, number, True)
    entry = outcome.journal
    assert outcome.kind is Kind.SAVED and outcome.memory is not None and outcome.memory.scope == BENS
    assert entry is not None and (entry.actor_kind, entry.actor_id) == (ActorKind.MEMBER, BEN.id)
    assert entry.turn_id == 77 and entry.source is not None and entry.source.message_id == 5000
    assert outcome.proposal is not None and outcome.proposal.state is ProposalState.APPROVED
    assert outcome.redraw is not None and outcome.redraw.proposal_id == number
    assert not outcome.memory.dm_only and texts(await everything(store)) == ["Ben likes jazz"]


@pytest.mark.parametrize(
    ("person", "place"), [(ANA, SQUARE), (CARLA, SQUARE), (ADMIN, SQUARE), (ADMIN, ELSEWHERE), (ANA, ANAS_DM)]
)
async def test_nobody_else_decides_about_a_member(
    desk: Desk, facts: Facts, store: Store, person: Person, place: Place
) -> None:
    number = await about_ben(desk)
    for approve in (True, False):
        outcome = await facts.decide(person, place, number, approve)
        assert outcome.kind is Kind.NOT_ALLOWED and outcome == await facts.decide(person, place, 999, approve)
    assert not await everything(store) and len(await facts.proposals(BEN, SQUARE)) == 1


async def test_a_server_suggestion_is_decided_by_who_has_access_there(
    desk: Desk, facts: Facts, store: Store
) -> None:
    number = proposal_id((await desk.save("Movie night is Friday", about="server")).outcome)
    assert (await facts.decide(ANA, SQUARE, number, True)).kind is Kind.NOT_ALLOWED
    assert (await facts.decide(ADMIN, ELSEWHERE, number, True)).kind is Kind.NOT_ALLOWED
    assert [each.id for each in await facts.proposals(ADMIN, SQUARE)] == [number]
    assert (await facts.decide(ADMIN, SQUARE, number, True)).kind is Kind.SAVED
    assert [each.scope for each in await everything(store)] == [SERVER]


async def test_access_taken_away_before_the_press_counts(desk: Desk, facts: Facts, store: Store) -> None:
    number = proposal_id((await desk.save("Movie night is Friday", about="server")).outcome)
    await grant(store)
    await grant(store, value="off")
    assert (await facts.decide(BEN, SQUARE, number, True)).kind is Kind.NOT_ALLOWED


async def test_discarding_saves_nothing(desk: Desk, facts: Facts, store: Store) -> None:
    number = await about_ben(desk)
    outcome = await facts.decide(BEN, SQUARE, number, False)
    assert outcome.kind is Kind.DISCARDED and "Nothing was saved" in outcome.line()
    late = await facts.decide(BEN, SQUARE, number, True)
    assert "already discarded" in late.line() and not await everything(store)


async def test_a_suggestion_is_decided_once(desk: Desk, facts: Facts, store: Store) -> None:
    number = await about_ben(desk)
    outcomes = await asyncio.gather(*(facts.decide(BEN, SQUARE, number, each % 2 == 0) for each in range(4)))
    assert sum(each.kind in (Kind.SAVED, Kind.DISCARDED) for each in outcomes) == 1
    assert sum("already" in each.line() for each in outcomes) == 3


async def test_a_suggestion_expires_after_seven_days(
    desk: Desk, facts: Facts, store: Store, clock: FakeClock
) -> None:
    number = await about_ben(desk)
    clock.move(days=7, seconds=1)
    late = await facts.decide(BEN, SQUARE, number, True)
    assert "expired" in late.line() and not await everything(store)
    assert "expired" in (await facts.decide(BEN, SQUARE, number, True)).line()
    assert not await facts.proposals(BEN, SQUARE)


async def test_the_same_suggestion_in_another_turn_has_a_notice_there_and_the_decision_reaches_all(
    desk: Desk, facts: Facts, store: Store, clock: FakeClock
) -> None:
    first = (await desk.save("Ben likes jazz", user="Ben")).outcome
    desk.turn_id, desk.place = 78, Place(11, SQUARE.guild_id)
    second = (await desk.save("ben likes JAZZ", user="Ben")).outcome
    assert (await desk.save("Ben likes jazz", user="Ben")).outcome.notice is None
    assert first.notice is not None and second.notice is not None
    assert proposal_id(second) == proposal_id(first) and second.notice.channel_id == 11
    clock.move(days=7, seconds=1)
    late = await facts.decide(BEN, SQUARE, proposal_id(first), True)
    assert "expired" in late.line() and late.redraws == (second.notice, first.notice)
    assert (await facts.decide(BEN, SQUARE, proposal_id(first), False)).redraws == late.redraws
    assert not await everything(store)


async def test_a_refused_approval_says_why_and_the_suggestion_waits_on(small: Facts, store: Store) -> None:
    number = await about_ben(Desk(small, MemoryTools(small)))
    held = [await saved(small, f"fact {each}", BENS) for each in range(3)]
    refused = await small.decide(BEN, SQUARE, number, True)
    assert refused.kind is Kind.LIMIT_REACHED and len(await small.proposals(BEN, SQUARE)) == 1
    await small.delete(BEN, SQUARE, held[0].id)
    assert (await small.decide(BEN, SQUARE, number, True)).kind is Kind.SAVED


async def test_approving_what_is_there_already_closes_the_suggestion(desk: Desk, facts: Facts) -> None:
    number = await about_ben(desk)
    await saved(facts, "ben likes jazz", BENS)
    assert (await facts.decide(BEN, SQUARE, number, True)).kind is Kind.DUPLICATE
    assert not await facts.proposals(BEN, SQUARE)


async def test_a_suggested_update_and_deletion_are_carried_out_when_approved(
    desk: Desk, facts: Facts, store: Store
) -> None:
    desk.shows(await saved(facts, "Likes tea", BENS), await saved(facts, "Likes cake", BENS))
    update = proposal_id((await desk.update("m1", "Likes coffee")).outcome)
    delete = proposal_id((await desk.delete("m2")).outcome)
    assert (await facts.decide(BEN, SQUARE, update, True)).kind is Kind.UPDATED
    assert (await facts.decide(BEN, SQUARE, delete, True)).kind is Kind.DELETED
    assert texts(await everything(store)) == ["Likes coffee"]


async def test_a_suggestion_about_an_entry_that_changed_since_is_not_carried_out(
    desk: Desk, facts: Facts, store: Store, clock: FakeClock
) -> None:
    desk.shows(await saved(facts, "Likes tea", BENS))
    number = proposal_id((await desk.delete("m1")).outcome)
    clock.move(minutes=1)
    await facts.edit(BEN, SQUARE, 1, "Likes cocoa")
    refused = await facts.decide(BEN, SQUARE, number, True)
    assert refused.kind is Kind.CHANGED_MEANWHILE and "“Likes cocoa”" in refused.line()
    assert texts(await everything(store)) == ["Likes cocoa"]


async def test_a_suggestion_about_an_entry_that_was_pinned_or_deleted_since_is_not_carried_out(
    desk: Desk, facts: Facts, store: Store
) -> None:
    desk.shows(await saved(facts, "Likes tea", BENS))
    number = proposal_id((await desk.update("m1", "Likes coffee")).outcome)
    await facts.pin(BEN, SQUARE, 1, True)
    assert (await facts.decide(BEN, SQUARE, number, True)).kind is Kind.PINNED_PROTECTED
    await facts.delete(BEN, SQUARE, 1)
    gone = await facts.decide(BEN, SQUARE, number, True)
    assert gone.kind is Kind.NOT_FOUND and "gone" in gone.line()


async def test_what_was_suggested_in_a_server_is_used_everywhere_also_when_approved_in_a_dm(
    desk: Desk, facts: Facts
) -> None:
    outcome = await facts.decide(BEN, BENS_DM, await about_ben(desk), True)
    assert outcome.memory is not None and not outcome.memory.dm_only


async def test_an_approved_write_can_be_undone_by_the_member(desk: Desk, facts: Facts, store: Store) -> None:
    await facts.decide(BEN, SQUARE, await about_ben(desk), True)
    assert (await facts.undo(BEN, SQUARE, None)).kind is Kind.UNDONE and not await everything(store)
