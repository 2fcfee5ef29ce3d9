from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from simcord.components import walk_components

from cogs.views import pages
from cogs.views.entry_text import entry_block, entry_page
from cogs.views.listings import Loaded, ServerListing, Tab
from cogs.views.panels import Flash, MemoryPanel
from memory.types import DEFAULT_LINEAGE, Memory, Scope

from .reading import double_click, ids, labels, message_of, modal_text, raw, words
from .world import World

NOW = datetime(2026, 3, 1, tzinfo=UTC)


async def _server_entries(world: World, *texts: str) -> list[int]:
    """Entries about the server, saved by its manager; their ids."""
    scope = Scope.server(world.guild.id, DEFAULT_LINEAGE)
    made = []
    for text in texts:
        outcome = await world.engine.facts.add(
            world.person(world.mara), world.place(world.general), scope, text
        )
        assert outcome.memory is not None
        made.append(outcome.memory.id)
    return made


async def test_an_empty_server_panel_says_what_to_do(world: World) -> None:
    admin = await world.mara.slash(world.general, "memories")
    assert message_of(admin).ephemeral
    assert "Press **Add**" in words(admin)
    assert "**TestBot** · 0 of 100 unpinned · 0 of 20 pinned" in words(admin)
    assert "Add" in labels(admin)
    member = await world.ana.slash(world.general, "memories")
    assert "Manage Server" in words(member)
    assert "Add" not in labels(member)


async def test_the_open_list_is_bright_and_can_be_pressed_without_harm(world: World) -> None:
    await _server_entries(world, *[f"Fact number {n}" for n in range(7)])
    shown = await world.mara.slash(world.general, "memories")
    tabs = {c["label"]: c for c in _buttons(shown) if "(" in c["label"]}
    assert {label: (c["style"], bool(c.get("disabled"))) for label, c in tabs.items()} == {
        "TestBot (7)": (1, False),
        "All personas (0)": (2, False),
    }
    await world.mara.click(message_of(shown), label="Next")
    before = words(shown)
    pressed = await world.mara.click(message_of(shown), label="TestBot (7)")
    assert pressed.acknowledged
    assert words(shown) == before
    await world.mara.click(message_of(shown), label="All personas (0)")
    assert "**All personas** · 0 of 100 unpinned" in words(shown)
    assert [c["style"] for c in _buttons(shown) if "(" in c["label"]] == [2, 1]


def _buttons(shown: Any) -> list[dict[str, Any]]:
    return [c for c in walk_components(raw(shown)) if c.get("type") == 2]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (("One",), "1 more entry is kept for our DMs. Open this panel there to see it."),
        (("One", "Two"), "2 more entries are kept for our DMs. Open this panel there to see them."),
    ],
)
async def test_what_is_kept_for_dms_is_counted_in_a_server(
    world: World, texts: tuple[str, ...], said: str
) -> None:
    for text in texts:
        await world.ana.user.slash("memory add", text=text)
    shown = await world.ana.slash(world.general, "personal memories")
    assert said in words(shown)


async def test_five_entries_a_page_and_the_pages_turn(world: World) -> None:
    await _server_entries(world, *[f"Fact number {n}" for n in range(12)])
    shown = await world.ana.slash(world.general, "memories")
    assert "Page 1 of 3" in words(shown)
    assert words(shown).count("Fact number") == 5
    assert "Fact number 11" in words(shown)
    await world.ana.click(message_of(shown), label="Next")
    await world.ana.click(message_of(shown), label="Next")
    assert "Page 3 of 3" in words(shown)
    assert "Fact number 0" in words(shown)
    assert "Next" not in labels(shown)
    await world.ana.click(message_of(shown), label="Previous")
    assert "Page 2 of 3" in words(shown)


