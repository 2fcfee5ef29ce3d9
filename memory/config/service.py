"""Reads and writes settings. One statement to read a place; every write is checked against the person."""

from __future__ import annotations

from memory.config import rules
from memory.config.rules import CONFIG_KEYS, ConfigKey, Level, PlaceConfig
from memory.settings import Settings
from memory.store import Store, Tx
from memory.types import Clock, Person, Place

KEPT_IN_MIND = 4_096
"""Channels whose answer to "who is called by any message here" is kept in memory."""


class Config:
    """Settings of servers and channels, with the operator's as defaults."""

    keys: tuple[ConfigKey, ...] = CONFIG_KEYS

    def __init__(self, store: Store, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._default_detail = settings.detail_level
        self._clock = clock
        self._called: dict[int, tuple[bool, int]] = {}

    async def get(self, place: Place) -> PlaceConfig:
        """What is set in that place, threads inheriting from their channel. Raises StoreError."""
        async with self._store.read() as tx:
            return await self.load(tx, place)

    async def load(self, tx: Tx, place: Place) -> PlaceConfig:
        """The same, inside a transaction that is open already."""
        rows = await tx.config.many(rules.row_keys(place))
        return rules.resolve(rows, place, self._default_detail)

    async def auto_reply(self, place: Place) -> bool:
        """Does the bot answer everything there?"""
        return (await self._kept(place))[0]

    async def persona_id(self, place: Place) -> int:
        """Who answers there when nobody else is called; 0 for the built-in persona."""
        return (await self._kept(place))[1]

    async def _kept(self, place: Place) -> tuple[bool, int]:
        """Asked for every message, so kept until a setting changes. One process owns a server."""
        known = self._called.get(place.channel_id)
        if known is None:
            if len(self._called) >= KEPT_IN_MIND:
                self._called.clear()
            config = await self.get(place)
            known = self._called[place.channel_id] = (config.auto_reply, config.persona_id)
        return known

    def forget(self) -> None:
        """Settings were changed elsewhere than here."""
        self._called.clear()

    async def set(
        self, person: Person, place: Place, key: str, value: str | None, *, level: Level | None = None
    ) -> str:
        """Change one setting and say so in a sentence. ``value`` None goes back to the default.

        Needs Manage Server; in a DM its member (SPEC §12). Raises ConfigRefused, StoreError: nothing changed.
        """
        change = rules.plan_change(person, place, key, value, level)
        async with self._store.write() as tx:
            await tx.config.set(
                change.level.value,
                change.id,
                change.key.name,
                change.value,
                at=self._clock.now(),
                by=person.id,
            )
            now = await self.load(tx, place)
        self.forget()
        return rules.sentence(change, place, now)
