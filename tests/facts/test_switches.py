"""The switches of SPEC §4.8 at the write gate: what the model may write, wherever its tools came from."""

from __future__ import annotations

import pytest

from memory.facts.outcomes import OutcomeKind as Kind
from memory.facts.rights import NOT_USED
from memory.facts.service import Facts
from memory.facts.tools import MemoryTools
from memory.facts.writes import WAITING, WAITING_FOR
from memory.store import Store
from memory.types import GLOBAL, Persona, Place, ProposalState, Scope
from tests.facts.world import (
    ADMIN,
    ANA,
    ANAS,
    ANAS_DM,
    BEN,
    GUILD,
    NOON,
    SERVER,
    SERVER_GLOBAL,
    SQUARE,
    Desk,
    everything,
    proposal_id,
    saved,
    texts,
)
from tests.fakes import FakeClock

THREAD = Place(11, GUILD, SQUARE.channel_id, "a thread")


async def switch(
    store: Store, key: str, value: str | None, level: str = "server", owner: int = GUILD
) -> None:
    async with store.write() as tx:
        await tx.config.set(level, owner, key, value, NOON, ADMIN.id)


async def built_in_learns(store: Store, learns: bool) -> None:
    """How the built-in persona is set up in the server."""
    row = Persona(0, GUILD, SERVER.lineage, "Keepsake", learns=learns)
    async with store.write() as tx:
        await tx.personas.add(row, "keepsake", ADMIN.id, NOON)


async def refused(desk: Desk, because: str) -> None:
    """Neither saving, changing nor deleting is possible, and the model is told why and what to say."""
    held = await saved(desk.facts, "Ana plays chess")
    desk.shows(held)
    for result in (
        await desk.save("Ana likes tea"),
        await desk.save("Movie night is Friday", about="server"),
        await desk.save("Ben likes tea", user="Ben"),
        await desk.update(f"m{held.id}", "Ana plays go"),
        await desk.delete(f"m{held.id}"),
    ):
        assert result.outcome.kind is Kind.DISABLED
        assert result.words.startswith("disabled: ") and because in result.words
        assert "Nothing was written" in result.words
    assert texts(await everything(desk.facts.store)) == ["Ana plays chess"]
    assert not await desk.facts.proposals(ANA, SQUARE)


# autosave


async def test_with_autosave_off_the_model_writes_nothing(desk: Desk, store: Store) -> None:
    await switch(store, "autosave", "off")
    await refused(desk, "saving from chat is off in this server")


async def test_with_autosave_off_people_write_as_ever(facts: Facts, store: Store) -> None:
    await switch(store, "autosave", "off")
    assert (await facts.add(ANA, SQUARE, ANAS, "I like tea")).kind is Kind.SAVED
    assert (await facts.add(ADMIN, SQUARE, SERVER, "Movie night is Friday")).kind is Kind.SAVED


async def test_with_autosave_on_ask_even_what_a_trigger_author_says_of_themselves_waits_for_them(
    desk: Desk, facts: Facts, store: Store
) -> None:
    await switch(store, "autosave", "ask")
    result = await desk.save("Ana likes tea")
    assert result.words.startswith("needs_approval")
    assert "press Approve below" in result.words
    assert not await everything(store)
    assert (await facts.decide(BEN, SQUARE, proposal_id(result.outcome), True)).kind is Kind.NOT_ALLOWED
    assert (await facts.decide(ANA, SQUARE, proposal_id(result.outcome), True)).kind is Kind.SAVED
    assert texts(await everything(store)) == ["Ana likes tea"]


async def test_with_autosave_on_ask_a_server_fact_waits_even_when_an_admin_says_it(
    facts: Facts, store: Store
) -> None:
    desk = Desk(facts, MemoryTools(facts), authors=(ADMIN,), in_play=(ADMIN,))
    await switch(store, "autosave", "ask")
    result = await desk.save("Movie night is Friday", about="server")
    assert result.outcome.kind is Kind.NEEDS_APPROVAL
    assert (await facts.decide(ANA, SQUARE, proposal_id(result.outcome), True)).kind is Kind.NOT_ALLOWED
    assert (await facts.decide(ADMIN, SQUARE, proposal_id(result.outcome), True)).kind is Kind.SAVED


