"""Clear: what goes for good, what stays, and what nobody can read afterwards (SPEC §4.6)."""

from __future__ import annotations

from collections.abc import Sequence

from memory.facts.clearing import Cleared, Clearing
from memory.facts.outcomes import Outcome
from memory.facts.outcomes import OutcomeKind as Kind
from memory.facts.service import Facts
from memory.store import Store
from memory.types import ActorKind, Op, Person, Place, ProposalState, Scope
from tests.facts.world import (
    ADMIN,
    ANA,
    ANAS,
    ANAS_DM,
    ANAS_GLOBAL,
    BEN,
    BENS,
    SERVER,
    SQUARE,
    Desk,
    everything,
    grant,
    journal_id,
    proposal_id,
    saved,
    texts,
)


async def asked(facts: Facts, person: Person, place: Place, scope: Scope) -> Clearing:
    found = await facts.clearing(person, place, scope)
    assert isinstance(found, Clearing)
    return found


async def clear(
    facts: Facts, scope: Scope = ANAS, person: Person = ANA, place: Place = SQUARE, *, pinned: bool = False
) -> Cleared:
    found = await asked(facts, person, place, scope)
    return await facts.clear(person, place, scope, found.pinned if pinned else found.unpinned, pinned=pinned)


async def stored_text(store: Store, ids: Sequence[int]) -> str:
    """Everything that is kept of these entries' writes."""
    async with store.read() as tx:
        entries = [entry for memory_id in ids for entry in await tx.journal.of_memory(memory_id)]
    return repr(entries)


async def test_a_clear_takes_every_unpinned_entry_of_one_scope_and_nothing_else(
    facts: Facts, store: Store
) -> None:
    for scope in (ANAS, ANAS_GLOBAL, BENS, SERVER):
        await saved(facts, "one", scope)
        await saved(facts, "pinned", scope, pinned=True)
    done = await clear(facts)
    assert done.count == 1 and len(done.left.pinned) == 1 and not done.left.unpinned
    assert len(await everything(store, ANAS)) == 1 and (await everything(store, ANAS))[0].pinned
    assert len(await everything(store)) == 7


async def test_the_pinned_ones_go_by_a_second_clear(facts: Facts, store: Store) -> None:
    await saved(facts, "one")
    await saved(facts, "pinned", pinned=True)
    await clear(facts)
    done = await clear(facts, pinned=True)
    assert done.count == 1 and done.left == Clearing() and not await everything(store)


async def test_no_journaled_word_of_a_cleared_entry_is_left_and_one_line_says_that_it_was_cleared(
    facts: Facts, store: Store
) -> None:
    memory = await saved(facts, "Hates her boss")
    await facts.edit(ANA, SQUARE, memory.id, "Loves her boss")
    await facts.tag(ANA, SQUARE, memory.id, ("boss",), ())
    other = await saved(facts, "My boss is pinned", pinned=True)
    await clear(facts)
    assert "boss" not in await stored_text(store, [memory.id])
    assert "boss" in await stored_text(store, [other.id])
    history = await facts.history(ANA, SQUARE, memory.id)
    assert [entry.op for entry in history] == [Op.CLEAR, Op.TAG, Op.UPDATE, Op.ADD]
    line = history[0]
    assert (line.actor_kind, line.actor_id, line.scope) == (ActorKind.MEMBER, ANA.id, ANAS)
    assert await facts.history(BEN, SQUARE, memory.id) == []


async def test_a_clear_cannot_be_undone_and_undo_says_so_instead_of_taking_something_older_back(
    facts: Facts, store: Store
) -> None:
    kept = await facts.add(ANA, SQUARE, ANAS_GLOBAL, "Likes tea")
    gone = await facts.add(ANA, SQUARE, ANAS, "Hates her boss")
    assert gone.journal is not None and kept.memory is not None
    await clear(facts)
    assert not (await facts.undo(ANA, SQUARE, gone.journal.id)).wrote
    latest = await facts.undo(ANA, SQUARE, None)
    assert not latest.wrote and "a clear, which is final" in latest.detail
    assert kept.journal is not None
    undone = await facts.undo(ANA, SQUARE, kept.journal.id)
    assert undone.kind is Kind.UNDONE and not await everything(store)


async def test_a_change_after_a_clear_is_undone_as_ever(facts: Facts, store: Store) -> None:
    await facts.add(ANA, SQUARE, ANAS, "Hates her boss")
    await clear(facts)
    await facts.add(ANA, SQUARE, ANAS, "Likes tea")
    undone = await facts.undo(ANA, SQUARE, None)
    assert undone.kind is Kind.UNDONE and not await everything(store)


async def test_a_clear_of_other_entries_than_asked_about_deletes_nothing_and_tells_what_stands(
    facts: Facts, store: Store
) -> None:
    await saved(facts, "one")
    found = await asked(facts, ANA, SQUARE, ANAS)
    await saved(facts, "two")
    late = await facts.clear(ANA, SQUARE, ANAS, found.unpinned, pinned=False)
    assert late.changed and late.count == 0 and len(late.left.unpinned) == 2
    await facts.pin(ANA, SQUARE, 2, True)
    await facts.delete(ANA, SQUARE, 1)
    await saved(facts, "three")
    swapped = await facts.clear(ANA, SQUARE, ANAS, found.unpinned, pinned=False)
    assert swapped.changed and len(await everything(store)) == 2


