"""The playground's world without a page: time, ids, what is kept, and the bot's restart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import discord
import pytest

import play
from play.building import tell_scene
from play.scene import PEOPLE, ROOMS, SCENE

from .standin import Bot, maker, now


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[play.World]:
    async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now) as made:
        yield made


def general(world: play.World) -> int:
    return world.room("general")


def texts(world: play.World, person: str = "ana", room: str = "general") -> list[str]:
    return [said.text for said in world.read(person, world.room(room))]


def everything(world: play.World, person: str) -> dict[object, list[play.Said]]:
    return {place["name"]: world.read(person, int(str(place["id"]))) for place in world.places(person)}


async def sees(world: play.World, text: str, person: str = "ana", channel: int | None = None) -> bool:
    where = general(world) if channel is None else channel
    return await world.wait_for(lambda: any(text in said.text for said in world.read(person, where)))


# --- What a person finds ---


async def test_a_new_world_has_a_scene_of_a_few_minutes_ago(world: play.World) -> None:
    said = world.read("ana", general(world))
    assert [line.text for line in said] == [text for _, text in SCENE]
    assert {line.author for line in said} == {"ana", "ben"}
    newest = discord.utils.snowflake_time(said[-1].id)
    assert timedelta(minutes=3) < now() - newest < timedelta(minutes=6)


async def test_a_mention_typed_by_name_reaches_the_bot_and_is_answered(world: play.World) -> None:
    await world.say("ana", general(world), "@keepsake what do you know?")
    assert await sees(world, "I know nothing yet.")


async def test_mentions_are_found_in_any_case_and_not_inside_words(world: play.World) -> None:
    assert world.mentions("@KEEPSAKE and @ben") == f"<@{world.bot_id}> and <@{world.people['ben'].id}>"
    assert world.mentions("mail@keepsake.example @Benjamin <@1>") == "mail@keepsake.example @Benjamin <@1>"


async def test_only_mara_and_ben_see_the_council(world: play.World) -> None:
    council = world.room("council")
    assert [key for key in world.people if world.may_see(key, council)] == ["ben", "mara"]
    assert "council" not in [place["name"] for place in world.places("ana")]
    with pytest.raises(play.PlayError):
        await world.say("ana", council, "Let me in")


async def test_nobody_sees_the_direct_messages_of_another(world: play.World) -> None:
    await world.say("ana", world.dm("ana"), "remember that I'm shy")
    assert await sees(world, "I'll remember", channel=world.dm("ana"))
    assert world.read("ben", world.dm("ana")) == []
    assert world.read("mara", world.dm("ana")) == []


async def test_an_ephemeral_answer_is_seen_by_who_asked_only(world: play.World) -> None:
    await world.command("ana", general(world), "memory")
    assert any("What I keep" in text for text in texts(world, "ana"))
    assert not any("What I keep" in text for text in texts(world, "ben"))


async def test_mara_manages_the_server_and_ana_does_not(world: play.World) -> None:
    await world.command("mara", general(world), "admin")
    assert any("You manage this server." in text for text in texts(world, "mara"))
    with pytest.raises(Exception, match="not visible to this user"):
        await world.command("ana", general(world), "admin")


# --- The bot works in real time ---


async def test_saying_something_never_waits_for_a_long_turn(world: play.World) -> None:
    await world.say("ana", general(world), "@Keepsake story")
    assert await sees(world, "upon upon")
    before = asyncio.get_running_loop().time()
    await world.say("ben", general(world), "Meanwhile I talk.")
    await world.command("ben", general(world), "memory")
    assert asyncio.get_running_loop().time() - before < 2
    assert world.env.passing.typing(general(world)) is False  # it wrote already
    assert await sees(world, "upon upon upon upon upon")


async def test_typing_is_seen_until_the_bot_writes(world: play.World) -> None:
    await world.say("ana", general(world), "@Keepsake type")
    assert await world.wait_for(lambda: world.env.passing.typing(general(world)))
    await world.say("ana", general(world), "@Keepsake hello")
    assert await world.wait_for(lambda: not world.env.passing.typing(general(world)))


async def test_what_the_bot_posts_by_itself_is_seen(world: play.World) -> None:
    await world.say("ana", general(world), "@Keepsake later")
    assert await sees(world, "This came by itself.")


async def test_a_deferred_answer_appears_when_it_is_there(world: play.World) -> None:
    await world.command("ana", general(world), "think")
    assert not any("I have thought." in text for text in texts(world))
    assert await sees(world, "I have thought.")


async def test_timers_of_the_bot_run_in_real_time(world: play.World) -> None:
    bot = world.bot
    assert isinstance(bot, Bot)
    assert await world.wait_for(lambda: bot.beats >= 3, within=5)


async def test_the_clock_is_the_walls_and_ids_rise_with_it(world: play.World) -> None:
    first = await world.say("ana", general(world), "one")
    second = await world.say("ana", general(world), "two")
    assert first < second
    assert abs(discord.utils.snowflake_time(second) - datetime.now(UTC)) < timedelta(seconds=5)
    assert abs(discord.utils.utcnow() - world.env.now()) < timedelta(seconds=5)


async def test_a_clock_that_steps_back_gives_no_lower_id(tmp_path: Path) -> None:
    times = [now()]
    async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=lambda: times[-1]) as world:
        first = await world.say("ana", general(world), "one")
        times.append(times[-1] - timedelta(hours=1))
        assert await world.say("ana", general(world), "two") > first


async def test_a_file_can_be_sent_and_the_bot_reads_it(world: play.World) -> None:
    await world.say("ana", general(world), "@Keepsake file", file=("note.txt", b"hello"))
    assert await sees(world, "note.txt says hello")


# --- The bot starts again ---


async def test_a_restart_makes_a_new_client_in_the_same_world(world: play.World) -> None:
    former = world.bot
    await world.say("ana", general(world), "@Keepsake remember that I'm allergic to peanuts")
    assert await sees(world, "I'll remember")
    before = texts(world)
    await world.restart()
    assert world.bot is not former
    assert former.is_closed()
    assert texts(world) == before
    await world.say("ana", general(world), "@Keepsake what am I allergic to?")
    assert await sees(world, "You told me: I'm allergic to peanuts")


async def test_a_restart_ends_a_turn_that_runs(world: play.World) -> None:
    await world.say("ana", general(world), "@Keepsake story")
    assert await sees(world, "upon upon")
    work = list(world.env._tasks)
    await world.restart()
    assert work
    assert all(task.done() for task in work)


async def test_the_former_client_hears_nothing_after_a_restart(world: play.World) -> None:
    former = world.bot
    assert isinstance(former, Bot)
    await world.restart()
    said = await world.say("ana", general(world), "Hello?")
    bot = world.bot
    assert isinstance(bot, Bot)
    assert await world.wait_for(lambda: said in bot.heard)
    assert said not in former.heard


async def test_a_button_from_before_the_restart_still_works(world: play.World) -> None:
    await world.say("ana", general(world), "@Keepsake remember that I'm tall")
    assert await world.wait_for(lambda: world.read("ana", general(world))[-1].buttons == ("Undo",))
    await world.restart()
    notice = world.read("ana", general(world))[-1]
    await world.press("ana", notice.id, "Undo")
    assert world.read("ana", general(world))[-1].embeds == ("Undone\n~~I'm tall~~",)


async def test_a_restart_that_fails_leaves_a_world_that_can_start_again(tmp_path: Path) -> None:
    class Broken(Bot):
        async def setup_hook(self) -> None:
            raise RuntimeError("no database")

    file = tmp_path / "facts.json"
    bots = iter([Bot(file), Broken(file), Bot(file)])
    async with play.World(lambda: next(bots), data_dir=tmp_path, clock_now=now) as world:
        with pytest.raises(RuntimeError, match="no database"):
            await world.restart()
        assert not world.online.is_set()
        await world.restart()
        await world.say("ana", general(world), "@Keepsake hello")
        assert await sees(world, "I know nothing yet.")


# --- What is kept ---


async def test_a_world_goes_on_where_it_was(tmp_path: Path) -> None:
    async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now) as world:
        await world.say("ana", general(world), "@Keepsake persona")
        assert await sees(world, "Arr.")
        await world.say("ana", general(world), "@Keepsake thread")
        assert await world.wait_for(lambda: any(place["kind"] == "thread" for place in world.places("ana")))
        thread = next(int(str(p["id"])) for p in world.places("ana") if p["kind"] == "thread")
        assert await sees(world, "Here it goes on.", channel=thread)
        await world.say("ana", general(world), "A picture", file=("cat.png", b"not really"))
        await world.say("ben", world.dm("ben"), "hello")
        assert await sees(world, "I know nothing yet.", "ben", world.dm("ben"))
        before = everything(world, "ben")
        commands = len(world.env.backend.commands[None])
        url = max(world.env.backend.messages[general(world)].values(), key=lambda m: m.id).attachments[0][
            "url"
        ]
    async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now) as world:
        after = everything(world, "ben")
        assert after == before
        assert len(world.env.backend.commands[None]) == commands
        assert world.env.backend.cdn.get(url) == b"not really"
        newest = max(said.id for lines in after.values() for said in lines)
        assert await world.say("ana", general(world), "@Keepsake persona") > newest
        assert await world.wait_for(lambda: texts(world)[-1] == "Arr.")
        assert len(world.env.backend.webhooks) == 1


async def test_people_places_and_the_bot_keep_their_ids(tmp_path: Path) -> None:
    seen = []
    for folder in ("one", "two"):
        async with play.World(maker(tmp_path), data_dir=tmp_path / folder, clock_now=now) as world:
            backend = world.env.backend
            seen.append((sorted(backend.users), sorted(backend.guilds), sorted(backend.channels)))
            assert world.bot.user is not None
            assert world.bot.user.id == world.bot_id
            assert world.bot.application_id == backend.application_id
    assert seen[0] == seen[1]
    assert len({person.id for person in PEOPLE} | {room.id for room in ROOMS}) == len(PEOPLE) + len(ROOMS)


async def test_ephemeral_and_unfinished_messages_are_not_kept(tmp_path: Path) -> None:
    async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now) as world:
        await world.command("ana", general(world), "memory")
        await world.command("ana", general(world), "think")
        assert len(texts(world)) == len(SCENE) + 2
    async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now) as world:
        assert len(texts(world)) == len(SCENE)


async def test_the_seed_is_sown_once_in_a_worlds_life(tmp_path: Path) -> None:
    sown: list[str] = []

    async def seed(world: play.World) -> None:
        assert world.bot.is_ready()
        sown.append("once")

    for _ in range(3):
        async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now, seed=seed):
            pass
    assert sown == ["once"]


async def test_a_second_playground_in_the_same_folder_is_refused_in_plain_words(tmp_path: Path) -> None:
    async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now):
        with pytest.raises(play.PlayError, match="Another playground is already running"):
            await play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now).start()
    async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now) as world:
        assert texts(world)


async def test_a_broken_file_is_named_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "playground.json"
    file.write_text("{half", "utf-8")
    with pytest.raises(play.PlayError, match=r"playground\.json can't be read"):
        await play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now).start()
    assert file.read_text("utf-8") == "{half"


async def test_a_file_half_written_beside_the_world_does_no_harm(tmp_path: Path) -> None:
    async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now) as world:
        await world.say("ana", general(world), "Keep this.")
    (tmp_path / "playground.json.new").write_text("{half", "utf-8")
    async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now) as world:
        assert texts(world)[-1] == "Keep this."


def test_the_scene_is_told_in_order() -> None:
    from simcord.backend import Backend

    from play.building import build

    backend = Backend()
    build(backend)
    tell_scene(backend, now())
    room = next(room for room in ROOMS if room.key == "general")
    told = sorted(backend.messages[room.id].values(), key=lambda message: message.id)
    assert [message.content for message in told] == [text for _, text in SCENE]
