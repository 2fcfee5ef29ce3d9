"""What is kept about a conversation besides its messages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert  # ON CONFLICT reads the same on SQLite

from memory.store.codec import maybe_time, to_micros
from memory.store.link import Fetched, Link, batches
from memory.store.tables import channels, epochs, rewinds
from memory.types import Channel, Place, Rewound

_c = channels.c
_COLUMNS = (
    _c.channel_id,
    _c.guild_id,
    _c.parent_id,
    _c.name,
    _c.epoch,
    _c.window_start,
    _c.last_turn_at,
)
_GET = select(*_COLUMNS).where(_c.channel_id == bindparam("key"))
_ACTIVE = select(*_COLUMNS).where(_c.last_turn_at >= bindparam("since")).order_by(_c.last_turn_at)
_new = insert(channels)
_PUT = _new.on_conflict_do_update(
    index_elements=[_c.channel_id],
    set_={
        "guild_id": _new.excluded.guild_id,
        "parent_id": _new.excluded.parent_id,
        "name": _new.excluded.name,
    },
).returning(*_COLUMNS)
_one = update(channels).where(_c.channel_id == bindparam("key"))
_WINDOW = _one.values(window_start=bindparam("new"))
_LATEST_EPOCH = (
    select(func.coalesce(func.max(epochs.c.marker_id), 0))
    .where(epochs.c.channel_id == _c.channel_id)
    .scalar_subquery()
)
_EPOCH_ADDED = insert(epochs).on_conflict_do_nothing()
_EPOCH_DROPPED = delete(epochs).where(
    epochs.c.channel_id == bindparam("channel"), epochs.c.marker_id.in_(bindparam("markers", expanding=True))
)
_IS_EPOCH = select(epochs.c.marker_id).where(epochs.c.marker_id.in_(bindparam("markers", expanding=True)))
_EPOCH_AT = select(func.coalesce(func.max(epochs.c.marker_id), 0)).where(
    epochs.c.channel_id == bindparam("channel"), epochs.c.marker_id < bindparam("message")
)
_EPOCH_IN_FORCE = _one.values(epoch=_LATEST_EPOCH)
_REWOUND = insert(rewinds).on_conflict_do_nothing()
_REWINDS = (
    select(rewinds.c.channel_id, rewinds.c.after_id, rewinds.c.marker_id)
    .where(rewinds.c.channel_id == bindparam("channel"))
    .order_by(rewinds.c.marker_id)
)
_TURN = _one.values(last_turn_at=bindparam("new"))


def _channel(row: Fetched) -> Channel:
    channel_id, guild_id, parent_id, name, epoch, window_start, last_turn_at = row
    place = Place(channel_id, guild_id, parent_id, name)
    return Channel(place, epoch, window_start, maybe_time(last_turn_at))


class Channels:
    """One row a conversation. The setters do nothing for a channel that was never put."""

    __slots__ = ("_link",)

    def __init__(self, link: Link) -> None:
        self._link = link

    async def get(self, channel_id: int) -> Channel | None:
        row = await self._link.row(_GET, {"key": channel_id})
        return None if row is None else _channel(row)

    async def put(self, place: Place) -> Channel:
        """Insert it if absent; its guild, parent and name become those of ``place``."""
        rows = await self._link.rows(
            _PUT,
            {
                "channel_id": place.channel_id,
                "guild_id": place.guild_id,
                "parent_id": place.parent_id,
                "name": place.name,
                "epoch": 0,
                "window_start": 0,
                "last_turn_at": None,
            },
        )
        return _channel(rows[0])

    async def set_window_start(self, channel_id: int, message_id: int) -> None:
        await self._link.write(_WINDOW, {"key": channel_id, "new": message_id})

    async def add_epoch(self, channel_id: int, marker_id: int, by: int, at: datetime) -> None:
        """A new epoch begins after ``marker_id``; the latest one is in force."""
        values = {"marker_id": marker_id, "channel_id": channel_id, "by": by, "at": to_micros(at)}
        await self._link.write(_EPOCH_ADDED, values)
        await self._link.write(_EPOCH_IN_FORCE, {"key": channel_id})

    async def epoch_at(self, channel_id: int, message_id: int) -> int:
        """The marker that was in force when that message was said; 0 for none."""
        return int(await self._link.value(_EPOCH_AT, {"channel": channel_id, "message": message_id}))

    async def has_epoch(self, ids: Sequence[int]) -> bool:
        """Is one of these messages a marker?"""
        for batch in batches(ids):
            if await self._link.ids(_IS_EPOCH, {"markers": list(batch)}):
                return True
        return False

    async def drop_epochs(self, channel_id: int, markers: Sequence[int]) -> int:
        """Those epochs never began, the one before is in force again; returns how many there were."""
        dropped = sum(
            [
                await self._link.write(_EPOCH_DROPPED, {"channel": channel_id, "markers": list(batch)})
                for batch in batches(markers)
            ]
        )
        if dropped:
            await self._link.write(_EPOCH_IN_FORCE, {"key": channel_id})
        return dropped

    async def add_rewind(self, rewound: Rewound, by: int, at: datetime) -> None:
        """A stretch of the channel is out for good."""
        values = {
            "marker_id": rewound.marker_id,
            "channel_id": rewound.channel_id,
            "after_id": rewound.after_id,
            "by": by,
            "at": to_micros(at),
        }
        await self._link.write(_REWOUND, values)

    async def rewinds(self, channel_id: int) -> list[Rewound]:
        """Every stretch that was taken out of this channel, by marker."""
        return [Rewound(*row) for row in await self._link.rows(_REWINDS, {"channel": channel_id})]

    async def touch_turn(self, channel_id: int, at: datetime) -> None:
        await self._link.write(_TURN, {"key": channel_id, "new": to_micros(at)})

    async def active(self, since: datetime) -> list[Channel]:
        """Channels whose last turn was at ``since`` or later, the longest ago first."""
        return [_channel(row) for row in await self._link.rows(_ACTIVE, {"since": to_micros(since)})]
