"""Nothing foreign leaves the store: every failure is a StoreError with a sentence for a person."""

from __future__ import annotations

import asyncio
import errno
import inspect
import logging
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy.exc
from sqlalchemy import text

from memory.errors import StoreBusy, StoreError, StoreFull, StoreUnavailable
from memory.store import Store, address, faults, sqlite
from memory.store.link import Link
from tests.databases import POSTGRES, administer
from tests.store.conftest import Opener
from tests.store.samples import HERE, remember, texts

SECRET = "hunter2"
DROP_OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"


def made(kind: type[BaseException]) -> BaseException:
    """An exception of that class, whatever its constructor asks for."""
    if issubclass(kind, sqlalchemy.exc.DBAPIError):
        return kind("SELECT 1", {}, sqlite3.OperationalError("no such thing"))
    if issubclass(kind, sqlalchemy.exc.StatementError):
        return kind("message", "SELECT 1", {}, None)
    error = kind.__new__(kind)
    error.args = ("message",)
    return error


FOREIGN = [
    kind
    for _, kind in inspect.getmembers(sqlalchemy.exc, inspect.isclass)
    if issubclass(kind, Exception) and not issubclass(kind, Warning)
]
FOREIGN += [
    sqlite3.Error,
    sqlite3.OperationalError,
    OSError,
    ConnectionResetError,
    TimeoutError,
    OverflowError,
]


class Refusing:
    """A connection on which everything fails."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    async def execute(self, statement: Any, parameters: Any) -> None:
        raise self._error


@pytest.mark.parametrize("kind", FOREIGN, ids=lambda kind: kind.__name__)
async def test_no_foreign_exception_leaves_a_statement(kind: type[BaseException]) -> None:
    link = Link(Refusing(made(kind)), locks=False)  # type: ignore[arg-type]
    with pytest.raises(StoreError) as caught:
        await link.rows(text("SELECT 1"))
    assert str(caught.value).endswith(".")
    assert caught.value.__suppress_context__  # a printed traceback must not quote what members wrote


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("40P01", StoreBusy), ("55P03", StoreBusy), ("53100", StoreFull), ("57P01", StoreUnavailable),
        ("08006", StoreUnavailable), ("28P01", StoreUnavailable), ("3D000", StoreUnavailable),
        ("53300", StoreUnavailable), ("23505", StoreError), ("42P01", StoreError),
    ],
)  # fmt: skip
def test_what_postgresql_says_becomes_what_a_person_can_act_on(state: str, kind: type[StoreError]) -> None:
    class Said(Exception):
        sqlstate = state

    assert type(faults.translate(sqlalchemy.exc.DBAPIError("q", {}, Said("detail")))) is kind


def test_a_full_disk_and_a_lost_connection_are_told_apart() -> None:
    assert type(faults.translate(OSError(errno.ENOSPC, "full"))) is StoreFull
    assert type(faults.translate(ConnectionRefusedError())) is StoreUnavailable


def test_losing_the_connection_during_a_commit_does_not_claim_that_nothing_was_written() -> None:
    error = faults.translate(ConnectionResetError(), committing=True)
    assert type(error) is StoreUnavailable
    assert "Look whether" in str(error)


async def test_a_locked_database_is_busy_and_nothing_was_written(
    tmp_path: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.05)
    url = f"sqlite:///{tmp_path / 'a.sqlite3'}"
    first, second = await opened(url), await opened(url)
    async with first.write() as tx:
        await remember(tx, HERE, "first")
        with pytest.raises(StoreBusy, match="try again"):
            async with second.write() as other:
                await remember(other, HERE, "second")
    assert await texts(second, HERE) == ["first"]


async def test_a_full_database_says_so_and_works_on_when_there_is_room(
    tmp_path: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'a.sqlite3'}"
    await (await opened(url)).close()
    monkeypatch.setattr(sqlite, "_WRITER", (*sqlite._WRITER, "PRAGMA max_page_count=1"))
    store = await opened(url)
    with pytest.raises(StoreFull, match="Nothing was written"):
        async with store.write() as tx:
            await remember(tx, HERE, "small")
            await remember(tx, HERE, "x" * 200_000)
    assert await texts(store, HERE) == []
    async with store.write() as tx:
        await remember(tx, HERE, "small")
    assert await texts(store, HERE) == ["small"]


async def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes, not a database\n" * 100)
    with pytest.raises(StoreUnavailable, match="not an SQLite database"):
        await Store.open(f"sqlite:///{path}")
    assert path.read_text().startswith("my notes")


async def test_a_folder_in_place_of_the_file_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="DATABASE_URL"):
        await Store.open(f"sqlite:///{tmp_path}")


async def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="DATABASE_URL"):
        await Store.open(f"sqlite:///{tmp_path / 'file' / 'a.sqlite3'}")


async def test_the_folder_of_the_file_is_made(tmp_path: Path, opened: Opener) -> None:
    await opened(f"sqlite+aiosqlite:///{tmp_path / 'deep' / 'er' / 'a.sqlite3'}")
    assert (tmp_path / "deep" / "er" / "a.sqlite3").exists()


@pytest.mark.parametrize(
    "url",
    [
        "", "nonsense", f"mysql://me:{SECRET}@host/name", f"postgresql+psycopg2://me:{SECRET}@host/name",
        "sqlite://", "sqlite:///:memory:", f"postgresql://me:{SECRET}@host:notaport/name", "://",
        f"postgresql://me:{SECRET}@127.0.0.1:1/name", f"postgresql://me:{SECRET}@127.0.0.1:1/name?nonsense=1",
    ],
)  # fmt: skip
async def test_a_bad_address_is_answered_with_a_sentence_and_never_with_the_password(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with pytest.raises(StoreError) as caught:
        await Store.open(url)
    assert "DATABASE_URL" in str(caught.value)
    assert SECRET not in str(caught.value) + caplog.text


def test_postgresql_without_its_driver_names_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(address, "find_spec", lambda name: None)
    with pytest.raises(StoreUnavailable, match=r"pip install -r requirements-postgres\.txt"):
        address.parse("postgresql://me@host/name")


def test_an_address_as_hosts_hand_it_out_is_understood() -> None:
    found = address.parse("postgres://me:pw@host/name?sslmode=require&channel_binding=require")
    assert found.drivername == "postgresql+asyncpg"
    assert dict(found.query) == {"ssl": "require"}


async def test_an_id_beyond_64_bits_is_refused_with_a_sentence(store: Store) -> None:
    with pytest.raises(StoreError, match="Nothing was written"):
        async with store.write() as tx:
            await tx.names.put(70, {2**63: "too big"})


if POSTGRES:

    @pytest.mark.parametrize("url", POSTGRES, indirect=True)
    async def test_after_the_server_dropped_its_connections_the_next_unit_works(
        store: Store, url: str
    ) -> None:
        with pytest.raises(StoreUnavailable):
            async with store.write() as tx:
                await remember(tx, HERE, "half")
                await asyncio.to_thread(administer, DROP_OTHERS.format(name=url.rpartition("/")[2]))
                await remember(tx, HERE, "lost")
        async with store.write() as tx:
            await remember(tx, HERE, "next")
        assert await texts(store, HERE) == ["next"]
