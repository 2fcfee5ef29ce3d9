"""A unit of work happens whole or not at all: cancelled, killed, raced, or failed in the middle."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from memory.errors import StoreError, StoreUnavailable
from memory.store import Store
from memory.types import Scope
from tests.store.conftest import Opener
from tests.store.samples import ANA, HERE, NOW, PLACE, message, remember, texts


class Mishap(Exception):
    """Something went wrong in the caller's own code."""


async def cancelled_at(start: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    """Run it in a task, cancel that when it sets its event, and wait for its end."""
    reached = asyncio.Event()
    task = asyncio.create_task(start(reached))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_exception_inside_a_unit_leaves_nothing_behind(store: Store) -> None:
    with pytest.raises(Mishap):
        async with store.write() as tx:
            await remember(tx, HERE, "half")
            raise Mishap
    assert await texts(store, HERE) == []
    async with store.write() as tx:
        await remember(tx, HERE, "next")
    assert await texts(store, HERE) == ["next"]


async def test_being_cancelled_inside_a_unit_leaves_nothing_behind(store: Store) -> None:
    async def work(reached: asyncio.Event) -> None:
        async with store.write() as tx:
            await remember(tx, HERE, "half")
            reached.set()
            await asyncio.Event().wait()

    await cancelled_at(work)
    async with store.write() as tx:
        await remember(tx, HERE, "next")
    assert await texts(store, HERE) == ["next"]


async def test_being_cancelled_in_the_middle_of_a_statement_leaves_nothing_behind(store: Store) -> None:
    async def work(reached: asyncio.Event) -> None:
        async with store.write() as tx:
            await remember(tx, HERE, "half")
            reached.set()
            for n in range(1_000):
                await remember(tx, HERE, f"more {n}")

    for _ in range(5):
        await cancelled_at(work)
        assert await texts(store, HERE) == []
    gc.collect()
    async with store.write() as tx:
        await remember(tx, HERE, "next")
    assert await texts(store, HERE) == ["next"]


async def test_a_unit_that_swallowed_its_cancellation_is_not_committed(store: Store) -> None:
    with pytest.raises(StoreError, match="none of it was kept"):
        async with store.write() as tx:
            await remember(tx, HERE, "half")
            task = asyncio.current_task()
            assert task is not None
            asyncio.get_running_loop().call_soon(task.cancel)
            try:
                await remember(tx, HERE, "interrupted")
            except asyncio.CancelledError:
                if hasattr(task, "uncancel"):
                    task.uncancel()
    assert await texts(store, HERE) == []


async def test_a_commit_that_has_begun_is_completed_when_its_task_is_cancelled(store: Store) -> None:
    async def work() -> None:
        async with store.write() as tx:
            await remember(tx, HERE, "kept")
            task = asyncio.current_task()
            assert task is not None
            asyncio.get_running_loop().call_soon(task.cancel)  # arrives while the unit is ending

    for _ in range(2):
        task = asyncio.create_task(work())
        with pytest.raises(asyncio.CancelledError):
            await task
        async with store.write() as tx:  # the lock is free again, and the change is there
            assert [memory.text for memory in await tx.memories.of_scopes([HERE], dm=True)] == ["kept"]
            await tx.memories.remove((await tx.memories.of_scopes([HERE], dm=True))[0].id)


async def test_waiting_for_the_writer_can_be_cancelled(store: Store) -> None:
    async def wait(reached: asyncio.Event) -> None:
        asyncio.get_running_loop().call_soon(reached.set)
        async with store.write() as tx:
            await remember(tx, HERE, "never")
            await asyncio.Event().wait()

    async with store.write() as tx:
        await remember(tx, HERE, "first")
        await cancelled_at(wait)
    assert await texts(store, HERE) == ["first"]


async def test_being_cancelled_while_reading_costs_no_connection(store: Store) -> None:
    async def work(reached: asyncio.Event) -> None:
        async with store.read() as tx:
            reached.set()
            while True:
                await tx.memories.of_scopes([HERE], dm=True)

    for _ in range(15):  # more than there are connections
        await cancelled_at(work)
    gc.collect()
    assert await texts(store, HERE) == []


async def test_a_failed_statement_spoils_its_unit_even_if_the_caller_goes_on(store: Store) -> None:
    with pytest.raises(StoreError, match="none of it was kept"):
        async with store.write() as tx:
            await remember(tx, HERE, "tea")
            with pytest.raises(StoreError):
                await remember(tx, HERE, "tea")
            with pytest.raises(StoreError, match="none of it was kept"):
                await remember(tx, HERE, "coffee")
    assert await texts(store, HERE) == []


async def test_a_read_sees_one_moment_while_others_write(store: Store) -> None:
    async with store.write() as tx:
        await remember(tx, HERE, "before")
    async with store.read() as reading:
        assert len(await reading.memories.of_scopes([HERE], dm=True)) == 1
        async with store.write() as tx:
            await remember(tx, HERE, "meanwhile")
        assert len(await reading.memories.of_scopes([HERE], dm=True)) == 1
    assert await texts(store, HERE) == ["before", "meanwhile"]


async def test_a_read_writes_nothing(store: Store) -> None:
    with pytest.raises(StoreError):
        async with store.read() as tx:
            await remember(tx, HERE, "sneaked in")
    assert await texts(store, HERE) == []


async def test_many_readers_at_once_all_get_an_answer(store: Store) -> None:
    async with store.write() as tx:
        await remember(tx, HERE, "tea")
    assert await asyncio.gather(*(texts(store, HERE) for _ in range(40))) == [["tea"]] * 40


async def add_below(store: Store, scope: Scope, text: str, cap: int) -> None:
    async with store.write() as tx:
        await tx.lock_scope(scope)
        unpinned, _ = await tx.memories.counts(scope)
        if unpinned < cap:
            await remember(tx, scope, text)


async def test_two_processes_that_race_never_pass_a_cap(url: str, opened: Opener) -> None:
    stores = [await opened(url), await opened(url)]
    await asyncio.gather(
        *(add_below(stores[n % 2], HERE, f"fact {n}", 10) for n in range(30)),
        *(add_below(stores[n % 2], ANA, f"fact {n}", 3) for n in range(10)),
    )
    assert [len(await texts(store, HERE)) for store in stores] == [10, 10]
    assert len(await texts(stores[0], ANA)) == 3


async def test_of_two_processes_only_one_stores_a_message_or_takes_a_decision(
    url: str, opened: Opener
) -> None:
    stores = [await opened(url), await opened(url)]

    async def arrive(store: Store) -> tuple[list[int], bool]:
        async with store.write() as tx:
            await tx.lock_channel(700)
            await tx.channels.put(PLACE)
            return await tx.messages.add([message(1), message(2)]), await tx.triggers.add(1, 700, NOW)

    answers = await asyncio.gather(*(arrive(stores[n % 2]) for n in range(6)))
    assert sorted(answers) == [([], False)] * 5 + [([1, 2], True)]


async def test_of_two_changes_from_the_same_version_one_wins(url: str, opened: Opener) -> None:
    stores = [await opened(url), await opened(url)]
    async with stores[0].write() as tx:
        saved = await remember(tx, ANA, "tea")

    async def change(store: Store, text: str) -> bool:
        async with store.write() as tx:
            return await tx.memories.change(saved.id, 1, at=NOW, text=text, norm=text) is not None

    assert sorted(await asyncio.gather(change(stores[0], "a"), change(stores[1], "b"))) == [False, True]


async def test_writing_inside_a_write_is_called_a_mistake_instead_of_hanging(
    tmp_path: Path, opened: Opener
) -> None:
    store = await opened(f"sqlite:///{tmp_path / 'a.sqlite3'}")
    with pytest.raises(RuntimeError, match="inside"):
        async with store.write(), store.write():
            pass
    async with store.write() as tx:
        await remember(tx, HERE, "fine")


async def test_closing_waits_for_running_units_and_refuses_new_ones(store: Store) -> None:
    inside, leave = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        async with store.write() as tx:
            await remember(tx, HERE, "kept")
            inside.set()
            await leave.wait()

    working = asyncio.create_task(work())
    await inside.wait()
    closing = asyncio.create_task(store.close())
    leave.set()
    await asyncio.gather(working, closing)
    with pytest.raises(StoreUnavailable, match="stopping"):
        async with store.read():
            pass
    with pytest.raises(StoreUnavailable, match="stopping"):
        async with store.write():
            pass
    await store.close()


KILLED = """
import asyncio, sys
from memory.store import Store
from tests.store.samples import HERE, remember

async def main():
    store = await Store.open(sys.argv[1])
    async with store.write() as tx:
        await remember(tx, HERE, "confirmed")
    async with store.write() as tx:
        await remember(tx, HERE, "half")
        print("ready", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.fault
async def test_a_killed_process_leaves_what_it_confirmed_and_no_half_of_a_write(
    url: str, opened: Opener
) -> None:
    root = Path(__file__).resolve().parents[2]
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, url, cwd=root, stdout=asyncio.subprocess.PIPE
    )
    assert child.stdout is not None
    assert (await child.stdout.readline()).strip() == b"ready"
    child.send_signal(signal.SIGKILL)
    await child.wait()
    store = await opened(url)
    assert await texts(store, HERE) == ["confirmed"]
    async with store.write() as tx:
        await remember(tx, HERE, "next")
    assert await texts(store, HERE) == ["confirmed", "next"]