async def test_an_opened_entry_shows_everything_known_about_it(world: World) -> None:
    await _server_entries(world, "The inn closes at ten")
    shown = await world.ana.slash(world.general, "memories")
    await world.ana.click(message_of(shown), label="Open")
    assert "The inn closes at ten" in words(shown)
    assert f"by <@{world.mara.id}>" in words(shown)
    assert "About this server, TestBot" in words(shown)
    assert labels(shown) == ["Back", "History"]
    await world.ana.click(message_of(shown), label="History")
    assert f"saved** by <@{world.mara.id}>" in words(shown)
    await world.ana.click(message_of(shown), label="Back")
    await world.ana.click(message_of(shown), label="Back")
    assert "What I remember about this server" in words(shown)


async def test_an_admin_adds_edits_pins_and_deletes_in_the_panel_and_takes_it_back(world: World) -> None:
    """SPEC §4.3, §4.6."""
    shown = await world.mara.slash(world.general, "memories")
    box = await world.mara.click(message_of(shown), label="Add")
    await world.mara.submit_modal(box, {"text": "The inn closes at ten", "tick": True})
    assert "1 of 20 pinned" in words(shown)
    assert "Saved and pinned" in words(shown)
    await world.mara.click(message_of(shown), label="Open")
    await world.mara.click(message_of(shown), label="Unpin")
    assert "Unpinned" in words(shown)
    assert "Pin" in labels(shown)
    box = await world.mara.click(message_of(shown), label="Edit")
    assert modal_text(box) == "The inn closes at ten"
    await world.mara.submit_modal(box, {"text": "The inn closes at nine"})
    assert "closes at nine" in words(shown)
    await world.mara.click(message_of(shown), label="Delete")
    assert "Delete this entry?" in words(shown)
    await world.mara.click(message_of(shown), label="Keep it")
    await world.mara.click(message_of(shown), label="Delete")
    await world.mara.click(message_of(shown), label="Delete it")
    assert "0 of 100" in words(shown)
    await world.mara.click(message_of(shown), label="Undo")
    assert "1 of 100" in words(shown)
    assert "closes at nine" in words(shown)


async def test_a_server_write_in_the_panel_is_told_to_everybody(world: World) -> None:
    shown = await world.mara.slash(world.general, "memories")
    box = await world.mara.click(message_of(shown), label="Add")
    await world.mara.submit_modal(box, {"text": "The inn closes at ten"})
    seen = world.general.history(viewer=world.ben)
    assert len(seen) == 1
    assert "The inn closes at ten" in words(seen[0])
    assert "Undo" in labels(seen[0])


async def test_a_refused_text_is_kept_in_the_panel_until_it_is_saved_or_discarded(world: World) -> None:
    shown = await world.mara.slash(world.general, "memories")
    box = await world.mara.click(message_of(shown), label="Add")
    await world.mara.submit_modal(box, {"text": "y" * 700})
    assert "700" in words(shown)
    await world.mara.click(message_of(shown), label="Refresh")
    again = await world.mara.click(message_of(shown), label="Try again")
    assert modal_text(again) == "y" * 700
    await world.mara.click(message_of(shown), label="Discard my words")
    assert "Try again" not in labels(shown)


async def test_an_entry_that_was_deleted_meanwhile_is_said_and_the_list_drawn_again(world: World) -> None:
    (entry,) = await _server_entries(world, "The inn closes at ten")
    person, place = world.person(world.mara), world.place(world.general)
    for button in ("Open", "Pin", "Delete", "Edit", "History"):
        shown = await world.mara.slash(world.general, "memories")
        if button != "Open":
            await world.mara.click(message_of(shown), label="Open")
        gone = await world.engine.facts.delete(person, place, entry)
        assert gone.journal is not None
        await world.mara.click(message_of(shown), label=button)
        assert "deleted meanwhile" in words(shown)
        assert "0 of 100" in words(shown)
        await world.engine.facts.undo(person, place, gone.journal.id)


