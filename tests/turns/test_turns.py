"""A turn from message to reply, through the engine's public face (DESIGN §2)."""

from __future__ import annotations

import asyncio

import pytest

from memory.errors import ModelMalformed, ModelUnavailable
from memory.llm.port import Finished, Role, TextPiece
from memory.ports import DeliveryError
from memory.types import Person, Place, Scope, TurnState, Usage
from tests.fakes import GENERAL, GUILD, FakeClock, FakeSurface, ScriptedModel, calls, says
from tests.turns.conftest import Start

ANA = Person(501, "Ana")
BEN = Person(502, "Ben")
MARA = Person(503, "Mara", manages=True)
HERS = Scope.user(ANA.id, "keepsake")


async def test_a_call_is_answered_once_in_its_channel(start: Start, surface: FakeSurface) -> None:
    engine = await start(ScriptedModel(says("Hello Ana!")))
    said = surface.say(ANA, "hi there")
    await engine.observe(said, trigger=True)
    await engine.observe(said, trigger=True)
    await engine.idle()
    await engine.observe(said, trigger=True)
    await engine.idle()
    assert surface.replies() == ["Hello Ana!"]


async def test_a_channel_where_nobody_calls_leaves_no_trace(start: Start, surface: FakeSurface) -> None:
    engine = await start()
    await engine.observe(surface.say(ANA, "just chatting"), trigger=False)
    async with engine._rooms.store.read() as tx:
        assert await tx.messages.window(GENERAL.channel_id, 0, 0) == []
        assert await tx.channels.get(GENERAL.channel_id) is None


async def test_the_first_call_backfills_what_was_said_before(start: Start, surface: FakeSurface) -> None:
    model = ScriptedModel()
    engine = await start(model)
    surface.say(BEN, "the lighthouse is haunted")
    await engine.observe(surface.say(ANA, "what did Ben say?"), trigger=True)
    await engine.idle()
    assert "Ben: the lighthouse is haunted" in model.prompt()


async def test_recording_stops_a_day_after_the_last_turn_and_the_next_call_backfills(
    start: Start, surface: FakeSurface, clock: FakeClock
) -> None:
    model = ScriptedModel()
    engine = await start(model)
    await engine.observe(surface.say(ANA, "hello"), trigger=True)
    await engine.idle()
    clock.move(hours=25)
    await engine.observe(surface.say(BEN, "nobody is listening"), trigger=False)
    async with engine._rooms.store.read() as tx:
        assert not any("nobody" in m.text for m in await tx.messages.window(GENERAL.channel_id, 0, 0))
    await engine.observe(surface.say(ANA, "still there?"), trigger=True)
    await engine.idle()
    assert "nobody is listening" in model.prompt()


async def test_what_arrives_during_a_turn_joins_the_next_one(start: Start, surface: FakeSurface) -> None:
    hold = asyncio.Event()
    model = ScriptedModel(says("first"), says("second"))
    model.before = hold.wait
    engine = await start(model)
    await engine.observe(surface.say(ANA, "one"), trigger=True)
    for number in range(100):
        await engine.observe(surface.say(BEN, f"more {number}"), trigger=True)
    hold.set()
    await engine.idle()
    assert surface.replies() == ["first", "second"]
    assert "Ben: more 99" in model.requests[1].messages[-1].text
    async with engine._rooms.store.read() as tx:
        stored = await tx.messages.window(GENERAL.channel_id, 0, 0, 500)
    assert len([m for m in stored if m.text.startswith("more")]) == 100


async def test_fifty_channels_at_once_are_each_answered_once(start: Start, surface: FakeSurface) -> None:
    engine = await start()
    places = [Place(1_000_000 + i, GUILD, name=f"c{i}") for i in range(50)]
    messages = [surface.say(ANA, "hello", place) for place in places]
    await asyncio.gather(*(engine.observe(m, trigger=True) for m in messages))
    await engine.idle()
    assert [len(surface.replies(place)) for place in places] == [1] * 50


async def test_the_model_saves_a_memory_and_knows_it_after_a_restart(
    start: Start, surface: FakeSurface
) -> None:
    save = calls(("save_memory", {"content": "is allergic to peanuts", "about": "user"}))
    engine = await start(ScriptedModel(save, says("Noted.")))
    await engine.observe(surface.say(ANA, "remember that I'm allergic to peanuts"), trigger=True)
    await engine.idle()
    assert surface.replies() == ["Noted."]
    assert [n.memory.text for n in surface.notices if n.memory] == ["is allergic to peanuts"]
    await engine.close()
    model = ScriptedModel()
    engine = await start(model)
    await engine.observe(surface.say(ANA, "what am I allergic to?"), trigger=True)
    await engine.idle()
    assert "m1 is allergic to peanuts" in model.prompt()