async def test_only_who_may_write_a_scope_clears_it(facts: Facts, store: Store) -> None:
    await saved(facts, "Closes at ten", SERVER)
    await saved(facts, "Likes tea", BENS)
    for person, scope in ((BEN, SERVER), (ANA, BENS), (ADMIN, BENS), (ADMIN, Scope.server(901))):
        assert isinstance(await facts.clearing(person, SQUARE, scope), Outcome)
        done = await facts.clear(person, SQUARE, scope, [1, 2], pinned=False)
        assert done.refused is not None and done.refused.kind is Kind.NOT_ALLOWED
    assert len(await everything(store)) == 2
    await grant(store)
    assert (await clear(facts, SERVER, BEN)).count == 1


async def test_in_a_server_what_is_kept_for_dms_is_counted_and_left_alone(facts: Facts, store: Store) -> None:
    await saved(facts, "Likes tea")
    await saved(facts, "Afraid of the dark", place=ANAS_DM)
    found = await asked(facts, ANA, SQUARE, ANAS)
    assert len(found.unpinned) == 1 and found.hidden == 1
    await clear(facts)
    assert texts(await everything(store)) == ["Afraid of the dark"]
    assert (await clear(facts, place=ANAS_DM)).count == 1


async def test_suggestions_about_and_behind_cleared_entries_lose_their_words(
    facts: Facts, store: Store, desk: Desk
) -> None:
    shared = await saved(facts, "Closes at ten", SERVER)
    waiting = proposal_id((await desk.shows(shared).update("m1", "Closes at nine")).outcome)
    approved = proposal_id((await desk.save("Serves coffee", about="server")).outcome)
    await facts.decide(ADMIN, SQUARE, approved, True)
    unrelated = proposal_id((await desk.save("Serves cake", about="server")).outcome)
    await clear(facts, SERVER, ADMIN)
    async with store.read() as tx:
        found = {n: await tx.proposals.get(n) for n in (waiting, approved, unrelated)}
    assert {n: (p.text, p.state) for n, p in found.items() if p is not None} == {
        waiting: ("", ProposalState.DISCARDED),
        approved: ("", ProposalState.APPROVED),
        unrelated: ("Serves cake", ProposalState.WAITING),
    }


async def test_words_approved_of_what_was_there_already_go_too(
    facts: Facts, store: Store, desk: Desk
) -> None:
    made = [await desk.save(text, about="server") for text in ("Tea at 5", "Quiet")]
    suggested = [proposal_id(each.outcome) for each in made]
    await saved(facts, "tea at 5.", SERVER)
    assert (await facts.decide(ADMIN, SQUARE, suggested[0], True)).kind is Kind.DUPLICATE
    await facts.edit(ADMIN, SQUARE, 1, "Coffee at 5")
    await clear(facts, SERVER, ADMIN)
    async with store.read() as tx:
        found = [await tx.proposals.get(number) for number in suggested]
    assert [each.text for each in found if each] == ["", "Quiet"]


async def test_words_of_what_was_deleted_or_joined_elsewhere_before_go_too(
    facts: Facts, store: Store
) -> None:
    await saved(facts, "Hates her boss", ANAS_GLOBAL)
    joined, deleted = await saved(facts, "hates her boss."), await saved(facts, "Hates the office")
    secret = await saved(facts, "Hates the dark", place=ANAS_DM)
    kept, other = await saved(facts, "Hates rain", pinned=True), await saved(facts, "Hates snow", BENS)
    await facts.edit(ANA, SQUARE, kept.id, "Hates hail")
    await facts.move(ANA, SQUARE, joined.id, ANAS_GLOBAL)
    gone = await facts.delete(ANA, SQUARE, deleted.id)
    await facts.delete(ANA, ANAS_DM, secret.id)
    await facts.delete(BEN, SQUARE, other.id)
    assert (await asked(facts, ANA, SQUARE, ANAS)).gone == 2
    done = await clear(facts)
    assert done.count == 0
    assert "ates" not in await stored_text(store, [joined.id, deleted.id])
    assert [e.op for e in await facts.history(ANA, SQUARE, deleted.id)] == [Op.CLEAR, Op.DELETE, Op.ADD]
    assert not (await facts.undo(ANA, SQUARE, journal_id(gone))).wrote
    for memory in (secret, kept, other):
        assert memory.text in await stored_text(store, [memory.id])
    assert (await asked(facts, ANA, SQUARE, ANAS)).gone == 0
    assert (await asked(facts, ANA, ANAS_DM, ANAS)).gone == 1
    assert texts(await everything(store)) == ["Hates her boss", "Hates hail"]


async def test_confirmations_of_cleared_entries_are_found_the_newest_fifty_and_show_no_word(
    facts: Facts, store: Store
) -> None:
    for number in range(60):
        added = await facts.add(ADMIN, SQUARE, SERVER, f"secret {number}")
        assert added.notice is not None
        async with store.write() as tx:
            await tx.notices.posted(added.notice.id, 10_000 + number)
    done = await clear(facts, SERVER, ADMIN)
    assert [n.message_id for n in done.notices] == [10_059 - n for n in range(50)]
    view = await facts.notice_view(done.notices[0].id, persona_name="P", server_name="S")
    assert view is not None and view.cleared and "secret" not in repr(view)


async def test_a_scope_of_any_size_is_cleared_at_once(facts: Facts, store: Store) -> None:
    async with store.write() as tx:
        now = facts.clock.now()
        for number in range(2_500):
            text = f"secret {number}"
            await tx.memories.add(ANAS, text, text, False, False, (), (), ANA.id, None, now, ())
    done = await clear(facts)
    assert done.count == 2_500 and not await everything(store)
    async with store.read() as tx:
        for memory_id in (1, 1_000, 1_001, 2_500):
            assert [entry.op for entry in await tx.journal.of_memory(memory_id)] == [Op.CLEAR]
