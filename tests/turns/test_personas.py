"""A turn belongs to one persona: its words, its memories, its name; others are heard and not spoken for."""

from __future__ import annotations

import asyncio

import pytest

from memory.config.rules import Level
from memory.engine import Engine
from memory.errors import ModelUnavailable
from memory.llm.port import Role
from memory.personas.rules import name_key
from memory.personas.service import ASKED_FOR
from memory.ports import DeliveryError
from memory.types import DEFAULT_LINEAGE, GLOBAL, AuthorKind, Person, Persona, Place, Scope, TurnState
from tests.fakes import GENERAL, GUILD, FakeSurface, ScriptedModel, calls, says
from tests.turns.conftest import Start

ANA, BEN, MARA = Person(501, "Ana"), Person(502, "Ben"), Person(503, "Mara", manages=True)
DM = Place(4_001, None)


async def cast(engine: Engine, name: str, **more: object) -> Persona:
    new = Persona(0, GUILD, f"line-{name_key(name)}", name, **more)  # type: ignore[arg-type]
    async with engine._rooms.store.write() as tx:
        made = await tx.personas.add(new, name_key(name), MARA.id, engine.clock.now())
    assert made is not None
    engine.personas.forget(GUILD)
    return made


async def remove(engine: Engine, persona: Persona) -> None:
    async with engine._rooms.store.write() as tx:
        assert await tx.personas.remove(persona)
    engine.personas.forget(GUILD)


async def keep(engine: Engine, scope: Scope, text: str) -> None:
    """Save an entry as it stands after somebody added it."""
    async with engine._rooms.store.write() as tx:
        now = engine.clock.now()
        await tx.memories.add(scope, text, text.casefold(), False, False, (), (), None, None, now, ())


async def say(
    engine: Engine, surface: FakeSurface, text: str, persona: Persona | None = None, place: Place = GENERAL
) -> None:
    """Ana calls a persona, and it answers."""
    called = persona.id if persona is not None else 0
    await engine.observe(surface.say(ANA, text, place), trigger=True, persona_id=called)
    await engine.idle()


def spoken(surface: FakeSurface, place: Place = GENERAL) -> list[tuple[str, str]]:
    """Who said what, people left out."""
    return [
        (m.author.name, m.text)
        for m in surface.messages.values()
        if m.place == place and m.kind is AuthorKind.PERSONA and not m.notice
    ]


async def test_a_persona_answers_in_its_own_name_and_character(start: Start, surface: FakeSurface) -> None:
    engine = await start(model := ScriptedModel(says("The tide is in.")))
    sable = await cast(engine, "Sable", description="A sea witch.", prompt="Speak of the sea to {user}.")
    await say(engine, surface, "how are you?", sable)
    assert spoken(surface) == [("Sable", "The tide is in.")]
    assert "A sea witch." in model.prompt() and "Speak of the sea to Ana." in model.prompt()
    async with engine._rooms.store.read() as tx:
        turn = await tx.turns.latest(GENERAL.channel_id)
        assert await tx.personas.cast(GENERAL.channel_id) == [sable.lineage]
        kept = await tx.messages.window(GENERAL.channel_id, 0, 0)
    assert turn is not None
    assert (turn.persona_id, turn.lineage, turn.state) == (sable.id, sable.lineage, TurnState.DELIVERED)
    assert [(m.author_name, m.lineage) for m in kept][-1] == ("Sable", sable.lineage)


