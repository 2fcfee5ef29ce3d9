"""`/approvals`: what waits for who asks, driven as member, admin and stranger (SPEC §4.8, §12)."""

from __future__ import annotations

from typing import Any

import discord
import pytest

from memory.llm.port import ToolCall
from memory.types import DEFAULT_LINEAGE, Place, ProposalState, Scope

from .reading import double_click, labels, message_of, modal_text, words
from .test_notices import save
from .world import World

EMPTY = "Nothing waits for you here."


async def suggest(world: World, *texts: str, about: str = "user", channel: Any = None) -> None:
    """Ana makes the persona suggest these, about Ben or about the server."""
    channel = channel or world.general
    await world.ben.send(channel, world.call("hello"))
    user = {"user": "Ben"} if about == "user" else {}
    world.model.say([save(text, about=about, **user) for text in texts], "I asked.")
    await world.ana.send(channel, world.call("remember that"))


async def kept(world: World, scope: Scope | None = None) -> list[str]:
    scope = scope or Scope.user(world.ben.id, DEFAULT_LINEAGE)
    async with world.engine._rooms.store.read() as tx:
        return [memory.text for memory in await tx.memories.of_scopes([scope], dm=True)]


def server(world: World) -> Scope:
    return Scope.server(world.guild.id, DEFAULT_LINEAGE)


def cards(world: World, channel: Any = None) -> list[str]:
    shown = [m for m in world.said_by_bot(channel or world.general) if m.embeds]
    return [m.embeds[0].title or "" for m in shown]


async def test_the_member_it_is_about_sees_what_waits_and_by_whom_and_nobody_else_does(world: World) -> None:
    """SPEC §12."""
    await suggest(world, "Ben loves tea")
    shown = await world.ben.slash(world.general, "approvals")
    assert message_of(shown).ephemeral
    said = words(shown)
    assert "1 suggestion, oldest first" in said
    assert "**Save this?**\n> Ben loves tea" in said
    assert "about you · TestBot · suggested in a reply to Ana" in said
    assert f"/{world.general.id}/" in said
    assert labels(shown) == ["Approve", "Edit", "Discard"]
    for who in (world.ana, world.mara, world.stranger):
        assert EMPTY in words(await who.slash(world.general, "approvals"))


async def test_server_suggestions_wait_for_who_has_access_and_not_in_a_direct_message(world: World) -> None:
    """SPEC §12."""
    await suggest(world, "Movie night is Friday", about="server")
    assert EMPTY in words(await world.ana.slash(world.general, "approvals"))
    shown = await world.mara.slash(world.general, "approvals")
    assert "about this server" in words(shown)
    assert EMPTY in words(await world.mara.user.slash("approvals"))
    await world.mara.slash(world.general, "config server", key="member_access", value="on")
    assert "Movie night" in words(await world.ana.slash(world.general, "approvals"))


async def test_approving_saves_and_the_card_in_the_channel_tells_it(world: World) -> None:
    await suggest(world, "Ben loves tea")
    shown = await world.ben.slash(world.general, "approvals")
    await world.ben.click(message_of(shown), label="Approve")
    assert "Saved as m1" in words(shown) and EMPTY in words(shown)
    assert "`/memory undo`" in words(shown)
    assert await kept(world) == ["Ben loves tea"]
    assert cards(world) == ["Saved · approved"]
    (card,) = [m for m in world.said_by_bot(world.general) if m.embeds]
    assert "Ben loves tea" in words(card) and "m1 · about" in words(card)
    assert labels(card) == ["Undo", "Pin", "Edit"]
    history = await world.ben.slash(world.general, "memory history", entry="m1")
    assert "who approved a suggestion" in words(history)


async def test_discarding_saves_nothing_and_the_card_tells_it(world: World) -> None:
    await suggest(world, "Ben loves tea")
    shown = await world.ben.slash(world.general, "approvals")
    await world.ben.click(message_of(shown), label="Discard")
    assert "Discarded. Nothing was saved." in words(shown)
    assert await kept(world) == [] and cards(world) == ["Discarded"]


