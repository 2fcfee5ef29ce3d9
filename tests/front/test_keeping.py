"""Tags, moving, and whose entries they are, as member, admin and stranger (SPEC §4.1, §4.3, §12)."""

from __future__ import annotations

from typing import Any

from simcord.components import walk_components
from simcord.results import InteractionResult

from cogs.views.tag_box import split_keywords
from memory.types import GLOBAL, Persona, Scope

from .reading import labels, message_of, press_another, words
from .spec_hands import add, answer, kept, mine, shared
from .webhooks import put_in_use
from .world import World


async def character(world: World, name: str = "Mira") -> Persona:
    async with world.engine._rooms.store.write() as tx:
        new = Persona(0, world.guild.id, f"line-{name.lower()}", name)
        made = await tx.personas.add(new, name.lower(), world.mara.id, world.clock.now())
    world.engine.personas.forget(world.guild.id)
    assert made is not None
    return made


def control(shown: InteractionResult, custom_id: str) -> dict[str, Any]:
    assert shown.modal is not None, "no modal was opened"
    return next(c for c in walk_components(shown.modal["components"]) if c.get("custom_id") == custom_id)


# --- /memory tag ------------------------------------------------------------------------------------------


async def test_an_entry_is_tagged_in_a_box_and_the_confirmation_and_the_panel_show_it(world: World) -> None:
    """SPEC §7."""
    await add(world, "Likes tea", mine(world))
    box = await world.ana.slash(world.general, "memory tag", entry="m1")
    shown = await world.ana.submit_modal(
        box, {"keywords": 'tea, "café"\nkettle', "channels": [world.tavern, world.general]}
    )
    (memory,) = await kept(world, mine(world))
    assert memory.keywords == ("tea", '"café"', "kettle")
    assert memory.channels == (world.tavern.id, world.general.id)
    assert (
        message_of(shown).ephemeral and "Tagged" in words(shown) and f"<#{world.tavern.id}>" in words(shown)
    )
    panel = await world.ana.slash(world.general, "personal memories")
    opened = await world.ana.click(message_of(panel), label="Open")
    assert "kettle" in words(message_of(panel)) or "kettle" in words(opened)
    again = await world.ana.slash(world.general, "memory tag", entry="m1")
    assert control(again, "keywords")["value"].splitlines() == ["tea", '"café"', "kettle"]
    assert {int(d["id"]) for d in control(again, "channels")["default_values"]} == {
        world.tavern.id,
        world.general.id,
    }


async def test_a_tag_is_taken_back_by_its_button(world: World) -> None:
    await add(world, "Likes tea", mine(world))
    box = await world.ana.slash(world.general, "memory tag", entry="m1")
    shown = await world.ana.submit_modal(box, {"keywords": "tea"})
    await world.ana.click(message_of(shown), label="Undo")
    assert (await kept(world, mine(world)))[0].keywords == ()
    assert "undone" in words(shown)


async def test_too_many_keywords_are_refused_with_the_numbers_and_stand_in_the_box_again(
    world: World,
) -> None:
    """SPEC §4.1."""
    await add(world, "Likes tea", mine(world))
    box = await world.ana.slash(world.general, "memory tag", entry="m1")
    refused = await world.ana.submit_modal(box, {"keywords": "a1,b2,c3,d4,e5,f6", "channels": [world.tavern]})
    assert "6 keywords and an entry takes 5. Leave out 1." in words(refused)
    again = await world.ana.click(message_of(refused), label="Try again with my tags")
    assert control(again, "keywords")["value"].splitlines() == ["a1", "b2", "c3", "d4", "e5", "f6"]
    assert [int(d["id"]) for d in control(again, "channels")["default_values"]] == [world.tavern.id]
    await world.ana.submit_modal(again, {"keywords": "a1"})
    assert (await kept(world, mine(world)))[0].keywords == ("a1",)


async def test_channels_of_another_server_stay_until_they_are_unticked(world: World) -> None:
    memory = await add(world, "Likes tea", mine(world))
    person, place = world.person(world.ana), world.place(world.general)
    await world.engine.facts.tag(person, place, memory.id, (), (77, world.tavern.id))
    box = await world.ana.slash(world.general, "memory tag", entry="m1")
    await world.ana.submit_modal(box, {"keywords": "", "channels": [world.general], "elsewhere": True})
    assert set((await kept(world, mine(world)))[0].channels) == {77, world.general.id}
    box = await world.ana.slash(world.general, "memory tag", entry="m1")
    await world.ana.submit_modal(box, {"channels": [], "elsewhere": False})
    assert (await kept(world, mine(world)))[0].channels == ()


async def test_in_a_dm_an_entry_gets_keywords(world: World) -> None:
    await add(world, "Likes tea", mine(world))
    box = await world.ana.user.slash("memory tag", entry="m1")
    await world.ana.user.submit_modal(box, {"keywords": "tea"})
    assert (await kept(world, mine(world)))[0].keywords == ("tea",)


