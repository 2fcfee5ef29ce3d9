"""What every database must do alike: conversations, turns, settings. Memories are in the file beside it."""

from __future__ import annotations

from datetime import timedelta

from memory.store import Store
from memory.types import AuthorKind, Outbox, Place, Turn, TurnState, Usage
from tests.store.samples import BIG, HUGE_TEXT, LATER, NOW, PLACE, message


async def test_a_channel_is_remembered_with_its_place_and_its_marks(store: Store) -> None:
    async with store.write() as tx:
        assert await tx.channels.get(700) is None
        await tx.channels.put(PLACE)
        await tx.channels.set_window_start(700, 11)
        await tx.channels.add_epoch(700, 12, 1001, NOW)
        await tx.channels.touch_turn(700, NOW)
    async with store.read() as tx:
        found = await tx.channels.get(700)
    assert found is not None
    assert (found.place, found.window_start, found.epoch) == (PLACE, 11, 12)
    assert found.last_turn_at == NOW


async def test_putting_a_channel_again_renames_it_and_keeps_its_marks(store: Store) -> None:
    async with store.write() as tx:
        await tx.channels.put(PLACE)
        await tx.channels.add_epoch(700, 12, 1001, NOW)
        found = await tx.channels.put(Place(700, None, None, "hall"))
    assert found.place == Place(700, None, None, "hall")
    assert found.epoch == 12


async def test_the_latest_epoch_is_in_force_until_its_marker_is_dropped(store: Store) -> None:
    async def epoch() -> int:
        async with store.read() as tx:
            found = await tx.channels.get(700)
        return -1 if found is None else found.epoch

    async with store.write() as tx:
        await tx.channels.put(PLACE)
        await tx.channels.add_epoch(700, 20, 1001, NOW)
        await tx.channels.add_epoch(700, 10, 1001, NOW)
        await tx.channels.add_epoch(701, 30, 1001, NOW)
    assert await epoch() == 20
    async with store.read() as tx:
        then = [await tx.channels.epoch_at(700, message_id) for message_id in (9, 15, 25)]
    assert then == [0, 10, 20]
    async with store.write() as tx:
        assert await tx.channels.drop_epochs(700, [20, 30, 99]) == 1
    assert await epoch() == 10
    async with store.write() as tx:
        assert await tx.channels.drop_epochs(700, [10]) == 1
        assert await tx.channels.drop_epochs(700, []) == 0
    assert await epoch() == 0


async def test_only_channels_with_a_recent_turn_are_active(store: Store) -> None:
    async with store.write() as tx:
        for channel_id, at in ((1, NOW - timedelta(days=1)), (2, NOW), (3, LATER)):
            await tx.channels.put(Place(channel_id, 70))
            await tx.channels.touch_turn(channel_id, at)
        await tx.channels.put(Place(4, 70))
    async with store.read() as tx:
        assert [found.place.channel_id for found in await tx.channels.active(NOW)] == [2, 3]


async def test_a_message_comes_back_as_it_was_stored(store: Store) -> None:
    kept = message(
        BIG,
        text=HUGE_TEXT,
        line=HUGE_TEXT,
        kind=AuthorKind.PERSONA,
        reply_to=BIG - 1,
        turn_id=4,
        excluded=True,
        images=("https://cdn/ü.png", "b"),
    )
    async with store.write() as tx:
        await tx.messages.add([kept])
    async with store.read() as tx:
        assert await tx.messages.get(700, BIG) == kept
        assert await tx.messages.of_turn(4) == [kept]
        assert await tx.messages.get(700, 1) is None


async def test_a_replayed_message_is_stored_once_and_keeps_its_first_text(store: Store) -> None:
    async with store.write() as tx:
        assert await tx.messages.add([message(1), message(2)]) == [1, 2]
        assert await tx.messages.add([message(3), message(2, text="changed"), message(3)]) == [3]
        assert await tx.messages.add([message(1)]) == []
        assert await tx.messages.add([]) == []
    async with store.read() as tx:
        assert [found.text for found in await tx.messages.window(700, 0, 0)] == ["text 1", "text 2", "text 3"]


async def test_the_window_holds_the_newest_messages_after_its_start_and_epoch(store: Store) -> None:
    async with store.write() as tx:
        await tx.messages.add([message(n) for n in range(1, 11)] + [message(20, channel_id=701)])

        async def window(start: int, epoch: int, limit: int = 2_000) -> list[int]:
            return [found.id for found in await tx.messages.window(700, start, epoch, limit)]

        assert await window(0, 0) == list(range(1, 11))
        assert await window(8, 0) == [8, 9, 10]
        assert await window(0, 8) == [9, 10]
        assert await window(0, 0, 3) == [8, 9, 10]
        assert [found.id for found in await tx.messages.before(700, 5, 2)] == [3, 4]
        assert await tx.messages.ids_between(700, 3, 5) == [3, 4, 5]


