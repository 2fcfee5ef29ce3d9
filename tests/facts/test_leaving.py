"""A persona is deleted: what becomes of what it remembered (SPEC §4.6)."""

from __future__ import annotations

import time

import pytest

from memory.facts.leaving import Left, leave, leaving_counts
from memory.facts.outcomes import OutcomeKind as Kind
from memory.facts.service import Facts
from memory.facts.tools import MemoryTools
from memory.facts.writes import Hand
from memory.store import Store
from memory.types import Actor, ActorKind, Op, Person, Persona, ProposalState, Scope
from tests.facts.world import (
    ADMIN,
    ANA,
    ANAS,
    ANAS_DM,
    ANAS_GLOBAL,
    BEN,
    GUILD,
    OTHER_GUILD,
    SERVER_GLOBAL,
    SQUARE,
    Desk,
    character,
    everything,
    journal_id,
    proposal_id,
    saved,
    texts,
)
from tests.fakes import FakeClock

HOME = Scope.server(GUILD, "mira")
HERS = Scope.user(ANA.id, "mira")
ALL = (HOME, HERS, Scope.user(BEN.id, "mira"), SERVER_GLOBAL, ANAS_GLOBAL, Scope.user(BEN.id), ANAS)


def everywhere(_guild_id: int) -> bool:
    """The bot is in every server."""
    return True


@pytest.fixture
async def mira(store: Store) -> Persona:
    return await character(store)


async def go(
    store: Store,
    clock: FakeClock,
    mira: Persona,
    *,
    delete_server: bool = False,
    left_servers: tuple[int, ...] = (),
) -> Left:
    """Delete a persona as the engine does: its memories first, then itself."""
    async with store.write() as tx:
        left = await leave(
            tx, clock, mira, ADMIN, SQUARE, lambda n: n not in left_servers, delete_server=delete_server
        )
        assert await tx.personas.remove(mira)
    return left


async def test_its_memories_become_those_of_all_personas_about_the_same_subject(
    facts: Facts, store: Store, clock: FakeClock, mira: Persona
) -> None:
    shared = await saved(facts, "Closes at ten", HOME, pinned=True)
    own = await saved(facts, "Likes tea with <@2222>", HERS)
    secret = await saved(facts, "Afraid of the dark", HERS, ANAS_DM)
    clock.move(days=30)
    assert await go(store, clock, mira) == Left(server=1, personal=2)
    now = {memory.id: memory for memory in await everything(store, *ALL)}
    assert now[shared.id].scope == SERVER_GLOBAL and now[shared.id].pinned
    assert now[own.id].scope == ANAS_GLOBAL and now[own.id].updated_at == own.updated_at
    assert now[secret.id].scope == ANAS_GLOBAL and now[secret.id].dm_only and len(now) == 3
    async with store.read() as tx:
        assert await tx.memories.mentions(own.id) == [2222]
        moved, _ = await tx.journal.of_memory(own.id)
    assert (moved.op, moved.actor_kind, moved.actor_id) == (Op.MOVE, ActorKind.MEMBER, ADMIN.id)
    assert moved.before == own and moved.after == now[own.id]


async def seen(store: Store, person: Person, *guild_ids: int) -> None:
    """Somebody wrote in these servers."""
    async with store.write() as tx:
        for guild_id in guild_ids:
            await tx.names.put(guild_id, {person.id: person.name})


async def test_members_own_memories_stay_with_a_character_that_they_meet_in_another_server(
    facts: Facts, store: Store, clock: FakeClock, mira: Persona
) -> None:
    await character(store, guild_id=OTHER_GUILD)
    await seen(store, ANA, GUILD, OTHER_GUILD)
    await saved(facts, "Closes at ten", HOME)
    own = await saved(facts, "Likes tea", HERS)
    async with store.read() as tx:
        assert await leaving_counts(tx, mira, everywhere) == Left(server=1, staying=1)
    assert await go(store, clock, mira) == Left(server=1, staying=1)
    assert await everything(store, HERS) == [own]


