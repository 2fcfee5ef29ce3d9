"""What an enemy found, at the engine: crashes in odd places, a locked database, words that stop the clock."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import time
from pathlib import Path

import pytest

from memory import phrases, wiring
from memory.engine import Engine
from memory.errors import ModelUnavailable
from memory.facts.rules import near_duplicate
from memory.llm.port import Finished
from memory.ports import DeliveryError, Posted
from memory.settings import Settings
from memory.store import sqlite
from memory.types import Person, Place, Usage
from tests.fakes import GENERAL, GUILD, FakeClock, FakeSurface, ScriptedModel, says
from tests.turns.conftest import Start

ANA = Person(501, "Ana")
BEN = Person(502, "Ben")
MARA = Person(503, "Mara", manages=True)
TAVERN = Place(72, GUILD, name="tavern")


def answers_to(surface: FakeSurface, message_id: int) -> list[str]:
    """What was said to a message: a reply, or the line of a failed turn."""
    return [m.text for m in surface.messages.values() if m.reply_to == message_id]


class Lock:
    """Another process that holds the database."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: sqlite3.Connection | None = None

    def take(self) -> None:
        if self._held is None:
            self._held = sqlite3.connect(self._path, isolation_level=None)
            self._held.execute("BEGIN IMMEDIATE")

    def free(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lock:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.05)
    return Lock(tmp_path / "keepsake.sqlite3")


