"""Making, changing, using and deleting personas, on each database (SPEC §11, §12, §4.6)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from memory.config.rules import Level
from memory.engine import Engine
from memory.personas import pictures
from memory.personas.rules import Card, PersonaRefused
from memory.types import (
    DEFAULT_LINEAGE,
    GLOBAL,
    Hook,
    Memory,
    Op,
    Person,
    Persona,
    Place,
    ProposalState,
    Scope,
)
from tests.fakes import GENERAL, GUILD, FakeClock, FakeSurface, calls, says

from .samples import ARIA, picture

MARA = Person(1, "Mara", manages=True)
ANA = Person(2, "Ana")
OTHER = Place(81, GUILD + 1, name="elsewhere")
THREAD = Place(711, GUILD, parent_id=GENERAL.channel_id, name="thread")
DM = Place(91, None)


def draft(name: str = "Aria", **more: Any) -> Persona:
    return replace(ARIA, id=0, guild_id=None, lineage="", name=name, **more)


async def made(engine: Engine, name: str = "Aria", place: Place = GENERAL, **more: Any) -> Persona:
    return await engine.editing.create(MARA, place, draft(name, **more))


async def refused(asked: Any) -> str:
    with pytest.raises(PersonaRefused) as caught:
        await asked
    return str(caught.value)


async def entries(engine: Engine, *scopes: Scope) -> list[Memory]:
    async with engine._rooms.store.read() as tx:
        return await tx.memories.of_scopes(scopes, dm=True)


async def remember(
    engine: Engine, scope: Scope, text: str, clock: FakeClock, *, pinned: bool = False
) -> Memory:
    async with engine._rooms.store.write() as tx:
        return await tx.memories.add(
            scope, text, text.lower(), pinned, False, (), (), None, None, clock.now(), ()
        )


# --- Making and changing ----------------------------------------------------------------------------------


async def test_a_persona_is_kept_whole_with_a_lineage_of_its_own(engine: Engine) -> None:
    one, two = await made(engine), await made(engine, "Bob")
    assert replace(one, id=5, lineage=ARIA.lineage) == ARIA
    assert len(one.lineage) == 32 and one.lineage != two.lineage
    assert await engine.personas.of_guild(GUILD) == (one, two)


@pytest.mark.parametrize("person", [ANA, Person(3, "Stranger")])
async def test_only_manage_server_makes_and_changes(engine: Engine, person: Person) -> None:
    aria = await made(engine)
    for asked in (
        engine.editing.create(person, GENERAL, draft("Bob")),
        engine.editing.change(person, GENERAL, aria, {"description": "x"}),
        engine.editing.use(person, GENERAL, aria.id, Level.CHANNEL),
        engine.editing.dismiss(person, GENERAL, aria.id),
        engine.leaving(person, GENERAL, aria.id),
        engine.delete_persona(person, GENERAL, aria.id, False),
    ):
        assert "needs the Manage Server permission. Nothing was changed" in await refused(asked)
    assert await engine.personas.of_guild(GUILD) == (aria,)


async def test_another_servers_manager_reaches_nothing(engine: Engine) -> None:
    aria = await made(engine)
    for asked in (
        engine.editing.change(MARA, OTHER, aria, {"description": "x"}),
        engine.editing.use(MARA, OTHER, aria.id, Level.CHANNEL),
        engine.delete_persona(MARA, OTHER, aria.id, True),
    ):
        assert "no such persona here" in await refused(asked)
    assert await engine.editing.find(MARA, OTHER, aria.id) is None


async def test_the_twenty_first_is_refused_and_the_built_in_one_does_not_count(engine: Engine) -> None:
    built_in = await engine.personas.built_in(GUILD)
    await engine.editing.change(MARA, GENERAL, built_in, {"description": "An innkeeper."})
    for number in range(20):
        await made(engine, f"P{number}", triggers=())
    assert "20 personas, as many as it can have" in await refused(made(engine, "One more"))
    await made(engine, "One more", OTHER)


async def test_of_two_that_race_for_the_last_place_one_gets_it(engine: Engine) -> None:
    for number in range(19):
        await made(engine, f"P{number}", triggers=())
    await asyncio.gather(*(engine.editing.in_use(GENERAL) for _ in range(8)))  # every connection stands
    results = await asyncio.gather(
        *(made(engine, f"Racer {number}", triggers=()) for number in range(8)), return_exceptions=True
    )
    assert sorted(type(result).__name__ for result in results) == ["Persona"] + ["PersonaRefused"] * 7
    assert len(await engine.personas.of_guild(GUILD)) == 20


async def test_of_two_that_race_for_a_name_one_gets_it(engine: Engine) -> None:
    results = await asyncio.gather(*(made(engine, name) for name in ("Fox", " FOX")), return_exceptions=True)
    (failed,) = [result for result in results if isinstance(result, PersonaRefused)]
    assert "here already" in str(failed)


async def test_a_taken_name_is_refused_when_renaming_too(engine: Engine) -> None:
    aria, _ = await made(engine), await made(engine, "Bob")
    assert "here already" in await refused(engine.editing.change(MARA, GENERAL, aria, {"name": "bob"}))
    kept = await engine.editing.change(MARA, GENERAL, aria, {"name": "ARIA"})
    assert kept.name == "ARIA"


async def test_two_who_edit_different_things_both_keep_theirs(engine: Engine) -> None:
    aria = await made(engine)
    await engine.editing.change(MARA, GENERAL, aria, {"description": "One."})
    await engine.editing.change(MARA, GENERAL, aria, {"prompt": "Two."})
    (now,) = await engine.personas.of_guild(GUILD)
    assert (now.description, now.prompt) == ("One.", "Two.")


async def test_who_edits_what_somebody_else_changed_meanwhile_overwrites_nothing(engine: Engine) -> None:
    aria = await made(engine)
    await engine.editing.change(MARA, GENERAL, aria, {"description": "One."})
    late = engine.editing.change(MARA, GENERAL, aria, {"description": "Two."})
    assert "Somebody else changed the same thing" in await refused(late)
    assert (await engine.personas.of_guild(GUILD))[0].description == "One."


async def test_a_persona_deleted_meanwhile_is_not_changed(engine: Engine) -> None:
    aria = await made(engine)
    await engine.delete_persona(MARA, GENERAL, aria.id, False)
    late = engine.editing.change(MARA, GENERAL, aria, {"description": "x"})
    assert "no such persona" in await refused(late)


async def test_the_built_in_persona_keeps_its_name_and_can_not_go(engine: Engine) -> None:
    plain = await engine.personas.built_in(GUILD)
    kept = await engine.editing.change(MARA, GENERAL, plain, {"description": "x", "learns": False})
    assert kept.built_in and kept.name == "" and not kept.learns
    again = await engine.editing.change(MARA, GENERAL, kept, {"prompt": "y"})
    assert (again.description, again.prompt, again.id) == ("x", "y", kept.id)
    assert await engine.personas.built_in(GUILD + 1) == Persona(0, GUILD + 1, DEFAULT_LINEAGE, "")
    png = pictures.avatar(picture())
    for asked in (
        engine.editing.change(MARA, GENERAL, again, {"name": "Z"}),
        engine.editing.change(MARA, GENERAL, again, {}, png),
        engine.delete_persona(MARA, GENERAL, kept.id, False),
        engine.editing.card(kept, png=True),
    ):
        assert await refused(asked)


async def test_a_picture_that_nobody_has_any_more_is_not_kept(engine: Engine) -> None:
    red, blue = pictures.avatar(picture()), pictures.avatar(picture(colour=(0, 0, 200)))
    aria = await engine.editing.create(MARA, GENERAL, draft(), red)
    twin = await engine.editing.create(MARA, GENERAL, draft("Twin"), red)
    changed = await engine.editing.change(MARA, GENERAL, aria, {}, blue)
    assert await engine.personas.picture(twin.picture) == red
    await engine.editing.change(MARA, GENERAL, twin, {"picture": ""})
    assert await engine.personas.picture(twin.picture) is None
    await engine.delete_persona(MARA, GENERAL, aria.id, False)
    assert await engine.personas.picture(changed.picture) is None


# --- Who is in use ----------------------------------------------------------------------------------------


async def in_use(engine: Engine, place: Place) -> int:
    return await engine.config.persona_id(place)


async def test_the_channels_choice_comes_before_the_servers(engine: Engine) -> None:
    aria, bob = await made(engine), await made(engine, "Bob")
    assert await in_use(engine, GENERAL) == 0
    await engine.editing.use(MARA, GENERAL, aria.id, Level.SERVER)
    assert await in_use(engine, GENERAL) == await in_use(engine, THREAD) == aria.id
    await engine.editing.use(MARA, GENERAL, bob.id, Level.CHANNEL)
    assert await in_use(engine, GENERAL) == await in_use(engine, THREAD) == bob.id
    await engine.editing.use(MARA, THREAD, 0, Level.CHANNEL)
    assert (await in_use(engine, THREAD), await in_use(engine, GENERAL)) == (0, bob.id)
    assert await engine.editing.cast(GENERAL) == [bob.lineage]


async def test_who_is_dismissed_takes_no_part_and_answers_no_more(engine: Engine) -> None:
    aria = await made(engine)
    await engine.editing.use(MARA, GENERAL, aria.id, Level.SERVER)
    await engine.editing.use(MARA, GENERAL, aria.id, Level.CHANNEL)
    await engine.editing.dismiss(MARA, GENERAL, aria.id)
    assert await in_use(engine, GENERAL) == 0
    assert await engine.editing.cast(GENERAL) == []
    assert await in_use(engine, Place(72, GUILD)) == aria.id
    assert "takes no part" in await refused(engine.editing.dismiss(MARA, GENERAL, aria.id))


async def test_in_a_direct_message_its_member_chooses_among_their_servers(
    engine: Engine, surface: FakeSurface
) -> None:
    aria = await made(engine)
    await made(engine, "Far", OTHER)
    surface.strangers.add((GUILD + 1, ANA.id))
    offered = await engine.editing.choices(ANA, DM, [GUILD, GUILD + 1, GUILD + 2])
    assert [each.name for each in offered] == ["", "Aria"]
    await engine.editing.use(ANA, DM, aria.id, Level.CHANNEL)
    assert await in_use(engine, DM) == aria.id
    await engine.editing.dismiss(ANA, DM, aria.id)
    assert await in_use(engine, DM) == 0


async def test_who_left_the_server_can_not_choose_its_persona(engine: Engine, surface: FakeSurface) -> None:
    aria = await made(engine)
    assert len(await engine.editing.choices(ANA, DM, [GUILD])) == 2
    surface.strangers.add((GUILD, ANA.id))
    assert "no such persona" in await refused(engine.editing.use(ANA, DM, aria.id, Level.CHANNEL))
    assert await engine.editing.find(ANA, DM, aria.id) is None


async def test_a_direct_message_has_no_server_to_set(engine: Engine) -> None:
    aria = await made(engine)
    assert "no server" in await refused(engine.editing.use(ANA, DM, aria.id, Level.SERVER))
    assert "in a server" in await refused(engine.editing.create(MARA, DM, draft("Bob")))


# --- Deleting ---------------------------------------------------------------------------------------------


async def test_a_deleted_personas_memories_become_everybodys(
    engine: Engine, clock: FakeClock, surface: FakeSurface
) -> None:
    aria = await made(engine)
    server, personal = Scope.server(GUILD, aria.lineage), Scope.user(ANA.id, aria.lineage)
    await remember(engine, server, "The inn closes at ten", clock, pinned=True)
    await remember(engine, personal, "Ana sings", clock)
    await engine.personas.keep_hook(Hook(55, GENERAL.channel_id, GUILD, aria.lineage, "secret"))
    persona, left = await engine.leaving(MARA, GENERAL, aria.id)
    assert (persona, left.server, left.personal) == (aria, 1, 1)
    await engine.editing.use(MARA, GENERAL, aria.id, Level.CHANNEL)
    await engine.delete_persona(MARA, GENERAL, aria.id, False)
    kept = await entries(engine, Scope.server(GUILD, GLOBAL), Scope.user(ANA.id, GLOBAL))
    assert {(m.text, m.pinned) for m in kept} == {("The inn closes at ten", True), ("Ana sings", False)}
    assert await entries(engine, server, personal) == []
    assert await engine.personas.of_guild(GUILD) == ()
    assert [hook.id for hook in surface.retired] == [55]
    assert await engine.personas.hook(GENERAL.channel_id, aria.lineage) is None
    assert (await engine.personas.get(GENERAL, await in_use(engine, GENERAL))).built_in


async def test_the_servers_memories_go_with_it_on_request_and_members_stay(
    engine: Engine, clock: FakeClock
) -> None:
    aria = await made(engine)
    await remember(engine, Scope.server(GUILD, aria.lineage), "The inn closes at ten", clock)
    await remember(engine, Scope.user(ANA.id, aria.lineage), "Ana sings", clock)
    left = await engine.delete_persona(MARA, GENERAL, aria.id, True, counted=1)
    assert left.deleted == 1
    assert await entries(engine, Scope.server(GUILD, GLOBAL)) == []
    assert [m.text for m in await entries(engine, Scope.user(ANA.id, GLOBAL))] == ["Ana sings"]


async def test_memories_that_nobody_was_told_of_are_not_deleted(engine: Engine, clock: FakeClock) -> None:
    aria = await made(engine)
    scope = Scope.server(GUILD, aria.lineage)
    await remember(engine, scope, "The inn closes at ten", clock)
    await remember(engine, scope, "The cat is called Rum", clock)
    late = engine.delete_persona(MARA, GENERAL, aria.id, True, counted=1)
    assert "changed meanwhile. Nothing was deleted" in await refused(late)
    assert len(await entries(engine, scope)) == 2
    assert await engine.personas.of_guild(GUILD) == (aria,)


async def test_members_memories_stay_with_a_character_that_lives_elsewhere(
    engine: Engine, clock: FakeClock
) -> None:
    aria = await made(engine)
    await engine.editing.create(MARA, OTHER, replace(draft(), lineage=aria.lineage))
    personal = Scope.user(ANA.id, aria.lineage)
    await remember(engine, personal, "Ana sings", clock)
    await engine.delete_persona(MARA, GENERAL, aria.id, False)
    assert [m.text for m in await entries(engine, personal)] == ["Ana sings"]


async def test_a_server_that_the_bot_has_left_keeps_no_memories_of_a_deleted_persona(
    engine: Engine, clock: FakeClock, surface: FakeSurface
) -> None:
    aria = await made(engine)
    await engine.editing.create(MARA, OTHER, replace(draft(), lineage=aria.lineage))
    await remember(engine, Scope.user(ANA.id, aria.lineage), "Ana sings", clock)
    surface.left_servers.add(OTHER.guild_id or 0)
    assert (await engine.leaving(MARA, GENERAL, aria.id))[1].personal == 1
    await engine.delete_persona(MARA, GENERAL, aria.id, False)
    assert [m.text for m in await entries(engine, Scope.user(ANA.id, GLOBAL))] == ["Ana sings"]


async def test_a_deleted_personas_waiting_suggestions_are_drawn_again(
    engine: Engine, clock: FakeClock, surface: FakeSurface
) -> None:
    aria = await made(engine)
    async with engine._rooms.store.write() as tx:
        asked = await tx.proposals.add(Scope.server(GUILD, aria.lineage), Op.ADD, "Tea at five", clock.now())
        told = await tx.notices.add(GENERAL.channel_id, GUILD, None, None, asked.id, clock.now())
        await tx.notices.posted(told.id, 4321)
    await engine.delete_persona(MARA, GENERAL, aria.id, False)
    await engine.idle()
    (drawn,) = surface.redrawn
    assert drawn.notice.message_id == 4321 and drawn.persona_name == "a persona that was deleted"
    assert drawn.proposal is not None and drawn.proposal.state is ProposalState.DISCARDED


async def test_deleting_twice_deletes_once(engine: Engine) -> None:
    aria = await made(engine)
    results = await asyncio.gather(
        *(engine.delete_persona(MARA, GENERAL, aria.id, False) for _ in range(2)), return_exceptions=True
    )
    assert sorted(type(result).__name__ for result in results) == ["Left", "PersonaRefused"]


# --- Cards ------------------------------------------------------------------------------------------------


async def test_an_imported_character_keeps_its_lineage_in_another_server(engine: Engine) -> None:
    aria = await engine.editing.create(MARA, GENERAL, draft(), pictures.avatar(picture()))
    card = await engine.editing.read_card(await engine.editing.card(aria, png=True))
    twin = await engine.editing.import_card(MARA, OTHER, card)
    assert replace(twin, id=aria.id, guild_id=GUILD) == aria


async def test_a_copy_is_another_character_with_a_free_name(engine: Engine) -> None:
    aria = await made(engine)
    card = Card(replace(aria, id=0))
    copy = await engine.editing.import_card(MARA, GENERAL, card, copy=True)
    assert copy.name == "Aria 2" and copy.lineage != aria.lineage
    assert aria.triggers and copy.triggers == ()
    assert "here already" in await refused(
        engine.editing.import_card(MARA, GENERAL, card, "aria 2", copy=True)
    )


async def test_an_update_takes_what_the_card_holds_and_leaves_the_rest(engine: Engine) -> None:
    aria = await made(engine)
    card = Card(replace(draft("Aria of the Inn"), description="New.", triggers=(), samples=()))
    kept = await engine.editing.update_from(MARA, GENERAL, aria, card)
    assert (kept.name, kept.description, kept.samples) == ("Aria of the Inn", "New.", ())
    assert (kept.triggers, kept.attributes, kept.learns) == (aria.triggers, aria.attributes, aria.learns)
    assert kept.lineage == aria.lineage


# --- Learn from chat (SPEC §4.8) --------------------------------------------------------------------------


async def test_a_persona_that_does_not_learn_is_given_no_memory_and_no_tool(
    engine: Engine, surface: FakeSurface, clock: FakeClock
) -> None:
    aria = await made(engine, learns=False)
    await remember(engine, Scope.user(ANA.id, aria.lineage), "Ana sings", clock)
    model: Any = engine.model
    model.steps = [calls(("save_memory", {"content": "Ana dances", "about": "user"})), says("Hello.")]
    await engine.observe(surface.say(ANA, "Aria, hello"), trigger=True, persona_id=aria.id)
    await engine.idle()
    assert "Ana sings" not in model.prompt(0)
    assert model.requests[0].tools == ()
    assert len(await entries(engine, Scope.user(ANA.id, aria.lineage))) == 1
    now = await engine.editing.change(MARA, GENERAL, aria, {"learns": True})
    await engine.observe(surface.say(ANA, "Aria, hello"), trigger=True, persona_id=now.id)
    await engine.idle()
    assert "Ana sings" in model.prompt()
