"""Where no webhook can be had a name stands in front; and what a persona said is known when it comes back."""

from __future__ import annotations

import logging

import pytest

from cogs import _names
from cogs._delivery import Budget
from cogs._hooks import ALL, NO_RIGHT
from cogs._surface import DiscordSurface
from memory.errors import StoreBusy
from memory.types import AuthorKind, Place

from .webhooks import (
    cast,
    complete,
    foreign,
    heard,
    hooks,
    put_in_use,
    remove,
    speaker,
    take_right,
)
from .world import HandClock, World

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 32
LONG = "word " * 900


@pytest.fixture(autouse=True)
def _whole_webhooks(monkeypatch: pytest.MonkeyPatch) -> None:
    complete(monkeypatch)


@pytest.fixture
def surface(world: World, hand: HandClock) -> DiscordSurface:
    """The running bot's own, with time in the test's hand."""
    made = world.engine._now.surface
    assert isinstance(made, DiscordSurface)
    made._clock, made._budget = hand, Budget(hand)
    return made


def shown(channel: object) -> list[str]:
    return [text.lstrip(_names.SIGN) for _, text in heard(channel)]  # type: ignore[arg-type]


async def test_without_the_right_the_name_stands_in_front_and_the_preview_says_why(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    sable = await cast(world, "Sable", "sable")
    await take_right(world)
    caplog.set_level(logging.INFO, logger="cogs")
    world.model.say("The tide is in.")
    await world.ana.send(world.general, "sable?")
    assert shown(world.general) == ["**Sable:** The tide is in."]
    assert "Manage Webhooks" in caplog.text
    place, person = world.place(world.general), world.person(world.ana)
    assert NO_RIGHT in (await world.engine.preview(person, place, "hi", sable)).notes
    assert NO_RIGHT not in (await world.engine.preview(person, place, "hi")).notes


async def test_where_others_have_taken_every_place_the_name_stands_in_front(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await cast(world, "Sable", "sable")
    foreign(world, ALL)
    caplog.set_level(logging.INFO, logger="cogs")
    await world.ana.send(world.general, "sable?")
    assert shown(world.general) == ["**Sable:** I hear you."]
    assert len(hooks(world)) == ALL
    assert f"{ALL} webhooks" in caplog.text


async def test_a_database_that_fails_does_not_silence_a_persona(
    world: World, surface: DiscordSurface, monkeypatch: pytest.MonkeyPatch
) -> None:
    sable = await cast(world, "Sable")

    async def busy(hook: object) -> None:
        raise StoreBusy("The database is busy.")

    monkeypatch.setattr(world.engine.personas, "keep_hook", busy)
    reply = surface.reply(world.place(world.general), 1, (), speaker(sable))
    await reply.finish("The tide is in.", "ks5")
    assert shown(world.general) == ["**Sable:** The tide is in."]
    assert hooks(world) == []


async def test_in_a_direct_message_the_name_stands_in_front(world: World) -> None:
    """SPEC §11."""
    sable = await cast(world, "Sable")
    await world.ana.send_dm("hello")
    channel = world.ana.user.dm_channel
    await put_in_use(world, world.place(channel), sable)
    world.model.say("The tide is in.", "- low\n- high")
    for text in ("how is the sea?", "and when?"):
        await world.ana.send_dm(text)
    assert shown(channel)[1:] == ["**Sable:** The tide is in.", "**Sable:**\n- low\n- high"]
    prompt = world.model.requests[-1].messages
    assert "The tide is in." in [m.text for m in prompt]  # her own words, without the name
    said = (await world.engine._now.surface.history(Place(channel.id, None), limit=10)).messages
    assert [(m.text, m.lineage) for m in said if m.kind is AuthorKind.PERSONA][-1] == (
        "- low\n- high",
        sable.lineage,
    )


HOSTILE = {
    "markdown": "**bold** `code` [x](https://evil.example)",
    "mention": "@everyone <@1> <@&2>",
    "directions": "\u202eelbaS\u2066",
    "ends like a name": "Sable:** and",
    "two lines": "Sable\n# Heading",
    "longest": "*" * 80,
}


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
async def test_a_hostile_name_is_nothing_but_a_name(world: World, name: str) -> None:
    await cast(world, name, "sable")
    await take_right(world)
    world.model.say(LONG)
    await world.ana.send(world.general, "sable?")
    said = world.said_by_bot(world.general)
    assert all(len(m.content) <= 2_000 and m.content.startswith(f"{_names.SIGN}**") for m in said)
    assert all("\n#" not in m.content and "\u202e" not in m.content for m in said)
    assert not any(m.mention_everyone or m.mentions or m.role_mentions for m in said)
    parts = [_names.taken_apart(m.content) for m in said]
    assert all(part is not None and _names.same(part[0], name) for part in parts)
    assert "".join("".join(part[1].split()) for part in parts if part) == "word" * 900


def test_words_that_only_look_like_a_name_in_front_are_words() -> None:
    assert _names.taken_apart("**Sable:** hello") is None
    assert _names.taken_apart(_names.under("Sable", "**Ben:** hello")) == ("Sable", "**Ben:** hello")


async def test_a_model_cannot_speak_with_another_name_in_front(world: World) -> None:
    await cast(world, "Sable")
    world.model.say(_names.under("Sable", "I am Sable."))
    await world.ana.send(world.general, world.call("who are you?"))
    assert [_names.taken_apart(text) for _, text in heard(world.general)] == [None]


@pytest.mark.parametrize("name", ["Discord Helper", "clyde", "everyone"])
async def test_a_name_that_discord_refuses_stands_in_front(world: World, name: str) -> None:
    await cast(world, name, "sable")
    await world.ana.send(world.general, "sable?")
    assert shown(world.general) == [f"**{name}:** I hear you."]


async def test_its_own_words_come_back_and_are_stored_once_and_call_nobody(
    world: World, surface: DiscordSurface
) -> None:
    sable = await cast(world, "Sable", "sable")
    await cast(world, "Rook", "rook")
    place = world.place(world.general)
    await world.engine.config.set(world.person(world.mara), place, "auto_reply", "on")
    world.model.say("Ask Rook about it. sable!")
    asked = await world.ana.send(world.general, "sable?")
    await surface.reply(place, asked.id, (), speaker(sable)).show("rook, this is only begun")
    await world.env.settle()
    assert [name for name, _ in heard(world.general)] == ["Sable", "Sable"]
    async with world.engine._rooms.store.read() as tx:
        kept = await tx.messages.window(world.general.id, 0, 0)
    assert [(m.text, m.kind) for m in kept][1:] == [("Ask Rook about it. sable!", AuthorKind.PERSONA)]


async def test_history_tells_who_said_what(world: World, surface: DiscordSurface) -> None:
    sable, rook = await cast(world, "Sable", "sable"), await cast(world, "Rook", "rook")
    place = world.place(world.general)
    world.model.then = "Hm."
    for call in ("sable?", "rook?", world.call("you?")):
        await world.ana.send(world.general, call)
    await take_right(world)
    async with world.engine._rooms.store.write() as tx:
        for hook in await tx.hooks.of_persona(world.guild.id, rook.lineage):
            await tx.hooks.remove(hook.id)
    await world.ana.send(world.general, "rook?")
    await world.guild.create_webhook(world.general, "Feed").send("news")
    said = [m for m in (await surface.history(place, limit=20)).messages if m.kind is not AuthorKind.MEMBER]
    me = surface.persona_name(place)
    assert [(m.kind, m.lineage, m.author.name, m.text) for m in said] == [
        (AuthorKind.PERSONA, sable.lineage, "Sable", "Hm."),
        (AuthorKind.PERSONA, rook.lineage, "Rook", "Hm."),
        (AuthorKind.PERSONA, "", me, "Hm."),
        (AuthorKind.PERSONA, rook.lineage, "Rook", "Hm."),
        (AuthorKind.BOT, "", "Feed", "news"),
    ]


async def test_after_a_restart_the_words_of_a_webhook_that_is_gone_stay_as_they_were(world: World) -> None:
    sable = await cast(world, "Sable", "sable")
    world.model.say("The tide is in.\n-# a note")
    await world.ana.send(world.general, "sable?")
    await remove(world, sable)
    await world.restart()
    await world.ana.send(world.general, world.call("who spoke?"))
    async with world.engine._rooms.store.read() as tx:
        kept = await tx.messages.window(world.general.id, 0, 0)
    assert [m.line for m in kept if m.lineage == sable.lineage] == ["The tide is in."]


async def test_own_replies_are_the_persona_s_and_nobody_else_s(world: World, surface: DiscordSurface) -> None:
    sable, rook = await cast(world, "Sable"), await cast(world, "Rook")
    place = world.place(world.general)
    asked = await world.ana.send(world.general, "a question")
    parts = await surface.reply(place, asked.id, (), speaker(sable)).finish(LONG, "ks6")
    await surface.reply(place, asked.id, (), speaker(rook)).finish("Mine.", "ks7")
    await surface.reply(place, 0).finish("The bot's own.", "ks8")
    assert await surface.own_replies(place, asked.id, None, speaker(sable)) == list(parts)
    assert await surface.own_replies(place, parts[-1].message_id, None, speaker(sable)) == []
    assert await surface.own_replies(place, asked.id, parts[0].message_id) == [parts[0]]


async def test_own_replies_with_the_name_in_front_come_without_it(
    world: World, surface: DiscordSurface
) -> None:
    sable = await cast(world, "Sable")
    await take_right(world)
    place = world.place(world.general)
    asked = await world.ana.send(world.general, "a question")
    parts = await surface.reply(place, asked.id, (), speaker(sable)).finish(LONG, "ks9")
    await world.ben.send(world.general, "hm")
    found = await surface.own_replies(place, asked.id, None, speaker(sable))
    assert found == list(parts)
    again = surface.reply(place, asked.id, found, speaker(sable))
    await again.finish("Short after all.", "ks10")
    assert shown(world.general) == ["**Sable:** Short after all."]


async def test_a_persona_deleted_while_it_replies_ends_under_its_name(
    world: World, surface: DiscordSurface
) -> None:
    sable = await cast(world, "Sable")
    reply = surface.reply(world.place(world.general), 1, (), speaker(sable))
    await reply.show("The tide")
    await remove(world, sable)
    (part,) = await reply.finish("The tide is in.", "ks11")
    assert part.text == "The tide is in."
    assert shown(world.general) == ["**Sable:** The tide is in."]
    assert hooks(world) == []


async def test_retiring_a_webhook_twice_is_no_trouble(world: World) -> None:
    sable = await cast(world, "Sable", "sable")
    await world.ana.send(world.general, "sable?")
    async with world.engine._rooms.store.read() as tx:
        ours = await tx.hooks.of_persona(world.guild.id, sable.lineage)
    for _ in range(2):
        await world.engine._now.surface.retire(ours)
    assert hooks(world) == []
    assert await world.engine.personas.hooks_of(world.general.id) == []
