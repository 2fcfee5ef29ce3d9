"""What was deleted while nobody listened is gone after the next comparison, wherever it stood (SPEC §2)."""

from __future__ import annotations

from memory.engine import Engine
from memory.types import Person
from tests.fakes import GENERAL, FakeClock, FakeSurface, ScriptedModel
from tests.turns.conftest import Start, clock, start, surface

__all__ = ["clock", "start", "surface"]

ANA = Person(501, "Ana", manages=True)


async def talked(engine: Engine, surface: FakeSurface, *texts: str) -> list[int]:
    """Each text is said and answered; returns the ids of what Ana said."""
    ids = []
    for text in texts:
        said = surface.say(ANA, text)
        await engine.observe(said, trigger=True)
        await engine.idle()
        ids.append(said.message_id)
    return ids


async def kept(engine: Engine, channel_id: int = GENERAL.channel_id) -> set[int]:
    async with engine._rooms.store.read() as tx:
        return {m.id for m in await tx.messages.window(channel_id, 0, 0)}


async def test_the_first_message_of_a_channel_that_was_deleted_meanwhile_is_gone(
    start: Start, surface: FakeSurface
) -> None:
    first, second = await talked(await start(), surface, "the code is PIN7788", "hello")
    del surface.messages[first]
    model = ScriptedModel()
    engine = await start(model)
    assert first not in await kept(engine) and second in await kept(engine)
    await talked(engine, surface, "and now?")
    assert "PIN7788" not in model.prompt()


async def test_a_channel_that_was_emptied_meanwhile_is_empty_here_too(
    start: Start, surface: FakeSurface, clock: FakeClock
) -> None:
    await talked(await start(), surface, "the code is PIN7788", "hello")
    surface.messages.clear()
    clock.move(minutes=5)
    assert await kept(await start()) == set()


async def test_a_channel_that_can_not_be_read_keeps_everything_and_is_asked_again(
    start: Start, surface: FakeSurface
) -> None:
    first, second = await talked(await start(), surface, "the code is PIN7788", "hello")
    del surface.messages[first]
    surface.unreadable = True
    engine = await start()
    assert {first, second} <= await kept(engine)
    surface.unreadable = False
    await talked(engine, surface, "are you back?")
    assert first not in await kept(engine) and second in await kept(engine)


async def test_a_message_from_before_a_refresh_that_was_deleted_meanwhile_is_gone(
    start: Start, surface: FakeSurface
) -> None:
    engine = await start()
    first, second = await talked(engine, surface, "the code is PIN7788", "hello")
    await engine.refresh(GENERAL, ANA, surface.post(GENERAL, "refreshed", notice=True).id)
    del surface.messages[first]
    engine = await start()
    assert first not in await kept(engine) and second in await kept(engine)


async def test_what_a_fork_copied_is_not_taken_for_deleted(start: Start, surface: FakeSurface) -> None:
    engine = await start()
    first, second = await talked(engine, surface, "my name is Ana", "hello")
    made = await engine.actions.fork(ANA, GENERAL, second, "a fork")
    assert made.place is not None
    assert {first, second} <= await kept(engine, made.place.channel_id)
    engine = await start()
    said = surface.say(ANA, "hello again", made.place)
    await engine.observe(said, trigger=True)
    await engine.idle()
    assert {first, second, said.message_id} <= await kept(engine, made.place.channel_id)


async def test_what_a_fork_copied_is_gone_from_it_when_it_was_deleted_where_nobody_talks_any_more(
    start: Start, surface: FakeSurface, clock: FakeClock
) -> None:
    engine = await start()
    first, second = await talked(engine, surface, "the code is PIN7788", "hello")
    made = await engine.actions.fork(ANA, GENERAL, second, "a fork")
    assert made.place is not None
    fork = made.place.channel_id
    clock.move(hours=23)
    await engine.observe(surface.say(ANA, "still here", made.place), trigger=True)
    await engine.idle()
    clock.move(hours=2)  # the parent is not recorded any more, the fork is
    del surface.messages[first]
    engine = await start()
    assert first not in await kept(engine, fork) and second in await kept(engine, fork)


async def test_only_what_was_looked_at_can_be_missed(start: Start, surface: FakeSurface) -> None:
    engine = await start()
    (first,) = await talked(engine, surface, "long ago")
    for number in range(90):
        await engine.observe(surface.say(ANA, f"word {number}"), trigger=False)
    engine = await start()
    assert first in await kept(engine)


async def test_who_spoke_before_the_bot_listened_is_known_by_name(start: Start, surface: FakeSurface) -> None:
    ben = Person(502, "Ben")
    surface.say(ben, "I am the ferryman")
    engine = await start()
    await talked(engine, surface, "hello")
    async with engine._rooms.store.read() as tx:
        assert (await tx.names.get(GENERAL.guild_id or 0, [ben.id]))[ben.id] == "Ben"
