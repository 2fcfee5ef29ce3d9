"""Which of a persona's entries are concerned when it is deleted in one server.

A member's own go with the server in which that member was seen: somebody whose name is known there, or whose
entry was written there. Where the character lives in no other server, all members' own are concerned.
"""

from __future__ import annotations

from functools import lru_cache

from sqlalchemy import ColumnElement, and_, bindparam, exists, or_

from memory.store.tables import journal, memories, names
from memory.types import SubjectKind

_c = memories.c
_of_the_lineage = _c.lineage == bindparam("lineage")
_about_the_server = and_(_c.subject_kind == SubjectKind.SERVER.value, _c.subject_id == bindparam("guild"))
_of_members = _c.subject_kind == SubjectKind.USER.value


def _seen(by_name: ColumnElement[bool], by_write: ColumnElement[bool]) -> ColumnElement[bool]:
    return or_(
        exists().where(names.c.user_id == _c.subject_id, by_name),
        exists().where(journal.c.memory_id == _c.id, by_write),
    )


_seen_here = _seen(names.c.guild_id == bindparam("guild"), journal.c.source_guild_id == bindparam("guild"))
_seen_there = _seen(
    names.c.guild_id.in_(bindparam("others", expanding=True)),
    journal.c.source_guild_id.in_(bindparam("others", expanding=True)),
)

STAYING: ColumnElement[bool] = and_(_of_the_lineage, _of_members, _seen_here, _seen_there)
"""Members' own that stay with the character, of members seen in the server that it leaves."""


@lru_cache(maxsize=2)
def going(alone: bool) -> ColumnElement[bool]:
    """What becomes that of all personas. ``alone``: the character lives in no other server."""
    own = _of_members if alone else and_(_of_members, _seen_here, ~_seen_there)
    return and_(_of_the_lineage, or_(_about_the_server, own))