async def test_an_entry_that_was_changed_meanwhile_is_shown_as_it_is_and_nothing_is_done(
    world: World,
) -> None:
    (entry,) = await _server_entries(world, "The inn closes at ten")
    shown = await world.mara.slash(world.general, "memories")
    await world.mara.click(message_of(shown), label="Open")
    await world.mara.click(message_of(shown), label="Delete")
    person, place = world.person(world.mara), world.place(world.general)
    await world.engine.facts.edit(person, place, entry, "The inn closes at nine")
    await world.mara.click(message_of(shown), label="Delete it")
    assert "changed meanwhile" in words(shown)
    assert "closes at nine" in words(shown)
    assert await world.engine.facts.get(person, place, entry) is not None


async def test_a_text_for_an_entry_that_is_gone_can_become_a_new_entry(world: World) -> None:
    (entry,) = await _server_entries(world, "The inn closes at ten")
    shown = await world.mara.slash(world.general, "memories")
    await world.mara.click(message_of(shown), label="Open")
    box = await world.mara.click(message_of(shown), label="Edit")
    person, place = world.person(world.mara), world.place(world.general)
    await world.engine.facts.delete(person, place, entry)
    await world.mara.submit_modal(box, {"text": "The inn closes at nine"})
    again = await world.mara.click(message_of(shown), label="Save as a new entry")
    await world.mara.submit_modal(again, {"text": modal_text(again)})
    assert "1 of 100" in words(shown)
    assert "closes at nine" in words(shown)


async def test_rights_are_asked_for_again_at_each_press(world: World) -> None:
    """SPEC §12."""
    (entry,) = await _server_entries(world, "The inn closes at ten")
    shown = await world.mara.slash(world.general, "memories")
    await world.mara.click(message_of(shown), label="Open")
    world.env.backend.get_guild(world.guild.id).members[world.mara.id].role_ids.clear()
    await world.mara.click(message_of(shown), label="Pin")
    assert "Manage Server" in words(shown)
    found = await world.engine.facts.get(world.person(world.mara), world.place(world.general), entry)
    assert found is not None
    assert not found.pinned


async def test_a_double_click_deletes_once_and_both_presses_are_acknowledged(world: World) -> None:
    await _server_entries(world, "One", "Two")
    shown = await world.mara.slash(world.general, "memories")
    await world.mara.click(message_of(shown), custom_id=ids(shown, "Open")[0])
    await world.mara.click(message_of(shown), label="Delete")
    first, second = await double_click(world.mara, shown, "Delete it")
    assert first.acknowledged
    assert second.acknowledged
    assert "1 of 100" in words(shown)
    assert len(world.general.history(viewer=world.ben)) == 1


@pytest.mark.parametrize("label", ["Open", "Refresh", "Add"])
async def test_a_double_click_on_anything_is_acknowledged_twice(world: World, label: str) -> None:
    await _server_entries(world, "One")
    shown = await world.mara.slash(world.general, "memories")
    first, second = await double_click(world.mara, shown, label)
    assert first.acknowledged
    assert second.acknowledged


async def test_a_press_on_an_older_drawing_is_acknowledged_and_does_nothing(world: World) -> None:
    await _server_entries(world, *[f"Fact number {n}" for n in range(12)])
    shown = await world.mara.slash(world.general, "memories")
    stored = world.env.backend.get_message(world.general.id, message_of(shown).id)
    old = [dict(c) for c in stored.components]
    await world.mara.click(message_of(shown), label="Next")
    new, stored.components = stored.components, old
    late = await world.mara.click(message_of(shown), label="Next")
    assert late.acknowledged
    stored.components = new
    assert "Page 2 of 3" in words(shown)


async def test_nobody_else_can_press_a_panel(world: World) -> None:
    """SPEC §12."""
    await _server_entries(world, "The inn closes at ten")
    shown = await world.mara.slash(world.general, "memories")
    stored = world.env.backend.get_message(world.general.id, message_of(shown).id)
    stored.flags &= ~64
    refused = await world.ana.click(message_of(shown), label="Open")
    assert "belongs to who opened it" in words(refused)
    assert message_of(refused).ephemeral


async def test_a_panel_falls_asleep_and_says_how_to_open_a_new_one(world: World) -> None:
    await _server_entries(world, "The inn closes at ten")
    shown = await world.mara.slash(world.general, "memories")
    await world.env.advance_time(601)
    assert labels(shown) == []
    assert "Run `/memories`" in words(shown)
    assert "The inn closes at ten" in words(shown)


