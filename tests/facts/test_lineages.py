"""Whose memories a person meets where: of the persona in use first, then every other that concerns them."""

from __future__ import annotations

from memory.facts.service import Facts
from memory.store import Store
from memory.types import Scope
from tests.facts.world import (
    ADMIN,
    ANA,
    ANAS,
    ANAS_DM,
    ANAS_GLOBAL,
    BEN,
    GUILD,
    OTHER_GUILD,
    SERVER,
    SERVER_GLOBAL,
    SQUARE,
    character,
    in_use,
    saved,
    texts,
)


async def test_without_characters_the_four_scopes_are_as_ever(facts: Facts) -> None:
    shelves = await facts.shelves(ANA, SQUARE)
    assert [each.scope for each in shelves] == [SERVER, SERVER_GLOBAL, ANAS, ANAS_GLOBAL]


async def test_who_is_in_use_comes_first_and_the_others_by_name(facts: Facts, store: Store) -> None:
    mira, otto = await character(store), await character(store, "otto")
    await in_use(store, mira)
    shelves = await facts.shelves(ANA, SQUARE)
    assert [(each.scope, each.persona) for each in shelves] == [
        (Scope.server(GUILD, "mira"), "Mira"),
        (SERVER_GLOBAL, "all personas"),
        (Scope.user(ANA.id, "mira"), "Mira"),
        (ANAS_GLOBAL, "all personas"),
        (Scope.server(GUILD, otto.lineage), "Otto"),
        (SERVER, "the built-in persona"),
    ]


async def test_ones_own_entries_with_any_character_are_shown_to_oneself_alone(
    facts: Facts, store: Store
) -> None:
    await character(store, "otto")
    await character(store, "vera", guild_id=OTHER_GUILD)
    await saved(facts, "Likes tea", Scope.user(ANA.id, "otto"))
    await saved(facts, "Likes rain", Scope.user(ANA.id, "vera"))
    for place in (SQUARE, ANAS_DM):
        found = {m.text: shelf.persona for shelf in await facts.shelves(ANA, place) for m in shelf.memories}
        here = "Otto" if place is SQUARE else "a character of another server (1)"
        there = "a character of another server" + ("" if place is SQUARE else " (2)")
        assert found == {"Likes tea": here, "Likes rain": there}
    assert set(texts(await facts.find(ANA, SQUARE, "likes"))) == {"Likes tea", "Likes rain"}
    for other in (BEN, ADMIN):
        assert not [m for shelf in await facts.shelves(other, SQUARE) for m in shelf.memories]
        assert await facts.find(other, SQUARE, "likes") == []


async def test_a_persona_in_use_that_was_deleted_leaves_the_built_in_one(facts: Facts, store: Store) -> None:
    mira = await character(store)
    await in_use(store, mira)
    async with store.write() as tx:
        await tx.personas.remove(mira)
    assert (await facts.shelves(ANA, SQUARE))[0].scope == SERVER


async def test_another_servers_personas_show_nowhere_else(facts: Facts, store: Store) -> None:
    await character(store, "vera", guild_id=OTHER_GUILD)
    assert len(await facts.shelves(ADMIN, SQUARE)) == 4


async def test_a_confirmation_names_the_persona_that_it_is_for(facts: Facts, store: Store) -> None:
    await character(store)
    for lineage, called in (("mira", "Mira"), ("keepsake", "Keepsake")):
        added = await facts.add(ADMIN, SQUARE, Scope.server(GUILD, lineage), "Closes at ten")
        assert added.notice is not None
        view = await facts.notice_view(added.notice.id, persona_name="Keepsake", server_name="S")
        assert view is not None and view.persona_name == called


async def test_in_a_dm_a_confirmation_names_the_character_that_is_in_use_there(
    facts: Facts, store: Store
) -> None:
    mira = await character(store)
    await in_use(store, mira, ANAS_DM)
    added = await facts.add(ANA, ANAS_DM, Scope.user(ANA.id, "mira"), "Likes rain")
    assert added.notice is not None and added.persona == "Mira"
    view = await facts.notice_view(added.notice.id, persona_name="Keepsake", server_name="S")
    assert view is not None and view.persona_name == "Mira"


async def test_ones_own_undo_reaches_what_was_said_to_other_characters(facts: Facts, store: Store) -> None:
    await character(store, "otto")
    await saved(facts, "Likes tea", Scope.user(ANA.id, "otto"))
    assert (await facts.undo(ANA, SQUARE, None)).wrote
