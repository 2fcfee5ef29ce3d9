"""`/persona …` as admin, member and stranger, in a server and in a DM (SPEC §11, §12)."""

from __future__ import annotations

import io
import json
from typing import Any

import discord
import pytest
from PIL import Image
from simcord.actors import MemberActor

from cogs.views.pages import fits
from memory.personas import cards
from memory.types import Persona
from tests.personas.samples import as_file, picture

from .persona_hands import NEEDS, change, create, edit, file_of, lose_rights, personas, section_button
from .reading import BAD_TEXTS, labels, message_of, words
from .world import World

# --- Making -----------------------------------------------------------------------------------------------


async def test_an_admin_makes_a_persona_in_one_box_and_goes_on_in_a_panel(world: World) -> None:
    """SPEC §11."""
    shown = await create(
        world,
        "Aria",
        description="Keeps the inn.",
        triggers="aria\nthe keeper",
        picture=("me.png", picture(900, 900)),
    )
    assert message_of(shown).ephemeral
    assert "**Aria** is ready" in words(shown)
    assert "/persona use" in words(shown)
    (aria,) = await personas(world)
    assert (aria.description, aria.triggers) == ("Keeps the inn.", ("aria", "the keeper"))
    png = await world.engine.personas.picture(aria.picture)
    assert png is not None and Image.open(io.BytesIO(png)).size == (512, 512)


@pytest.mark.parametrize("who", ["ana", "stranger"])
@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("create", {}),
        ("edit", {"persona": "Aria"}),
        ("delete", {"persona": "Aria"}),
        ("use", {"persona": "Aria"}),
        ("dismiss", {"persona": "Aria"}),
        ("import", {"file": ("a.json", as_file())}),
    ],
)
async def test_members_change_nothing_and_are_told_what_it_needs(
    world: World, who: str, command: str, options: dict[str, Any]
) -> None:
    await create(world)
    before = await personas(world)
    actor: MemberActor = getattr(world, who)
    said = await actor.slash(world.general, f"persona {command}", **options)
    assert said.modal is None
    assert NEEDS in words(said)
    assert message_of(said).ephemeral
    assert await personas(world) == before


async def test_everybody_sees_the_list_a_persona_and_its_card(world: World) -> None:
    await create(world, "Aria", description="Keeps the inn.", triggers="aria")
    listed = await world.stranger.slash(world.general, "persona list")
    assert "1 of 20 in this server" in words(listed)
    assert "**Aria** · called by “aria”" in words(listed)
    shown = await world.stranger.slash(world.general, "persona show", persona="aria")
    assert "Keeps the inn." in words(shown)
    exported = await world.stranger.slash(world.general, "persona export", persona="Aria")
    assert cards.read(file_of(exported)).persona.description == "Keeps the inn."
    as_text = await world.stranger.slash(world.general, "persona export", persona="Aria", form="json")
    assert json.loads(file_of(as_text))["data"]["name"] == "Aria"
    assert all(message_of(each).ephemeral for each in (listed, shown, exported, as_text))


async def test_a_personas_picture_is_shown(world: World) -> None:
    await create(world, picture=("me.png", picture()))
    shown = await world.ana.slash(world.general, "persona show", persona="Aria")
    assert [a.filename for a in message_of(shown).attachments] == ["picture.png"]


async def test_a_refused_name_costs_none_of_the_words(world: World) -> None:
    await create(world)
    said = await create(world, "aria", description="A long text.", picture=("me.png", picture()))
    assert "here already" in words(said)
    again = await world.mara.click(message_of(said), label="Try again with my words")
    assert again.modal is not None
    boxes = {b["custom_id"]: b.get("value") for b in (c["component"] for c in again.modal["components"])}
    assert (boxes["name"], boxes["description"]) == ("aria", "A long text.")
    await world.mara.submit_modal(again, {"name": "Bob", "description": "A long text."})
    _, bob = await personas(world)
    assert bob.description == "A long text."
    assert bob.picture


async def test_a_bad_picture_is_said_and_the_rest_is_kept(world: World) -> None:
    shown = await create(world, picture=("me.svg", b"<svg/>"))
    assert "The picture was not taken. I can't read that as a picture" in words(shown)
    (aria,) = await personas(world)
    assert aria.picture == ""


@pytest.mark.parametrize("name", ["x" * 81, "Clyde", "everyone", "Keepsake", "\u200b"])
async def test_a_name_that_may_not_be_is_refused_in_plain_words(world: World, name: str) -> None:
    """SPEC §11."""
    own = world.bot.get_guild(world.guild.id)
    assert own is not None
    said = await create(world, own.me.display_name if name == "Keepsake" else name)
    assert "Nothing was changed" in words(said)
    assert await personas(world) == ()


