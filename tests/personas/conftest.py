"""An engine over each database, with a scripted model and a fake place."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memory import wiring
from memory.engine import Engine
from memory.settings import Settings
from tests.databases import KINDS, fresh
from tests.fakes import FakeClock, FakeSurface, ScriptedModel


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def surface(clock: FakeClock) -> FakeSurface:
    return FakeSurface(clock)


@pytest.fixture(params=KINDS)
async def engine(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock, surface: FakeSurface
) -> AsyncIterator[Engine]:
    with fresh(request.param, tmp_path) as url:
        settings, _ = Settings.load({"DATABASE_URL": url})
        made = await wiring.build(settings, clock=clock, model=ScriptedModel())
        await made.start(surface)
        yield made
        await made.close()