async def test_a_personal_suggestion_is_decided_in_a_direct_message_too(world: World) -> None:
    await suggest(world, "Ben loves tea")
    shown = await world.ben.user.slash("approvals")
    await world.ben.user.click(message_of(shown), label="Approve")
    assert await kept(world) == ["Ben loves tea"]
    assert cards(world) == ["Saved · approved"]
    shelves = await world.engine.facts.shelves(world.person(world.ben), world.place(world.general))
    assert any(memory.text == "Ben loves tea" for shelf in shelves for memory in shelf.memories)


async def test_words_are_changed_before_they_are_approved_and_both_are_recorded(world: World) -> None:
    await suggest(world, "Movie night is Friday", about="server")
    shown = await world.mara.slash(world.general, "approvals")
    box = await world.mara.click(message_of(shown), label="Edit")
    assert modal_text(box) == "Movie night is Friday"
    await world.mara.submit_modal(box, {"text": "Movie night is Saturday"})
    assert await kept(world, server(world)) == ["Movie night is Saturday"]
    (card,) = [m for m in world.said_by_bot(world.general) if m.embeds]
    assert card.embeds[0].title == "Saved · approved"
    assert "Saturday" in words(card) and "Friday" not in words(card)
    async with world.engine._rooms.store.read() as tx:
        proposal = await tx.proposals.get(1)
    assert proposal is not None
    assert (proposal.text, proposal.state) == ("Movie night is Friday", ProposalState.APPROVED)


async def test_changed_words_that_are_too_long_are_offered_back(world: World) -> None:
    await suggest(world, "Ben loves tea")
    shown = await world.ben.slash(world.general, "approvals")
    box = await world.ben.click(message_of(shown), label="Edit")
    long = "tea " * 130
    await world.ben.submit_modal(box, {"text": long})
    assert "the limit is 500" in words(shown) and "Ben loves tea" in words(shown)
    again = await world.ben.click(message_of(shown), label="Try again with my words")
    assert modal_text(again) == long
    await world.ben.submit_modal(again, {"text": "Ben loves green tea"})
    assert await kept(world) == ["Ben loves green tea"]
    assert "Try again with my words" not in labels(shown)
    (card,) = [m for m in world.said_by_bot(world.general) if m.embeds]
    assert "its text is not shown" in words(card) and "tea" not in words(card)
    assert "m1 · about" in words(card) and "Undo" in labels(card)


async def test_a_card_of_an_approved_suggestion_takes_it_back_and_hides_what_is_private_since(
    world: World,
) -> None:
    await suggest(world, "Ben loves tea")
    shown = await world.ben.user.slash("approvals")
    await world.ben.user.click(message_of(shown), label="Approve")
    (card,) = [m for m in world.said_by_bot(world.general) if m.embeds]
    place = Place(world.ben.user.dm_channel.id, None)
    await world.engine.facts.edit(world.person(world.ben), place, 1, "Ben hates tea")
    refused = await world.ana.click(card, label="Undo")
    assert "Only the member whom this memory is about" in refused.followups[0].content
    await world.ben.slash(world.general, "memory undo")
    (card,) = [m for m in world.said_by_bot(world.general) if m.embeds]
    assert "hates" not in words(card)
    await world.ben.click(card, label="Undo")
    assert await kept(world) == []


