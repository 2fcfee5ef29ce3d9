"""Moving an entry: rights and room in both scopes, nothing lost, nothing shown to others (SPEC §4.3)."""

from __future__ import annotations

from memory.facts.outcomes import OutcomeKind as Kind
from memory.facts.service import Facts
from memory.facts.writes import Hand, Write
from memory.store import Store
from memory.types import GLOBAL, Actor, ActorKind, Memory, Op, Person, ProposalState, Scope
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
    Desk,
    character,
    everything,
    grant,
    journal_id,
    proposal_id,
    saved,
    texts,
)
from tests.fakes import FakeClock

MANAGING_ANA = Person(ANA.id, "Ana", manages=True)


async def only(store: Store) -> Memory:
    (found,) = await everything(store)
    return found


async def test_an_entry_moves_with_its_id_its_pin_and_its_tags_and_is_journaled(
    facts: Facts, store: Store, clock: FakeClock
) -> None:
    memory = await saved(facts, "Likes tea with <@2222>", pinned=True)
    tagged = (await facts.tag(ANA, SQUARE, memory.id, ("tea",), (7,))).memory
    clock.move(days=30)
    moved = await facts.move(ANA, SQUARE, memory.id, ANAS_GLOBAL)
    assert moved.kind is Kind.MOVED and moved.journal is not None and moved.journal.op is Op.MOVE
    assert "personal memories for all personas" in moved.line()
    now = await only(store)
    assert tagged is not None and now.scope == ANAS_GLOBAL and now.id == memory.id and now.pinned
    assert (now.keywords, now.channels, now.updated_at) == (("tea",), (7,), tagged.updated_at)
    assert (moved.journal.before, moved.journal.after) == (tagged, now)
    async with store.read() as tx:
        assert await tx.memories.mentions(memory.id) == [2222]


async def test_a_move_is_undone_under_the_same_id(facts: Facts, store: Store) -> None:
    memory = await saved(facts, "Likes tea")
    await facts.move(ANA, SQUARE, memory.id, ANAS_GLOBAL)
    undone = await facts.undo(ANA, SQUARE, None)
    assert (
        undone.kind is Kind.UNDONE
        and "back among personal memories for the built-in persona" in undone.line()
    )
    assert (await only(store)).scope == ANAS


async def test_rights_are_needed_in_both_scopes(facts: Facts, store: Store) -> None:
    hers, shared = await saved(facts, "Likes tea"), await saved(facts, "Closes at ten", SERVER)
    assert (await facts.move(ANA, SQUARE, hers.id, SERVER)).kind is Kind.NOT_ALLOWED
    assert (await facts.move(ANA, SQUARE, shared.id, ANAS)).kind is Kind.NOT_ALLOWED
    assert (await facts.move(ADMIN, SQUARE, shared.id, BENS)).kind is Kind.NOT_ALLOWED
    assert (await facts.move(ADMIN, SQUARE, hers.id, SERVER)).kind is Kind.NOT_FOUND
    assert (await facts.move(MANAGING_ANA, ELSEWHERE, hers.id, SERVER)).kind is Kind.NOT_ALLOWED
    assert [m.scope for m in await everything(store)] == [ANAS, SERVER]
    await grant(store)
    assert (await facts.move(ANA, SQUARE, hers.id, SERVER)).kind is Kind.MOVED


async def test_a_full_target_refuses_with_the_counts_for_pinned_and_unpinned_alike(
    small: Facts, store: Store
) -> None:
    for number in range(3):
        await saved(small, f"fact {number}", ANAS_GLOBAL)
    for number in range(2):
        await saved(small, f"pin {number}", ANAS_GLOBAL, pinned=True)
    plain, pinned = await saved(small, "Likes tea"), await saved(small, "Likes rain", pinned=True)
    refused = await small.move(ANA, SQUARE, plain.id, ANAS_GLOBAL)
    assert refused.kind is Kind.LIMIT_REACHED and refused.unpinned == 3 and "limit is 3" in refused.line()
    refused = await small.move(ANA, SQUARE, pinned.id, ANAS_GLOBAL)
    assert refused.kind is Kind.LIMIT_REACHED and refused.of_pins and refused.pinned == 2
    assert texts(await everything(store, ANAS)) == ["Likes tea", "Likes rain"]


async def test_the_same_text_there_makes_the_two_one_and_the_pin_passes(facts: Facts, store: Store) -> None:
    there = await saved(facts, "likes tea.", ANAS_GLOBAL)
    memory = await saved(facts, "Likes tea", pinned=True)
    joined = await facts.move(ANA, SQUARE, memory.id, ANAS_GLOBAL)
    assert joined.kind is Kind.MOVED and "already says this there" in joined.line()
    now = await only(store)
    assert now.id == there.id and now.pinned and "pinned now" in joined.line()
    assert (await facts.undo(ANA, SQUARE, journal_id(joined))).kind is Kind.UNDONE
    assert {m.scope for m in await everything(store)} == {ANAS, ANAS_GLOBAL}


