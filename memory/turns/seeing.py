"""Who may learn where something was said (SPEC §12).

A link tells that a channel exists and that something was said in it. So nobody is given one into a channel
that they can't read, and in a server nobody is given one into a direct message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from memory.ports import Surface
from memory.types import JournalEntry, Memory, Person, Place, Source

Sourced = TypeVar("Sourced", Memory, JournalEntry)


class Seeing:
    """Asks Discord who can read what. No transaction is open meanwhile."""

    def __init__(self, surface: Callable[[], Surface]) -> None:
        self._surface = surface

    async def reads(self, person: Person, place: Place, source: Source | None) -> bool:
        """Can this person, who acts in ``place``, read where that was said?"""
        if source is None or (source.guild_id is None and not place.is_dm):
            return False
        if place.channel_id == source.channel_id:
            return True
        return await self._surface().can_read(Place(source.channel_id, source.guild_id), person.id)

    async def sourced(self, person: Person, place: Place, records: Sequence[Sourced]) -> list[Sourced]:
        """The same records, without the source of those whose channel this person can't read."""
        places = {r.source.channel_id: r.source for r in records if r.source is not None}
        read = {key for key, source in places.items() if await self.reads(person, place, source)}
        return [
            r if r.source is None or r.source.channel_id in read else replace(r, source=None) for r in records
        ]
