"""The engines behind a store: how connections are made, kept and given out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import event
from sqlalchemy.engine import URL, Connection
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool, ConnectionPoolEntry, NullPool

from memory.store.sqlite import SqliteConnection
from memory.store.waiting import finish

READERS = 4
"""Reading connections of one process on SQLite."""

POOL = 5
"""Connections kept to PostgreSQL; as many again are opened under load."""

PATIENCE = 10
"""Seconds: to connect, to wait for a free connection, and for a row that somebody else holds."""

Heard = Callable[[int, str, object], None]
"""Called with the connection's number, the SQL as the driver gets it (``COMMIT`` and ``ROLLBACK`` at the end
of a unit), and its parameters."""


@dataclass(frozen=True, slots=True)
class Engines:
    """``writer`` and ``reader`` are the same engine on PostgreSQL, with other options."""

    writer: AsyncEngine
    reader: AsyncEngine
    one_writer: bool

    async def open_writer(self) -> AsyncConnection:
        return await _connect(self.writer)

    async def open_reader(self) -> AsyncConnection:
        return await _connect(self.reader)

    def watch(self, heard: Heard) -> None:
        """Have ``heard`` told of everything that goes to the drivers from now on."""
        _listen(self.writer, heard)
        if self.one_writer:
            _listen(self.reader, heard)

    async def dispose(self) -> None:
        await self.writer.dispose()
        await self.reader.dispose()


def _listen(engine: AsyncEngine, heard: Heard) -> None:
    sync = engine.sync_engine

    @event.listens_for(sync, "before_cursor_execute")
    def statement(
        connection: Connection, cursor: object, sql: str, parameters: object, context: object, many: bool
    ) -> None:
        heard(id(connection.connection.dbapi_connection), sql, parameters)

    @event.listens_for(sync, "commit")
    def commit(connection: Connection) -> None:
        heard(id(connection.connection.dbapi_connection), "COMMIT", ())

    @event.listens_for(sync, "rollback")
    def rollback(connection: Connection) -> None:
        heard(id(connection.connection.dbapi_connection), "ROLLBACK", ())


async def _connect(engine: AsyncEngine) -> AsyncConnection:
    """A connection of the pool. Making a new one is not torn apart by a cancellation: it would leak."""
    pool = engine.pool
    if isinstance(pool, AsyncAdaptedQueuePool) and pool.checkedin():
        return await engine.connect()
    opening = asyncio.create_task(_start(engine))
    if await finish(opening):
        if not opening.cancelled() and opening.exception() is None:
            await opening.result().close()
        raise asyncio.CancelledError
    return opening.result()


async def _start(engine: AsyncEngine) -> AsyncConnection:
    return await engine.connect()


def build(url: URL) -> Engines:
    """The engines for an address of :func:`memory.store.address.parse`."""
    return _sqlite(url) if url.get_backend_name() == "sqlite" else _postgres(url)


def build_migrator(url: URL) -> AsyncEngine:
    """An engine for migrations. On SQLite without foreign keys: rebuilding a table drops it first."""
    if url.get_backend_name() == "sqlite":
        return create_async_engine(
            url,
            async_creator=_opener(url, writes=True, foreign_keys=False),
            poolclass=NullPool,
            hide_parameters=True,
        )
    return create_async_engine(
        url, poolclass=NullPool, hide_parameters=True, connect_args={"timeout": PATIENCE}
    )


def _opener(
    url: URL, *, writes: bool, foreign_keys: bool = True
) -> Callable[[], Awaitable[SqliteConnection]]:
    # Resolved now: the same file, whatever the current directory becomes.
    path = str(Path(url.database or "").absolute())

    async def connect() -> SqliteConnection:
        return await SqliteConnection(path, writes=writes, foreign_keys=foreign_keys).opened()

    return connect


def _sqlite(url: URL) -> Engines:
    def engine(*, writes: bool, size: int) -> AsyncEngine:
        # A unit always commits or rolls back itself, so the pool needs no rollback of its own (a trip each).
        return create_async_engine(
            url,
            async_creator=_opener(url, writes=writes),
            poolclass=AsyncAdaptedQueuePool,
            pool_size=size,
            max_overflow=0,
            pool_timeout=PATIENCE,
            pool_reset_on_return=None,
            hide_parameters=True,
        )

    return Engines(engine(writes=True, size=1), engine(writes=False, size=READERS), one_writer=True)


def _postgres(url: URL) -> Engines:
    writer = create_async_engine(
        url,
        pool_size=POOL,
        max_overflow=POOL,
        pool_timeout=PATIENCE,
        pool_pre_ping=True,  # a restarted server or a dropped idle connection must not cost a turn
        hide_parameters=True,
        connect_args={"timeout": PATIENCE},
    )

    @event.listens_for(writer.sync_engine, "connect")
    def be_patient(connection: DBAPIConnection, entry: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        cursor.execute(f"SET lock_timeout = '{PATIENCE}s'")
        cursor.close()
        connection.commit()

    reader = writer.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return Engines(writer, reader, one_writer=False)
