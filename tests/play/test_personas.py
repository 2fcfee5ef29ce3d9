"""Webhooks and threads as Discord has them, without a browser: what simcord lacks and the playground adds."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import discord
import pytest

import play
from play.server import PlayServer
from play.webhooks import picture_at

from .standin import maker, now
from .tabs import Served, Tab


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[play.World]:
    async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now) as world:
        yield world


def texts(world: play.World, place: str) -> list[str]:
    where = [item for item in world.places("ana") if item["name"] == place]
    return [said.text for said in world.read("ana", int(str(where[0]["id"])))] if where else []


def speakers(tab: Tab) -> dict[str, tuple[str, bool]]:
    """Who said what, and whether with a picture of their own."""
    messages = (tab.snapshot["messages"][key] for key in tab.snapshot["timeline"])
    return {
        item["content"]: (item["author"]["name"], item["author"]["avatar_available"]) for item in messages
    }


async def look_around(world: play.World, place: str = "general") -> dict[str, tuple[str, bool]]:
    server = PlayServer(world, "a test")
    await server.start(0)
    async with aiohttp.ClientSession() as http:
        tab = await Tab(Served(world, server, http), "ana", channel(world, place)).open()
        await tab.look()
    await server.stop()
    return speakers(tab)


def channel(world: play.World, name: str) -> int:
    return next(int(str(place["id"])) for place in world.places("ana") if place["name"] == name)


async def history(world: play.World, place: str) -> dict[str, tuple[str, int | None, bytes | None]]:
    """What the bot reads there: each message's author, webhook and picture."""
    found = {}
    with world.env._as_bot():
        where = await world.bot.fetch_channel(channel(world, place))
        async for item in where.history(limit=100):
            url = item.author.avatar.url if item.author.avatar else ""
            picture = picture_at(world.env.backend, url.partition("?")[0])
            found[item.content] = (item.author.display_name, item.webhook_id, picture)
    return found


async def test_a_message_keeps_the_name_and_picture_of_its_time_even_after_a_restart(
    tmp_path: Path, world: play.World
) -> None:
    await world.say("ana", world.room("general"), "@Keepsake troupe")
    assert await world.wait_for(lambda: any(place["name"] == "Aboard" for place in world.places("ana")))
    said = await look_around(world)
    assert (said["Arr."], said["Meow."]) == (("Captain", True), ("The cat", True))
    await world.stop()
    async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now) as again:
        said = await look_around(again)
        assert (said["Arr."], said["Meow."]) == (("Captain", True), ("The cat", True))
        [hook] = again.env.backend.webhooks.values()
        assert (hook.name, again.env.backend.users[hook.id].avatar is not None) == ("Admiral", True)


async def test_what_a_deleted_persona_said_stays_through_any_number_of_restarts(
    tmp_path: Path, world: play.World
) -> None:
    await world.say("ana", world.room("general"), "@Keepsake troupe")
    assert await world.wait_for(lambda: "Below deck." in texts(world, "Aboard"))
    with world.env._as_bot():
        for hook in await world.bot.get_channel(world.room("general")).webhooks():
            await hook.delete()
    places = ("general", "Aboard")
    page = [await look_around(world, place) for place in places]
    told = [await history(world, place) for place in places]
    assert page[0]["Arr."] == ("Captain", True)
    assert page[0]["Meow."] == ("The cat", True)
    assert page[1]["Below deck."] == ("Admiral", True)
    assert all(told[0][words][1] and told[0][words][2] for words in ("Arr.", "Meow."))
    await world.stop()
    for _ in range(3):
        async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now) as again:
            assert [await look_around(again, place) for place in places] == page
            assert [await history(again, place) for place in places] == told
            assert again.env.backend.webhooks == {}


