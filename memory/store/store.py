"""A database, opened. Reads and writes are short units of work; see :mod:`memory.store.unit`."""

from __future__ import annotations

import asyncio

from sqlalchemy.exc import SQLAlchemyError

from memory.errors import StoreUnavailable
from memory.store import address, engines
from memory.store.engines import Heard
from memory.store.faults import translate
from memory.store.migrate import migrate
from memory.store.unit import ReadUnit, Turnstile, WriteUnit


class Store:
    """One open database of one process. Make it with :meth:`open`, end it with :meth:`close`."""

    def __init__(self, made: engines.Engines) -> None:
        self._engines = made
        self._turnstile = Turnstile() if made.one_writer else None
        self._locks = not made.one_writer
        self._closed = False
        self._units = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @classmethod
    async def open(cls, url: str) -> Store:
        """Open ``sqlite:///path`` or ``postgresql://…`` (with or without the async driver's name).

        Creates the file and its folder, and brings the schema up to date under a lock. Raises
        :class:`StoreUnavailable` (bad address, no server, no driver), :class:`StoreBusy`, :class:`StoreFull`,
        :class:`SchemaTooNew` or :class:`StoreError`.
        """
        parsed = address.parse(url)
        if address.is_sqlite(parsed):
            address.make_folder(parsed)
        await migrate(parsed)
        try:
            return cls(engines.build(parsed))
        except (SQLAlchemyError, TypeError) as error:
            raise translate(error) from None

    def read(self) -> ReadUnit:
        """A short read: ``async with store.read() as tx``. All of it sees one moment."""
        return ReadUnit(self._engines.open_reader, self._enter, self._leave, self._locks)

    def write(self) -> WriteUnit:
        """A short write: ``async with store.write() as tx``. Committed at the end, or nothing of it.

        Cancelled inside: rolled back. Cancelled while it commits: committed, then cancelled. Never nest two.
        """
        return WriteUnit(self._engines.open_writer, self._enter, self._leave, self._locks, self._turnstile)

    def watch(self, heard: Heard) -> None:
        """Tell ``heard`` every statement as the driver gets it, and every end of a unit (to measure)."""
        self._engines.watch(heard)

    async def close(self) -> None:
        """Refuse new units, wait for the running ones, close every connection. Safe to call twice."""
        self._closed = True
        await self._idle.wait()
        try:
            await self._engines.dispose()
        except Exception as error:  # noqa: BLE001 (the boundary: nothing foreign may pass)
            raise translate(error) from None

    def _enter(self) -> None:
        if self._closed:
            raise StoreUnavailable("The database is closed: Keepsake is stopping. Nothing was written.")
        self._units += 1
        self._idle.clear()

    def _leave(self) -> None:
        self._units -= 1
        if not self._units:
            self._idle.set()
