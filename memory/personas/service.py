"""Personas as the rest of the engine and the front read them. What a process has read it keeps in mind.

One process owns a server, so nobody else changes its personas; every change here empties what is kept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta

from memory.personas import rules
from memory.store import Store
from memory.types import DEFAULT_LINEAGE, Clock, Hook, Persona, Place

KEPT_GUILDS = 2_048
"""Servers whose personas are kept in memory."""

ASKED_FOR = timedelta(minutes=5)
"""How long a list of choices trusts that somebody is in a server. The choice itself asks again."""

IsMember = Callable[[int, int], Awaitable[bool]]
"""Is this user (the second) a member of that server now? Unsure means False."""


async def _nobody(_guild_id: int, _user_id: int) -> bool:
    """Before the start there is nobody to ask."""
    return False


class Personas:
    """Who may be called where. Raises :class:`memory.errors.StoreError` when the database fails."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._guilds: dict[int, tuple[Persona, ...]] = {}
        self._hooks: dict[int, str] = {}
        self._ask: IsMember = _nobody
        self._members: dict[tuple[int, int], tuple[bool, datetime]] = {}

    async def load(self, is_member: IsMember = _nobody) -> None:
        """Learn our webhooks, and whom to ask who is in a server. Called once at start."""
        self._ask = is_member
        async with self._store.read() as tx:
            self._hooks = await tx.hooks.lineages()

    def forget(self, guild_id: int | None) -> None:
        """The personas of a server changed."""
        if guild_id is not None:
            self._guilds.pop(guild_id, None)

    async def rows(self, guild_id: int) -> tuple[Persona, ...]:
        """Every row of a server, that of the built-in persona among them, the oldest first."""
        known = self._guilds.get(guild_id)
        if known is None:
            if len(self._guilds) >= KEPT_GUILDS:
                self._guilds.clear()
            async with self._store.read() as tx:
                known = self._guilds[guild_id] = tuple(await tx.personas.of_guild(guild_id))
        return known

    async def of_guild(self, guild_id: int | None) -> tuple[Persona, ...]:
        """The characters of a server, without the built-in one."""
        if guild_id is None:
            return ()
        return tuple(persona for persona in await self.rows(guild_id) if not persona.built_in)

    async def built_in(self, guild_id: int | None) -> Persona:
        """The built-in persona as it is set up in a server. Its name is the bot's own there."""
        rows = () if guild_id is None else await self.rows(guild_id)
        plain = Persona(0, guild_id, DEFAULT_LINEAGE, "")
        return next((persona for persona in rows if persona.built_in), plain)

    async def get(self, place: Place, persona_id: int) -> Persona:
        """The persona of that id where it may be in ``place``; else the built-in one.

        A server's are known in that server only, and in a DM any. Whom it may answer there is not judged
        here: for that there is :meth:`answering`.
        """
        if persona_id:
            if place.guild_id is not None:
                rows = await self.rows(place.guild_id)
                found = next((persona for persona in rows if persona.id == persona_id), None)
            else:
                async with self._store.read() as tx:
                    found = await tx.personas.get(persona_id)
            if found is not None:
                return found
        return await self.built_in(place.guild_id)

    async def answering(
        self, place: Place, persona_id: int, user_id: int, *, lately: bool = False
    ) -> Persona:
        """Who answers that person in ``place`` when the persona of that id is called or in use there.

        The one place that says so, for turns, previews and writes alike: in a DM a server's persona is
        there for nobody but its members of this moment; the built-in one answers all others. ``lately``: a
        list of choices may trust what was asked within the last minutes.
        """
        persona = await self.get(place, persona_id)
        if not place.is_dm or persona.guild_id is None:
            return persona
        ask = self.was_member if lately else self._ask
        return persona if await ask(persona.guild_id, user_id) else await self.built_in(None)

    async def was_member(self, guild_id: int, user_id: int) -> bool:
        """Is, or was within the last minutes, this user in that server? For lists of choices alone."""
        now, key = self._clock.now(), (guild_id, user_id)
        known, at = self._members.get(key, (False, now - ASKED_FOR))
        if now - at >= ASKED_FOR:
            if len(self._members) >= 1_000:
                self._members.clear()
            known = await self._ask(guild_id, user_id)
            self._members[key] = (known, now)
        return known

    async def by_lineage(self, guild_id: int | None, lineage: str) -> Persona | None:
        """A server's persona of that lineage; the built-in one is everywhere."""
        if lineage in ("", DEFAULT_LINEAGE):
            return await self.built_in(guild_id)
        return next((p for p in await self.of_guild(guild_id) if p.lineage == lineage), None)

    async def called_by_word(self, guild_id: int | None, text: str) -> Persona | None:
        """The persona whose trigger word stands first in a text."""
        return rules.called_by_word(text, await self.of_guild(guild_id))

    async def picture(self, digest: str) -> bytes | None:
        """The PNG of an avatar."""
        async with self._store.read() as tx:
            return await tx.personas.picture(digest)

    # webhooks

    def speaks_through(self, webhook_id: int | None) -> str | None:
        """The lineage that a webhook of ours speaks for; None for any other."""
        return None if webhook_id is None else self._hooks.get(webhook_id)

    async def hook(self, channel_id: int, lineage: str) -> Hook | None:
        """The webhook of a persona in a parent channel."""
        async with self._store.read() as tx:
            return await tx.hooks.get(channel_id, lineage)

    async def hooks_of(self, channel_id: int) -> list[Hook]:
        """All webhooks of ours in a parent channel, the least recently used first."""
        async with self._store.read() as tx:
            return await tx.hooks.of_channel(channel_id)

    async def keep_hook(self, hook: Hook) -> None:
        """A webhook was made, or is used again; it replaces an older one of the same persona there."""
        now = self._clock.now()
        async with self._store.write() as tx:
            await tx.hooks.put(replace(hook, used_at=now), now)
        self._hooks[hook.id] = hook.lineage

    async def hook_used(self, hook_id: int) -> None:
        """It spoke just now."""
        async with self._store.write() as tx:
            await tx.hooks.used(hook_id, self._clock.now())

    async def drop_hook(self, hook_id: int) -> None:
        """A webhook is gone. Its earlier messages are still known as ours in this process."""
        async with self._store.write() as tx:
            await tx.hooks.remove(hook_id)
