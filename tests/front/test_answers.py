"""What a command or a press answers: what happened, what was kept, what to do; its owner sees the text."""

from __future__ import annotations

import json
from typing import Any

import discord
import pytest

from memory.errors import StoreBusy
from memory.llm.port import ToolCall
from memory.types import Memory

from .reading import labels, message_of, words
from .world import World


async def entry_of(world: World, actor: Any, words_of_it: str = "") -> Memory:
    (memory,) = await world.engine.facts.find(
        world.person(actor), world.place(world.general), words_of_it, limit=1
    )
    return memory


async def cello(world: World, *, pinned: bool = False) -> Memory:
    await world.ana.slash(world.general, "memory add", text="I play the cello", pinned=pinned)
    return await entry_of(world, world.ana)


async def told(world: World, content: str = "Ana is allergic to nuts") -> discord.Message:
    call = ToolCall("c", "save_memory", json.dumps({"content": content, "about": "user"}))
    world.model.say(call, "Noted.")
    await world.ana.send(world.general, world.call("remember that"))
    return [m for m in world.said_by_bot(world.general) if m.embeds][-1]


async def test_a_confirmation_names_the_handle_and_whose_memory_it_is(world: World) -> None:
    shown = await world.ana.slash(world.general, "memory add", text="I play the cello")
    memory = await entry_of(world, world.ana)
    assert f"-# m{memory.id} · about you · TestBot" in words(shown)
    public = await told(world)
    newer = await entry_of(world, world.ana, "allergic")
    assert f"-# m{newer.id} · about Ana · TestBot · [source]" in words(public)


async def test_a_suggestion_to_change_an_entry_names_its_handle(world: World) -> None:
    await world.ben.slash(world.general, "memory add", text="Ben loves tea")
    memory = await entry_of(world, world.ben)
    await world.ben.send(world.general, world.call("hello"))
    change = {"handle": f"m{memory.id}", "content": "Ben hates tea"}
    world.model.say(ToolCall("c", "update_memory", json.dumps(change)), "I asked Ben.")
    await world.ana.send(world.general, world.call("Ben hates tea now"))
    asked = [m for m in world.said_by_bot(world.general) if m.embeds][-1]
    assert f"-# m{memory.id} · about Ben" in words(asked)
    assert "Waits for Ben" in words(asked)


async def test_delete_shows_its_owner_the_deleted_text_and_how_to_have_it_back(world: World) -> None:
    memory = await cello(world)
    shown = await world.ana.slash(world.general, "memory delete", entry=str(memory.id))
    assert message_of(shown).ephemeral
    assert words(shown) == f"Deleted\n> ~~I play the cello~~\n\n-# m{memory.id} · about you · TestBot"
    assert labels(shown) == ["Undo"]
    await world.ana.click(message_of(shown), label="Undo")
    assert (await entry_of(world, world.ana)).text == "I play the cello"


async def test_deleting_a_server_s_memory_shows_the_text_to_who_did_it_and_not_to_the_channel(
    world: World,
) -> None:
    options = {"text": "The inn closes at ten", "scope": "server_persona"}
    await world.mara.slash(world.general, "memory add", **options)
    memory = await entry_of(world, world.mara)
    shown = await world.mara.slash(world.general, "memory delete", entry=str(memory.id))
    assert shown.response is not None
    assert shown.response.ephemeral
    assert shown.response.content == (f"Deleted m{memory.id}. Undo brings it back.\n> The inn closes at ten")
    public = world.said_by_bot(world.general)[-1]
    assert "closes" not in words(public)
    assert f"m{memory.id}" in words(public)
    assert labels(public) == ["Undo", "Show what changed"]


async def test_undo_answers_with_its_own_sentence_and_shows_what_it_took_back(world: World) -> None:
    memory = await cello(world)
    shown = await world.ana.slash(world.general, "memory undo")
    assert message_of(shown).ephemeral
    assert words(shown) == f"Undone: m{memory.id} is not saved any more.\n> I play the cello"
    assert "Undo" in labels(shown)
    await world.ana.click(message_of(shown), label="Undo")
    assert (await entry_of(world, world.ana)).text == "I play the cello"
    assert "Undone: this is not saved any more · undone by Ana" in words(shown)
    assert "is not saved any more." not in words(shown)


