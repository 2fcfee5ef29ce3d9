"""A suggestion that waits, told in several places: each notice works, and all tell what was decided."""

from __future__ import annotations

from typing import Any

import discord
import pytest

from memory.types import DEFAULT_LINEAGE, Scope

from .test_notices import labels, save, words
from .world import World


def confirmations(world: World, channel: Any) -> list[discord.Message]:
    return [m for m in world.said_by_bot(channel) if m.embeds]


async def suggest(world: World, channel: Any, who: Any = None, **more: str) -> discord.Message:
    """Ana makes the persona suggest something about Ben there; returns the newest notice."""
    world.model.say(save("Ben loves tea", **({"user": "Ben"} | more)), "I asked.")
    await (who or world.ana).send(channel, world.call("remember that Ben loves tea"))
    return confirmations(world, channel)[-1]


@pytest.fixture
async def twice(world: World) -> tuple[discord.Message, discord.Message]:
    """The same suggestion about Ben, made in #general and then in #tavern."""
    for channel in (world.general, world.tavern):
        await world.ben.send(channel, world.call("hello"))
    return await suggest(world, world.general), await suggest(world, world.tavern)


async def kept(world: World) -> list[str]:
    async with world.engine._rooms.store.read() as tx:
        memories = await tx.memories.of_scopes([Scope.user(world.ben.id, DEFAULT_LINEAGE)], dm=True)
    return [memory.text for memory in memories]


async def test_a_suggestion_made_again_elsewhere_has_a_notice_there_too(
    world: World, twice: tuple[discord.Message, discord.Message]
) -> None:
    for shown in twice:
        assert shown.embeds[0].title == "Save this?"
        assert "Waits for Ben" in words(shown)
        assert labels(shown) == ["Approve", "Discard"]
    assert len(await world.engine.facts.proposals(world.person(world.ben), world.place(world.general))) == 1


@pytest.mark.parametrize("pressed", [0, 1])
async def test_approving_at_either_notice_saves_once_and_both_tell_it(
    world: World, twice: tuple[discord.Message, discord.Message], pressed: int
) -> None:
    await world.ben.click(twice[pressed], label="Approve")
    assert await kept(world) == ["Ben loves tea"]
    channels = [world.general, world.tavern]
    here, other = confirmations(world, channels[pressed]), confirmations(world, channels[1 - pressed])
    assert [m.embeds[0].title for m in here] == ["Saved · approved by Ben"]
    assert [m.embeds[0].title for m in other] == ["Approved"]
    assert labels(other[0]) == []
    assert "tea" not in words(other[0])  # Ben may change it in private, and nobody would draw this again


async def test_discarding_at_one_notice_is_told_in_all_after_a_restart_too(
    world: World, twice: tuple[discord.Message, discord.Message]
) -> None:
    third = await suggest(world, world.general)
    assert third.id != twice[0].id
    await world.restart()
    await world.ben.click(third, label="Discard")
    assert await kept(world) == []
    shown = [*confirmations(world, world.general), *confirmations(world, world.tavern)]
    assert [m.embeds[0].title for m in shown] == ["Discarded", "Discarded · by Ben", "Discarded"]
    assert [labels(m) for m in shown] == [[], [], []]


async def test_a_suggestion_made_twice_in_one_turn_has_one_notice(world: World) -> None:
    await world.ben.send(world.general, world.call("hello"))
    world.model.say([save("Ben loves tea", user="Ben"), save("Ben loves tea", user="Ben")], "I asked.")
    await world.ana.send(world.general, world.call("remember that Ben loves tea"))
    assert len(confirmations(world, world.general)) == 1


async def test_nobody_else_decides_at_the_second_notice(
    world: World, twice: tuple[discord.Message, discord.Message]
) -> None:
    for who in (world.ana, world.mara):
        for label in ("Approve", "Discard"):
            refused = await who.click(twice[1], label=label)
            assert "Only the member whom this memory is about" in refused.followups[0].content
    assert await kept(world) == []
    assert confirmations(world, world.general)[0].embeds[0].title == "Save this?"


async def test_a_notice_leads_to_no_message_of_another_channel(
    world: World, twice: tuple[discord.Message, discord.Message]
) -> None:
    assert f"/{world.general.id}/" in words(twice[0])
    assert "discord.com" not in words(twice[1])
    again = await suggest(world, world.general)
    assert f"/{world.general.id}/" in words(again)
    await world.ben.click(twice[1], label="Approve")
    assert "discord.com" not in words(confirmations(world, world.tavern)[0])


async def test_a_suggestion_about_a_member_is_decided_from_another_server_without_naming_the_first(
    world: World,
) -> None:
    await world.ben.send(world.general, world.call("hello"))
    first = await suggest(world, world.general)
    other = world.env.create_guild("Far Harbour")
    ben, carla = other.add_member(world.ben.user), other.add_member(world.env.create_user("carla"))
    docks = other.create_text_channel("docks")
    await ben.send(docks, world.call("hello"))
    second = await suggest(world, docks, carla)
    assert labels(second) == ["Approve", "Discard"]
    assert str(world.guild.id) not in words(second)
    assert "Lantern" not in words(second)
    await ben.click(second, label="Approve")
    assert await kept(world) == ["Ben loves tea"]
    assert confirmations(world, docks)[0].embeds[0].title == "Saved · approved by Ben"
    (told,) = confirmations(world, world.general)
    assert (told.id, told.embeds[0].title, labels(told)) == (first.id, "Approved", [])


async def test_a_server_suggestion_made_again_is_decided_by_who_has_access(world: World) -> None:
    first = await suggest(world, world.general, about="server")
    second = await suggest(world, world.tavern, world.ben, about="server")
    refused = await world.ana.click(second, label="Approve")
    assert "Manage Server" in refused.followups[0].content
    await world.mara.click(second, label="Approve")
    assert confirmations(world, world.tavern)[0].embeds[0].title == "Saved · approved by Mara"
    (told,) = confirmations(world, world.general)
    assert (told.id, told.embeds[0].title, labels(told)) == (first.id, "Approved", [])
