"""Stored messages: what Discord sent, once each, gone when it is deleted there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.dialects.postgresql import insert  # ON CONFLICT reads the same on SQLite

from memory.store.codec import from_micros, to_micros, words_of, words_text
from memory.store.link import Fetched, Link, batches
from memory.store.tables import Big, messages
from memory.types import AuthorKind, Message

_c = messages.c
_COLUMNS = (
    _c.id,
    _c.channel_id,
    _c.author_id,
    _c.author_name,
    _c.kind,
    _c.text,
    _c.line,
    _c.tokens,
    _c.encoding,
    _c.at,
    _c.reply_to,
    _c.turn_id,
    _c.excluded,
    _c.images,
    _c.lineage,
)
_KINDS = {kind.value: kind for kind in AuthorKind}
_all = select(*_COLUMNS)
_here = _all.where(_c.channel_id == bindparam("channel"))
_newest = _here.order_by(_c.id.desc()).limit(bindparam("most"))
_WINDOW = _newest.where(_c.id >= bindparam("start"), _c.id > bindparam("epoch"))
_BEFORE = _newest.where(_c.id < bindparam("before"))
_GET = _here.where(_c.id == bindparam("key"))
_OF_TURN = _all.where(_c.turn_id == bindparam("turn")).order_by(_c.id)
_MANY = _here.where(_c.id.in_(bindparam("ids", expanding=True))).order_by(_c.id)
_STORED = select(_c.id).where(_c.id.in_(bindparam("ids", expanding=True))).distinct()
_HOMES = select(_c.channel_id, _c.id).where(_c.id.in_(bindparam("ids", expanding=True))).order_by(_c.id)
_BETWEEN = (
    select(_c.id)
    .where(_c.channel_id == bindparam("channel"), _c.id >= bindparam("lo"), _c.id <= bindparam("hi"))
    .order_by(_c.id)
)
_ADD = insert(messages).on_conflict_do_nothing().returning(_c.id)
_EDIT = (
    update(messages)
    .where(_c.id == bindparam("key"))
    .values(
        author_name=bindparam("new_name"),
        text=bindparam("new_text"),
        line=bindparam("new_line"),
        tokens=bindparam("new_tokens"),
        encoding=bindparam("new_encoding"),
        edited_at=bindparam("new_at"),
    )
)
_EXCLUDE = (
    update(messages)
    .where(_c.channel_id == bindparam("here"), _c.id.in_(bindparam("ids", expanding=True)))
    .values(excluded=bindparam("new"))
)
_DELETE = delete(messages).where(_c.id.in_(bindparam("ids", expanding=True)))
_DELETE_BETWEEN = delete(messages).where(
    _c.channel_id == bindparam("channel"), _c.id > bindparam("after"), _c.id <= bindparam("last")
)
_COPIED = [column for column in _c if column.name not in ("channel_id", "turn_id")]
_COPY = insert(messages).from_select(
    [*(column.name for column in _COPIED), "channel_id"],
    select(*_COPIED, bindparam("to", type_=Big)).where(
        _c.channel_id == bindparam("channel"),
        _c.id >= bindparam("start"),
        _c.id > bindparam("epoch"),
        _c.id <= bindparam("last"),
    ),
)
_DELETE_OLDER = delete(messages).where(
    _c.id.in_(  # a message and its copies are of one age
        select(_c.id)
        .where(_c.at < bindparam("before"))
        .order_by(_c.at)
        .limit(bindparam("most"))
        .scalar_subquery()
    )
)


def _message(row: Fetched) -> Message:
    (
        message_id,
        channel_id,
        author_id,
        author_name,
        kind,
        text,
        line,
        tokens,
        encoding,
        at,
        reply_to,
        turn_id,
        excluded,
        images,
        lineage,
    ) = row
    return Message(
        message_id,
        channel_id,
        author_id,
        author_name,
        _KINDS[kind],
        text,
        line,
        tokens,
        encoding,
        from_micros(at),
        reply_to,
        turn_id,
        excluded,
        words_of(images) if images else (),
        lineage,
    )


def _values(message: Message) -> dict[str, Any]:
    return {
        "id": message.id,
        "channel_id": message.channel_id,
        "author_id": message.author_id,
        "author_name": message.author_name,
        "kind": message.kind.value,
        "text": message.text,
        "line": message.line,
        "tokens": message.tokens,
        "encoding": message.encoding,
        "at": to_micros(message.at),
        "reply_to": message.reply_to,
        "turn_id": message.turn_id,
        "excluded": message.excluded,
        "images": words_text(message.images),
        "lineage": message.lineage,
    }


class Messages:
    """The messages of every channel, by Discord's id.

    A forked channel holds copies of another's. An edit or a deletion on Discord reaches every copy.
    """

    __slots__ = ("_link",)

    def __init__(self, link: Link) -> None:
        self._link = link

    async def add(self, messages: Sequence[Message]) -> list[int]:
        """Store those that are not there yet; returns their ids, in the order given."""
        if not messages:
            return []
        values = [_values(message) for message in messages]
        inserted: set[int] = set()
        if len(values) == 1:
            inserted.update(await self._link.ids(_ADD, values[0]))
        else:
            inserted.update(await self._link.ids(_ADD, values))
        return [message_id for message_id in dict.fromkeys(m.id for m in messages) if message_id in inserted]

    async def window(self, channel_id: int, start: int, epoch: int, limit: int = 2_000) -> list[Message]:
        """The newest ``limit`` messages from ``start`` on that are later than ``epoch``, oldest first."""
        bounds = {"channel": channel_id, "start": start, "epoch": epoch, "most": limit}
        return self._oldest_first(await self._link.rows(_WINDOW, bounds))

    async def before(self, channel_id: int, message_id: int, limit: int) -> list[Message]:
        """The ``limit`` messages that directly precede ``message_id``, oldest first."""
        bounds = {"channel": channel_id, "before": message_id, "most": limit}
        return self._oldest_first(await self._link.rows(_BEFORE, bounds))

    async def get(self, channel_id: int, message_id: int) -> Message | None:
        row = await self._link.row(_GET, {"channel": channel_id, "key": message_id})
        return None if row is None else _message(row)

    async def many(self, channel_id: int, ids: Sequence[int]) -> list[Message]:
        """Those of ``ids`` that are stored in this channel, oldest first within each batch of ids."""
        found: list[Message] = []
        for batch in batches(ids):
            asked = {"channel": channel_id, "ids": list(batch)}
            found += [_message(row) for row in await self._link.rows(_MANY, asked)]
        return found

    async def stored(self, ids: Sequence[int]) -> set[int]:
        """Those of ``ids`` that are stored anywhere."""
        found: set[int] = set()
        for batch in batches(list(ids)):
            found.update(await self._link.ids(_STORED, {"ids": list(batch)}))
        return found

    async def of_turn(self, turn_id: int) -> list[Message]:
        """Messages that carry this turn's id, oldest first."""
        return [_message(row) for row in await self._link.rows(_OF_TURN, {"turn": turn_id})]

    async def ids_between(self, channel_id: int, lo: int, hi: int) -> list[int]:
        """Ids from ``lo`` to ``hi``, both included, oldest first."""
        return await self._link.ids(_BETWEEN, {"channel": channel_id, "lo": lo, "hi": hi})

    async def edit(self, message: Message, at: datetime) -> bool:
        """Name, words, line and count become those of ``message``. False when it is not stored."""
        changed = await self._link.write(
            _EDIT,
            {
                "key": message.id,
                "new_name": message.author_name,
                "new_text": message.text,
                "new_line": message.line,
                "new_tokens": message.tokens,
                "new_encoding": message.encoding,
                "new_at": to_micros(at),
            },
        )
        return changed > 0

    async def set_excluded(self, channel_id: int, ids: Sequence[int], excluded: bool) -> int:
        """Leave them out of one channel's prompts, or take them in again; returns how many are stored."""
        return await self._link.write(_EXCLUDE, {"here": channel_id, "ids": list(ids), "new": excluded})

    async def homes(self, ids: Sequence[int]) -> dict[int, list[int]]:
        """By channel: which of them are stored there. A message that was copied has several channels."""
        found: dict[int, list[int]] = {}
        for batch in batches(list(ids)):
            for channel_id, message_id in await self._link.rows(_HOMES, {"ids": list(batch)}):
                found.setdefault(channel_id, []).append(message_id)
        return found

    async def delete(self, ids: Sequence[int]) -> int:
        """How many of them were stored."""
        return sum([await self._link.write(_DELETE, {"ids": list(batch)}) for batch in batches(list(ids))])

    async def delete_between(self, channel_id: int, after: int, last: int) -> int:
        """Delete one channel's messages later than ``after``, up to ``last``; returns how many there were."""
        bounds = {"channel": channel_id, "after": after, "last": last}
        return await self._link.write(_DELETE_BETWEEN, bounds)

    async def copy(self, channel_id: int, to: int, *, start: int, epoch: int, last: int) -> int:
        """Copy a stretch (see :meth:`window`) up to ``last`` into another channel; returns how many.

        The copies belong to no turn: what a turn is, is told of its own channel.
        """
        bounds = {"channel": channel_id, "to": to, "start": start, "epoch": epoch, "last": last}
        return await self._link.write(_COPY, bounds)

    async def delete_older(self, before: datetime, limit: int) -> int:
        """Delete at most ``limit`` messages sent before that time, the oldest first; returns how many."""
        return await self._link.write(_DELETE_OLDER, {"before": to_micros(before), "most": limit})

    @staticmethod
    def _oldest_first(rows: Sequence[Fetched]) -> list[Message]:
        return [_message(row) for row in reversed(rows)]
