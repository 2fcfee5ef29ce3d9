from __future__ import annotations

import asyncio
import time

import discord
import pytest

from cogs import _delivery
from cogs._delivery import EDIT_EVERY, Budget, clean, part_nonce
from cogs._surface import DiscordSurface
from memory.ports import DeliveryError, Posted
from memory.types import Place

from .world import HandClock, World, asked


def texts(world: World) -> list[str]:
    return [m.content for m in world.said_by_bot(world.general)]


async def test_a_reply_grows_by_edits_of_one_message(
    world: World, surface: DiscordSurface, hand: HandClock
) -> None:
    reply, _ = await asked(world, surface)
    first = await reply.show("Once")
    hand.pass_(2)
    assert await reply.show("Once upon") == first
    assert texts(world) == ["Once upon"]
    (done,) = await reply.finish("Once upon a time.", "ks1")
    assert done == Posted(first or 0, "Once upon a time.")
    assert texts(world) == ["Once upon a time."]


async def test_edits_are_at_most_one_in_a_while(
    world: World, surface: DiscordSurface, hand: HandClock
) -> None:
    reply, _ = await asked(world, surface)
    await reply.show("one")
    hand.pass_(EDIT_EVERY.total_seconds() - 0.1)
    await reply.show("one two")
    assert texts(world) == ["one"]
    hand.pass_(0.2)
    await reply.show("one two three")
    assert texts(world) == ["one two three"]
    await reply.withdraw()


def test_the_edit_budget_of_the_process_runs_out_and_fills_again(hand: HandClock) -> None:
    budget = Budget(hand, a_second=3)
    assert [budget.spend() for _ in range(4)] == [True, True, True, False]
    hand.pass_(0.4)
    assert budget.spend()
    assert not budget.spend()


async def test_a_long_partial_shows_its_first_part_only(
    world: World, surface: DiscordSurface, hand: HandClock
) -> None:
    reply, _ = await asked(world, surface)
    await reply.show("word " * 900)
    (shown,) = texts(world)
    assert len(shown) <= 2_000
    assert shown.endswith(" …")
    parts = await reply.finish("word " * 900, "ks2")
    assert [p.text for p in parts] == texts(world)
    assert "".join("".join(t.split()) for t in texts(world)) == "word" * 900


async def test_only_the_first_part_is_a_reply_and_each_part_has_its_own_nonce(
    world: World, surface: DiscordSurface
) -> None:
    reply, message = await asked(world, surface)
    await reply.finish("word " * 900, "ks77")
    posts = [r for r in world.env.http_requests if r.method == "POST" and r.path.endswith("/messages")]
    assert [p.json["nonce"] for p in posts] == ["ks77-0", "ks77-1", "ks77-2"]
    assert all(p.json["enforce_nonce"] for p in posts)
    assert posts[0].json["message_reference"]["message_id"] == message.id
    assert all("message_reference" not in p.json for p in posts[1:])
    assert all(p.json["allowed_mentions"]["parse"] == [] for p in posts)
    assert posts[0].json["allowed_mentions"]["replied_user"] is False


async def test_finishing_twice_posts_nothing_twice(world: World, surface: DiscordSurface) -> None:
    reply, _ = await asked(world, surface)
    once = await reply.finish("The same words.", "ks3")
    assert await reply.finish("The same words.", "ks3") == once
    assert texts(world) == ["The same words."]


async def test_the_reply_still_arrives_when_its_question_was_deleted(
    world: World, surface: DiscordSurface
) -> None:
    reply, message = await asked(world, surface)
    await world.ana.delete(message)
    await reply.finish("You deleted it, here it is.", "ks4")
    assert texts(world) == ["You deleted it, here it is."]


async def test_a_partial_that_somebody_deleted_is_posted_again_at_the_end(
    world: World, surface: DiscordSurface
) -> None:
    reply, _ = await asked(world, surface)
    await reply.show("half")
    world.env.backend.delete_message(world.general.id, world.said_by_bot(world.general)[0].id)
    await reply.finish("half and half", "ks5")
    assert texts(world) == ["half and half"]


async def test_a_withdrawn_reply_leaves_nothing(world: World, surface: DiscordSurface) -> None:
    reply, _ = await asked(world, surface)
    await reply.typing()
    await reply.show("half")
    await reply.withdraw()
    assert texts(world) == []


async def test_a_reply_goes_on_from_what_stands_already(world: World, surface: DiscordSurface) -> None:
    reply, message = await asked(world, surface)
    await reply.show("half")
    place = world.place(world.general)
    standing = await surface.own_replies(place, message.id)
    assert standing is not None
    assert [p.text for p in standing] == ["half"]
    again = surface.reply(place, message.id, standing)
    await again.finish("half and half", "ks6")
    assert texts(world) == ["half and half"]