async def test_a_panel_from_before_a_restart_says_how_to_open_a_new_one(world: World) -> None:
    await _server_entries(world, "The inn closes at ten")
    shown = await world.mara.slash(world.general, "memories")
    await world.restart()
    pressed = await world.mara.click(message_of(shown), label="Open")
    assert pressed.acknowledged
    assert "Run `/memories`" in words(shown)


async def test_a_panel_whose_interaction_discord_forgot_is_no_error(world: World) -> None:
    await _server_entries(world, "The inn closes at ten")
    shown = await world.mara.slash(world.general, "memories")
    world.env.inject_error("PATCH", "/webhooks/*", status=404, code=10015, times=1)
    await world.mara.click(message_of(shown), label="Refresh")
    assert "The inn closes at ten" in words(shown)


def _worst(text: str, number: int) -> Memory:
    return Memory(
        id=10**12 + number,
        scope=Scope.server(1, DEFAULT_LINEAGE),
        text=text,
        pinned=True,
        created_at=NOW,
        updated_at=NOW,
        dm_only=True,
        keywords=("w" * 50,) * 5,
        channels=(10**18,) * 5,
        author_id=5,
    )


WORST = {
    "emoji": "🦊" * 500,
    "markup": "*" * 500,
    "lines": "*\n" * 250,
    "mentions": "<@1234567890123456789>" * 22,
    "flags": "🏴󠁧󠁢󠁥󠁮󠁧󠁿" * 71,
    "plain": "w" * 500,
}


@pytest.mark.parametrize("kind", WORST)
def test_the_fullest_panel_fits_into_one_message(kind: str) -> None:
    memories = tuple(_worst(WORST[kind], n) for n in range(100))
    panel = _bare_panel(memories)
    for page in range(0, 101, 9):
        panel._page = page
        panel._flash = Flash("🦊" * 2_000, undo=1)
        drawing = panel.drawing()
        components, shown = pages.measure(drawing)
        assert components <= pages.MAX_COMPONENTS - 1
        assert shown <= pages.MAX_UNITS - 100
        assert pages.fits(drawing)


@pytest.mark.parametrize("kind", WORST)
async def test_the_fullest_opened_entry_fits_into_one_message(kind: str) -> None:
    memory = _worst(WORST[kind], 1)
    panel = _bare_panel((memory,))
    panel._opened = memory
    panel._flash = Flash("🦊" * 2_000, undo=1)
    assert pages.units(entry_page(memory, NOW, lambda _id: "🦊" * 80, "Mira")) < 3_700
    components, shown = pages.measure(panel.drawing())
    assert components <= pages.MAX_COMPONENTS - 1
    assert shown <= pages.MAX_UNITS - 100


def test_every_entry_is_on_exactly_one_page() -> None:
    costs = [pages.units(entry_block(_worst(text, 1), NOW, lambda _id: "x" * 80)) for text in WORST.values()]
    planned = pages.plan_pages(costs * 7)
    assert [i for page in planned for i in page] == list(range(len(costs) * 7))
    assert all(len(page) <= 5 for page in planned)


def _bare_panel(memories: tuple[Memory, ...]) -> MemoryPanel:
    """A panel with those entries and no Discord around it."""

    class Clock:
        def now(self) -> datetime:
            return NOW

    class Engine:
        clock = Clock()

    engine: object = Engine()
    panel = MemoryPanel(engine, 1, ServerListing())  # type: ignore[arg-type]
    scope = memories[0].scope
    tabs = tuple(Tab("Everything of it", memories, "n" * 200, "", scope) for _ in range(4))
    tabs += tuple(Tab("🦊" * 80, memories, "n" * 200, "", scope, other=True) for _ in range(30))
    panel._loaded = Loaded(tabs, frozenset({scope}))
    panel._names = lambda _id: "🦊" * 80
    return panel
