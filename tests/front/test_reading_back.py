from __future__ import annotations

import pytest

from cogs import _surface
from cogs._surface import DiscordSurface
from memory.ports import Failure, Posted
from memory.types import Place

from .world import World, asked


async def test_a_report_is_one_line_and_is_told_from_a_reply(world: World, surface: DiscordSurface) -> None:
    message = await world.ana.send(world.general, "a question")
    place = world.place(world.general)
    posted = await surface.report(place, message.id, Failure(7, "That did not work.", retry=False))
    (found,) = await surface.own_replies(place, message.id) or []
    assert found == Posted(posted or 0, "That did not work.", report=True)
    assert [m.text for m in (await surface.history(place, limit=10)).messages] == ["a question"]


async def test_own_replies_end_where_somebody_else_speaks(world: World, surface: DiscordSurface) -> None:
    reply, message = await asked(world, surface)
    await reply.finish("word " * 900, "ks13")
    await world.ben.send(world.general, "hm")
    await surface.reply(world.place(world.general), 0).finish("Unrelated.", "ks14")
    found = await surface.own_replies(world.place(world.general), message.id)
    assert found is not None
    assert len(found) == 3


async def test_a_report_names_the_turn_that_its_button_runs_again(
    world: World, surface: DiscordSurface
) -> None:
    message = await world.ana.send(world.general, "a question")
    place = world.place(world.general)
    await surface.report(place, message.id, Failure(7, "That did not work."))
    (found,) = await surface.own_replies(place, message.id) or []
    assert (found.report, found.turn_id) == (True, 7)


@pytest.mark.parametrize("status", [403, 500])
async def test_a_channel_that_cannot_be_read_now_is_not_an_empty_one(
    world: World, surface: DiscordSurface, status: int
) -> None:
    reply, message = await asked(world, surface)
    await reply.finish("Here.", "ks15")
    world.env.inject_error("GET", "/channels/*/messages", status=status, times=None)
    assert await surface.own_replies(world.place(world.general), message.id) is None


@pytest.mark.parametrize("status", [403, 500])
async def test_a_channel_that_cannot_be_looked_up_now_is_not_gone(
    world: World, surface: DiscordSurface, status: int
) -> None:
    world.env.inject_error("GET", "/channels/*", status=status, times=None)
    assert await surface.own_replies(Place(12345, world.guild.id), 1) is None


async def test_in_a_channel_that_is_gone_nothing_of_ours_stands(
    world: World, surface: DiscordSurface
) -> None:
    assert await surface.own_replies(Place(12345, world.guild.id), 1, 2) == []
    world.env.inject_error("GET", "/channels/*/messages", status=404, code=10003)
    assert await surface.own_replies(world.place(world.general), 1) == []


async def test_a_known_partial_is_found_though_its_question_is_gone(
    world: World, surface: DiscordSurface
) -> None:
    message = await world.ana.send(world.general, "a question")
    await world.ana.delete(message)
    place = world.place(world.general)
    partial = await surface.reply(place, 0).show("half")  # so Discord posts a reply to what is gone
    assert await surface.own_replies(place, message.id) == []
    assert await surface.own_replies(place, message.id, partial) == [Posted(partial or 0, "half")]


async def test_a_known_partial_is_found_however_much_was_said_since(
    world: World, surface: DiscordSurface, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_surface, "AFTER_TRIGGER", 3)
    message = await world.ana.send(world.general, "a question")
    for number in range(5):
        await world.ben.send(world.general, f"line {number}")
    place = world.place(world.general)
    parts = await surface.reply(place, message.id).finish("word " * 900, "ks16")
    for number in range(4):
        await world.ben.send(world.general, f"later line {number}")
    assert await surface.own_replies(place, message.id) == []
    found = await surface.own_replies(place, message.id, parts[0].message_id)
    assert found == list(parts)


async def test_a_partial_that_somebody_deleted_no_longer_stands(
    world: World, surface: DiscordSurface
) -> None:
    reply, message = await asked(world, surface)
    partial = await reply.show("half")
    world.env.backend.delete_message(world.general.id, partial or 0)
    assert await surface.own_replies(world.place(world.general), message.id, partial) == []


async def test_a_reply_whose_link_unfolds_is_still_a_reply(world: World, surface: DiscordSurface) -> None:
    reply, message = await asked(world, surface)
    (part,) = await reply.finish("Look: https://x.com/a/status/1", "ks17")
    stored = world.env.backend.get_message(world.general.id, part.message_id)
    stored.embeds = [{"type": "rich", "url": "https://x.com/a/status/1", "title": "A post"}]
    place = world.place(world.general)
    assert await surface.own_replies(place, message.id) == [part]
    assert (await surface.history(place, limit=1)).messages[0].text == part.text


async def test_history_is_oldest_first_and_bounded(world: World, surface: DiscordSurface) -> None:
    for number in range(5):
        await world.ana.send(world.general, f"line {number}")
    place = world.place(world.general)
    said = (await surface.history(place, limit=3)).messages
    assert [m.text for m in said] == ["line 2", "line 3", "line 4"]
    earlier = (await surface.history(place, limit=3, before=said[0].message_id)).messages
    assert [m.text for m in earlier] == ["line 0", "line 1"]
    later = (await surface.history(place, limit=9, after=said[0].message_id)).messages
    assert [m.text for m in later] == ["line 3", "line 4"]


async def test_history_says_how_far_back_everything_was_looked_at(
    world: World, surface: DiscordSurface
) -> None:
    place = world.place(world.general)
    ids = [(await world.ana.send(world.general, f"line {number}")).id for number in range(3)]
    for number in range(6):
        await surface.report(place, ids[0], Failure(100 + number, "That did not work.", retry=False))
    whole = await surface.history(place, limit=9)
    assert whole is not None
    assert ([m.message_id for m in whole.messages], whole.since) == (ids, 0)
    some = await surface.history(place, limit=2)
    assert some is not None
    assert ([m.message_id for m in some.messages], some.since) == (ids[1:], ids[1])
    hidden = await surface.history(place, limit=1)
    assert hidden is not None
    assert not hidden.messages and hidden.since > ids[2], "five were looked at, and all were reports"


@pytest.mark.parametrize("status", [403, 500])
async def test_a_history_that_cannot_be_read_now_is_not_an_empty_one(
    world: World, surface: DiscordSurface, status: int
) -> None:
    await world.ana.send(world.general, "hello")
    world.env.inject_error("GET", "/channels/*/messages", status=status, times=None)
    assert await surface.history(world.place(world.general), limit=5) is None


async def test_a_place_out_of_reach_has_no_history(world: World, surface: DiscordSurface) -> None:
    assert await surface.history(Place(12345, world.guild.id), limit=5) is None


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
