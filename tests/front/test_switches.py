"""How committed writes are told: full, compact, off, and the audit channel (SPEC §4.5); incognito (§4.8)."""

from __future__ import annotations

import json
from typing import Any

import discord
import pytest

from memory.llm.port import ToolCall
from memory.types import DEFAULT_LINEAGE, Scope

from .reading import labels, message_of, press_another, words
from .test_notices import save
from .world import World


async def setting(world: World, key: str, value: Any, level: str = "server") -> None:
    await world.mara.slash(world.general, f"config {level}", key=key, value=str(value))


async def tell(world: World, *calls: ToolCall, who: Any = None, channel: Any = None) -> None:
    world.model.say(list(calls), "Noted.")
    await (who or world.ana).send(channel or world.general, world.call("remember that"))


def notices(world: World, channel: Any = None) -> list[discord.Message]:
    return [m for m in world.said_by_bot(channel or world.general) if m.embeds or m.components]


async def texts(world: World, scope: Scope) -> list[str]:
    async with world.engine._rooms.store.read() as tx:
        return [memory.text for memory in await tx.memories.of_scopes([scope], dm=True)]


def anas(world: World) -> Scope:
    return Scope.user(world.ana.id, DEFAULT_LINEAGE)


def update(handle: str, content: str) -> ToolCall:
    return ToolCall("u", "update_memory", json.dumps({"handle": handle, "content": content}))


# compact


async def test_compact_is_one_line_for_all_writes_of_a_turn_without_any_text(world: World) -> None:
    """SPEC §4.5."""
    await setting(world, "confirmations", "compact")
    await tell(world, save("Ana likes tea"))
    await tell(world, save("Ana plays chess"), save("Ana has a cat"), update("m1", "Ana likes green tea"))
    first, second = notices(world)
    assert first.content == "-# Saved 1 memory · about Ana"
    assert second.content == "-# Saved 2 memories, changed 1 · about Ana"
    assert labels(second) == ["Show"] and not second.embeds
    assert "tea" not in words(first) + words(second)


async def test_show_gives_its_cards_with_their_buttons_to_who_may_see_them(world: World) -> None:
    await setting(world, "confirmations", "compact")
    await tell(world, save("Ana likes tea"), save("Ana has a cat"))
    (line,) = notices(world)
    shown = await world.ana.click(line, label="Show")
    first, second = shown.followups[-2:]
    assert first.ephemeral and second.ephemeral
    assert "Ana likes tea" in words(first) and "Ana has a cat" in words(second)
    assert labels(first) == ["Undo", "Pin", "Edit"]
    for who in (world.ben, world.mara):
        refused = await who.click(line, label="Show")
        assert "2 are about other members" in words(refused)
        assert len(refused.followups) == 0 and "tea" not in words(refused)


async def test_a_card_of_a_line_is_undone_and_the_line_counts_it(world: World) -> None:
    await setting(world, "confirmations", "compact")
    await tell(world, save("Ana likes tea"), save("Ana has a cat"))
    (line,) = notices(world)
    shown = await world.ana.click(line, label="Show")
    card = shown.followups[-2]
    await world.ana.click(card, label="Undo")
    assert await texts(world, anas(world)) == ["Ana has a cat"]
    (line,) = notices(world)
    assert line.content == "-# Saved 2 memories · about Ana · 1 undone"
    await world.ana.slash(world.general, "memory undo")
    assert notices(world)[0].content == "-# Saved 2 memories · about Ana · 2 undone"


async def test_a_card_of_a_line_is_edited_and_pinned(world: World) -> None:
    await setting(world, "confirmations", "compact")
    await tell(world, save("Ana likes tea"))
    (line,) = notices(world)
    card = (await world.ana.click(line, label="Show")).followups[-1]
    box = await world.ana.click(card, label="Edit")
    await world.ana.submit_modal(box, {"text": "Ana likes cocoa"})
    assert await texts(world, anas(world)) == ["Ana likes cocoa"]
    assert notices(world)[0].content == "-# Saved 1 memory · about Ana"


