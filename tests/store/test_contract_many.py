"""What every database must do alike: moves, whole scopes that are cleared, a persona that leaves."""

from __future__ import annotations

from datetime import timedelta

from memory.store import Store, Tx
from memory.types import ActorKind, Op, ProposalState, Scope, Source, SubjectKind
from tests.store.samples import ANA, HERE, LATER, NOW, remember

MIRA_HERE, MIRA_ANA = Scope.server(70, "mira"), Scope.user(1001, "mira")
GLOBAL_HERE, GLOBAL_ANA = Scope.server(70), Scope.user(1001)


async def test_an_entry_moves_under_its_id_unless_its_new_scope_says_the_same(store: Store) -> None:
    async with store.write() as tx:
        memory = await remember(tx, ANA, "tea", mentions=(5,))
        await remember(tx, GLOBAL_ANA, "rain")
        rain = await remember(tx, ANA, "rain")
        moved = await tx.memories.change(memory.id, 1, at=LATER, scope=GLOBAL_ANA)
        assert await tx.memories.change(rain.id, 1, at=LATER, scope=GLOBAL_ANA) is None
    assert moved is not None and (moved.scope, moved.version, moved.updated_at) == (GLOBAL_ANA, 2, NOW)
    async with store.read() as tx:
        assert await tx.memories.get(memory.id) == moved
        assert await tx.memories.mentions(memory.id) == [5]
        assert await tx.memories.counts(ANA) == (1, 0)


async def test_what_a_scope_holds_is_told_by_pin_and_for_dms(store: Store) -> None:
    async with store.write() as tx:
        one = await remember(tx, ANA, "one")
        secret = await remember(tx, ANA, "secret", dm_only=True)
        pinned = await remember(tx, ANA, "pinned", pinned=True)
        await remember(tx, HERE, "other")
        assert await tx.memories.held(ANA, pinned=False, dm=True) == [one.id, secret.id]
        assert await tx.memories.held(ANA, pinned=False, dm=False) == [one.id]
        assert await tx.memories.held(ANA, pinned=True, dm=False) == [pinned.id]


async def test_the_lineages_of_a_subject_come_the_oldest_first(store: Store) -> None:
    async with store.write() as tx:
        for scope in (MIRA_ANA, GLOBAL_ANA, MIRA_ANA, Scope.user(1002, "x"), Scope.server(1001, "y")):
            await remember(tx, scope, f"{scope.lineage} {scope.kind} {await count(tx)}")
        assert await tx.memories.lineages(SubjectKind.USER, 1001) == ["mira", ""]
        assert await tx.memories.lineages(SubjectKind.SERVER, 70) == []


async def count(tx: Tx) -> int:
    return len(await tx.memories.of_scopes([MIRA_ANA, GLOBAL_ANA], dm=True))


async def test_a_personas_entries_and_their_twins_for_all_personas_are_found(store: Store) -> None:
    async with store.write() as tx:
        shared, own = await remember(tx, MIRA_HERE, "tea"), await remember(tx, MIRA_ANA, "rain")
        await remember(tx, Scope.server(71, "mira"), "another server's")
        await remember(tx, HERE, "another lineage")
        twin = await remember(tx, GLOBAL_HERE, "tea", pinned=True)
        await remember(tx, GLOBAL_ANA, "rain", dm_only=True)
        await remember(tx, Scope.user(1002), "rain")
        assert await tx.memories.of_lineage("mira", 70, []) == [shared, own]
        assert await tx.memories.of_lineage("mira", 70, [71]) == [shared]
        assert await tx.memories.global_twins("mira", 70, []) == {shared.id: twin}


async def test_members_entries_go_with_the_server_where_they_were_seen_and_stay_where_they_were_too(
    store: Store,
) -> None:
    async with store.write() as tx:
        here, both, there, never = [await remember(tx, Scope.user(n, "mira"), "tea") for n in range(1, 5)]
        wrote = await remember(tx, Scope.user(5, "mira"), "tea")
        await tx.names.put(70, {1: "A", 2: "B"})
        await tx.names.put(71, {2: "B", 3: "C"})
        await tx.names.put(0, {4: "D"})
        at = Source(10, None, 70)
        await tx.journal.add(wrote.id, wrote.scope, Op.ADD, ActorKind.MEMBER, 5, None, None, wrote, LATER, at)
        twin = await remember(tx, Scope.user(1), "tea")
        assert await tx.memories.of_lineage("mira", 70, [71, 72]) == [here, wrote]
        assert await tx.memories.of_lineage("mira", 71, [70]) == [there]
        assert await tx.memories.of_lineage("mira", 70, [72]) == [here, both, wrote]
        assert await tx.memories.global_twins("mira", 70, [71]) == {here.id: twin}
        staying = [await tx.memories.staying("mira", 70, others) for others in ([71], [72], [])]
        assert staying == [1, 0, 0]
        assert never


