"""Webhooks and threads as Discord has them, without a browser: what simcord lacks and the playground adds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import discord
import pytest

import play
from play.server import PlayServer

from .standin import maker, now
from .tabs import Served, Tab


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[play.World]:
    async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now) as world:
        yield world


def speakers(tab: Tab) -> dict[str, tuple[str, bool]]:
    """Who said what, and whether with a picture of their own."""
    messages = (tab.snapshot["messages"][key] for key in tab.snapshot["timeline"])
    return {
        item["content"]: (item["author"]["name"], item["author"]["avatar_available"]) for item in messages
    }


async def look_around(world: play.World) -> dict[str, tuple[str, bool]]:
    server = PlayServer(world, "a test")
    await server.start(0)
    async with aiohttp.ClientSession() as http:
        tab = await Served(world, server, http).tab("ana")
        await tab.look()
    await server.stop()
    return speakers(tab)


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
