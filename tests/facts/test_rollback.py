"""Rollback of a turn: exactly the earlier state; what a person made theirs stays and is named (SPEC §4.6)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memory.facts.outcomes import OutcomeKind as Kind
from memory.facts.rollback import RolledBack
from memory.facts.service import Facts
from memory.facts.tools import MemoryTools
from memory.facts.writes import Hand
from memory.store import Store
from memory.types import Actor, ActorKind, Memory, Op, Persona, ProposalState, Scope
from tests.facts.world import (
    ADMIN,
    ANA,
    ANAS,
    BEN,
    GUILD,
    NOON,
    SERVER,
    SQUARE,
    Desk,
    everything,
    journal_id,
    proposal_id,
    saved,
    texts,
)
from tests.fakes import FakeClock

TURN = 77


async def roll_back(facts: Facts, *turn_ids: int) -> RolledBack:
    hand = Hand(Actor(ActorKind.MEMBER, ADMIN), SQUARE)
    async with facts.store.write() as tx:
        return await facts.gate.roll_back(tx, turn_ids or [TURN], hand)


def unversioned(memories: list[Memory]) -> list[Memory]:
    """The version counts writes and only ever rises."""
    return [replace(memory, version=0) for memory in memories]


async def test_everything_that_a_turn_wrote_goes_back_to_exactly_what_was(
    facts: Facts, store: Store, desk: Desk, clock: FakeClock
) -> None:
    tea = await saved(facts, "Likes tea with <@2222>")
    dog = await saved(facts, "Has a dog")
    before = await everything(store)
    clock.move(days=3)
    desk.shows(tea, dog)
    await desk.update(f"m{tea.id}", "Likes coffee")
    await desk.update(f"m{tea.id}", "Likes cocoa with <@3333>")
    await desk.delete(f"m{dog.id}")
    await desk.save("Plays the cello")
    await desk.save("Owns a boat", about="server")
    clock.move(minutes=1)
    back = await roll_back(facts)
    assert unversioned(await everything(store)) == unversioned(before)
    assert len(back.undone) == 4 and not back.kept
    async with store.read() as tx:
        assert await tx.memories.mentions(tea.id) == [2222]


async def test_each_step_is_journaled_as_an_undo_by_who_asked(facts: Facts, store: Store, desk: Desk) -> None:
    made = (await desk.save("Plays the cello")).outcome
    await roll_back(facts)
    async with store.read() as tx:
        history = await tx.journal.of_memory(1)
        mine = await tx.journal.of_turn(TURN)
    undo, add = history
    assert undo.op is Op.DELETE and undo.undoes == journal_id(made) and undo.actor_id == ADMIN.id
    assert add.undone_by == undo.id and mine == [add]


async def test_a_second_rollback_changes_nothing(facts: Facts, store: Store, desk: Desk) -> None:
    tea = await saved(facts, "Likes tea")
    await desk.shows(tea).update(f"m{tea.id}", "Likes coffee")
    await roll_back(facts)
    assert await roll_back(facts) == RolledBack()
    assert texts(await everything(store)) == ["Likes tea"]


@pytest.mark.parametrize("claim", ["pin", "edit", "edit back"])
async def test_an_entry_that_a_person_made_theirs_since_stays_and_is_named(
    facts: Facts, store: Store, desk: Desk, claim: str
) -> None:
    await desk.save("Plays the cello")
    if claim == "pin":
        await facts.pin(ANA, SQUARE, 1, True)
    else:
        await facts.edit(ANA, SQUARE, 1, "Plays the viola")
        if claim == "edit back":  # edited back to what the turn had written: still a person's words
            await facts.edit(ANA, SQUARE, 1, "Plays the cello")
    left = await everything(store)
    (kept,) = (await roll_back(facts)).kept
    assert await everything(store) == left
    assert kept.line() == f"m1 stays as it is: it was {'pinned' if claim == 'pin' else 'edited'} since."


async def test_an_update_of_an_entry_pinned_since_stays(facts: Facts, store: Store, desk: Desk) -> None:
    tea = await saved(facts, "Likes tea")
    await desk.shows(tea).update(f"m{tea.id}", "Likes coffee")
    await facts.pin(ANA, SQUARE, tea.id, True)
    (kept,) = (await roll_back(facts)).kept
    assert "pinned" in kept.why and texts(await everything(store)) == ["Likes coffee"]


async def test_a_pin_or_an_edit_that_was_taken_back_claims_nothing(
    facts: Facts, store: Store, desk: Desk
) -> None:
    await desk.save("Plays the cello")
    await facts.pin(ANA, SQUARE, 1, True)
    await facts.pin(ANA, SQUARE, 1, False)
    edited = await facts.edit(ANA, SQUARE, 1, "Plays the viola")
    await facts.undo(ANA, SQUARE, journal_id(edited))
    assert not (await roll_back(facts)).kept and not await everything(store)


async def test_what_somebody_deleted_since_stays_deleted(facts: Facts, store: Store, desk: Desk) -> None:
    tea = await saved(facts, "Likes tea")
    await desk.save("Plays the cello")
    await desk.shows(tea).update(f"m{tea.id}", "Likes coffee")
    await facts.delete(ANA, SQUARE, tea.id)
    await facts.delete(ANA, SQUARE, 2)
    (kept,) = (await roll_back(facts)).kept
    assert kept.line() == f"m{tea.id} was deleted since and stays deleted." and not await everything(store)


async def test_a_deleted_entry_whose_place_or_words_were_taken_stays_deleted_and_is_said(
    small: Facts, store: Store
) -> None:
    desk = Desk(small, MemoryTools(small))
    tea, dog = await saved(small, "Likes tea"), await saved(small, "Has a dog")
    desk.shows(tea, dog)
    await desk.delete(f"m{tea.id}")
    await desk.delete(f"m{dog.id}")
    await saved(small, "likes tea.")
    await saved(small, "one more")
    await saved(small, "and another")
    back = await roll_back(small)
    assert {kept.line() for kept in back.kept} == {
        f"m{tea.id} stays deleted: the same was saved again since.",
        f"m{dog.id} stays deleted: its place was taken since.",
    }
    assert len(await everything(store)) == 3


async def test_a_place_that_the_turn_itself_took_is_free_again(small: Facts, store: Store) -> None:
    desk = Desk(small, MemoryTools(small))
    first = await saved(small, "one")
    await saved(small, "two")
    await saved(small, "three")
    await desk.shows(first).delete(f"m{first.id}")
    await desk.save("Plays the cello")
    await roll_back(small)
    assert texts(await everything(store)) == ["one", "two", "three"]


async def test_a_deletion_comes_back_for_all_personas_where_its_own_is_gone(
    facts: Facts, store: Store
) -> None:
    scope = Scope.user(ANA.id, "abcd")
    async with store.write() as tx:
        mira = await tx.personas.add(Persona(0, GUILD, "abcd", "Mira"), "mira", ADMIN.id, NOON)
    desk = Desk(facts, MemoryTools(facts), lineage="abcd")
    tea = await saved(facts, "Likes tea", scope)
    await desk.shows(tea).delete(f"m{tea.id}")
    async with store.write() as tx:
        assert mira is not None and await tx.personas.remove(mira)
    (kept,) = (await roll_back(facts)).kept
    assert "for all personas" in kept.line() and not await everything(store, scope)
    assert texts(await everything(store)) == ["Likes tea"]


async def test_several_turns_go_back_the_newest_first(facts: Facts, store: Store, desk: Desk) -> None:
    tea = await saved(facts, "Likes tea")
    before = await everything(store)
    await desk.shows(tea).update(f"m{tea.id}", "Likes coffee")
    desk.turn_id = 78
    await desk.update(f"m{tea.id}", "Likes cocoa")
    desk.turn_id = 79
    await desk.delete(f"m{tea.id}")
    await roll_back(facts, 79, 78, 77)
    assert unversioned(await everything(store)) == unversioned(before)


async def test_what_another_channels_turn_wrote_on_top_stays_and_is_said(
    facts: Facts, store: Store, desk: Desk
) -> None:
    tea = await saved(facts, "Likes tea")
    await desk.shows(tea).update(f"m{tea.id}", "Likes coffee")
    desk.turn_id = 900
    await desk.update(f"m{tea.id}", "Likes cocoa")
    (kept,) = (await roll_back(facts)).kept
    assert "changed since" in kept.line() and texts(await everything(store)) == ["Likes cocoa"]


async def test_waiting_suggestions_of_the_turn_are_discarded_and_approved_ones_stay(
    facts: Facts, store: Store, desk: Desk
) -> None:
    waiting = (await desk.save("The inn closes at ten", about="server")).outcome
    approved = (await desk.save("The cook is Bo", about="server")).outcome
    await facts.decide(ADMIN, SQUARE, proposal_id(approved), True)
    back = await roll_back(facts)
    assert back.discarded == 1 and texts(await everything(store, SERVER)) == ["The cook is Bo"]
    assert [kept.why for kept in back.kept] == ["stays as it is: a person approved it"]
    async with store.read() as tx:
        decided = await tx.proposals.get(proposal_id(waiting))
    assert decided is not None and decided.state is ProposalState.DISCARDED
    again = await facts.decide(ADMIN, SQUARE, proposal_id(waiting), True)
    assert again.kind is Kind.CHANGED_MEANWHILE


async def test_a_suggestion_that_another_turn_made_too_waits_on(
    facts: Facts, store: Store, desk: Desk
) -> None:
    waiting = (await desk.save("The inn closes at ten", about="server")).outcome
    desk.turn_id = 900
    await desk.save("The inn closes at ten", about="server")
    assert (await roll_back(facts)).discarded == 0
    async with store.read() as tx:
        still = await tx.proposals.get(proposal_id(waiting))
    assert still is not None and still.state is ProposalState.WAITING


async def test_the_confirmations_of_all_that_went_back_are_to_be_drawn_again(
    facts: Facts, store: Store, desk: Desk
) -> None:
    one = (await desk.save("Plays the cello")).outcome
    two = (await desk.save("Owns a boat", about="user")).outcome
    three = (await desk.save("The inn closes at ten", about="server")).outcome
    back = await roll_back(facts)
    wanted = {o.notice.id for o in (one, two, three) if o.notice}
    assert {notice.id for notice in back.redraws} == wanted and len(wanted) == 3


async def test_ben_s_entries_go_back_too_whoever_regenerates(facts: Facts, store: Store, desk: Desk) -> None:
    desk.authors = (BEN,)
    await desk.save("Has a cat")
    await roll_back(facts)
    assert not await everything(store, Scope.user(BEN.id, ANAS.lineage))


async def test_undoing_an_edit_brings_back_the_time_of_the_last_change(
    facts: Facts, store: Store, clock: FakeClock
) -> None:
    tea = await saved(facts, "Likes tea")
    clock.move(days=8)
    edited = await facts.edit(ANA, SQUARE, tea.id, "Likes coffee")
    await facts.undo(ANA, SQUARE, journal_id(edited))
    (now,) = await everything(store)
    assert now.updated_at == tea.updated_at
