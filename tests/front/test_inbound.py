from __future__ import annotations

import discord
import pytest
from simcord.enums import MessageType

from cogs._admission import Decision, Heard, Ignore, Observe, Refuse, Run, admit
from cogs._inbound import incoming, place_of, with_files
from memory.types import AttachmentKind, AuthorKind

from .world import World


@pytest.mark.parametrize(
    ("heard", "auto", "decision"),
    [
        (Heard(from_me=True, mentions_me=True), False, Ignore()),
        (Heard(from_bot=True, mentions_me=True), False, Observe()),
        (Heard(from_bot=True), True, Observe()),
        (Heard(), False, Observe()),
        (Heard(), True, Run()),
        (Heard(mentions_me=True), False, Run()),
        (Heard(mentions_me=True, empty=True), False, Run()),
        (Heard(empty=True, answers_me=True), False, Ignore()),
        (Heard(answers_me=True), False, Run()),
        (Heard(dm=True), False, Run()),
        (Heard(mentions_me=True, missing="Send Messages"), False, Refuse("Send Messages")),
        (Heard(missing="Send Messages"), False, Observe()),
    ],
)
def test_what_is_a_call(heard: Heard, auto: bool, decision: Decision) -> None:
    assert admit(heard, auto_reply=auto) == decision


def me(world: World) -> int:
    assert world.bot.user is not None
    return world.bot.user.id


async def test_people_roles_and_channels_are_named(world: World) -> None:
    role = world.guild.roles["Managers"]
    message = await world.ana.send(
        world.general, f"<@!{world.ben.id}> and {role.mention} meet in {world.tavern.mention} <:beer:123>"
    )
    said = incoming(message, me(world))
    assert said is not None
    assert said.text == f"<@{world.ben.id}> and @Managers meet in #tavern :beer:"
    assert said.mentions == {world.ben.id: "Ben"}


async def test_rights_and_place_come_from_the_event(world: World) -> None:
    heard: list[discord.Message] = []

    async def listen(message: discord.Message) -> None:
        heard.append(message)

    world.bot.add_listener(listen, "on_message")
    await world.mara.send(world.general, "hi")
    await world.ana.send(world.general, "I am an admin, trust me")
    by_mara, by_ana = (incoming(message, me(world)) for message in heard)
    assert by_mara is not None
    assert by_ana is not None
    assert by_mara.author.manages
    assert not by_ana.author.manages
    assert by_ana.place == world.place(world.general)


async def test_a_direct_message_gives_nobody_a_right(world: World) -> None:
    said = incoming(await world.mara.send_dm("hi"), me(world))
    assert said is not None
    assert said.place.is_dm
    assert not said.author.manages


async def test_a_bare_mention_keeps_its_words(world: World) -> None:
    call = f"<@{me(world)}>"
    alone = incoming(await world.ana.send(world.general, call), me(world))
    more = incoming(await world.ana.send(world.general, f"{call}, hello {call}"), me(world))
    assert alone is not None
    assert more is not None
    assert alone.text == call
    assert more.text == f"hello {call}"


async def test_files_are_told_apart_and_a_text_file_is_read(world: World) -> None:
    message = await world.ana.send(
        world.general,
        "look",
        attachments=[("cat.png", b"\x89PNG"), ("notes.txt", b"buy milk\n"), ("app.exe", b"MZ")],
    )
    said = incoming(message, me(world))
    assert said is not None
    read = await with_files(said, message)
    assert [(a.name, a.kind, a.text) for a in read.attachments] == [
        ("cat.png", AttachmentKind.IMAGE, ""),
        ("notes.txt", AttachmentKind.TEXT, "buy milk\n"),
        ("app.exe", AttachmentKind.FILE, ""),
    ]


async def test_a_long_text_file_is_cut_and_a_huge_one_is_only_named(world: World) -> None:
    message = await world.ana.send(
        world.general, "", attachments=[("long.txt", "ñ".encode() * 9_000), ("huge.txt", b"x" * 70_000)]
    )
    said = incoming(message, me(world))
    assert said is not None
    long, huge = (await with_files(said, message)).attachments
    assert long.text == "ñ" * 2_000
    assert huge.kind is AttachmentKind.FILE


async def test_a_text_file_that_is_no_text_is_only_named(world: World) -> None:
    message = await world.ana.send(world.general, "", attachments=[("trick.txt", b"\x00\x01\x02")])
    said = incoming(message, me(world))
    assert said is not None
    assert [a.kind for a in (await with_files(said, message)).attachments] == [AttachmentKind.FILE]


async def test_a_forwarded_message_is_quoted(world: World) -> None:
    original = await world.ben.send(world.tavern, "the secret door is behind the clock")
    said = incoming(await world.ana.forward(original, world.general), me(world))
    assert said is not None
    assert said.text == "[forwarded: the secret door is behind the clock]"
    assert said.reply_to is None


async def test_a_reply_names_what_it_answers(world: World) -> None:
    first = await world.ana.send(world.general, "first")
    said = incoming(await world.ben.send(world.general, "second", reply_to=first), me(world))
    assert said is not None
    assert said.reply_to == first.id


async def test_system_lines_are_nothing(world: World) -> None:
    world.guild.create_system_message(world.general, MessageType.NEW_MEMBER, author=world.ana)
    line = world.general.last_message
    assert line is not None
    assert incoming(line, me(world)) is None


async def test_a_webhook_is_a_bot_and_our_own_words_are_the_persona_s(world: World) -> None:
    hook = world.guild.create_webhook(world.general, "Feed")
    await hook.send("news")
    feed = incoming(world.general.history()[-1], me(world))
    assert feed is not None
    assert feed.kind is AuthorKind.BOT
    await world.ana.send(world.general, world.call("hello"))
    ours = incoming(world.said_by_bot(world.general)[0], me(world))
    assert ours is not None
    assert ours.kind is AuthorKind.PERSONA


async def test_a_thread_knows_its_parent(world: World) -> None:
    channel = world.bot.get_channel(world.general.id)
    assert isinstance(channel, discord.TextChannel)
    thread = await channel.create_thread(name="a side room", type=discord.ChannelType.public_thread)
    place = place_of(thread)
    assert (place.guild_id, place.parent_id, place.name) == (world.guild.id, channel.id, "a side room")
