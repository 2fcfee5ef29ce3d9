"""Brings a database to this version's schema, under a lock, in one transaction. A newer one is refused.

The revisions live in ``migrations/`` beside the package, wherever the process was started.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.engine import URL

from memory.errors import SchemaTooNew, StoreError
from memory.store.engines import build_migrator
from memory.store.faults import translate

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"

_LOCK = text("SELECT pg_advisory_xact_lock(7310309203251462501)")
"""One arbitrary number, the same in every Keepsake."""

_PATIENCE = text("SET LOCAL lock_timeout = '120s'")


def config(connection: Connection | None = None) -> Config:
    """Alembic's configuration, made here instead of read from a file."""
    made = Config()
    made.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    made.set_main_option("path_separator", "os")
    made.attributes["connection"] = connection
    return made


async def migrate(url: URL) -> None:
    """Apply what is missing. Raises :class:`SchemaTooNew` and other children of :class:`StoreError`."""
    engine = build_migrator(url)
    try:
        async with engine.begin() as connection:
            await connection.run_sync(_upgrade)
    except Exception as error:  # noqa: BLE001 (the boundary: nothing foreign may pass)
        raise translate(error) from None
    finally:
        await engine.dispose()


def _upgrade(connection: Connection) -> None:
    sqlite = connection.dialect.name == "sqlite"
    if not sqlite:
        connection.execute(_PATIENCE)
        connection.execute(_LOCK)
    script = ScriptDirectory.from_config(config())
    present = set(MigrationContext.configure(connection).get_current_heads())
    if present == set(script.get_heads()):
        return
    if not present <= {revision.revision for revision in script.walk_revisions()}:
        raise SchemaTooNew(
            "The database was written by a newer Keepsake. Nothing was changed; update Keepsake, "
            "or point DATABASE_URL at another database."
        )
    command.upgrade(config(connection), "head")
    if sqlite and connection.execute(text("PRAGMA foreign_key_check")).first() is not None:
        raise StoreError(
            "Bringing the database up to date would leave rows without their owner. Nothing was changed."
        )
