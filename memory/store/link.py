"""One connection inside one unit of work: runs statements and maps every error.

After a statement failed the unit is spent: the database may have rolled back on its own, so whatever followed
would be a half write.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import BigInteger, Executable, Row, bindparam, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from memory.errors import StoreError
from memory.store.faults import translate

SPENT = "An earlier step of this change failed, so none of it was kept. Try again."
BATCH = 1_000
"""Ids in one statement; SQLite takes 32,766 parameters."""

Parameters = Mapping[str, Any]
Fetched = Row[*tuple[Any, ...]]
"""One row, by position."""

_LOCK = select(func.pg_advisory_xact_lock(bindparam("key", type_=BigInteger)))


def batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """``ids`` in pieces of at most :data:`BATCH`."""
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]


class Link:
    """The statements of one unit of work."""

    __slots__ = ("_connection", "_locks", "failed")

    def __init__(self, connection: AsyncConnection, *, locks: bool) -> None:
        self._connection = connection
        self._locks = locks
        self.failed: StoreError | None = None

    async def rows(self, statement: Executable, parameters: Parameters | None = None) -> Sequence[Fetched]:
        return (await self._run(statement, parameters)).all()  # type: ignore[no-any-return]

    async def row(self, statement: Executable, parameters: Parameters | None = None) -> Fetched | None:
        return (await self._run(statement, parameters)).first()  # type: ignore[no-any-return]

    async def value(self, statement: Executable, parameters: Parameters | None = None) -> Any:
        """The first column of the first row, or None."""
        return (await self._run(statement, parameters)).scalar()

    async def ids(
        self, statement: Executable, parameters: Parameters | Sequence[Parameters] | None = None
    ) -> list[int]:
        return list((await self._run(statement, parameters)).scalars())

    async def write(self, statement: Executable, parameters: Parameters | None = None) -> int:
        """How many rows it touched."""
        return (await self._run(statement, parameters)).rowcount  # type: ignore[no-any-return]

    async def write_all(self, statement: Executable, parameters: Sequence[Parameters]) -> None:
        if parameters:
            await self._run(statement, parameters)

    async def lock(self, name: str) -> None:
        """Hold ``name`` against other processes until the transaction ends.

        SQLite needs nothing: its one writer is alone already.
        """
        if self._locks:
            digest = hashlib.blake2b(name.encode(errors="replace"), digest_size=8).digest()
            await self._run(_LOCK, {"key": int.from_bytes(digest, "big", signed=True)})

    async def _run(self, statement: Executable, parameters: Any) -> Any:
        if self.failed is not None:
            raise StoreError(SPENT)
        try:
            return await self._connection.execute(statement, parameters)
        except Exception as error:  # noqa: BLE001 (the boundary: nothing foreign may pass)
            self.failed = translate(error)
            raise self.failed from None
        except BaseException:  # cancelled on the way: the connection is gone, and its changes with it
            self.failed = StoreError(SPENT)
            raise