async def test_the_line_works_after_a_restart(world: World) -> None:
    await setting(world, "confirmations", "compact")
    await tell(world, save("Ana likes tea"))
    await world.restart()
    (line,) = notices(world)
    card = (await world.ana.click(line, label="Show")).followups[-1]
    await world.ana.click(card, label="Undo")
    assert await texts(world, anas(world)) == []


async def test_a_server_s_entry_is_shown_to_everybody_there(world: World) -> None:
    await setting(world, "confirmations", "compact")
    await tell(world, save("Movie night is Friday", about="server"), save("Mara likes tea"), who=world.mara)
    (line,) = notices(world)
    assert line.content == "-# Saved 2 memories · about Lantern Inn, Mara"
    shown = await world.ben.click(line, label="Show")
    assert "1 is about other members" in words(shown.response)
    assert "Movie night is Friday" in words(shown.followups[-1])
    assert len(shown.followups) == 1


async def test_a_suggestion_has_its_card_at_the_compact_level(world: World) -> None:
    await setting(world, "confirmations", "compact")
    await tell(world, save("Movie night is Friday", about="server"), save("Ana likes tea"))
    card, line = notices(world)
    assert card.embeds[0].title == "Save this?" and labels(card) == ["Approve", "Discard"]
    assert line.content == "-# Saved 1 memory · about Ana"


async def test_a_direct_message_can_be_compact(world: World) -> None:
    await world.ana.user.slash("config channel", key="confirmations", value="compact")
    world.model.say([save("Ana likes tea")], "Noted.")
    await world.ana.send_dm("remember that I like tea")
    (line,) = [m for m in world.ana.user.dm_channel.history() if m.components]
    assert line.content == "-# Saved 1 memory · about Ana"
    card = (await world.ana.user.click(line, label="Show")).followups[-1]
    assert labels(card) == ["Undo", "Pin", "Edit", "Use everywhere"]
    await world.ana.user.click(card, label="Use everywhere")
    shelves = await world.engine.facts.shelves(world.person(world.ana), world.place(world.general))
    assert any(memory.text == "Ana likes tea" for shelf in shelves for memory in shelf.memories)


# off, and the audit channel


async def test_off_without_an_audit_channel_posts_nothing_and_saves_all_the_same(world: World) -> None:
    await setting(world, "confirmations", "off")
    await tell(world, save("Ana likes tea"))
    assert notices(world) == []
    assert await texts(world, anas(world)) == ["Ana likes tea"]
    history = await world.ana.slash(world.general, "memory history", entry="m1")
    assert "Ana likes tea" in words(history)


async def test_off_tells_the_audit_channel_where_no_personal_text_shows(world: World) -> None:
    """SPEC §4.5."""
    await setting(world, "confirmations", "off")
    await setting(world, "audit_channel", world.council.id)
    await tell(
        world, save("Movie night is Friday", about="server"), save("Mara fears spiders"), who=world.mara
    )
    assert notices(world) == []
    shared, personal = notices(world, world.council)
    assert "Movie night is Friday" in words(shared) and labels(shared) == ["Undo", "Pin", "Edit"]
    assert personal.embeds[0].title == "Saved" and "about Mara" in words(personal)
    assert "spiders" not in words(personal) and labels(personal) == []
    assert "discord.com" not in words(personal)
    await world.mara.click(shared, label="Undo")
    assert await texts(world, Scope.server(world.guild.id, DEFAULT_LINEAGE)) == []
    assert notices(world, world.council)[0].embeds[0].title == "Saved · undone by Mara"


async def test_a_personal_audit_card_stays_without_text_when_its_entry_is_changed(world: World) -> None:
    await setting(world, "confirmations", "off")
    await setting(world, "audit_channel", world.council.id)
    await tell(world, save("Ana fears spiders"))
    await world.ana.slash(world.general, "memory undo")
    (card,) = notices(world, world.council)
    assert "undone" in (card.embeds[0].title or "") and "spiders" not in words(card)


