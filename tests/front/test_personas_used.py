"""Personas in use, on their way out, and as cards: as admin, member and stranger (SPEC §4.6, §11, §12)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from memory.types import Persona, Scope
from tests.personas.samples import as_file, picture, text_chunk, with_chunk

from .persona_hands import NEEDS, change, create, edit, file_of, lose_rights, personas
from .reading import double_click, labels, message_of, words
from .world import World


def given(world: World) -> str:
    """The prompt of the latest call of the model."""
    return "\n".join(str(m) for m in world.model.requests[-1].messages)


# --- Using ------------------------------------------------------------------------------------------------


async def test_who_is_in_use_answers_and_the_list_says_so(world: World) -> None:
    await create(world)
    said = await world.mara.slash(world.general, "persona use", persona="Aria")
    assert "**Aria** answers here from now on, when nobody else is called" in words(said)
    (aria,) = await personas(world)
    assert await world.engine.config.persona_id(world.place(world.general)) == aria.id
    assert "**answers here**" in words(await world.ana.slash(world.general, "persona list"))
    elsewhere = await world.ana.slash(world.tavern, "persona list")
    assert "**Aria** · **answers here**" not in words(elsewhere)
    said = await world.mara.slash(world.tavern, "persona use", persona="Aria", where="server")
    assert "in this server" in words(said)
    assert await world.engine.config.persona_id(world.place(world.tavern)) == aria.id
    said = await world.mara.slash(world.general, "persona dismiss", persona="Aria")
    assert "takes no part in this channel now" in words(said)
    assert await world.engine.config.persona_id(world.place(world.general)) == 0
    again = await world.mara.slash(world.general, "persona dismiss", persona="Aria")
    assert "takes no part in this channel. Nothing was changed" in words(again)


async def test_a_name_that_is_nobodys_is_said(world: World) -> None:
    for value in ("Nobody", "id:99", "id:x", "@everyone"):
        said = await world.mara.slash(world.general, "persona use", persona=value)
        assert "no such persona here" in words(said)


async def test_a_member_chooses_in_a_dm_among_their_servers_only(world: World) -> None:
    await create(world)
    far = world.env.create_guild("Far Away")
    place = world.place(far.create_text_channel("far"))
    await world.engine.editing.create(world.person(world.mara), place, Persona(0, None, "", "Hidden"))
    offered = await world.ana.user.autocomplete("persona use", "persona", "")
    assert [each["name"].partition(" · ")[0] for each in offered][1:] == ["Aria"]
    assert "Lantern Inn" in offered[1]["name"]
    said = await world.ana.user.slash("persona use", persona=offered[1]["value"])
    assert "**Aria** answers you here from now on" in words(said)
    hidden = (await world.engine.personas.of_guild(far.id))[0]
    for command in ("use", "show", "export"):
        for value in (f"id:{hidden.id}", "Hidden"):
            refused = await world.ana.user.slash(f"persona {command}", persona=value)
            assert "no such persona" in words(refused)
    listed = words(await world.ana.user.slash("persona list"))
    assert "**Aria** · **answers here** · from Lantern Inn" in listed
    assert "Hidden" not in listed
    await world.ana.user.slash("persona dismiss", persona="Aria")
    assert "answers here** · from" not in words(await world.ana.user.slash("persona list"))


async def test_another_servers_persona_is_not_found_by_its_number(world: World) -> None:
    far = world.env.create_guild("Far Away")
    place = world.place(far.create_text_channel("far"))
    hidden = await world.engine.editing.create(
        world.person(world.mara), place, Persona(0, None, "", "Hidden")
    )
    for command in ("show", "export", "use", "edit", "delete"):
        said = await world.mara.slash(world.general, f"persona {command}", persona=f"id:{hidden.id}")
        assert "no such persona here" in words(said)


async def test_a_preview_can_be_of_any_persona_here(world: World) -> None:
    await create(world, "Aria", description="Keeps the inn at the crossroads.")
    shown = await world.ana.slash(world.general, "context preview", text="hi", persona="Aria")
    table = next(a for a in message_of(shown).attachments if a.filename == "blocks.txt")
    assert b"persona: persona" in (shown._env.backend.cdn.get(table.url) or b"")
    plain = await world.ana.slash(world.general, "context preview", text="hi")
    table = next(a for a in message_of(plain).attachments if a.filename == "blocks.txt")
    assert b"persona: persona" not in (plain._env.backend.cdn.get(table.url) or b"")
    said = await world.ana.slash(world.general, "context preview", persona="Nobody")
    assert "no such persona" in words(said)


async def test_in_union_the_built_in_persona_takes_part_where_it_answered_before_there_was_another(
    world: World,
) -> None:
    for channel in (world.general, world.tavern):
        said = await world.mara.slash(channel, "persona list")
        assert "Aria" not in words(said)
    await world.ana.send(world.general, world.call("good evening"))
    place = world.place(world.general)
    await world.engine.facts.add(
        world.person(world.mara), place, Scope.server(world.guild.id, "keepsake"), "The well is dry"
    )
    await create(world, triggers="aria")
    await world.mara.slash(world.general, "config channel", key="persona_memories", value="union")
    await world.mara.slash(world.tavern, "config channel", key="persona_memories", value="union")
    await world.ana.send(world.general, "aria, what of the well?")
    assert "The well is dry" in given(world)
    await world.ana.send(world.tavern, "aria, what of the well?")
    assert "The well is dry" not in given(world)
    said = await world.mara.slash(world.general, "persona dismiss", persona="TestBot")
    assert "I can't be taken out. Nothing was changed" in words(said)
    await world.mara.slash(world.general, "persona use", persona="Aria")
    said = await world.mara.slash(world.general, "persona dismiss", persona="TestBot")
    assert "**TestBot** takes no part in this channel now" in words(said)
    await world.ana.send(world.general, "aria, and now?")
    assert "The well is dry" not in given(world)


# --- Deleting ---------------------------------------------------------------------------------------------


async def remembering(world: World, *texts: str) -> Persona:
    """A persona that remembers those about the server, and one thing about Ana."""
    await create(world)
    (aria,) = await personas(world)
    scopes = [(Scope.server(world.guild.id, aria.lineage), text) for text in texts]
    scopes.append((Scope.user(world.ana.id, aria.lineage), "Ana sings"))
    async with world.engine._rooms.store.write() as tx:
        for scope, text in scopes:
            await tx.memories.add(
                scope, text, text.lower(), False, False, (), (), None, None, world.clock.now(), ()
            )
    return aria


async def texts_of(world: World, *scopes: Scope) -> set[str]:
    async with world.engine._rooms.store.read() as tx:
        return {m.text for m in await tx.memories.of_scopes(scopes, dm=True)}


async def test_deleting_names_the_counts_and_keeps_the_memories_for_all(world: World) -> None:
    """SPEC §4.6."""
    await remembering(world, "The inn closes at ten", "The cat is Rum")
    asked = await world.mara.slash(world.general, "persona delete", persona="Aria")
    assert "It has 2 memories about this server and 1 memory about members" in words(asked)
    assert labels(asked) == ["Delete it, keep its memories", "Delete the server's too", "Cancel"]
    await world.mara.click(message_of(asked), label="Delete it, keep its memories")
    assert "**Aria** is deleted" in words(asked)
    assert "3 memories were kept for all personas" in words(asked)
    assert await personas(world) == ()
    shared = await texts_of(world, Scope.server(world.guild.id), Scope.user(world.ana.id))
    assert shared == {"The inn closes at ten", "The cat is Rum", "Ana sings"}


async def test_the_servers_can_go_too_and_members_never(world: World) -> None:
    """SPEC §4.6."""
    await remembering(world, "The inn closes at ten")
    asked = await world.mara.slash(world.general, "persona delete", persona="Aria")
    await world.mara.click(message_of(asked), label="Delete the server's too")
    assert "1 memory about this server was deleted" in words(asked)
    assert await texts_of(world, Scope.server(world.guild.id), Scope.user(world.ana.id)) == {"Ana sings"}


async def test_the_question_says_where_the_persona_is_in_use(world: World) -> None:
    await create(world)
    asked = await world.mara.slash(world.general, "persona delete", persona="Aria")
    assert "It answers" not in words(asked)
    for where, said in (("channel", "It answers here"), ("server", "It answers in this server")):
        await world.mara.slash(world.general, "persona use", persona="Aria", where=where)
        asked = await world.mara.slash(world.general, "persona delete", persona="Aria")
        assert said in words(asked)


async def test_cancelling_keeps_everything(world: World) -> None:
    aria = await remembering(world, "The inn closes at ten")
    asked = await world.mara.slash(world.general, "persona delete", persona="Aria")
    await world.mara.click(message_of(asked), label="Cancel")
    assert "Kept. Nothing was changed" in words(asked)
    assert await personas(world) == (aria,)


async def test_a_persona_without_memories_is_asked_about_once(world: World) -> None:
    await create(world)
    asked = await world.mara.slash(world.general, "persona delete", persona="Aria")
    assert labels(asked) == ["Delete it", "Cancel"]
    await double_click(world.mara, asked, "Delete it")
    assert "**Aria** is deleted" in words(asked)
    assert await personas(world) == ()


async def test_a_memory_saved_while_the_question_stands_is_not_deleted(world: World) -> None:
    aria = await remembering(world, "The inn closes at ten")
    asked = await world.mara.slash(world.general, "persona delete", persona="Aria")
    async with world.engine._rooms.store.write() as tx:
        scope = Scope.server(world.guild.id, aria.lineage)
        await tx.memories.add(scope, "New", "new", False, False, (), (), None, None, world.clock.now(), ())
    await world.mara.click(message_of(asked), label="Delete the server's too")
    assert "changed meanwhile. Nothing was deleted" in words(asked)
    assert await personas(world) == (aria,)


async def test_the_right_is_asked_for_again_at_the_last_press(world: World) -> None:
    """SPEC §12."""
    aria = await remembering(world, "The inn closes at ten")
    asked = await world.mara.slash(world.general, "persona delete", persona="Aria")
    lose_rights(world)
    await world.mara.click(message_of(asked), label="Delete it, keep its memories")
    assert NEEDS in words(asked)
    assert await personas(world) == (aria,)


async def test_a_dm_is_told_that_its_character_is_gone(world: World) -> None:
    await create(world)
    await world.ana.user.slash("persona use", persona=f"id:{(await personas(world))[0].id}")
    await world.ana.send_dm("good evening")
    asked = await world.mara.slash(world.general, "persona delete", persona="Aria")
    await world.mara.click(message_of(asked), label="Delete it")
    await world.ana.send_dm("are you still there?")
    said = [m.content for m in world.ana.user.dm_channel.history() if m.author.id != world.ana.id]
    assert ["is gone, so I answer" in text for text in said] == [False, True]
    await world.ana.user.slash("persona use", persona="TestBot")
    await world.ana.send_dm("and now?")
    assert "is gone" not in world.ana.user.dm_channel.history()[-1].content


# --- Cards ------------------------------------------------------------------------------------------------


async def imported(world: World, data: bytes, filename: str = "card.json", **more: Any) -> Any:
    return await world.mara.slash(world.general, "persona import", file=(filename, data), **more)


async def test_a_card_becomes_a_persona_and_what_is_not_taken_is_said(world: World) -> None:
    """SPEC §11."""
    data = as_file(description="d" * 5_000, character_book={"entries": [{}, {}]})
    shown = await imported(world, with_chunk(picture(), text_chunk(json.loads(data))), "rook.png")
    assert "**Rook** is ready" in words(shown)
    assert "had 5,000 characters: the first 4,000 were kept" in words(shown)
    assert "2 lore entries were not taken" in words(shown)
    (rook,) = await personas(world)
    assert rook.picture


async def test_a_name_in_use_is_refused_until_another_is_given(world: World) -> None:
    await create(world, "Rook")
    said = await imported(world, as_file())
    assert "here already" in words(said)
    await imported(world, as_file(), name="Castle")
    assert [p.name for p in await personas(world)] == ["Rook", "Castle"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x00" * 30_000_000, "30.0 MB; 10 MB are allowed"),
        (with_chunk(picture(), text_chunk({}))[:-30], "cut off"),
        (b"[" * 100_000, "no character card"),
        (b'{"data": {"name": ' + b"[" * 100_000, "nested too deeply"),
        (as_file(name="x" * 120), "has 120 characters; 80 are allowed"),
        (as_file(name="Clyde the Great"), "“clyde”"),
    ],
    ids=range(6),
)
async def test_a_hostile_card_is_refused_in_plain_words(world: World, data: bytes, why: str) -> None:
    said = await imported(world, data, "card.png")
    assert why in words(said)
    assert "Nothing was changed" in words(said)
    assert await personas(world) == ()


async def test_a_card_of_who_is_here_asks_update_or_new(world: World) -> None:
    await create(world, "Aria", description="Old.", triggers="aria")
    exported = await world.ana.slash(world.general, "persona export", persona="Aria")
    card = file_of(exported)
    shown = await edit(world)
    await change(world, shown, "**Description**", "Newer.")
    asked = await imported(world, card, "aria.png")
    assert "the card of **Aria**, who is here already" in words(asked)
    await world.mara.click(message_of(asked), label="Update that persona")
    assert "holds what the card says now" in words(asked)
    (aria,) = await personas(world)
    assert aria.description == "Old."
    asked = await imported(world, card, "aria.png")
    await double_click(world.mara, asked, "Add as a new one")
    assert "**Aria 2** is ready" in words(asked)
    assert "came without the trigger words that call somebody here already: “aria” (Aria)" in words(asked)
    assert "**Sample dialogues**" in words(asked) and "Turn off" in labels(asked)
    assert len({p.lineage for p in await personas(world)}) == 2
    asked = await imported(world, card, "aria.png")
    await world.mara.click(message_of(asked), label="Cancel")
    assert len(await personas(world)) == 2


async def test_an_update_of_a_persona_deleted_meanwhile_is_refused(world: World) -> None:
    await create(world)
    card = file_of(await world.ana.slash(world.general, "persona export", persona="Aria"))
    asked = await imported(world, card, "aria.png")
    (aria,) = await personas(world)
    await world.engine.delete_persona(world.person(world.mara), world.place(world.general), aria.id, False)
    await world.mara.click(message_of(asked), label="Update that persona")
    assert "no such persona here" in words(asked)
    assert await personas(world) == ()


async def test_the_right_is_asked_for_again_when_a_card_is_decided(world: World) -> None:
    await create(world)
    card = file_of(await world.ana.slash(world.general, "persona export", persona="Aria"))
    asked = await imported(world, card, "aria.png")
    before = await personas(world)
    lose_rights(world)
    await world.mara.click(message_of(asked), label="Add as a new one")
    assert NEEDS in words(asked)
    assert await personas(world) == before


async def test_two_boxes_at_once_for_the_last_place_make_one(world: World) -> None:
    place, person = world.place(world.general), world.person(world.mara)
    for number in range(19):
        await world.engine.editing.create(person, place, Persona(0, None, "", f"P{number}"))
    made = await asyncio.gather(
        *(world.engine.editing.create(person, place, Persona(0, None, "", n)) for n in ("One", "Two")),
        return_exceptions=True,
    )
    assert sum(isinstance(each, Persona) for each in made) == 1
