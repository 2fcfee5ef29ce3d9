"""Fork here and Exclude from prompt, through the engine (SPEC §4.6, §5, §12)."""

from __future__ import annotations

from dataclasses import replace

from memory.ports import DeliveryError
from memory.turns import fork
from tests.fakes import GENERAL, FakeSurface, ScriptedModel, says
from tests.turns.conftest import Start
from tests.turns.scenes import (
    ANA,
    BEN,
    DM,
    MARA,
    SAVE,
    THREAD,
    last,
    rewind,
    said,
    split,
    window,
)


async def test_a_fork_begins_with_the_window_up_to_there_and_goes_its_own_way(
    start: Start, surface: FakeSurface
) -> None:
    model = ScriptedModel(SAVE, says("one"), says("two"), says("three"), says("four"))
    engine = await start(model)
    await said(engine, surface, "I play the cello")
    point = last(surface).id
    await said(engine, surface, "said after the fork point")
    forked = await engine.actions.fork(BEN, GENERAL, point, "Forked from there")
    assert forked.done and "(2 messages)" in forked.line and forked.place is not None
    there = forked.place
    assert there.parent_id == GENERAL.channel_id and there.name == "Fork of general"
    await said(engine, surface, "what do I play?", place=there)
    assert "I play the cello" in model.prompt() and "one" in model.prompt()
    assert "after the fork point" not in model.prompt() and "m1 plays the cello" in model.prompt()
    await said(engine, surface, "back here")
    assert "what do I play?" not in model.prompt()


async def test_forks_and_originals_do_not_rewind_or_regenerate_each_other(
    start: Start, surface: FakeSurface
) -> None:
    model = ScriptedModel(says("one"), says("one again"), says("in the fork"))
    engine = await start(model)
    hello = await said(engine, surface, "hello")
    forked = await engine.actions.fork(ANA, GENERAL, last(surface).id, "Fork")
    assert forked.place is not None
    await engine.actions.regenerate(ANA, GENERAL, last(surface).id)
    await engine.idle()
    await rewind(engine, surface, hello.message_id)
    assert [m.text for m in await window(engine)] == ["hello"]
    assert [m.text for m in await window(engine, forked.place)] == ["hello", "one"]
    await engine.deleted(GENERAL.channel_id, [hello.message_id])
    assert [m.text for m in await window(engine, forked.place)] == ["one"]


