from __future__ import annotations

from memory.types import DEFAULT_LINEAGE, Scope

from .reading import message_of, words
from .world import World


async def _entry(world: World, text: str, pinned: bool = False) -> str:
    await world.ana.slash(world.general, "memory add", text=text, pinned=pinned)
    (found,) = await world.ana.autocomplete(world.general, "memory history", "entry", text)
    return str(found["value"])


async def test_pins_are_added_listed_and_removed(world: World) -> None:
    """SPEC §4.6."""
    entry = await _entry(world, "I play the cello")
    empty = await world.ana.slash(world.general, "pins list")
    assert "Nothing is pinned" in words(empty)
    shown = await world.ana.slash(world.general, "pins add", entry=entry)
    assert message_of(shown).ephemeral
    assert "Pinned" in words(shown)
    listed = await world.ana.slash(world.general, "pins list")
    await world.ana.click(message_of(listed), label="You, TestBot (1)")
    assert "I play the cello" in words(listed)
    await world.ana.slash(world.general, "pins remove", entry=entry)
    await world.ana.click(message_of(listed), label="Refresh")
    assert "I play the cello" not in words(listed)


async def test_only_what_can_be_pinned_is_offered(world: World) -> None:
    await _entry(world, "I play the cello", pinned=True)
    await _entry(world, "I like tea")
    add = await world.ana.autocomplete(world.general, "pins add", "entry", "")
    remove = await world.ana.autocomplete(world.general, "pins remove", "entry", "")
    assert [c["name"].split(" ·")[0] for c in add] == ["I like tea"]
    assert [c["name"].split(" ·")[0] for c in remove] == ["📌 I play the cello"]


async def test_pinning_twice_is_harmless_and_said_plainly(world: World) -> None:
    entry = await _entry(world, "I play the cello", pinned=True)
    shown = await world.ana.slash(world.general, "pins add", entry=entry)
    assert "already pinned" in words(shown)


async def test_a_full_shelf_of_pins_refuses_with_the_counts(world: World) -> None:
    """SPEC §4.1."""
    scope = Scope.user(world.ana.id, DEFAULT_LINEAGE)
    person, place = world.person(world.ana), world.place(world.general)
    for n in range(20):
        await world.engine.facts.add(person, place, scope, f"Pinned fact {n}", pinned=True)
    entry = await _entry(world, "One more")
    shown = await world.ana.slash(world.general, "pins add", entry=entry)
    assert "20" in words(shown)
    assert "Unpin" in words(shown)


async def test_a_member_cannot_pin_what_is_about_the_server(world: World) -> None:
    """SPEC §12."""
    await world.mara.slash(world.general, "memory add", text="Closes at ten", scope="server_persona")
    (found,) = await world.ana.autocomplete(world.general, "memory history", "entry", "")
    shown = await world.ana.slash(world.general, "pins add", entry=found["value"])
    assert "Manage Server" in words(shown)