async def test_an_edit_changes_what_the_prompt_shows(store: Store) -> None:
    async with store.write() as tx:
        await tx.messages.add([message(1)])
        new = message(1, text="new", line="[12:00] Ana: new", tokens=5, encoding="cl100k_base")
        assert await tx.messages.edit(new, LATER)
        assert not await tx.messages.edit(message(2), LATER)
        found = await tx.messages.get(700, 1)
    assert found == new


async def test_a_deleted_message_is_gone_from_storage(store: Store) -> None:
    async with store.write() as tx:
        await tx.messages.add([message(n) for n in range(1, 2_501)])
        assert await tx.messages.delete([1, 2, 9_999]) == 2
        assert await tx.messages.delete([]) == 0
        assert await tx.messages.delete(list(range(3, 2_500))) == 2_497
        assert [found.id for found in await tx.messages.window(700, 0, 0)] == [2_500]


async def test_excluding_a_message_can_be_undone(store: Store) -> None:
    async with store.write() as tx:
        await tx.messages.add([message(1)])
        assert await tx.messages.set_excluded(700, [1], True)
        assert (await tx.messages.window(700, 0, 0))[0].excluded is True
        assert await tx.messages.set_excluded(700, [1], False)
        assert (await tx.messages.window(700, 0, 0))[0].excluded is False
        assert not await tx.messages.set_excluded(700, [2], True)


async def test_old_messages_leave_in_portions_the_oldest_first(store: Store) -> None:
    async with store.write() as tx:
        await tx.messages.add([message(n, at=NOW - timedelta(days=10 - n)) for n in range(1, 6)])
        assert await tx.messages.delete_older(NOW - timedelta(days=6), 2) == 2
        assert await tx.messages.ids_between(700, 0, BIG) == [3, 4, 5]
        assert await tx.messages.delete_older(NOW - timedelta(days=6), 9) == 1
        assert await tx.messages.delete_older(NOW - timedelta(days=6), 9) == 0


async def test_a_turn_runs_from_open_to_delivered_and_is_found_by_its_reply(store: Store) -> None:
    async with store.write() as tx:
        turn = await tx.turns.open(PLACE, "keepsake", [5, 6], [1001], NOW)
        await tx.turns.set_partial(turn.id, 40)
        assert [one.id for one in await tx.turns.unfinished()] == [turn.id]
        assert await tx.turns.ledger(turn.id) == ""
        assert await tx.turns.latest_with_ledger(700) is None
        assert await tx.turns.commit(turn.id, Usage(100, 20, 80), "model-1", '{"a": "ñ"}', NOW)
        assert not await tx.turns.commit(turn.id, Usage(), "again", "{}", NOW)
        assert [one.state for one in await tx.turns.unfinished()] == [TurnState.COMMITTED]
        assert await tx.turns.close(turn.id, TurnState.DELIVERED, (41, 42), at=LATER)
        assert not await tx.turns.close(turn.id, TurnState.FAILED, error="late", at=LATER)
        assert await tx.turns.unfinished() == []
    async with store.read() as tx:
        expected = Turn(
            turn.id, PLACE, "keepsake", TurnState.DELIVERED, (5, 6), (1001,), NOW,
            reply_ids=(41, 42), partial_id=40, usage=Usage(100, 20, 80), model="model-1",
        )  # fmt: skip
        assert await tx.turns.get(turn.id) == expected
        assert await tx.turns.by_reply(42) == expected
        assert await tx.turns.by_reply(40) is None
        assert await tx.turns.latest(700) == expected
        assert await tx.turns.latest_with_ledger(700) == expected
        assert await tx.turns.ledger(turn.id) == '{"a": "ñ"}'
        assert await tx.turns.latest(701) is None


async def test_a_failed_turn_keeps_its_reason_and_the_last_ledger_stays_in_reach(store: Store) -> None:
    async with store.write() as tx:
        first = await tx.turns.open(PLACE, "keepsake", [5], [1001], NOW)
        await tx.turns.commit(first.id, Usage(), "m", "{}", NOW)
        second = await tx.turns.open(PLACE, "keepsake", [6], [1001], NOW)
        assert await tx.turns.close(second.id, TurnState.FAILED, error="The model is down.", at=LATER)
        latest, with_ledger = await tx.turns.latest(700), await tx.turns.latest_with_ledger(700)
    assert latest is not None and (latest.id, latest.error) == (second.id, "The model is down.")
    assert with_ledger is not None and with_ledger.id == first.id


