"""Undo: what comes back, what stays, who may."""

from __future__ import annotations

from memory.facts.outcomes import Outcome
from memory.facts.outcomes import OutcomeKind as Kind
from memory.facts.service import Facts
from memory.facts.writes import MemoryLimits
from memory.store import Store
from memory.types import Op
from tests.facts.world import (
    ADMIN,
    ANA,
    ANAS,
    ANAS_DM,
    BEN,
    ELSEWHERE,
    SERVER,
    SQUARE,
    Desk,
    everything,
    grant,
    journal_id,
    saved,
    texts,
)
from tests.fakes import FakeClock


async def undo(facts: Facts, outcome: Outcome) -> Outcome:
    return await facts.undo(ANA, SQUARE, journal_id(outcome))


async def test_undoing_an_addition_deletes_it_and_is_journaled(facts: Facts, store: Store) -> None:
    added = await facts.add(ANA, SQUARE, ANAS, "Likes tea")
    undone = await undo(facts, added)
    assert undone.kind is Kind.UNDONE and not await everything(store)
    assert undone.journal is not None and undone.journal.op is Op.DELETE
    assert undone.journal.undoes == journal_id(added) and undone.redraw == added.notice
    async with store.read() as tx:
        entry = await tx.journal.get(journal_id(added))
    assert entry is not None and entry.undone_by == undone.journal.id


async def test_undoing_twice_says_that_it_was_already_undone(facts: Facts, store: Store) -> None:
    added = await facts.add(ANA, SQUARE, ANAS, "Likes tea")
    await undo(facts, added)
    again = await undo(facts, added)
    assert not again.wrote and "already undone" in again.line() and not await everything(store)


async def test_a_deleted_entry_comes_back_under_its_own_id(facts: Facts, store: Store) -> None:
    memory = await saved(facts, "Likes tea with <@2222>", pinned=True)
    undone = await undo(facts, await facts.delete(ANA, SQUARE, memory.id))
    assert undone.kind is Kind.UNDONE and await everything(store) == [memory]
    assert "“Likes tea" in undone.line()
    async with store.read() as tx:
        assert await tx.memories.mentions(memory.id) == [2222]


async def test_a_deleted_entry_does_not_come_back_into_a_full_scope(small: Facts, store: Store) -> None:
    memory = await saved(small, "Likes tea")
    deleted = await small.delete(ANA, SQUARE, memory.id)
    for number in range(3):
        await saved(small, f"fact {number}")
    refused = await undo(small, deleted)
    assert refused.kind is Kind.LIMIT_REACHED and refused.unpinned == 3 and len(await everything(store)) == 3
    await small.delete(ANA, SQUARE, (await everything(store))[0].id)
    assert (await undo(small, deleted)).kind is Kind.UNDONE


async def test_a_deleted_entry_does_not_come_back_beside_the_same_text(facts: Facts, store: Store) -> None:
    memory = await saved(facts, "Likes tea")
    deleted = await facts.delete(ANA, SQUARE, memory.id)
    await saved(facts, "likes tea.")
    assert (await undo(facts, deleted)).kind is Kind.DUPLICATE and texts(await everything(store)) == [
        "likes tea."
    ]


async def test_an_edit_is_undone_to_the_former_text(facts: Facts, store: Store) -> None:
    memory = await saved(facts, "Likes tea")
    undone = await undo(facts, await facts.edit(ANA, SQUARE, memory.id, "Likes coffee"))
    assert undone.kind is Kind.UNDONE and texts(await everything(store)) == ["Likes tea"]


async def test_an_edit_that_was_edited_again_is_kept_and_what_stands_now_is_said(
    facts: Facts, store: Store
) -> None:
    memory = await saved(facts, "Likes tea")
    first = await facts.edit(ANA, SQUARE, memory.id, "Likes coffee")
    await facts.edit(ANA, SQUARE, memory.id, "Likes cocoa")
    refused = await undo(facts, first)
    assert refused.kind is Kind.CHANGED_MEANWHILE and "“Likes cocoa”" in refused.line()
    assert texts(await everything(store)) == ["Likes cocoa"]


async def test_an_addition_that_was_edited_since_is_kept(facts: Facts, store: Store) -> None:
    added = await facts.add(ANA, SQUARE, ANAS, "Likes tea")
    await facts.edit(ANA, SQUARE, 1, "Likes coffee")
    refused = await undo(facts, added)
    assert refused.kind is Kind.CHANGED_MEANWHILE and texts(await everything(store)) == ["Likes coffee"]


async def test_undoing_a_change_of_an_entry_that_is_gone_says_so(facts: Facts) -> None:
    memory = await saved(facts, "Likes tea")
    edited = await facts.edit(ANA, SQUARE, memory.id, "Likes coffee")
    await facts.delete(ANA, SQUARE, memory.id)
    assert "already gone" in (await undo(facts, edited)).line()


