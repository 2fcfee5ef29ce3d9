"""Display names, so that a stored ``<@id>`` can be shown as a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import bindparam, select
from sqlalchemy.dialects.postgresql import insert  # ON CONFLICT reads the same on SQLite

from memory.store.codec import clean
from memory.store.link import Link
from memory.store.tables import names

_c = names.c
_KNOWN = select(_c.user_id, _c.name).where(
    _c.guild_id == bindparam("guild"), _c.user_id.in_(bindparam("ids", expanding=True))
)
_new = insert(names)
_PUT = _new.on_conflict_do_update(index_elements=[_c.guild_id, _c.user_id], set_={"name": _new.excluded.name})


class Names:
    """A member's name in each server; guild 0 stands for DMs. None is told elsewhere."""

    __slots__ = ("_link",)

    def __init__(self, link: Link) -> None:
        self._link = link

    async def put(self, guild_id: int, names: Mapping[int, str]) -> None:
        """Writes only names that changed: usually one read and no write."""
        if not names:
            return
        rows = await self._link.rows(_KNOWN, {"guild": guild_id, "ids": list(names)})
        known: dict[int, str] = {row[0]: row[1] for row in rows}
        changed = [
            {"guild_id": guild_id, "user_id": user_id, "name": name}
            for user_id, name in sorted(names.items())
            if known.get(user_id) != clean(name)
        ]
        await self._link.write_all(_PUT, changed)

    async def get(self, guild_id: int, user_ids: Sequence[int]) -> dict[int, str]:
        """Their names there, and only there. Members unknown there are absent."""
        if not user_ids:
            return {}
        rows = await self._link.rows(_KNOWN, {"guild": guild_id, "ids": list(dict.fromkeys(user_ids))})
        return {row[0]: row[1] for row in rows}
