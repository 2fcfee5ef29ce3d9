from __future__ import annotations

import discord
from simcord.builders import ChannelHandle

from memory.errors import ModelUnavailable

from .world import ScriptedModel, World


async def test_a_mention_is_answered_as_a_reply_without_pinging(world: World) -> None:
    world.model.say("Welcome to the inn!")
    asked = await world.ana.send(world.general, world.call("hello"))
    (answer,) = world.said_by_bot(world.general)
    assert answer.content == "Welcome to the inn!"
    assert answer.reference is not None
    assert answer.reference.message_id == asked.id
    assert answer.mentions == []


async def test_talk_that_calls_nobody_is_not_answered(world: World) -> None:
    await world.ana.send(world.general, "good morning")
    assert world.said_by_bot(world.general) == []
    assert world.model.requests == []


async def test_a_reply_to_the_persona_is_a_call(world: World) -> None:
    await world.ana.send(world.general, world.call("hello"))
    (answer,) = world.said_by_bot(world.general)
    await world.ben.send(world.general, "and me?", reply_to=answer)
    assert len(world.said_by_bot(world.general)) == 2


async def test_a_direct_message_is_answered(world: World) -> None:
    await world.ana.send_dm("are you there?")
    said = world.ana.user.dm_channel.history()
    assert [m.content for m in said] == ["are you there?", "I hear you."]


async def test_a_role_mention_and_everyone_call_nobody(world: World) -> None:
    role = world.guild.roles["Managers"]
    await world.mara.send(world.general, f"{role.mention} @everyone meeting at noon")
    assert world.said_by_bot(world.general) == []


async def test_another_bot_and_a_webhook_never_trigger_a_turn(world: World) -> None:
    other = world.guild.add_member(world.env.create_user("other", bot=True))
    await other.send(world.general, world.call("answer me"))
    hook = world.guild.create_webhook(world.general, "Feed")
    await hook.send(world.call("answer me"))
    assert world.said_by_bot(world.general) == []


async def test_the_model_sees_the_words_without_the_opening_mention(world: World) -> None:
    await world.ana.send(world.general, world.call("what did Ben say?"))
    sent = world.model.requests[0].messages[-1].text
    assert sent.endswith("Ana: what did Ben say?")


async def test_an_edit_calls_nobody_and_reaches_the_window(world: World) -> None:
    await world.ana.send(world.general, world.call("hello"))
    message = await world.ben.send(world.general, "I like tea")
    await world.ben.edit(message, world.call("I like coffee"))
    assert len(world.said_by_bot(world.general)) == 1
    await world.ana.send(world.general, world.call("what does Ben like?"))
    prompt = "\n".join(m.text for m in world.model.requests[-1].messages)
    assert "I like coffee" in prompt
    assert "I like tea" not in prompt


async def test_a_deleted_message_leaves_the_window(world: World) -> None:
    await world.ana.send(world.general, world.call("hello"))
    message = await world.ben.send(world.general, "the vault code is 4711")
    await world.ben.delete(message)
    await world.ana.send(world.general, world.call("what is the code?"))
    assert "4711" not in "\n".join(m.text for m in world.model.requests[-1].messages)


async def test_an_auto_reply_channel_is_answered_without_a_mention(world: World) -> None:
    await world.engine.config.set(world.person(world.mara), world.place(world.tavern), "auto_reply", "on")
    await world.ana.send(world.tavern, "anybody here?")
    assert [m.content for m in world.said_by_bot(world.tavern)] == ["I hear you."]


async def test_a_failed_model_is_said_in_one_line_with_a_retry_button(world: World) -> None:
    world.model.say(ModelUnavailable("The model can't be reached. Your message is kept."))
    await world.ana.send(world.general, world.call("hello"))
    (line,) = world.said_by_bot(world.general)
    assert "can't be reached" in line.content
    world.model.say("Here I am again.")
    await world.ana.click(line, label="Retry")
    assert [m.content for m in world.said_by_bot(world.general)] == ["Here I am again."]


async def test_only_who_asked_or_an_admin_can_retry(world: World) -> None:
    world.model.say(ModelUnavailable("The model can't be reached."))
    await world.ana.send(world.general, world.call("hello"))
    (line,) = world.said_by_bot(world.general)
    result = await world.ben.click(line, label="Retry")
    assert result.followups[0].ephemeral
    assert "Only who asked" in result.followups[0].content
    await world.mara.click(line, label="Retry")
    assert [m.content for m in world.said_by_bot(world.general)] == ["I hear you."]


