"""Regenerate, through the engine (SPEC §4.6, §12)."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from memory.errors import ModelUnavailable
from memory.turns.acting import BUSY
from memory.turns.actions import NOT_A_REPLY, NOT_LATEST, NOT_YOURS, UNASKED
from tests.fakes import GENERAL, GUILD, FakeSurface, ScriptedModel, says
from tests.turns.conftest import Start
from tests.turns.scenes import (
    ANA,
    BEN,
    MARA,
    SAVE,
    last,
    memories,
    persona,
    said,
    window,
)


async def test_regenerating_replaces_the_reply_in_place_and_takes_its_memories_back(
    start: Start, surface: FakeSurface
) -> None:
    model = ScriptedModel(SAVE, says("Noted, a cello."), says("A cello, how lovely."))
    engine = await start(model)
    await said(engine, surface, "I play the cello")
    reply = last(surface)
    done = await engine.actions.regenerate(ANA, GENERAL, reply.id)
    await engine.idle()
    assert done.line == "I answer again. 1 memory change was taken back."
    assert surface.replies() == ["A cello, how lovely."] and last(surface).id == reply.id
    assert await memories(engine) == []
    assert [m.line for m in await window(engine)][1:] == ["A cello, how lovely."]
    assert "Noted, a cello." not in model.prompt()
    (drawn,) = surface.redrawn
    assert drawn.entry is not None and drawn.entry.undone_by is not None


async def test_it_can_be_regenerated_again_and_again(start: Start, surface: FakeSurface) -> None:
    engine = await start(ScriptedModel(SAVE, says("one"), SAVE, says("two"), SAVE, says("three")))
    await said(engine, surface, "I play the cello")
    for _ in range(2):
        assert (await engine.actions.regenerate(ANA, GENERAL, last(surface).id)).done
        await engine.idle()
    assert surface.replies() == ["three"] and len(await memories(engine)) == 1


async def test_an_entry_pinned_since_stays_and_its_confirmation_says_so(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(ScriptedModel(SAVE, says("Noted."), says("Again.")))
    await said(engine, surface, "I play the cello")
    (entry,) = await memories(engine)
    await engine.facts.pin(ANA, GENERAL, entry.id, True)
    done = await engine.actions.regenerate(ANA, GENERAL, last(surface).id)
    await engine.idle()
    assert f"m{entry.id} stays as it is: it was pinned since." in done.line
    assert [m.pinned for m in await memories(engine)] == [True]
    assert [view.outlived for view in surface.redrawn] == [True]


async def test_only_who_asked_or_manage_server_may_regenerate(start: Start, surface: FakeSurface) -> None:
    engine = await start(ScriptedModel(says("one"), says("two")))
    await said(engine, surface, "hello")
    reply = last(surface).id
    assert (await engine.actions.regenerate(BEN, GENERAL, reply)).line == NOT_YOURS
    assert surface.replies() == ["one"]
    assert (await engine.actions.regenerate(MARA, GENERAL, reply)).done
    await engine.idle()
    assert surface.replies() == ["two"]


async def test_what_can_not_be_regenerated_is_refused_with_the_reason(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(ScriptedModel(says("one"), says("two")))
    first = await said(engine, surface, "hello")
    earlier = last(surface).id
    second = await said(engine, surface, "and now?")
    again = engine.actions.regenerate
    assert (await again(ANA, GENERAL, earlier)).line == NOT_LATEST
    assert (await again(ANA, GENERAL, first.message_id)).line == NOT_A_REPLY
    assert (await again(MARA, replace(GENERAL, channel_id=72), last(surface).id)).line == NOT_A_REPLY
    await engine.deleted(GENERAL.channel_id, [second.message_id])
    assert (await again(ANA, GENERAL, last(surface).id)).line == UNASKED
    assert surface.replies() == ["one", "two"]


async def test_pressed_twice_it_is_answered_once(start: Start, surface: FakeSurface) -> None:
    model = ScriptedModel(SAVE, says("one"), SAVE, says("two"), says("three"))
    engine = await start(model)
    await said(engine, surface, "I play the cello")
    reply = last(surface).id
    both = await asyncio.gather(*(engine.actions.regenerate(ANA, GENERAL, reply) for _ in range(2)))
    await engine.idle()
    assert sorted(each.done for each in both) == [False, True]
    assert [each.line for each in both if not each.done] == [BUSY]
    assert surface.replies() == ["two"] and len(await memories(engine)) == 1


async def test_while_a_turn_runs_it_is_refused(start: Start, surface: FakeSurface) -> None:
    hold = asyncio.Event()
    model = ScriptedModel(says("one"), says("two"))
    engine = await start(model)
    await said(engine, surface, "hello")
    reply, model.before = last(surface).id, hold.wait
    await engine.observe(surface.say(BEN, "and me?"), trigger=True)
    assert (await engine.actions.regenerate(ANA, GENERAL, reply)).line == BUSY
    assert (await engine.actions.rewind_question(MARA, GENERAL, reply, surface.clock.now())).line == BUSY
    hold.set()
    await engine.idle()
    assert surface.replies() == ["one", "two"]


async def test_a_failing_model_leaves_a_line_and_retry_answers_once(
    start: Start, surface: FakeSurface
) -> None:
    failing = ModelUnavailable("The model cannot be reached.")
    engine = await start(ScriptedModel(SAVE, says("one"), failing, says("two")))
    await said(engine, surface, "I play the cello")
    await engine.actions.regenerate(ANA, GENERAL, last(surface).id)
    await engine.idle()
    assert surface.replies() == [] and await memories(engine) == []
    (failure,) = surface.reports
    assert await engine.retry(ANA, GENERAL, failure.turn_id) is None
    await engine.idle()
    assert surface.replies() == ["two"]


async def test_a_message_deleted_before_the_new_answer_begins_takes_the_old_reply_along(
    start: Start, surface: FakeSurface
) -> None:
    model = ScriptedModel(says("one"), says("for Ben"))
    engine = await start(model)
    message = await said(engine, surface, "hello")
    engine._now.gate._closed = True  # nothing begins yet
    await engine.actions.regenerate(ANA, GENERAL, last(surface).id)
    await engine.deleted(GENERAL.channel_id, [message.message_id])
    engine._now.gate._closed = False
    await said(engine, surface, "hi", BEN)
    assert surface.replies() == ["for Ben"]


async def test_two_personas_replies_are_regenerated_under_their_own_names(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(ScriptedModel(says("Aye."), says("Aye, aye.")))
    mira = await persona(engine, "Mira")
    message = surface.say(ANA, "Mira?")
    await engine.observe(message, trigger=True, persona_id=mira.id)
    await engine.idle()
    reply = last(surface)
    await engine.actions.regenerate(ANA, GENERAL, reply.id)
    await engine.idle()
    assert (last(surface).id, last(surface).text, last(surface).lineage) == (
        reply.id,
        "Aye, aye.",
        mira.lineage,
    )
    assert [m.lineage for m in await window(engine)][-1:] == [mira.lineage]


async def test_a_reply_of_a_persona_that_was_deleted_since_is_taken_away(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(ScriptedModel(says("Aye."), says("Mira is gone.")))
    mira = await persona(engine, "Mira")
    await engine.observe(surface.say(ANA, "Mira?"), trigger=True, persona_id=mira.id)
    await engine.idle()
    async with engine._rooms.store.write() as tx:
        assert await tx.personas.remove(mira)
    engine.personas.forget(GUILD)
    await engine.actions.regenerate(ANA, GENERAL, last(surface).id)
    await engine.idle()
    assert surface.replies() == ["Mira is gone."] and last(surface).lineage == ""


async def test_a_reply_read_back_from_discord_meanwhile_does_not_stay_as_it_was(
    start: Start, surface: FakeSurface
) -> None:
    model = ScriptedModel(says("old words"), says("new words"))
    engine = await start(model)
    await said(engine, surface, "hello")

    async def look_again() -> None:
        engine._rooms.recorder.out_of_step()
        await engine._rooms.recorder.in_step(GENERAL, surface)

    model.before = look_again
    await engine.actions.regenerate(ANA, GENERAL, last(surface).id)
    await engine.idle()
    assert [m.text for m in await window(engine)] == ["hello", "new words"]