async def test_a_member_tags_neither_the_servers_entries_nor_somebody_elses(world: World) -> None:
    await add(world, "Closes at ten", shared(world))
    await add(world, "Likes tea", mine(world))
    for actor, entry, said in (
        (world.ana, "m1", "Manage Server"),
        (world.ben, "m2", "can't find"),
        (world.mara, "m2", "can't find"),
        (world.stranger, "m9", "can't find"),
    ):
        refused = await actor.slash(world.general, "memory tag", entry=entry)
        assert refused.modal is None and said in words(refused)


async def test_rights_are_asked_for_again_when_the_box_is_sent(world: World) -> None:
    """SPEC §12."""
    await add(world, "Closes at ten", shared(world))
    config, mara, place = world.engine.config, world.person(world.mara), world.place(world.general)
    await config.set(mara, place, "member_access", "on")
    box = await world.ana.slash(world.general, "memory tag", entry="m1")
    await config.set(mara, place, "member_access", "off")
    refused = await world.ana.submit_modal(box, {"keywords": "inn"})
    assert "Manage Server" in words(refused) and (await kept(world, shared(world)))[0].keywords == ()


async def test_add_takes_keywords_and_offers_the_words_without_them_when_they_are_refused(
    world: World,
) -> None:
    await world.ana.slash(world.general, "memory add", text="Likes tea", keywords="tea, kettle")
    assert (await kept(world, mine(world)))[0].keywords == ("tea", "kettle")
    refused = await world.ana.slash(world.general, "memory add", text="Likes rain", keywords="a,b,c,d,e,f")
    assert "6 keywords" in words(refused) and len(await kept(world, mine(world))) == 1
    await world.ana.click(message_of(refused), label="Save it without keywords")
    assert [m.text for m in await kept(world, mine(world))] == ["Likes tea", "Likes rain"]


def test_keywords_are_typed_with_commas_or_lines() -> None:
    typed = ' tea,  green   tea\n"oolong"; 茶、抹茶,, \n'
    assert split_keywords(typed) == ("tea", "green tea", '"oolong"', "茶", "抹茶")


# --- /memory move -----------------------------------------------------------------------------------------


async def test_a_member_moves_their_own_entry_between_their_own_scopes(world: World) -> None:
    await add(world, "Likes tea", mine(world), pinned=True)
    shown = await world.ana.slash(world.general, "memory move", entry="m1", to="user_global")
    assert message_of(shown).ephemeral and "Moved" in words(shown)
    assert "From personal memories for TestBot to personal memories for all personas." in words(shown)
    (memory,) = await kept(world, mine(world, GLOBAL))
    assert memory.id == 1 and memory.pinned and world.said_by_bot(world.general) == []
    await world.ana.click(message_of(shown), label="Undo")
    assert len(await kept(world, mine(world))) == 1


async def test_moving_into_the_server_needs_the_right_there_and_is_told_to_everybody(world: World) -> None:
    await add(world, "Likes tea", mine(world))
    refused = await world.ana.slash(world.general, "memory move", entry="m1", to="server_persona")
    assert "Manage Server" in words(refused) and len(await kept(world, mine(world))) == 1
    await world.engine.config.set(world.person(world.mara), world.place(world.general), "member_access", "on")
    await world.ana.slash(world.general, "memory move", entry="m1", to="server_persona")
    (seen,) = world.said_by_bot(world.general)
    assert "Likes tea" in words(seen) and "Moved" in words(seen)
    assert "From personal memories for TestBot to this server's memories for TestBot." in words(seen)


async def test_a_confirmation_of_an_entry_that_was_moved_away_shows_nothing_of_it_any_more(
    world: World,
) -> None:
    await world.mara.slash(world.general, "memory add", text="The inn serves tea", scope="server_persona")
    (seen,) = world.said_by_bot(world.general)
    await world.mara.slash(world.general, "memory move", entry="m1", to="user_persona")
    (seen,) = world.said_by_bot(world.general)
    assert "serves tea" not in words(seen) and "moved since" in words(seen) and labels(seen) == []
    await world.engine.facts.edit(
        world.person(world.mara), world.place(world.general), 1, "Mara hates her boss"
    )
    for verb in ("undo", "edit", "show"):
        pressed = await press_another(world.ana, seen, f"ks:{verb}:1")
        assert "boss" not in answer(pressed) and "Change it where it is now" in answer(pressed)


async def test_in_a_dm_there_is_no_server_to_move_to_and_dm_entries_say_how(world: World) -> None:
    await world.ana.user.slash("memory add", text="Afraid of the dark")
    refused = await world.ana.user.slash("memory move", entry="m1", to="server_persona")
    assert "no server" in words(refused)
    shown = await world.ana.user.slash("memory move", entry="m1", to="user_global")
    assert "DMs only" in words(shown) and (await kept(world, mine(world, GLOBAL)))[0].dm_only
    hidden = await world.ana.slash(world.general, "memory move", entry="m1", to="user_persona")
    assert "can't find" in words(hidden)


