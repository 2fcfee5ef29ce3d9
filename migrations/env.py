"""Runs the revisions on the connection and in the transaction of :mod:`memory.store.migrate`."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from memory.store.tables import metadata

connection: Connection | None = context.config.attributes.get("connection")
if connection is None:
    raise RuntimeError("migrations run through memory.store.migrate, which opens the database and locks it")

context.configure(
    connection=connection,
    target_metadata=metadata,
    render_as_batch=connection.dialect.name == "sqlite",
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
