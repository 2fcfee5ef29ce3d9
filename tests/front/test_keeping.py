"""Tags, moving, clearing and files, as member, admin and stranger (SPEC §4.1, §4.3, §4.6, §12)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from simcord.components import walk_components
from simcord.results import InteractionResult

from cogs.views.tag_box import split_keywords
from memory.facts.outcomes import OutcomeKind
from memory.types import DEFAULT_LINEAGE, GLOBAL, Memory, Persona, Scope

from .reading import BAD_TEXTS, double_click, ids, labels, message_of, press_another, words
from .world import World


def mine(world: World, lineage: str = DEFAULT_LINEAGE) -> Scope:
    return Scope.user(world.ana.id, lineage)


def shared(world: World, lineage: str = DEFAULT_LINEAGE) -> Scope:
    return Scope.server(world.guild.id, lineage)


async def kept(world: World, *scopes: Scope) -> list[Memory]:
    async with world.engine._rooms.store.read() as tx:
        return await tx.memories.of_scopes(scopes, dm=True)


async def add(world: World, text: str, scope: Scope, *, pinned: bool = False) -> Memory:
    actor = world.ana if scope.kind.value == "user" else world.mara
    outcome = await world.engine.facts.add(
        world.person(actor), world.place(world.general), scope, text, pinned=pinned
    )
    assert outcome.memory is not None and outcome.kind is OutcomeKind.SAVED
    return outcome.memory


async def character(world: World, name: str = "Mira") -> Persona:
    async with world.engine._rooms.store.write() as tx:
        new = Persona(0, world.guild.id, f"line-{name.lower()}", name)
        made = await tx.personas.add(new, name.lower(), world.mara.id, world.clock.now())
    world.engine.personas.forget(world.guild.id)
    assert made is not None
    return made


async def put_in_use(world: World, persona: Persona) -> None:
    async with world.engine._rooms.store.write() as tx:
        await tx.config.set(
            "channel", world.general.id, "persona", str(persona.id), world.clock.now(), world.mara.id
        )
    world.engine.config.forget()


def answer(pressed: InteractionResult) -> str:
    """All that a press was answered with."""
    shown = [pressed.response, *pressed.followups]
    return "\n".join(words(each) for each in shown if each is not None)


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
    await put_in_use(world, mira)
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


# --- /memory clear ----------------------------------------------------------------------------------------


async def test_a_clear_asks_with_the_count_and_then_separately_about_the_pinned_ones(world: World) -> None:
    """SPEC §4.6."""
    for number in range(3):
        await add(world, f"fact {number}", mine(world))
    await add(world, "pinned", mine(world), pinned=True)
    await add(world, "elsewhere", mine(world, GLOBAL))
    asked = await world.ana.slash(world.general, "memory clear", scope="user_persona")
    assert message_of(asked).ephemeral and "Delete 3 unpinned entries" in words(asked)
    assert "no undo" in words(asked) and len(await kept(world, mine(world))) == 4
    await world.ana.click(message_of(asked), label="Delete 3 entries")
    assert "Deleted 3 unpinned entries" in words(asked) and "Delete 1 pinned entry" in words(asked)
    assert [m.text for m in await kept(world, mine(world))] == ["pinned"]
    await world.ana.click(message_of(asked), label="Delete 1 entry")
    assert "Deleted 1 pinned entry" in words(asked) and labels(asked) == []
    assert [m.text for m in await kept(world, mine(world), mine(world, GLOBAL))] == ["elsewhere"]
    assert world.said_by_bot(world.general) == []


async def test_the_pinned_ones_are_kept_when_the_second_question_is_refused(world: World) -> None:
    """SPEC §4.6."""
    await add(world, "fact", mine(world))
    await add(world, "pinned", mine(world), pinned=True)
    asked = await world.ana.slash(world.general, "memory clear", scope="user_persona")
    await world.ana.click(message_of(asked), label="Delete 1 entry")
    assert labels(asked) == ["Keep the pinned one as it is", "Delete 1 entry"]
    await world.ana.click(message_of(asked), label="Keep the pinned one as it is")
    assert [m.text for m in await kept(world, mine(world))] == ["pinned"] and labels(asked) == []
    said = "Deleted 1 unpinned entry of personal memories for TestBot for good. The pinned one was kept."
    assert words(asked) == said


async def test_several_pinned_ones_are_counted_when_they_are_kept(world: World) -> None:
    await add(world, "fact", mine(world))
    for number in range(2):
        await add(world, f"pinned {number}", mine(world), pinned=True)
    asked = await world.ana.slash(world.general, "memory clear", scope="user_persona")
    await world.ana.click(message_of(asked), label="Delete 1 entry")
    await world.ana.click(message_of(asked), label="Keep the pinned ones as they are")
    assert words(asked).endswith("for good. The 2 pinned ones were kept.")


async def test_a_second_question_that_nobody_answers_still_says_what_was_deleted(world: World) -> None:
    await add(world, "fact", mine(world))
    await add(world, "pinned", mine(world), pinned=True)
    asked = await world.ana.slash(world.general, "memory clear", scope="user_persona")
    await world.ana.click(message_of(asked), label="Delete 1 entry")
    (pressable,) = ids(asked, "Delete 1 entry")
    known = world.bot._connection._view_store._views.values()
    (view,) = {item.view for items in known for (_, key), item in items.items() if key == pressable}
    assert view is not None
    await view.on_timeout()
    await world.env.settle()
    assert words(asked).endswith("for good. The pinned one was kept.") and labels(asked) == []


async def test_a_double_click_on_the_first_question_never_answers_the_second(world: World) -> None:
    await add(world, "fact", mine(world))
    await add(world, "pinned", mine(world), pinned=True)
    asked = await world.ana.slash(world.general, "memory clear", scope="user_persona")
    first = labels(asked)
    await double_click(world.ana, asked, "Delete 1 entry")
    assert [m.text for m in await kept(world, mine(world))] == ["pinned"]
    assert first[0] == "Delete 1 entry" and labels(asked)[0].startswith("Keep")
    assert len(labels(asked)[0]) > len(first[0])  # it covers where the other stood


async def test_a_scope_with_pinned_entries_alone_asks_about_those(world: World) -> None:
    await add(world, "pinned", mine(world), pinned=True)
    asked = await world.ana.slash(world.general, "memory clear", scope="user_persona")
    assert "no unpinned entry" in words(asked) and "Delete 1 pinned entry" in words(asked)
    nothing = await world.ana.slash(world.general, "memory clear", scope="user_global")
    assert "nothing to clear" in words(nothing) and labels(nothing) == []


async def test_keeping_them_and_double_clicks(world: World) -> None:
    await add(world, "fact", mine(world))
    asked = await world.ana.slash(world.general, "memory clear", scope="user_persona")
    assert "Its words go" in words(asked)
    await world.ana.click(message_of(asked), label="Keep it")
    assert len(await kept(world, mine(world))) == 1 and labels(asked) == []
    asked = await world.ana.slash(world.general, "memory clear", scope="user_persona")
    first, second = await double_click(world.ana, asked, "Delete 1 entry")
    assert first.acknowledged and second.acknowledged and await kept(world, mine(world)) == []


async def test_when_the_entries_changed_meanwhile_it_says_the_new_count_and_asks_again(world: World) -> None:
    await add(world, "fact", mine(world))
    asked = await world.ana.slash(world.general, "memory clear", scope="user_persona")
    await add(world, "another", mine(world))
    await world.ana.click(message_of(asked), label="Delete 1 entry")
    assert "nothing was deleted yet" in words(asked) and "Delete 2 unpinned entries" in words(asked)
    assert labels(asked) == ["Keep the unpinned ones as they are", "Delete 2 entries"]
    assert len(await kept(world, mine(world))) == 2
    await world.ana.click(message_of(asked), label="Delete 2 entries")
    assert await kept(world, mine(world)) == []


async def test_only_who_may_write_a_scope_clears_it_also_at_the_press(world: World) -> None:
    """SPEC §12."""
    await add(world, "Closes at ten", shared(world))
    refused = await world.ana.slash(world.general, "memory clear", scope="server_persona")
    assert "Manage Server" in words(refused) and labels(refused) == []
    config, mara, place = world.engine.config, world.person(world.mara), world.place(world.general)
    await config.set(mara, place, "member_access", "on")
    asked = await world.ana.slash(world.general, "memory clear", scope="server_persona")
    await config.set(mara, place, "member_access", "off")
    await world.ana.click(message_of(asked), label="Delete 1 entry")
    assert "Manage Server" in words(asked) and len(await kept(world, shared(world))) == 1


async def test_a_servers_clear_is_told_to_everybody_without_words_and_its_confirmations_lose_theirs(
    world: World,
) -> None:
    """SPEC §4.6."""
    await world.mara.slash(world.general, "memory add", text="A secret door", scope="server_persona")
    (seen,) = world.said_by_bot(world.general)
    asked = await world.mara.slash(world.general, "memory clear", scope="server_persona")
    await world.mara.click(message_of(asked), label="Delete 1 entry")
    await world.engine.idle()
    seen, told = world.said_by_bot(world.general)
    assert "secret door" not in words(seen) and "cleared" in words(seen) and labels(seen) == []
    assert "Cleared" in words(told) and "1 unpinned entry" in words(told) and "Mara" in words(told)
    assert not told.flags.ephemeral
    await world.ana.send(world.general, world.call("hello"))
    assert "Cleared" not in str(world.model.requests[-1].messages)
    for verb in ("undo", "edit", "show", "pin"):
        pressed = await press_another(world.mara, seen, f"ks:{verb}:1")
        assert "nothing left to change" in answer(pressed)
    history = await world.mara.slash(world.general, "memory history", entry="m1")
    assert "cleared" in words(history) and "secret" not in words(history)


async def test_what_is_kept_for_dms_is_counted_in_the_server_and_cleared_there(world: World) -> None:
    await world.ana.user.slash("memory add", text="Afraid of the dark")
    await add(world, "fact", mine(world))
    asked = await world.ana.slash(world.general, "memory clear", scope="user_persona")
    assert "Delete 1 unpinned entry" in words(asked) and "1 entry more, kept for our DMs" in words(asked)
    await world.ana.click(message_of(asked), label="Delete 1 entry")
    assert [m.text for m in await kept(world, mine(world))] == ["Afraid of the dark"]
    there = await world.ana.user.slash("memory clear", scope="user_persona")
    await world.ana.user.click(message_of(there), label="Delete 1 entry")
    assert await kept(world, mine(world)) == []


async def test_nobody_else_presses_the_question(world: World) -> None:
    await add(world, "Closes at ten", shared(world))
    asked = await world.mara.slash(world.general, "memory clear", scope="server_persona")
    stored = world.env.backend.get_message(world.general.id, message_of(asked).id)
    stored.flags &= ~64
    await world.ana.click(message_of(asked), label="Delete 1 entry")
    assert len(await kept(world, shared(world))) == 1


# --- /memory export and import ----------------------------------------------------------------------------


async def test_a_scope_goes_out_as_a_file_for_its_reader_alone(world: World) -> None:
    await add(world, "Likes tea", mine(world), pinned=True)
    await world.ana.user.slash("memory add", text="Afraid of the dark")
    shown = await world.ana.slash(world.general, "memory export", scope="user_persona")
    assert message_of(shown).ephemeral and "1 entry of personal memories for TestBot" in words(shown)
    assert "1 entry more, kept for our DMs" in words(shown)
    (file,) = message_of(shown).attachments
    assert "keepsake-memories-personal-testbot.json" in str(file)


async def test_a_member_exports_the_servers_memories_that_they_can_read(world: World) -> None:
    await add(world, "Closes at ten", shared(world))
    offered = await world.ana.autocomplete(world.general, "memory export", "scope", "server")
    assert [c["value"] for c in offered] == ["server_persona", "server_global"]
    shown = await world.ana.slash(world.general, "memory export", scope="server_persona")
    assert "1 entry of this server's memories" in words(shown)


async def test_a_file_comes_in_unpinned_and_what_is_known_is_skipped(world: World) -> None:
    """SPEC §4.3."""
    await add(world, "Likes tea", mine(world), pinned=True)
    facts, person, place = world.engine.facts, world.person(world.ana), world.place(world.general)
    found = await facts.export(person, place, mine(world))
    assert found is not None
    shown = await world.ana.slash(
        world.general, "memory import", scope="user_global", file=("mine.json", found[0])
    )
    assert message_of(shown).ephemeral and "Imported 1 memory, unpinned." in words(shown)
    (memory,) = await kept(world, mine(world, GLOBAL))
    assert memory.text == "Likes tea" and not memory.pinned
    again = await world.ana.slash(
        world.general, "memory import", scope="user_global", file=("mine.json", found[0])
    )
    assert "nothing new" in words(again) and world.said_by_bot(world.general) == []


def a_file(*texts: str) -> bytes:
    memories = [{"text": text} for text in texts]
    return json.dumps({"format": "keepsake-memories", "version": 1, "memories": memories}).encode()


async def test_importing_about_the_server_needs_manage_server_and_is_told_to_everybody(world: World) -> None:
    """SPEC §4.3."""
    await world.engine.config.set(world.person(world.mara), world.place(world.general), "member_access", "on")
    file = ("server.json", a_file("Closes at ten", "Opens at six"))
    refused = await world.ana.slash(world.general, "memory import", scope="server_global", file=file)
    assert "Manage Server" in words(refused) and await kept(world, shared(world, GLOBAL)) == []
    await world.mara.slash(world.general, "memory import", scope="server_global", file=file)
    assert len(await kept(world, shared(world, GLOBAL))) == 2
    (told,) = world.said_by_bot(world.general)
    assert "2 entries" in words(told) and "Mara" in words(told) and "ten" not in words(told)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"x" * 1_000_001, "1,000,001 bytes"),
        (b"\x89PNG", "not JSON"),
        (a_file("x" * 501), "Memory 1 has 501 characters"),
        (a_file(*(f"fact {n}" for n in range(121))), "121 memories"),
        (a_file(*(f"fact {n}" for n in range(101))), "101 memories"),
    ],
)
async def test_a_file_that_does_not_fit_is_refused_whole_with_the_reason(
    world: World, data: bytes, said: str
) -> None:
    shown = await world.ana.slash(world.general, "memory import", scope="user_persona", file=("f.json", data))
    assert said in words(shown) and "Nothing was imported" in words(shown)
    assert await kept(world, mine(world)) == []


async def test_hostile_texts_of_a_file_are_shown_as_nothing_but_words(world: World) -> None:
    texts = list(BAD_TEXTS.values())
    await world.mara.slash(
        world.general, "memory import", scope="server_persona", file=("f.json", a_file(*texts))
    )
    (told,) = world.said_by_bot(world.general)
    assert "@everyone" not in words(told) and len(await kept(world, shared(world))) == len(texts)


# --- personas in commands and panels ----------------------------------------------------------------------


async def test_with_this_persona_means_who_is_in_use_there(world: World) -> None:
    mira = await character(world)
    await put_in_use(world, mira)
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


async def test_words_of_what_was_deleted_are_cleared_from_an_empty_scope(world: World) -> None:
    """SPEC §4.6."""
    await world.ana.slash(world.general, "memory add", text="Hates her boss")
    await world.ana.slash(world.general, "memory delete", entry="1")
    asked = await world.ana.slash(world.general, "memory clear", scope="user_persona")
    assert "Delete the words of 1 deleted entry" in words(asked)
    await world.ana.click(message_of(asked), label="Delete the words")
    assert "Deleted the words of deleted entries" in words(asked)
    again = await world.ana.slash(world.general, "memory clear", scope="user_persona")
    assert "nothing to clear" in words(again)
