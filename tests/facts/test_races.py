"""Two stores on one database: the last place, one text, one undo, one version."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from memory.errors import StoreError
from memory.facts.clearing import Clearing
from memory.facts.leaving import leave
from memory.facts.service import Facts
from memory.facts.tools import MemoryTools
from memory.facts.transfer import Imported
from memory.store import Store
from memory.types import Memory, Person, Persona, Scope
from tests.databases import KINDS, fresh
from tests.facts.world import (
    ADMIN,
    ANA,
    ANAS,
    ANAS_GLOBAL,
    OTHER_GUILD,
    SERVER,
    SERVER_GLOBAL,
    SQUARE,
    Desk,
    character,
    everything,
    journal_id,
    saved,
)
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


async def test_racing_moves_adds_imports_and_restores_never_pass_the_cap(two: tuple[Facts, Facts]) -> None:
    deleted = [await saved(two[0], f"deleted {each}") for each in range(2)]
    gone = [await two[0].delete(ANA, SQUARE, memory.id) for memory in deleted]
    for number in range(98):
        await saved(two[0], f"fact {number}")
    moving = [await saved(two[0], f"mover {each}", ANAS_GLOBAL) for each in range(3)]
    file = json.dumps({"format": "keepsake-memories", "version": 1, "memories": [{"text": "imported"}]})
    racing = [
        *(two[each % 2].move(ANA, SQUARE, memory.id, ANAS) for each, memory in enumerate(moving)),
        *(two[each % 2].add(ANA, SQUARE, ANAS, f"racer {each}") for each in range(2)),
        *(two[each % 2].undo(ANA, SQUARE, journal_id(outcome)) for each, outcome in enumerate(gone)),
        two[1].bring_in(ANA, SQUARE, ANAS, file.encode()),
    ]
    outcomes = await asyncio.gather(*racing)
    wrote = [each.saved > 0 if isinstance(each, Imported) else each.wrote for each in outcomes]
    assert wrote.count(True) == 2 and len(await everything(two[0].store, ANAS)) == 100
    moved = sum(wrote[:3])
    assert len(await everything(two[0].store, ANAS_GLOBAL)) == 3 - moved


async def test_racing_pins_never_pass_twenty(two: tuple[Facts, Facts]) -> None:
    for number in range(18):
        await saved(two[0], f"pin {number}", pinned=True)
    plain = [await saved(two[0], f"fact {number}") for number in range(4)]
    elsewhere = await saved(two[0], "mover", ANAS_GLOBAL, pinned=True)
    racing = [two[each % 2].pin(ANA, SQUARE, memory.id, True) for each, memory in enumerate(plain)]
    outcomes = await asyncio.gather(*racing, two[1].move(ANA, SQUARE, elsewhere.id, ANAS))
    assert sum(each.wrote for each in outcomes) == 2
    assert sum(memory.pinned for memory in await everything(two[0].store, ANAS)) == 20


async def test_moves_in_opposite_directions_never_wait_for_each_other(two: tuple[Facts, Facts]) -> None:
    here = [await saved(two[0], f"here {each}") for each in range(4)]
    there = [await saved(two[0], f"there {each}", ANAS_GLOBAL) for each in range(4)]
    racing = [two[0].move(ANA, SQUARE, memory.id, ANAS_GLOBAL) for memory in here]
    racing += [two[1].move(ANA, SQUARE, memory.id, ANAS) for memory in there]
    outcomes = await asyncio.gather(*racing)
    assert all(each.wrote for each in outcomes)
    assert len(await everything(two[0].store, ANAS)) == len(await everything(two[0].store, ANAS_GLOBAL)) == 4


async def test_one_entry_moved_twice_at_once_goes_to_one_place(two: tuple[Facts, Facts]) -> None:
    memory = await saved(two[0], "Likes tea", SERVER)
    manager = Person(ANA.id, "Ana", manages=True)
    targets = (ANAS, ANAS_GLOBAL, SERVER_GLOBAL)
    outcomes = await asyncio.gather(
        *(two[each % 2].move(manager, SQUARE, memory.id, to) for each, to in enumerate(targets))
    )
    (kept,) = await everything(two[0].store)
    assert kept.id == memory.id and any(each.wrote for each in outcomes)


async def test_a_clear_racing_with_an_add_loses_nothing_that_was_not_asked_about(
    two: tuple[Facts, Facts],
) -> None:
    await saved(two[0], "old")
    asked = await two[0].clearing(ANA, SQUARE, ANAS)
    assert isinstance(asked, Clearing)
    cleared, added = await asyncio.gather(
        two[0].clear(ANA, SQUARE, ANAS, asked.unpinned, pinned=False),
        two[1].add(ANA, SQUARE, ANAS, "new"),
    )
    kept = [memory.text for memory in await everything(two[0].store)]
    assert added.wrote and kept == (["old", "new"] if cleared.changed else ["new"])


async def test_a_persona_that_leaves_while_it_saves_strands_nothing(two: tuple[Facts, Facts]) -> None:
    mira = await character(two[0].store)

    async def go() -> None:
        async with two[0].store.write() as tx:
            await leave(tx, two[0].clock, mira, ADMIN, SQUARE, lambda _: True, delete_server=False)
            await tx.personas.remove(mira)

    desks = [Desk(each, MemoryTools(each), lineage="mira", turn_id=n) for n, each in enumerate(two)]
    saves = [desks[n % 2].save(word) for n, word in enumerate(("Likes tea", "Owns a cat", "Plays chess"))]
    *results, _ = await asyncio.gather(*saves, go())
    saved_words = sum(result.outcome.wrote for result in results)
    assert not await everything(two[0].store, Scope.user(ANA.id, "mira"))
    assert len(await everything(two[0].store, ANAS_GLOBAL)) == saved_words


async def test_a_persona_that_leaves_while_its_members_write_strands_nothing(
    two: tuple[Facts, Facts],
) -> None:
    mira = await character(two[0].store)
    hers = Scope.user(ANA.id, "mira")
    moving = [await saved(two[0], f"mover {each}") for each in range(3)]
    gone = await two[0].delete(ANA, SQUARE, (await saved(two[0], "deleted", hers)).id)

    async with two[0].store.write() as tx:
        await leave(tx, two[0].clock, mira, ADMIN, SQUARE, lambda _: True, delete_server=False)
        writing = [
            asyncio.ensure_future(each)
            for each in (
                *(two[1].add(ANA, SQUARE, hers, f"adder {each}") for each in range(3)),
                *(two[1].move(ANA, SQUARE, memory.id, hers) for memory in moving),
                two[1].undo(ANA, SQUARE, journal_id(gone)),
            )
        ]
        await asyncio.wait(writing, timeout=0.5)  # whoever does not wait for the deletion is done by then
        await tx.personas.remove(mira)
    await asyncio.gather(*writing)
    assert not await everything(two[0].store, hers)
    kept = await everything(two[0].store, ANAS, ANAS_GLOBAL)
    assert {"deleted", *(memory.text for memory in moving)} <= {memory.text for memory in kept}


async def test_a_character_deleted_in_two_servers_at_once_strands_nothing(two: tuple[Facts, Facts]) -> None:
    homes = [await character(two[0].store), await character(two[0].store, guild_id=OTHER_GUILD)]
    async with two[0].store.write() as tx:
        for home in homes:
            await tx.names.put(home.guild_id or 0, {ANA.id: "Ana"})
    await saved(two[0], "Likes tea", Scope.user(ANA.id, "mira"))

    async def go(facts: Facts, mira: Persona) -> None:
        async with facts.store.write() as tx:
            await leave(tx, facts.clock, mira, ADMIN, SQUARE, lambda _: True, delete_server=False)
            if facts is two[0]:
                later.append(asyncio.ensure_future(go(two[1], homes[1])))
                await asyncio.wait(later, timeout=0.5)  # whoever does not wait for this one is done by then
            await tx.personas.remove(mira)

    later: list[asyncio.Future[None]] = []
    await go(two[0], homes[0])
    await asyncio.gather(*later)
    assert len(await everything(two[0].store, ANAS_GLOBAL)) == 1


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
