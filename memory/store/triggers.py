"""Triggers: the messages that call for a reply. Each is known once, and waits until a turn has taken it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, select, update
from sqlalchemy.dialects.postgresql import insert  # ON CONFLICT reads the same on SQLite

from memory.store.codec import to_micros
from memory.store.link import Link, batches
from memory.store.tables import triggers

_WAITING_STATE = "waiting"
_TAKEN = "taken"
_DONE = "done"
_DROPPED = "dropped"

_c = triggers.c
_waits = _c.state == _WAITING_STATE
_ADD = insert(triggers).on_conflict_do_nothing().returning(_c.message_id)
_WAITING = (
    select(_c.message_id, _c.persona_id)
    .where(_c.channel_id == bindparam("channel"), _waits)
    .order_by(_c.message_id)
    .limit(bindparam("most"))
)
_CHANNELS = select(_c.channel_id).where(_waits).distinct().order_by(_c.channel_id)
_chosen = update(triggers).where(_c.message_id.in_(bindparam("ids", expanding=True)), _waits)
_TAKE = _chosen.values(state=_TAKEN, turn_id=bindparam("turn"))
_DROP = _chosen.values(state=_DROPPED)
_DROP_BETWEEN = (
    update(triggers)
    .where(_c.channel_id == bindparam("channel"), _c.message_id > bindparam("after"))
    .where(_c.message_id <= bindparam("last"))
    .values(state=_DROPPED, turn_id=None)
)
_of_turn = update(triggers).where(_c.turn_id == bindparam("turn"))
_FINISH = _of_turn.values(state=_DONE)
_PUT_BACK = _of_turn.values(state=_WAITING_STATE, turn_id=None)


class Triggers:
    """Known message ids are kept, so a replayed event is never answered twice."""

    __slots__ = ("_link",)

    def __init__(self, link: Link) -> None:
        self._link = link

    async def add(self, message_id: int, channel_id: int, at: datetime, persona_id: int = 0) -> bool:
        """``persona_id``: whom it calls. False when it is known already, whatever became of it."""
        values = {
            "message_id": message_id,
            "channel_id": channel_id,
            "state": _WAITING_STATE,
            "turn_id": None,
            "at": to_micros(at),
            "persona_id": persona_id,
        }
        return await self._link.value(_ADD, values) is not None

    async def waiting(self, channel_id: int, limit: int) -> list[tuple[int, int]]:
        """Message and the persona that it calls, oldest first."""
        rows = await self._link.rows(_WAITING, {"channel": channel_id, "most": limit})
        return [(row[0], row[1]) for row in rows]

    async def waiting_channels(self) -> list[int]:
        return await self._link.ids(_CHANNELS)

    async def take(self, ids: Sequence[int], turn_id: int) -> int:
        """Those that wait belong to the turn now; returns how many."""
        taken = [await self._link.write(_TAKE, {"ids": list(b), "turn": turn_id}) for b in batches(list(ids))]
        return sum(taken)

    async def done(self, turn_id: int) -> int:
        """The turn's triggers are answered; returns how many."""
        return await self._link.write(_FINISH, {"turn": turn_id})

    async def put_back(self, turn_id: int) -> int:
        """The turn's triggers wait again, answered ones too (Retry); returns how many."""
        return await self._link.write(_PUT_BACK, {"turn": turn_id})

    async def drop_between(self, channel_id: int, after: int, last: int) -> int:
        """What was called in this stretch of a channel will not be answered (again); returns how many."""
        return await self._link.write(_DROP_BETWEEN, {"channel": channel_id, "after": after, "last": last})

    async def drop(self, ids: Sequence[int]) -> int:
        """Those that wait will not be answered, and stay known; returns how many."""
        return sum([await self._link.write(_DROP, {"ids": list(batch)}) for batch in batches(list(ids))])
