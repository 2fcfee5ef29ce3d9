"""The schema is built from zero, once, whoever comes first, and a newer one is left alone."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from memory.errors import SchemaTooNew
from memory.store import Store, address, engines, migrate
from memory.store.tables import metadata
from memory.types import TurnState
from tests.store.conftest import Opener
from tests.store.samples import HERE, NOW, PLACE, remember, texts


async def run(url: str, work: object) -> object:
    engine = engines.build_migrator(address.parse(url))
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(work)  # type: ignore[arg-type]
    finally:
        await engine.dispose()


async def test_the_migrations_build_what_the_tables_say(store: Store, url: str) -> None:
    def compare(connection: Connection) -> object:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return compare_metadata(context, metadata)

    assert await run(url, compare) == []


async def test_ids_are_never_used_again_on_sqlite(tmp_path: Path, opened: Opener) -> None:
    url = f"sqlite:///{tmp_path / 'a.sqlite3'}"
    await opened(url)

    def counting(connection: Connection) -> set[str]:
        found = connection.execute(text("SELECT name FROM sqlite_master WHERE sql LIKE '%AUTOINCREMENT%'"))
        return set(found.scalars())

    expected = {"memories", "journal", "notices", "personas", "proposals", "turns"}
    assert await run(url, counting) == expected


def test_the_revisions_are_one_line() -> None:
    assert len(ScriptDirectory.from_config(migrate.config()).get_heads()) == 1


async def test_what_the_first_version_kept_is_kept_by_every_later_one(url: str, opened: Opener) -> None:
    def first(connection: Connection) -> None:
        command.upgrade(migrate.config(connection), "0001")
        for statement in FIRST_VERSION:
            connection.execute(text(statement))

    await run(url, first)
    store = await opened(url)
    async with store.read() as tx:
        (kept,) = await tx.messages.window(700, 0, 0)
        assert (kept.id, kept.text, kept.lineage) == (5, "hello", "")
        assert await tx.triggers.waiting(700, 10) == [(5, 0)]
        turn = await tx.turns.by_reply(6)
        assert turn is not None and (turn.id, turn.persona_id, turn.reply_ids) == (3, 0, (6,))
    async with store.write() as tx:
        assert await tx.turns.discard(3, TurnState.REPLACED)
        opened_now = await tx.turns.open(PLACE, "k", [7], [1], NOW)
        assert opened_now.id != 3


FIRST_VERSION = (
    "INSERT INTO messages VALUES (5, 700, 1, 'Ana', 'member', 'hello', '[12:00] Ana: hello', 9, 'o200k_base',"
    " 0, NULL, NULL, false, '', NULL)",
    "INSERT INTO triggers VALUES (5, 700, 'waiting', NULL, 0)",
    "INSERT INTO turns VALUES (3, 700, 70, NULL, 'kitchen', 'keepsake', 'delivered', '[4]', '[1]', 0, '[6]',"
    " NULL, '', 1, 1, 0, 'm', 0, 0, NULL)",
    "INSERT INTO turn_replies VALUES (6, 3)",
)


async def test_a_database_of_a_newer_version_is_refused_and_left_alone(url: str, opened: Opener) -> None:
    await (await opened(url)).close()

    def to_the_future(connection: Connection) -> None:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))

    await run(url, to_the_future)
    with pytest.raises(SchemaTooNew, match="newer Keepsake"):
        await Store.open(url)

    def version(connection: Connection) -> object:
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()

    assert await run(url, version) == "9999"


async def test_opening_again_keeps_everything(url: str, opened: Opener) -> None:
    first = await opened(url)
    async with first.write() as tx:
        await remember(tx, HERE, "tea")
    await first.close()
    assert await texts(await opened(url), HERE) == ["tea"]


async def test_the_current_directory_does_not_matter(
    url: str, opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    await opened(url)


async def test_a_relative_file_stays_the_same_file_when_the_directory_changes(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = await opened("sqlite:///data/a.sqlite3")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    async with store.write() as tx:
        await remember(tx, HERE, "tea")
    assert await texts(store, HERE) == ["tea"]
    assert (tmp_path / "data" / "a.sqlite3").exists()


async def test_two_that_open_an_empty_database_at_once_both_succeed(url: str, opened: Opener) -> None:
    stores = await asyncio.gather(*(opened(url) for _ in range(3)))
    assert [await texts(store, HERE) for store in stores] == [[], [], []]


OPENING = """
import asyncio, sys
from memory.store import Store

async def main():
    sys.stdin.readline()
    store = await Store.open(sys.argv[1])
    await store.close()

asyncio.run(main())
"""


@pytest.mark.fault
async def test_two_processes_that_open_an_empty_database_at_once_both_succeed(url: str) -> None:
    root = Path(__file__).resolve().parents[2]
    children = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-W", "error", "-c", OPENING, url, cwd=root,
            stdin=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )
        for _ in range(2)
    ]  # fmt: skip
    ends = await asyncio.gather(*(child.communicate(b"go\n") for child in children))
    assert [(child.returncode, errors) for child, (_, errors) in zip(children, ends, strict=True)] == [
        (0, b"")
    ] * 2