async def test_a_fork_of_a_thread_is_its_sibling_with_its_settings_and_cast(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(ScriptedModel(says("one")))
    await said(engine, surface, "hello", place=THREAD)
    await engine.config.set(MARA, THREAD, "memory_mode", "incognito")
    async with engine._rooms.store.write() as tx:
        await tx.personas.join(THREAD.channel_id, "line-Mira", engine.clock.now())
    forked = await engine.actions.fork(ANA, THREAD, last(surface, THREAD).id, "Fork")
    assert forked.place is not None and forked.place.parent_id == THREAD.parent_id
    assert (await engine.config.get(forked.place)).mode == "incognito"
    async with engine._rooms.store.read() as tx:
        assert "line-Mira" in await tx.personas.cast(forked.place.channel_id)


async def test_a_fork_is_recorded_from_its_first_message_on(start: Start, surface: FakeSurface) -> None:
    engine = await start(ScriptedModel(says("one")))
    await said(engine, surface, "hello")
    forked = await engine.actions.fork(ANA, GENERAL, last(surface).id, "Fork")
    assert forked.place is not None
    await engine.observe(surface.say(BEN, "nobody called", forked.place), trigger=False)
    assert [m.text for m in await window(engine, forked.place)][-1] == "nobody called"


async def test_what_can_not_be_forked_is_refused_and_no_thread_is_made(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(ScriptedModel(says("one"), says("two"), says("three")))
    private = await said(engine, surface, "psst", place=DM)
    assert (await engine.actions.fork(ANA, DM, private.message_id, "")).line == fork.NOT_IN_DM
    message = await said(engine, surface, "hello")
    early = replace(message, message_id=1)
    assert (await engine.actions.fork(ANA, GENERAL, early.message_id, "")).line == fork.NOTHING_THERE
    surface.refuse = DeliveryError("I lack the permission Create Public Threads there.")
    refused = await engine.actions.fork(ANA, GENERAL, message.message_id, "")
    assert "Create Public Threads" in refused.line and refused.place is None
    surface.refuse = None
    out = await said(engine, surface, "later")
    await rewind(engine, surface, message.message_id)
    assert "Rewind to here" in (await engine.actions.fork(ANA, GENERAL, out.message_id, "")).line


async def test_a_fork_from_before_a_refresh_holds_what_was_used_then(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(ScriptedModel(says("one"), says("two"), says("three")))
    await said(engine, surface, "before everything")
    await engine.refresh(GENERAL, ANA, surface.post(GENERAL, "", notice=True).id)
    middle = await said(engine, surface, "in the middle")
    await engine.refresh(GENERAL, ANA, surface.post(GENERAL, "", notice=True).id)
    await said(engine, surface, "afterwards")
    forked = await engine.actions.fork(ANA, GENERAL, middle.message_id, "Fork")
    assert forked.place is not None
    assert [m.text for m in await window(engine, forked.place)] == ["in the middle"]


async def test_an_excluded_message_leaves_the_prompt_and_comes_back(
    start: Start, surface: FakeSurface
) -> None:
    model = ScriptedModel(after=says("hm"))
    engine = await start(model)
    message = await said(engine, surface, "my awkward joke")
    out = await engine.actions.exclude(ANA, GENERAL, message.message_id)
    assert out.line.startswith("That message is left out")
    await said(engine, surface, "go on")
    assert "awkward joke" not in model.prompt()
    back = await engine.actions.exclude(ANA, GENERAL, message.message_id)
    assert "in what I am given again" in back.line
    await said(engine, surface, "go on")
    assert "awkward joke" in model.prompt()


async def test_one_excludes_ones_own_messages_and_replies_to_oneself_and_managers_any(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(ScriptedModel(after=says("hm")))
    message = await said(engine, surface, "hello")
    reply = last(surface).id
    for target in (message.message_id, reply):
        assert not (await engine.actions.exclude(BEN, GENERAL, target)).done
        assert (await engine.actions.exclude(ANA, GENERAL, target)).done
        assert (await engine.actions.exclude(MARA, GENERAL, target)).done


async def test_all_parts_of_a_split_reply_are_excluded_together(start: Start, surface: FakeSurface) -> None:
    engine = await start(ScriptedModel(says("one")))
    await said(engine, surface, "tell me all")
    _, second = await split(engine, surface)
    out = await engine.actions.exclude(ANA, GENERAL, second)
    assert "all 2 parts" in out.line
    assert [m.excluded for m in await window(engine)] == [False, True, True]


async def test_a_message_that_is_not_kept_can_not_be_excluded(start: Start, surface: FakeSurface) -> None:
    engine = await start()
    assert "I don't keep that message" in (await engine.actions.exclude(ANA, GENERAL, 5)).line


async def test_an_excluded_call_is_answered_all_the_same(start: Start, surface: FakeSurface) -> None:
    model = ScriptedModel(says("one"), says("two"))
    engine = await start(model)
    message = await said(engine, surface, "answer this")
    await engine.actions.exclude(ANA, GENERAL, message.message_id)
    await engine.actions.regenerate(ANA, GENERAL, last(surface).id)
    await engine.idle()
    assert "answer this" in model.prompt() and surface.replies() == ["two"]


async def test_a_fork_of_a_blank_channel_begins_empty(start: Start, surface: FakeSurface) -> None:
    engine = await start(model := ScriptedModel())
    await engine.config.set(MARA, GENERAL, "memory_mode", "blank")
    await said(engine, surface, "I play the cello")
    forked = await engine.actions.fork(BEN, GENERAL, last(surface).id, "Forked from there")
    assert forked.done and "begins empty" in forked.line and forked.place is not None
    assert await window(engine, forked.place) == []
    await said(engine, surface, "what do I play?", place=forked.place)
    assert "cello" not in model.prompt()