async def test_a_change_shows_what_stands_now_and_a_deletion_what_would_go(world: World) -> None:
    facts, place = world.engine.facts, world.place(world.general)
    for text in ("Movie night is Friday", "The cellar is locked"):
        await facts.add(world.person(world.mara), place, server(world), text)
    world.model.say(
        [
            ToolCall("a", "update_memory", '{"handle": "m1", "content": "Movie night is Saturday"}'),
            ToolCall("b", "delete_memory", '{"handle": "m2"}'),
        ],
        "I asked.",
    )
    await world.ana.send(world.general, world.call("no, it is on Saturday, and the cellar is open"))
    shown = await world.mara.slash(world.general, "approvals")
    said = words(shown)
    assert "**Change m1?**\n> Movie night is Saturday\nIt says now:\n> Movie night is Friday" in said
    assert "**Delete m2?**\n> The cellar is locked" in said
    assert labels(shown) == [
        *("Approve", "Edit", "Discard", "Approve", "Discard", "Approve all 2", "Discard all 2")
    ]


async def test_all_of_a_page_is_decided_after_a_second_press_that_names_the_count(world: World) -> None:
    texts = [f"Ben has {number} cats" for number in range(6)]
    await suggest(world, *texts)
    shown = await world.ben.slash(world.general, "approvals")
    assert "6 suggestions, oldest first · page 1 of 2" in words(shown)
    await world.ben.click(message_of(shown), label="Approve all 4")
    assert await kept(world) == []
    assert labels(shown) == ["Approve these 4", "Back"]
    await world.ben.click(message_of(shown), label="Back")
    await world.ben.click(message_of(shown), label="Approve all 4")
    await world.ben.click(message_of(shown), label="Approve these 4")
    assert "Approved: 4 of 4." in words(shown)
    assert sorted(await kept(world)) == texts[:4]
    await world.ben.click(message_of(shown), label="Discard all 2")
    await world.ben.click(message_of(shown), label="Discard these 2")
    assert "Discarded: 2 of 2." in words(shown) and EMPTY in words(shown)
    assert sorted(await kept(world)) == texts[:4]
    assert sorted(set(cards(world))) == ["Discarded", "Saved · approved"]


async def test_pages_are_turned(world: World) -> None:
    await suggest(world, *(f"Ben has {number} cats" for number in range(6)))
    shown = await world.ben.slash(world.general, "approvals")
    assert "0 cats" in words(shown) and "5 cats" not in words(shown)
    await world.ben.click(message_of(shown), label="Newer")
    assert "5 cats" in words(shown) and "0 cats" not in words(shown)
    assert "Newer" not in labels(shown)


async def test_what_was_decided_elsewhere_meanwhile_is_said_and_not_done_twice(world: World) -> None:
    await suggest(world, "Ben loves tea", "Ben has a cat")
    shown = await world.ben.slash(world.general, "approvals")
    (first, _) = [m for m in world.said_by_bot(world.general) if m.embeds]
    await world.ben.click(first, label="Discard")
    await world.ben.click(message_of(shown), label="Approve all 2")
    await world.ben.click(message_of(shown), label="Approve these 2")
    assert "Approved: 1 of 2." in words(shown) and "already discarded" in words(shown)
    assert await kept(world) == ["Ben has a cat"]


async def test_losing_access_while_the_panel_is_open_changes_nothing(world: World) -> None:
    """SPEC §12."""
    await suggest(world, "Movie night is Friday", about="server")
    shown = await world.mara.slash(world.general, "approvals")
    world.env.backend.get_guild(world.guild.id).members[world.mara.id].role_ids.clear()
    await world.mara.click(message_of(shown), label="Approve")
    assert "Manage Server" in words(shown) and EMPTY in words(shown)
    assert await kept(world, server(world)) == []


async def test_two_presses_at_once_save_once(world: World) -> None:
    await suggest(world, "Ben loves tea")
    shown = await world.ben.slash(world.general, "approvals")
    await double_click(world.ben, shown, "Approve")
    assert await kept(world) == ["Ben loves tea"]


