"""What people are told of a write is what happened, to those alone who may know of it."""

from __future__ import annotations

from typing import Any

from memory.types import GLOBAL

from .persona_hands import create, personas
from .reading import labels, message_of, words
from .spec_hands import a_file, answer, cards, kept, mine, put, save, set_server, shared, tell, texts, update
from .world import World


def _go(asked: Any) -> str:
    """The button that does it."""
    return next(each for each in labels(asked) if each.startswith("Delete"))


async def test_a_moved_entry_does_not_show_that_it_came_from_a_dm(world: World) -> None:
    """Members see nothing of what it was before."""
    await set_server(world, "member_access", "on")
    world.model.say([save("Sings at dawn")], "Noted.")
    await world.ana.send_dm("hi")
    card = [m for m in world.ana.user.dm_channel.history() if labels(m)][-1]
    await world.ana.user.click(card, label="Use everywhere")
    await world.ana.slash(world.general, "memory move", entry="m1", to="server_persona")
    shown = await world.ben.slash(world.general, "memories")
    await world.ben.click(message_of(shown), label="Open")
    said = words(shown)
    assert "Sings at dawn" in said
    assert "@me" not in said and str(world.ana.user.dm_channel.id) not in said


async def test_an_entry_page_links_to_no_channel_that_its_reader_can_not_read(world: World) -> None:
    """The link would tell that the channel exists, and that something was said in it."""
    await tell(world, save("Inn sells out", about="server"), who=world.mara, channel=world.council)
    shown = await world.ben.slash(world.general, "memories")
    await world.ben.click(message_of(shown), label="Open")
    assert "Inn sells out" in words(shown) and str(world.council.id) not in words(shown)


async def test_the_history_of_a_moved_entry_speaks_of_no_dm(world: World) -> None:
    """Nothing ever happened in a DM, so nobody is sent to one."""
    await set_server(world, "member_access", "on")
    await world.ana.slash(world.general, "memory add", text="Private one")
    await world.ana.slash(world.general, "memory move", entry="m1", to="server_persona")
    shown = await world.ben.slash(world.general, "memory history", entry="m1")
    assert "moved" in answer(shown) and "direct messages" not in answer(shown)


async def test_a_suggestion_made_again_in_public_can_be_decided_there(world: World) -> None:
    """Its card has Approve in #general. Nobody there learns that #council said the same."""
    await set_server(world, "member_access", "on")
    await set_server(world, "autosave", "ask")
    fact = save("The vault code is blue", about="server")
    await tell(world, fact, who=world.mara, channel=world.council)
    await tell(world, fact, who=world.ana, channel=world.general)
    card = cards(world)[-1]
    assert {"Approve", "Discard"} <= set(labels(card))
    said = answer(await world.ana.click(card, label="Approve"))
    assert "a channel that you can't read" not in said, said
    assert await texts(world, shared(world)) == ["The vault code is blue"]


async def test_an_undone_move_is_not_said_to_be_deleted(world: World) -> None:
    await put(world, shared(world), "Inn opens at nine")
    await world.mara.slash(world.general, "memory move", entry="m1", to="server_global")
    await world.mara.click(cards(world)[-1], label="Undo")
    assert await texts(world, shared(world)) == ["Inn opens at nine"]
    assert "deleted" not in words(cards(world)[-1]), words(cards(world)[-1])


async def test_undo_speaks_of_a_dm_only_where_there_was_one(world: World) -> None:
    await set_server(world, "member_access", "on")
    await world.ana.slash(world.general, "memory add", text="Private one")
    await world.ana.slash(world.general, "memory move", entry="m1", to="server_persona")
    await world.mara.slash(world.general, "pins add", entry="m1")
    await world.ana.slash(world.general, "memory undo")
    said = answer(await world.mara.slash(world.general, "memory undo"))
    assert "DM" not in said, said


async def test_what_was_changed_in_a_dm_is_not_undone_in_a_server(world: World) -> None:
    """A change that was made in a DM is undone there."""
    await world.ana.user.slash("memory add", text="Likes tea")
    card = world.ana.user.dm_channel.history()[-1]
    await world.ana.user.click(card, label="Use everywhere")
    said = answer(await world.ana.slash(world.general, "memory undo"))
    (entry,) = await kept(world, mine(world))
    assert not entry.dm_only and "DM" in said, said


