"""Confirmations after a turn: where they go, once, and what becomes of those not taken (SPEC §4.5)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memory.config.rules import Level
from memory.engine import Engine
from memory.facts.tools import MemoryTools, ToolContext
from memory.llm.port import ToolCall
from memory.ports import NoticeView
from memory.types import NoticeLook, NoticeState, Person, Place, Scope
from tests.fakes import GENERAL, GUILD, FakeSurface, ScriptedModel, calls, says
from tests.turns.conftest import Start

ANA = Person(501, "Ana")
MARA = Person(503, "Mara", manages=True)
TAVERN = Place(72, GUILD, name="tavern")
AUDIT = Place(79, GUILD)


def saves(*texts: str) -> list[Any]:
    return calls(*(("save_memory", {"content": text, "about": "user"}) for text in texts))


async def say(engine: Engine, surface: FakeSurface, text: str = "hello", place: Place = GENERAL) -> None:
    await engine.observe(surface.say(ANA, text, place), trigger=True)
    await engine.idle()


async def setting(engine: Engine, key: str, value: str, place: Place = GENERAL) -> None:
    await engine.config.set(MARA, place, key, value)


async def rows(engine: Engine) -> list[Any]:
    async with engine._rooms.store.read() as tx:
        found = [await tx.notices.get(number) for number in range(1, 20)]
    return [row for row in found if row is not None]


def refusing(surface: FakeSurface, monkeypatch: pytest.MonkeyPatch, *places: int) -> list[int]:
    """These channels take no confirmation; returns where one was tried."""
    tried: list[int] = []
    posts = surface.post_notice

    async def post(place: Place, view: NoticeView) -> int | None:
        tried.append(place.channel_id)
        return None if place.channel_id in places else await posts(place, view)

    monkeypatch.setattr(surface, "post_notice", post)
    return tried


async def test_each_write_has_its_card_at_the_full_level(start: Start, surface: FakeSurface) -> None:
    engine = await start(ScriptedModel(saves("Ana likes tea", "Ana has a cat"), says("Noted.")))
    await say(engine, surface)
    assert [(view.notice.look, view.line) for view in surface.notices] == [(NoticeLook.CARD, None)] * 2


async def test_all_writes_of_a_turn_share_one_message_at_the_compact_level(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start(
        ScriptedModel(saves("Ana likes tea"), saves("Ana has a cat", "Ana plays chess"), says("Noted."))
    )
    await setting(engine, "confirmations", "compact")
    await say(engine, surface)
    (view,) = surface.notices
    assert view.line is not None and (view.line.saved, view.line.about) == (3, ("Ana",))
    told = await rows(engine)
    assert len({row.message_id for row in told}) == 1 and len(told) == 3
    assert {(row.look, row.state) for row in told} == {(NoticeLook.LINE, NoticeState.POSTED)}


async def test_a_turn_that_ends_does_not_tell_of_one_that_still_runs(
    start: Start, surface: FakeSurface
) -> None:
    """Else a turn's writes would be told before its reply, and its one line would come in pieces."""
    gate, reached = asyncio.Event(), asyncio.Event()
    model = ScriptedModel(saves("Ana likes tea"), says("Noted."))

    async def wait() -> None:
        if len(model.requests) == 2:
            reached.set()
            await gate.wait()

    model.before = wait
    engine = await start(model)
    await engine.observe(surface.say(ANA, "remember tea"), trigger=True)
    await reached.wait()
    model.steps = [says("Noted.")]
    model.before = None
    await engine.observe(surface.say(MARA, "hello", TAVERN), trigger=True)
    while engine._now.gate.busy(TAVERN.channel_id):
        await asyncio.sleep(0)
    await engine._now.background.idle()
    assert surface.notices == []
    gate.set()
    await engine.idle()
    assert len(surface.notices) == 1