async def test_undoing_a_deletion_or_an_edit_says_what_the_entry_says_again(world: World) -> None:
    memory = await cello(world)
    await world.ana.slash(world.general, "memory delete", entry=str(memory.id))
    back = await world.ana.slash(world.general, "memory undo")
    assert words(back) == f"Undone: m{memory.id} is back and says “I play the cello”."
    assert labels(back) == ["Undo", "Pin", "Edit"]
    box = await world.ana.slash(world.general, "memory edit", entry=str(memory.id))
    await world.ana.submit_modal(box, {"text": "I play the viola"})
    again = await world.ana.slash(world.general, "memory undo")
    assert words(again) == f"Undone: m{memory.id} says “I play the cello” again."


async def test_a_long_text_that_is_back_is_shown_whole(world: World) -> None:
    long = " ".join(f"word{n}" for n in range(60))
    await world.ana.slash(world.general, "memory add", text=long)
    memory = await entry_of(world, world.ana)
    await world.ana.slash(world.general, "memory delete", entry=str(memory.id))
    back = await world.ana.slash(world.general, "memory undo")
    assert words(back).endswith(f"\n> {long}")


async def test_undoing_a_pin_says_which_entry_it_was(world: World) -> None:
    memory = await cello(world)
    await world.ana.slash(world.general, "pins add", entry=str(memory.id))
    shown = await world.ana.slash(world.general, "memory undo")
    assert words(shown) == f"Undone: m{memory.id} is no longer pinned.\n> I play the cello"


async def test_an_undo_of_the_servers_memory_is_told_to_everybody_as_an_undo(world: World) -> None:
    await world.mara.slash(world.general, "memory add", text="The inn is haunted", scope="server_persona")
    shown = await world.mara.slash(world.general, "memory undo")
    assert "is not saved any more." in words(shown.response)
    assert "The inn is haunted" in words(shown.response)
    first, second = world.said_by_bot(world.general)
    assert first.embeds[0].title == "Saved · undone"
    assert second.embeds[0].title == "Undone: this is not saved any more"
    assert "haunted" not in words(second)


async def test_undoing_what_the_persona_saved_shows_nothing_of_it_in_the_channel(world: World) -> None:
    await told(world)
    shown = await world.ana.slash(world.general, "memory undo")
    assert message_of(shown).ephemeral
    assert "allergic to nuts" in words(shown)
    assert len([m for m in world.said_by_bot(world.general) if m.embeds]) == 1


async def test_the_panel_shows_the_deleted_text_beside_its_undo_button(world: World) -> None:
    memory = await cello(world)
    shown = await world.ana.slash(world.general, "personal memories")
    for label in ("Open", "Delete", "Delete it"):
        await world.ana.click(message_of(shown), label=label)
    assert f"✅ Deleted m{memory.id}. Undo brings it back.\n> I play the cello" in words(shown)


async def test_a_deleted_text_is_not_shown_to_the_owner_where_others_read_along(world: World) -> None:
    await told(world, "Ana fears spiders")
    memory = await entry_of(world, world.ana)
    call = ToolCall("c2", "delete_memory", json.dumps({"handle": f"m{memory.id}"}))
    world.model.say(call, "Forgotten.")
    await world.ana.send(world.general, world.call("forget that about the beasts"))
    public = [m for m in world.said_by_bot(world.general) if m.embeds][-1]
    await world.ana.click(public, label="Undo")
    await world.ana.slash(world.general, "memory delete", entry=str(memory.id))
    seen = [m for m in world.said_by_bot(world.general) if m.embeds][1:]
    assert all("spiders" not in words(m) for m in seen)


async def test_the_handle_of_a_deleted_entry_opens_its_history_for_who_may_read_it(world: World) -> None:
    memory = await cello(world)
    deleted = await world.ana.slash(world.general, "memory delete", entry=str(memory.id))
    assert f"m{memory.id}" in words(deleted)
    for typed in (f"m{memory.id}", f"M{memory.id}", f" #{memory.id}"):
        shown = await world.ana.slash(world.general, "memory history", entry=typed)
        assert "I play the cello" in words(shown)
    for actor in (world.mara, world.stranger):
        shown = await actor.slash(world.general, "memory history", entry=f"m{memory.id}")
        assert "can't find that entry" in words(shown)


