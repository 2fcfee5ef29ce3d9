"""The webhooks through which personas speak: one a persona and parent channel (DESIGN §3)."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.dialects.postgresql import insert  # ON CONFLICT reads the same on SQLite

from memory.store.codec import from_micros, to_micros
from memory.store.link import Fetched, Link
from memory.store.tables import hooks
from memory.types import Hook

_c = hooks.c
_COLUMNS = (_c.id, _c.channel_id, _c.guild_id, _c.lineage, _c.token, _c.picture, _c.used_at)
_all = select(*_COLUMNS)
_GET = _all.where(_c.channel_id == bindparam("channel"), _c.lineage == bindparam("lineage"))
_OF_CHANNEL = _all.where(_c.channel_id == bindparam("channel")).order_by(_c.used_at, _c.id)
_OF_PERSONA = _all.where(_c.guild_id == bindparam("guild"), _c.lineage == bindparam("lineage"))
_EVERY = select(_c.id, _c.lineage)
_new = insert(hooks)
_PUT = _new.on_conflict_do_update(
    index_elements=[_c.channel_id, _c.lineage],
    set_={name: _new.excluded[name] for name in ("id", "guild_id", "token", "picture", "used_at")},
)
_USED = update(hooks).where(_c.id == bindparam("key")).values(used_at=bindparam("new"))
_REMOVE = delete(hooks).where(_c.id == bindparam("key"))


def _hook(row: Fetched) -> Hook:
    hook_id, channel_id, guild_id, lineage, token, picture, used_at = row
    return Hook(hook_id, channel_id, guild_id, lineage, token, picture, from_micros(used_at))


class Hooks:
    """Their tokens let anybody speak in the channel: they are never logged or shown."""

    __slots__ = ("_link",)

    def __init__(self, link: Link) -> None:
        self._link = link

    async def get(self, channel_id: int, lineage: str) -> Hook | None:
        row = await self._link.row(_GET, {"channel": channel_id, "lineage": lineage})
        return None if row is None else _hook(row)

    async def of_channel(self, channel_id: int) -> list[Hook]:
        """The least recently used first."""
        return [_hook(row) for row in await self._link.rows(_OF_CHANNEL, {"channel": channel_id})]

    async def of_persona(self, guild_id: int, lineage: str) -> list[Hook]:
        asked = {"guild": guild_id, "lineage": lineage}
        return [_hook(row) for row in await self._link.rows(_OF_PERSONA, asked)]

    async def lineages(self) -> dict[int, str]:
        """Every webhook of ours with the persona that it speaks for."""
        return {int(row[0]): str(row[1]) for row in await self._link.rows(_EVERY)}

    async def put(self, hook: Hook, at: datetime) -> None:
        """Keep it in the place of an older one of the same persona and channel."""
        await self._link.write(
            _PUT,
            {
                "id": hook.id,
                "channel_id": hook.channel_id,
                "guild_id": hook.guild_id,
                "lineage": hook.lineage,
                "token": hook.token,
                "picture": hook.picture,
                "used_at": to_micros(at),
            },
        )

    async def used(self, hook_id: int, at: datetime) -> None:
        await self._link.write(_USED, {"key": hook_id, "new": to_micros(at)})

    async def remove(self, hook_id: int) -> bool:
        return await self._link.write(_REMOVE, {"key": hook_id}) > 0
