"""Who may not do something is told so before they are asked for anything, and learns nothing by it."""

from __future__ import annotations

import json
from typing import Any

import discord
import pytest

from memory.llm.port import ToolCall
from memory.types import DEFAULT_LINEAGE, Scope

from .reading import double_click, ids, labels, message_of, modal_text, words
from .world import World

ONLY_THEM = "Only the member whom this memory is about can"
NEEDS = "can be changed by members with Manage Server"


def whispered(result: Any) -> str:
    """The one line that only who pressed can see."""
    seen = [*result.followups]
    if not seen and result.response is not None:
        seen = [result.response]
    (line,) = seen
    assert line.ephemeral
    return str(words(line))


def confirmation(world: World) -> discord.Message:
    return [m for m in world.said_by_bot(world.general) if m.embeds][-1]


async def told(world: World, content: str = "Ana is allergic to nuts") -> discord.Message:
    """The persona saves something about Ana, for all in #general to see."""
    call = ToolCall("c", "save_memory", json.dumps({"content": content, "about": "user"}))
    world.model.say(call, "Noted.")
    await world.ana.send(world.general, world.call("remember that"))
    return confirmation(world)


async def server_entry(world: World, *, pinned: bool = False) -> tuple[int, discord.Message]:
    """An entry about the server, with its confirmation for everybody."""
    options = {"text": "The inn closes at ten", "scope": "server_persona", "pinned": pinned}
    await world.mara.slash(world.general, "memory add", **options)
    (found,) = await world.mara.autocomplete(world.general, "memory history", "entry", "inn")
    return int(found["value"]), confirmation(world)


def leave_managers(world: World) -> None:
    """Mara is no manager any more."""
    world.env.backend.get_guild(world.guild.id).members[world.mara.id].role_ids.clear()


@pytest.mark.parametrize("who", ["ben", "mara", "stranger"])
@pytest.mark.parametrize(
    ("label", "what"), [("Undo", "take this back"), ("Pin", "pin this"), ("Edit", "edit this")]
)
async def test_a_press_on_anothers_memory_is_told_plainly_whose_it_is(
    world: World, who: str, label: str, what: str
) -> None:
    """SPEC §12."""
    shown = await told(world)
    before = words(shown)
    result = await getattr(world, who).click(shown, label=label)
    assert result.modal is None
    assert whispered(result) == f"{ONLY_THEM} {what}. Nothing was changed."
    assert words(confirmation(world)) == before


async def test_a_refused_press_tells_nothing_that_its_owner_changed_in_private(world: World) -> None:
    shown = await told(world)
    person, place = world.person(world.ana), world.place(world.general)
    (memory,) = await world.engine.facts.find(person, place, "")
    await world.engine.facts.edit(person, place, memory.id, "Ana fears spiders")
    await world.engine.facts.pin(person, place, memory.id, True)
    for label in ("Undo", "Pin", "Edit"):
        said = whispered(await world.ben.click(shown, label=label))
        assert said.startswith(ONLY_THEM)
        assert "spiders" not in said
    await world.engine.facts.delete(person, place, memory.id)
    for label in ("Undo", "Pin", "Edit"):
        assert whispered(await world.ben.click(shown, label=label)).startswith(ONLY_THEM)


async def test_the_old_text_of_anothers_memory_is_refused_in_the_same_words(world: World) -> None:
    box = await world.ana.click(await told(world), label="Edit")
    await world.ana.submit_modal(box, {"text": "Ana eats everything"})
    refused = await world.mara.click(confirmation(world), label="Show what changed")
    assert whispered(refused) == f"{ONLY_THEM} see that."


async def test_the_commands_still_answer_anothers_handle_like_one_that_never_was(world: World) -> None:
    await told(world)
    (memory,) = await world.engine.facts.find(world.person(world.ana), world.place(world.general), "")
    for command in ("memory edit", "memory delete", "memory history", "pins add", "pins remove"):
        theirs = await world.ben.slash(world.general, command, entry=f"m{memory.id}")
        nobodys = await world.ben.slash(world.general, command, entry="m999")
        assert whispered(theirs) == whispered(nobodys)


@pytest.mark.parametrize("label", ["Undo", "Pin", "Edit"])
async def test_a_press_on_the_servers_memory_needs_the_right_and_says_so(world: World, label: str) -> None:
    """SPEC §12."""
    _, shown = await server_entry(world)
    result = await world.ana.click(shown, label=label)
    assert result.modal is None
    assert NEEDS in whispered(result)
    assert confirmation(world).embeds[0].title == "Saved"


async def test_with_member_access_the_same_presses_work(world: World) -> None:
    """SPEC §12."""
    _, shown = await server_entry(world)
    await world.engine.config.set(world.person(world.mara), world.place(world.general), "member_access", "on")
    box = await world.ana.click(shown, label="Edit")
    assert modal_text(box) == "The inn closes at ten"


async def test_rights_that_are_lost_while_the_box_is_open_are_asked_for_again(world: World) -> None:
    """SPEC §12."""
    _, shown = await server_entry(world)
    by_press = await world.mara.click(shown, label="Edit")
    (found,) = await world.mara.autocomplete(world.general, "memory edit", "entry", "inn")
    by_command = await world.mara.slash(world.general, "memory edit", entry=found["value"])
    leave_managers(world)
    for box in (by_press, by_command):
        refused = await world.mara.submit_modal(box, {"text": "The inn never closes"})
        assert NEEDS in whispered(refused)
    assert "closes at ten" in words(confirmation(world))


