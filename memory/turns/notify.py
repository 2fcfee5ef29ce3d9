"""Confirmations: committed with their write, posted afterwards, retried, never in its way (SPEC §4.5).

A channel has a card for each write, one line for all writes of a turn, or nothing. What it does not show, or
what could not be posted there, goes to the server's audit channel. A suggestion has its card, whatever the
level, unless they are off; a personal one never goes to the audit channel.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from memory.config.rules import Confirmations, PlaceConfig
from memory.config.service import Config
from memory.facts.service import Facts
from memory.ports import NoticeView, Surface
from memory.store import Store
from memory.turns.background import Background
from memory.types import ActorKind, Notice, NoticeLook, NoticeState, Place, SubjectKind

log = logging.getLogger(__name__)

ATTEMPTS = 3
"""Tries to post one notice before it is given up. The write stays, and its history shows it."""


class Notifier:
    """Posts the notices that wait."""

    def __init__(
        self, store: Store, facts: Facts, config: Config, surface: Surface, background: Background
    ) -> None:
        self._store = store
        self._facts = facts
        self._config = config
        self._surface = surface
        self._background = background

    def wake(self) -> None:
        """Something may wait to be posted."""
        self._background.start("notices", self.post_pending)

    async def post_pending(self) -> None:
        """Post every waiting notice of a turn that is over, once."""
        async with self._store.read() as tx:
            pending = await tx.notices.pending(100)
        for turn_id in dict.fromkeys(notice.turn_id for notice in pending if notice.turn_id is not None):
            async with self._store.read() as tx:
                turn = await tx.turns.get(turn_id)
                rows = await tx.notices.of_turn(turn_id)
            waiting = [row for row in rows if row.state is NoticeState.PENDING]
            if waiting:
                place = turn.place if turn else Place(waiting[0].channel_id, waiting[0].guild_id)
                await self._post_turn(waiting, place)

    async def _post_turn(self, waiting: Sequence[Notice], place: Place) -> None:
        """Post what one turn has to tell, each where the settings of its place say."""
        config = await self._config.get(place)
        line: list[Notice] = []
        for notice in waiting:
            view = await self._view(notice, place)
            if view is None or (view.entry is not None and view.entry.actor_kind is ActorKind.MEMBER):
                # An approval: who pressed is shown it there, and a personal entry nowhere else.
                await self._not_posted(notice, give_up=True)
            elif notice.look is NoticeLook.AUDIT or config.confirmations is Confirmations.OFF:
                await self._audit(notice, view, config)
            elif config.confirmations is Confirmations.COMPACT and view.entry is not None:
                line.append(notice)
            else:
                await self._post([notice], NoticeLook.CARD, place, config)
        if line:
            await self._post(line, NoticeLook.LINE, place, config)

    async def audit(self, notice: Notice, place: Place) -> bool:
        """A server's write by command: True when the place does not show it, only the audit channel.

        Who made it has had their answer.
        """
        config = await self._config.get(place)
        if config.confirmations is not Confirmations.OFF:
            return False
        view = await self._view(notice, place)
        if view is not None:
            await self._audit(notice, view, config)
        return True

    async def told_in(self, place: Place) -> Place | None:
        """Where a server is told what became of many of its memories at once; None: nowhere."""
        config = await self._config.get(place)
        if config.confirmations is not Confirmations.OFF:
            return place
        return Place(config.audit_channel, place.guild_id) if config.audit_channel else None

    async def _post(
        self, notices: Sequence[Notice], look: NoticeLook, place: Place, config: PlaceConfig
    ) -> None:
        """One message for these, or what becomes of them when the place would not take it."""
        shown = await self._shown_as(notices, place.channel_id, look)
        view = await self._view(shown[0], place)
        message_id = None if view is None else await self._surface.post_notice(place, view)
        if message_id is not None:
            await self._posted(shown, message_id)
            return
        for notice in shown:
            own = await self._view(notice, place)
            if own is not None and _may_be_audited(own, config) and config.audit_channel != place.channel_id:
                await self._audit(notice, own, config)
            else:
                await self._not_posted(notice)

    async def _audit(self, notice: Notice, view: NoticeView, config: PlaceConfig) -> None:
        """Post it in the audit channel; without one it is not posted, and the entry's history tells it."""
        if not _may_be_audited(view, config):
            await self._not_posted(notice, give_up=True)
            return
        there = Place(config.audit_channel, notice.guild_id)
        (shown,) = await self._shown_as([notice], there.channel_id, NoticeLook.AUDIT)
        again = await self._view(shown, there)
        message_id = None if again is None else await self._surface.post_notice(there, again)
        if message_id is None:
            log.warning("the audit channel did not take a confirmation", extra={"notice": notice.id})
            await self._not_posted(shown)
        else:
            await self._posted([shown], message_id)

    async def _view(self, notice: Notice, place: Place) -> NoticeView | None:
        surface = self._surface
        server = "" if notice.guild_id is None else surface.server_name(notice.guild_id)
        return await self._facts.notice_view(
            notice.id, persona_name=surface.persona_name(place), server_name=server
        )

    async def _shown_as(self, notices: Sequence[Notice], channel_id: int, look: NoticeLook) -> list[Notice]:
        """Where they are to stand, and how, is recorded before they do."""
        if all(notice.channel_id == channel_id and notice.look is look for notice in notices):
            return list(notices)
        async with self._store.write() as tx:
            for notice in notices:
                await tx.notices.shown_as(notice.id, channel_id, look)
            rows = [await tx.notices.get(notice.id) for notice in notices]
        return [row for row in rows if row is not None]

    async def _posted(self, notices: Sequence[Notice], message_id: int) -> None:
        async with self._store.write() as tx:
            for notice in notices:
                await tx.notices.posted(notice.id, message_id)

    async def _not_posted(self, notice: Notice, *, give_up: bool = False) -> None:
        async with self._store.write() as tx:
            await tx.notices.failed(notice.id, give_up=give_up or notice.attempts + 1 >= ATTEMPTS)


def _may_be_audited(view: NoticeView, config: PlaceConfig) -> bool:
    """Is there an audit channel, and may this be told there? A personal suggestion is the member's alone."""
    personal = view.proposal is not None and view.proposal.scope.kind is SubjectKind.USER
    return bool(config.audit_channel) and not personal
