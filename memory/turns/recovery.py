"""After a restart: every unfinished turn ends in exactly one complete reply or one report (DESIGN §2.7).

- nothing committed and nothing posted: the triggers wait again and are answered anew;
- a reply is in the outbox: it is looked for in the channel, completed or posted, and the turn closed;
- anything between (a memory was written, or half a reply stands there): what is half is taken back, what was
  saved stays, and one line says so with a Retry button. It is not run again by itself.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from memory.ports import Failure, Posted, Speaker, speaker_of
from memory.turns.delivery import Delivery
from memory.turns.doors import Doors
from memory.turns.gate import Gate
from memory.turns.run import Turns
from memory.types import Place, Turn, TurnState

log = logging.getLogger(__name__)


LOOKED_AT = 20
"""Waiting calls of a channel whose earlier failure lines are looked for after a restart."""


class Recovery:
    """Ends what a crash or a lost connection left open."""

    def __init__(self, doors: Doors, delivery: Delivery, turns: Turns, gate: Gate) -> None:
        self._delivery = delivery
        self._personas = doors.personas
        self._store = doors.store
        self._clock = doors.clock
        self._surface = doors.surface
        self._recorder = doors.recorder
        self._turns = turns
        self._gate = gate
        self._notifier = doors.notifier

    async def run(self) -> None:
        """Settle every unfinished turn that no task of this process is running, then wake what waits."""
        async with self._store.read() as tx:
            unfinished = await tx.turns.unfinished()
        for turn in unfinished:
            try:
                await self._settle(turn.id)
            except Exception:
                log.exception("a turn could not be settled; the others are", extra={"turn": turn.id})
        async with self._store.read() as tx:
            waiting = await tx.triggers.waiting_channels()
        for channel_id in waiting:
            try:
                await self._clear(channel_id)
            except Exception:
                log.exception("old failure lines could not be cleared", extra={"channel": channel_id})
            self._gate.wake(channel_id)
        self._notifier.wake()

    async def _clear(self, channel_id: int) -> None:
        """What waits will be answered: a line that its first try failed no longer stands.

        Such a line is left where the process died right after somebody pressed Retry.
        """
        async with self._store.read() as tx:
            channel = await tx.channels.get(channel_id)
            waiting = await tx.triggers.waiting(channel_id, LOOKED_AT)
        if channel is None or self._gate.busy(channel_id):
            return
        for trigger, persona_id in waiting:
            speaker = speaker_of(await self._personas.get(channel.place, persona_id))
            posted = await self._surface.own_replies(channel.place, trigger, None, speaker) or []
            old = await self._nobodys(0, posted)
            await self._withdraw(channel.place, trigger, old, speaker)

    async def _withdraw(
        self, place: Place, reply_to: int, posted: Sequence[Posted], speaker: Speaker | None = None
    ) -> None:
        """Take messages of ours back, and out of the window that is being read back at the same time."""
        if posted:
            await self._surface.reply(place, reply_to, posted, speaker).withdraw()
            await self._recorder.deleted(place.channel_id, [p.message_id for p in posted])

    async def _nobodys(self, turn_id: int, posted: Sequence[Posted]) -> list[Posted]:
        """Those that are not the reply of another turn. A persona's messages don't say what they answer."""
        async with self._store.read() as tx:
            owners = await tx.turns.reply_owners([p.message_id for p in posted])
        return [p for p in posted if owners.get(p.message_id, turn_id) == turn_id]

    async def _speaker(self, turn: Turn) -> Speaker | None:
        return speaker_of(await self._personas.get(turn.place, turn.persona_id))

    async def _settle(self, turn_id: int) -> None:
        """End one turn, as it stands now: others were settled meanwhile, and it may have ended by itself."""
        async with self._store.read() as tx:
            turn = await tx.turns.get(turn_id)
            outbox = await tx.outbox.get(turn_id)
        if turn is None or turn.state not in (TurnState.OPEN, TurnState.COMMITTED):
            return
        if self._turns.live(turn_id):
            return
        reply_to = turn.trigger_ids[-1]
        speaker = await self._speaker(turn)
        posted = await self._surface.own_replies(turn.place, reply_to, turn.partial_id, speaker)
        if posted is None:
            log.info("a channel can't be read; its turn is settled later", extra={"turn": turn_id})
            return
        posted = await self._nobodys(turn_id, posted)
        standing = [p for p in posted if not p.report]
        own = [p for p in posted if p.report and p.turn_id in (None, turn_id)]
        old = [p for p in posted if p.report and p not in own]
        await self._withdraw(turn.place, reply_to, old)
        if outbox is not None:
            log.info("delivering a reply from before the restart", extra={"turn": turn_id})
            reply = self._surface.reply(turn.place, reply_to, standing, speaker)
            await self._delivery.deliver(turn, outbox, reply, speaker)
        elif own:
            await self._close(turn, TurnState.REPORTED)
        else:
            await self._rerun_or_report(turn, standing, speaker)

    async def _rerun_or_report(self, turn: Turn, standing: Sequence[Posted], speaker: Speaker | None) -> None:
        reply_to = turn.trigger_ids[-1]
        async with self._store.read() as tx:
            written = len(await tx.journal.of_turn(turn.id))
            proposed = await tx.proposals.of_turn(turn.id)
        if not standing and not written and not proposed:
            now = self._clock.now()
            async with self._store.write() as tx:
                await tx.triggers.put_back(turn.id)
                await tx.turns.close(turn.id, TurnState.FAILED, error="restarted; run again", at=now)
            return
        await self._withdraw(turn.place, reply_to, standing, speaker)
        saved = f" What it had saved stays saved ({written})." if written else " Nothing had been saved."
        line = f"I was restarted in the middle of this answer.{saved} Your message is kept."
        await self._surface.report(turn.place, reply_to, Failure(turn.id, line))
        await self._close(turn, TurnState.REPORTED)

    async def _close(self, turn: Turn, state: TurnState) -> None:
        async with self._store.write() as tx:
            await tx.turns.close(turn.id, state, error="restarted", at=self._clock.now())
