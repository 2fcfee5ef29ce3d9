"""What DATABASE_URL may say. A password never reaches a message."""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from memory.errors import StoreUnavailable
from memory.store.faults import translate

_EXAMPLES = "sqlite:///data/keepsake.sqlite3 or postgresql://user:password@host:5432/name"
_SQLITE = {"sqlite", "sqlite+aiosqlite"}
_POSTGRES = {"postgres", "postgresql", "postgresql+asyncpg"}
_LIBPQ_ONLY = {"channel_binding", "sslcert", "sslkey", "sslrootcert", "target_session_attrs", "gssencmode"}


def parse(url: str) -> URL:
    """The address with its async driver.

    Raises :class:`StoreUnavailable` when it is not one of ours or its driver is missing.
    """
    try:
        found = make_url(url)
    except (ArgumentError, ValueError):
        raise StoreUnavailable(f"DATABASE_URL cannot be read. It looks like {_EXAMPLES}.") from None
    if found.drivername in _SQLITE:
        return _sqlite(found)
    if found.drivername in _POSTGRES:
        return _postgres(found)
    raise StoreUnavailable(
        f"DATABASE_URL names a database that Keepsake does not know. It looks like {_EXAMPLES}."
    )


def is_sqlite(url: URL) -> bool:
    return url.get_backend_name() == "sqlite"


def make_folder(url: URL) -> None:
    """Create the folder of an SQLite file. Raises :class:`StoreUnavailable` or :class:`StoreFull`."""
    try:
        Path(url.database or "").parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise translate(error) from None


def _sqlite(url: URL) -> URL:
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise StoreUnavailable("DATABASE_URL must name a file, such as sqlite:///data/keepsake.sqlite3.")
    return url.set(drivername="sqlite+aiosqlite")


def _postgres(url: URL) -> URL:
    if find_spec("asyncpg") is None:
        raise StoreUnavailable(
            "DATABASE_URL names PostgreSQL, but its driver is missing. "
            "Run: pip install -r requirements-postgres.txt"
        )
    query = dict(url.query)
    mode = query.pop("sslmode", None)  # what hosts hand out is written for libpq
    if mode is not None and "ssl" not in query:
        query["ssl"] = mode
    for name in _LIBPQ_ONLY:
        query.pop(name, None)
    unknown = sorted(query.keys() - _options())
    if unknown:
        raise StoreUnavailable(f"DATABASE_URL has an option that the driver does not know: {unknown[0]}.")
    return url.set(drivername="postgresql+asyncpg", query=query)


def _options() -> set[str]:
    driver = import_module("asyncpg")  # installed only where PostgreSQL is used
    return {*inspect.signature(driver.connect).parameters, "prepared_statement_cache_size"}
