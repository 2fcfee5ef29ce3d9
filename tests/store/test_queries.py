"""No query of a turn reads a whole table: each has its index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from types import ModuleType

import pytest
from sqlalchemy import Delete, Select, Update, create_engine
from sqlalchemy.dialects import sqlite
from sqlalchemy.pool import StaticPool

from memory.store import (
    channels,
    config,
    hooks,
    journal,
    memories,
    messages,
    names,
    notices,
    outbox,
    personas,
    proposals,
    triggers,
)
from memory.store import turns as turns_module
from memory.store.tables import metadata

ROOMS = [
    channels,
    config,
    hooks,
    journal,
    memories,
    messages,
    names,
    notices,
    outbox,
    personas,
    proposals,
    triggers,
    turns_module,
]
DIALECT = sqlite.dialect()
WHOLE = {"_PENDING of outbox"}
"""The outbox holds only what is on its way, so reading all of it is the question."""


def statements(room: ModuleType) -> list[tuple[str, object]]:
    name = room.__name__.rpartition(".")[2]
    found = [
        (f"{key} of {name}", value)
        for key, value in vars(room).items()
        if key.isupper() and isinstance(value, Select | Update | Delete)
    ]
    if room is memories:
        found += [(f"of_scopes({dm}) of {name}", memories._of_scopes(22, dm)) for dm in (True, False)]
    if room is journal:
        found += [(f"standing_by of {name}", journal._standing_by(3))]
    return found


@pytest.fixture
def empty() -> Iterator[sqlite3.Connection]:
    engine = create_engine("sqlite://", poolclass=StaticPool)
    metadata.create_all(engine)
    with engine.connect() as connection:
        yield connection.connection.driver_connection
    engine.dispose()


def as_sql(statement: Select | Update | Delete) -> str:
    compiled = statement.compile(dialect=DIALECT)
    values = {bind.key: [1] if bind.expanding else 1 for bind in compiled.bind_names}
    return compiled.construct_expanded_state(values).statement


def test_every_query_finds_its_rows_by_an_index(empty: sqlite3.Connection) -> None:
    reading_all = []
    for name, statement in [pair for room in ROOMS for pair in statements(room)]:
        sql = as_sql(statement)
        plan = [row[3] for row in empty.execute(f"EXPLAIN QUERY PLAN {sql}", [1] * sql.count("?"))]
        if name not in WHOLE and any(step.startswith("SCAN") and "INDEX" not in step for step in plan):
            reading_all.append((name, plan))
    assert reading_all == []