async def test_joining_a_pinned_entry_needs_room_for_its_pin(small: Facts, store: Store) -> None:
    await saved(small, "likes tea", ANAS_GLOBAL)
    for number in range(2):
        await saved(small, f"pin {number}", ANAS_GLOBAL, pinned=True)
    memory = await saved(small, "Likes tea", pinned=True)
    refused = await small.move(ANA, SQUARE, memory.id, ANAS_GLOBAL)
    assert refused.kind is Kind.LIMIT_REACHED and len(await everything(store)) == 4


async def test_moving_to_where_it_is_changes_nothing(facts: Facts, store: Store) -> None:
    memory = await saved(facts, "Likes tea")
    same = await facts.move(ANA, SQUARE, memory.id, ANAS)
    assert not same.wrote and "already" in same.line() and await only(store) == memory


async def test_what_was_saved_in_a_dm_goes_to_a_server_only_once_it_is_widened(
    facts: Facts, store: Store
) -> None:
    memory = await saved(facts, "Afraid of the dark", place=ANAS_DM)
    refused = await facts.move(MANAGING_ANA, ANAS_DM, memory.id, SERVER)
    assert refused.kind is Kind.NOT_ALLOWED and "Use everywhere" in refused.line()
    assert (await facts.move(MANAGING_ANA, SQUARE, memory.id, SERVER)).kind is Kind.NOT_FOUND
    moved = await facts.move(ANA, ANAS_DM, memory.id, ANAS_GLOBAL)
    assert moved.memory is not None and moved.memory.dm_only
    await facts.widen(ANA, ANAS_DM, memory.id)
    assert (await facts.move(MANAGING_ANA, SQUARE, memory.id, SERVER)).kind is Kind.MOVED


async def test_the_model_never_moves_or_tags(facts: Facts, store: Store) -> None:
    memory = await saved(facts, "Likes tea")
    hand = Hand(Actor(ActorKind.MODEL, ANA, 77), SQUARE, authors=(ANA,), in_play=(ANA,))
    for write in (
        Write(Op.MOVE, memory_id=memory.id, scope=ANAS_GLOBAL),
        Write(Op.TAG, memory_id=memory.id, keywords=("tea",)),
    ):
        assert (await facts.write(write, hand)).kind is Kind.NOT_ALLOWED
    assert await only(store) == memory


# what others may learn of it


async def test_after_a_move_to_the_server_its_personal_past_shows_to_nobody_else(facts: Facts) -> None:
    memory = await saved(facts, "Ana hates her boss")
    await facts.edit(ANA, SQUARE, memory.id, "The inn serves tea")
    moved = await facts.move(MANAGING_ANA, SQUARE, memory.id, SERVER)
    assert moved.journal is not None and moved.notice is not None
    for reader in (BEN, ADMIN):
        seen = await facts.history(reader, SQUARE, memory.id)
        assert [entry.op for entry in seen] == [Op.MOVE] and seen[0].before is None
        assert "boss" not in repr(seen)
    assert len(await facts.history(ANA, SQUARE, memory.id)) == 3
    view = await facts.notice_view(moved.notice.id, persona_name="P", server_name="S")
    assert view is not None and view.entry is not None and view.entry.before is None


async def test_after_a_move_to_oneself_the_server_is_not_told_what_it_says_later(
    facts: Facts, store: Store
) -> None:
    added = await facts.add(MANAGING_ANA, SQUARE, SERVER, "The inn serves tea")
    assert added.notice is not None and added.memory is not None
    await facts.move(MANAGING_ANA, SQUARE, added.memory.id, ANAS)
    await facts.edit(ANA, SQUARE, added.memory.id, "Ana hates her boss")
    view = await facts.notice_view(added.notice.id, persona_name="P", server_name="S")
    assert view is not None and view.memory is None and view.moved and "boss" not in repr(view)
    assert await facts.history(BEN, SQUARE, added.memory.id) == []
    assert await facts.get(BEN, SQUARE, added.memory.id) is None


async def test_a_suggestion_about_an_entry_that_was_moved_away_shows_nothing_of_it(
    facts: Facts, store: Store, desk: Desk, clock: FakeClock
) -> None:
    shared = await saved(facts, "The inn serves tea", SERVER)
    waiting = await desk.shows(shared).update(f"m{shared.id}", "The inn serves coffee")
    clock.move(seconds=1)
    await facts.move(MANAGING_ANA, SQUARE, shared.id, ANAS)
    await facts.edit(ANA, SQUARE, shared.id, "Ana hates her boss")
    refused = await facts.decide(ADMIN, SQUARE, proposal_id(waiting.outcome), True)
    assert not refused.wrote and "boss" not in refused.line() and refused.memory is None
    assert waiting.outcome.notice is not None
    view = await facts.notice_view(waiting.outcome.notice.id, persona_name="P", server_name="S")
    assert view is not None and "boss" not in repr(view)
    async with store.read() as tx:
        kept = await tx.proposals.get(proposal_id(waiting.outcome))
    assert kept is not None and kept.state is ProposalState.WAITING


