"""What the model may write, what comes back from a file, and what people are told of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory.errors import ModelUnavailable
from memory.llm.port import Finished, ToolCall
from memory.types import GLOBAL, Memory

from .reading import labels, message_of, words
from .spec_hands import (
    a_file,
    answer,
    cards,
    forget,
    kept,
    mine,
    put,
    save,
    set_server,
    shared,
    tell,
    texts,
    update,
)
from .test_actions import reply
from .world import ScriptedModel, World, make_world


class WhileAnswering(ScriptedModel):
    """Something happens while the model thinks, once a request."""

    def __init__(self) -> None:
        super().__init__()
        self.hooks: list[Any] = []

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        if self.hooks:
            await self.hooks.pop(0)()
        async for event in super().stream(request):
            yield event


async def _edited_meanwhile(tmp_path: Path, *rounds: list[ToolCall], also: str = "") -> list[str]:
    """Ana edits her entry while the model thinks, and with ``also`` once more in the second round."""
    model = WhileAnswering()
    async with make_world(tmp_path, model) as world:
        (entry,) = await put(world, mine(world), "Plays the cello")

        def edit(text: str) -> Any:
            async def act() -> None:
                world.env.backend.clock.advance(1)
                facts, here = world.engine.facts, world.place(world.general)
                done = await facts.edit(world.person(world.ana), here, entry.id, text)
                assert done.wrote

            return act

        model.hooks = [edit(text) for text in ("Plays the viola since May", also) if text]
        model.say(*rounds, "Noted.")
        await world.ana.send(world.general, world.call("listen to this"))
        return await texts(world, mine(world))


OBOE = update("m1", "Plays the oboe")


@pytest.mark.parametrize("second", [OBOE, forget("m1")], ids=["update", "delete"])
async def test_a_members_edit_is_not_undone_by_a_second_call_of_one_answer(
    tmp_path: Path, second: ToolCall
) -> None:
    """It was sent before the first one's refusal could be read."""
    assert await _edited_meanwhile(tmp_path, [OBOE, second]) == ["Plays the viola since May"]


async def test_who_has_read_a_members_edit_may_change_it_in_the_next_answer(tmp_path: Path) -> None:
    assert await _edited_meanwhile(tmp_path, [OBOE, OBOE], [OBOE]) == ["Plays the oboe"]


async def test_an_edit_after_the_one_that_was_read_is_kept(tmp_path: Path) -> None:
    left = await _edited_meanwhile(tmp_path, [OBOE], [OBOE, forget("m1")], also="Plays the harp")
    assert left == ["Plays the harp"]


async def test_an_entry_that_was_never_shown_is_not_deleted_by_a_guessed_handle(world: World) -> None:
    """The near duplicate's handle is told by the answer to the first call, which was not read yet."""
    await put(world, mine(world), "Ana plays the cello on Fridays", keywords=("music",))
    await tell(world, save("Ana plays the cello on Fridays!!"), forget("m1"))
    assert await texts(world, mine(world)) == ["Ana plays the cello on Fridays"]


async def _exported(world: World) -> bytes:
    """Ana's file of this persona, from the DM; then the entries are gone."""
    got = await world.ana.user.slash("memory export", scope="user_persona")
    data = bytes(world.env.backend.cdn.get(message_of(got).attachments[0].url))
    async with world.engine._rooms.store.write() as tx:
        await tx.memories.remove_all([m.id for m in await kept(world, mine(world))])
    return data


def _privacy(memories: list[Memory]) -> list[bool]:
    return sorted(memory.dm_only for memory in memories)


@pytest.mark.parametrize("newest", ["private", "public"])
async def test_an_export_with_the_same_words_for_dms_and_everywhere_comes_back(
    world: World, newest: str
) -> None:
    await world.ana.user.slash("memory add", text="Likes tea")
    await world.ana.slash(world.general, "memory add", text="Likes tea")
    await world.env.advance_time(60)
    (entry,) = [m for m in await kept(world, mine(world)) if m.dm_only is (newest == "private")]
    box = await world.ana.user.slash("memory tag", entry=f"m{entry.id}")
    await world.ana.user.submit_modal(box, {"keywords": "drink"})
    data = await _exported(world)
    got = await world.ana.slash(world.general, "memory import", scope="user_persona", file=("f.json", data))
    assert "Imported 2 memories" in answer(got), answer(got)
    back = await kept(world, mine(world))
    assert [m.text for m in back] == ["Likes tea", "Likes tea"] and _privacy(back) == [False, True]
    assert [m.dm_only for m in back if m.keywords] == [newest == "private"]