async def test_a_panel_from_before_a_restart_says_how_to_open_a_new_one(world: World) -> None:
    await suggest(world, "Ben loves tea")
    shown = await world.ben.slash(world.general, "approvals")
    await world.restart()
    await world.ben.click(message_of(shown), label="Approve")
    assert "Run `/approvals`" in words(shown)
    assert await kept(world) == []
    again = await world.ben.slash(world.general, "approvals")
    await world.ben.click(message_of(again), label="Approve")
    assert await kept(world) == ["Ben loves tea"]


@pytest.mark.parametrize("text", ["# **big** [link](https://evil.example)", "@everyone <@&1> hello"])
async def test_hostile_words_are_shown_as_nothing_but_words(world: World, text: str) -> None:
    await suggest(world, text)
    shown = await world.ben.slash(world.general, "approvals")
    assert text not in words(shown)
    assert "> \\" in words(shown)


async def test_texts_of_the_greatest_length_fit_on_a_page(world: World) -> None:
    await suggest(world, *(f"{number} " + "\\*_~|" * 99 for number in range(5)))
    shown = await world.ben.slash(world.general, "approvals")
    assert "5 suggestions" in words(shown) and "Approve" in labels(shown)


async def test_a_suggestion_is_gone_from_the_queue_after_seven_days(world: World) -> None:
    """SPEC §4.8."""
    await suggest(world, "Ben loves tea")
    shown = await world.ben.slash(world.general, "approvals")
    await world.env.advance_time(7 * 24 * 3_600 + 1)
    assert EMPTY in words(await world.ben.slash(world.general, "approvals"))
    assert "asleep" in words(shown)
    (card,) = [m for m in world.said_by_bot(world.general) if m.embeds]
    refused = await world.ben.click(card, label="Approve")
    assert "7 days and expired" in refused.followups[0].content
    assert cards(world) == ["Nobody decided in time"]
    assert await kept(world) == []


async def said_in_private(world: World) -> Any:
    """Ana makes the persona suggest something in a room that only she and Mara can read."""
    see = discord.PermissionOverwrite(view_channel=True, read_message_history=True, send_messages=True)
    hidden = discord.PermissionOverwrite(view_channel=False)
    room = world.guild.create_text_channel(
        "room",
        overwrites={
            world.guild.default_role: hidden,
            world.ana: see,
            world.mara: see,
            world.bot.user: see,
        },
    )
    await suggest_server(world, "The vault is under the stairs", room)
    return room


async def suggest_server(world: World, text: str, channel: Any) -> None:
    world.model.say(save(text, about="server"), "I asked.")
    await world.ana.send(channel, world.call("remember that"))


async def test_a_suggestion_from_a_channel_that_one_cannot_read_shows_nothing_of_it(world: World) -> None:
    room = await said_in_private(world)
    await suggest_server(world, "Movie night is Friday", world.general)
    await world.mara.slash(world.general, "config server", key="member_access", value="on")
    shown = await world.ben.slash(world.general, "approvals")
    assert "A suggestion from a channel that you can't read" in words(shown)
    assert "vault" not in words(shown) and str(room.id) not in words(shown)
    assert "Movie night" in words(shown) and labels(shown) == ["Approve", "Edit", "Discard"]
    shown = await world.ana.slash(world.general, "approvals")
    assert "vault" in words(shown) and "Movie night" in words(shown)


async def test_who_lost_sight_of_the_channel_meanwhile_decides_nothing(world: World) -> None:
    room = await said_in_private(world)
    await world.mara.slash(world.general, "config server", key="member_access", value="on")
    shown = await world.ana.slash(world.general, "approvals")
    assert "vault" in words(shown)
    channel, guild = world.bot.get_channel(room.id), world.bot.get_guild(world.guild.id)
    assert isinstance(channel, discord.TextChannel) and guild is not None
    ana = await guild.fetch_member(world.ana.id)
    await channel.set_permissions(ana, view_channel=False)
    await world.ana.click(message_of(shown), label="Approve")
    assert "in a channel that you can't read" in words(shown) and "vault" not in words(shown)
    assert await kept(world, server(world)) == []
