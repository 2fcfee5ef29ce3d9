from __future__ import annotations

from .reading import labels, message_of, words
from .world import World


async def test_an_empty_personal_panel_says_what_to_do(world: World) -> None:
    shown = await world.ana.slash(world.general, "personal memories")
    assert message_of(shown).ephemeral
    assert "Press **Add**" in words(shown)
    assert "this list is shown only to you" in words(shown)


async def test_one_sees_ones_own_and_nobody_elses_memories(world: World) -> None:
    """SPEC §12."""
    await world.ana.slash(world.general, "memory add", text="I play the cello")
    mine = await world.ana.slash(world.general, "personal memories")
    assert "I play the cello" in words(mine)
    for other in (world.mara, world.ben, world.stranger):
        theirs = await other.slash(world.general, "personal memories")
        assert "cello" not in words(theirs)


async def test_both_personal_shelves_are_one_press_apart(world: World) -> None:
    await world.ana.slash(world.general, "memory add", text="Everywhere I am Ana", scope="user_global")
    shown = await world.ana.slash(world.general, "personal memories")
    assert "Everywhere I am Ana" in words(shown), "opened on the list that holds something"
    await world.ana.click(message_of(shown), label="TestBot (0)")
    assert "Everywhere I am Ana" not in words(shown)
    await world.ana.click(message_of(shown), label="All personas (1)")
    assert "Everywhere I am Ana" in words(shown)


async def test_what_was_said_in_a_dm_is_counted_but_not_listed_in_a_server(world: World) -> None:
    await world.ana.user.slash("memory add", text="My sister is Inés")
    shown = await world.ana.slash(world.general, "personal memories")
    assert "Inés" not in words(shown)
    assert "1 more entry is kept for our DMs" in words(shown)


async def test_use_everywhere_widens_an_entry_from_a_dm(world: World) -> None:
    """SPEC §4.2."""
    await world.ana.user.slash("memory add", text="My sister is Inés")
    shown = await world.ana.user.slash("personal memories")
    await world.ana.user.click(message_of(shown), label="Open")
    assert "used in our DMs only" in words(shown)
    await world.ana.user.click(message_of(shown), label="Use everywhere")
    assert "Use everywhere" not in labels(shown)
    there = await world.ana.slash(world.general, "personal memories")
    assert "My sister is Inés" in words(there)


async def test_memories_in_a_dm_opens_ones_own(world: World) -> None:
    await world.ana.user.slash("memory add", text="My sister is Inés")
    shown = await world.ana.user.slash("memories")
    assert "What I remember about you" in words(shown)
    assert "My sister is Inés" in words(shown)


async def test_a_personal_write_in_the_panel_is_told_to_nobody_else(world: World) -> None:
    shown = await world.ana.slash(world.general, "personal memories")
    box = await world.ana.click(message_of(shown), label="Add")
    await world.ana.submit_modal(box, {"text": "I play the cello"})
    assert "I play the cello" in words(shown)
    assert world.general.history(viewer=world.mara) == []
    await world.engine.reconnected()
    await world.engine.idle()
    assert world.general.history(viewer=world.mara) == []


async def _shared_from_a_dm(world: World) -> str:
    await world.ana.user.slash("memory add", text="My sister is Inés")
    shown = await world.ana.user.slash("personal memories")
    await world.ana.user.click(message_of(shown), label="Open")
    await world.ana.user.click(message_of(shown), label="Use everywhere")
    (choice,) = await world.ana.autocomplete(world.general, "memory history", "entry", "sister")
    return str(choice["value"])


async def test_a_history_in_a_server_says_that_what_happened_in_dms_is_left_out(world: World) -> None:
    entry = await _shared_from_a_dm(world)
    here = words(await world.ana.slash(world.general, "memory history", entry=entry))
    assert "in our direct messages is left out" in here
    there = words(await world.ana.user.slash("memory history", entry=entry))
    assert "left out" not in there
    assert there.count("saved") > here.count("saved")


async def test_a_panels_history_in_a_server_says_so_too(world: World) -> None:
    await _shared_from_a_dm(world)
    shown = await world.ana.slash(world.general, "personal memories")
    await world.ana.click(message_of(shown), label="Open")
    await world.ana.click(message_of(shown), label="History")
    assert "in our direct messages is left out" in words(shown)


async def test_a_history_that_is_whole_says_nothing_of_dms(world: World) -> None:
    await world.ana.slash(world.general, "memory add", text="I play the cello")
    (choice,) = await world.ana.autocomplete(world.general, "memory history", "entry", "cello")
    entry = choice["value"]
    box = await world.ana.slash(world.general, "memory edit", entry=entry)
    await world.ana.submit_modal(box, {"text": "I play the viola"})
    await world.ana.slash(world.general, "pins add", entry=entry)
    await world.ana.slash(world.general, "memory undo")
    await world.ana.slash(world.general, "memory delete", entry=entry)
    await world.ana.slash(world.general, "memory undo")
    shown = words(await world.ana.slash(world.general, "memory history", entry=f"m{entry}"))
    assert "undid a change" in shown
    assert "direct messages" not in shown


async def test_no_command_promises_that_what_is_remembered_is_seen_by_oneself_alone(world: World) -> None:
    for name in ("personal", "memory", "memories", "help"):
        command = world.env.backend.find_command(name, world.guild.id, type=1)
        said = str(command).casefold()
        assert command is not None
        assert not any(w in said for w in ("your eyes only", "only you can see", "nobody else", "you alone"))
