"""Wherever an entry stands, what limits it stands with it: keywords, channels, and whose it is."""

from __future__ import annotations

from .reading import message_of, words
from .spec_hands import cards, mine, put, save, shared, tell
from .world import World


async def test_a_card_shows_with_which_words_the_entry_is_used(world: World) -> None:
    """SPEC §4.5: what was saved, all of it."""
    await tell(world, save("Ana keeps **bees**", keywords=["honey", "*hive*"]))
    card = words(cards(world)[-1])
    assert "honey" in card and r"\*hive\*" in card


async def test_a_list_shows_which_entries_are_only_used_sometimes(world: World) -> None:
    await put(world, mine(world), "Keeps bees", keywords=("honey",))
    await put(world, mine(world), "Owns a boat", channels=(world.general.id, world.tavern.id))
    await put(world, mine(world), "Is always there")
    lines = words(await world.ana.slash(world.general, "personal memories")).splitlines()
    found = enumerate(lines)
    below = {name: lines[at + 1] for at, line in found for name in ("bees", "boat") if name in line}
    assert "only with honey" in below["bees"] and "only in 2 channels" in below["boat"]
    (plain,) = (lines[at + 1] for at, line in enumerate(lines) if "Is always there" in line)
    assert "only" not in plain


async def test_what_a_search_finds_says_whose_it_is(world: World) -> None:
    await put(world, mine(world), "My boat is blue")
    await put(world, shared(world), "The boat of the inn is red")
    shown = await world.ana.slash(world.general, "memory search", query="boat")
    lines = words(message_of(shown)).splitlines()
    (own,) = (lines[at + 1] for at, line in enumerate(lines) if "blue" in line)
    (server,) = (lines[at + 1] for at, line in enumerate(lines) if "red" in line)
    assert "about you" in own and "about this server" in server


async def test_the_history_leads_to_the_message_that_a_write_came_from(world: World) -> None:
    """SPEC §4.6: who, before, after, source."""
    await tell(world, save("Ana keeps bees"), text="I keep bees")
    said = next(m for m in world.general.history() if "I keep bees" in m.content)
    await world.ana.slash(world.general, "memory edit", entry="m1")
    shown = words(await world.ana.slash(world.general, "memory history", entry="m1"))
    assert f"[source](https://discord.com/channels/{world.guild.id}/{world.general.id}/{said.id})" in shown
