"""People, places and steps that the tests of the message actions share."""

from __future__ import annotations

from memory.engine import Engine
from memory.llm.port import Event
from memory.ports import Posted
from memory.types import Incoming, Memory, Message, Person, Persona, Place, Scope, TurnState
from tests.fakes import BOT_ID, GENERAL, GUILD, FakeSurface, Said, calls

ANA = Person(501, "Ana")
BEN = Person(502, "Ben")
MARA = Person(503, "Mara", manages=True)
HERS = Scope.user(ANA.id, "keepsake")
DM = Place(88, None)
THREAD = Place(4_000, GUILD, 71, "side room")

SAVE = calls(("save_memory", {"content": "plays the cello", "about": "user"}))


async def said(
    engine: Engine, surface: FakeSurface, text: str, who: Person = ANA, **more: object
) -> Incoming:
    """A call, answered."""
    message = surface.say(who, text, **more)  # type: ignore[arg-type]
    await engine.observe(message, trigger=True)
    await engine.idle()
    return message


def last(surface: FakeSurface, place: Place = GENERAL) -> Said:
    """The persona's latest message."""
    own = [m for m in surface.messages.values() if m.author.id == BOT_ID and m.place == place]
    return [m for m in own if not (m.report or m.notice)][-1]


async def memories(engine: Engine, scope: Scope = HERS) -> list[Memory]:
    async with engine._rooms.store.read() as tx:
        return await tx.memories.of_scopes([scope], dm=True)


async def window(engine: Engine, place: Place = GENERAL) -> list[Message]:
    async with engine._rooms.store.read() as tx:
        return await tx.messages.window(place.channel_id, 0, 0)


async def rewind(
    engine: Engine, surface: FakeSurface, to: int, who: Person = MARA, place: Place = GENERAL
) -> str:
    """Post the marker as the front does, then rewind; what who asked is told."""
    marker = surface.post(place, "Rewinding", notice=True)
    at = surface.messages[to].at
    return (await engine.actions.rewind(who, place, to, at, marker.id)).line


async def persona(engine: Engine, name: str) -> Persona:
    async with engine._rooms.store.write() as tx:
        made = await tx.personas.add(
            Persona(0, GUILD, f"line-{name}", name), name.lower(), MARA.id, engine.clock.now()
        )
    engine.personas.forget(GUILD)
    assert made is not None
    return made


def edit(text: str) -> list[Event]:
    return calls(("update_memory", {"handle": "m1", "content": text}))


async def split(engine: Engine, surface: FakeSurface) -> tuple[int, int]:
    """Make the latest reply one of two messages, as a long one is."""
    first = last(surface)
    second = surface.post(GENERAL, "and more")
    async with engine._rooms.store.write() as tx:
        turn = await tx.turns.by_reply(first.id)
        assert turn is not None
        await tx.turns.discard(turn.id, TurnState.REPLACED)
        again = await tx.turns.open(
            GENERAL, "keepsake", turn.trigger_ids, turn.author_ids, engine.clock.now()
        )
        await tx.turns.close(again.id, TurnState.DELIVERED, [first.id, second.id], at=engine.clock.now())
        part = [Posted(second.id, "and more")]
        await engine._rooms.recorder.keep_reply(tx, GENERAL, (BOT_ID, "Keepsake"), part, again.id)
    return first.id, second.id