async def test_the_twenty_first_is_refused_with_the_number_and_what_to_do(world: World) -> None:
    """SPEC §11."""
    for number in range(20):
        await world.engine.editing.create(
            world.person(world.mara), world.place(world.general), Persona(0, None, "", f"P{number}")
        )
    said = await create(world, "One more")
    assert "This server has 20 personas, as many as it can have" in words(said)
    assert "delete one with `/persona delete` first" in words(said)
    assert "Try again with my words" in labels(said)
    listed = await world.ana.slash(world.general, "persona list")
    assert "20 of 20" in words(listed)


async def test_in_a_dm_nothing_is_made(world: World) -> None:
    for command, options in (("create", {}), ("edit", {"persona": "x"}), ("import", {"file": ("a", b"{}")})):
        said = await world.mara.user.slash(f"persona {command}", **options)
        assert "in a server" in words(said)


# --- Editing ----------------------------------------------------------------------------------------------


async def test_each_part_is_edited_in_its_own_box(world: World) -> None:
    """SPEC §11."""
    await create(world)
    shown = await edit(world)
    await change(world, shown, "**Name**", "Aria of the Inn")
    await change(world, shown, "**Instructions**", "Speak in rhyme.")
    await change(world, shown, "**Attributes**", "Curious\n\nTall")
    await change(world, shown, "**Sample dialogues**", "member: Hi\npersona: Hello!")
    await change(world, shown, "**Trigger words**", "inn")
    assert "Saved" in words(shown)
    (aria,) = await personas(world)
    assert (aria.name, aria.prompt, aria.attributes) == (
        "Aria of the Inn",
        "Speak in rhyme.",
        ("Curious", "Tall"),
    )
    assert [(s.said, s.answer) for s in aria.samples] == [("Hi", "Hello!")]
    assert aria.triggers == ("inn",)
    box = await world.mara.click(message_of(shown), custom_id=section_button(shown, "**Sample dialogues**"))
    assert box.modal is not None
    assert box.modal["components"][0]["component"]["value"] == "member: Hi\npersona: Hello!"


async def test_learning_and_detail_are_one_press_each(world: World) -> None:
    """SPEC §4.8, §11."""
    await create(world)
    shown = await edit(world)
    await world.mara.click(message_of(shown), label="Turn off")
    assert "neither written in conversations nor read" in words(shown)
    assert "kept for later, and they are told so" in words(shown)
    await world.mara.click(message_of(shown), label="Use essential")
    (aria,) = await personas(world)
    assert not aria.learns
    assert aria.detail is not None and aria.detail.value == "essential"


async def test_the_built_in_persona_is_set_up_without_a_name(world: World) -> None:
    own = (await world.mara.autocomplete(world.general, "persona edit", "persona", ""))[0]
    shown = await world.mara.slash(world.general, "persona edit", persona=own["value"])
    assert "**Name**" not in words(shown)
    await change(world, shown, "**Description**", "An innkeeper.")
    assert (await world.engine.personas.built_in(world.guild.id)).description == "An innkeeper."
    assert await personas(world) == ()
    assert "0 of 20" in words(await world.ana.slash(world.general, "persona list"))


async def test_what_is_over_a_limit_is_offered_back(world: World) -> None:
    await create(world)
    shown = await edit(world)
    await change(world, shown, "**Trigger words**", "\n".join(f"w{n}" for n in range(11)))
    assert "That is 11 trigger words; 10 are allowed" in words(shown)
    again = await world.mara.click(message_of(shown), label="Try again with my words")
    await world.mara.submit_modal(again, {"text": "w1"})
    assert (await personas(world))[0].triggers == ("w1",)
    assert "Try again with my words" not in labels(shown)


async def test_sample_dialogues_that_can_t_be_read_are_offered_back(world: World) -> None:
    await create(world)
    shown = await edit(world)
    await change(world, shown, "**Sample dialogues**", "hello there")
    assert "I can't read all of these" in words(shown)
    await world.mara.click(message_of(shown), label="Discard my words")
    assert "I can't read" not in words(shown)


async def test_a_picture_is_changed_and_taken_away(world: World) -> None:
    await create(world)
    shown = await edit(world)
    box = await world.mara.click(message_of(shown), label="Change")
    await world.mara.submit_modal(box, {"picture": ("me.gif", picture(form="GIF"))})
    assert "It has a picture" in words(shown)
    box = await world.mara.click(message_of(shown), label="Change")
    await world.mara.submit_modal(box, {"away": True})
    assert "It has no picture" in words(shown)
    box = await world.mara.click(message_of(shown), label="Change")
    await world.mara.submit_modal(box, {"picture": ("me.png", b"x" * 10_000_001)})
    assert "10.0 MB; 10 MB are allowed" in words(shown)