@pytest.mark.parametrize("there, comes", [(False, 0), (True, 1)], ids=["everywhere", "DMs"])
async def test_a_file_of_both_meets_one_that_is_there(world: World, there: bool, comes: int) -> None:
    """What is used everywhere is used in DMs too; what is for DMs only is not known elsewhere."""
    await put(world, mine(world), "likes tea", dm_only=there)
    data = a_file("Likes tea", "Likes tea").replace(b'"}]', b'", "dm_only": true}]')
    got = await world.ana.slash(world.general, "memory import", scope="user_persona", file=("f.json", data))
    said = answer(got)
    assert f"{2 - comes} memor" in said and "already" in said and "exactly this" not in said, said
    assert _privacy(await kept(world, mine(world))) == ([False] if not there else [False, True])


def _said(world: World, channel: Any = None) -> str:
    """The latest reply, with what stands beneath it."""
    return [m.content for m in world.said_by_bot(channel or world.general) if m.content][-1]


BORN = save("Was born in Lisbon")


async def test_who_asked_to_remember_at_a_limit_is_told_the_counts(world: World) -> None:
    """`/memory add` would be refused as well, so nobody is sent there."""
    await put(world, mine(world), *[f"Fact {number} thing" for number in range(100)])
    await tell(world, BORN, text="remember that I was born in Lisbon")
    assert "-# Nothing was saved: personal memories" in _said(world) and "100 of 100" in _said(world)
    assert "/memory add" not in _said(world)


async def test_who_asked_for_two_where_one_fits_is_told_of_the_other(world: World) -> None:
    await put(world, mine(world), *[f"Fact {number} thing" for number in range(99)])
    await tell(
        world, BORN, save("Plays the oboe"), text="remember that I was born in Lisbon and play the oboe"
    )
    assert "Was born in Lisbon" in await texts(world, mine(world))
    assert "-# Not all of it was saved: personal memories" in _said(world) and "100 of 100" in _said(world)


async def test_what_a_later_answer_made_good_is_not_called_lost(world: World) -> None:
    """The model sent it shorter, made room for it, or asked again for what was too much at once."""
    asked = world.call("remember that I like all of this")
    long = save("x" * 600)
    await put(world, mine(world), *[f"Fact {number} thing" for number in range(98)])
    world.model.say([BORN, long], save("Plays the oboe"), "Noted.")
    await world.ana.send(world.general, asked)
    assert _said(world) == "Noted."
    world.model.say(save("Likes tea"), forget("m1"), save("Likes tea"), "Noted.")
    await world.ana.send(world.general, asked)
    assert _said(world) == "Noted." and "Likes tea" in await texts(world, mine(world))


async def test_a_full_scope_is_told_though_something_else_was_saved_after_it(world: World) -> None:
    await put(world, shared(world), *[f"Fact {number} thing" for number in range(100)])
    world.model.say(save("The inn is old", about="server"), BORN, "Noted.")
    await world.mara.send(world.general, world.call("remember that the inn is old and I was born in Lisbon"))
    assert "-# Not all of it was saved: this server's memories" in _said(world)


async def test_room_that_was_made_and_not_used_saves_nothing(world: World) -> None:
    await put(world, mine(world), *[f"Fact {number} thing" for number in range(100)])
    world.model.say(BORN, forget("m1"), "Noted.")
    await world.ana.send(world.general, world.call("remember that I was born in Lisbon"))
    assert "-# Not all of it was saved: personal memories" in _said(world)


TWENTY = [save(f"Plays the {name}") for name in "abcdefghijklmnopqrst"]


async def test_who_asked_for_more_than_one_answer_carries_out_is_told(world: World) -> None:
    await tell(world, *TWENTY, text="remember that I play all of these")
    assert len(await texts(world, mine(world))) == 8
    assert "-# Not all of it was saved: it was too much at once." in _said(world)


async def test_who_was_given_the_rest_in_the_next_answers_is_told_nothing(world: World) -> None:
    world.model.say(TWENTY, TWENTY[8:], TWENTY[16:], "Noted.")
    await world.ana.send(world.general, world.call("remember that I play all of these"))
    assert len(await texts(world, mine(world))) == 20 and _said(world) == "Noted."


class Talkative(ScriptedModel):
    """Says something beside its calls."""

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        async for event in super().stream(request):
            yield replace(event, text="Noted.") if isinstance(event, Finished) else event


async def test_calls_beside_the_last_words_are_told_as_well(tmp_path: Path) -> None:
    """A turn has four rounds of calls; what the fifth answer calls is not carried out."""
    async with make_world(tmp_path, Talkative()) as world:
        world.model.say(*[[each] for each in TWENTY[:5]])
        await world.ana.send(world.general, world.call("remember that I play all of these"))
        assert len(await texts(world, mine(world))) == 4
        assert "-# Not all of it was saved: it was too much at once." in _said(world)