async def test_a_card_that_a_stranger_imported_keeps_nobodys_memories_out_of_use(
    facts: Facts, store: Store, clock: FakeClock, mira: Persona
) -> None:
    await character(store, guild_id=OTHER_GUILD)
    await seen(store, BEN, GUILD)
    await saved(facts, "Only ever used commands", HERS)
    await saved(facts, "Wrote here", Scope.user(BEN.id, "mira"), ANAS_DM)
    assert await go(store, clock, mira) == Left(personal=2)
    kept = await everything(store, ANAS_GLOBAL, Scope.user(BEN.id))
    assert texts(kept) == ["Only ever used commands", "Wrote here"]


async def test_a_stranger_who_imports_a_card_and_deletes_it_changes_nothing_for_others(
    facts: Facts, store: Store, clock: FakeClock, mira: Persona
) -> None:
    theirs = await character(store, guild_id=OTHER_GUILD)
    own = await saved(facts, "Likes tea", HERS)
    unseen = await saved(facts, "Sings at night", HERS, ANAS_DM)
    async with store.read() as tx:
        assert await leaving_counts(tx, theirs, everywhere) == Left()
    assert await go(store, clock, theirs) == Left()
    assert await everything(store, HERS) == [own, unseen]


async def test_a_server_that_the_bot_has_left_holds_no_memories_back(
    facts: Facts, store: Store, clock: FakeClock, mira: Persona
) -> None:
    await character(store, guild_id=OTHER_GUILD)
    await seen(store, ANA, GUILD, OTHER_GUILD)
    await saved(facts, "Likes tea", HERS)
    assert await go(store, clock, mira, left_servers=(OTHER_GUILD,)) == Left(personal=1)
    assert len(await everything(store, ANAS_GLOBAL)) == 1


async def test_the_servers_own_are_deleted_on_request_and_members_own_never_are(
    facts: Facts, store: Store, clock: FakeClock, mira: Persona
) -> None:
    gone = await saved(facts, "Closes at ten", HOME, pinned=True)
    await saved(facts, "Likes tea", HERS)
    left = await go(store, clock, mira, delete_server=True)
    assert left == Left(server=1, personal=1, deleted=1)
    assert texts(await everything(store, *ALL)) == ["Likes tea"]
    history = await facts.history(BEN, SQUARE, gone.id)
    assert [entry.op for entry in history] == [Op.DELETE, Op.ADD]


async def test_the_same_text_there_makes_the_two_one_and_a_pin_passes(
    facts: Facts, store: Store, clock: FakeClock, mira: Persona
) -> None:
    there = await saved(facts, "likes tea.", ANAS_GLOBAL)
    await saved(facts, "Likes rain", ANAS_GLOBAL, pinned=True)
    await saved(facts, "Likes tea", HERS, pinned=True)
    await saved(facts, "likes rain", HERS)
    async with store.read() as tx:
        assert await leaving_counts(tx, mira, everywhere) == Left(personal=2, merged=2)
    assert await go(store, clock, mira) == Left(personal=2, merged=2)
    now = await everything(store, *ALL)
    assert texts(now) == ["likes tea.", "Likes rain"] and all(memory.pinned for memory in now)
    async with store.read() as tx:
        ops = [entry.op for entry in await tx.journal.of_memory(there.id)]
    assert ops == [Op.PIN, Op.ADD]


async def test_a_cap_may_be_exceeded_by_it_and_later_writes_are_refused_until_below(
    small: Facts, store: Store, clock: FakeClock, mira: Persona
) -> None:
    for number in range(3):
        await saved(small, f"old {number}", ANAS_GLOBAL)
        await saved(small, f"hers {number}", HERS)
    await go(store, clock, mira)
    kept = await everything(store, *ALL)
    assert len(kept) == 6
    refused = await small.add(ANA, SQUARE, ANAS_GLOBAL, "one more")
    assert refused.kind is Kind.LIMIT_REACHED and refused.unpinned == 6
    for memory in kept[:4]:
        await small.delete(ANA, SQUARE, memory.id)
    assert (await small.add(ANA, SQUARE, ANAS_GLOBAL, "one more")).wrote