async def test_many_entries_are_rehomed_pinned_and_removed_at_once(store: Store) -> None:
    async with store.write() as tx:
        ids = [(await remember(tx, MIRA_ANA, f"fact {n}", mentions=(7,))).id for n in range(1_203)]
        await tx.memories.rehome_all(ids[:1_101])
        await tx.memories.pin_all(ids[1:1_050])
        await tx.memories.remove_all(ids[50:])
        await tx.memories.remove_all([])
        kept = await tx.memories.of_scopes([MIRA_ANA, GLOBAL_ANA], dm=True)
        assert [m.id for m in kept] == ids[:50] and {m.scope for m in kept} == {GLOBAL_ANA}
        assert [m.version for m in kept] == [2, *[3] * 49] and kept[1].pinned and not kept[0].pinned
        assert await tx.memories.mentions(ids[60]) == [] and await tx.memories.mentions(ids[3]) == [7]


async def test_many_writes_are_journaled_at_once_and_their_texts_erased_at_once(store: Store) -> None:
    async with store.write() as tx:
        one, two = await remember(tx, ANA, "one"), await remember(tx, HERE, "two")
        await tx.journal.add_all(
            Op.MOVE,
            [(one.scope, one.id, one, two), (two.scope, two.id, two, None)],
            actor_kind=ActorKind.MEMBER,
            actor_id=1001,
            at=LATER,
            source=Source(700, None, 70),
        )
        await tx.journal.erase([two.id])
        (moved,) = await tx.journal.of_memory(one.id)
        (bare,) = await tx.journal.of_memory(two.id)
        assert (moved.op, moved.scope, moved.before, moved.after) == (Op.MOVE, ANA, one, two)
        assert (moved.actor_id, moved.at, moved.source) == (1001, LATER, Source(700, None, 70))
        assert (bare.op, bare.scope, bare.before, bare.after) == (Op.MOVE, HERE, None, None)
        assert await tx.journal.standing_by(1001, [ANA, HERE], limit=5) == [moved]


async def test_a_personas_waiting_suggestions_of_one_server_are_counted_and_dropped(store: Store) -> None:
    async with store.write() as tx:
        here = Source(700, 1, 70)
        add = tx.proposals.add
        dropped = [
            await add(MIRA_HERE, Op.ADD, "a", NOW, source=here),
            await add(MIRA_ANA, Op.ADD, "b", NOW, source=here),
        ]
        kept = [
            await add(MIRA_ANA, Op.ADD, "c", NOW, source=Source(900, 1, 90)),
            await add(Scope.server(71, "mira"), Op.ADD, "d", NOW, source=here),
            await add(ANA, Op.ADD, "e", NOW, source=here),
        ]
        assert await tx.proposals.count_in(70, "mira") == 2
        assert await tx.proposals.drop_in(70, "mira", 1001, LATER) == [1, 2]
        assert await tx.proposals.count_in(70, "mira") == 0
        for proposals, state in ((dropped, ProposalState.DISCARDED), (kept, ProposalState.WAITING)):
            for each in proposals:
                found = await tx.proposals.get(each.id)
                assert found is not None and found.state is state


async def test_suggestions_about_and_behind_erased_entries_lose_their_words(store: Store) -> None:
    async with store.write() as tx:
        add = tx.proposals.add
        about = await add(ANA, Op.UPDATE, "words", NOW, memory_id=1, keywords=("k",))
        made = await add(ANA, Op.ADD, "words", NOW)
        other = await add(ANA, Op.ADD, "words", NOW)
        entry = await tx.journal.add(1, ANA, Op.ADD, ActorKind.MEMBER, 1001, None, None, None, NOW)
        await tx.proposals.decide(made.id, ProposalState.APPROVED, 1001, NOW)
        await tx.proposals.written_by(made.id, entry.id)
        await tx.proposals.erase([1])
        found = [await tx.proposals.get(each.id) for each in (about, made, other)]
    assert [(p.text, p.keywords, p.state) for p in found if p is not None] == [
        ("", (), ProposalState.DISCARDED),
        ("", (), ProposalState.APPROVED),
        ("words", (), ProposalState.WAITING),
    ]


async def test_the_newest_posted_notices_of_many_entries_are_found(store: Store) -> None:
    async with store.write() as tx:
        entries = [
            await tx.journal.add(n, ANA, Op.ADD, ActorKind.MEMBER, 1, None, None, None, NOW)
            for n in (1, 2, 3)
        ]
        proposal = await tx.proposals.add(ANA, Op.DELETE, "", NOW, memory_id=2)
        later = NOW + timedelta(minutes=1)
        notices = [await tx.notices.add(700, 70, None, entry.id, None, later) for entry in entries]
        notices.append(await tx.notices.add(700, 70, None, None, proposal.id, later))
        unposted = await tx.notices.add(700, 70, None, entries[0].id, None, later)
        for number, notice in enumerate(notices):
            await tx.notices.posted(notice.id, 8_000 + number)
        found = await tx.notices.of_memories([1, 2], 50)
        assert [n.message_id for n in found] == [8_003, 8_001, 8_000] and unposted not in found
        assert [n.message_id for n in await tx.notices.of_memories([1, 2], 2)] == [8_003, 8_001]
        assert await tx.notices.of_memories([], 50) == []
