"""An event that overtakes the storing of its message still counts: deletions, edits (SPEC §2, §12)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory.llm import tokenizers
from memory.store import Store
from memory.types import Person
from memory.window.recorder import Recorder
from tests.databases import KINDS, fresh
from tests.fakes import GENERAL, FakeClock, FakeSurface

ANA = Person(501, "Ana")


class Overtaken:
    """A store in whose next transaction, once it has written and before it commits, something else begins."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.then: Callable[[], Awaitable[Any]] | None = None
        self.tasks: list[asyncio.Future[Any]] = []

    def read(self) -> Any:
        return self._store.read()

    @asynccontextmanager
    async def write(self) -> AsyncIterator[Any]:
        then, self.then = self.then, None
        async with self._store.write() as tx:
            yield tx
            if then is not None:
                self.tasks.append(asyncio.ensure_future(then()))
                await asyncio.sleep(0.1)

    async def settled(self) -> None:
        await asyncio.gather(*self.tasks)


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with fresh(request.param, tmp_path) as address:
        yield address


@pytest.fixture
async def store(url: str) -> AsyncIterator[Overtaken]:
    made = await Store.open(url)
    yield Overtaken(made)
    await made.close()


@pytest.fixture
def recorder(store: Overtaken) -> Recorder:
    tokenizer, _ = tokenizers.load("gpt-4o")
    return Recorder(store, FakeClock(), tokenizer)  # type: ignore[arg-type]


async def texts(store: Overtaken) -> list[str]:
    async with store.read() as tx:
        return [m.text for m in await tx.messages.window(GENERAL.channel_id, 0, 0)]


async def test_a_message_deleted_while_it_is_stored_is_gone_and_calls_nobody(
    store: Overtaken, recorder: Recorder
) -> None:
    said = FakeSurface(FakeClock()).say(ANA, "the code is PIN7788")
    store.then = lambda: recorder.deleted(GENERAL.channel_id, [said.message_id])
    await recorder.observe(said, trigger=True)
    await store.settled()
    assert await texts(store) == []
    async with store.read() as tx:
        assert await tx.triggers.waiting(GENERAL.channel_id, 5) == []


async def test_a_message_deleted_while_the_window_is_compared_is_gone(
    store: Overtaken, recorder: Recorder
) -> None:
    surface = FakeSurface(FakeClock())
    secret = surface.say(ANA, "the code is PIN7788")
    surface.say(ANA, "hello")
    store.then = lambda: recorder.deleted(GENERAL.channel_id, [secret.message_id])
    await recorder.in_step(GENERAL, surface)
    await store.settled()
    assert await texts(store) == ["hello"]


async def test_a_message_edited_while_it_is_stored_has_its_new_words(
    store: Overtaken, recorder: Recorder
) -> None:
    surface = FakeSurface(FakeClock())
    await recorder.observe(surface.say(ANA, "hello"), trigger=True)
    said = surface.say(ANA, "I like plums")
    store.then = lambda: recorder.edited(replace(said, text="I like pears"))
    await recorder.observe(said, trigger=False)
    await store.settled()
    assert await texts(store) == ["hello", "I like pears"]
