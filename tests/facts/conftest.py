"""One real SQLite store a test, the room on top of it, and the people of two servers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memory.facts.service import Facts
from memory.facts.tools import MemoryTools
from memory.facts.writes import MemoryLimits
from memory.store import Store
from tests.facts.world import Desk, answers_in
from tests.fakes import FakeClock


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{tmp_path / 'keepsake.db'}"


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    opened = await Store.open(url)
    yield opened
    await opened.close()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def facts(store: Store, clock: FakeClock) -> Facts:
    return Facts(store, clock, in_use=answers_in(store))


@pytest.fixture
def small(store: Store, clock: FakeClock) -> Facts:
    """Room for three unpinned and two pinned entries in each scope."""
    return Facts(store, clock, MemoryLimits(server=3, personal=3, pinned=2))


@pytest.fixture
def desk(facts: Facts) -> Desk:
    return Desk(facts, MemoryTools(facts))