async def test_a_reply_that_is_finished_while_recovery_settles_another_turn_stays(
    start: Start, surface: FakeSurface, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Discord was away: A's reply is undelivered, B's turn is running. A's settling takes as long as B."""
    hold = asyncio.Event()
    model = ScriptedModel(says("answer A"), says("answer B"))
    engine = await start(model)
    surface.refuse = DeliveryError("Discord is away")
    await engine.observe(surface.say(ANA, "question A"), trigger=True)
    await engine.idle()
    surface.refuse, model.before = None, hold.wait
    asked = surface.say(BEN, "question B", TAVERN)
    await engine.observe(asked, trigger=True)
    while len(model.requests) < 2:
        await asyncio.sleep(0)
    looked = surface.own_replies

    async def slowly(place: Place, *more: int) -> list[Posted] | None:
        if place == GENERAL:
            hold.set()
            await engine._now.gate.idle()
        return await looked(place, *more)

    monkeypatch.setattr(surface, "own_replies", slowly)
    await engine.reconnected()
    await engine.idle()
    assert answers_to(surface, asked.message_id) == ["answer B"]


async def test_a_kill_during_a_retry_leaves_the_answer_or_a_retry_that_works(
    tmp_path: Path, start: Start, surface: FakeSurface, clock: FakeClock
) -> None:
    """The second turn dies before it wrote anything; the first one's report still stands."""
    dying: list[str] = []

    def stage(name: str) -> None:
        if dying and name == "prepared":
            raise asyncio.CancelledError

    settings, _ = Settings.load({"DATABASE_URL": f"sqlite:///{tmp_path / 'keepsake.sqlite3'}"})
    model = ScriptedModel(ModelUnavailable("Down."))
    first: Engine = await wiring.build(settings, clock=clock, model=model, stage=stage)
    await first.start(surface)
    asked = surface.say(ANA, "what is it?")
    await first.observe(asked, trigger=True)
    await first.idle()
    dying.append("now")
    assert await first.retry(ANA, GENERAL, surface.reports[-1].turn_id) is None
    await first.idle()
    await first.close()

    engine = await start(ScriptedModel(after=says("It is a lantern.")))
    await engine.idle()
    if not surface.replies():
        assert await engine.retry(ANA, GENERAL, surface.reports[-1].turn_id) is None
        await engine.idle()
    assert surface.replies() == ["It is a lantern."]


async def test_a_failure_that_could_not_be_recorded_can_still_be_retried(
    start: Start, surface: FakeSurface, lock: Lock
) -> None:
    model = ScriptedModel(after=says("The answer."))
    model.before = lock.take
    engine = await start(model)
    asked = surface.say(ANA, "a question")
    await engine.observe(asked, trigger=True)
    await engine.idle()
    assert surface.reports, "the failure was said"
    lock.free()
    model.before = None
    assert await engine.retry(ANA, GENERAL, surface.reports[0].turn_id) is None
    await engine.idle()
    assert surface.replies() == ["The answer."]


async def test_a_reply_whose_delivery_could_not_be_recorded_is_known_in_the_next_turn(
    tmp_path: Path, surface: FakeSurface, clock: FakeClock, lock: Lock
) -> None:
    def stage(name: str) -> None:
        if name == "delivered" and len(model.requests) == 1:
            lock.take()

    settings, _ = Settings.load({"DATABASE_URL": f"sqlite:///{tmp_path / 'keepsake.sqlite3'}"})
    model = ScriptedModel(says("The lantern is blue."))
    engine = await wiring.build(settings, clock=clock, model=model, stage=stage)
    await engine.start(surface)
    await engine.observe(surface.say(ANA, "which colour?"), trigger=True)
    await engine.idle()
    lock.free()
    await engine.observe(surface.say(ANA, "what did you just say?"), trigger=True)
    await engine.idle()
    await engine.close()
    assert "The lantern is blue." in model.prompt()


async def test_a_call_that_waits_when_the_channel_is_refreshed_is_answered_or_told(
    start: Start, surface: FakeSurface
) -> None:
    hold = asyncio.Event()
    model = ScriptedModel()
    model.before = hold.wait
    engine = await start(model)
    await engine.observe(surface.say(ANA, "first"), trigger=True)
    while not model.requests:
        await asyncio.sleep(0)
    waiting = surface.say(BEN, "remember that I like tea")
    await engine.observe(waiting, trigger=True)
    await engine.refresh(GENERAL, MARA, surface.post(GENERAL, "", notice=True).id)
    hold.set()
    await engine.idle()
    assert len(answers_to(surface, waiting.message_id)) == 1


async def test_retry_after_a_refresh_answers_or_says_why_not(start: Start, surface: FakeSurface) -> None:
    engine = await start(ScriptedModel(ModelUnavailable("Down."), after=says("The answer.")))
    asked = surface.say(ANA, "a question")
    await engine.observe(asked, trigger=True)
    await engine.idle()
    await engine.refresh(GENERAL, MARA, surface.post(GENERAL, "", notice=True).id)
    said = len(answers_to(surface, asked.message_id))
    refusal = await engine.retry(ANA, GENERAL, surface.reports[-1].turn_id)
    await engine.idle()
    assert refusal or len(answers_to(surface, asked.message_id)) > said


async def test_a_deleted_message_is_gone_from_every_table(
    tmp_path: Path, start: Start, surface: FakeSurface
) -> None:
    engine = await start()
    said = surface.say(ANA, "my secret word is xylophone")
    await engine.observe(said, trigger=True)
    await engine.idle()
    surface.messages.pop(said.message_id)
    await engine.deleted(GENERAL.channel_id, [said.message_id])
    await engine.close()
    held = sqlite3.connect(tmp_path / "keepsake.sqlite3")
    tables = [name for (name,) in held.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    keeping = [t for t in tables if "xylophone" in repr(held.execute(f"SELECT * FROM {t}").fetchall())]
    held.close()
    assert keeping == []


@pytest.mark.parametrize("words", ["¿" * 1_000, "hey, " * 400, "so " * 600], ids=["¿", "hey", "so"])
@pytest.mark.parametrize("asks", [phrases.asks_to_remember, phrases.asks_to_forget])
def test_no_message_that_discord_takes_keeps_the_phrase_lists_busy(asks, words: str) -> None:  # type: ignore[no-untyped-def]
    began = time.perf_counter()
    asks(words)
    assert time.perf_counter() - began < 0.25


def test_comparing_two_entries_of_full_length_is_quick() -> None:
    """A save compares with up to 100 entries of its scope, inside the one write transaction."""
    dice = random.Random(3)
    words = ["k" + "".join(dice.choices("bcdfghjklmnpqrstvwxyz", k=4)) for _ in range(80)]
    one, other = " ".join([*words, "kqqqq"]), " ".join([*reversed(words), "kxxxx"])
    began = time.perf_counter()
    assert not near_duplicate(one, other)
    assert time.perf_counter() - began < 0.01


async def test_a_turn_that_cannot_be_settled_strands_no_other(
    start: Start, surface: FakeSurface, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await start(ScriptedModel(after=[Finished("The answer.", (), Usage())]))
    surface.refuse = DeliveryError("Discord is away")
    await engine.observe(surface.say(ANA, "question A"), trigger=True)
    await engine.observe(surface.say(BEN, "question B", TAVERN), trigger=True)
    await engine.idle()
    surface.refuse = None
    looked = surface.own_replies

    async def broken(place: Place, *more: int) -> list[Posted] | None:
        if place == GENERAL:
            raise RuntimeError("what nobody foresaw")
        return await looked(place, *more)

    monkeypatch.setattr(surface, "own_replies", broken)
    await engine.reconnected()
    await engine.idle()
    assert surface.replies(TAVERN) == ["The answer."]
