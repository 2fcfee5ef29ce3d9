"""Rewind to here, through the engine (SPEC §4.6, §12)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from memory.errors import ModelUnavailable
from memory.types import Place, TurnState
from tests.fakes import GENERAL, GUILD, FakeSurface, ScriptedModel, says
from tests.turns.conftest import Start
from tests.turns.scenes import (
    ANA,
    BEN,
    DM,
    MARA,
    SAVE,
    edit,
    last,
    memories,
    rewind,
    said,
    split,
    window,
)


async def test_rewinding_takes_later_turns_memories_and_messages_back(
    start: Start, surface: FakeSurface
) -> None:
    model = ScriptedModel(SAVE, says("one"), edit("plays the viola"), says("two"), says("three"))
    engine = await start(model)
    await said(engine, surface, "I play the cello")
    point = last(surface).id
    before = await memories(engine)
    await said(engine, surface, "no, the viola")
    asked = await engine.actions.rewind_question(MARA, GENERAL, point, surface.messages[point].at)
    assert "2 later messages (1 of them is a reply of mine)" in asked.line and "1 memory change" in asked.line
    line = await rewind(engine, surface, point)
    await engine.idle()
    assert "1 memory change was taken back." in line
    assert [(m.text, m.updated_at) for m in await memories(engine)] == [
        (m.text, m.updated_at) for m in before
    ]
    await said(engine, surface, "what now?")
    assert "viola" not in model.prompt() and "cello" in model.prompt()
    assert surface.redrawn


async def test_nothing_brings_a_rewound_stretch_back(start: Start, surface: FakeSurface) -> None:
    model = ScriptedModel(says("one"), says("two"), says("three"))
    engine = await start(model)
    await said(engine, surface, "hello")
    point = last(surface).id
    await said(engine, surface, "the secret door")
    late = surface.say(BEN, "a late event")
    await rewind(engine, surface, point)
    await engine.observe(late, trigger=True)
    await engine.edited(replace(late, text="edited late"))
    engine._rooms.recorder.out_of_step()
    await said(engine, surface, "what now?")
    await engine.close()
    engine = await start(model)
    await said(engine, surface, "and after a restart?")
    assert not any(word in model.prompt() for word in ("secret", "late event", "edited late", "two"))
    assert surface.replies() == ["one", "two", "three", "All right."]


async def test_an_event_that_crosses_the_rewind_does_not_stay(start: Start, surface: FakeSurface) -> None:
    engine = await start(ScriptedModel(says("one"), says("two")))
    await said(engine, surface, "hello")
    point = last(surface).id
    await said(engine, surface, "more")
    late = [surface.say(BEN, f"late {number}") for number in range(20)]
    observed = [engine.observe(each, trigger=False) for each in late]
    await asyncio.gather(rewind(engine, surface, point), *observed)
    assert [m.text for m in await window(engine)] == ["hello", "one"]


async def test_a_call_that_was_heard_before_the_rewind_and_stored_after_it_is_not_answered(
    start: Start, surface: FakeSurface, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await start(ScriptedModel(says("one"), says("two")))
    await said(engine, surface, "hello")
    point = last(surface).id
    await said(engine, surface, "more")
    late, recorder = surface.say(BEN, "and me?"), engine._rooms.recorder
    is_out, crossed = recorder._out, list[str]()

    async def crossing(channel_id: int, message_id: int) -> bool:
        found = await is_out(channel_id, message_id)
        if not crossed:
            crossed.append("now")
            crossed[0] = await rewind(engine, surface, point)
        return found

    monkeypatch.setattr(recorder, "_out", crossing)
    await engine.observe(late, trigger=True)
    await engine.idle()
    assert crossed[0].startswith("Rewound")
    assert [m.text for m in await window(engine)] == ["hello", "one"]
    assert surface.replies() == ["one", "two"]


async def test_a_part_of_a_split_reply_keeps_the_whole_reply(start: Start, surface: FakeSurface) -> None:
    engine = await start(ScriptedModel(says("one")))
    await said(engine, surface, "tell me all")
    first, second = await split(engine, surface)
    await engine.observe(surface.say(BEN, "later"), trigger=False)
    await rewind(engine, surface, first)
    assert [m.id for m in await window(engine)][-2:] == [first, second]


async def test_the_part_of_a_later_reply_that_stands_before_the_message_is_not_used(
    start: Start, surface: FakeSurface
) -> None:
    model = ScriptedModel(says("first half"), says("hm"))
    engine = await start(model)
    await said(engine, surface, "tell me all")
    between = surface.say(BEN, "in between")
    await engine.observe(between, trigger=False)
    await split(engine, surface)
    await rewind(engine, surface, between.message_id)
    engine._rooms.recorder.out_of_step()
    await said(engine, surface, "go on")
    assert "first half" not in model.prompt() and "and more" not in model.prompt()
    assert "in between" in model.prompt()


async def test_only_manage_server_rewinds_and_in_a_dm_its_member(start: Start, surface: FakeSurface) -> None:
    engine = await start(ScriptedModel(says("one"), says("two")))
    hello = await said(engine, surface, "hello")
    refused = await rewind(engine, surface, hello.message_id, who=ANA)
    assert "Manage Server" in refused and len(await window(engine)) == 2
    private = await said(engine, surface, "psst", place=DM)
    assert "Rewound" in await rewind(engine, surface, private.message_id, who=ANA, place=DM)
    assert [m.text for m in await window(engine, DM)] == ["psst"]


async def test_rewinding_to_a_question_takes_its_answer_back_and_does_not_answer_again(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(ScriptedModel(SAVE, says("one"), says("two")))
    question = await said(engine, surface, "I play the cello")
    await rewind(engine, surface, question.message_id)
    await engine.idle()
    assert await memories(engine) == [] and surface.replies() == ["one"]
    assert [m.text for m in await window(engine)] == ["I play the cello"]
    async with engine._rooms.store.read() as tx:
        turn = await tx.turns.get(1)
    assert turn is not None and turn.state is TurnState.REWOUND


async def test_what_a_failed_turn_had_saved_goes_back_too(start: Start, surface: FakeSurface) -> None:
    engine = await start(ScriptedModel(says("one"), SAVE, ModelUnavailable("The model cannot be reached.")))
    await said(engine, surface, "hello")
    point = last(surface).id
    await said(engine, surface, "I play the cello")
    assert len(await memories(engine)) == 1
    await rewind(engine, surface, point)
    assert await memories(engine) == []
    (failure,) = surface.reports
    assert await engine.retry(ANA, GENERAL, failure.turn_id) is not None


async def test_a_refresh_later_than_the_message_is_undone_with_the_rest(
    start: Start, surface: FakeSurface
) -> None:
    model = ScriptedModel(says("one"), says("two"), says("three"))
    engine = await start(model)
    await said(engine, surface, "the lighthouse is haunted")
    early = surface.post(GENERAL, "Fresh start", notice=True)
    await engine.refresh(GENERAL, ANA, early.id)
    kept = await said(engine, surface, "what do you know?")
    for _ in range(2):
        await engine.refresh(GENERAL, ANA, surface.post(GENERAL, "Fresh start", notice=True).id)
    await rewind(engine, surface, kept.message_id)
    async with engine._rooms.store.read() as tx:
        channel = await tx.channels.get(GENERAL.channel_id)
    assert channel is not None and channel.epoch == early.id


async def test_the_window_fills_again_from_what_is_stored(start: Start, surface: FakeSurface) -> None:
    model = ScriptedModel(after=says("hm"))
    engine = await start(model)
    await said(engine, surface, "the very first words")
    for number in range(60):
        await engine.observe(surface.say(BEN, f"chatter {number}"), trigger=False)
    point = (await said(engine, surface, "is it full?")).message_id
    for number in range(30):
        await engine.observe(surface.say(BEN, f"babble {number}"), trigger=False)
    await said(engine, surface, "is it full now?")
    assert "chatter 20" not in model.prompt()
    await rewind(engine, surface, point)
    await said(engine, surface, "and now?")
    assert "chatter 25" in model.prompt() and "babble" not in model.prompt()


async def test_rewinding_where_nothing_is_later_or_known_says_so(start: Start, surface: FakeSurface) -> None:
    engine = await start(ScriptedModel(says("one"), says("two")))
    nobody = surface.say(ANA, "hm", Place(99, GUILD, name="quiet"))
    assert "Nobody has called me" in await rewind(engine, surface, nobody.message_id, place=nobody.place)
    await said(engine, surface, "hello")
    point = last(surface).id
    assert "Nothing that I keep here is later" in await rewind(engine, surface, point)
    out = await said(engine, surface, "more")
    await rewind(engine, surface, point)
    assert "taken out by **Rewind to here**" in await rewind(engine, surface, out.message_id)


async def test_clocks_that_differ_do_not_hide_a_later_turn(start: Start, surface: FakeSurface) -> None:
    engine = await start(ScriptedModel(says("one"), SAVE, says("two")))
    await said(engine, surface, "hello")
    point = last(surface)
    await said(engine, surface, "I play the cello")
    surface.messages[point.id].at += timedelta(minutes=5)  # Discord's clock is ahead of ours
    await rewind(engine, surface, point.id)
    assert await memories(engine) == []
