"""An engine over a real SQLite database, with a scripted model and a fake place."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from memory import wiring
from memory.engine import Engine
from memory.settings import Settings
from tests.databases import KINDS, fresh
from tests.fakes import FakeClock, FakeSurface, ScriptedModel

Start = Callable[..., Awaitable[Engine]]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def surface(clock: FakeClock) -> FakeSurface:
    return FakeSurface(clock)


@pytest.fixture
async def start(tmp_path: Path, clock: FakeClock, surface: FakeSurface) -> AsyncIterator[Start]:
    """``await start(model)``: an engine on the test's one database; call again for a restart."""
    engines: list[Engine] = []

    async def begin(model: ScriptedModel | None = None, **environ: str) -> Engine:
        url = f"sqlite:///{tmp_path / 'keepsake.sqlite3'}"
        settings, _ = Settings.load({"DATABASE_URL": url, **environ})
        engine = await wiring.build(settings, clock=clock, model=model or ScriptedModel())
        engines.append(engine)
        await engine.start(surface)
        await engine.reconnected()
        await engine.idle()
        return engine

    yield begin
    for engine in engines:
        await engine.close()


@pytest.fixture(params=KINDS)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database of each kind, for processes of their own."""
    with fresh(request.param, tmp_path) as url:
        yield url
