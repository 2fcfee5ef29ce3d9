"""Every exception of a driver or of SQLAlchemy becomes a StoreError with a sentence. Nothing else leaves.

The original is logged at debug only: it can quote what members wrote.
"""

from __future__ import annotations

import errno
import logging
import sqlite3

from sqlalchemy import exc

from memory.errors import KeepsakeError, StoreBusy, StoreError, StoreFull, StoreUnavailable

log = logging.getLogger(__name__)

BUSY = "The database was busy for too long. Nothing was written; try again in a moment."
FULL = "The disk that holds the database is full. Nothing was written; free some space, then try again."
REFUSED = "The database refused the operation. Nothing was written; the log has the details at debug level."
IN_DOUBT = (
    "The connection to the database was lost while saving. "
    "Look whether the last change was kept before trying again."
)

_SQLITE_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_SQLITE_GONE = {
    sqlite3.SQLITE_CANTOPEN: "its file cannot be opened",
    sqlite3.SQLITE_READONLY: "its file is read-only",
    sqlite3.SQLITE_PERM: "its file may not be used",
    sqlite3.SQLITE_NOTADB: "its file is not an SQLite database",
    sqlite3.SQLITE_CORRUPT: "its file is damaged; restore a backup",
    sqlite3.SQLITE_IOERR: "its file cannot be read or written",
}
# PostgreSQL, appendix A of its manual: deadlock, lock timeout, serialisation, cancelled by a timeout.
_PG_BUSY = {"40P01", "55P03", "40001", "57014"}
_PG_FULL = {"53100"}
_PG_GONE = {
    "08": "the connection was lost",
    "28": "it refused the user or the password",
    "3D": "that database does not exist",
    "53": "it has no room for another connection",
    "57": "it is shutting down or starting",
}


def unavailable(reason: str) -> StoreUnavailable:
    return StoreUnavailable(
        f"The database does not answer: {reason}. Nothing was written; check DATABASE_URL."
    )


def translate(error: BaseException, *, committing: bool = False) -> StoreError:
    """The StoreError that stands for ``error``. ``committing``: it came while a commit was on its way."""
    if isinstance(error, StoreError):
        return error
    log.debug("database error", exc_info=error)
    original = error.orig if isinstance(error, exc.DBAPIError) and error.orig is not None else error
    found = _by_driver(original)
    lost = isinstance(error, exc.DBAPIError) and error.connection_invalidated
    if found is None and lost:
        found = unavailable("the connection was lost")
    if committing and isinstance(found, StoreUnavailable) and not isinstance(original, sqlite3.Error):
        return StoreUnavailable(IN_DOUBT)
    return found or _by_kind(error)


def _by_driver(original: BaseException) -> StoreError | None:
    code = getattr(original, "sqlite_errorcode", None)
    if isinstance(code, int):
        return _by_sqlite_code(code & 0xFF)
    state = getattr(original, "sqlstate", None) or getattr(original.__cause__, "sqlstate", None)
    if isinstance(state, str):
        return _by_sqlstate(state)
    cause = original if isinstance(original, OSError) else original.__cause__
    if isinstance(cause, OSError):
        return _by_os_error(cause)
    return None


def _by_sqlite_code(code: int) -> StoreError | None:
    if code in _SQLITE_BUSY:
        return StoreBusy(BUSY)
    if code == sqlite3.SQLITE_FULL:
        return StoreFull(FULL)
    reason = _SQLITE_GONE.get(code)
    return unavailable(reason) if reason else None


def _by_sqlstate(state: str) -> StoreError | None:
    if state in _PG_BUSY:
        return StoreBusy(BUSY)
    if state in _PG_FULL:
        return StoreFull(FULL)
    reason = _PG_GONE.get(state[:2])
    return unavailable(reason) if reason else None


def _by_os_error(error: OSError) -> StoreError:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StoreFull(FULL)
    if isinstance(error, TimeoutError):
        return unavailable("no answer in time")
    return unavailable("it cannot be reached or opened")


def _by_kind(error: BaseException) -> StoreError:
    if isinstance(error, exc.TimeoutError):  # no free connection in the pool
        return StoreBusy(BUSY)
    if isinstance(error, exc.InterfaceError):
        return unavailable("the connection was lost")
    if isinstance(error, KeepsakeError):
        return StoreError(str(error))
    log.warning("the database refused an operation: %s", type(error).__name__)  # its text could quote members
    return StoreError(REFUSED)