async def test_what_waited_for_approval_there_is_discarded_and_nothing_else(
    facts: Facts, store: Store, clock: FakeClock, mira: Persona
) -> None:
    desk = Desk(facts, MemoryTools(facts), lineage="mira")
    about_ben = proposal_id((await desk.save("Ben likes cake", user="Ben")).outcome)
    about_server = proposal_id((await desk.save("Closes at ten", about="server")).outcome)
    desk.lineage = "keepsake"
    other = proposal_id((await desk.save("Closes at ten", about="server")).outcome)
    async with store.read() as tx:
        assert (await leaving_counts(tx, mira, everywhere)).discarded == 2
    assert (await go(store, clock, mira)).discarded == 2
    async with store.read() as tx:
        states = [await tx.proposals.get(n) for n in (about_ben, about_server, other)]
    assert [each.state for each in states if each] == [
        ProposalState.DISCARDED,
        ProposalState.DISCARDED,
        ProposalState.WAITING,
    ]


async def test_an_admins_undo_goes_on_with_their_own_writes_and_not_with_the_moves(
    facts: Facts, store: Store, clock: FakeClock, mira: Persona
) -> None:
    await saved(facts, "Closes at ten", HOME)
    await facts.add(ADMIN, SQUARE, SERVER_GLOBAL, "Opens at six")
    await go(store, clock, mira)
    undone = await facts.undo(ADMIN, SQUARE, None)
    assert undone.kind is Kind.UNDONE
    assert texts(await everything(store, *ALL)) == ["Closes at ten"]
    assert [e.op for e in await facts.history(ADMIN, SQUARE, 1)] == [Op.MOVE, Op.ADD]


async def test_what_was_deleted_before_comes_back_for_all_personas_and_that_is_said(
    facts: Facts, store: Store, clock: FakeClock, mira: Persona
) -> None:
    shared = await facts.delete(ADMIN, SQUARE, (await saved(facts, "Closes at ten", HOME)).id)
    secret = await facts.delete(ANA, ANAS_DM, (await saved(facts, "Likes tea", HERS, ANAS_DM)).id)
    await go(store, clock, mira)
    back = await facts.undo(ADMIN, SQUARE, journal_id(shared))
    assert back.kind is Kind.UNDONE and "for all personas now" in back.line()
    assert not (await facts.undo(ANA, SQUARE, journal_id(secret))).wrote
    await facts.undo(ANA, ANAS_DM, journal_id(secret))
    kept = await everything(store, *ALL, HERS)
    assert texts(kept) == ["Closes at ten", "Likes tea"] and kept[0].scope == SERVER_GLOBAL
    assert kept[1].scope == ANAS_GLOBAL and kept[1].dm_only
    assert [e.op for e in await facts.history(ADMIN, SQUARE, kept[0].id)] == [Op.ADD, Op.DELETE, Op.ADD]


async def test_a_members_own_comes_back_for_all_personas_though_a_stranger_has_the_card(
    facts: Facts, store: Store, clock: FakeClock, mira: Persona
) -> None:
    deleted = await facts.delete(ANA, SQUARE, (await saved(facts, "Likes tea", HERS)).id)
    await character(store, guild_id=OTHER_GUILD)
    await go(store, clock, mira)
    assert "for all personas now" in (await facts.undo(ANA, SQUARE, journal_id(deleted))).line()
    assert texts(await everything(store, ANAS_GLOBAL)) == ["Likes tea"]


