"""The SQLite driver as Keepsake uses it: one trip to the database's thread for each statement.

aiosqlite alone takes four (cursor, execute, fetch, close), and each costs more than most of our statements.
The transaction is begun here too, in the same trip as the first statement: ``BEGIN IMMEDIATE`` on the writing
connection, so that what is checked stays true until it is written, and ``BEGIN`` on a reading one, so that
all its statements see one snapshot.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Sequence
from typing import Any

import aiosqlite

from memory.store.waiting import finish

BUSY_SECONDS = 5.0
"""How long a statement waits for another process before it is StoreBusy."""

_WAL_PAUSE = 0.02
_WAL_TRIES = int(BUSY_SECONDS / _WAL_PAUSE)
_PRAGMAS = ("PRAGMA foreign_keys=ON", "PRAGMA temp_store=MEMORY")
_WRITER = ("PRAGMA synchronous=FULL", "PRAGMA journal_size_limit=67108864")
_READER = ("PRAGMA query_only=ON",)
_Answer = tuple[list[Any], Any, int, int | None]


class _Cursor:
    """What SQLAlchemy expects of a cursor, answered from the one trip."""

    def __init__(self, connection: SqliteConnection) -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.arraysize = 1

    async def __aenter__(self) -> _Cursor:
        return self

    async def execute(self, sql: str, parameters: Sequence[Any] = ()) -> _Cursor:
        return self._take(await self._connection.trip(sql, parameters))

    async def executemany(self, sql: str, parameters: Sequence[Sequence[Any]]) -> _Cursor:
        return self._take(await self._connection.trip(sql, parameters, many=True))

    async def fetchall(self) -> list[Any]:
        rows, self._rows = self._rows, []
        return rows

    async def close(self) -> None:
        self._rows = []

    def _take(self, answer: _Answer) -> _Cursor:
        self._rows, self.description, self.rowcount, self.lastrowid = answer
        return self


class SqliteConnection(aiosqlite.Connection):
    """A connection that begins its own transactions and answers a statement in one trip."""

    def __init__(self, path: str, *, writes: bool, foreign_keys: bool = True) -> None:
        super().__init__(lambda: _connect(path, writes, foreign_keys), 64)
        self._thread.daemon = True  # an abandoned connection must not keep the process alive
        self._begin = "BEGIN IMMEDIATE" if writes else "BEGIN"

    async def opened(self) -> SqliteConnection:
        """Open it. When that fails or is cancelled, its thread has ended before the error leaves."""
        opening = asyncio.create_task(self._open())
        cancelled = await finish(opening)
        if opening.cancelled() or opening.exception() is not None:
            await finish(asyncio.create_task(asyncio.to_thread(self._thread.join)))
        elif cancelled:
            await finish(asyncio.create_task(self.close()))
        if cancelled:
            raise asyncio.CancelledError
        return opening.result()

    async def _open(self) -> SqliteConnection:
        await self
        return self

    def cursor(self) -> _Cursor:  # type: ignore[override]
        return _Cursor(self)

    async def trip(self, sql: str, parameters: Sequence[Any], *, many: bool = False) -> _Answer:
        answer: _Answer = await self._execute(self._run, sql, parameters, many)  # type: ignore[no-untyped-call]
        return answer

    def _run(self, sql: str, parameters: Sequence[Any], many: bool) -> _Answer:
        connection = self._conn
        if not connection.in_transaction:
            connection.execute(self._begin)
        cursor = connection.executemany(sql, parameters) if many else connection.execute(sql, parameters)
        try:
            rows = cursor.fetchall() if cursor.description else []
            return rows, cursor.description, cursor.rowcount, cursor.lastrowid
        finally:
            cursor.close()


def _connect(path: str, writes: bool, foreign_keys: bool) -> sqlite3.Connection:
    """Runs in the connection's own thread."""
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        for pragma in (*_PRAGMAS, *(_WRITER if writes else _READER)):
            connection.execute(pragma)
        if not foreign_keys:
            connection.execute("PRAGMA foreign_keys=OFF")
        if writes:
            _use_wal(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _use_wal(connection: sqlite3.Connection) -> None:
    """Turning WAL on does not honour the busy timeout when two processes do it at once."""
    for _ in range(_WAL_TRIES):  # counted, not timed: the playground's clock stands still
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            time.sleep(_WAL_PAUSE)
    connection.execute("PRAGMA journal_mode=WAL")
