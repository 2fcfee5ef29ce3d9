"""The floor: statements as the drivers get them, recorded and run again with nothing of ours around them."""

from __future__ import annotations

import asyncio
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

import aiosqlite

ENDS = ("COMMIT", "ROLLBACK")


@dataclass
class Unit:
    """One transaction."""

    statements: list[tuple[str, Sequence[Any]]] = field(default_factory=list)
    end: str = ""


@dataclass
class Recording:
    """What went to the drivers, in the order in which units ended."""

    done: list[Unit] = field(default_factory=list)
    _open: dict[int, Unit] = field(default_factory=dict)

    def heard(self, connection: int, sql: str, parameters: Any) -> None:
        """To be given to ``Store.watch``."""
        if sql in ENDS:
            unit = self._open.pop(connection, None)
            if unit is not None:
                unit.end = sql
                self.done.append(unit)
            return
        self._open.setdefault(connection, Unit()).statements.append((sql, parameters))

    def take(self) -> list[Unit]:
        """What was recorded since the last time."""
        units, self.done = self.done, []
        return units


class Raw(Protocol):
    """A bare driver on a database of its own."""

    async def run(self, unit: Unit) -> None: ...

    async def close(self) -> None: ...


class RawSqlite:
    """aiosqlite with the pragmas of the bot's own connections."""

    def __init__(self, writer: aiosqlite.Connection, reader: aiosqlite.Connection) -> None:
        self._writer = writer
        self._reader = reader

    @classmethod
    async def open(cls, path: Path) -> RawSqlite:
        made = []
        for _ in range(2):
            connection = await aiosqlite.connect(path, isolation_level=None)
            for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
                await connection.execute_fetchall(f"PRAGMA {pragma}")
            made.append(connection)
        return cls(*made)

    async def run(self, unit: Unit) -> None:
        writes = unit.end == "COMMIT"
        connection = self._writer if writes else self._reader
        await connection.execute_fetchall("BEGIN IMMEDIATE" if writes else "BEGIN")
        for sql, parameters in unit.statements:
            await connection.execute_fetchall(sql, parameters)
        await connection.execute_fetchall(unit.end)

    async def close(self) -> None:
        await self._writer.close()
        await self._reader.close()


class RawPostgres:
    """asyncpg, with its own cache of prepared statements."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    @classmethod
    async def open(cls, url: str) -> RawPostgres:
        import asyncpg

        return cls(await asyncpg.connect(url))

    async def run(self, unit: Unit) -> None:
        writes = unit.end == "COMMIT"
        await self._connection.execute(
            "BEGIN" if writes else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        )
        for sql, parameters in unit.statements:
            await self._connection.fetch(sql, *parameters)
        await self._connection.execute(unit.end)

    async def close(self) -> None:
        await self._connection.close()


class Databases:
    """Two databases for one bench: the bot's, and a copy of it for the floor. Removed at the end."""

    def __init__(self, url: str, folder: Path) -> None:
        self._folder = folder
        self._server = url if url.startswith("postgres") else ""
        self._name = f"keepsake_bench_{uuid.uuid4().hex[:12]}"

    @property
    def url(self) -> str:
        """The bot's."""
        return self._on_server(self._name) if self._server else f"sqlite:///{self._folder / 'bench.sqlite3'}"

    def _on_server(self, name: str) -> str:
        parts = urlsplit(self._server.replace("postgresql+asyncpg", "postgresql"))
        return urlunsplit(parts._replace(path=f"/{name}"))

    async def _administer(self, *statements: str) -> None:
        import asyncpg

        connection = await asyncpg.connect(self._server.replace("postgresql+asyncpg", "postgresql"))
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()

    async def __aenter__(self) -> Databases:
        if self._server:
            await self._administer(f"CREATE DATABASE {self._name}")
        return self

    async def copy(self) -> Raw:
        """The bot's database as it is now, behind a bare driver. The bot must not be connected."""
        if self._server:
            await self._administer(f"CREATE DATABASE {self._name}_raw TEMPLATE {self._name}")
            return await RawPostgres.open(self._on_server(f"{self._name}_raw"))
        copy = self._folder / "raw.sqlite3"
        await asyncio.to_thread(shutil.copyfile, self._folder / "bench.sqlite3", copy)
        return await RawSqlite.open(copy)

    async def __aexit__(self, *error: object) -> None:
        if self._server:
            await self._administer(
                f"DROP DATABASE IF EXISTS {self._name}_raw WITH (FORCE)",
                f"DROP DATABASE IF EXISTS {self._name} WITH (FORCE)",
            )
