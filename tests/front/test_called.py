"""Whom a message calls (SPEC §11): whose words it answers, whose trigger word stands first, who is in use."""

from __future__ import annotations

import discord
import pytest

from memory.errors import StoreBusy
from memory.llm.port import ToolCall
from memory.types import DEFAULT_LINEAGE, Persona

from .webhooks import cast, complete, heard, put_in_use, remove, take_right, through_webhooks
from .world import World

BOT = "Keepsake"


@pytest.fixture(autouse=True)
def _whole_webhooks(monkeypatch: pytest.MonkeyPatch) -> None:
    complete(monkeypatch)


@pytest.fixture
async def two(world: World) -> tuple[Persona, Persona]:
    return await cast(world, "Sable", "sable", "sea witch"), await cast(world, "Rook", "rook")


async def answers_to(world: World, text: str, reply_to: discord.Message | None = None) -> list[str]:
    """Who answers Ana in #general, by the name that is shown; the bot is called Keepsake here."""
    before = len(heard(world.general))
    await world.ana.send(world.general, text, **({"reply_to": reply_to} if reply_to else {}))
    me = world.bot.user
    return [BOT if me and name == me.display_name else name for name, _ in heard(world.general)[before:]]


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("Sable, are you there?", ["Sable"]),
        ("ＳＡＢＬＥ?", ["Sable"]),
        ("oh Sea Witch!", ["Sable"]),
        ("sables are animals", []),
        ("the disable switch", []),
        ("rook and sable", ["Rook"]),
        ("sable and rook", ["Sable"]),
        ("<:sable:123> <a:rook:456>", []),
        ("good evening", []),
    ],
)
async def test_a_trigger_word_calls_the_persona_whose_word_stands_first(
    world: World, two: object, text: str, who: list[str]
) -> None:
    """SPEC §11."""
    assert await answers_to(world, text) == who


async def test_a_mention_calls_who_is_in_use_and_a_word_the_one_it_names(
    world: World, two: tuple[Persona, Persona]
) -> None:
    assert await answers_to(world, world.call("hello")) == [BOT]
    await put_in_use(world, world.place(world.general), two[0])
    assert await answers_to(world, world.call("hello")) == ["Sable"]
    assert await answers_to(world, world.call("rook, hello")) == ["Rook"]


async def test_in_an_auto_reply_channel_who_is_in_use_answers(
    world: World, two: tuple[Persona, Persona]
) -> None:
    """SPEC §11."""
    place = world.place(world.general)
    await world.engine.config.set(world.person(world.mara), place, "auto_reply", "on")
    await put_in_use(world, place, two[1])
    assert await answers_to(world, "anybody?") == ["Rook"]
    assert await answers_to(world, "sable?") == ["Sable"]


async def test_a_reply_to_a_persona_s_message_calls_that_one_whatever_is_said(
    world: World, two: tuple[Persona, Persona]
) -> None:
    """SPEC §11."""
    await put_in_use(world, world.place(world.general), two[1])
    await answers_to(world, "sable?")
    (said,) = through_webhooks(world.general)
    assert await answers_to(world, "and what of rook?", said) == ["Sable"]
    assert await answers_to(world, world.call("and you?"), said) == ["Sable"]


async def test_a_reply_still_calls_it_after_a_restart_and_through_a_webhook_that_was_replaced(
    world: World, two: tuple[Persona, Persona]
) -> None:
    await answers_to(world, "sable?")
    (said,) = through_webhooks(world.general)
    await world.restart()
    assert await answers_to(world, "still there?", said) == ["Sable"]
    async with world.engine._rooms.store.read() as tx:
        ours = await tx.hooks.of_persona(world.guild.id, two[0].lineage)
    await world.engine._now.surface.retire(ours)
    await world.restart()
    assert await answers_to(world, "and now?", said) == ["Sable"]


async def test_a_reply_to_a_message_with_the_name_in_front_calls_that_one(world: World, two: object) -> None:
    await take_right(world)
    await world.ana.send(world.general, "sable?")
    (said,) = world.said_by_bot(world.general)
    assert await answers_to(world, "go on", said) == [BOT]  # posted by the bot …
    assert "**Sable:**" in world.said_by_bot(world.general)[-1].content  # … in Sable's name


