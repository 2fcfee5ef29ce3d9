"""The database's door: the only room that knows SQLAlchemy. One text for SQLite and PostgreSQL.

Rule: one unit of writing is one transaction, never held across a network call. Nobody outside sees a row, a
statement or a driver's exception: values of :mod:`memory.types` go in and out, and errors are children of
:class:`memory.errors.StoreError` with a sentence for a person.
"""

from memory.store.store import Store
from memory.store.unit import ReadUnit, Tx, WriteUnit

__all__ = ["ReadUnit", "Store", "Tx", "WriteUnit"]
