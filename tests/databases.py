"""Fresh databases: SQLite always, PostgreSQL when DATABASE_URL_TEST names a server for it."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

SERVER = os.environ.get("DATABASE_URL_TEST", "")
POSTGRES = [pytest.param("postgres", marks=pytest.mark.postgres)] if SERVER else []
KINDS = ["sqlite", *POSTGRES]


def administer(*statements: str) -> None:
    """Run statements on the server outside of any database of a test."""
    import asyncpg

    async def run() -> None:
        connection = await asyncpg.connect(SERVER.replace("postgresql+asyncpg", "postgresql"))
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()

    with ThreadPoolExecutor(1) as pool:  # the test has an event loop of its own
        pool.submit(asyncio.run, run()).result()


@contextmanager
def fresh(kind: str, folder: Path) -> Iterator[str]:
    """An address where no schema is yet, for the length of a test."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'keepsake.sqlite3'}"
        return
    name = f"keepsake_{uuid.uuid4().hex}"
    administer(f"CREATE DATABASE {name}")
    try:
        yield f"{SERVER.rpartition('/')[0]}/{name}"
    finally:
        administer(f"DROP DATABASE {name} WITH (FORCE)")