async def test_a_trigger_is_answered_once_whatever_is_replayed(store: Store) -> None:
    async with store.write() as tx:
        turn = await tx.turns.open(PLACE, "keepsake", [6, 5], [1001], NOW)
        assert await tx.triggers.add(6, 700, NOW)
        assert await tx.triggers.add(5, 700, NOW)
        assert not await tx.triggers.add(5, 700, NOW)
        assert await tx.triggers.add(7, 701, NOW)
        assert await tx.triggers.waiting(700, 10) == [(5, 0), (6, 0)]
        assert await tx.triggers.waiting(700, 1) == [(5, 0)]
        assert await tx.triggers.waiting_channels() == [700, 701]
        await tx.triggers.take([5, 6], turn.id)
        assert await tx.triggers.waiting_channels() == [701]
        await tx.triggers.done(turn.id)
        assert not await tx.triggers.add(5, 700, NOW)
        assert await tx.triggers.waiting(700, 10) == []


async def test_a_trigger_can_be_put_back_or_dropped(store: Store) -> None:
    async with store.write() as tx:
        for message_id in (5, 6):
            await tx.triggers.add(message_id, 700, NOW)
        await tx.triggers.take([5], 1)
        await tx.triggers.put_back(1)
        assert await tx.triggers.waiting(700, 10) == [(5, 0), (6, 0)]
        await tx.triggers.drop([6])
        assert await tx.triggers.waiting(700, 10) == [(5, 0)]
        assert not await tx.triggers.add(6, 700, NOW)


async def test_a_reply_waits_in_the_outbox_until_it_is_delivered(store: Store) -> None:
    async with store.write() as tx:
        await tx.outbox.add(3, PLACE, 5, HUGE_TEXT, "nonce", NOW)
        await tx.outbox.add(2, Place(9, None), 6, "b", "other", NOW)
    async with store.write() as tx:
        assert await tx.outbox.get(3) == Outbox(3, PLACE, 5, HUGE_TEXT, "nonce", NOW)
        assert [row.turn_id for row in await tx.outbox.pending()] == [2, 3]
        assert await tx.outbox.delivered(3)
        assert not await tx.outbox.delivered(3)
        assert await tx.outbox.get(3) is None
        assert [row.turn_id for row in await tx.outbox.pending()] == [2]


async def test_settings_are_set_changed_unset_and_read_together(store: Store) -> None:
    async with store.write() as tx:
        await tx.config.set("server", 70, "detail", "balanced", NOW, 1001)
        await tx.config.set("server", 70, "detail", "detailed", LATER, None)
        await tx.config.set("server", 70, "prompt", HUGE_TEXT, NOW, 1001)
        await tx.config.set("channel", 700, "detail", "essential", NOW, 1001)
        await tx.config.set("channel", 70, "detail", "not asked for", NOW, 1001)
    async with store.write() as tx:
        assert await tx.config.get("server", 70) == {"detail": "detailed", "prompt": HUGE_TEXT}
        assert await tx.config.many([("server", 70), ("channel", 700), ("persona", 1)]) == {
            ("server", 70): {"detail": "detailed", "prompt": HUGE_TEXT},
            ("channel", 700): {"detail": "essential"},
            ("persona", 1): {},
        }
        await tx.config.set("server", 70, "detail", None, NOW, 1001)
        assert await tx.config.get("server", 70) == {"prompt": HUGE_TEXT}
        assert await tx.config.many([]) == {}


async def test_a_member_is_known_by_the_name_of_this_server_and_by_no_other_s(store: Store) -> None:
    async with store.write() as tx:
        await tx.names.put(70, {1: "Ana", 2: "Bo"})
        await tx.names.put(71, {1: "Annie", 3: "Cy"})
        await tx.names.put(0, {4: "Di"})
        await tx.names.put(70, {2: "Bo 🎉", 1: "Ana"})
        await tx.names.put(70, {})
    async with store.read() as tx:
        assert await tx.names.get(70, [1, 2, 3, 4, 5]) == {1: "Ana", 2: "Bo 🎉"}
        assert await tx.names.get(71, [1]) == {1: "Annie"}
        assert await tx.names.get(0, [1, 2, 3, 4]) == {4: "Di"}
        assert await tx.names.get(71, []) == {}


async def test_characters_that_a_database_cannot_keep_are_replaced_alike(store: Store) -> None:
    async with store.write() as tx:
        await tx.messages.add([message(1, text="a\x00b\ud800c", images=("\x00",))])
        await tx.names.put(70, {1: "A\x00"})
        await tx.names.put(70, {1: "A\x00"})
        found = await tx.messages.get(700, 1)
        assert await tx.names.get(70, [1]) == {1: "A\ufffd"}
    assert found is not None
    assert (found.text, found.images) == ("a\ufffdb\ufffdc", ("\ufffd",))
