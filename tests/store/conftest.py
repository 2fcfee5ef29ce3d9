"""Stores over fresh databases of each kind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from memory.store import Store
from tests.databases import KINDS, fresh

Opener = Callable[[str], Awaitable[Store]]


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An address where no schema is yet."""
    with fresh(request.param, tmp_path) as address:
        yield address


@pytest.fixture
async def opened() -> AsyncIterator[Opener]:
    """Opens stores and closes them after the test."""
    stores: list[Store] = []

    async def open_one(url: str) -> Store:
        stores.append(await Store.open(url))
        return stores[-1]

    yield open_one
    for store in stores:
        await store.close()


@pytest.fixture
async def store(url: str, opened: Opener) -> Store:
    return await opened(url)
