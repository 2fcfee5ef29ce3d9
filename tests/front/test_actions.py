"""The message actions as people meet them, under Apps on a message (SPEC §4.6, §5, §12)."""

from __future__ import annotations

import json
from typing import Any

import discord
import pytest
from simcord import interactions
from simcord.backend import serializers
from simcord.builders import ChannelHandle
from simcord.enums import InteractionType

from memory.errors import StoreError
from memory.llm.port import ToolCall
from memory.types import DEFAULT_LINEAGE, Memory, Persona, Scope

from .reading import double_click, labels, message_of, words
from .world import World

SAVE = ToolCall("c1", "save_memory", json.dumps({"content": "plays the cello", "about": "user"}))


async def asked(world: World, text: str, channel: ChannelHandle | None = None) -> Any:
    """Ana calls the bot; the reply that she got."""
    there = channel or world.general
    await world.ana.send(there, world.call(text))
    return reply(world, there)


def reply(world: World, channel: ChannelHandle) -> Any:
    return [m for m in world.said_by_bot(channel) if m.content and not m.components][-1]


async def saved(world: World) -> list[Memory]:
    async with world.engine._rooms.store.read() as tx:
        return await tx.memories.of_scopes([Scope.user(world.ana.id, DEFAULT_LINEAGE)], dm=True)


def prompt(world: World) -> str:
    return "\n".join(m.text for m in world.model.requests[-1].messages)


async def thread_of(world: World, parent: ChannelHandle, **more: Any) -> ChannelHandle:
    """A thread that the bot and Ana are in."""
    channel: Any = world.bot.get_channel(parent.id)
    made = await channel.create_thread(name="side room", **more)
    if more.get("type") is discord.ChannelType.private_thread:
        await made.add_user(discord.Object(world.ana.id))
    await world.env.settle()
    return handle(parent, made.id)


async def in_dm(world: World, name: str, message: discord.Message) -> None:
    """Ana uses a message command in her direct messages with the bot."""
    backend, dm = world.env.backend, world.ana.user.dm_channel
    known = backend.visible_commands(user_id=world.ana.id, channel_id=dm.id, type=3)
    (command,) = [c for c in known if c["name"] == name]
    stored = backend.get_message(dm.id, message.id)
    _, payload = interactions.base_payload(
        backend,
        type=InteractionType.APPLICATION_COMMAND,
        channel_id=dm.id,
        guild_id=None,
        user_id=world.ana.id,
        data={
            "id": command["id"],
            "name": name,
            "type": 3,
            "target_id": str(message.id),
            "resolved": {"messages": {str(message.id): dict(serializers.message_payload(backend, stored))}},
        },
    )
    backend.emit("INTERACTION_CREATE", payload)
    await world.env.settle()


def handle(parent: ChannelHandle, thread_id: int) -> ChannelHandle:
    return next(t for t in parent.threads if t.id == thread_id)


# --- Regenerate -------------------------------------------------------------------------------------------


async def test_the_author_regenerates_and_the_message_changes_in_place(world: World) -> None:
    """SPEC §4.6."""
    world.model.say(SAVE, "Noted.", "A cello, how lovely.")
    first = await asked(world, "I play the cello")
    shown = await world.ana.context_menu(world.general, "Regenerate", first)
    assert message_of(shown).ephemeral and "1 memory change was taken back" in words(shown)
    again = reply(world, world.general)
    assert (again.id, again.content) == (first.id, "A cello, how lovely.")
    assert await saved(world) == []
    (notice,) = [m for m in world.said_by_bot(world.general) if m.embeds]
    assert "undone" in words(notice) and labels(notice) == []


async def test_the_confirmation_of_what_was_pinned_since_says_that_it_stays(world: World) -> None:
    """SPEC §4.6."""
    world.model.say(SAVE, "Noted.", "Again.")
    first = await asked(world, "I play the cello")
    (notice,) = [m for m in world.said_by_bot(world.general) if m.embeds]
    await world.ana.click(notice, label="Pin")
    shown = await world.ana.context_menu(world.general, "Regenerate", first)
    assert "stays as it is: it was pinned since" in words(shown)
    (notice,) = [m for m in world.said_by_bot(world.general) if m.embeds]
    assert "its reply was taken back, this stays" in words(notice) and "Unpin" in labels(notice)