async def test_the_handle_of_a_deleted_entry_is_offered_to_who_may_read_it(world: World) -> None:
    memory = await cello(world)
    await world.ana.slash(world.general, "memory delete", entry=str(memory.id))
    (choice,) = await world.ana.autocomplete(world.general, "memory history", "entry", f"m{memory.id}")
    assert choice["name"] == f"m{memory.id}, deleted: I play the cello"
    assert choice["value"] == str(memory.id)
    for command in ("memory edit", "memory delete"):
        assert await world.ana.autocomplete(world.general, command, "entry", f"m{memory.id}") == []
    assert await world.mara.autocomplete(world.general, "memory history", "entry", f"m{memory.id}") == []


async def test_what_was_deleted_in_a_dm_stays_unknown_in_a_server(world: World) -> None:
    await world.ana.user.slash("memory add", text="My sister is Inés")
    (choice,) = await world.ana.user.autocomplete("memory history", "entry", "sister")
    await world.ana.user.slash("memory delete", entry=choice["value"])
    assert await world.ana.autocomplete(world.general, "memory history", "entry", choice["value"]) == []
    here = await world.ana.slash(world.general, "memory history", entry=choice["value"])
    assert "can't find that entry" in words(here)
    there = await world.ana.user.slash("memory history", entry=f"m{choice['value']}")
    assert "My sister is Inés" in words(there)


async def test_a_write_whose_confirmation_cannot_be_read_is_never_called_undone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The write is safe by then, so “nothing was changed” would be a lie."""

    async def broken(*_args: object) -> None:
        raise StoreBusy("The database is busy.")

    monkeypatch.setattr(type(world.engine), "notice_view", broken)
    shown = await world.ana.slash(world.general, "memory add", text="I play the cello")
    memory = await entry_of(world, world.ana)
    assert words(shown) == f"Saved as m{memory.id}: “I play the cello”."


async def test_a_press_that_was_done_and_cannot_be_shown_says_that_it_was_done(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_args: object) -> None:
        raise StoreBusy("The database is busy.")

    shown = await told(world)
    memory = await entry_of(world, world.ana)
    monkeypatch.setattr(type(world.engine), "notice_posted", broken)
    result = await world.ana.click(shown, label="Undo")
    (said,) = result.followups
    assert said.content == f"Undone: m{memory.id} is not saved any more."


async def test_a_pinned_entry_that_could_not_be_deleted_leaves_no_question_open(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_args: object, **_more: object) -> None:
        raise StoreBusy("The database is busy.")

    memory = await cello(world, pinned=True)
    asked = await world.ana.slash(world.general, "memory delete", entry=str(memory.id))
    monkeypatch.setattr(type(world.engine.facts), "delete", broken)
    await world.ana.click(message_of(asked), label="Delete it")
    assert words(asked) == "The database is busy. Nothing was changed; please try again in a moment."


async def test_an_edit_that_the_database_refuses_gives_the_words_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_args: object, **_more: object) -> None:
        raise StoreBusy("The database is busy.")

    box = await world.ana.click(await told(world), label="Edit")
    monkeypatch.setattr(type(world.engine.facts), "edit", broken)
    refused = await world.ana.submit_modal(box, {"text": "Ana eats everything"})
    (said,) = refused.followups
    assert "Nothing was changed" in said.content
    again = await world.ana.click(said, label="Edit again")
    assert "Ana eats everything" in json.dumps(again.modal)


async def test_where_embeds_are_not_allowed_a_confirmation_stays_text_when_it_is_drawn_again(
    world: World,
) -> None:
    assert world.bot.user is not None
    bare = world.guild.create_text_channel(
        "plain", overwrites={world.bot.user: discord.PermissionOverwrite(embed_links=False)}
    )
    call = ToolCall("c", "save_memory", json.dumps({"content": "Ana is tall", "about": "user"}))
    world.model.say(call, "Noted.")
    await world.ana.send(bare, world.call("remember that"))
    await world.ana.click(bare.history()[-1], label="Pin")
    assert "pinned" in bare.history()[-1].content
    memory = await entry_of(world, world.ana)
    await world.ana.slash(world.general, "memory edit", entry=str(memory.id))
    box = await world.ana.slash(world.general, "memory edit", entry=str(memory.id))
    await world.ana.submit_modal(box, {"text": "Ana is very tall"})
    drawn = bare.history()[-1]
    assert drawn.embeds == []
    assert drawn.content.startswith("**Saved**\n> *(changed since)*")
