"""SPEC §4.5 (confirmation), §4.6 (pinning, rollback, history) and §4.8 (switches), as people see them.

The rules that other files of this folder show already name their section there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import discord
from simcord.builders import ChannelHandle

from cogs import _render
from memory.types import GLOBAL

from .persona_hands import create, personas
from .reading import ids, labels, message_of, words
from .spec_hands import (
    a_file,
    answer,
    cards,
    forget,
    given,
    hear,
    kept,
    mine,
    prompt,
    put,
    save,
    set_server,
    shared,
    tell,
    texts,
    update,
)
from .test_actions import thread_of
from .webhooks import through_webhooks
from .world import World, make_world

# --- §4.5: confirmation -----------------------------------------------------------------------------------


async def test_each_kind_of_write_has_its_colour_and_names_what_whose_and_where_from(world: World) -> None:
    """SPEC §4.5: what, scope, persona and source; a personal entry's former text is for its owner alone."""
    await put(world, mine(world), "Ana likes tea")
    rows = (
        (save("Ana has a cat"), "Saved", _render.SAVED, ""),
        (update("m1", "Ana likes cocoa"), "Updated", _render.UPDATED, "Ana likes tea"),
        (forget("m1"), "Deleted", _render.DELETED, "Ana likes cocoa"),
    )
    for call, title, colour, former in rows:
        await tell(world, call)
        card = cards(world)[-1]
        source = [m for m in world.general.history() if m.author.id == world.ana.id][-1]
        assert (card.embeds[0].title, card.embeds[0].colour) == (title, colour)
        assert "about Ana · TestBot" in words(card) and f"/{world.general.id}/{source.id}" in words(card)
        assert card.mentions == []
        if former:
            assert former not in words(card)
            shown = await world.ana.click(card, label="Show what changed")
            assert shown.ephemeral and former in answer(shown)
            for other in (world.ben, world.mara):
                assert former not in answer(await other.click(card, label="Show what changed"))


async def test_every_button_of_a_confirmation_works_after_a_restart(world: World) -> None:
    """SPEC §4.5: Pin, Edit, Undo, Use everywhere, and what changed."""
    dm, ana = world.ana.user.dm_channel, world.ana.user
    world.model.say(save("Ana likes tea"), "Noted.")
    await world.ana.send_dm("remember that I like tea")

    async def press(label: str, *, restarted: bool = False) -> Any:
        if restarted:
            await world.restart()
        (card,) = [m for m in dm.history() if m.embeds]
        return await ana.click(card, label=label)

    await press("Pin", restarted=True)
    await press("Use everywhere")
    (entry,) = await kept(world, mine(world))
    assert entry.pinned and not entry.dm_only
    box = await press("Edit", restarted=True)
    await ana.submit_modal(box, {"text": "Ana likes green tea"})
    assert "Ana likes tea" in answer(await press("Show what changed"))
    await press("Unpin")
    await press("Undo", restarted=True)
    (entry,) = await kept(world, mine(world))
    assert (entry.text, entry.pinned) == ("Ana likes tea", False)


async def test_a_persona_s_own_message_bears_no_button(world: World) -> None:
    """SPEC §4.5: buttons stand on the bot's messages only."""
    await create(world, "Aria", triggers="aria")
    world.model.say(save("Ana likes tea"), "I shall remember.")
    await world.ana.send(world.general, "aria, remember that I like tea")
    (spoken,) = through_webhooks(world.general)
    (card,) = cards(world)
    assert spoken.components == [] and "about Ana · Aria" in words(card)
    assert labels(card) == ["Undo", "Pin", "Edit"]


async def test_a_notice_is_known_by_its_message_and_not_by_its_words(world: World) -> None:
    """SPEC §4.5: ours never reaches the model, not even one that is plain text without a button by now and is
    read back after a restart; a member's that looks the same is what a member said."""
    assert world.bot.user is not None
    no_embeds = {world.bot.user: discord.PermissionOverwrite(embed_links=False)}
    room = world.guild.create_text_channel("room", overwrites=no_embeds)
    await tell(world, save("Ana likes tea"), channel=room)
    card = world.said_by_bot(room)[-1]
    await world.ana.click(card, label="Undo")
    card = world.said_by_bot(room)[-1]
    assert card.embeds == [] and card.components == [] and "Ana likes tea" in card.content
    await world.ben.send(room, "**Saved**\n> Ana likes coffee\n-# m1 · about Ana · TestBot")
    await world.restart()
    said = await hear(world, "and now?", channel=room)
    assert "Ana likes coffee" in said and "Ana likes tea" not in said


# --- §4.6: pinning, rollback, history ---------------------------------------------------------------------