async def test_no_box_opens_for_an_entry_that_somebody_may_only_read(world: World) -> None:
    entry, _ = await server_entry(world)
    result = await world.ana.slash(world.general, "memory edit", entry=str(entry))
    assert result.modal is None
    assert NEEDS in whispered(result)


@pytest.mark.parametrize("pinned", [True, False])
async def test_nobody_is_asked_whether_to_delete_what_they_may_not_delete(world: World, pinned: bool) -> None:
    entry, _ = await server_entry(world, pinned=pinned)
    result = await world.ana.slash(world.general, "memory delete", entry=str(entry))
    assert NEEDS in whispered(result)
    assert "all the same" not in whispered(result)
    assert labels(result) == []


@pytest.mark.parametrize("label", ["Edit", "Delete"])
async def test_a_panel_asks_nothing_of_somebody_who_lost_the_right(world: World, label: str) -> None:
    await server_entry(world)
    shown = await world.mara.slash(world.general, "memories")
    await world.mara.click(message_of(shown), label="Open")
    leave_managers(world)
    result = await world.mara.click(message_of(shown), label=label)
    assert result.modal is None
    assert NEEDS in words(shown)
    assert labels(shown) == ["Back", "History"]


async def test_a_panel_lets_nobody_write_a_text_that_it_can_t_keep(world: World) -> None:
    shown = await world.mara.slash(world.general, "memories")
    leave_managers(world)
    result = await world.mara.click(message_of(shown), label="Add")
    assert result.modal is None
    assert NEEDS in words(shown)
    assert "Add" not in labels(shown)


async def test_the_settings_open_no_box_for_somebody_who_lost_the_right(world: World) -> None:
    shown = await world.mara.slash(world.general, "config show")
    leave_managers(world)
    result = await world.mara.click(message_of(shown), custom_id=ids(shown, "Edit")[0])
    assert result.modal is None
    assert "needs the Manage Server permission" in words(shown)
    assert "Edit" not in labels(shown)


@pytest.mark.parametrize("label", ["Pin", "Edit"])
async def test_ones_own_memory_that_is_gone_is_said_to_be_gone(world: World, label: str) -> None:
    shown = await told(world)
    scope = Scope.user(world.ana.id, DEFAULT_LINEAGE)
    async with world.engine._rooms.store.read() as tx:
        (memory,) = await tx.memories.of_scopes([scope], dm=True)
    await world.engine.facts.delete(world.person(world.ana), world.place(world.general), memory.id)
    said = whispered(await world.ana.click(shown, label=label))
    assert "it was deleted, or is kept for our DMs" in said
    assert "nothing was changed" in said


async def scopes(world: World) -> dict[str, list[str]]:
    """What is kept of Ana's and the server's, by scope."""
    ana, inn = world.ana.id, world.guild.id
    named = {
        "me": Scope.user(ana, DEFAULT_LINEAGE),
        "me everywhere": Scope.user(ana),
        "server": Scope.server(inn, DEFAULT_LINEAGE),
    }
    async with world.engine._rooms.store.read() as tx:
        kept = {name: await tx.memories.of_scopes([scope], dm=True) for name, scope in named.items()}
    return {name: [memory.text for memory in held] for name, held in kept.items() if held}


async def test_refused_words_are_kept_about_their_writer_for_the_same_personas_and_once(world: World) -> None:
    options = {"text": "Tea at five", "scope": "server_global", "pinned": True}
    shown = await world.ana.slash(world.general, "memory add", **options)
    assert NEEDS in words(shown)
    first, second = await double_click(world.ana, shown, "Save it about me")
    assert first.acknowledged
    assert second.acknowledged
    assert await scopes(world) == {"me everywhere": ["Tea at five"]}
    assert "about you · all personas · pinned" in words(shown)
    await world.env.advance_time(601)
    assert "Undo" in labels(shown)


async def test_refused_words_that_are_too_long_about_oneself_too_are_still_kept(world: World) -> None:
    long = "tea " * 200
    shown = await world.ana.slash(world.general, "memory add", text=long, scope="server_persona")
    await world.ana.click(message_of(shown), label="Save it about me")
    assert "the limit is 500" in words(shown)
    box = await world.ana.click(message_of(shown), label="Try again with my words")
    assert modal_text(box).strip() == long.strip()
    await world.ana.submit_modal(box, {"text": "Tea at five"})
    assert await scopes(world) == {"me": ["Tea at five"]}


async def test_an_edit_whose_right_was_lost_while_the_box_was_open_keeps_the_words(world: World) -> None:
    number, _ = await server_entry(world)
    manager, place = world.person(world.mara), world.place(world.general)
    await world.engine.config.set(manager, place, "member_access", "on")
    box = await world.ana.slash(world.general, "memory edit", entry=str(number))
    await world.engine.config.set(manager, place, "member_access", "off")
    refused = await world.ana.submit_modal(box, {"text": "I close the inn"})
    assert labels(refused) == ["Save it about me"]
    await world.ana.click(message_of(refused), label="Save it about me")
    assert await scopes(world) == {"me": ["I close the inn"], "server": ["The inn closes at ten"]}


async def test_an_unknown_scope_keeps_the_words_too(world: World) -> None:
    shown = await world.ana.slash(world.general, "memory add", text="Tea at five", scope="the moon")
    await world.ana.click(message_of(shown), label="Save it about me")
    assert await scopes(world) == {"me": ["Tea at five"]}