async def test_pins_and_unpins_are_reversed_and_their_caps_hold(small: Facts, store: Store) -> None:
    memory = await saved(small, "Likes tea")
    pinned = await small.pin(ANA, SQUARE, memory.id, True)
    assert (await undo(small, pinned)).kind is Kind.UNDONE and not (await everything(store))[0].pinned
    again = await small.pin(ANA, SQUARE, memory.id, True)
    for number in range(3):
        await saved(small, f"fact {number}")
    assert (await undo(small, again)).kind is Kind.LIMIT_REACHED and (await everything(store))[0].pinned


async def test_a_widening_is_reversed_in_the_dm(facts: Facts) -> None:
    memory = await saved(facts, "Afraid of the dark", place=ANAS_DM)
    widened = await facts.widen(ANA, ANAS_DM, memory.id)
    assert (await facts.undo(ANA, ANAS_DM, journal_id(widened))).kind is Kind.UNDONE
    assert await facts.get(ANA, SQUARE, memory.id) is None


async def test_without_an_id_undo_goes_back_through_ones_own_writes(facts: Facts, store: Store) -> None:
    await saved(facts, "one")
    await saved(facts, "two")
    await saved(facts, "the server's", SERVER)
    await facts.undo(ANA, SQUARE, None)
    assert texts(await everything(store)) == ["one", "the server's"]
    await facts.undo(ANA, SQUARE, None)
    assert texts(await everything(store)) == ["the server's"]
    nothing = await facts.undo(ANA, SQUARE, None)
    assert nothing.kind is Kind.NOT_FOUND and "nothing of yours" in nothing.line()


async def test_in_a_server_undo_does_not_touch_or_show_what_was_saved_in_a_dm(
    facts: Facts, store: Store
) -> None:
    await saved(facts, "Afraid of the dark", place=ANAS_DM)
    refused = await facts.undo(ANA, SQUARE, None)
    assert refused.kind is Kind.NOT_FOUND and "DM" in refused.line() and "dark" not in refused.line()
    assert len(await everything(store)) == 1


async def test_in_a_server_undo_passes_over_what_was_saved_in_a_dm_and_says_so(
    facts: Facts, store: Store
) -> None:
    await saved(facts, "Likes tea")
    for number in range(60):
        await saved(facts, f"Afraid of {number}", place=ANAS_DM)
    undone = await facts.undo(ANA, SQUARE, None)
    assert undone.kind is Kind.UNDONE and "Likes tea" not in texts(await everything(store))
    assert "later change of yours was made in a DM" in undone.line() and "Afraid" not in undone.line()
    assert len(await everything(store)) == 60
    there = await facts.undo(ANA, ANAS_DM, None)
    assert there.kind is Kind.UNDONE and "later" not in there.line()


async def test_in_a_server_undo_passes_over_an_entry_that_was_made_for_dms_only_since(
    desk: Desk, facts: Facts
) -> None:
    first = await saved(facts, "Likes tea")
    second = await saved(facts, "Works as a nurse")
    desk.place = ANAS_DM
    await desk.shows(second).update("m2", "Works as a nurse and hates it")
    undone = await facts.undo(ANA, SQUARE, None)
    assert undone.kind is Kind.UNDONE and await facts.get(ANA, SQUARE, first.id) is None
    assert await facts.get(ANA, ANAS_DM, second.id) is not None
    assert "made in a DM" in undone.line() and "nurse" not in undone.line()


async def post(store: Store, outcome: Outcome, message_id: int) -> int:
    """The confirmation stands in that message now."""
    assert outcome.notice is not None
    async with store.write() as tx:
        await tx.notices.posted(outcome.notice.id, message_id)
    return outcome.notice.id


async def test_what_is_back_is_told_in_every_standing_confirmation_of_it(facts: Facts, store: Store) -> None:
    added = await post(store, await facts.add(ADMIN, SQUARE, SERVER, "Rule one"), 81)
    pinned = await post(store, await facts.pin(ADMIN, SQUARE, 1, True), 82)
    edited = await post(store, await facts.edit(ADMIN, SQUARE, 1, "Rule two"), 83)
    gone = await facts.delete(ADMIN, SQUARE, 1)
    deleted = await post(store, gone, 84)
    assert [notice.id for notice in gone.redraws] == [edited, pinned, added]
    back = await facts.undo(ADMIN, SQUARE, None)
    assert back.redraw is not None and back.redraw.id == deleted
    assert [notice.id for notice in back.redraws] == [deleted, edited, pinned, added]


async def test_a_message_that_was_pressed_is_drawn_again_as_what_it_shows(facts: Facts, store: Store) -> None:
    added = await post(store, await facts.add(ADMIN, SQUARE, SERVER, "Rule one"), 81)
    await post(store, await facts.pin(ADMIN, SQUARE, 1, True), 81)
    gone = await facts.delete(ADMIN, SQUARE, 1)
    await post(store, gone, 84)
    assert [notice.id for notice in gone.redraws] == [added]
    await facts.undo(ADMIN, SQUARE, None)
    edited = await post(store, await facts.edit(ADMIN, SQUARE, 1, "Rule two"), 81)
    again = await facts.delete(ADMIN, SQUARE, 1)
    assert [notice.id for notice in again.redraws] == [edited]