async def test_where_it_cannot_post_nothing_is_spent_and_a_reaction_says_so(world: World) -> None:
    assert world.bot.user is not None
    quiet = world.guild.create_text_channel(
        "quiet", overwrites={world.bot.user: discord.PermissionOverwrite(send_messages=False)}
    )
    await world.ana.send(quiet, world.call("hello"))
    (message,) = quiet.history()
    assert [str(r.emoji) for r in message.reactions] == ["🔇"]
    assert world.model.requests == []


async def test_refresh_posts_a_marker_and_what_was_said_is_no_longer_used(world: World) -> None:
    await world.ana.send(world.general, world.call("my sword is called Dawn"))
    result = await world.ana.slash(world.general, "refresh")
    assert result.response is not None
    assert not result.ephemeral
    assert result.response.embeds[0].title == "Fresh start"
    await world.ana.send(world.general, world.call("what is my sword called?"))
    assert "Dawn" not in "\n".join(m.text for m in world.model.requests[-1].messages)


async def test_restore_is_for_admins_and_brings_the_talk_back(world: World) -> None:
    """SPEC §12."""
    await world.ana.send(world.general, world.call("my sword is called Dawn"))
    result = await world.ana.slash(world.general, "refresh")
    marker = result.response
    assert marker is not None
    refused = await world.ana.click(marker, label="Restore")
    assert "Manage Server" in refused.followups[0].content
    await world.mara.click(marker, label="Restore")
    assert marker.embeds[0].title == "Fresh start undone"
    await world.ana.send(world.general, world.call("what is my sword called?"))
    assert "Dawn" in "\n".join(m.text for m in world.model.requests[-1].messages)


async def test_deleting_the_marker_undoes_the_refresh(world: World) -> None:
    await world.ana.send(world.general, world.call("my sword is called Dawn"))
    result = await world.ana.slash(world.general, "refresh")
    assert result.response is not None
    await world.mara.delete(result.response.message)
    await world.ana.send(world.general, world.call("what is my sword called?"))
    assert "Dawn" in "\n".join(m.text for m in world.model.requests[-1].messages)


async def test_buttons_still_work_after_a_restart(world: World) -> None:
    await world.ana.send(world.general, world.call("hello"))
    marker = (await world.ana.slash(world.general, "refresh")).response
    assert marker is not None
    await world.restart()
    await world.mara.click(marker, label="Restore")
    assert marker.embeds[0].title == "Fresh start undone"


async def test_a_member_of_a_private_channel_is_answered_there(world: World) -> None:
    world.model.then = "The council listens."
    await world.mara.send(world.council, world.call("speak"))
    assert [m.content for m in world.said_by_bot(world.council)] == ["The council listens."]


async def thread_in(world: World, name: str) -> tuple[discord.Thread, ChannelHandle]:
    channel = world.bot.get_channel(world.general.id)
    assert isinstance(channel, discord.TextChannel)
    thread = await channel.create_thread(name=name, type=discord.ChannelType.public_thread)
    return thread, next(handle for handle in world.general.threads if handle.id == thread.id)


async def test_a_thread_is_a_conversation_of_its_own(world: World) -> None:
    await world.ana.send(world.general, world.call("my sword is called Dawn"))
    _, side = await thread_in(world, "side room")
    await world.ana.send(side, world.call("what is my sword called?"))
    assert [m.content for m in world.said_by_bot(side)] == ["I hear you."]
    assert "Dawn" not in "\n".join(m.text for m in world.model.requests[-1].messages)


async def test_a_locked_thread_that_is_closed_to_us_is_not_answered(world: World) -> None:
    thread, side = await thread_in(world, "closed room")
    await thread.edit(locked=True)
    assert thread.parent is not None
    await thread.parent.set_permissions(thread.guild.me, manage_threads=False)  # type: ignore[arg-type]
    await world.mara.send(side, world.call("anybody?"))
    assert world.model.requests == []


async def test_in_a_direct_message_its_member_may_restore(world: World) -> None:
    """SPEC §12."""
    await world.ana.send_dm("my sword is called Dawn")
    marker = (await world.ana.user.slash("refresh")).response
    assert marker is not None
    await world.ana.user.click(marker, label="Restore")
    assert marker.embeds[0].title == "Fresh start undone"


async def test_a_member_who_cannot_write_here_cannot_refresh(world: World) -> None:
    """SPEC §12."""
    hush = world.guild.create_text_channel(
        "hush", overwrites={world.ana: discord.PermissionOverwrite(send_messages=False)}
    )
    result = await world.ana.slash(hush, "refresh")
    assert result.ephemeral
    assert result.response is not None
    assert "Only who can write" in result.response.content


def test_the_scripted_model_is_a_model() -> None:
    assert ScriptedModel().info.exact