async def test_the_targets_offered_are_those_that_one_may_write(world: World) -> None:
    await character(world)

    async def offered(actor: Any) -> list[str]:
        return [c["name"] for c in await actor.autocomplete(world.general, "memory move", "to", "")]

    assert await offered(world.ana) == [
        "me, with TestBot",
        "me, for all personas",
        "me, with Mira",
    ]
    assert "this server, with Mira" in await offered(world.mara)
    await add(world, "Likes tea", mine(world))
    wrong = await world.ana.slash(world.general, "memory move", entry="m1", to="my neighbour")
    assert "don't know that scope" in words(wrong)
    await world.ana.slash(world.general, "memory move", entry="m1", to="me, with Mira")
    assert len(await kept(world, mine(world, "line-mira"))) == 1
    typed = await world.ana.slash(world.general, "memory move", entry="m1", to="ME, with testbot")
    assert "Moved" in words(typed) and len(await kept(world, mine(world))) == 1


async def test_the_persona_in_use_is_offered_and_named_by_its_name(world: World) -> None:
    mira = await character(world)
    await put_in_use(world, world.place(world.general), mira)
    offered = await world.mara.autocomplete(world.general, "memory add", "scope", "")
    assert [c["name"] for c in offered] == [
        "me, with Mira",
        "me, for all personas",
        "this server, with Mira",
        "this server, for all personas",
        "this server, with TestBot",
        "me, with TestBot",
    ]
    await add(world, "Likes tea", mine(world, mira.lineage))
    asked = await world.ana.slash(world.general, "memory clear", scope="user_persona")
    assert "Delete 1 unpinned entry of personal memories for Mira for good?" in words(asked)
    shown = await world.ana.slash(world.general, "memory export", scope="user_persona")
    assert "keepsake-memories-personal-mira.json" in str(message_of(shown).attachments)
    shown = await world.ana.slash(world.general, "memory export", scope="user_global")
    assert "nothing to export: personal memories for all personas hold no entry" in words(shown)
    assert not message_of(shown).attachments
    await add(world, "Likes rain", Scope.user(world.ana.id))
    shown = await world.ana.slash(world.general, "memory export", scope="user_global")
    assert "keepsake-memories-personal-all-personas.json" in str(message_of(shown).attachments)


# --- personas in commands and panels ----------------------------------------------------------------------


async def test_with_this_persona_means_who_is_in_use_there(world: World) -> None:
    mira = await character(world)
    await put_in_use(world, world.place(world.general), mira)
    shown = await world.ana.slash(world.general, "memory add", text="Likes tea", scope="user_persona")
    assert "about you · Mira" in words(shown)
    await world.ana.slash(world.tavern, "memory add", text="Likes rain", scope="user_persona")
    assert [m.text for m in await kept(world, mine(world, mira.lineage))] == ["Likes tea"]
    assert [m.text for m in await kept(world, mine(world))] == ["Likes rain"]


async def test_panels_show_other_personas_memories_in_a_menu_by_name(world: World) -> None:
    mira = await character(world, "Mi*ra*")
    await add(world, "Sings at noon", shared(world, mira.lineage))
    await add(world, "Hums at night", mine(world, mira.lineage))
    for actor, command, text in (
        (world.mara, "memories", "Sings at noon"),
        (world.ana, "personal memories", "Hums at night"),
    ):
        panel = await actor.slash(world.general, command)
        menus = [c for c in walk_components(_raw(panel)) if c.get("type") == 3]
        (option,) = [o for o in menus[0]["options"] if o["label"] == "Mi*ra* (1)"]
        await actor.select(message_of(panel), [option["value"]])
        assert text in words(panel) and "Mi\\*ra\\*" in words(panel)
        await actor.click(message_of(panel), label="Open")
        assert "Mi\\*ra\\*" in words(panel)


def _raw(shown: InteractionResult) -> list[dict[str, Any]]:
    return [c if isinstance(c, dict) else c.to_dict() for c in message_of(shown).components]


async def test_without_other_personas_a_panel_has_no_menu(world: World) -> None:
    panel = await world.ana.slash(world.general, "personal memories")
    assert [c for c in walk_components(_raw(panel)) if c.get("type") == 3] == []


async def test_the_list_of_choices_names_the_persona_of_an_entry(world: World) -> None:
    mira = await character(world)
    await add(world, "Likes tea", mine(world, mira.lineage))
    (choice,) = await world.ana.autocomplete(world.general, "memory edit", "entry", "tea")
    assert choice["name"].endswith("about you, Mira")


async def test_the_box_of_add_keeps_its_words_when_there_is_no_such_scope(world: World) -> None:
    refused = await world.ana.slash(world.general, "memory add", text="Likes tea", scope="the moon")
    assert "don't know that scope" in words(refused)
    await world.ana.click(message_of(refused), label="Save it about me")
    assert [m.text for m in await kept(world, mine(world))] == ["Likes tea"]