async def test_a_pin_that_is_taken_back_leaves_its_message_the_confirmation_that_it_shows(
    facts: Facts, store: Store
) -> None:
    added = await post(store, await facts.add(ADMIN, SQUARE, SERVER, "Rule one"), 81)
    pin = await facts.pin(ADMIN, SQUARE, 1, True)
    await post(store, pin, 81)
    back = await facts.undo(ADMIN, SQUARE, journal_id(pin))
    assert back.kind is Kind.UNDONE and [notice.id for notice in back.redraws] == [added]


async def test_an_undone_confirmation_needs_no_drawing_and_few_are_drawn_at_once(
    facts: Facts, store: Store
) -> None:
    await post(store, await facts.add(ADMIN, SQUARE, SERVER, "Rule 0"), 80)
    edits = [await post(store, await facts.edit(ADMIN, SQUARE, 1, f"Rule {n}"), 80 + n) for n in range(1, 6)]
    undone = await facts.undo(ADMIN, SQUARE, None)
    await post(store, undone, 90)
    gone = await facts.delete(ADMIN, SQUARE, 1)
    assert edits[4] not in [notice.id for notice in gone.redraws[1:]] and len(gone.redraws) <= 4


async def test_nobody_else_undoes_a_personal_write(facts: Facts, store: Store) -> None:
    added = await facts.add(ANA, SQUARE, ANAS, "Likes tea")
    for person in (BEN, ADMIN):
        assert (await facts.undo(person, SQUARE, journal_id(added))).kind is Kind.NOT_FOUND
    assert await facts.undo(BEN, SQUARE, journal_id(added)) == await facts.undo(BEN, SQUARE, 999)
    assert len(await everything(store)) == 1


async def test_a_server_write_is_undone_only_by_who_may_write_there_and_only_there(
    facts: Facts, store: Store
) -> None:
    added = await facts.add(ADMIN, SQUARE, SERVER, "Movie night")
    assert (await facts.undo(BEN, SQUARE, journal_id(added))).kind is Kind.NOT_ALLOWED
    assert (await facts.undo(ADMIN, ELSEWHERE, journal_id(added))).kind is Kind.NOT_FOUND
    assert (await facts.undo(ADMIN, SQUARE, journal_id(added))).kind is Kind.UNDONE


async def test_a_trigger_author_takes_back_what_their_turn_added_even_after_access_was_withdrawn(
    desk: Desk, facts: Facts, store: Store
) -> None:
    await grant(store)
    added = (await desk.save("Movie night is Friday", about="server")).outcome
    await grant(store, value=None)
    assert (await facts.undo(BEN, SQUARE, journal_id(added))).kind is Kind.NOT_ALLOWED
    assert (await facts.undo(ANA, SQUARE, journal_id(added))).kind is Kind.UNDONE
    assert not await everything(store)


async def test_a_trigger_author_without_access_does_not_take_back_what_an_admin_pinned(
    desk: Desk, facts: Facts, store: Store
) -> None:
    await grant(store)
    added = (await desk.save("Movie night is Friday", about="server")).outcome
    await grant(store, value=None)
    await facts.pin(ADMIN, SQUARE, 1, True)
    assert (await facts.undo(ANA, SQUARE, journal_id(added))).kind is Kind.CHANGED_MEANWHILE
    assert (await facts.undo(ADMIN, SQUARE, journal_id(added))).kind is Kind.UNDONE


async def test_a_trigger_author_without_access_does_not_undo_other_kinds_of_model_writes(
    desk: Desk, facts: Facts, store: Store
) -> None:
    await grant(store)
    desk.shows(await saved(facts, "Movie night is Friday", SERVER))
    deleted = (await desk.delete("m1")).outcome
    await grant(store, value=None)
    assert (await facts.undo(ANA, SQUARE, journal_id(deleted))).kind is Kind.NOT_ALLOWED


async def test_undoing_an_undo_brings_the_write_back(facts: Facts, store: Store) -> None:
    undone = await undo(facts, await facts.add(ANA, SQUARE, ANAS, "Likes tea"))
    assert (await undo(facts, undone)).kind is Kind.UNDONE
    assert texts(await everything(store)) == ["Likes tea"]


async def test_an_undone_write_is_confirmed_by_a_notice_of_its_own_record(facts: Facts, store: Store) -> None:
    undone = await undo(facts, await facts.add(ANA, SQUARE, ANAS, "Likes tea"))
    assert undone.notice is not None and undone.notice.journal_id == journal_id(undone)


async def test_undo_restores_a_text_that_is_longer_than_the_limit_of_today(
    store: Store, clock: FakeClock, facts: Facts
) -> None:
    await saved(facts, "x" * 400)
    edited = await facts.edit(ANA, SQUARE, 1, "short")
    strict = Facts(store, clock, MemoryLimits(length=10))
    assert (await undo(strict, edited)).kind is Kind.UNDONE
    assert texts(await everything(store)) == ["x" * 400]