async def test_a_persona_hears_the_others_and_speaks_for_none_of_them(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(model := ScriptedModel(says("The tide is in."), says("Check."), says("Hm.")))
    sable, rook = await cast(engine, "Sable"), await cast(engine, "Rook")
    await say(engine, surface, "sable?", sable)
    await say(engine, surface, "rook?", rook)
    await say(engine, surface, "sable?", sable)
    shown = {m.text.split("] ")[-1]: m.role for m in model.requests[-1].messages}
    assert shown["The tide is in."] is Role.ASSISTANT
    assert shown["Rook: Check."] is Role.USER


async def test_what_a_persona_saves_is_its_own_and_the_other_never_reads_it(
    start: Start, surface: FakeSurface
) -> None:
    save = calls(("save_memory", {"content": "is allergic to peanuts", "about": "user"}))
    engine = await start(model := ScriptedModel(save, says("Noted.")))
    sable, rook = await cast(engine, "Sable"), await cast(engine, "Rook")
    await say(engine, surface, "remember that I am allergic to peanuts", sable)
    async with engine._rooms.store.read() as tx:
        (kept,) = await tx.memories.of_scopes([Scope.user(ANA.id, sable.lineage)], dm=False)
    assert kept.text == "is allergic to peanuts"
    await say(engine, surface, "rook?", rook)
    assert "m1 is allergic" not in model.prompt()
    await say(engine, surface, "you?")
    assert "m1 is allergic" not in model.prompt()
    await say(engine, surface, "sable?", sable)
    assert "m1 is allergic to peanuts" in model.prompt()


async def test_in_union_a_persona_reads_the_server_memories_of_the_cast_and_nobodys_personal_ones(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(model := ScriptedModel())
    sable, rook = await cast(engine, "Sable"), await cast(engine, "Rook")
    await keep(engine, Scope.server(GUILD, sable.lineage), "the well is dry")
    await keep(engine, Scope.server(GUILD, GLOBAL), "the inn closes at ten")
    await keep(engine, Scope.user(ANA.id, sable.lineage), "fears spiders")
    await say(engine, surface, "sable?", sable)
    await say(engine, surface, "rook?", rook)
    assert "the well is dry" not in model.prompt()
    await engine.config.set(MARA, GENERAL, "persona_memories", "union")
    await say(engine, surface, "rook?", rook)
    assert "the well is dry" in model.prompt() and "the inn closes at ten" in model.prompt()
    assert "spiders" not in model.prompt()


async def test_in_union_nobody_reads_for_a_persona_that_does_not_learn(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(model := ScriptedModel())
    sable, rook = await cast(engine, "Sable", learns=False), await cast(engine, "Rook")
    await keep(engine, Scope.server(GUILD, sable.lineage), "the well is dry")
    await engine.config.set(MARA, GENERAL, "persona_memories", "union")
    await say(engine, surface, "sable?", sable)
    await say(engine, surface, "rook?", rook)
    assert "the well is dry" not in model.prompt()


async def test_with_learning_off_nothing_is_read_or_offered(start: Start, surface: FakeSurface) -> None:
    engine = await start(model := ScriptedModel())
    sable = await cast(engine, "Sable", learns=False)
    await keep(engine, Scope.user(ANA.id, sable.lineage), "fears spiders")
    await say(engine, surface, "sable?", sable)
    assert "spiders" not in model.prompt()
    assert model.requests[-1].tools == ()


async def test_calls_of_two_personas_are_two_turns_and_each_answers_its_own(
    start: Start, surface: FakeSurface
) -> None:
    hold = asyncio.Event()
    model = ScriptedModel(says("first"), says("The tide is in."), says("Check."))
    model.before = hold.wait
    engine = await start(model)
    sable, rook = await cast(engine, "Sable"), await cast(engine, "Rook")
    await engine.observe(surface.say(ANA, "you?"), trigger=True)
    for text, whom in (("sable, one", sable), ("rook, two", rook), ("sable, three", sable)):
        await engine.observe(surface.say(BEN, text), trigger=True, persona_id=whom.id)
    hold.set()
    await engine.idle()
    assert spoken(surface) == [("Keepsake", "first"), ("Sable", "The tide is in."), ("Rook", "Check.")]
    async with engine._rooms.store.read() as tx:
        assert await tx.triggers.waiting(GENERAL.channel_id, 10) == []
    hers = model.prompt(1)
    assert "sable, one" in hers and "sable, three" in hers


async def test_a_persona_deleted_before_its_turn_is_answered_for_by_the_built_in_one(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start()
    sable = await cast(engine, "Sable")
    await remove(engine, sable)
    await say(engine, surface, "sable?", sable)
    assert spoken(surface) == [("Keepsake", "All right.")]


async def test_a_persona_deleted_while_it_replies_ends_its_turn_under_its_name(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(model := ScriptedModel(says("Farewell.")))
    sable = await cast(engine, "Sable")
    model.before = lambda: remove(engine, sable)
    await say(engine, surface, "sable?", sable)
    assert spoken(surface) == [("Sable", "Farewell.")]
    async with engine._rooms.store.read() as tx:
        assert await tx.turns.unfinished() == []
        turn = await tx.turns.latest(GENERAL.channel_id)
    assert turn is not None and turn.state is TurnState.DELIVERED


async def test_what_a_persona_deleted_while_it_replies_would_save_is_not_saved(
    start: Start, surface: FakeSurface
) -> None:
    save = calls(("save_memory", {"content": "is allergic to peanuts", "about": "user"}))
    engine = await start(model := ScriptedModel(save, says("Noted.")))
    sable = await cast(engine, "Sable")
    model.before = lambda: remove(engine, sable) if len(model.requests) == 1 else None
    await say(engine, surface, "remember that I am allergic to peanuts", sable)
    async with engine._rooms.store.read() as tx:
        assert await tx.memories.of_scopes([Scope.user(ANA.id, sable.lineage)], dm=False) == []
    assert "Nothing was saved" in spoken(surface)[0][1]


async def test_a_failed_turn_of_a_persona_is_tried_again_by_the_same_one(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(ScriptedModel(ModelUnavailable("The model cannot be reached."), says("Here.")))
    sable = await cast(engine, "Sable")
    await say(engine, surface, "sable?", sable)
    (failure,) = surface.reports
    assert await engine.retry(ANA, GENERAL, failure.turn_id) is None
    await engine.idle()
    assert ("Sable", "Here.") in spoken(surface)


async def test_after_a_restart_an_undelivered_reply_is_delivered_in_the_persona_s_name_once(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(ScriptedModel(says("An older answer."), says("The tide is in.")))
    sable = await cast(engine, "Sable")
    await say(engine, surface, "sable?", sable)
    surface.refuse = DeliveryError("Discord does not answer")
    await say(engine, surface, "sable, how is the sea?", sable)
    surface.refuse = None
    await engine.close()
    await start(ScriptedModel())
    assert spoken(surface) == [("Sable", "An older answer."), ("Sable", "The tide is in.")]


@pytest.mark.parametrize("member", [True, False])
async def test_in_a_direct_message_a_persona_answers_only_members_of_its_server(
    start: Start, surface: FakeSurface, member: bool
) -> None:
    engine = await start(model := ScriptedModel())
    sable = await cast(engine, "Sable")
    await keep(engine, Scope.user(ANA.id, sable.lineage), "fears spiders")
    await keep(engine, Scope.user(ANA.id, DEFAULT_LINEAGE), "likes tea")
    await keep(engine, Scope.server(GUILD, sable.lineage), "the well is dry")
    if not member:
        surface.strangers.add((GUILD, ANA.id))
    await say(engine, surface, "hello", sable, DM)
    assert spoken(surface, DM)[0][0] == ("Sable" if member else "Keepsake")
    assert ("spiders" in model.prompt()) is member
    assert ("likes tea" in model.prompt()) is not member
    assert "the well is dry" not in model.prompt()


async def test_who_left_a_server_meets_its_persona_nowhere_in_their_direct_messages(
    start: Start, surface: FakeSurface
) -> None:
    """Preview, snapshot, panels and lists say the same as a turn: the built-in persona answers."""
    engine = await start(ScriptedModel())
    sable = await cast(engine, "Sable", description="A sea witch.")
    await engine.editing.use(ANA, DM, sable.id, Level.CHANNEL)
    assert "A sea witch." in await engine.snapshot(ANA, DM)
    assert (await engine.answering(ANA, DM)).lineage == sable.lineage
    assert (await engine.facts.shelves(ANA, DM))[0].scope == Scope.user(ANA.id, sable.lineage)
    assert (await engine.facts.lineages(ANA, DM)).in_use == sable.lineage
    surface.strangers.add((GUILD, ANA.id))
    assert "A sea witch." not in await engine.snapshot(ANA, DM)
    assert (await engine.answering(ANA, DM)).built_in
    assert (await engine.facts.shelves(ANA, DM))[0].scope == Scope.user(ANA.id, DEFAULT_LINEAGE)
    surface.clock.at += ASKED_FOR
    assert (await engine.facts.lineages(ANA, DM)).in_use == DEFAULT_LINEAGE