async def test_what_was_written_before_a_move_is_not_undone_after_it(facts: Facts, store: Store) -> None:
    added = await facts.add(MANAGING_ANA, SQUARE, ANAS, "Likes tea")
    pinned = await facts.pin(MANAGING_ANA, SQUARE, 1, True)
    await facts.move(MANAGING_ANA, SQUARE, 1, SERVER)
    for outcome in (added, pinned):
        refused = await facts.undo(ANA, SQUARE, journal_id(outcome))
        assert not refused.wrote and "moved since" in refused.line()
    assert (await only(store)).pinned


async def test_nobody_but_its_subject_takes_a_move_into_the_server_back(facts: Facts, store: Store) -> None:
    memory = await saved(facts, "Likes tea")
    moved = await facts.move(MANAGING_ANA, SQUARE, memory.id, SERVER)
    assert (await facts.undo(ADMIN, SQUARE, journal_id(moved))).kind is Kind.NOT_ALLOWED
    assert (await facts.undo(ANA, SQUARE, journal_id(moved))).kind is Kind.NOT_ALLOWED
    assert (await facts.undo(MANAGING_ANA, SQUARE, journal_id(moved))).kind is Kind.UNDONE
    assert (await only(store)).scope == ANAS


async def test_a_move_whose_words_were_changed_since_is_not_taken_back(facts: Facts, store: Store) -> None:
    memory = await saved(facts, "Likes tea")
    moved = await facts.move(MANAGING_ANA, SQUARE, memory.id, SERVER)
    await facts.edit(ADMIN, SQUARE, memory.id, "The inn serves coffee")
    refused = await facts.undo(MANAGING_ANA, SQUARE, journal_id(moved))
    assert refused.kind is Kind.CHANGED_MEANWHILE and (await only(store)).scope == SERVER


async def test_a_move_is_not_taken_back_into_a_full_scope_or_beside_the_same_text(
    small: Facts, store: Store
) -> None:
    memory = await saved(small, "Likes tea")
    moved = await small.move(ANA, SQUARE, memory.id, ANAS_GLOBAL)
    twin = await saved(small, "likes tea")
    assert (await small.undo(ANA, SQUARE, journal_id(moved))).kind is Kind.DUPLICATE
    await small.delete(ANA, SQUARE, twin.id)
    for number in range(3):
        await saved(small, f"fact {number}")
    assert (await small.undo(ANA, SQUARE, journal_id(moved))).kind is Kind.LIMIT_REACHED
    assert texts(await everything(store, ANAS_GLOBAL)) == ["Likes tea"]


async def test_nothing_moves_or_goes_back_to_a_persona_that_is_gone(facts: Facts, store: Store) -> None:
    mira = await character(store)
    hers = Scope.user(ANA.id, mira.lineage)
    memory = await saved(facts, "Likes tea", hers)
    moved = await facts.move(ANA, SQUARE, memory.id, ANAS_GLOBAL)
    async with store.write() as tx:
        assert await tx.personas.remove(mira)
    for outcome in (
        await facts.undo(ANA, SQUARE, journal_id(moved)),
        await facts.move(ANA, SQUARE, memory.id, hers),
        await facts.add(ANA, SQUARE, hers, "Likes rain"),
        await facts.add(ADMIN, SQUARE, Scope.server(GUILD, mira.lineage), "Closes at ten"),
    ):
        assert outcome.kind is Kind.NOT_ALLOWED and "deleted meanwhile" in outcome.line()
    assert (await only(store)).scope.lineage == GLOBAL


async def test_a_person_moving_to_a_persona_that_does_not_learn_is_told(facts: Facts, store: Store) -> None:
    await character(store, "mira", learns=False)
    memory = await saved(facts, "Closes at ten", SERVER_GLOBAL)
    moved = await facts.move(ADMIN, SQUARE, memory.id, Scope.server(GUILD, "mira"))
    assert moved.wrote and "Learn from chat is off" in moved.line()


# a persona deleted while it replies


async def test_the_model_writes_nothing_for_a_persona_that_is_gone(
    facts: Facts, store: Store, desk: Desk
) -> None:
    mira = await character(store)
    desk.lineage = mira.lineage
    assert (await desk.save("Likes tea")).words.startswith("saved")
    async with store.write() as tx:
        assert await tx.personas.remove(mira)
    refused = await desk.save("Likes rain")
    assert refused.words.startswith("not_allowed") and "deleted meanwhile" in refused.words
    refused = await desk.update("m1", "Likes coffee")
    assert refused.words.startswith("not_allowed")
    assert texts(await everything(store, Scope.user(ANA.id, "mira"))) == ["Likes tea"]
