"""Settings of servers, channels and personas as rows of text. What a key means is known elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import and_, bindparam, delete, select
from sqlalchemy.dialects.postgresql import insert  # ON CONFLICT reads the same on SQLite

from memory.store.codec import to_micros
from memory.store.link import Link
from memory.store.tables import config

_c = config.c
_MANY = select(_c.level, _c.id, _c.key, _c.value).where(
    _c.level.in_(bindparam("levels", expanding=True)), _c.id.in_(bindparam("ids", expanding=True))
)
_new = insert(config)
_SET = _new.on_conflict_do_update(
    index_elements=[_c.level, _c.id, _c.key],
    set_={"value": _new.excluded.value, "at": _new.excluded.at, "by": _new.excluded.by},
)
_UNSET = delete(config).where(
    and_(_c.level == bindparam("of_level"), _c.id == bindparam("of_id"), _c.key == bindparam("of_key"))
)


class ConfigRows:
    """``level`` is what the id names, such as ``server`` or ``channel``."""

    __slots__ = ("_link",)

    def __init__(self, link: Link) -> None:
        self._link = link

    async def get(self, level: str, owner_id: int) -> dict[str, str]:
        """What is set there; what is not set is absent."""
        return (await self.many([(level, owner_id)]))[(level, owner_id)]

    async def many(self, keys: Sequence[tuple[str, int]]) -> dict[tuple[str, int], dict[str, str]]:
        """The same for many, in one statement. Every asked key is in the answer."""
        found: dict[tuple[str, int], dict[str, str]] = {key: {} for key in keys}
        if found:
            # Every level with every id: a superset that the index serves, unlike pairs on SQLite.
            asked = {
                "levels": sorted({level for level, _ in found}),
                "ids": sorted({one for _, one in found}),
            }
            for level, owner_id, key, value in await self._link.rows(_MANY, asked):
                if (level, owner_id) in found:
                    found[(level, owner_id)][key] = value
        return found

    async def set(
        self, level: str, owner_id: int, key: str, value: str | None, at: datetime, by: int | None
    ) -> None:
        """None unsets it."""
        if value is None:
            await self._link.write(_UNSET, {"of_level": level, "of_id": owner_id, "of_key": key})
            return
        row = {"level": level, "id": owner_id, "key": key, "value": value, "at": to_micros(at), "by": by}
        await self._link.write(_SET, row)
