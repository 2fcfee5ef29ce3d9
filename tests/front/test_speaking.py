"""Personas speak: under their own name and picture where Discord lets us, else with the name in front."""

from __future__ import annotations

import base64
import json

import discord
import pytest

from cogs._delivery import Budget
from cogs._hooks import ALL, MOST
from cogs._surface import DiscordSurface
from memory.ports import DeliveryError, Posted, Speaker

from .discord_schema import DiscordSchema
from .test_registration import SCHEMAS
from .webhooks import (
    cast,
    change,
    complete,
    foreign,
    heard,
    hooks,
    requests,
    speaker,
    through_webhooks,
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


async def test_a_persona_answers_under_its_own_name_and_picture(world: World) -> None:
    """SPEC §11."""
    await cast(world, "Sable", "sable", picture=PNG)
    world.model.say("The tide is in.")
    await world.ana.send(world.general, "Sable, how is the sea?")
    assert heard(world.general) == [("Sable", "The tide is in.")]
    (made,) = requests(world, "POST", f"/channels/{world.general.id}/webhooks")
    assert made.json["name"] == "Sable"
    assert base64.b64decode(made.json["avatar"].partition("base64,")[2]) == PNG
    (said,) = requests(world, "POST", "/simcord_webhook")
    assert said.params["wait"]
    assert said.json["username"] == "Sable"
    assert said.json["allowed_mentions"] == {"parse": []}


async def test_it_keeps_its_webhook_for_what_it_says_next(world: World) -> None:
    await cast(world, "Sable", "sable")
    for _ in range(3):
        await world.ana.send(world.general, "sable?")
    assert hooks(world) == ["Sable"]
    assert [name for name, _ in heard(world.general)] == ["Sable"] * 3


async def test_after_a_restart_it_speaks_through_the_same_webhook(world: World) -> None:
    await cast(world, "Sable", "sable")
    await world.ana.send(world.general, "sable?")
    await world.restart()
    await world.ana.send(world.general, "sable?")
    assert hooks(world) == ["Sable"]
    assert len(heard(world.general)) == 2


@pytest.mark.parametrize("kind", ["thread", "forum post"])
async def test_in_a_thread_it_speaks_through_the_webhook_of_the_parent(world: World, kind: str) -> None:
    """SPEC §11."""
    await cast(world, "Sable", "sable")
    if kind == "thread":
        parent = world.general
        channel = world.bot.get_channel(parent.id)
        assert isinstance(channel, discord.TextChannel)
        await channel.create_thread(name="side room", type=discord.ChannelType.public_thread)
    else:
        parent = world.guild.create_forum_channel("stories")
        forum = world.bot.get_channel(parent.id)
        assert isinstance(forum, discord.ForumChannel)
        await forum.create_thread(name="side room", content="Tell me one.")
    (side,) = parent.threads
    for _ in range(2):
        await world.ana.send(side, "sable?")
    assert [m.author.display_name for m in through_webhooks(side)] == ["Sable"] * 2
    assert len(requests(world, "POST", f"/channels/{parent.id}/webhooks")) == 1
    said = requests(world, "POST", "/simcord_webhook")
    assert [r.params["thread_id"] for r in said] == [side.id] * 2


async def test_a_new_name_shows_at_once(world: World) -> None:
    sable = await cast(world, "Sable", "sable")
    await world.ana.send(world.general, "sable?")
    await change(world, sable, name="Captain Sable")
    await world.ana.send(world.general, "sable?")
    assert [name for name, _ in heard(world.general)] == ["Sable", "Captain Sable"]
    assert len(hooks(world)) == 1


async def test_a_new_picture_is_given_to_the_webhook_once(world: World) -> None:
    sable = await cast(world, "Sable", "sable", picture=PNG)
    await world.ana.send(world.general, "sable?")
    async with world.engine._rooms.store.write() as tx:
        await tx.personas.add_picture("new", PNG + b"1")
    sable = await change(world, sable, picture="new")
    for _ in range(2):
        await world.ana.send(world.general, "sable?")
    (dressed,) = [r for r in requests(world, "PATCH", "/webhooks/") if "avatar" in r.json]
    assert base64.b64decode(dressed.json["avatar"].partition("base64,")[2]) == PNG + b"1"
    await change(world, sable, picture="")
    await world.ana.send(world.general, "sable?")
    assert {"avatar": None} in [r.json for r in requests(world, "PATCH", "/webhooks/")]
    assert len(heard(world.general)) == 4


async def test_a_webhook_that_somebody_deleted_is_made_again(world: World) -> None:
    await cast(world, "Sable", "sable")
    await world.ana.send(world.general, "sable?")
    (first,) = world.env.backend.webhooks
    world.env.backend.delete_webhook(first)
    await world.ana.send(world.general, "sable?")
    assert [name for name, _ in heard(world.general)] == ["Sable"] * 2
    assert len(hooks(world)) == 1
    assert len(requests(world, "POST", f"/channels/{world.general.id}/webhooks")) == 2


async def test_a_webhook_that_was_moved_says_nothing_in_its_new_channel(world: World) -> None:
    await cast(world, "Sable", "sable")
    await world.mara.send(world.council, "sable?")
    (moved,) = world.env.backend.webhooks
    world.env.backend.edit_webhook(moved, {"channel_id": world.general.id})
    await world.mara.send(world.council, "sable, a secret?")
    assert heard(world.general) == []
    assert [name for name, _ in heard(world.council)] == ["Sable"] * 2


async def test_the_eleventh_persona_of_a_channel_takes_the_place_of_the_least_recently_used(
    world: World,
) -> None:
    """SPEC §11."""
    for number in range(MOST + 1):
        await cast(world, f"P{number}", f"p{number}")
    for number in range(MOST):
        await world.ana.send(world.general, f"p{number}?")
    await world.env.advance_time(3_600)
    await world.ana.send(world.general, "p0?")  # now P1 is the least recently used
    assert len(hooks(world)) == MOST
    await world.ana.send(world.general, f"p{MOST}?")
    assert sorted(hooks(world)) == sorted(["P0", *(f"P{n}" for n in range(2, MOST + 1))])
    await world.ana.send(world.general, "p1?")
    assert heard(world.general)[-1][0] == "P1"
    assert len(hooks(world)) == MOST


async def test_what_a_crash_left_before_it_spoke_makes_room_first(world: World) -> None:
    assert world.bot.user is not None
    for number in range(3):
        world.env.backend.create_webhook(world.general.id, f"Half made {number}", world.bot.user.id)
    foreign(world, ALL - 4)
    for name in ("Sable", "Rook"):
        await cast(world, name, name)
        await world.ana.send(world.general, f"{name}?")
    assert [name for name, _ in heard(world.general)] == ["Sable", "Rook"]
    assert [name for name in hooks(world) if not name.startswith("Feed")] == [
        "Half made 1",
        "Half made 2",
        "Sable",
        "Rook",
    ]


async def test_a_long_answer_is_split_and_every_part_is_the_persona_s(world: World) -> None:
    await cast(world, "Sable", "sable")
    world.model.say(LONG)
    await world.ana.send(world.general, "sable?")
    said = heard(world.general)
    assert [name for name, _ in said] == ["Sable"] * 3
    assert "".join("".join(text.split()) for _, text in said) == "word" * 900


async def test_a_reply_grows_by_edits_of_one_message_and_mentions_nobody(
    world: World, surface: DiscordSurface, hand: HandClock
) -> None:
    sable = await cast(world, "Sable")
    asked = await world.ana.send(world.general, "a question")
    reply = surface.reply(world.place(world.general), asked.id, (), speaker(sable))
    first = await reply.show("Once @everyone")
    hand.pass_(2)
    assert await reply.show("Once @everyone upon") == first
    (done,) = await reply.finish("Once @everyone upon a time.", "ks1")
    assert done == Posted(first or 0, "Once @everyone upon a time.")
    assert heard(world.general) == [("Sable", "Once @everyone upon a time.")]
    assert await reply.finish("Once @everyone upon a time.", "ks1") == (done,)
    edits = requests(world, "PATCH", "/webhooks/")
    assert [r.json["allowed_mentions"] for r in edits] == [{"parse": []}] * 2
    assert not through_webhooks(world.general)[0].mention_everyone


async def test_a_withdrawn_reply_leaves_nothing(world: World, surface: DiscordSurface) -> None:
    sable = await cast(world, "Sable")
    reply = surface.reply(world.place(world.general), 1, (), speaker(sable))
    await reply.show("half")
    await reply.withdraw()
    assert heard(world.general) == []


async def test_taking_back_what_stands_makes_no_webhook_and_changes_no_picture(
    world: World, surface: DiscordSurface
) -> None:
    sable = await cast(world, "Sable", picture=PNG)
    place = world.place(world.general)
    parts = await surface.reply(place, 1, (), speaker(sable)).finish("The tide is in.", "ks1")
    before = len(world.env.http_requests)
    await surface.reply(place, 1, parts, Speaker(sable.lineage, "")).withdraw()
    await surface.reply(place, 1, parts, Speaker("gone-line", "")).withdraw()
    assert heard(world.general) == []
    assert {r.method for r in world.env.http_requests[before:]} == {"DELETE"}


async def test_a_reply_is_replaced_in_place(world: World, surface: DiscordSurface) -> None:
    sable = await cast(world, "Sable", "sable")
    world.model.say(LONG)
    await world.ana.send(world.general, "sable?")
    standing = [Posted(m.id, "") for m in through_webhooks(world.general)]
    reply = surface.reply(world.place(world.general), 1, standing, speaker(sable))
    await reply.show("Something else")
    (part,) = await reply.finish("Something else entirely.", "ks1")
    assert part.message_id == standing[0].message_id
    assert heard(world.general) == [("Sable", "Something else entirely.")]


async def test_a_request_that_was_sent_twice_leaves_one_message(
    world: World, surface: DiscordSurface, hand: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    sable = await cast(world, "Sable")
    send = discord.Webhook.send

    async def twice(self: discord.Webhook, text: str, **more: object) -> object:
        await send(self, text, **more)  # type: ignore[call-overload]
        hand.pass_(1.5)
        return await send(self, text, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(discord.Webhook, "send", twice)
    reply = surface.reply(world.place(world.general), 1, (), speaker(sable))
    (part,) = await reply.finish("The tide is in.", "ks2")
    assert [(m.id, m.content) for m in through_webhooks(world.general)] == [
        (part.message_id, "The tide is in.")
    ]


async def test_what_landed_unseen_is_not_said_again(
    world: World, surface: DiscordSurface, monkeypatch: pytest.MonkeyPatch
) -> None:
    sable = await cast(world, "Sable")
    send, broken = discord.Webhook.send, [True, True]

    async def cut_off(self: discord.Webhook, text: str, **more: object) -> object:
        sent = await send(self, text, **more)  # type: ignore[call-overload]
        if broken and broken.pop():
            raise TimeoutError
        return sent

    monkeypatch.setattr(discord.Webhook, "send", cut_off)
    place = world.place(world.general)
    reply = surface.reply(place, 1, (), speaker(sable))
    assert await reply.show("The tide") is None
    with pytest.raises(DeliveryError) as caught:
        await reply.finish("The tide is in.", "ks3")
    assert not caught.value.gone
    standing = await surface.own_replies(place, 1, None, speaker(sable))
    assert [p.text for p in standing or []] == ["The tide is in."]
    await surface.reply(place, 1, standing or [], speaker(sable)).finish("The tide is in.", "ks3")
    assert heard(world.general) == [("Sable", "The tide is in.")]


async def test_a_partial_that_somebody_deleted_is_posted_again_at_the_end(
    world: World, surface: DiscordSurface
) -> None:
    sable = await cast(world, "Sable")
    reply = surface.reply(world.place(world.general), 1, (), speaker(sable))
    await reply.show("half")
    world.env.backend.delete_message(world.general.id, through_webhooks(world.general)[0].id)
    await reply.finish("half and half", "ks4")
    assert heard(world.general) == [("Sable", "half and half")]


if SCHEMAS:

    async def test_what_a_persona_sends_is_what_discord_s_own_description_allows(world: World) -> None:
        schema = DiscordSchema(json.loads(SCHEMAS[0].read_text(encoding="utf-8")))
        sable = await cast(world, "Sable", "sable", picture=PNG)
        world.model.say(LONG, "Again.")
        await world.ana.send(world.general, "sable?")
        await change(world, sable, picture="")
        await world.ana.send(world.general, "sable?")
        checked = 0
        for request in world.env.http_requests:
            if "webhooks" in request.path and request.json is not None:
                wrong = schema.check(request.method, request.path, request.json)
                assert not wrong, f"{request.method} {request.path}: {wrong}"
                checked += wrong is not None
        assert checked >= 6