async def test_what_a_place_does_not_take_is_tried_in_the_audit_channel_at_once(
    start: Start, surface: FakeSurface, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await start(ScriptedModel(saves("Ana likes tea"), says("Noted.")))
    await setting(engine, "audit_channel", str(AUDIT.channel_id))
    tried = refusing(surface, monkeypatch, GENERAL.channel_id)
    await say(engine, surface)
    assert tried == [GENERAL.channel_id, AUDIT.channel_id]
    (row,) = await rows(engine)
    assert (row.channel_id, row.look, row.state) == (AUDIT.channel_id, NoticeLook.AUDIT, NoticeState.POSTED)


@pytest.mark.parametrize("audit", [False, True])
async def test_after_three_tries_a_confirmation_is_given_up_and_the_write_stays(
    start: Start, surface: FakeSurface, monkeypatch: pytest.MonkeyPatch, audit: bool
) -> None:
    engine = await start(ScriptedModel(saves("Ana likes tea"), says("Noted.")))
    if audit:
        await setting(engine, "audit_channel", str(AUDIT.channel_id))
    tried = refusing(surface, monkeypatch, GENERAL.channel_id, AUDIT.channel_id)
    for _ in range(5):
        await say(engine, surface)
    assert len(tried) == (4 if audit else 3)
    assert [row.state for row in await rows(engine)] == [NoticeState.FAILED]
    async with engine._rooms.store.read() as tx:
        assert len(await tx.memories.of_scopes([Scope.user(ANA.id, "keepsake")], dm=False)) == 1


async def test_with_confirmations_off_and_no_audit_channel_nothing_is_tried(
    start: Start, surface: FakeSurface, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await start(ScriptedModel(saves("Ana likes tea"), says("Noted.")))
    await setting(engine, "confirmations", "off")
    tried = refusing(surface, monkeypatch)
    await say(engine, surface)
    assert tried == [] and [row.state for row in await rows(engine)] == [NoticeState.FAILED]


async def test_what_could_not_be_told_before_a_restart_is_told_after_it(
    start: Start, surface: FakeSurface, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await start(ScriptedModel(saves("Ana likes tea", "Ana has a cat"), says("Noted.")))
    await setting(engine, "confirmations", "compact")
    with monkeypatch.context() as broken:
        refusing(surface, broken, GENERAL.channel_id)
        await say(engine, surface)
    assert surface.notices == []
    await engine.close()
    engine = await start()
    (view,) = surface.notices
    assert view.line is not None and view.line.saved == 2


async def test_a_turn_that_died_in_the_middle_is_told_of_once_it_is_settled(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start()
    await say(engine, surface)
    said = surface.say(ANA, "remember tea")
    rooms = engine._rooms
    async with rooms.store.write() as tx:
        turn = await tx.turns.open(GENERAL, "keepsake", (said.message_id,), (ANA.id,), rooms.clock.now(), 0)
    context = ToolContext(GENERAL, "keepsake", turn.id, (ANA,), (ANA,), {})
    wish = ToolCall("call", "save_memory", '{"content": "Ana likes tea", "about": "user"}')
    assert (await MemoryTools(rooms.facts).call(context, wish)).outcome.wrote
    await engine.close()
    await start()
    assert len(surface.reports) == 1 and len(surface.notices) == 1


async def test_a_thread_follows_its_channel(start: Start, surface: FakeSurface) -> None:
    engine = await start(ScriptedModel(saves("Ana likes tea"), says("Noted."), after=says("Hm.")))
    await engine.config.set(MARA, GENERAL, "confirmations", "compact", level=Level.CHANNEL)
    thread = Place(73, GUILD, GENERAL.channel_id, "thread")
    await say(engine, surface, place=thread)
    assert surface.notices[-1].line is not None


async def test_the_words_of_a_suggestion_that_waits_only_in_the_queue_are_counted_beneath_the_reply(
    start: Start, surface: FakeSurface
) -> None:
    wish = ("save_memory", {"content": "Movie night is Friday", "about": "server"})
    engine = await start(ScriptedModel(calls(wish, wish), says("I asked.")))
    await setting(engine, "confirmations", "off")
    await say(engine, surface)
    assert surface.replies() == ["I asked.\n-# 1 suggestion waits for approval: `/approvals`"]