async def test_a_reply_to_the_bot_s_own_words_calls_the_built_in_persona_and_to_a_card_who_is_in_use(
    world: World, two: tuple[Persona, Persona]
) -> None:
    await answers_to(world, world.call("hello"))
    (said,) = world.said_by_bot(world.general)
    assert await answers_to(world, "go on", said) == [BOT]
    await put_in_use(world, world.place(world.general), two[1])
    assert await answers_to(world, "go on", said) == [BOT]
    world.model.say(ToolCall("c1", "save_memory", '{"content": "likes tea", "about": "user"}'), "Noted.")
    assert await answers_to(world, world.call("I like tea")) == ["Rook", BOT]
    card = world.said_by_bot(world.general)[-1]
    assert card.embeds and await answers_to(world, world.call("thanks"), card) == ["Rook"]


async def test_bots_and_webhooks_call_nobody_by_a_trigger_word(world: World, two: object) -> None:
    other = world.guild.add_member(world.env.create_user("other", bot=True))
    await other.send(world.general, "sable?")
    await world.guild.create_webhook(world.general, "Feed").send("rook!")
    assert world.model.requests == []


async def test_a_reply_to_another_webhook_calls_nobody(world: World, two: object) -> None:
    feed = await world.guild.create_webhook(world.general, "Feed").send("news")
    assert await answers_to(world, "interesting", feed) == []


async def test_a_reply_to_a_persona_that_was_deleted_is_answered_by_the_bot_itself(
    world: World, two: tuple[Persona, Persona]
) -> None:
    await answers_to(world, "sable?")
    (said,) = through_webhooks(world.general)
    await remove(world, two[0])
    assert await answers_to(world, "are you still there?", said) == [BOT]
    await world.restart()
    assert await answers_to(world, "and after a restart?", said) == [BOT]
    assert await answers_to(world, "sable?") == []


async def test_a_persona_in_use_that_was_deleted_is_answered_for_by_the_bot_itself(
    world: World, two: tuple[Persona, Persona]
) -> None:
    await put_in_use(world, world.place(world.general), two[0])
    await remove(world, two[0])
    assert await answers_to(world, world.call("hello")) == [BOT]


async def test_where_it_cannot_post_a_trigger_word_gets_the_reaction(world: World, two: object) -> None:
    assert world.bot.user is not None
    quiet = world.guild.create_text_channel(
        "quiet", overwrites={world.bot.user: discord.PermissionOverwrite(send_messages=False)}
    )
    await world.ana.send(quiet, "sable?")
    (message,) = quiet.history()
    assert [str(r.emoji) for r in message.reactions] == ["🔇"]
    assert world.model.requests == []


async def test_a_server_s_trigger_words_call_nobody_elsewhere(world: World, two: object) -> None:
    there = world.env.create_guild("Another Inn")
    ana_there = there.add_member(world.ana.user)
    await ana_there.send(there.create_text_channel("general"), "sable?")
    assert world.model.requests == []


async def test_in_a_direct_message_a_persona_in_use_answers_replies_too(
    world: World, two: tuple[Persona, Persona]
) -> None:
    """SPEC §11."""
    await world.ana.send_dm("hello")
    channel = world.ana.user.dm_channel
    await put_in_use(world, world.place(channel), two[0])
    await world.ana.send_dm("sable?")
    async with world.engine._rooms.store.read() as tx:
        first, last = await tx.turns.get(1), await tx.turns.get(2)
    assert first is not None and first.lineage == DEFAULT_LINEAGE
    assert last is not None and last.lineage == two[0].lineage
    hers = channel.history()[-1]
    await put_in_use(world, world.place(channel), two[1])
    await world.ana.send_dm("go on", reference={"channel_id": str(channel.id), "message_id": str(hers.id)})
    async with world.engine._rooms.store.read() as tx:
        answered = await tx.turns.get(3)
    assert answered is not None and answered.lineage == two[0].lineage


async def test_when_it_cannot_be_read_whom_a_message_calls_the_bot_itself_answers_a_call(
    world: World, two: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def busy(*_: object) -> None:
        raise StoreBusy("The database is busy.")

    monkeypatch.setattr(world.engine.personas, "called_by_word", busy)
    monkeypatch.setattr(world.engine.config, "persona_id", busy)
    assert await answers_to(world, "sable?") == []
    assert await answers_to(world, world.call("sable?")) == [BOT]
