"""The outbox: finished replies on their way. A row is there until its delivery is recorded, and no longer."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, delete, insert, select

from memory.store.codec import from_micros, to_micros
from memory.store.link import Fetched, Link
from memory.store.tables import outbox
from memory.types import Outbox, Place

_c = outbox.c
_COLUMNS = (
    _c.turn_id,
    _c.channel_id,
    _c.guild_id,
    _c.parent_id,
    _c.name,
    _c.reply_to,
    _c.text,
    _c.nonce,
    _c.created_at,
)
_all = select(*_COLUMNS)
_ADD = insert(outbox)
_GET = _all.where(_c.turn_id == bindparam("key"))
_PENDING = _all.order_by(_c.turn_id)
_DELIVERED = delete(outbox).where(_c.turn_id == bindparam("key"))


def _outbox(row: Fetched) -> Outbox:
    turn_id, channel_id, guild_id, parent_id, name, reply_to, text, nonce, created_at = row
    place = Place(channel_id, guild_id, parent_id, name)
    return Outbox(turn_id, place, reply_to, text, nonce, from_micros(created_at))


class OutboxRows:
    """One row a committed, undelivered turn."""

    __slots__ = ("_link",)

    def __init__(self, link: Link) -> None:
        self._link = link

    async def add(
        self, turn_id: int, place: Place, reply_to: int, text: str, nonce: str, at: datetime
    ) -> None:
        """Raises :class:`StoreError` when the turn has a reply on its way already."""
        await self._link.write(
            _ADD,
            {
                "turn_id": turn_id,
                "channel_id": place.channel_id,
                "guild_id": place.guild_id,
                "parent_id": place.parent_id,
                "name": place.name,
                "reply_to": reply_to,
                "text": text,
                "nonce": nonce,
                "created_at": to_micros(at),
            },
        )

    async def get(self, turn_id: int) -> Outbox | None:
        """None when there was none, or it is delivered."""
        row = await self._link.row(_GET, {"key": turn_id})
        return None if row is None else _outbox(row)

    async def pending(self) -> list[Outbox]:
        """Oldest first."""
        return [_outbox(row) for row in await self._link.rows(_PENDING)]

    async def delivered(self, turn_id: int) -> bool:
        """The row goes, and its copy of the text with it. False when it was gone."""
        return await self._link.write(_DELIVERED, {"key": turn_id}) > 0