async def test_a_stranger_may_not_regenerate_and_an_admin_may(world: World) -> None:
    """SPEC §12."""
    first = await asked(world, "hello")
    refused = await world.stranger.context_menu(world.general, "Regenerate", first)
    assert "Only who asked, or somebody with Manage Server" in words(refused)
    world.model.say("for Mara")
    await world.mara.context_menu(world.general, "Regenerate", first)
    assert reply(world, world.general).content == "for Mara"


async def test_only_the_latest_reply_and_only_a_reply_is_regenerated(world: World) -> None:
    """SPEC §4.6."""
    first = await asked(world, "hello")
    question = await world.ana.send(world.general, world.call("and now?"))
    assert "Only my latest reply" in words(await world.ana.context_menu(world.general, "Regenerate", first))
    refused = await world.ana.context_menu(world.general, "Regenerate", question)
    assert "not a reply of mine" in words(refused)


async def test_a_long_reply_becomes_a_short_one_and_nothing_of_it_stays(world: World) -> None:
    world.model.say("word " * 700, "short")
    await asked(world, "tell me all")
    parts = world.said_by_bot(world.general)
    assert len(parts) == 2
    await world.ana.context_menu(world.general, "Regenerate", parts[1])
    assert [m.content for m in world.said_by_bot(world.general)] == ["short"]


async def test_regenerating_works_after_a_restart_and_in_a_dm(world: World) -> None:
    await world.ana.send_dm("hello")
    world.model.say("after the restart")
    await world.restart()
    (first,) = [m for m in world.ana.user.dm_channel.history() if m.author.id != world.ana.id]
    await in_dm(world, "Regenerate", first)
    (again,) = [m for m in world.ana.user.dm_channel.history() if m.author.id != world.ana.id]
    assert again.content == "after the restart"


async def test_a_reply_of_a_persona_is_regenerated_in_its_own_voice(world: World) -> None:
    async with world.engine._rooms.store.write() as tx:
        made = Persona(0, world.guild.id, "line-mira", "Mira", triggers=("mira",))
        await tx.personas.add(made, "mira", world.mara.id, world.clock.now())
    world.engine.personas.forget(world.guild.id)
    world.model.say("Aye.", "Aye, aye.")
    await world.ana.send(world.general, "Mira, are you there?")
    first = world.general.history()[-1]
    assert (first.author.name, first.content) == ("Mira", "Aye.")
    await world.ana.context_menu(world.general, "Regenerate", first)
    again = world.general.history()[-1]
    assert (again.id, again.author.name, again.content) == (first.id, "Mira", "Aye, aye.")


# --- Rewind to here ---------------------------------------------------------------------------------------


async def test_an_admin_rewinds_after_a_question_with_counts(world: World) -> None:
    """SPEC §4.6."""
    point = await asked(world, "hello")
    world.model.say(SAVE, "Noted.")
    await asked(world, "I play the cello")
    question = await world.mara.context_menu(world.general, "Rewind to here", point)
    assert "2 later messages" in words(question) and "1 memory change" in words(question)
    assert labels(question) == ["Rewind", "Leave it as it is"] and len(await saved(world)) == 1
    await world.mara.click(message_of(question), label="Rewind")
    assert "1 memory change was taken back" in words(question) and labels(question) == []
    assert await saved(world) == []
    marker = world.said_by_bot(world.general)[-1]
    assert "Rewound" in words(marker) and "Mara" in words(marker) and str(point.id) in words(marker)
    await asked(world, "what do I play?")
    assert "cello" not in prompt(world).lower()


