from __future__ import annotations

from datetime import UTC, datetime, timedelta

import discord
import pytest

from cogs._delivery import EDIT_EVERY, Budget, clean, part_nonce
from cogs._surface import DiscordSurface
from memory.ports import DeliveryError, Failure, Posted, Reply
from memory.types import Place

from .world import World


class HandClock:
    def __init__(self) -> None:
        self.at = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def pass_(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@pytest.fixture
def hand() -> HandClock:
    return HandClock()


@pytest.fixture
def surface(world: World, hand: HandClock) -> DiscordSurface:
    made = DiscordSurface(world.bot)
    made._clock = hand
    made._budget = Budget(hand)
    return made


async def asked(world: World, surface: DiscordSurface) -> tuple[Reply, discord.Message]:
    message = await world.ana.send(world.general, "a question")
    return surface.reply(world.place(world.general), message.id), message


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
    assert [p.text for p in standing] == ["half"]
    again = surface.reply(place, message.id, standing)
    await again.finish("half and half", "ks6")
    assert texts(world) == ["half and half"]


async def test_too_many_standing_parts_are_deleted(world: World, surface: DiscordSurface) -> None:
    reply, message = await asked(world, surface)
    await reply.finish("word " * 900, "ks7")
    place = world.place(world.general)
    standing = await surface.own_replies(place, message.id)
    assert len(standing) == 3
    await surface.reply(place, message.id, standing).finish("Short after all.", "ks8")
    assert texts(world) == ["Short after all."]


async def test_a_channel_that_forbids_us_is_gone_for_good(world: World, surface: DiscordSurface) -> None:
    reply, _ = await asked(world, surface)
    world.env.inject_error("POST", "/channels/*/messages", status=403, code=50013)
    with pytest.raises(DeliveryError) as caught:
        await reply.finish("Hello", "ks9")
    assert caught.value.gone


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


async def test_a_report_is_one_line_and_is_told_from_a_reply(world: World, surface: DiscordSurface) -> None:
    message = await world.ana.send(world.general, "a question")
    place = world.place(world.general)
    posted = await surface.report(place, message.id, Failure(7, "That did not work.", retry=False))
    (found,) = await surface.own_replies(place, message.id)
    assert found == Posted(posted or 0, "That did not work.", report=True)
    assert [m.text for m in await surface.history(place, limit=10)] == ["a question"]


async def test_own_replies_end_where_somebody_else_speaks(world: World, surface: DiscordSurface) -> None:
    reply, message = await asked(world, surface)
    await reply.finish("word " * 900, "ks13")
    await world.ben.send(world.general, "hm")
    await surface.reply(world.place(world.general), 0).finish("Unrelated.", "ks14")
    found = await surface.own_replies(world.place(world.general), message.id)
    assert len(found) == 3


async def test_history_is_oldest_first_and_bounded(world: World, surface: DiscordSurface) -> None:
    for number in range(5):
        await world.ana.send(world.general, f"line {number}")
    place = world.place(world.general)
    said = await surface.history(place, limit=3)
    assert [m.text for m in said] == ["line 2", "line 3", "line 4"]
    earlier = await surface.history(place, limit=3, before=said[0].message_id)
    assert [m.text for m in earlier] == ["line 0", "line 1"]
    later = await surface.history(place, limit=9, after=said[0].message_id)
    assert [m.text for m in later] == ["line 3", "line 4"]


async def test_a_place_out_of_reach_has_no_history(world: World, surface: DiscordSurface) -> None:
    assert await surface.history(Place(12345, world.guild.id), limit=5) == []


async def test_who_can_read_a_private_channel(world: World, surface: DiscordSurface) -> None:
    council = world.place(world.council)
    assert await surface.can_read(council, world.mara.id)
    assert not await surface.can_read(council, world.ana.id)
    assert await surface.can_read(world.place(world.general), world.ana.id)
    assert not await surface.can_read(council, 999)


async def test_a_direct_message_is_read_by_its_member_only(world: World, surface: DiscordSurface) -> None:
    await world.ana.send_dm("hello")
    place = Place(world.ana.user.dm_channel.id, None)
    assert await surface.can_read(place, world.ana.id)
    assert not await surface.can_read(place, world.ben.id)


async def test_names_are_those_of_the_server(world: World, surface: DiscordSurface) -> None:
    assert surface.server_name(world.guild.id) == "Lantern Inn"
    assert surface.server_name(1) == "this server"
    assert surface.persona_name(world.place(world.general)) == world.bot.user.display_name  # type: ignore[union-attr]