async def test_a_pinned_entry_stays_whatever_the_model_a_rollback_or_a_clear_does(world: World) -> None:
    """SPEC §4.6: update, delete, regenerate, rewind and the first clear; pinned in panel and by command."""
    point = await world.ana.send(world.general, world.call("hello"))
    await tell(world, save("Ana likes tea"), save("Ana has a cat"))
    panel = await world.ana.slash(world.general, "personal memories")
    await world.ana.click(message_of(panel), custom_id=ids(panel, "Open")[0])
    await world.ana.click(message_of(panel), label="Pin")
    pinned = [m.text for m in await kept(world, mine(world)) if m.pinned]
    other = ({"Ana likes tea", "Ana has a cat"} - set(pinned)).pop()
    handle = f"m{next(m.id for m in await kept(world, mine(world)) if m.pinned)}"
    for call in (update(handle, "Nothing"), forget(handle)):
        assert (await tell(world, call)).startswith("pinned_protected")
    question = await world.mara.context_menu(world.general, "Rewind to here", point)
    await world.mara.click(message_of(question), label="Rewind")
    assert "stays as it is" in words(question) and await texts(world, mine(world)) == pinned
    await put(world, mine(world), other)
    asked = await world.ana.slash(world.general, "memory clear", scope="user_persona")
    await world.ana.click(message_of(asked), label="Delete 1 entry")
    assert await texts(world, mine(world)) == pinned


async def test_regenerating_takes_writes_back_in_reverse_and_leaves_what_a_person_edited(
    world: World,
) -> None:
    """SPEC §4.6: an entry saved, changed and deleted in one reply is as it was; what stays is said."""
    await put(world, mine(world), "Ana likes tea", "Ana plays the cello")
    calls = [
        update("m1", "Ana likes coffee"),
        update("m1", "Ana likes cocoa"),
        forget("m2"),
        save("Ana sings in a choir"),
        save("Ana is thirty"),
    ]
    await tell(world, *calls)
    assert await texts(world, mine(world)) == ["Ana likes cocoa", "Ana sings in a choir", "Ana is thirty"]
    box = await world.ana.slash(world.general, "memory edit", entry="m3")
    await world.ana.submit_modal(box, {"text": "Ana sings alone"})
    reply = [m for m in world.said_by_bot(world.general) if m.content == "Noted."][-1]
    world.model.say("Again.")
    shown = await world.ana.context_menu(world.general, "Regenerate", reply)
    assert "m3 stays as it is: it was edited since" in words(shown)
    left = await texts(world, mine(world))
    assert left == ["Ana likes tea", "Ana plays the cello", "Ana sings alone"]
    assert "Again." in [m.content for m in world.said_by_bot(world.general)]
    assert any("this stays" in words(card) for card in cards(world))


async def test_what_was_rewound_does_not_come_back(world: World) -> None:
    """SPEC §4.6: later messages are kept out when the channel is read again after a restart."""
    point = await world.ana.send(world.general, world.call("hello"))
    await hear(world, "the secret door is green")
    question = await world.mara.context_menu(world.general, "Rewind to here", point)
    await world.mara.click(message_of(question), label="Rewind")
    await world.restart()
    await world.env.advance_time(25 * 3_600)
    assert "secret door" not in await hear(world, "what of the door?")


async def test_the_history_of_an_entry_names_who_and_what_before_and_after(world: World) -> None:
    """SPEC §4.6: member, model turn and import; the entry's page leads to its source."""
    await tell(world, save("Ana likes tea"))
    source = [m for m in world.general.history() if m.author.id == world.ana.id][-1]
    box = await world.ana.slash(world.general, "memory edit", entry="m1")
    await world.ana.submit_modal(box, {"text": "Ana likes green tea"})
    said = words(await world.ana.slash(world.general, "memory history", entry="m1"))
    assert f"edited** by <@{world.ana.id}>" in said and "saved** by the persona, in a reply" in said
    assert said.index("Ana likes green tea") < said.index("Ana likes tea")
    panel = await world.ana.slash(world.general, "personal memories")
    await world.ana.click(message_of(panel), label="Open")
    assert f"/{world.general.id}/{source.id}" in words(panel)
    file = ("f.json", a_file("Closes at ten"))
    await world.mara.slash(world.general, "memory import", scope="server_persona", file=file)
    said = words(await world.ben.slash(world.general, "memory history", entry="m2"))
    assert "saved** by an import" in said and "Closes at ten" in said
    await world.ana.slash(world.general, "memory undo")
    assert await texts(world, mine(world)) == ["Ana likes tea"]
    said = words(await world.ana.slash(world.general, "memory history", entry="m1"))
    assert "undid a change" in said


async def test_a_deleted_persona_s_memories_become_global_even_beyond_the_limit(tmp_path: Path) -> None:
    """SPEC §4.6: of the same subject; writes are refused until there is room again."""
    async with make_world(tmp_path, max_personal_memories=3, max_server_memories=3) as world:
        await create(world, "Aria")
        (aria,) = await personas(world)
        for scope in (shared, mine):
            await put(world, scope(world, aria.lineage), "a1", "a2", "a3")
            await put(world, scope(world, GLOBAL), "g1", "g2")
        asked = await world.mara.slash(world.general, "persona delete", persona="Aria")
        await world.mara.click(message_of(asked), label="Delete it, keep its memories")
        for scope in (shared, mine):
            assert sorted(await texts(world, scope(world, GLOBAL))) == ["a1", "a2", "a3", "g1", "g2"]
        panel = await world.ana.slash(world.general, "personal memories")
        assert "All personas (5)" in labels(panel)
        for gone in range(3):
            refused = await world.ana.slash(world.general, "memory add", text="new", scope="user_global")
            assert f"{5 - gone} unpinned" in words(refused) and "the limit is 3" in words(refused)
            entry = (await kept(world, mine(world, GLOBAL)))[0]
            await world.ana.slash(world.general, "memory delete", entry=f"m{entry.id}")
        added = await world.ana.slash(world.general, "memory add", text="new", scope="user_global")
        assert "Saved" in answer(added)