async def test_when_asked_to_remember_and_nothing_is_saved_the_reply_says_so(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(ScriptedModel(says("I will remember that forever!")))
    await engine.observe(surface.say(ANA, "please remember that I like tea"), trigger=True)
    await engine.idle()
    assert "Nothing was saved" in surface.replies()[0]
    async with engine._rooms.store.read() as tx:
        lines = [m.line for m in await tx.messages.window(GENERAL.channel_id, 0, 0)]
    assert "Nothing was saved" not in lines[-1]


async def test_a_failing_model_is_said_in_one_line_and_retry_answers(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(ScriptedModel(ModelUnavailable("The model cannot be reached."), says("Here I am.")))
    await engine.observe(surface.say(ANA, "hello?"), trigger=True)
    await engine.idle()
    assert surface.replies() == []
    (failure,) = surface.reports
    assert "cannot be reached" in failure.line
    assert failure.retry
    assert await engine.retry(BEN, GENERAL, failure.turn_id) is not None
    assert await engine.retry(ANA, GENERAL, failure.turn_id) is None
    assert await engine.retry(ANA, GENERAL, failure.turn_id) is not None
    await engine.idle()
    assert surface.replies() == ["Here I am."]


async def test_a_cut_stream_takes_the_partial_reply_back(start: Start, surface: FakeSurface) -> None:
    cut = [TextPiece("Once upon"), ModelMalformed("The model's answer was cut off.")]
    engine = await start(ScriptedModel(cut))
    await engine.observe(surface.say(ANA, "a story"), trigger=True)
    await engine.idle()
    assert surface.replies() == []
    assert len(surface.reports) == 1


async def test_what_was_saved_before_a_failure_stays_and_is_named(start: Start, surface: FakeSurface) -> None:
    save = calls(("save_memory", {"content": "likes tea", "about": "user"}))
    engine = await start(ScriptedModel(save, ModelUnavailable("The model cannot be reached.")))
    await engine.observe(surface.say(ANA, "I like tea"), trigger=True)
    await engine.idle()
    assert "stays saved (1)" in surface.reports[0].line
    assert len(surface.notices) == 1


@pytest.mark.parametrize(
    "bad",
    [
        calls(("save_memory", "{not json"), text=""),
        calls(("launch_rockets", {"at": "moon"})),
        calls(*[("save_memory", {"content": f"fact number {i}", "about": "user"}) for i in range(20)]),
    ],
    ids=["malformed arguments", "unknown tool", "twenty calls"],
)
async def test_bad_tool_calls_are_answered_and_the_turn_goes_on(
    start: Start, surface: FakeSurface, bad: list
) -> None:
    model = ScriptedModel(bad, says("Let us go on."))
    engine = await start(model)
    await engine.observe(surface.say(ANA, "hello"), trigger=True)
    await engine.idle()
    assert surface.replies() == ["Let us go on."]
    results = [m for m in model.requests[1].messages if m.role is Role.TOOL]
    assert len(results) == len(bad[-1].tool_calls)
    assert any("error" in m.text for m in results)


async def test_a_model_that_only_calls_tools_ends_after_four_rounds(
    start: Start, surface: FakeSurface
) -> None:
    loop = calls(("delete_memory", {"handle": "m999"}))
    model = ScriptedModel(after=loop)
    engine = await start(model)
    await engine.observe(surface.say(ANA, "loop"), trigger=True)
    await engine.idle()
    assert len(model.requests) == 5
    assert len(surface.reports) == 1


async def test_an_empty_answer_is_a_clear_line_and_not_an_empty_message(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(ScriptedModel([Finished("  ", (), Usage())]))
    await engine.observe(surface.say(ANA, "hello"), trigger=True)
    await engine.idle()
    assert surface.replies() == []
    assert "nothing" in surface.reports[0].line


async def test_a_trigger_deleted_before_its_turn_is_not_answered(start: Start, surface: FakeSurface) -> None:
    hold = asyncio.Event()
    model = ScriptedModel(says("first"), says("second"))
    model.before = hold.wait
    engine = await start(model)
    await engine.observe(surface.say(ANA, "one"), trigger=True)
    gone = surface.say(BEN, "never mind")
    await engine.observe(gone, trigger=True)
    del surface.messages[gone.message_id]
    await engine.deleted(GENERAL.channel_id, [gone.message_id])
    hold.set()
    await engine.idle()
    assert surface.replies() == ["first"]


async def test_a_message_deleted_during_the_turn_leaves_storage_and_the_reply_stands(
    start: Start, surface: FakeSurface
) -> None:
    said = surface.say(ANA, "a secret I regret")
    model = ScriptedModel(says("I see."), says("Yes?"))
    engine = await start(model)

    async def delete() -> None:
        surface.messages.pop(said.message_id, None)
        await engine.deleted(GENERAL.channel_id, [said.message_id])

    model.before = delete
    await engine.observe(said, trigger=True)
    await engine.idle()
    assert surface.replies() == ["I see."]
    model.before = None
    await engine.observe(surface.say(ANA, "hello"), trigger=True)
    await engine.idle()
    assert "regret" not in model.prompt()


async def test_edits_reach_the_window_at_once(start: Start, surface: FakeSurface) -> None:
    model = ScriptedModel()
    engine = await start(model)
    said = surface.say(ANA, "meet at nine")
    await engine.observe(said, trigger=True)
    await engine.idle()
    surface.messages[said.message_id].text = "meet at ten"
    await engine.edited(surface._incoming(surface.messages[said.message_id]))
    await engine.observe(surface.say(BEN, "when?"), trigger=True)
    await engine.idle()
    assert "meet at ten" in model.prompt()
    assert "meet at nine" not in model.prompt()


async def test_after_downtime_the_window_is_brought_in_step(start: Start, surface: FakeSurface) -> None:
    engine = await start()
    kept = surface.say(ANA, "kept")
    gone = surface.say(ANA, "deleted while away")
    edited = surface.say(ANA, "before the edit")
    for said in (kept, gone, edited):
        await engine.observe(said, trigger=True)
    await engine.idle()
    await engine.close()
    del surface.messages[gone.message_id]
    surface.messages[edited.message_id].text = "after the edit"
    surface.say(BEN, "said while away")
    model = ScriptedModel()
    engine = await start(model)
    await engine.observe(surface.say(ANA, "what did I miss?"), trigger=True)
    await engine.idle()
    prompt = model.prompt()
    assert "kept" in prompt
    assert "after the edit" in prompt
    assert "said while away" in prompt
    assert "deleted while away" not in prompt
    assert "before the edit" not in prompt


async def test_refresh_hides_what_was_said_and_restore_brings_it_back(
    start: Start, surface: FakeSurface
) -> None:
    model = ScriptedModel()
    engine = await start(model)
    await engine.observe(surface.say(ANA, "the old story"), trigger=True)
    await engine.idle()
    markers = [surface.post(GENERAL, "Fresh start.", notice=True).id for _ in range(2)]
    for marker in markers:
        await engine.refresh(GENERAL, ANA, marker)
    await engine.observe(surface.say(ANA, "hello again"), trigger=True)
    await engine.idle()
    assert "old story" not in model.prompt()
    assert await engine.restore(GENERAL, MARA, markers[1])
    assert not await engine.restore(GENERAL, MARA, markers[1])
    await engine.observe(surface.say(ANA, "and now?"), trigger=True)
    await engine.idle()
    assert "old story" not in model.prompt()
    await engine.deleted(GENERAL.channel_id, [markers[0]])
    await engine.observe(surface.say(ANA, "and at last?"), trigger=True)
    await engine.idle()
    assert "old story" in model.prompt()


async def test_preview_is_the_real_prompt_and_changes_nothing(start: Start, surface: FakeSurface) -> None:
    model = ScriptedModel()
    engine = await start(model)
    await engine.facts.add(ANA, GENERAL, HERS, "likes tea")
    await engine.observe(surface.say(ANA, "hello"), trigger=True)
    await engine.idle()
    async with engine._rooms.store.read() as tx:
        before = await tx.messages.window(GENERAL.channel_id, 0, 0)
    ledger = await engine.preview(ANA, GENERAL, "what do I like?")
    async with engine._rooms.store.read() as tx:
        assert await tx.messages.window(GENERAL.channel_id, 0, 0) == before
    await engine.observe(surface.say(ANA, "what do I like?"), trigger=True)
    await engine.idle()
    shown = [b.text for b in ledger.included() if not b.heading and not b.join]
    sent = [m.text for m in model.requests[-1].messages]
    assert [t for t in shown if t not in sent] == []
    assert ledger.used == (await engine.last(ANA, GENERAL)).ledger.used


async def test_another_members_personal_memory_is_never_shown_in_a_preview(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start()
    await engine.facts.add(ANA, GENERAL, HERS, "is afraid of spiders")
    await engine.observe(surface.say(ANA, "hello"), trigger=True)
    await engine.idle()
    for shown in (
        await engine.snapshot(BEN, GENERAL),
        await engine.snapshot(MARA, GENERAL),
        str((await engine.last(BEN, GENERAL)).ledger),
    ):
        assert "spiders" not in shown
    assert "spiders" in await engine.snapshot(ANA, GENERAL)


async def test_a_prompt_that_cannot_fit_is_refused_with_the_numbers(
    start: Start, surface: FakeSurface
) -> None:
    model = ScriptedModel(window=1_300)
    engine = await start(model)
    await engine.observe(surface.say(ANA, "hello"), trigger=True)
    await engine.idle()
    assert model.requests == []
    assert "tokens" in surface.reports[0].line
    assert not surface.reports[0].retry


async def test_a_reply_that_could_not_be_posted_is_delivered_when_the_connection_is_back(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(ScriptedModel([Finished("Here is your answer.", (), Usage())]))
    surface.refuse = DeliveryError("Discord does not answer")
    await engine.observe(surface.say(ANA, "hello"), trigger=True)
    await engine.idle()
    assert surface.replies() == []
    surface.refuse = None
    await engine.reconnected()
    await engine.idle()
    assert surface.replies() == ["Here is your answer."]


async def test_a_turn_in_a_channel_that_is_gone_is_closed(start: Start, surface: FakeSurface) -> None:
    engine = await start(ScriptedModel([Finished("Too late.", (), Usage())]))
    surface.refuse = DeliveryError("Unknown channel", gone=True)
    await engine.observe(surface.say(ANA, "hello"), trigger=True)
    await engine.idle()
    async with engine._rooms.store.read() as tx:
        turn = await tx.turns.latest(GENERAL.channel_id)
        assert await tx.outbox.pending() == []
    assert turn is not None
    assert turn.state is TurnState.FAILED


async def test_memories_of_who_is_not_in_play_stay_out_of_the_prompt(
    start: Start, surface: FakeSurface
) -> None:
    model = ScriptedModel()
    engine = await start(model)
    await engine.facts.add(BEN, GENERAL, Scope.user(BEN.id, "keepsake"), "collects stamps")
    await engine.observe(surface.say(ANA, f"what does <@{BEN.id}> collect?"), trigger=True)
    await engine.idle()
    assert "stamps" not in model.prompt()
    await engine.observe(surface.say(BEN, "well?"), trigger=False)
    await engine.observe(surface.say(ANA, "and now?"), trigger=True)
    await engine.idle()
    assert "stamps" in model.prompt()


async def test_a_fact_told_in_a_dm_stays_there_until_it_is_widened(
    start: Start, surface: FakeSurface
) -> None:
    dm = Place(4_001, None)
    save = calls(("save_memory", {"content": "is getting married in June", "about": "user"}))
    model = ScriptedModel(save, says("Congratulations!"))
    engine = await start(model)
    await engine.observe(surface.say(ANA, "I'm getting married in June", dm), trigger=True)
    await engine.idle()
    await engine.observe(surface.say(ANA, "hello"), trigger=True)
    await engine.idle()
    assert "married" not in model.prompt()
    await engine.facts.widen(ANA, dm, 1)
    await engine.observe(surface.say(ANA, "hello again"), trigger=True)
    await engine.idle()
    assert "married" in model.prompt()


async def test_the_ledger_names_the_memories_that_a_turn_is_not_given(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(MAX_INJECTED_MEMORIES="2")
    for number in range(5):
        await engine.facts.add(ANA, GENERAL, HERS, f"fact {number}")
    await engine.facts.add(ANA, GENERAL, HERS, "fears dragons", keywords=("dragon",))
    mine = await engine.preview(ANA, GENERAL, "hello")
    out = {e.block.title: e.why for e in mine.entries if e.block.entries and e.block.left_out}
    assert set(out) == {"3 memories about Ana", "1 memory about Ana"}
    assert "keywords" in out["1 memory about Ana"]
    theirs = await engine.preview(BEN, GENERAL, "hello")
    assert not any(e.block.memory_ids for e in theirs.entries)
