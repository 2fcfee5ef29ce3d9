"""The unit of work: everything inside ``async with`` happens, or nothing does.

The end of a unit runs in a task of its own. A cancelled caller waits for it, so a commit that has begun is
completed, and the next writer starts only when the connection is really free.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType

from sqlalchemy.ext.asyncio import AsyncConnection

from memory.errors import StoreError
from memory.store.channels import Channels
from memory.store.config import ConfigRows
from memory.store.faults import translate
from memory.store.hooks import Hooks
from memory.store.journal import Journal
from memory.store.link import SPENT, Link
from memory.store.memories import Memories
from memory.store.messages import Messages
from memory.store.names import Names
from memory.store.notices import Notices
from memory.store.outbox import OutboxRows
from memory.store.personas import Personas
from memory.store.proposals import Proposals
from memory.store.triggers import Triggers
from memory.store.turns import Turns
from memory.store.waiting import finish
from memory.types import Scope

Opener = Callable[[], Awaitable[AsyncConnection]]


class Tx:
    """What can be read and written in one unit, by capability. Not for two tasks at once."""

    __slots__ = (
        "_link",
        "channels",
        "config",
        "hooks",
        "journal",
        "memories",
        "messages",
        "names",
        "notices",
        "outbox",
        "personas",
        "proposals",
        "triggers",
        "turns",
    )

    def __init__(self, link: Link) -> None:
        self._link = link
        self.channels = Channels(link)
        self.messages = Messages(link)
        self.memories = Memories(link)
        self.journal = Journal(link)
        self.notices = Notices(link)
        self.proposals = Proposals(link)
        self.turns = Turns(link)
        self.triggers = Triggers(link)
        self.outbox = OutboxRows(link)
        self.config = ConfigRows(link)
        self.names = Names(link)
        self.personas = Personas(link)
        self.hooks = Hooks(link)

    async def lock_scope(self, scope: Scope) -> None:
        """Nobody else checks and writes this scope until the unit ends (SPEC §4.1: caps hold)."""
        await self._link.lock(f"scope {scope.kind.value} {scope.subject_id} {scope.lineage}")

    async def lock_lineage(self, lineage: str) -> None:
        """Nobody else deletes this character, or writes for it, until the unit ends."""
        await self._link.lock(f"lineage {lineage}")

    async def lock_channel(self, channel_id: int) -> None:
        """Nobody else checks and writes this channel until the unit ends."""
        await self._link.lock(f"channel {channel_id}")


class _Unit:
    """One transaction on one connection."""

    _commits = False

    def __init__(
        self, opener: Opener, enter: Callable[[], None], leave: Callable[[], None], locks: bool
    ) -> None:
        self._opener = opener
        self._enter = enter
        self._leave = leave
        self._locks = locks
        self._connection: AsyncConnection | None = None
        self._link: Link | None = None

    async def __aenter__(self) -> Tx:
        await self._acquire()
        try:
            self._enter()
        except BaseException:
            self._release()
            raise
        try:
            connection = await self._opener()
        except BaseException as error:
            self._leave()
            self._release()
            if isinstance(error, Exception):
                raise translate(error) from None
            raise
        self._connection = connection
        self._link = Link(connection, locks=self._locks)
        return Tx(self._link)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._connection is not None and self._link is not None
        spent = self._commits and error is None and self._link.failed is not None
        commit = self._commits and error is None and not spent
        try:
            await _settled(asyncio.create_task(_end(self._connection, commit)), quiet=error is not None)
        finally:
            self._leave()
            self._release()
        if spent:
            raise StoreError(SPENT)

    async def _acquire(self) -> None:
        """Wait for the turn to use the database."""

    def _release(self) -> None:
        """Let the next one in."""


class ReadUnit(_Unit):
    """Sees one snapshot; writes nothing."""


class WriteUnit(_Unit):
    """The one writer of this process where the database has only one."""

    _commits = True

    def __init__(
        self,
        opener: Opener,
        enter: Callable[[], None],
        leave: Callable[[], None],
        locks: bool,
        turnstile: Turnstile | None,
    ) -> None:
        super().__init__(opener, enter, leave, locks)
        self._turnstile = turnstile

    async def _acquire(self) -> None:
        if self._turnstile is not None:
            await self._turnstile.acquire()

    def _release(self) -> None:
        if self._turnstile is not None:
            self._turnstile.release()


class Turnstile:
    """A lock that tells a task that it already holds it, instead of waiting for itself for ever."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._holder: asyncio.Task[object] | None = None

    async def acquire(self) -> None:
        """Raises RuntimeError when this task already writes."""
        if self._holder is not None and self._holder is asyncio.current_task():
            raise RuntimeError("store.write() inside store.write(): pass the Tx on instead")
        await self._lock.acquire()
        self._holder = asyncio.current_task()

    def release(self) -> None:
        self._holder = None
        self._lock.release()


async def _end(connection: AsyncConnection, commit: bool) -> None:
    """Commit or roll back, and give the connection back whatever happens."""
    try:
        if commit:
            await connection.commit()
        else:
            await connection.rollback()
        await connection.close()
    except BaseException:
        await _discard(connection)
        raise


async def _discard(connection: AsyncConnection) -> None:
    """Close the real connection: what it had not committed is gone with it."""
    try:
        await connection.invalidate()
    finally:
        await connection.close()


async def _settled(task: asyncio.Task[None], *, quiet: bool) -> None:
    """Let ``task`` finish, whoever is cancelled, then let the cancellation through.

    ``quiet``: an error is on its way out already; that of ``task`` must not hide it.
    """
    cancelled = await finish(task)
    failure = asyncio.CancelledError() if task.cancelled() else task.exception()
    if cancelled or isinstance(failure, asyncio.CancelledError):
        raise asyncio.CancelledError
    if failure is not None and not quiet:
        raise translate(failure, committing=True) from None