async def test_a_suggestion_from_a_channel_that_is_gone_can_still_be_decided(world: World) -> None:
    """Nobody can read a deleted channel: who manages the server may discard what was said in it."""
    await tell(world, save("The inn is old", about="server"), channel=world.tavern)
    channel: Any = world.bot.get_channel(world.tavern.id)
    await channel.delete()
    await world.env.settle()
    shown = await world.mara.slash(world.general, "approvals")
    assert "they decide" not in words(shown) or "Discard" in labels(shown), words(shown)


async def test_the_rewinds_question_does_not_count_what_was_cleared(world: World) -> None:
    point = await world.ana.send(world.general, world.call("hello"))
    await tell(world, save("cello one"), save("tuba two"))
    got = await world.ana.slash(world.general, "memory clear", scope="user_persona")
    await world.ana.click(message_of(got), label=_go(got))
    asked = await world.mara.context_menu(world.general, "Rewind to here", point)
    assert "No memory was changed" in words(asked), words(asked)


async def test_off_means_audit_only_for_an_import_too(world: World) -> None:
    """SPEC §4.5: off (audit channel only)."""
    audit = world.guild.create_text_channel("audit")
    await set_server(world, "confirmations", "off")
    await set_server(world, "audit_channel", f"<#{audit.id}>")
    file = ("f.json", a_file("A", "B"))
    await world.mara.slash(world.general, "memory import", scope="server_persona", file=file)
    assert len(await texts(world, shared(world))) == 2
    assert [words(m) for m in world.said_by_bot(world.general) if not m.flags.ephemeral] == []
    assert world.said_by_bot(audit), "the audit channel was told nothing"


async def test_off_means_audit_only_for_a_clear_too(world: World) -> None:
    audit = world.guild.create_text_channel("audit")
    await set_server(world, "confirmations", "off")
    await set_server(world, "audit_channel", f"<#{audit.id}>")
    await put(world, shared(world), "Plain")
    got = await world.mara.slash(world.general, "memory clear", scope="server_persona")
    await world.mara.click(message_of(got), label=_go(got))
    assert [words(m) for m in world.said_by_bot(world.general) if not m.flags.ephemeral] == []


async def test_a_persona_deletion_that_deletes_the_servers_memories_is_told(world: World) -> None:
    """As a clear is."""

    audit = world.guild.create_text_channel("audit")
    await set_server(world, "audit_channel", f"<#{audit.id}>")
    await create(world)
    (aria,) = await personas(world)
    await put(world, shared(world, aria.lineage), "Aria shared")
    got = await world.mara.slash(world.general, "persona delete", persona="Aria")
    await world.mara.click(message_of(got), label="Delete the server's too")
    assert await texts(world, shared(world, aria.lineage), shared(world, GLOBAL)) == []
    assert world.said_by_bot(audit) or world.said_by_bot(world.general)


async def test_a_moved_entry_is_not_called_gone(world: World) -> None:
    await set_server(world, "autosave", "ask")
    await put(world, mine(world), "Sings at dawn")
    await tell(world, update("m1", "Sings at dusk"))
    await world.ana.slash(world.general, "memory move", entry="m1", to="user_global")
    shown = await world.ana.slash(world.general, "approvals")
    assert "gone" not in words(shown), words(shown)


async def test_a_suggestion_shows_the_keywords_that_are_saved_with_it(world: World) -> None:
    """SPEC §4.3: an entry with keywords is given only when one of them appears."""
    await set_server(world, "autosave", "ask")
    await tell(world, save("Ana is allergic to nuts", keywords=["picnic"]))
    card = words(cards(world)[-1])
    queue = words(await world.ana.slash(world.general, "approvals"))
    await world.ana.click(cards(world)[-1], label="Approve")
    (entry,) = await kept(world, mine(world))
    assert entry.keywords == ("picnic",)
    assert "picnic" in card, card
    assert "picnic" in queue, queue
