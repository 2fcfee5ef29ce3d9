"""What every database must do alike: memories, their journal, notices and proposals."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memory.errors import StoreError
from memory.store import Store
from memory.types import ActorKind, Memory, NoticeState, Op, ProposalState, Scope, Source
from tests.store.samples import ANA, BIG, HERE, HUGE_TEXT, LATER, NOW, remember, texts


async def test_a_memory_comes_back_as_it_was_saved(store: Store) -> None:
    async with store.write() as tx:
        saved = await remember(
            tx, Scope.user(BIG, "ünï"), HUGE_TEXT, pinned=True, dm_only=True, keywords=("té", "b"),
            channels=(BIG, 2), author_id=None, source=Source(BIG), mentions=(5, BIG, 5),
        )  # fmt: skip
    async with store.read() as tx:
        assert await tx.memories.get(saved.id) == saved
        assert await tx.memories.mentions(saved.id) == [5, BIG]
        assert await tx.memories.get(saved.id + 1) is None
    assert saved == Memory(
        saved.id,
        Scope.user(BIG, "ünï"),
        HUGE_TEXT,
        True,
        NOW,
        NOW,
        1,
        True,
        ("té", "b"),
        (BIG, 2),
        None,
        Source(BIG),
    )


async def test_the_memories_of_many_scopes_come_by_id_and_dm_ones_only_in_dms(store: Store) -> None:
    async with store.write() as tx:
        await remember(tx, ANA, "one")
        await remember(tx, HERE, "two")
        await remember(tx, ANA, "whispered", dm_only=True)
        await remember(tx, Scope.user(1001), "other lineage")
        await remember(tx, Scope.server(1001, "keepsake"), "other kind")
    async with store.read() as tx:
        for dm, expected in ((False, ["one", "two"]), (True, ["one", "two", "whispered"])):
            found = await tx.memories.of_scopes([HERE, ANA, HERE], dm=dm)
            assert [memory.text for memory in found] == expected
        assert await tx.memories.of_scopes([], dm=True) == []


async def test_many_scopes_at_once_are_one_read(store: Store) -> None:
    scopes = [Scope.user(n, lineage) for n in range(100) for lineage in ("", "keepsake")]
    async with store.write() as tx:
        for scope in scopes:
            await remember(tx, scope, "same")
        assert [memory.scope for memory in await tx.memories.of_scopes(scopes, dm=False)] == scopes


async def test_counts_tell_unpinned_from_pinned(store: Store) -> None:
    async with store.write() as tx:
        assert await tx.memories.counts(HERE) == (0, 0)
        for n in range(3):
            await remember(tx, HERE, f"plain {n}", dm_only=n == 0)
        await remember(tx, HERE, "pinned", pinned=True)
        await remember(tx, ANA, "elsewhere")
        assert await tx.memories.counts(HERE) == (3, 1)


@pytest.mark.parametrize("norm", ["likes tea", "ﷺ" * 40_000], ids=["short", "very long"])
async def test_the_same_text_is_found_and_refused_in_its_scope_only(store: Store, norm: str) -> None:
    async with store.write() as tx:
        saved = await remember(tx, HERE, "Likes tea", norm=norm)
        assert await tx.memories.find_same(HERE, norm, False) == saved
        assert await tx.memories.find_same(HERE, norm, True) is None
        assert await tx.memories.find_same(ANA, norm, False) is None
        await remember(tx, ANA, "Likes tea", norm=norm)
        await remember(tx, HERE, "Likes tea", norm=norm, dm_only=True)
    with pytest.raises(StoreError, match="Nothing was written"):
        async with store.write() as tx:
            await remember(tx, HERE, "Likes tea", norm=norm)
    assert await texts(store, HERE) == ["Likes tea", "Likes tea"]


async def test_a_change_needs_the_present_version(store: Store) -> None:
    async with store.write() as tx:
        saved = await remember(tx, ANA, "Likes tea", mentions=(5,))
        changed = await tx.memories.change(
            saved.id,
            1,
            at=LATER,
            text="Likes coffee",
            norm="likes coffee",
            keywords=("k",),
            channels=(3,),
            mentions=(6,),
        )
        assert changed == replace(
            saved, text="Likes coffee", version=2, updated_at=LATER, keywords=("k",), channels=(3,)
        )
        assert await tx.memories.get(saved.id) == changed
        assert await tx.memories.mentions(saved.id) == [6]
        assert await tx.memories.find_same(ANA, "likes tea", False) is None
        assert await tx.memories.change(saved.id, 1, at=LATER, text="late", norm="late") is None
        assert await tx.memories.change(999, 1, at=LATER, text="gone", norm="gone") is None
        assert await tx.memories.get(saved.id) == changed


async def test_pinning_and_widening_do_not_make_an_entry_recent(store: Store) -> None:
    async with store.write() as tx:
        saved = await remember(tx, ANA, "Likes tea", dm_only=True)
        changed = await tx.memories.change(saved.id, 1, at=LATER, pinned=True)
        assert changed == replace(saved, pinned=True, version=2)
        changed = await tx.memories.change(saved.id, 2, at=LATER, dm_only=False)
        assert changed == replace(saved, pinned=True, dm_only=False, version=3)
        assert await tx.memories.get(saved.id) == changed


async def test_a_change_into_a_text_that_is_there_changes_nothing(store: Store) -> None:
    async with store.write() as tx:
        await remember(tx, ANA, "tea")
        other = await remember(tx, ANA, "coffee")
        whispered = await remember(tx, ANA, "Tea", norm="tea", dm_only=True)
        assert await tx.memories.change(other.id, 1, at=LATER, text="Tea", norm="tea") is None
        assert await tx.memories.change(whispered.id, 1, at=LATER, dm_only=False) is None
        assert await tx.memories.get(other.id) == other
        assert await tx.memories.get(whispered.id) == whispered


async def test_a_removed_memory_takes_its_mentions_and_never_lends_its_id(store: Store) -> None:
    async with store.write() as tx:
        saved = await remember(tx, ANA, "tea", mentions=(5,))
        assert not await tx.memories.remove(saved.id, 2)
        assert await tx.memories.remove(saved.id, 1)
        assert not await tx.memories.remove(saved.id)
        assert await tx.memories.mentions(saved.id) == []
        assert (await remember(tx, ANA, "tea")).id > saved.id


async def test_a_removed_memory_comes_back_under_its_id_unless_its_text_is_there(store: Store) -> None:
    async with store.write() as tx:
        saved = await remember(tx, ANA, "Tea", mentions=(5,))
        assert await tx.memories.restore(saved, "tea", (5,)) is None
        await tx.memories.remove(saved.id)
        assert await tx.memories.restore(saved, "tea", (5,)) == saved
        assert await tx.memories.get(saved.id) == saved
        assert await tx.memories.mentions(saved.id) == [5]
        await tx.memories.remove(saved.id)
        await remember(tx, ANA, "tea")
        assert await tx.memories.restore(saved, "tea", (5,)) is None
        assert await tx.memories.get(saved.id) is None


async def test_unstorable_characters_in_a_memory_are_replaced_before_it_is_shown(store: Store) -> None:
    async with store.write() as tx:
        saved = await remember(tx, Scope.user(1, "l\x00"), "a\x00\udfff", norm="a\x00", keywords=("\ud800",))
        entry = await tx.journal.add(
            saved.id, saved.scope, Op.ADD, ActorKind.MEMBER, 1, None, None, replace(saved, text="\x00"), NOW
        )
        assert await tx.memories.find_same(Scope.user(1, "l\x00"), "a\x00", False) == saved
        assert await tx.memories.get(saved.id) == saved
        assert await tx.memories.of_scopes([Scope.user(1, "l\x00")], dm=False) == [saved]
        assert await tx.memories.counts(Scope.user(1, "l\x00")) == (1, 0)
        assert await tx.journal.get(entry.id) == entry
    assert (saved.text, saved.keywords) == ("a\ufffd\ufffd", ("\ufffd",))


async def test_the_journal_keeps_before_and_after_and_outlives_the_memory(store: Store) -> None:
    async with store.write() as tx:
        saved = await remember(tx, ANA, HUGE_TEXT, keywords=("k",), channels=(3,))
        added = await tx.journal.add(
            saved.id, ANA, Op.ADD, ActorKind.MODEL, 1001, 9, None, saved, NOW, source=Source(700, 5, 70)
        )
        deleted = await tx.journal.add(
            saved.id, ANA, Op.DELETE, ActorKind.MEMBER, 1001, None, saved, None, LATER
        )
        await tx.memories.remove(saved.id)
    async with store.read() as tx:
        assert await tx.journal.of_memory(saved.id) == [deleted, added]
        assert await tx.journal.of_turn(9) == [added]
        assert await tx.journal.get(added.id) == added
        assert await tx.journal.get(999) is None
    assert (added.after, added.before, deleted.before, added.source) == (
        saved,
        None,
        saved,
        Source(700, 5, 70),
    )


async def test_an_entry_is_undone_once_and_the_next_undo_goes_further_back(store: Store) -> None:
    async with store.write() as tx:
        made = await remember(tx, ANA, "one")
        first, second = [
            await tx.journal.add(n, ANA, Op.ADD, ActorKind.MEMBER, 1001, None, None, made, NOW)
            for n in (1, 2)
        ]
        await tx.journal.add(3, ANA, Op.ADD, ActorKind.MEMBER, 1002, None, None, made, NOW)
        await tx.journal.add(4, HERE, Op.ADD, ActorKind.MEMBER, 1001, None, None, made, NOW)
        assert await tx.journal.standing_by(1001, [ANA, Scope.user(1001)]) == [second]
        undo = await tx.journal.add(
            2, ANA, Op.DELETE, ActorKind.MEMBER, 1001, None, None, made, NOW, undoes=second.id
        )
        assert await tx.journal.mark_undone(second.id, undo.id)
        assert not await tx.journal.mark_undone(second.id, undo.id)
        assert await tx.journal.get(second.id) == replace(second, undone_by=undo.id)
        assert await tx.journal.standing_by(1001, [ANA], limit=5) == [first]
        assert await tx.journal.standing_by(1001, [ANA], before=first.id) == []
        assert await tx.journal.standing_by(1003, [ANA]) == []
        assert await tx.journal.standing_by(1001, []) == []


async def test_a_notice_is_pending_until_posted_and_is_recognised_by_its_message(store: Store) -> None:
    async with store.write() as tx:
        first = await tx.notices.add(700, 70, 9, 5, None, NOW)
        second = await tx.notices.add(700, None, 9, None, 6, NOW)
        await tx.notices.add(700, None, None, 7, None, NOW)  # a person's own write
        assert await tx.notices.pending(10) == [first, second]
        assert await tx.notices.pending(1) == [first]
        await tx.notices.posted(first.id, 88)
        await tx.notices.failed(second.id, give_up=False)
        assert [notice.attempts for notice in await tx.notices.pending(10)] == [1]
        await tx.notices.failed(second.id)
        assert await tx.notices.pending(10) == []
        posted = replace(first, state=NoticeState.POSTED, message_id=88)
        assert await tx.notices.get(first.id) == posted
        assert await tx.notices.by_message(88) == posted
        assert await tx.notices.by_journal(5) == posted
        given_up = replace(second, state=NoticeState.FAILED, attempts=2)
        elsewhere = await tx.notices.add(701, 71, 10, None, 6, NOW)
        assert await tx.notices.of_proposal(6) == [elsewhere, given_up]
        assert await tx.notices.of_proposal(5) == []
        assert await tx.notices.by_message(89) is None
        assert await tx.notices.is_notice([87, 88, 89]) == {88}
        assert await tx.notices.is_notice([]) == set()


async def test_the_posted_confirmations_of_one_entry_are_found_newest_first(store: Store) -> None:
    async with store.write() as tx:
        entries = [
            await tx.journal.add(n, ANA, Op.ADD, ActorKind.MEMBER, 1001, None, None, None, NOW)
            for n in (1, 2, 1, 1)
        ]
        made = [await tx.notices.add(700, 70, None, entry.id, None, NOW) for entry in entries]
        for notice in made[:3]:
            await tx.notices.posted(notice.id, 80 + notice.id)
        found = await tx.notices.of_memory(1, 10)
        assert [notice.id for notice in found] == [made[2].id, made[0].id]
        assert await tx.notices.of_memory(1, 1) == found[:1] and await tx.notices.of_memory(3, 10) == []


async def test_a_proposal_waits_for_its_server_or_its_member_and_is_decided_once(store: Store) -> None:
    async with store.write() as tx:
        here = await tx.proposals.add(
            HERE, Op.UPDATE, HUGE_TEXT, NOW, memory_id=4, keywords=("k",), turn_id=9, proposer_id=1002,
            source=Source(700, 5, 70),
        )  # fmt: skip
        hers = await tx.proposals.add(ANA, Op.ADD, "b", NOW)
        assert await tx.proposals.get(here.id) == here
        assert await tx.proposals.waiting(70, None) == [here]
        assert await tx.proposals.waiting(None, 1001) == [hers]
        assert await tx.proposals.waiting(70, 1001) == [here, hers]
        assert await tx.proposals.waiting(1001, 70) == []
        assert await tx.proposals.waiting(None, None) == []
        assert await tx.proposals.count_waiting(HERE) == 1
        assert await tx.proposals.decide(here.id, ProposalState.APPROVED, 1001, LATER)
        assert not await tx.proposals.decide(here.id, ProposalState.DISCARDED, 1001, LATER)
        assert await tx.proposals.get(here.id) == replace(here, state=ProposalState.APPROVED)
        assert await tx.proposals.count_waiting(HERE) == 0


async def test_a_proposal_that_waited_too_long_expires(store: Store) -> None:
    async with store.write() as tx:
        old = await tx.proposals.add(ANA, Op.ADD, "old", NOW - timedelta(days=8))
        await tx.proposals.add(ANA, Op.ADD, "new", NOW)
        assert await tx.proposals.expire(NOW - timedelta(days=7), NOW) == 1
        assert [one.text for one in await tx.proposals.waiting(None, 1001)] == ["new"]
        assert not await tx.proposals.decide(old.id, ProposalState.APPROVED, 1001, LATER)