async def test_a_world_saved_by_an_earlier_version_keeps_a_deleted_personas_words(
    tmp_path: Path, world: play.World
) -> None:
    await world.say("ana", world.room("general"), "@Keepsake troupe")
    assert await world.wait_for(lambda: "Below deck." in texts(world, "Aboard"))
    world.env.backend.delete_webhook(next(iter(world.env.backend.webhooks)))
    before = [await look_around(world), await look_around(world, "Aboard")]
    await world.stop()
    file = tmp_path / "playground.json"
    saved = json.loads(file.read_text("utf-8"))
    del saved["users"]
    file.write_text(json.dumps(saved), "utf-8")
    async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now) as again:
        assert [await look_around(again), await look_around(again, "Aboard")] == before


async def test_who_left_and_what_was_deleted_leave_the_others_words_whole(
    tmp_path: Path, world: play.World
) -> None:
    backend, general = world.env.backend, world.room("general")
    guest = backend.make_user("Guest", avatar="b1")
    backend.add_member(world.guild_id, guest.id)
    words = backend.create_message(general, guest.id, "I must go.")
    answer = await world.say("ana", general, "Already?", reply_to=words.id)
    lost = await world.say("ben", general, "Forget this.")
    await world.say("ana", general, "I will.", reply_to=lost)
    await world.say("ana", general, "@Keepsake remember that he left")
    assert await world.wait_for(lambda: world.read("ana", general)[-1].embeds == ("Saved\nhe left",))
    backend.remove_member(world.guild_id, guest.id)
    backend.delete_message(general, lost)
    before, said = await look_around(world), world.read("ana", general)
    assert before["I must go."][0] == "Guest"
    assert "Forget this." not in before
    await world.stop()
    for _ in range(2):
        async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now) as again:
            assert await look_around(again) == before
            assert again.read("ana", general) == said
            with again.env._as_bot():
                where = again.bot.get_channel(general)
                assert (await where.fetch_message(answer)).reference.resolved.author.name == "Guest"
                [orphan] = [item async for item in where.history() if item.content == "I will."]
            assert orphan.reference.message_id == lost
            assert orphan.reference.resolved is None, type(orphan.reference.resolved)


async def test_a_webhook_has_its_own_picture_and_no_place_outside_its_channel(world: play.World) -> None:
    with world.env._as_bot():
        general = world.bot.get_channel(world.room("general"))
        tavern = world.bot.get_channel(world.room("tavern"))
        hook = await world.bot.captain(general)
        assert hook.avatar is not None
        elsewhere = await tavern.create_thread(name="Elsewhere", type=discord.ChannelType.public_thread)
        with pytest.raises(discord.NotFound):
            await hook.send("Lost.", thread=elsewhere)
        await hook.edit(avatar=None)
        [fetched] = await general.webhooks()
        assert fetched.avatar is None


async def test_a_button_of_a_persona_can_be_pressed(world: play.World) -> None:
    view = discord.ui.View(timeout=None)
    button = discord.ui.Button(label="Again", custom_id="again")
    pressed: list[int] = []

    async def press(interaction: discord.Interaction) -> None:
        pressed.append(interaction.user.id)
        await interaction.response.edit_message(content="Twice.", view=None)

    button.callback = press
    view.add_item(button)
    with world.env._as_bot():
        hook = await world.bot.captain(world.bot.get_channel(world.room("general")))
        message = await hook.send("Once.", view=view, wait=True)
    await world.press("ana", message.id, "Again")
    assert pressed == [world.people["ana"].id]
    assert world.read("ana", world.room("general"))[-1].text == "Twice."


async def test_a_private_thread_is_told_to_its_members_alone(world: play.World) -> None:
    general = world.room("general")
    await world.say("ana", general, "@Keepsake secret")
    assert await world.wait_for(
        lambda: any(place["name"] == "Behind the curtain" for place in world.places("ana"))
    )
    assert all(place["name"] != "Behind the curtain" for place in world.places("ben"))
    assert not any("curtain" in line.text for line in world.read("ana", general))


async def test_an_over_long_message_is_refused_with_the_limit(world: play.World) -> None:
    general = world.room("general")
    await world.say("ana", general, "x" * 2_000)
    with pytest.raises(play.PlayError, match=r"limited to 2,000 characters; this one has 2,001"):
        await world.say("ana", general, "x" * 2_001)
    assert world.read("ana", general)[-1].text == "x" * 2_000
