"""Personas as people change them: made, edited, put in use and sent away, each in one transaction.

Rights come with the person and are judged here, at the write: Manage Server, and in a direct message its
member, who may choose among the personas of servers that they are in at that moment. Nobody learns of a
persona of a server that they are not in. Whatever is refused raises :class:`PersonaRefused` and changed
nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memory.config.rules import Level, row_keys
from memory.personas import cards, pictures, rules
from memory.personas.rules import Card, PersonaRefused
from memory.personas.service import Personas
from memory.ports import Surface
from memory.store import Store, Tx
from memory.types import DEFAULT_LINEAGE, Clock, Person, Persona, Place, Scope

NEEDS = "Changing personas needs the Manage Server permission. Nothing was changed."
IN_SERVERS = "Personas are made and changed in a server. Nothing was changed: run this there."
GONE = "There is no such persona here. Nothing was changed: pick one from the list that appears as you type."

SERVERS_ASKED = 25
"""Servers of which a direct message asks whether its member is in them, for one list of choices."""

KEY = "persona"
"""The setting that says who answers when nobody else is called."""


@dataclass(frozen=True, slots=True)
class InUse:
    """Who answers when nobody else is called, by id: in the place itself, and in the whole server."""

    here: int
    server: int = 0


ANSWERS_HERE = (
    "I answer here when nobody else is called, so I can't be taken out. Nothing was changed:"
    " `/persona use` puts another in use first."
)


class Editing:
    """The write side of personas. ``changed``: called when a setting was changed here."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        personas: Personas,
        *,
        limit: int,
        surface: Callable[[], Surface],
        changed: Callable[[], None],
    ) -> None:
        self._store = store
        self._clock = clock
        self._personas = personas
        self._limit = limit
        self._surface = surface
        self._changed = changed
        self._drawing = asyncio.Semaphore(1)

    # finding

    async def find(self, person: Person, place: Place, persona_id: int) -> Persona | None:
        """That persona, if this person may know of it here; 0 is the built-in one. None for any other."""
        found = await self._personas.answering(place, persona_id, person.id)
        return found if not found.built_in or persona_id in (0, found.id) else None

    async def choices(self, person: Person, place: Place, guilds: Iterable[int]) -> list[Persona]:
        """All that this person may choose from here, the built-in one first. ``guilds``: where the bot is."""
        found = [await self._personas.built_in(place.guild_id)]
        if place.guild_id is not None:
            return [*found, *await self._personas.of_guild(place.guild_id)]
        async with self._store.read() as tx:
            having = set(await tx.personas.guilds())
        asked = [guild_id for guild_id in guilds if guild_id in having][:SERVERS_ASKED]
        theirs = await asyncio.gather(*(self._personas.was_member(guild_id, person.id) for guild_id in asked))
        for guild_id, member in zip(asked, theirs, strict=True):
            found += await self._personas.of_guild(guild_id) if member else ()
        return found

    async def in_use(self, place: Place) -> InUse:
        """Who answers here when nobody else is called."""
        async with self._store.read() as tx:
            here = await self._set_for(tx, row_keys(place))
            server = await self._set_for(tx, [(Level.SERVER.value, place.guild_id or 0)])
        return InUse(here, server)

    async def cast(self, place: Place) -> list[str]:
        """Lineages of who takes part in a channel."""
        async with self._store.read() as tx:
            return await tx.personas.cast(place.channel_id)

    # making and changing

    def may(self, person: Person, place: Place) -> None:
        """May this person change personas here? For asking before a box opens. Raises PersonaRefused."""
        if place.guild_id is None:
            raise PersonaRefused(IN_SERVERS)
        if not person.manages:
            raise PersonaRefused(NEEDS)

    async def create(
        self, person: Person, place: Place, draft: Persona, picture: bytes | None = None
    ) -> Persona:
        """A new persona of this server. ``draft.lineage``: "" gives it one of its own.

        ``picture``: a PNG made by :meth:`drawn`.
        """
        self.may(person, place)
        new = rules.tidy(
            replace(draft, guild_id=place.guild_id, lineage=draft.lineage or secrets.token_hex(16))
        )
        async with self._server(place) as (tx, rows):
            others = [row for row in rows if not row.built_in]
            if len(others) >= self._limit:
                have = f"{len(others):,} persona{'' if len(others) == 1 else 's'}"
                raise PersonaRefused(
                    f"This server has {have}, as many as it can have. Nothing was changed: delete one with"
                    " `/persona delete` first."
                )
            rules.check(new, self._surface().persona_name(place), others)
            new = await self._pictured(tx, new, picture)
            made = await tx.personas.add(new, rules.name_key(new.name), person.id, self._clock.now())
            if made is None:
                raise PersonaRefused("That name or that character is here already. Nothing was changed.")
            if not others:  # until now nobody noted where the built-in one takes part: it was alone
                await tx.personas.join_where_spoken(made.guild_id or 0, DEFAULT_LINEAGE, self._clock.now())
        self._personas.forget(place.guild_id)
        return made

    async def change(
        self,
        person: Person,
        place: Place,
        seen: Persona,
        changes: Mapping[str, Any],
        picture: bytes | None = None,
    ) -> Persona:
        """Change some fields. ``seen``: as the persona stood when they were written.

        What somebody else changed meanwhile in other fields stays; in the same ones, this is refused.
        """
        self.may(person, place)
        async with self._server(place) as (tx, rows):
            now = _standing(rows, seen)
            if now is None:
                if not seen.built_in:
                    raise PersonaRefused(GONE)
                now = await self._first_row(tx, place, person)
            if seen.built_in and not (set(changes) <= rules.BUILT_IN_FIELDS and picture is None):
                raise PersonaRefused("My own name and picture are set on Discord. Nothing was changed.")
            for field in changes:
                if getattr(now, field) != getattr(seen, field):
                    raise PersonaRefused(
                        "Somebody else changed the same thing meanwhile. Nothing was changed: look at it"
                        " as it stands now, then try again."
                    )
            new = rules.tidy(replace(now, **changes))
            others = [row for row in rows if row.id != now.id and not row.built_in]
            rules.check(new, self._surface().persona_name(place), others)
            new = await self._pictured(tx, new, picture)
            kept = await tx.personas.change(new, rules.name_key(new.name), self._clock.now())
            if kept is None:
                raise PersonaRefused(GONE)
            if now.picture and now.picture != kept.picture:
                await tx.personas.drop_picture(now.picture)
        self._personas.forget(place.guild_id)
        return kept

    async def _first_row(self, tx: Tx, place: Place, person: Person) -> Persona:
        """The row of the built-in persona, which a server has once it sets something for it.

        Its name is empty: the bot's own, whatever that is at the time.
        """
        plain = await self._personas.built_in(place.guild_id)
        kept = await tx.personas.add(plain, "", person.id, self._clock.now())
        if kept is None:
            raise PersonaRefused(GONE)
        return kept

    async def _pictured(self, tx: Tx, persona: Persona, picture: bytes | None) -> Persona:
        if picture is None:
            return persona
        digest = pictures.digest(picture)
        await tx.personas.add_picture(digest, picture)
        return replace(persona, picture=digest)

    @contextlib.asynccontextmanager
    async def _server(self, place: Place) -> AsyncIterator[tuple[Tx, list[Persona]]]:
        """One transaction on the personas of a server, with its rows; nobody else changes them meanwhile."""
        async with self._store.write() as tx:
            await _lock(tx, place.guild_id or 0)
            yield tx, await tx.personas.of_guild(place.guild_id or 0)

    async def removable(self, tx: Tx, person: Person, place: Place, persona_id: int) -> Persona:
        """The persona that is about to be deleted, locked until the unit ends. Raises PersonaRefused."""
        self.may(person, place)
        await _lock(tx, place.guild_id or 0)
        found = await tx.personas.get(persona_id)
        if found is None or found.guild_id != place.guild_id:
            raise PersonaRefused(GONE)
        if found.built_in:
            raise PersonaRefused("That is me: I can't be deleted. Nothing was changed.")
        return found

    # who is in use

    async def use(self, person: Person, place: Place, persona_id: int, level: Level) -> Persona:
        """From now on this one answers here, or in the whole server, when nobody else is called."""
        if not (place.is_dm or person.manages):
            raise PersonaRefused(NEEDS)
        if place.is_dm and level is Level.SERVER:
            raise PersonaRefused("A direct message has no server. Nothing was changed: choose this channel.")
        found = await self.find(person, place, persona_id)
        if found is None:
            raise PersonaRefused(GONE)
        async with self._store.write() as tx:
            if not found.built_in and await tx.personas.get(found.id) is None:
                raise PersonaRefused(GONE)
            keys = [(Level.SERVER.value, place.guild_id or 0)] if level is Level.SERVER else row_keys(place)
            await self._put(tx, person, keys, 0 if found.built_in else found.id)
            if level is Level.CHANNEL and not place.is_dm:
                await tx.personas.join(place.channel_id, found.lineage, self._clock.now())
        self._changed()
        return found

    async def dismiss(self, person: Person, place: Place, persona_id: int) -> Persona:
        """It takes part in this channel no longer, until it is called here again."""
        if not (place.is_dm or person.manages):
            raise PersonaRefused(NEEDS)
        found = await self.find(person, place, persona_id)
        if found is None:
            raise PersonaRefused(GONE)
        async with self._store.write() as tx:
            left = await tx.personas.leave(place.channel_id, found.lineage)
            answered = await self._set_for(tx, row_keys(place)) == (0 if found.built_in else found.id)
            if answered and found.built_in:
                raise PersonaRefused(ANSWERS_HERE)
            if not (left or answered):
                raise PersonaRefused(f"{found.name} takes no part in this channel. Nothing was changed.")
            if answered:
                await self._put(tx, person, row_keys(place), 0)
        self._changed()
        return found

    async def _put(self, tx: Tx, person: Person, keys: Iterable[tuple[str, int]], persona_id: int) -> None:
        """Set it at the first of ``keys``, or unset it there when those behind it say the same."""
        (level, owner), *behind = keys
        same = await self._set_for(tx, behind) == persona_id
        value = None if same else str(persona_id)
        await tx.config.set(level, owner, KEY, value, at=self._clock.now(), by=person.id)

    async def _set_for(self, tx: Tx, keys: Iterable[tuple[str, int]]) -> int:
        keys = list(keys)
        rows = await tx.config.many(keys)
        stored = (rows[key].get(KEY) for key in keys)
        return next((int(value) for value in stored if value is not None and value.isdigit()), 0)

    # pictures and cards

    async def drawn(self, data: bytes) -> bytes:
        """A person's picture as an avatar. Raises PersonaRefused."""
        async with self._drawing:
            return await asyncio.to_thread(pictures.avatar, data)

    def check_file(self, length: int) -> None:
        """Is a file of that many bytes read at all? Raises PersonaRefused."""
        pictures.check_size(length)

    async def read_card(self, data: bytes) -> Card:
        """A character card. Raises PersonaRefused."""
        async with self._drawing:
            return await asyncio.to_thread(cards.read, data)

    async def import_card(
        self, person: Person, place: Place, card: Card, name: str = "", *, copy: bool = False
    ) -> Persona:
        """A new persona from a card.

        ``copy``: with a lineage of its own, a free name if its is taken, and without the trigger words that
        call somebody here already.
        """
        draft = replace(card.persona, name=name or card.persona.name)
        if copy:
            others = await self._personas.of_guild(place.guild_id)
            free = rules.free_name(draft.name, self._surface().persona_name(place), others)
            taken = rules.shared_triggers(draft, others)
            words = tuple(word for word in draft.triggers if word not in taken)
            draft = replace(draft, lineage="", name=name or free, triggers=words)
        return await self.create(person, place, draft, card.picture)

    async def update_from(
        self, person: Person, place: Place, seen: Persona, card: Card, name: str = ""
    ) -> Persona:
        """The persona becomes what the card holds. What the card does not hold stays."""
        fields = {"description", "prompt", "samples", *card.own}
        changes = {field: getattr(card.persona, field) for field in fields}
        changes["name"] = name or card.persona.name
        return await self.change(person, place, seen, changes, card.picture)

    async def card(self, persona: Persona, *, png: bool) -> bytes:
        """The persona as a file to take along."""
        if persona.built_in:
            raise PersonaRefused("I am the same everywhere, so there is no card of me.")
        if not png:
            return await asyncio.to_thread(cards.as_json, persona)
        picture = await self._personas.picture(persona.picture) if persona.picture else None
        async with self._drawing:
            return await asyncio.to_thread(cards.as_png, persona, picture)


async def _lock(tx: Tx, guild_id: int) -> None:
    """The lock of a server's shared scope stands for all that is the server's: its personas too."""
    await tx.lock_scope(Scope.server(guild_id))


def _standing(rows: Iterable[Persona], seen: Persona) -> Persona | None:
    return next((row for row in rows if row.lineage == seen.lineage and seen.id in (0, row.id)), None)
