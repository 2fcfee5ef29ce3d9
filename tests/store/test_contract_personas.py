"""What every database keeps of personas, casts, webhooks, forks and rewinds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memory.errors import StoreError
from memory.store import Store
from memory.types import DetailLevel, Hook, Persona, Place, Rewound, Sample, TurnState
from tests.store.samples import HUGE_TEXT, LATER, NOW, PLACE, message

ARIA = Persona(
    0,
    70,
    "l-1",
    "Aria",
    description=HUGE_TEXT,
    prompt="Be {bot}.",
    attributes=("calm", "née"),
    samples=(Sample("hi", "hello"),),
    triggers=("aria",),
    detail=DetailLevel.DETAILED,
    learns=False,
    picture="d1",
)


async def test_a_persona_comes_back_as_it_was_kept(store: Store) -> None:
    async with store.write() as tx:
        kept = await tx.personas.add(ARIA, "aria", 1001, NOW)
    assert kept is not None and kept == replace(ARIA, id=kept.id)
    async with store.read() as tx:
        assert await tx.personas.get(kept.id) == kept
        assert await tx.personas.of_guild(70) == [kept]
        assert await tx.personas.of_guild(71) == []


async def test_two_personas_of_a_server_never_share_a_name_or_a_lineage(store: Store) -> None:
    async with store.write() as tx:
        assert await tx.personas.add(ARIA, "aria", None, NOW)
        assert await tx.personas.add(replace(ARIA, lineage="l-2"), "aria", None, NOW) is None
        assert await tx.personas.add(ARIA, "bob", None, NOW) is None
        assert await tx.personas.add(replace(ARIA, guild_id=71), "aria", None, NOW)
        assert await tx.personas.elsewhere("l-1", 0) == 2


async def test_of_two_changes_of_one_version_only_one_is_kept(store: Store) -> None:
    async with store.write() as tx:
        kept = await tx.personas.add(ARIA, "aria", None, NOW)
        assert kept
        changed = await tx.personas.change(replace(kept, description="new"), "aria", LATER)
        assert changed and changed.version == 2 and changed.description == "new"
        assert await tx.personas.change(replace(kept, description="late"), "aria", LATER) is None
        assert not await tx.personas.remove(kept)
        assert await tx.personas.remove(changed)
        assert await tx.personas.get(kept.id) is None


async def test_a_name_that_is_taken_is_refused_by_the_database(store: Store) -> None:
    async with store.write() as tx:
        await tx.personas.add(ARIA, "aria", None, NOW)
        bob = await tx.personas.add(replace(ARIA, lineage="l-2", name="Bob"), "bob", None, NOW)
    assert bob
    with pytest.raises(StoreError):
        async with store.write() as tx:
            await tx.personas.change(replace(bob, name="Aria"), "aria", LATER)


async def test_a_picture_stays_while_somebody_has_it(store: Store) -> None:
    async with store.write() as tx:
        await tx.personas.add_picture("d1", b"\x89PNG\x00")
        await tx.personas.add_picture("d1", b"other")
        one = await tx.personas.add(ARIA, "aria", None, NOW)
        two = await tx.personas.add(replace(ARIA, lineage="l-2"), "bob", None, NOW)
        assert one and two
        await tx.personas.remove(one)
        assert await tx.personas.picture("d1") == b"\x89PNG\x00"
        await tx.personas.remove(two)
        assert await tx.personas.picture("d1") is None


async def test_a_cast_is_told_in_the_order_of_joining(store: Store) -> None:
    async with store.write() as tx:
        assert await tx.personas.join(700, "b", NOW)
        assert await tx.personas.join(700, "a", LATER)
        assert not await tx.personas.join(700, "b", LATER)
        assert await tx.personas.cast(700) == ["b", "a"]
        assert await tx.personas.leave(700, "b") and not await tx.personas.leave(700, "b")
        assert await tx.personas.cast(700) == ["a"]


async def test_a_persona_has_one_webhook_in_a_channel_and_the_oldest_use_comes_first(store: Store) -> None:
    async with store.write() as tx:
        await tx.hooks.put(Hook(1, 7, 70, "a", "t1"), NOW)
        await tx.hooks.put(Hook(2, 7, 70, "b", "t2", "d"), LATER)
        await tx.hooks.put(Hook(3, 7, 70, "a", "t3"), NOW)
        assert [hook.id for hook in await tx.hooks.of_channel(7)] == [3, 2]
        await tx.hooks.used(3, LATER.replace(year=2030))
        assert [hook.id for hook in await tx.hooks.of_channel(7)] == [2, 3]
        found = await tx.hooks.get(7, "b")
        assert found == Hook(2, 7, 70, "b", "t2", "d", LATER)
        assert await tx.hooks.lineages() == {2: "b", 3: "a"}
        assert [hook.id for hook in await tx.hooks.of_persona(70, "a")] == [3]
        assert await tx.hooks.remove(3) and not await tx.hooks.remove(3)


def test_a_webhooks_token_is_not_shown_with_it() -> None:
    assert "t-secret" not in repr(Hook(1, 7, 70, "a", "t-secret"))


async def test_a_copied_message_shares_its_edits_and_its_end(store: Store) -> None:
    async with store.write() as tx:
        await tx.messages.add([message(i, turn_id=4) for i in (1, 2, 3, 4)])
        assert await tx.messages.copy(700, 900, start=2, epoch=0, last=3) == 2
        copies = await tx.messages.window(900, 0, 0)
        assert [(m.id, m.channel_id, m.turn_id) for m in copies] == [(2, 900, None), (3, 900, None)]
        await tx.messages.edit(message(2, text="new", line="new"), LATER)
        await tx.messages.delete([3])
        assert [m.text for m in await tx.messages.window(900, 0, 0)] == ["new"]
        assert await tx.messages.set_excluded(900, [2], True) == 1
        original = await tx.messages.get(700, 2)
        assert original is not None and not original.excluded
        assert await tx.messages.stored([2, 3, 99]) == {2}


async def test_a_stretch_is_taken_out_of_one_channel_only(store: Store) -> None:
    async with store.write() as tx:
        await tx.messages.add([message(i) for i in (1, 2, 3)])
        await tx.messages.copy(700, 900, start=0, epoch=0, last=9)
        assert await tx.messages.delete_between(700, 1, 3) == 2
        await tx.channels.add_rewind(Rewound(700, 1, 9), 1001, NOW)
        assert [m.id for m in await tx.messages.window(700, 0, 0)] == [1]
        assert [m.id for m in await tx.messages.window(900, 0, 0)] == [1, 2, 3]
        (out,) = await tx.channels.rewinds(700)
        assert [out.holds(i) for i in (1, 2, 9, 10)] == [False, True, True, False]
        assert await tx.channels.rewinds(900) == []


async def test_a_trigger_knows_whom_it_calls_and_can_be_dropped_with_its_stretch(store: Store) -> None:
    async with store.write() as tx:
        assert await tx.triggers.add(5, 700, NOW, 12)
        assert await tx.triggers.add(6, 700, NOW)
        assert await tx.triggers.waiting(700, 10) == [(5, 12), (6, 0)]
        assert await tx.triggers.drop_between(700, 5, 9) == 1
        assert await tx.triggers.waiting(700, 10) == [(5, 12)]


async def test_a_delivered_turn_can_be_discarded_once_and_owns_no_reply_afterwards(store: Store) -> None:
    async with store.write() as tx:
        turn = await tx.turns.open(PLACE, "l-1", [5], [1001], NOW, 12)
        assert turn.persona_id == 12
        assert not await tx.turns.discard(turn.id, TurnState.REPLACED)
        await tx.turns.close(turn.id, TurnState.DELIVERED, [6, 7], at=LATER)
        assert await tx.turns.reply_owners([6, 7, 8]) == {6: turn.id, 7: turn.id}
        assert await tx.turns.discard(turn.id, TurnState.REPLACED)
        assert not await tx.turns.discard(turn.id, TurnState.REWOUND)
        assert await tx.turns.reply_owners([6, 7]) == {}
        assert await tx.turns.by_reply(6) is None


async def test_later_turns_are_told_newest_first(store: Store) -> None:
    elsewhere = Place(701, 70)
    async with store.write() as tx:
        first = await tx.turns.open(PLACE, "k", [5], [1], NOW)
        await tx.turns.close(first.id, TurnState.DELIVERED, [6], at=NOW)
        second = await tx.turns.open(PLACE, "k", [7], [1], LATER)
        await tx.turns.close(second.id, TurnState.DELIVERED, [8], at=LATER)
        third = await tx.turns.open(PLACE, "k", [9], [1], LATER)
        await tx.turns.open(elsewhere, "k", [10], [1], LATER)
        assert [t.id for t in await tx.turns.later(700, 5, NOW)] == [third.id, second.id, first.id]
        assert [t.id for t in await tx.turns.later(700, 6, NOW)] == [third.id, second.id]
        assert [t.id for t in await tx.turns.later(700, 8, LATER)] == [third.id]
