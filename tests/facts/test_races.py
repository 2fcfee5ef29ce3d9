"""Two stores on one database: the last place, one text, one undo, one version."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from memory.errors import StoreError
from memory.facts.service import Facts
from memory.store import Store
from memory.types import Memory
from tests.databases import KINDS, fresh
from tests.facts.world import ANA, ANAS, SQUARE, everything, saved
from tests.fakes import FakeClock


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database of each kind."""
    with fresh(request.param, tmp_path) as address:
        yield address


@pytest.fixture
async def two(url: str, clock: FakeClock) -> AsyncIterator[tuple[Facts, Facts]]:
    """The same database, opened by two processes' worth of stores."""
    first, second = await Store.open(url), await Store.open(url)
    yield Facts(first, clock), Facts(second, clock)
    await first.close()
    await second.close()


async def test_racing_writers_never_pass_the_cap(two: tuple[Facts, Facts]) -> None:
    for number in range(98):
        await saved(two[0], f"fact {number}")
    adds = [two[each % 2].add(ANA, SQUARE, ANAS, f"racer {each}") for each in range(8)]
    outcomes = await asyncio.gather(*adds)
    kinds = sorted(each.kind.value for each in outcomes)
    assert kinds == ["limit_reached"] * 6 + ["saved"] * 2
    assert len(await everything(two[0].store)) == 100


async def test_racing_writers_of_one_text_save_it_once(two: tuple[Facts, Facts]) -> None:
    outcomes = await asyncio.gather(*(two[each % 2].add(ANA, SQUARE, ANAS, "Likes tea") for each in range(6)))
    assert sorted(each.kind.value for each in outcomes) == ["duplicate"] * 5 + ["saved"]


async def test_racing_undos_undo_once(two: tuple[Facts, Facts]) -> None:
    added = await two[0].add(ANA, SQUARE, ANAS, "Likes tea")
    assert added.journal is not None
    undos = [two[each % 2].undo(ANA, SQUARE, added.journal.id) for each in range(4)]
    outcomes = await asyncio.gather(*undos)
    assert sorted(each.kind.value for each in outcomes) == ["changed_meanwhile"] * 3 + ["undone"]
    assert all(each.wrote or "already undone" in each.line() for each in outcomes)


async def test_racing_edits_of_one_version_write_one(two: tuple[Facts, Facts]) -> None:
    memory: Memory = await saved(two[0], "Likes tea")
    edits = [two[each % 2].edit(ANA, SQUARE, memory.id, f"Likes {each}", memory.version) for each in range(4)]
    outcomes = await asyncio.gather(*edits)
    assert sorted(each.kind.value for each in outcomes) == ["changed_meanwhile"] * 3 + ["updated"]


async def test_a_database_error_reaches_the_front_as_the_stores_own_error(url: str, clock: FakeClock) -> None:
    store = await Store.open(url)
    await store.close()
    with pytest.raises(StoreError):
        await Facts(store, clock).add(ANA, SQUARE, ANAS, "x")