async def test_a_server_fact_in_a_dm_is_sent_to_the_server(world: World) -> None:
    world.model.say([save("The inn is old", about="server")], "Say it in that server, please.")
    await world.ana.send_dm("remember for the server that the inn is old")
    said = world.ana.user.dm_channel.history()[-1].content
    assert "-# Nothing was saved: what is for a whole server is saved there" in said
    assert "just now" not in said and "/memory add" not in said


async def test_nobody_is_sent_to_a_command_that_they_may_not_use(world: World) -> None:
    """Learn from chat is an admin's choice; what a member adds is kept until it is on again."""
    place, mara = world.place(world.general), world.person(world.mara)
    seen = await world.engine.personas.built_in(world.guild.id)
    await world.engine.editing.change(mara, place, seen, {"learns": False})
    await world.ana.send(world.general, world.call("remember that I like tea"))
    assert "kept for later" in _said(world) and "/persona edit" not in _said(world)


NINE = save("Inn opens at nine", about="server")


def _make_admin(world: World) -> None:
    """Ben manages the server, too."""
    members = world.env.backend.get_guild(world.guild.id).members
    members[world.ben.id].role_ids.extend(members[world.mara.id].role_ids)


@pytest.mark.parametrize("restarted", [False, True], ids=["", "after a restart"])
@pytest.mark.parametrize("asks, saved", [("mara", True), ("ana", False)], ids=["admin", "member"])
async def test_who_asked_keeps_their_right_when_another_admin_regenerates(
    world: World, asks: str, saved: bool, restarted: bool
) -> None:
    """Nor does a member's word become the server's because an admin presses."""
    _make_admin(world)
    world.model.say(NINE, "Noted.", NINE, "Noted again.")
    await getattr(world, asks).send(world.general, world.call("the inn opens at nine"))
    if restarted:
        await world.restart()
    await world.ben.context_menu(world.general, "Regenerate", reply(world, world.general))
    assert await texts(world, shared(world)) == ["Inn opens at nine"] * saved


@pytest.mark.parametrize("asks, saved", [("mara", True), ("ana", False)], ids=["admin", "member"])
async def test_nor_when_another_admin_presses_retry(world: World, asks: str, saved: bool) -> None:
    _make_admin(world)
    world.model.say(ModelUnavailable("down"), NINE, "Noted.")
    await getattr(world, asks).send(world.general, world.call("the inn opens at nine"))
    line = [m for m in world.said_by_bot(world.general) if "Retry" in labels(m)][-1]
    await world.ben.click(line, label="Retry")
    assert await texts(world, shared(world)) == ["Inn opens at nine"] * saved


async def test_who_lost_their_right_since_has_none_when_another_admin_regenerates(world: World) -> None:
    _make_admin(world)
    world.model.say("Good to know.", NINE, "Noted.")
    await world.mara.send(world.general, world.call("the inn opens at nine"))
    world.env.backend.get_guild(world.guild.id).members[world.mara.id].role_ids.clear()
    await world.ben.context_menu(world.general, "Regenerate", reply(world, world.general))
    assert await texts(world, shared(world)) == []


async def test_who_presses_retry_themselves_has_the_rights_that_they_have_now(world: World) -> None:
    world.model.say(ModelUnavailable("down"), NINE, "Noted.")
    await world.mara.send(world.general, world.call("the inn opens at nine"))
    world.env.backend.get_guild(world.guild.id).members[world.mara.id].role_ids.clear()
    line = [m for m in world.said_by_bot(world.general) if "Retry" in labels(m)][-1]
    await world.mara.click(line, label="Retry")
    assert await texts(world, shared(world)) == []


async def test_a_move_onto_the_same_text_says_that_the_two_were_joined(world: World) -> None:
    await put(world, mine(world, GLOBAL), "sings at dawn")
    await world.ana.slash(world.general, "memory add", text="Sings at dawn")
    got = await world.ana.slash(world.general, "memory move", entry="m2", to="user_global")
    said = answer(got)
    assert "m1 already says this there, so m2 was joined to it." in said and "Deleted" not in said, said
    assert "pinned" not in said
    await world.ana.click(message_of(got), label="Undo")
    assert await texts(world, mine(world), mine(world, GLOBAL)) == ["sings at dawn", "Sings at dawn"]


async def test_so_does_the_card_that_everybody_sees(world: World) -> None:
    await put(world, shared(world, GLOBAL), "inn opens at nine")
    await put(world, shared(world), "Inn opens at nine")
    got = await world.mara.slash(world.general, "memory move", entry="m2", to="server_global")
    assert "m1 already says this there, so m2 was joined to it." in answer(got)
    assert words(cards(world)[-1]).startswith("Moved") and "Deleted" not in words(cards(world)[-1])
    assert "joined to one that says the same" in words(cards(world)[-1])
    shown = answer(await world.mara.slash(world.general, "memory history", entry="m2"))
    assert "moved" in shown and "deleted" not in shown, shown