async def test_with_autosave_on_ask_changes_and_deletions_wait_too(
    desk: Desk, facts: Facts, store: Store
) -> None:
    held = await saved(facts, "Ana plays chess")
    desk.shows(held)
    await switch(store, "autosave", "ask")
    update, delete = await desk.update(f"m{held.id}", "Ana plays go"), await desk.delete(f"m{held.id}")
    assert {update.outcome.kind, delete.outcome.kind} == {Kind.NEEDS_APPROVAL}
    assert texts(await everything(store)) == ["Ana plays chess"]


@pytest.mark.parametrize("value", ["ask", "off"])
async def test_a_server_s_autosave_means_nothing_in_a_direct_message(
    facts: Facts, store: Store, value: str
) -> None:
    await switch(store, "autosave", value)
    desk = Desk(facts, MemoryTools(facts), place=ANAS_DM, in_play=(ANA,))
    assert (await desk.save("Ana likes tea")).outcome.kind is Kind.SAVED


# memory mode


@pytest.mark.parametrize("mode", ["incognito", "blank"])
@pytest.mark.parametrize("place", [SQUARE, THREAD], ids=["channel", "its thread"])
async def test_nothing_said_in_an_incognito_or_blank_channel_is_written(
    desk: Desk, store: Store, mode: str, place: Place
) -> None:
    await switch(store, "memory_mode", mode, "channel", SQUARE.channel_id)
    desk.place = place
    await refused(desk, f"memory mode is {mode}")


async def test_a_direct_message_can_be_incognito(facts: Facts, store: Store) -> None:
    await switch(store, "memory_mode", "incognito", "channel", ANAS_DM.channel_id)
    desk = Desk(facts, MemoryTools(facts), place=ANAS_DM, in_play=(ANA,))
    assert (await desk.save("Ana likes tea")).outcome.kind is Kind.DISABLED


async def test_another_channel_is_written_as_ever_while_one_is_incognito(desk: Desk, store: Store) -> None:
    await switch(store, "memory_mode", "incognito", "channel", 999)
    assert (await desk.save("Ana likes tea")).outcome.kind is Kind.SAVED


async def test_people_write_in_an_incognito_channel_by_command(facts: Facts, store: Store) -> None:
    await switch(store, "memory_mode", "incognito", "channel", SQUARE.channel_id)
    assert (await facts.add(ANA, SQUARE, ANAS, "I like tea")).kind is Kind.SAVED


async def test_a_suggestion_made_before_its_channel_became_incognito_is_approved(
    desk: Desk, facts: Facts, store: Store
) -> None:
    number = proposal_id((await desk.save("Ben likes jazz", user="Ben")).outcome)
    await switch(store, "memory_mode", "incognito", "channel", SQUARE.channel_id)
    assert (await facts.decide(BEN, SQUARE, number, True)).kind is Kind.SAVED


# learn from chat


async def test_a_persona_that_does_not_learn_writes_nothing(desk: Desk, store: Store) -> None:
    await built_in_learns(store, False)
    held = await desk.save("Ana likes tea")
    assert held.outcome.kind is Kind.DISABLED and "does not learn from chat" in held.words
    assert not await everything(store)


async def test_a_persona_that_learns_writes(desk: Desk, store: Store) -> None:
    await built_in_learns(store, True)
    assert (await desk.save("Ana likes tea")).outcome.kind is Kind.SAVED


@pytest.mark.parametrize(("scope", "who"), [(ANAS, ANA), (SERVER, ADMIN)])
async def test_a_person_s_own_addition_is_kept_for_it_and_they_are_told_that_it_is_not_used_now(
    facts: Facts, store: Store, scope: Scope, who: object
) -> None:
    await built_in_learns(store, False)
    outcome = await facts.add(who, SQUARE, scope, "likes tea")  # type: ignore[arg-type]
    assert outcome.kind is Kind.SAVED and outcome.line().endswith(NOT_USED)
    assert texts(await everything(store)) == ["likes tea"]


async def test_an_addition_for_all_personas_or_where_it_learns_has_no_such_note(
    facts: Facts, store: Store
) -> None:
    assert NOT_USED not in (await facts.add(ANA, SQUARE, ANAS, "likes tea")).line()
    await built_in_learns(store, False)
    for scope, who in ((Scope.user(ANA.id, GLOBAL), ANA), (SERVER_GLOBAL, ADMIN)):
        assert NOT_USED not in (await facts.add(who, SQUARE, scope, "likes jazz")).line()
    assert NOT_USED not in (await facts.add(ANA, ANAS_DM, ANAS, "likes cocoa")).line()


# what waits