async def test_off_leaves_suggestions_in_the_queue_and_the_reply_says_how_many_wait(world: World) -> None:
    await setting(world, "confirmations", "off")
    await world.ben.send(world.general, world.call("hello"))
    await tell(world, save("Movie night is Friday", about="server"), save("Ben likes tea", user="Ben"))
    assert notices(world) == []
    reply = world.said_by_bot(world.general)[-1]
    assert reply.content.endswith("-# 2 suggestions wait for approval: `/approvals`")
    assert "Ben likes tea" in words(await world.ben.slash(world.general, "approvals"))
    assert "Movie night" in words(await world.mara.slash(world.general, "approvals"))


async def test_off_puts_the_server_s_suggestions_in_the_audit_channel_and_never_personal_ones(
    world: World,
) -> None:
    await setting(world, "confirmations", "off")
    await setting(world, "audit_channel", world.council.id)
    await world.ben.send(world.general, world.call("hello"))
    await tell(world, save("Movie night is Friday", about="server"), save("Ben likes tea", user="Ben"))
    (card,) = notices(world, world.council)
    assert "Movie night" not in words(card) and "`/approvals`" in words(card) and labels(card) == []
    shown = await world.mara.slash(world.general, "approvals")
    await world.mara.click(message_of(shown), label="Approve")
    assert await texts(world, Scope.server(world.guild.id, DEFAULT_LINEAGE)) == ["Movie night is Friday"]
    (card,) = notices(world, world.council)
    assert card.embeds[0].title == "Saved · approved" and "Movie night" in words(card)


async def test_what_nobody_approved_is_never_read_in_the_audit_channel(world: World) -> None:
    await setting(world, "confirmations", "off")
    await setting(world, "audit_channel", world.council.id)
    await tell(world, save("Movie night is Friday", about="server"))
    shown = await world.mara.slash(world.general, "approvals")
    await world.mara.click(message_of(shown), label="Discard")
    (card,) = notices(world, world.council)
    assert card.embeds[0].title == "Discarded" and "Movie night" not in words(card)


async def test_off_keeps_a_command_s_server_write_out_of_the_channel_too(world: World) -> None:
    await setting(world, "confirmations", "off")
    await setting(world, "audit_channel", world.council.id)
    said = await world.mara.slash(
        world.general, "memory add", text="Movie night is Friday", scope="server_global"
    )
    assert "Saved as m1" in words(said.response)
    assert notices(world) == []
    (card,) = notices(world, world.council)
    assert "Movie night is Friday" in words(card)
    await world.mara.click(card, label="Undo")
    assert notices(world, world.council)[0].embeds[0].title == "Saved · undone by Mara"