async def test_the_pin_that_a_server_entry_takes_over_has_its_card_too(world: World) -> None:
    await put(world, shared(world, GLOBAL), "inn opens at nine")
    await put(world, shared(world), "Inn opens at nine", pinned=True)
    await world.mara.slash(world.general, "memory move", entry="m2", to="server_global")
    assert [words(card).splitlines()[0] for card in cards(world)] == ["Moved", "Pinned"]


async def test_use_everywhere_onto_the_same_text_deletes_nothing_in_words(world: World) -> None:
    await world.ana.user.slash("memory add", text="Likes tea")
    card = world.ana.user.dm_channel.history()[-1]
    await world.ana.slash(world.general, "memory add", text="likes tea")
    got = await world.ana.user.click(card, label="Use everywhere")
    said = answer(got) + words(world.ana.user.dm_channel.history()[-1])
    assert await texts(world, mine(world)) == ["likes tea"] and "Deleted" not in said, said
    assert "already says this everywhere" in said


async def test_a_server_entry_that_a_joining_move_pins_is_told_to_all(world: World) -> None:
    """SPEC §4.5. What the member's own entry was is told to the member alone."""
    await put(world, shared(world), "inn opens at nine")
    await world.mara.slash(world.general, "memory add", text="Inn opens at nine", pinned=True)
    got = await world.mara.slash(world.general, "memory move", entry="m2", to="server_persona")
    assert "m1 already says this there, so m2 was joined to it. It is pinned now." in answer(got)
    (entry,) = await kept(world, shared(world))
    card = words(cards(world)[-1])
    assert entry.pinned and card.startswith("Pinned") and "inn opens" in card and "m2" not in card


async def _tagged_by_ana(world: World, *channels: Any) -> None:
    """Her entry, with tags of channels, each set in its server as the box does it."""
    facts, tags = world.engine.facts, ()
    (entry,) = await put(world, mine(world), "Sings at dawn")
    for channel in channels:
        tags = (*tags, channel.id)
        done = await facts.tag(world.person(world.ana), world.place(channel), entry.id, (), tags)
        assert done.wrote


def _far(world: World) -> Any:
    return world.env.create_guild("Far").create_text_channel("docks")


async def test_a_move_into_a_server_leaves_no_channels_of_another_server(world: World) -> None:
    """Nor of one of which nobody knows where it is: else it is used nowhere, and shows where Ana is."""
    await set_server(world, "member_access", "on")
    far = _far(world)
    await put(world, mine(world), "Sings at dawn", channels=(far.id,))
    moved = await world.ana.slash(world.general, "memory move", entry="m1", to="server_persona")
    assert "1 channel tag was left out" in answer(moved) and "for every channel" in answer(moved)
    shown = await world.ben.slash(world.general, "memories")
    await world.ben.click(message_of(shown), label="Open")
    assert str(far.id) not in words(shown) and "Sings at dawn" in words(shown)


async def test_the_servers_own_channels_go_along_and_undo_brings_the_others_back(world: World) -> None:
    await set_server(world, "member_access", "on")
    far = _far(world)
    await _tagged_by_ana(world, far, world.tavern)
    moved = await world.ana.slash(world.general, "memory move", entry="m1", to="server_persona")
    (entry,) = await kept(world, shared(world))
    assert entry.channels == (world.tavern.id,) and "1 channel tag was left out" in answer(moved)
    await world.ana.slash(world.general, "memory undo")
    (entry,) = await kept(world, mine(world))
    assert entry.channels == (far.id, world.tavern.id)


async def test_a_move_among_ones_own_keeps_every_channel(world: World) -> None:
    far = _far(world)
    await _tagged_by_ana(world, far, world.tavern)
    moved = await world.ana.slash(world.general, "memory move", entry="m1", to="user_global")
    (entry,) = await kept(world, mine(world, GLOBAL))
    assert entry.channels == (far.id, world.tavern.id) and "left out" not in answer(moved)


async def test_a_channel_is_not_this_servers_because_its_tag_came_back_by_undo_here(world: World) -> None:
    await set_server(world, "member_access", "on")
    await _tagged_by_ana(world, _far(world))
    facts, ana, here = world.engine.facts, world.person(world.ana), world.place(world.general)
    (entry,) = await kept(world, mine(world))
    assert (await facts.tag(ana, here, entry.id, (), ())).wrote
    await world.ana.slash(world.general, "memory undo")
    await world.ana.slash(world.general, "memory move", entry="m1", to="server_persona")
    (entry,) = await kept(world, shared(world))
    assert entry.channels == ()
