"""Conditions on many scopes at once.

Written as OR, because SQLite reads the whole table for ``(a, b, c) IN (…)`` (21 ms against 0.9 ms at 160,000
rows). One statement per number of scopes is kept, so each is compiled once.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Table, and_, bindparam, or_

from memory.store.codec import clean
from memory.types import Scope

KEPT = 64
"""Statements kept for different numbers of scopes; a turn has at most 22 in play (SPEC §1)."""


def any_scope(table: Table, count: int) -> ColumnElement[bool]:
    """True for rows of one of ``count`` scopes; takes the parameters of :func:`scope_parameters`."""
    c = table.c
    return or_(
        *(
            and_(
                c.subject_kind == bindparam(f"kind{n}"),
                c.subject_id == bindparam(f"subject{n}"),
                c.lineage == bindparam(f"lineage{n}"),
            )
            for n in range(count)
        )
    )


def scope_parameters(scopes: Sequence[Scope]) -> dict[str, str | int]:
    """Parameters for :func:`any_scope`; ``scopes`` without repetitions."""
    parameters: dict[str, str | int] = {}
    for n, scope in enumerate(scopes):
        parameters[f"kind{n}"] = scope.kind.value
        parameters[f"subject{n}"] = scope.subject_id
        parameters[f"lineage{n}"] = clean(scope.lineage)
    return parameters