async def test_a_member_may_not_rewind(world: World) -> None:
    """SPEC §12."""
    point = await asked(world, "hello")
    await asked(world, "more")
    refused = await world.ana.context_menu(world.general, "Rewind to here", point)
    assert "Manage Server" in words(refused) and labels(refused) == []


async def test_leaving_it_changes_nothing(world: World) -> None:
    point = await asked(world, "hello")
    await asked(world, "the secret door")
    question = await world.mara.context_menu(world.general, "Rewind to here", point)
    await world.mara.click(message_of(question), label="Leave it as it is")
    assert "Nothing was changed" in words(question)
    await asked(world, "go on")
    assert "secret door" in prompt(world)


async def test_the_right_is_asked_again_at_the_button(world: World) -> None:
    """SPEC §12."""
    point = await asked(world, "hello")
    await asked(world, "the secret door")
    question = await world.mara.context_menu(world.general, "Rewind to here", point)
    member: Any = world.env.backend.get_guild(world.guild.id).members[world.mara.id]
    member.role_ids = []
    await world.mara.click(message_of(question), label="Rewind")
    assert "Manage Server" in words(question)
    assert not any("Rewound" in words(m) for m in world.said_by_bot(world.general))
    await asked(world, "go on")
    assert "secret door" in prompt(world)


async def test_two_presses_rewind_once_with_one_marker(world: World) -> None:
    point = await asked(world, "hello")
    await asked(world, "more")
    question = await world.mara.context_menu(world.general, "Rewind to here", point)
    _, second = await double_click(world.mara, question, "Rewind")
    assert not second.followups and second.deferred
    markers = [m for m in world.said_by_bot(world.general) if "Rew" in words(m)]
    assert len(markers) == 1 and "Rewound" in words(markers[0])
    assert "Rewound" in words(question)


async def test_the_question_can_be_answered_after_a_restart(world: World) -> None:
    point = await asked(world, "hello")
    await asked(world, "the secret door")
    question = await world.mara.context_menu(world.general, "Rewind to here", point)
    await world.restart()
    await world.mara.click(message_of(question), label="Rewind")
    await asked(world, "go on")
    assert "secret door" not in prompt(world)


async def test_what_stays_is_named_to_who_rewound_alone(world: World) -> None:
    point = await asked(world, "hello")
    world.model.say(SAVE, "Noted.")
    await asked(world, "I play the cello")
    (entry,) = await saved(world)
    await world.ana.slash(world.general, "pins add", entry=str(entry.id))
    question = await world.mara.context_menu(world.general, "Rewind to here", point)
    await world.mara.click(message_of(question), label="Rewind")
    assert f"m{entry.id} stays as it is" in words(question) and "cello" not in words(question)
    assert f"m{entry.id}" not in words(world.said_by_bot(world.general)[-1])
    assert len(await saved(world)) == 1