async def test_too_many_standing_parts_are_deleted(world: World, surface: DiscordSurface) -> None:
    reply, message = await asked(world, surface)
    await reply.finish("word " * 900, "ks7")
    place = world.place(world.general)
    standing = await surface.own_replies(place, message.id)
    assert standing is not None
    assert len(standing) == 3
    await surface.reply(place, message.id, standing).finish("Short after all.", "ks8")
    assert texts(world) == ["Short after all."]


async def test_a_channel_that_forbids_us_is_gone_for_good(world: World, surface: DiscordSurface) -> None:
    reply, _ = await asked(world, surface)
    world.env.inject_error("POST", "/channels/*/messages", status=403, code=50013)
    with pytest.raises(DeliveryError) as caught:
        await reply.finish("Hello", "ks9")
    assert caught.value.gone


async def test_a_message_that_discord_will_never_take_is_not_tried_again(
    world: World, surface: DiscordSurface
) -> None:
    reply, _ = await asked(world, surface)
    world.env.inject_error("POST", "/channels/*/messages", status=400, code=20009)
    with pytest.raises(DeliveryError, match="would not take the reply") as caught:
        await reply.finish("Hello", "ks18")
    assert caught.value.gone


async def test_a_partial_is_taken_back_where_we_may_no_longer_post(
    world: World, surface: DiscordSurface
) -> None:
    reply, _ = await asked(world, surface)
    await reply.show("half of it")
    world.env.inject_error("POST", "/channels/*/messages", status=403, code=50013, times=None)
    with pytest.raises(DeliveryError):
        await reply.finish("word " * 900, "ks19")
    await reply.withdraw()
    assert texts(world) == []


async def test_a_partial_on_its_way_is_taken_back_when_the_turn_is_stopped(
    world: World, surface: DiscordSurface, monkeypatch: pytest.MonkeyPatch
) -> None:
    sending, may_land = asyncio.Event(), asyncio.Event()
    post = _delivery.post

    async def slow_post(*args: object, **more: object) -> discord.Message:
        sending.set()
        await may_land.wait()
        return await post(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(_delivery, "post", slow_post)
    reply, _ = await asked(world, surface)
    showing = asyncio.create_task(reply.show("half"))
    await sending.wait()
    showing.cancel()
    await asyncio.wait([showing])
    may_land.set()
    await reply.withdraw()
    assert texts(world) == []


async def test_a_long_stream_costs_little(world: World, surface: DiscordSurface, hand: HandClock) -> None:
    reply, _ = await asked(world, surface)
    text, begun = "word " * 3_200, time.process_time()
    for end in range(4, len(text), 4):
        hand.pass_(0.02)
        await reply.show(text[:end])
    assert time.process_time() - begun < 2
    await reply.withdraw()


async def test_trouble_on_discord_s_side_is_not_for_good(world: World, surface: DiscordSurface) -> None:
    reply, _ = await asked(world, surface)
    world.env.inject_error("POST", "/channels/*/messages", status=500)
    with pytest.raises(DeliveryError) as caught:
        await reply.finish("Hello", "ks10")
    assert not caught.value.gone
    await reply.finish("Hello", "ks10")
    assert texts(world) == ["Hello"]


async def test_an_unknown_channel_is_gone_for_good(world: World, surface: DiscordSurface) -> None:
    reply = surface.reply(Place(12345, world.guild.id), 1)
    with pytest.raises(DeliveryError) as caught:
        await reply.finish("Hello", "ks11")
    assert caught.value.gone


async def test_trouble_while_streaming_is_swallowed(world: World, surface: DiscordSurface) -> None:
    reply, _ = await asked(world, surface)
    world.env.inject_error("POST", "/channels/*/messages", status=500)
    assert await reply.show("half") is None


async def test_nobody_is_mentioned_by_what_the_model_writes(world: World, surface: DiscordSurface) -> None:
    reply, _ = await asked(world, surface)
    await reply.finish(f"@everyone <@{world.ben.id}> look", "ks12")
    (said,) = world.said_by_bot(world.general)
    assert not said.mention_everyone
    stored = world.env.backend.get_message(world.general.id, said.id)
    assert stored.ping_user_ids == []


def test_half_a_character_from_a_model_does_not_break_the_reply() -> None:
    assert clean("a\ud83db\x00c") == "a\ufffdbc"


def test_a_part_s_nonce_is_stable_distinct_and_short() -> None:
    long = "n" * 60
    assert part_nonce(long, 0) == part_nonce(long, 0)
    assert part_nonce(long, 0) != part_nonce(long, 1)
    assert len(part_nonce(long, 12)) <= 25
