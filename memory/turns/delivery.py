"""The end of a turn: its reply is committed with it, posted, and closed (DESIGN §2.7)."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from memory.config.rules import Mode
from memory.errors import StoreError
from memory.ports import DeliveryError, Failure, Posted, Reply, Speaker
from memory.prompt import views
from memory.turns.asking import Answer
from memory.turns.doors import Doors
from memory.turns.prepare import Prepared
from memory.types import Outbox, Turn, TurnState

log = logging.getLogger(__name__)

MARKS = {
    Mode.INCOGNITO: "\n-# Incognito: nothing said here is saved.",
    Mode.BLANK: "\n-# Blank: no memories are read or saved here.",
}
"""Beneath every reply where memories are not written, or not read either (SPEC §4.8)."""


GONE = "\n-# The character that was chosen for this DM is gone, so I answer. `/persona use` chooses again."
"""Beneath replies in a DM whose character was deleted, or lives in a server that the member has left."""


class Delivery:
    """Commits and delivers replies. Keeps in mind those that stand on Discord and could not be stored yet."""

    def __init__(self, doors: Doors) -> None:
        self._do = doors
        self._unclosed: dict[int, list[tuple[Turn, Sequence[Posted], Speaker | None]]] = {}

    async def commit(self, turn: Turn, prepared: Prepared, answer: Answer) -> Outbox:
        """The reply is final: its text, its ledger and the window's new start are one transaction."""
        do = self._do
        now = do.clock.now()
        text = answer.text.strip()
        if answer.truncated:
            text += "\n-# The answer reached its length limit (`REPLY_TOKENS`)."
        loaded = prepared.loaded
        text += MARKS.get(loaded.config.mode, "")
        if turn.place.is_dm and loaded.config.persona_id not in (0, loaded.persona.id):
            text += GONE
        outbox = Outbox(turn.id, turn.place, turn.trigger_ids[-1], text, f"ks{turn.id}", now)
        account = views.to_json(prepared.prompt.ledger, bare=True)
        async with do.store.write() as tx:
            await tx.turns.commit(turn.id, answer.usage, do.model.info.name, account, now)
            await tx.outbox.add(turn.id, turn.place, outbox.reply_to, text, outbox.nonce, now)
            await tx.channels.set_window_start(turn.place.channel_id, loaded.window_start)
        do.stage("committed")
        return outbox

    async def deliver(self, turn: Turn, outbox: Outbox, reply: Reply, speaker: Speaker | None = None) -> None:
        """Post a committed reply and close its turn. What cannot be posted now is tried at the next start."""
        try:
            parts = await reply.finish(outbox.text, outbox.nonce)
        except DeliveryError as error:
            log.warning("a reply could not be posted: %s", error, extra={"turn": turn.id})
            if error.gone:
                await self._undeliverable(turn, reply, error)
            return
        self._do.stage("delivered")
        try:
            await self._close_delivered(turn, parts, speaker)
        except StoreError as broken:
            log.error("a delivered turn could not be closed yet: %s", broken, extra={"turn": turn.id})
            self._unclosed.setdefault(turn.place.channel_id, []).append((turn, parts, speaker))

    async def _undeliverable(self, turn: Turn, reply: Reply, error: DeliveryError) -> None:
        """The channel will never take this reply: nothing half stands, and it is said where it can be."""
        await reply.withdraw()
        await self._do.surface.report(turn.place, turn.trigger_ids[-1], Failure(turn.id, f"{error}"))
        await self.close(turn, TurnState.FAILED, error="the channel would not take the reply")

    async def close_late(self, channel_id: int) -> None:
        """Replies that stand in the channel and could not be stored join the window before the next turn."""
        while late := self._unclosed.get(channel_id):
            await self._close_delivered(*late[0])
            late.pop(0)
        self._unclosed.pop(channel_id, None)

    async def _close_delivered(self, turn: Turn, parts: Sequence[Posted], speaker: Speaker | None) -> None:
        """The reply stands in the channel: it joins the window and the turn is over."""
        do = self._do
        name = speaker.name if speaker is not None else do.surface.persona_name(turn.place)
        lineage = speaker.lineage if speaker is not None else ""
        guild_id = turn.place.guild_id
        joins = guild_id is not None and bool(await do.personas.rows(guild_id))
        async with do.store.write() as tx:
            author = (do.surface.own_id(), name)
            await do.recorder.keep_reply(tx, turn.place, author, parts, turn.id, lineage)
            if joins:
                await tx.personas.join(turn.place.channel_id, turn.lineage, do.clock.now())
            await tx.turns.close(
                turn.id, TurnState.DELIVERED, [p.message_id for p in parts], at=do.clock.now()
            )
            await tx.outbox.delivered(turn.id)
            await tx.triggers.done(turn.id)
        await do.recorder.let_go(turn.place.channel_id, [p.message_id for p in parts])
        do.stage("closed")

    async def close(self, turn: Turn, state: TurnState, *, error: str) -> None:
        """End a turn that has no reply."""
        async with self._do.store.write() as tx:
            await tx.turns.close(turn.id, state, error=error, at=self._do.clock.now())
            await tx.outbox.delivered(turn.id)