async def test_who_loses_the_right_changes_nothing_more(world: World) -> None:
    """SPEC §12."""
    await create(world)
    shown = await edit(world)
    box = await world.mara.click(message_of(shown), custom_id=section_button(shown, "**Description**"))
    before = await personas(world)
    lose_rights(world)
    await world.mara.submit_modal(box, {"text": "Sneaky."})
    assert NEEDS in words(shown)
    await world.mara.click(message_of(shown), label="Turn off")
    assert NEEDS in words(shown)
    refused = await world.mara.click(message_of(shown), label="Change")
    assert refused.modal is None
    assert await personas(world) == before


async def test_a_panel_of_a_persona_that_was_deleted_says_so(world: World) -> None:
    await create(world)
    shown = await edit(world)
    (aria,) = await personas(world)
    await world.engine.delete_persona(world.person(world.mara), world.place(world.general), aria.id, False)
    await world.mara.click(message_of(shown), label="Turn off")
    assert "was deleted" in words(shown)
    assert labels(shown) == []


async def test_a_shared_trigger_word_is_said(world: World) -> None:
    await create(world, "Aria", triggers="fox")
    shown = await create(world, "Bob", triggers="Fox")
    assert "“Fox” (Aria)" in words(shown)


@pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS.keys())
async def test_nothing_that_people_write_is_more_than_words(world: World, text: str) -> None:
    shown = await create(world, text[:60], description=text * 20, triggers=text)
    if not await personas(world):
        return
    for each in (
        shown,
        await world.ana.slash(world.general, "persona list"),
        await world.ana.slash(world.general, "persona show", persona=text[:60]),
    ):
        said = words(each)
        assert "\n# **big**" not in said
        assert "](https://evil" not in said
        assert "\u202e" not in said
        assert "<@&1>" not in said
    view = discord.ui.LayoutView.from_message(message_of(shown).message)
    assert fits(view)


async def test_the_fullest_persona_still_fits_in_panel_and_page(world: World) -> None:
    await create(world, "*" * 80)
    place, person = world.place(world.general), world.person(world.mara)
    (seen,) = await personas(world)
    changes = {
        "description": "*" * 4_000,
        "prompt": "_" * 4_000,
        "attributes": tuple(f"{n}" + "*" * 199 for n in range(10)),
        "triggers": tuple(f"{n}" + "*" * 49 for n in range(10)),
    }
    await world.engine.editing.change(person, place, seen, changes)
    for each in (
        await edit(world, "*" * 80),
        await world.ana.slash(world.general, "persona show", persona="*" * 80),
    ):
        assert fits(discord.ui.LayoutView.from_message(message_of(each).message))


async def test_the_list_names_all_twenty_however_long_their_names(world: World) -> None:
    for number in range(20):
        words_of_it = tuple(f"{number} {n} " + "*" * 40 for n in range(10))
        await world.engine.editing.create(
            world.person(world.mara),
            world.place(world.general),
            Persona(0, None, "", f"{number:02d} " + "*" * 77, triggers=words_of_it, learns=False),
        )
    shown = await world.ana.slash(world.general, "persona list")
    assert all(f"**{number:02d} " in words(shown) for number in range(20))
    assert fits(discord.ui.LayoutView.from_message(message_of(shown).message))


async def test_the_question_and_the_answer_of_a_deletion_name_what_goes_and_what_stays(world: World) -> None:
    await create(world, "Aria")
    (aria,) = await personas(world)
    await world.mara.slash(world.general, "persona use", persona="Aria")
    for who, text in ((world.ana, "Sings"), (world.ben, "Hums"), (world.ben, "Plays")):
        await who.slash(world.general, "memory add", text=text, scope="user_persona")
    other = world.env.create_guild("Other")
    async with world.engine._rooms.store.write() as tx:
        there = Persona(0, other.id, aria.lineage, "Aria")
        await tx.personas.add(there, "aria", None, world.engine.clock.now())
        await tx.names.put(other.id, {world.ana.id: "Ana"})
    asked = await world.mara.slash(world.general, "persona delete", persona="Aria")
    assert "3 memories about members" in words(asked)
    assert "2 memories become memories for all personas" in words(asked)
    assert "1 memory stays with the character in another server" in words(asked)
    await world.mara.click(message_of(asked), label=labels(asked)[0])
    assert "2 memories were kept for all personas" in words(asked)
    assert "1 memory of members stayed with the character" in words(asked)
