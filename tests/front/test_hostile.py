"""What an enemy or bad luck may bring: buttons of other records, names of other servers, silence, doubles."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import discord
import pytest

from memory.errors import ModelUnavailable
from memory.llm.port import ToolCall

from .reading import press_another, words
from .world import World


def save(content: str) -> ToolCall:
    return ToolCall("call_1", "save_memory", json.dumps({"content": content, "about": "user"}))


def notice(world: World) -> discord.Message:
    """The latest confirmation in #general."""
    return [m for m in world.said_by_bot(world.general) if m.embeds][-1]


async def test_a_button_does_not_show_what_was_kept_for_dms_in_a_server(world: World) -> None:
    world.model.say(save("Ana has a secret"), "Noted.", save("Ana likes tea"), "Noted.")
    await world.ana.send_dm("remember that I have a secret")
    await world.ana.send(world.general, world.call("remember that I like tea"))
    await press_another(world.ana, notice(world), "ks:widen:1")
    assert "secret" not in words(notice(world))


@pytest.mark.parametrize("verb", ["undo", "pin", "unpin", "edit", "show", "widen"])
async def test_a_button_does_not_show_the_memory_of_another_server(world: World, verb: str) -> None:
    """SPEC §12."""
    other = world.env.create_guild("Support Group")
    lobby = other.create_text_channel("lobby")
    managers = other.create_role("Managers", permissions=discord.Permissions(manage_guild=True))
    ben_there = other.add_member(world.ben.user, roles=[managers])
    await ben_there.slash(lobby, "memory add", text="Ana shared a secret", scope="server_persona")
    world.model.say(save("Stranger likes tea"), "Noted.")
    await world.stranger.send(world.general, world.call("remember that I like tea"))
    before = words(notice(world))
    result = await press_another(world.stranger, notice(world), f"ks:{verb}:1")
    assert words(notice(world)) == before
    assert result.modal is None
    answer = result.followups[-1] if result.followups else result.response
    assert answer is not None
    assert answer.ephemeral
    assert "secret" not in words(answer)
    assert "nothing was changed" in words(answer)


@pytest.mark.parametrize("verb", ["undo", "pin", "edit"])
async def test_a_button_never_changes_another_entry_than_its_message_shows(world: World, verb: str) -> None:
    """Even one's own: that entry's confirmation stands elsewhere, so this button is from another life."""
    world.model.say(save("Ana is allergic to nuts"), "Noted.", save("Ana likes tea"), "Noted.")
    await world.ana.send(world.general, world.call("remember that I am allergic to nuts"))
    await world.ana.send(world.tavern, world.call("remember that I like tea"))
    tea = [m for m in world.said_by_bot(world.tavern) if m.embeds][-1]
    result = await press_another(world.ana, tea, f"ks:{verb}:1")
    assert result.modal is None
    (kept,) = await world.engine.facts.find(
        world.person(world.ana), world.place(world.general), "allergic", limit=1
    )
    assert not kept.pinned
    assert "tea" in words([m for m in world.said_by_bot(world.tavern) if m.embeds][-1])


async def test_a_suggestion_is_not_approved_by_the_button_of_another_message(world: World) -> None:
    wish = ToolCall("call_1", "save_memory", json.dumps({"content": "Doors close at ten", "about": "server"}))
    world.model.say(wish, "Noted.", save("Ana likes tea"), "Noted.")
    await world.ana.send(world.general, world.call("remember that doors close at ten"))
    await world.ana.send(world.tavern, world.call("remember that I like tea"))
    tea = [m for m in world.said_by_bot(world.tavern) if m.embeds][-1]
    await press_another(world.mara, tea, "ks:approve:1")
    assert not await world.engine.facts.find(world.person(world.mara), world.place(world.general), "doors")
    assert "Save this?" in words(notice(world))


async def test_a_marker_restores_no_other_refresh_than_its_own(world: World) -> None:
    await world.ana.send(world.general, world.call("the code is 4711"))
    first = (await world.ana.slash(world.general, "refresh")).response
    assert first is not None
    second = (await world.ana.slash(world.general, "refresh")).response
    assert second is not None
    marker = next(m for m in world.general.history() if m.id == second.id)
    result = await press_another(world.mara, marker, f"ks:restore:{first.id}")
    assert result.followups[-1].ephemeral
    assert "nothing was changed" in words(result.followups[-1])
    await world.ana.send(world.general, world.call("what was the code?"))
    assert not any("4711" in m.text for m in world.model.requests[-1].messages)


async def test_only_the_line_of_a_failed_turn_runs_one_again(world: World) -> None:
    world.model.say(ModelUnavailable("Down."), "Hello.")
    await world.ana.send(world.general, world.call("a question"))
    await world.ana.send(world.tavern, world.call("hello"))
    await world.ana.send(world.general, world.call("and another"))
    words_of_ours = world.said_by_bot(world.general)[-1]
    result = await press_another(world.ana, words_of_ours, "ks:retry:1")
    assert result.followups[-1].ephemeral
    assert len(world.model.requests) == 3
    assert words_of_ours.id in [m.id for m in world.said_by_bot(world.general)]