async def test_a_rewind_that_fails_leaves_no_marker_behind(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = await asked(world, "hello")
    await asked(world, "more")
    question = await world.mara.context_menu(world.general, "Rewind to here", point)

    async def broken(*_: object, **__: object) -> None:
        raise StoreError("The database is locked.")

    monkeypatch.setattr(type(world.engine.actions), "rewind", broken)
    pressed = await world.mara.click(message_of(question), label="Rewind")
    assert "database is locked" in words(pressed.followups[-1])
    assert not any("Rew" in words(m) for m in world.said_by_bot(world.general))


# --- Fork here --------------------------------------------------------------------------------------------


async def test_a_fork_of_a_channel_is_a_public_thread_in_it_with_a_link_back(world: World) -> None:
    """SPEC §4.6."""
    world.model.say(SAVE, "Noted.")
    point = await asked(world, "I play the cello")
    await asked(world, "said afterwards")
    shown = await world.ben.context_menu(world.general, "Fork here", point)
    (made,) = world.general.threads
    assert f"<#{made.id}>" in words(shown) and made.name == "Fork of general"
    first = made.history()[0]
    assert str(point.id) in words(first) and "memories are shared" in words(first) and "Ben" in words(first)
    await asked(world, "what do I play?", made)
    assert "I play the cello" in prompt(world) and "said afterwards" not in prompt(world)
    assert "m1 plays the cello" in prompt(world) and "memories are shared" not in prompt(world)


async def test_a_fork_of_a_private_thread_is_private_with_the_same_people(world: World) -> None:
    """SPEC §4.6."""
    room = await thread_of(world, world.general, type=discord.ChannelType.private_thread)
    point = await asked(world, "a secret", room)
    await world.ana.context_menu(room, "Fork here", point)
    (made,) = [t for t in world.general.threads if t.id != room.id]
    stored: Any = world.env.backend.get_thread(made.id)
    assert stored.type == discord.ChannelType.private_thread.value
    assert set(stored.thread_members) == {world.ana.id, world.bot.user.id if world.bot.user else 0}


async def test_a_fork_of_a_public_thread_is_its_sibling(world: World) -> None:
    """SPEC §4.6."""
    room = await thread_of(world, world.general, type=discord.ChannelType.public_thread)
    point = await asked(world, "hello", room)
    await world.ana.context_menu(room, "Fork here", point)
    (made,) = [t for t in world.general.threads if t.id != room.id]
    assert made.name == "Fork of side room"


async def test_a_fork_of_a_forum_post_is_a_new_post(world: World) -> None:
    forum = world.guild.create_forum_channel("stories")
    channel: Any = world.bot.get_channel(forum.id)
    post = (await channel.create_thread(name="chapter one", content="It begins.")).thread
    await world.env.settle()
    room = handle(forum, post.id)
    point = await asked(world, "go on", room)
    await world.ana.context_menu(room, "Fork here", point)
    (made,) = [t for t in forum.threads if t.id != room.id]
    assert str(point.id) in words(made.history()[0])


async def test_missing_rights_to_fork_are_named_the_bots_and_the_members(world: World) -> None:
    """SPEC §12."""
    everyone, me = world.guild.default_role, world.bot.user
    assert me is not None
    none = discord.PermissionOverwrite(create_public_threads=False)
    plain = world.guild.create_text_channel("plain", overwrites={everyone: none})
    point = await asked(world, "hello", plain)
    refused = await world.ana.context_menu(plain, "Fork here", point)
    assert "I lack the permission Create Public Threads" in words(refused) and not plain.threads
    read = {everyone: discord.PermissionOverwrite(send_messages=False)}
    speaks = {who: discord.PermissionOverwrite(send_messages=True) for who in (world.ana, me)}
    news = world.guild.create_text_channel("read only", overwrites=read | speaks)
    point = await asked(world, "hello", news)
    refused = await world.ben.context_menu(news, "Fork here", point)
    assert "Only who can write" in words(refused) and not news.threads


# --- Exclude from prompt ----------------------------------------------------------------------------------


async def test_a_message_is_excluded_and_taken_in_again(world: World) -> None:
    joke = await world.ana.send(world.general, world.call("my awkward joke"))
    shown = await world.ana.context_menu(world.general, "Exclude from prompt", joke)
    assert message_of(shown).ephemeral and "left out" in words(shown)
    await asked(world, "go on")
    assert "awkward joke" not in prompt(world)
    shown = await world.ana.context_menu(world.general, "Exclude from prompt", joke)
    assert "in what I am given again" in words(shown)


async def test_nobody_excludes_what_others_said_but_an_admin(world: World) -> None:
    """SPEC §12."""
    joke = await world.ana.send(world.general, world.call("my awkward joke"))
    refused = await world.ben.context_menu(world.general, "Exclude from prompt", joke)
    assert "your own messages" in words(refused)
    shown = await world.mara.context_menu(world.general, "Exclude from prompt", joke)
    assert "left out" in words(shown)


async def test_what_was_never_kept_can_not_be_excluded(world: World) -> None:
    quiet = await world.ana.send(world.tavern, "nobody listens")
    shown = await world.ana.context_menu(world.tavern, "Exclude from prompt", quiet)
    assert "I don't keep that message" in words(shown)
