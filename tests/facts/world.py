"""People and places of the tests, and a desk that calls tools the way a turn does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from memory.config import rules as config
from memory.facts import rules
from memory.facts.lineages import InUse, built_in_alone
from memory.facts.outcomes import Outcome, handle
from memory.facts.service import Facts
from memory.facts.tools import MemoryTools, ToolContext, ToolResult
from memory.llm.port import ToolCall
from memory.store import Store, Tx
from memory.types import DEFAULT_LINEAGE, DetailLevel, Memory, Person, Persona, Place, Scope, Source

GUILD, OTHER_GUILD = 900, 901
ANA = Person(1111, "Ana")
BEN = Person(2222, "Ben")
CARLA = Person(3333, "Carla")
ADMIN = Person(4444, "Dora", manages=True)

SQUARE = Place(10, GUILD, name="square")
ELSEWHERE = Place(20, OTHER_GUILD, name="elsewhere")
ANAS_DM = Place(31, None)
BENS_DM = Place(32, None)

SERVER = Scope.server(GUILD, DEFAULT_LINEAGE)
SERVER_GLOBAL = Scope.server(GUILD)
ANAS = Scope.user(ANA.id, DEFAULT_LINEAGE)
ANAS_GLOBAL = Scope.user(ANA.id)
BENS = Scope.user(BEN.id, DEFAULT_LINEAGE)

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def memory(number: int, scope: Scope = ANAS, text: str = "", minutes: int = 0, **more: object) -> Memory:
    """An entry that was never stored, updated ``minutes`` after noon."""
    at = NOON + timedelta(minutes=minutes)
    made = Memory(number, scope, text or f"fact {number}", False, at, at)
    return replace(made, **more)  # type: ignore[arg-type]


async def grant(store: Store, guild_id: int = GUILD, value: str | None = "on") -> None:
    """Turn member access on in a server (or off, with None)."""
    async with store.write() as tx:
        await tx.config.set("server", guild_id, "member_access", value, NOON, ADMIN.id)


async def character(store: Store, lineage: str = "mira", guild_id: int = GUILD, **more: object) -> Persona:
    """A persona of a server."""
    kept: dict[str, object] = {"name": lineage.title(), **more}
    new = Persona(0, guild_id, lineage, **kept)  # type: ignore[arg-type]
    async with store.write() as tx:
        made = await tx.personas.add(new, new.name.casefold(), ADMIN.id, NOON)
    assert made is not None
    return made


async def in_use(store: Store, persona: Persona, place: Place = SQUARE) -> None:
    """Put a persona in use in one channel."""
    async with store.write() as tx:
        await tx.config.set("channel", place.channel_id, "persona", str(persona.id), NOON, ADMIN.id)


def answers_in(store: Store) -> InUse:
    """Who answers where nobody else is called, as it was put; everybody is a member everywhere."""

    async def in_use(_person: Person, place: Place, _lately: bool) -> Persona:
        async with store.read() as tx:
            rows = await tx.config.many(config.row_keys(place))
            chosen = config.resolve(rows, place, DetailLevel.BALANCED).persona_id
            found = await tx.personas.get(chosen) if chosen else None
        there = found is not None and place.guild_id in (None, found.guild_id)
        return found if found is not None and there else await built_in_alone(_person, place, _lately)

    return in_use


async def everything(store: Store, *scopes: Scope) -> list[Memory]:
    """All entries of these scopes, whoever may read them."""
    async with store.read() as tx:
        return await tx.memories.of_scopes(
            scopes or (SERVER, SERVER_GLOBAL, ANAS, ANAS_GLOBAL, BENS), dm=True
        )


async def turn_is_given(
    facts: Facts, tx: Tx, place: Place, in_play: Sequence[int], lineage: str = DEFAULT_LINEAGE
) -> list[Memory]:
    """What a turn there is given of the database (SPEC §4.2)."""
    scopes = rules.scopes_in_play(place, lineage, in_play)
    return rules.select(await tx.memories.of_scopes(scopes, dm=place.is_dm), facts.limits.injected)


async def saved(facts: Facts, text: str, scope: Scope = ANAS, place: Place = SQUARE, **more: bool) -> Memory:
    """An entry that its rightful writer added."""
    person = ADMIN if scope.kind.value == "server" else Person(scope.subject_id, "whoever")
    outcome = await facts.add(person, place, scope, text, **more)
    assert outcome.memory is not None and outcome.wrote, outcome.line()
    return outcome.memory


@dataclass
class Desk:
    """One turn's tool calls. Counts its call ids, and remembers what the prompt showed."""

    facts: Facts
    tools: MemoryTools
    place: Place = SQUARE
    authors: tuple[Person, ...] = (ANA,)
    in_play: tuple[Person, ...] = (ANA, BEN)
    handles: dict[str, int] = field(default_factory=dict)
    turn_id: int = 77
    lineage: str = DEFAULT_LINEAGE
    round: int | None = None

    def shows(self, *memories: Memory) -> Desk:
        self.handles.update({handle(each.id): each.id for each in memories})
        return self

    def context(self) -> ToolContext:
        source = Source(self.place.channel_id, 5000, self.place.guild_id)
        return ToolContext(
            self.place,
            self.lineage,
            self.turn_id,
            self.authors,
            self.in_play,
            self.handles,
            source,
            self.round,
        )

    async def raw(self, name: str, arguments: str) -> ToolResult:
        return await self.tools.call(self.context(), ToolCall("call", name, arguments))

    async def call(self, tool: str, **arguments: object) -> ToolResult:
        return await self.raw(tool, json.dumps(arguments))

    async def save(self, content: str, about: str = "user", **more: object) -> ToolResult:
        return await self.call("save_memory", content=content, about=about, **more)

    async def update(self, shown: str, content: str) -> ToolResult:
        return await self.call("update_memory", handle=shown, content=content)

    async def delete(self, shown: str) -> ToolResult:
        return await self.call("delete_memory", handle=shown)


def texts(memories: Sequence[Memory]) -> list[str]:
    return [each.text for each in memories]


def journal_id(outcome: Outcome) -> int:
    assert outcome.journal is not None, outcome.line()
    return outcome.journal.id


def proposal_id(outcome: Outcome) -> int:
    assert outcome.proposal is not None, outcome.line()
    return outcome.proposal.id


Shown = Mapping[str, int]
