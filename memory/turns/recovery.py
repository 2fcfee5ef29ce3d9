"""After a restart: every unfinished turn ends in exactly one complete reply or one report (DESIGN §2.7).

- nothing committed and nothing posted: the triggers wait again and are answered anew;
- a reply is in the outbox: it is looked for in the channel, completed or posted, and the turn closed;
- anything between (a memory was written, or half a reply stands there): what is half is taken back, what was
  saved stays, and one line says so with a Retry button. It is not run again by itself.
"""

from __future__ import annotations

import logging

from memory.ports import Failure, Surface
from memory.store import Store
from memory.turns.gate import Gate
from memory.turns.run import Turns
from memory.types import Clock, Outbox, Turn, TurnState

log = logging.getLogger(__name__)


class Recovery:
    """Ends what a crash or a lost connection left open."""

    def __init__(self, store: Store, clock: Clock, surface: Surface, turns: Turns, gate: Gate) -> None:
        self._store = store
        self._clock = clock
        self._surface = surface
        self._turns = turns
        self._gate = gate

    async def run(self) -> None:
        """Settle every unfinished turn that no task of this process is running, then wake what waits."""
        async with self._store.read() as tx:
            unfinished = await tx.turns.unfinished()
            outbox = {row.turn_id: row for row in await tx.outbox.pending()}
        for turn in unfinished:
            if not self._turns.live(turn.id):
                await self._settle(turn, outbox.get(turn.id))
        async with self._store.read() as tx:
            waiting = await tx.triggers.waiting_channels()
        for channel_id in waiting:
            self._gate.wake(channel_id)

    async def _settle(self, turn: Turn, outbox: Outbox | None) -> None:
        reply_to = turn.trigger_ids[-1]
        posted = await self._surface.own_replies(turn.place, reply_to)
        standing = [p for p in posted if not p.report]
        if outbox is not None:
            log.info("delivering a reply from before the restart", extra={"turn": turn.id})
            reply = self._surface.reply(turn.place, reply_to, standing)
            await self._turns.deliver(turn, outbox, reply)
            return
        if any(p.report for p in posted):
            await self._close(turn, TurnState.REPORTED)
            return
        async with self._store.read() as tx:
            written = len(await tx.journal.of_turn(turn.id))
            proposed = await tx.proposals.of_turn(turn.id)
        if not standing and not written and not proposed:
            async with self._store.write() as tx:
                await tx.triggers.put_back(turn.id)
                now = self._clock.now()
                await tx.turns.close(turn.id, TurnState.FAILED, error="restarted; run again", at=now)
            return
        await self._surface.reply(turn.place, reply_to, standing).withdraw()
        saved = f" What it had saved stays saved ({written})." if written else " Nothing had been saved."
        line = f"I was restarted in the middle of this answer.{saved} Your message is kept."
        await self._surface.report(turn.place, reply_to, Failure(turn.id, line))
        await self._close(turn, TurnState.REPORTED)

    async def _close(self, turn: Turn, state: TurnState) -> None:
        async with self._store.write() as tx:
            await tx.turns.close(turn.id, state, error="restarted", at=self._clock.now())