async def test_a_name_that_a_member_bears_in_one_server_is_not_told_in_another(world: World) -> None:
    other = world.env.create_guild("Support Group")
    lobby = other.create_text_channel("lobby")
    ana_there = other.add_member(world.ana.user, nick="Ana in recovery")
    await ana_there.send(lobby, world.call("hello"))
    text = f"<@{world.ana.id}> is the treasurer"
    await world.mara.slash(world.general, "memory add", text=text, scope="server_persona")
    await world.ben.send(world.general, world.call("who is the treasurer?"))
    assert "recovery" not in words(notice(world))
    assert "recovery" not in "\n".join(m.text for m in world.model.requests[-1].messages)
    found = await world.ben.slash(world.general, "memory search", query="recovery")
    assert "1 found" not in words(found)


@pytest.mark.parametrize("answer", ["\u2060", "\x00", "\u2060\x00 \n"])
async def test_an_answer_of_which_nothing_can_be_posted_is_said_with_a_retry(
    world: World, answer: str
) -> None:
    world.model.say(answer)
    await world.ana.send(world.general, world.call("are you there?"))
    (said,) = world.said_by_bot(world.general)
    assert said.content.strip("\u2060")
    assert said.components


async def test_a_reply_with_a_link_that_discord_unfolds_is_still_the_persona_s_words(world: World) -> None:
    """Posts of X and others are unfolded as embeds of the type "rich", like our own confirmations."""
    link = "https://x.com/keepsake/status/1"
    world.model.say(f"Look: {link}", "It is about lanterns.")
    await world.ana.send(world.general, world.call("show me the post"))
    said = world.said_by_bot(world.general)[-1]
    stored = world.env.backend.get_message(world.general.id, said.id)
    stored.embeds = [{"type": "rich", "url": link, "description": "a post", "author": {"name": "Keepsake"}}]
    await world.ana.send(world.general, "what is it?", reply_to=world.said_by_bot(world.general)[-1])
    assert len(world.model.requests) == 2
    await world.restart()
    await world.ana.send(world.general, world.call("and now?"))
    assert any(link in m.text for m in world.model.requests[-1].messages)


def as_if_killed_before_closing(path: Path, reply_to: int, text: str) -> None:
    """What stands in the database when the process dies between a delivery and its last transaction."""
    held = sqlite3.connect(path)
    with held:
        (turn,) = held.execute("SELECT max(id) FROM turns").fetchone()
        held.execute("UPDATE turns SET state = 'committed', reply_ids = '' WHERE id = ?", (turn,))
        held.execute("UPDATE triggers SET state = 'taken' WHERE message_id = ?", (reply_to,))
        held.execute(
            "INSERT INTO outbox SELECT id, channel_id, guild_id, parent_id, name, ?, ?, 'ks' || id, 0"
            " FROM turns WHERE id = ?",
            (reply_to, text, turn),
        )
    held.close()


async def test_recovery_that_cannot_read_the_channel_does_not_answer_a_second_time(
    world: World, tmp_path: Path
) -> None:
    world.model.say("The only answer.")
    await world.ana.send(world.general, world.call("a question"))
    asked = world.general.history()[0]
    as_if_killed_before_closing(tmp_path / "keepsake.sqlite3", asked.id, "The only answer.")
    world.env.inject_error("GET", "/channels/*/messages", status=403, code=50001, times=None)
    await world.restart()
    assert [m.content for m in world.said_by_bot(world.general)] == ["The only answer."]


def as_if_killed_after_a_retry(path: Path) -> None:
    """What stands in the database when a retry was accepted and the process dies in that moment."""
    held = sqlite3.connect(path)
    with held:
        held.execute("UPDATE triggers SET state = 'waiting', turn_id = NULL")
    held.close()


async def test_a_kill_right_after_a_retry_was_pressed_leaves_one_answer_and_no_report(
    world: World, tmp_path: Path
) -> None:
    world.model.say(ModelUnavailable("Down."))
    await world.ana.send(world.general, world.call("a question"))
    as_if_killed_after_a_retry(tmp_path / "keepsake.sqlite3")
    await world.restart()
    await world.env.settle()
    assert [m.content for m in world.said_by_bot(world.general)] == ["I hear you."]


async def test_a_confirmation_says_that_its_entry_is_back(world: World) -> None:
    await world.mara.slash(world.general, "memory add", text="Rule one", scope="server_persona")
    await world.mara.slash(world.general, "memory delete", entry="m1")
    await world.mara.slash(world.general, "memory undo")
    first = next(m for m in world.said_by_bot(world.general) if m.embeds)
    assert "deleted since" not in words(first)