async def test_fifty_wait_in_a_scope_and_the_fifty_first_is_refused_in_words(
    desk: Desk, facts: Facts, store: Store
) -> None:
    assert WAITING == 50
    for number in range(WAITING):
        result = await desk.save(f"Ben has {number} cats", user="Ben")
        assert result.outcome.kind is Kind.NEEDS_APPROVAL, number
    more = await desk.save("Ben has 51 cats", user="Ben")
    assert more.words.startswith("limit_reached: 50 of 50 suggestions already wait")
    assert len(await facts.proposals(BEN, SQUARE)) == WAITING
    assert (await desk.save("Movie night is Friday", about="server")).outcome.kind is Kind.NEEDS_APPROVAL
    first = (await facts.proposals(BEN, SQUARE))[0]
    await facts.decide(BEN, SQUARE, first.id, False)
    assert (await desk.save("Ben has 51 cats", user="Ben")).outcome.kind is Kind.NEEDS_APPROVAL


async def test_a_suggestion_waits_seven_days_to_the_microsecond(
    desk: Desk, facts: Facts, store: Store, clock: FakeClock
) -> None:
    assert WAITING_FOR.days == 7
    number = proposal_id((await desk.save("Ben likes jazz", user="Ben")).outcome)
    clock.move(days=7)
    assert [each.id for each in await facts.proposals(BEN, SQUARE)] == [number]
    clock.move(microseconds=1)
    assert not await facts.proposals(BEN, SQUARE)
    await desk.save("Ben likes tea", user="Ben")
    async with store.read() as tx:
        expired = await tx.proposals.get(number)
    assert expired is not None and expired.state is ProposalState.EXPIRED


async def test_who_decides_may_change_the_words_and_both_are_kept(
    desk: Desk, facts: Facts, store: Store
) -> None:
    number = proposal_id((await desk.save("Ben likes jazz", user="Ben")).outcome)
    outcome = await facts.decide(BEN, SQUARE, number, True, "Ben likes slow jazz")
    assert outcome.kind is Kind.SAVED and texts(await everything(store)) == ["Ben likes slow jazz"]
    async with store.read() as tx:
        kept = await tx.proposals.get(number)
    assert kept is not None and outcome.journal is not None
    assert (kept.state, kept.text, kept.journal_id) == (
        ProposalState.APPROVED,
        "Ben likes jazz",
        outcome.journal.id,
    )
    assert outcome.journal.after is not None and outcome.journal.after.text == "Ben likes slow jazz"


@pytest.mark.parametrize(("text", "kind"), [("x" * 501, Kind.TOO_LONG), ("  ", Kind.EMPTY)])
async def test_changed_words_that_are_refused_leave_the_suggestion_waiting(
    desk: Desk, facts: Facts, store: Store, text: str, kind: Kind
) -> None:
    number = proposal_id((await desk.save("Ben likes jazz", user="Ben")).outcome)
    assert (await facts.decide(BEN, SQUARE, number, True, text)).kind is kind
    assert not await everything(store)
    assert (await facts.decide(BEN, SQUARE, number, True)).kind is Kind.SAVED


async def test_the_queue_shows_what_would_be_changed_to_who_decides_only(
    desk: Desk, facts: Facts, store: Store
) -> None:
    held = await saved(facts, "Movie night is Friday", SERVER)
    desk.shows(held)
    await desk.update(f"m{held.id}", "Movie night is Saturday")
    await desk.save("Ben likes jazz", user="Ben")
    assert [(each.proposal.text, each.memory) for each in await facts.queue(ADMIN, SQUARE)] == [
        ("Movie night is Saturday", held)
    ]
    assert [each.proposal.text for each in await facts.queue(BEN, SQUARE)] == ["Ben likes jazz"]
    assert await facts.queue(ANA, SQUARE) == [] == await facts.queue(ADMIN, ANAS_DM)


async def test_the_queue_shows_no_entry_that_was_moved_out_of_sight_since(
    desk: Desk, facts: Facts, store: Store
) -> None:
    held = await saved(facts, "Dora plans a party", SERVER)
    await desk.shows(held).update(f"m{held.id}", "Dora plans a feast")
    await facts.move(ADMIN, SQUARE, held.id, Scope.user(ADMIN.id, SERVER.lineage))
    await switch(store, "member_access", "on")
    (waiting,) = await facts.queue(ANA, SQUARE)
    assert waiting.memory is None
    refused = await facts.decide(ANA, SQUARE, waiting.proposal.id, True)
    assert refused.kind is Kind.NOT_FOUND and "party" not in refused.line() and refused.memory is None