async def test_what_comes_back_for_all_personas_finds_room_and_is_not_there_twice(
    small: Facts, store: Store, clock: FakeClock, mira: Persona
) -> None:
    first = await small.delete(ANA, SQUARE, (await saved(small, "Likes tea", HERS)).id)
    other = await small.delete(ANA, SQUARE, (await saved(small, "Likes rain", HERS)).id)
    for text in ("likes tea.", "one", "two"):
        await saved(small, text, ANAS_GLOBAL)
    await go(store, clock, mira)
    assert (await small.undo(ANA, SQUARE, journal_id(first))).kind is Kind.DUPLICATE
    assert (await small.undo(ANA, SQUARE, journal_id(other))).kind is Kind.LIMIT_REACHED
    assert len(await everything(store, *ALL)) == 3


async def test_what_was_saved_and_changed_before_is_undone_where_it_is_now(
    facts: Facts, store: Store, clock: FakeClock, mira: Persona
) -> None:
    added = await facts.add(ANA, SQUARE, HERS, "Likes tea")
    kept = await saved(facts, "Owns a cat", HERS)
    changed = await facts.edit(ANA, SQUARE, kept.id, "Owns a dog")
    await go(store, clock, mira)
    assert changed.notice is not None
    view = await facts.notice_view(changed.notice.id, persona_name="P", server_name="S")
    assert view is not None and not view.moved and view.persona_name == "a persona that was deleted"
    assert (await facts.undo(ANA, SQUARE, journal_id(added))).wrote
    assert (await facts.undo(ANA, SQUARE, journal_id(changed))).wrote
    assert texts(await everything(store, *ALL)) == ["Owns a cat"]


async def test_what_a_person_moved_and_a_deletion_then_took_along_is_theirs(
    facts: Facts, store: Store, clock: FakeClock, mira: Persona
) -> None:
    added = await facts.add(ANA, SQUARE, ANAS, "Likes tea")
    assert added.memory is not None
    await facts.move(ANA, SQUARE, added.memory.id, HERS)
    await go(store, clock, mira)
    assert not (await facts.undo(ANA, SQUARE, journal_id(added))).wrote
    assert texts(await everything(store, *ALL)) == ["Likes tea"]


async def test_a_reply_of_a_deleted_persona_is_rolled_back_whole(
    facts: Facts, store: Store, clock: FakeClock, mira: Persona
) -> None:
    tea, cat = await saved(facts, "Likes tea", HERS), await saved(facts, "Owns a cat", HERS)
    desk = Desk(facts, MemoryTools(facts), lineage="mira").shows(tea, cat)
    await desk.update(f"m{tea.id}", "Likes coffee")
    await desk.delete(f"m{cat.id}")
    await desk.save("Plays the cello")
    await go(store, clock, mira)
    hand = Hand(Actor(ActorKind.MEMBER, ADMIN), SQUARE)
    async with store.write() as tx:
        back = await facts.gate.roll_back(tx, [77], hand)
    assert texts(await everything(store, *ALL)) == ["Likes tea", "Owns a cat"] and len(back.undone) == 3
    (said,) = back.kept
    assert said.memory_id == cat.id and "for all personas" in said.line()


async def test_the_built_in_persona_never_leaves(store: Store) -> None:
    for lineage in ("keepsake", ""):
        with pytest.raises(ValueError, match="character of a server"):
            async with store.read() as tx:
                await leaving_counts(tx, Persona(1, GUILD, lineage, "x"), everywhere)


async def test_ten_thousand_entries_leave_in_a_moment(
    facts: Facts, store: Store, clock: FakeClock, mira: Persona
) -> None:
    async with store.write() as tx:
        for number in range(10_000):
            scope = Scope.user(100_000 + number % 500, "mira")
            text = f"fact {number}"
            await tx.memories.add(
                scope, text, text, number % 7 == 0, False, (), (), ANA.id, None, clock.now(), ()
            )
    began = time.perf_counter()
    left = await go(store, clock, mira)
    assert left == Left(personal=10_000) and time.perf_counter() - began < 10
    assert len(await everything(store, Scope.user(100_007))) == 20
    async with store.read() as tx:
        assert [entry.op for entry in await tx.journal.of_memory(9_999)] == [Op.MOVE]