async def test_direct_messages_are_not_forked(world: World) -> None:
    """SPEC §4.6: the action is not offered there; the others are."""
    actions = {"Regenerate", "Rewind to here", "Exclude from prompt", "Save to memory"}
    seen: Any = world.env.backend.visible_commands

    def offered(channel: ChannelHandle) -> set[str]:
        return {each["name"] for each in seen(user_id=world.ana.id, channel_id=channel.id, type=3)}

    assert offered(world.ana.user.dm_channel) == actions
    assert offered(world.general) == actions | {"Fork here"}


# --- §4.8: switches ---------------------------------------------------------------------------------------


async def test_a_persona_that_does_not_learn_neither_reads_nor_writes_and_keeps_what_people_add(
    world: World,
) -> None:
    """SPEC §4.8: learn from chat is on by default; when it is on again, what was kept is used."""
    await create(world, "Aria", triggers="aria")
    await world.mara.slash(world.general, "persona use", persona="Aria")
    (aria,) = await personas(world)
    assert aria.learns
    everything = {"Ana likes tea", "Closes at ten", "Everybody's", "By hand"}
    await put(world, mine(world, aria.lineage), "Ana likes tea")
    await put(world, shared(world, aria.lineage), "Closes at ten")
    await put(world, mine(world, GLOBAL), "Everybody's")
    switch = await world.mara.slash(world.general, "persona edit", persona="Aria")
    await world.mara.click(message_of(switch), label="Turn off")
    assert given(await hear(world), everything) == set()
    assert (await tell(world, save("Ana has a cat"))).startswith("disabled")
    told = await world.ana.slash(world.general, "memory add", text="By hand")
    assert "kept, but not used here now" in answer(told)
    await world.mara.click(message_of(switch), label="Turn on")
    assert given(await hear(world), everything) == everything


async def test_with_ask_everything_waits_for_who_has_access(world: World) -> None:
    """SPEC §4.8: autosave; the server's for an admin's press even when an admin said it."""
    await set_server(world, "autosave", "ask")
    assert (await tell(world, save("Closes at ten", about="server"), who=world.mara)).startswith("needs")
    (card,) = cards(world)
    assert "can be changed by members" in answer(await world.ana.click(card, label="Approve"))
    assert await texts(world, shared(world)) == []
    await world.mara.click(card, label="Approve")
    assert await texts(world, shared(world)) == ["Closes at ten"]


async def test_fifty_suggestions_wait_and_the_next_is_refused_in_words(world: World) -> None:
    """SPEC §4.8. That they wait for 7 days is in test_approvals.py."""
    await set_server(world, "confirmations", "off")
    for start in range(0, 48, 8):
        await tell(world, *(save(f"Rule {n}", about="server") for n in range(start, start + 8)))
    assert (await tell(world, save("Rule 48", about="server"), save("Rule 49", about="server"))).startswith(
        "needs_approval"
    )
    refused = await tell(world, save("Rule 50", about="server"))
    assert "50" in refused and "nothing was" in refused.casefold() and not refused.startswith("needs")
    assert "50 suggestions, oldest first" in words(await world.mara.slash(world.general, "approvals"))


async def test_autosave_off_lets_people_write_and_the_model_read(world: World) -> None:
    """SPEC §4.8: only what the model would write is off."""
    await set_server(world, "autosave", "off")
    await world.ana.slash(world.general, "memory add", text="Ana likes tea")
    assert given(await hear(world), {"Ana likes tea"}) == {"Ana likes tea"}
    assert (await tell(world, forget("m1"))).startswith("disabled")
    assert await texts(world, mine(world)) == ["Ana likes tea"]


async def test_incognito_reads_and_writes_nothing_and_blank_does_neither(world: World) -> None:
    """SPEC §4.8: memory mode. A thread of a blank channel starts from the same clean slate."""
    await put(world, mine(world), "Ana likes tea")
    await put(world, shared(world), "Closes at ten")
    both = {"Ana likes tea", "Closes at ten"}
    for mode, read in (("incognito", both), ("blank", set())):
        await set_server(world, "memory_mode", mode, channel=world.general)
        assert given(await hear(world), both) == read
        assert (await tell(world, save("Ana has a cat"))).startswith("disabled")
        assert mode in world.said_by_bot(world.general)[-1].content.casefold()
    side = await thread_of(world, world.general, type=discord.ChannelType.public_thread)
    await world.ana.send(side, world.call("hello"))
    assert given(prompt(world), both) == set() and "listen to this" not in prompt(world)
    assert set(await texts(world, mine(world), shared(world))) == both
    assert given(await hear(world, channel=world.tavern), both) == both
