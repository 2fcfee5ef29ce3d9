"""Clearing and files, as member, admin and stranger (SPEC §4.3, §4.6, §12)."""

from __future__ import annotations

import pytest

from memory.types import GLOBAL

from .reading import BAD_TEXTS, double_click, ids, labels, message_of, press_another, words
from .spec_hands import a_file, add, answer, kept, mine, shared
from .world import World

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
