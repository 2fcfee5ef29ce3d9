"""Pins can't drown a channel: ten members with full pins, a small model, and there is a reply (SPEC §4.2)."""

from __future__ import annotations

import pytest

from memory.engine import Engine
from memory.types import DEFAULT_LINEAGE, GLOBAL, Person, Scope
from tests.fakes import GENERAL, FakeSurface, ScriptedModel
from tests.turns.conftest import Start

MEMBERS = tuple(Person(500 + number, f"Member{number}") for number in range(10))
LENGTH = 500
WORDS = "keeps a very long list of promises about the lantern festival and everybody who lent a boat "


async def pin_everything(engine: Engine, length: int) -> None:
    """Each member pins all that they can, as long as it can be, in both of their scopes."""
    for member in MEMBERS:
        for lineage in (DEFAULT_LINEAGE, GLOBAL):
            for number in range(20):
                text = (f"{number} {member.name} {lineage or 'all'} " + WORDS * 6)[:length]
                scope = Scope.user(member.id, lineage)
                outcome = await engine.facts.add(member, GENERAL, scope, text, pinned=True)
                assert outcome.wrote, outcome


@pytest.mark.parametrize("detail", ["essential", "balanced", "detailed"])
async def test_a_member_gets_a_reply_though_ten_have_pinned_all_that_they_can(
    start: Start, surface: FakeSurface, detail: str
) -> None:
    model = ScriptedModel(window=8_192)
    engine = await start(model, DETAIL_LEVEL=detail, REPLY_TOKENS="1024")
    await pin_everything(engine, LENGTH)
    for member in MEMBERS:
        await engine.observe(surface.say(member, "hello everybody"), trigger=False)
    await engine.observe(surface.say(MEMBERS[0], "are you there?"), trigger=True)
    await engine.idle()
    assert surface.replies() == ["All right."], surface.reports
    given = model.prompt()
    assert given.count("Member0 ") >= 40, "the caller's own pins are all there"
    others = sum(given.count(f"{member.name} ") for member in MEMBERS[1:])
    assert others < 60, "the others share a part"


@pytest.mark.parametrize("detail", ["essential", "balanced", "detailed"])
async def test_ten_who_call_at_once_get_a_reply_though_all_have_pinned_all_that_they_can(
    start: Start, surface: FakeSurface, detail: str
) -> None:
    model = ScriptedModel(window=8_192)
    engine = await start(model, DETAIL_LEVEL=detail, REPLY_TOKENS="1024")
    await pin_everything(engine, LENGTH)
    said = [surface.say(member, "are you there?") for member in MEMBERS]
    for incoming in said:
        await engine._rooms.recorder.observe(incoming, trigger=True)
    engine._now.gate.wake(GENERAL.channel_id)
    await engine.idle()
    assert surface.replies() == ["All right."], surface.reports
    ledger = (await engine.last(MEMBERS[9], GENERAL)).ledger
    assert ledger.used <= ledger.budget