@pytest.mark.parametrize("level", ["full", "compact"])
async def test_a_confirmation_that_its_channel_does_not_take_is_told_in_the_audit_channel(
    world: World, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC §4.5."""
    await setting(world, "confirmations", level)
    await setting(world, "audit_channel", world.council.id)
    surface = world.engine._now.surface
    posts = surface.post_notice

    async def refuse(place: Any, view: Any) -> int | None:
        return None if place.channel_id == world.general.id else await posts(place, view)

    monkeypatch.setattr(surface, "post_notice", refuse)
    await tell(world, save("Ana likes tea"), save("Ana has a cat"))
    assert notices(world) == []
    first, second = notices(world, world.council)
    assert first.embeds[0].title == second.embeds[0].title == "Saved"
    assert "tea" not in words(first) and len(await texts(world, anas(world))) == 2


async def test_a_deleted_audit_channel_undoes_no_write(world: World) -> None:
    """SPEC §4.5."""
    await setting(world, "confirmations", "off")
    await setting(world, "audit_channel", world.council.id)
    assert world.bot.get_channel(world.council.id) is not None
    await world.bot.get_channel(world.council.id).delete()  # type: ignore[union-attr]
    await tell(world, save("Ana likes tea"))
    assert await texts(world, anas(world)) == ["Ana likes tea"]
    assert world.said_by_bot(world.general)[-1].content == "Noted."


async def test_a_channel_s_level_comes_before_the_server_s(world: World) -> None:
    await setting(world, "confirmations", "off")
    await setting(world, "confirmations", "full", level="channel")
    await tell(world, save("Ana likes tea"))
    assert notices(world)[0].embeds[0].title == "Saved"


# what is offered to the model


@pytest.mark.parametrize(
    ("key", "value", "level"),
    [
        ("autosave", "off", "server"),
        ("memory_mode", "incognito", "channel"),
        ("memory_mode", "blank", "channel"),
    ],
)
async def test_where_nothing_may_be_saved_no_tool_is_offered_and_one_called_all_the_same_is_refused(
    world: World, key: str, value: str, level: str
) -> None:
    """SPEC §4.8."""
    await setting(world, key, value, level)
    await tell(world, save("Ana likes tea"))
    assert all(not request.tools for request in world.model.requests)
    assert await texts(world, anas(world)) == [] and notices(world) == []
    answered = world.model.requests[-1].messages[-1].text
    assert answered.startswith("disabled")


async def test_incognito_is_marked_beneath_the_reply(world: World) -> None:
    """SPEC §4.8."""
    await setting(world, "memory_mode", "incognito", "channel")
    await world.ana.send(world.general, world.call("hello"))
    assert "Incognito: nothing said here is saved." in world.said_by_bot(world.general)[-1].content


async def test_blank_is_marked_beneath_the_reply(world: World) -> None:
    """SPEC §4.8."""
    await setting(world, "memory_mode", "blank", "channel")
    await world.ana.send(world.general, world.call("hello"))
    assert "-# Blank: no memories are read or saved here." in world.said_by_bot(world.general)[-1].content


@pytest.mark.parametrize(
    ("key", "value", "level", "line"),
    [
        ("autosave", "off", "server", "saving from chat is off in this server"),
        ("memory_mode", "incognito", "channel", "Incognito:"),
        ("memory_mode", "blank", "channel", "Blank:"),
    ],
)
async def test_why_nothing_was_saved_is_said_in_one_line(
    world: World, key: str, value: str, level: str, line: str
) -> None:
    """SPEC §4.4, §4.8."""
    await setting(world, key, value, level)
    await world.ana.send(world.general, world.call("please remember that I am tall"))
    said = world.said_by_bot(world.general)[-1].content
    small = [each for each in said.splitlines() if each.startswith("-#")]
    assert len(small) == 1 and line in small[0]


async def test_a_persona_that_learns_nothing_says_that_it_does_not(world: World) -> None:
    """SPEC §4.8."""
    place, mara = world.place(world.general), world.person(world.mara)
    seen = await world.engine.personas.built_in(world.guild.id)
    await world.engine.editing.change(mara, place, seen, {"learns": False})
    await world.ana.send(world.general, world.call("please remember that I am tall"))
    assert "I learn nothing from chat" in world.said_by_bot(world.general)[-1].content


async def test_with_ask_what_a_member_says_of_themselves_waits_for_their_press(world: World) -> None:
    """SPEC §4.8."""
    await setting(world, "autosave", "ask")
    await tell(world, save("Ana likes tea"))
    (card,) = notices(world)
    assert card.embeds[0].title == "Save this?" and await texts(world, anas(world)) == []
    refused = await world.mara.click(card, label="Approve")
    assert "Only the member" in refused.followups[0].content
    await world.ana.click(card, label="Approve")
    assert await texts(world, anas(world)) == ["Ana likes tea"]


async def test_a_card_s_button_counts_only_where_only_its_presser_sees_it(world: World) -> None:
    """Elsewhere a message counts for the write that is recorded as that very message."""
    await setting(world, "confirmations", "compact")
    await tell(world, save("Ana likes tea"))
    (line,) = notices(world)
    await tell(world, save("Ana has a cat"))
    other = notices(world)[-1]
    for custom_id in (f"ks:undo:1:{line.id}", "ks:cards:1", "ks:cards:99"):
        refused = await press_another(world.ana, other, custom_id)
        said = " ".join([words(refused), *(each.content for each in refused.followups)])
        assert "from before my records were restored" in said or "no longer stored" in said
    assert len(await texts(world, anas(world))) == 2
