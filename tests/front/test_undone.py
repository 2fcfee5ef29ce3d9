"""After an Undo: every confirmation says what holds now, and a personal old text only to its owner."""

from __future__ import annotations

import json
from typing import Any

import discord

from memory.llm.port import ToolCall
from memory.types import Memory

from .reading import modal_text
from .test_notices import labels, notice, words
from .world import World


def wording(message: discord.Message) -> str:
    """The words without the small line beneath."""
    return words(message).split("\n\n-#")[0]


async def entry(world: World, who: Any) -> Memory:
    (found,) = await world.engine.facts.find(world.person(who), world.place(world.general), "")
    return found


async def changed(world: World, who: Any, scope: str, old: str, new: str) -> discord.Message:
    """Somebody adds ``old`` by command; then the persona changes it to ``new``."""
    await who.slash(world.general, "memory add", text=old, scope=scope)
    shown = f"m{(await entry(world, who)).id}"
    call = ToolCall("c", "update_memory", json.dumps({"handle": shown, "content": new}))
    world.model.say(call, "Done.")
    await who.send(world.general, world.call("that has changed"))
    return notice(world)


async def test_an_undone_update_of_the_server_says_what_it_says_now(world: World) -> None:
    shown = await changed(world, world.mara, "server_persona", "Closes at ten", "Closes at nine")
    await world.mara.click(shown, label="Undo")
    assert wording(notice(world)) == (
        "Updated · undone by Mara\n> ~~Closes at nine~~\nIt says now:\n> Closes at ten"
    )
    number = str((await entry(world, world.mara)).id)
    box = await world.mara.slash(world.general, "memory edit", entry=number)
    await world.mara.submit_modal(box, {"text": "Closes at eight"})
    assert "It says now:\n> Closes at eight" in words(again(world, shown))
    await world.mara.slash(world.general, "memory delete", entry=number)
    assert wording(again(world, shown)) == "Updated · undone\n> ~~Closes at nine~~"


def again(world: World, shown: discord.Message) -> discord.Message:
    """The same message as it stands now."""
    return next(m for m in world.said_by_bot(world.general) if m.id == shown.id)


async def test_an_undone_update_of_a_personal_entry_tells_its_owner_alone_what_it_says(world: World) -> None:
    shown = await changed(world, world.ana, "user_persona", "Ana likes tea", "Ana likes rum")
    await world.ana.click(shown, label="Undo")
    told = notice(world)
    assert wording(told) == ("Updated · undone by Ana\n> ~~Ana likes rum~~\nIts earlier text holds again.")
    assert labels(told) == ["Show what changed"]
    own = await world.ana.click(told, label="Show what changed")
    assert own.response.ephemeral
    assert own.response.embeds[0].fields[-1].name == "Undone, so it says now"
    assert own.response.embeds[0].fields[-1].value == "> Ana likes tea"
    for who in (world.ben, world.mara):
        other = await who.click(told, label="Show what changed")
        assert other.response.embeds == []
        assert "tea" not in other.response.content
    await world.engine.facts.edit(
        world.person(world.ana),
        world.place(world.general),
        (await entry(world, world.ana)).id,
        "Ana is sober",
    )
    late = await world.ana.click(again(world, shown), label="Show what changed")
    assert late.response.embeds[0].fields[-1].value == "> Ana is sober"


async def test_a_private_change_after_an_undo_is_not_told_to_the_channel(world: World) -> None:
    shown = await changed(world, world.ana, "user_persona", "Ana likes tea", "Ana likes rum")
    await world.ana.click(shown, label="Undo")
    box = await world.ana.slash(world.general, "memory edit", entry=str((await entry(world, world.ana)).id))
    await world.ana.submit_modal(box, {"text": "Ana is sober"})
    assert wording(again(world, shown)) == "Updated · undone\n> ~~Ana likes rum~~\nIt was changed since."


async def test_in_a_direct_message_an_undone_update_says_what_it_says_now(world: World) -> None:
    await world.ana.user.slash("memory add", text="I like tea")
    (found,) = await world.ana.user.autocomplete("memory edit", "entry", "")
    box = await world.ana.user.slash("memory edit", entry=str(found["value"]))
    shown = await world.ana.user.submit_modal(box, {"text": "I like rum"})
    await world.ana.user.click(shown.response, label="Undo")
    told = next(m for m in world.ana.user.dm_channel.history() if m.id == shown.response.id)
    assert wording(told) == "Updated · undone by Ana\n> ~~I like rum~~\nIt says now:\n> I like tea"
    assert labels(told) == []
    box = await world.ana.user.slash("memory edit", entry=str(found["value"]))
    await world.ana.user.submit_modal(box, {"text": "I like cocoa"})
    told = next(m for m in world.ana.user.dm_channel.history() if m.id == shown.response.id)
    assert wording(told) == "Updated · undone\n> ~~I like rum~~\nIt says now:\n> I like cocoa"


async def test_a_pin_that_was_taken_back_does_not_look_like_a_deleted_entry(world: World) -> None:
    await world.mara.slash(world.general, "memory add", text="Closes at ten", scope="server_persona")
    number = str((await entry(world, world.mara)).id)
    await world.mara.slash(world.general, "pins add", entry=number)
    await world.mara.click(notice(world), label="Undo")
    assert wording(notice(world)) == "Pinned · undone by Mara\n> Closes at ten"


async def test_an_edit_by_the_button_keeps_the_link_to_what_was_said(world: World) -> None:
    world.model.say(
        ToolCall("c", "save_memory", json.dumps({"content": "Ana likes tea", "about": "user"})), "Noted."
    )
    asked = await world.ana.send(world.general, world.call("remember that I like tea"))
    link = f"/{world.guild.id}/{world.general.id}/{asked.id})"
    for text in ("Ana likes rum", "Ana likes cocoa"):
        box = await world.ana.click(notice(world), label="Edit")
        assert modal_text(box)
        await world.ana.submit_modal(box, {"text": text})
        assert text in words(notice(world))
        assert link in words(notice(world))


async def test_an_edit_in_another_channel_leads_nowhere_else(world: World) -> None:
    world.model.say(
        ToolCall("c", "save_memory", json.dumps({"content": "Closes at ten", "about": "server"})), "Noted."
    )
    await world.mara.send(world.council, world.call("remember that we close at ten"))
    number = str((await entry(world, world.mara)).id)
    box = await world.mara.slash(world.general, "memory edit", entry=number)
    await world.mara.submit_modal(box, {"text": "Closes at nine"})
    assert "Closes at nine" in words(notice(world))
    assert str(world.council.id) not in words(notice(world))
