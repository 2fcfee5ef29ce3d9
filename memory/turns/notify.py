"""Confirmations: committed with their write, posted afterwards, retried, never in its way (SPEC §4.5)."""

from __future__ import annotations

import logging

from memory.facts.service import Facts
from memory.ports import Surface
from memory.store import Store
from memory.turns.background import Background
from memory.types import ActorKind, Notice, Place

log = logging.getLogger(__name__)

ATTEMPTS = 3
"""Tries to post one notice before it is given up. The write stays, and its history shows it."""


class Notifier:
    """Posts the notices that wait."""

    def __init__(self, store: Store, facts: Facts, surface: Surface, background: Background) -> None:
        self._store = store
        self._facts = facts
        self._surface = surface
        self._background = background

    def wake(self) -> None:
        """Something may wait to be posted."""
        self._background.start("notices", self.post_pending)

    async def post_pending(self) -> None:
        """Post every waiting notice once."""
        async with self._store.read() as tx:
            pending = await tx.notices.pending(100)
        for notice in pending:
            await self._post(notice)

    async def _post(self, notice: Notice) -> None:
        async with self._store.read() as tx:
            channel = await tx.channels.get(notice.channel_id)
        place = channel.place if channel else Place(notice.channel_id, notice.guild_id)
        view = await self._facts.notice_view(
            notice.id, persona_name=self._surface.persona_name(place), server_name=self._server(notice)
        )
        if view is not None and view.entry is not None and view.entry.actor_kind is ActorKind.MEMBER:
            view = None  # an approval: who pressed is shown it there, and a personal entry nowhere else
        message_id = None if view is None else await self._surface.post_notice(place, view)
        async with self._store.write() as tx:
            if message_id is not None:
                await tx.notices.posted(notice.id, message_id)
            else:
                given_up = view is None or notice.attempts + 1 >= ATTEMPTS
                await tx.notices.failed(notice.id, give_up=given_up)

    def _server(self, notice: Notice) -> str:
        return "" if notice.guild_id is None else self._surface.server_name(notice.guild_id)
