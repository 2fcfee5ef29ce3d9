from __future__ import annotations

import logging
import ssl
from collections.abc import Mapping
from pathlib import Path

import discord
import pytest
from aiohttp import ClientConnectorDNSError, ClientConnectorError
from aiohttp.client_reqrep import ConnectionKey
from discord.ext import commands
from simcord.env import Env

import bot as entry
from memory import wiring
from memory.errors import ModelUnavailable, SettingsError, StoreBusy
from memory.settings import Settings, sqlite_url

from .world import ScriptedModel, World, make_world


async def test_the_client_carries_one_attribute_of_ours(world: World) -> None:
    plain = commands.AutoShardedBot(command_prefix="!", intents=entry.intents(), shard_count=1)
    assert set(vars(entry.make_bot(world.engine))) - set(vars(plain)) == {"engine"}


async def test_prefix_commands_do_not_exist(world: World) -> None:
    await world.ana.send(world.general, "!help")
    await world.ana.send(world.general, world.call("help"))
    assert [m.content for m in world.said_by_bot(world.general)] == ["I hear you."]


async def test_a_missed_reconnect_answers_nobody_twice(world: World) -> None:
    await world.ana.send(world.general, world.call("hello"))
    world.bot.dispatch("ready")
    await world.env.settle()
    assert len(world.said_by_bot(world.general)) == 1


async def test_after_a_restart_the_conversation_goes_on(world: World) -> None:
    await world.ana.send(world.general, world.call("my sword is called Dawn"))
    await world.restart()
    await world.ana.send(world.general, world.call("what is it called?"))
    assert "Dawn" in "\n".join(m.text for m in world.model.requests[-1].messages)


async def test_the_members_intent_is_not_asked_for() -> None:
    assert not entry.intents().members
    assert not entry.intents().presences
    assert entry.intents().message_content
    assert not entry.intents(message_content=False).message_content


async def test_without_the_content_intent_mentions_and_direct_messages_work(tmp_path: Path) -> None:
    approved = discord.Intents.all()
    approved.message_content = False
    async with make_world(tmp_path, approved_intents=approved, message_content=False) as world:
        await world.ana.send(world.general, "nobody hears this")
        await world.ana.send(world.general, world.call("hello"))
        await world.ana.send_dm("and here?")
        assert len(world.said_by_bot(world.general)) == 1
        assert len(world.ana.user.dm_channel.history()) == 2


def closed(code: int) -> discord.ConnectionClosed:
    """The gateway hung up with that code."""
    return discord.ConnectionClosed(Frame(code), shard_id=0)


class Gateway:
    """Stands in for Discord's gateway: refuses the content intent, then accepts."""

    def __init__(self) -> None:
        self.asked: list[bool] = []

    async def start(self, client: discord.Client, _token: str, *, reconnect: bool = True) -> None:
        self.asked.append(client.intents.message_content)
        if client.intents.message_content:
            raise discord.PrivilegedIntentsRequired(None)


async def test_a_missing_content_intent_is_said_and_the_bot_starts_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gateway = Gateway()

    async def start(self: discord.Client, token: str, *, reconnect: bool = True) -> None:
        await gateway.start(self, token)

    monkeypatch.setattr(discord.Client, "start", start)
    settings = Settings.model_validate(
        {"discord_token": "x.y.z", "database_url": sqlite_url(tmp_path / "k.sqlite3"), "shard_count": 1}
    )
    with caplog.at_level(logging.WARNING):
        await entry.run_discord(settings)
    assert gateway.asked == [True, False]
    assert "Message Content intent is not granted" in caplog.text


def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, **values: str) -> Mapping[str, str]:
    monkeypatch.setattr(entry, "HERE", tmp_path)
    monkeypatch.setattr(entry.os, "environ", values)
    return values


async def test_without_a_token_it_says_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    environment(monkeypatch, tmp_path)
    assert await entry.main() == 2
    said = capsys.readouterr().err
    assert "discord.com/developers" in said
    assert "python run.py play" in said


async def test_every_bad_variable_is_named_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    environment(
        monkeypatch, tmp_path, DISCORD_TOKEN="x", PLAY_PORT="many", DETAIL_LEVEL="huge", SHARD_COUNT="0"
    )
    assert await entry.main() == 2
    said = capsys.readouterr().err
    assert all(name in said for name in ("PLAY_PORT", "DETAIL_LEVEL", "SHARD_COUNT"))


class Answer:
    """What Discord's web server answered, as far as an exception reads it."""

    reason = "because"

    def __init__(self, status: int) -> None:
        self.status = status


class Frame:
    """The gateway's last word."""

    def __init__(self, code: int) -> None:
        self.close_code = code


KEY = ConnectionKey("discord.com", 443, True, True, None, None, None)
NAME = ClientConnectorDNSError(KEY, OSError(-2, "Name or service not known"))
REFUSED = ClientConnectorError(KEY, ConnectionRefusedError(111, "Connect call failed"))


async def ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception) -> int:
    """The exit code when that error reaches the entry."""

    async def fails(_settings: Settings) -> None:
        raise error

    environment(monkeypatch, tmp_path, DISCORD_TOKEN="secret-token")
    monkeypatch.setattr(entry, "run_discord", fails)
    monkeypatch.setattr(entry, "start_logging", lambda _level: None)
    return await entry.main()


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (
            discord.LoginFailure("Improper token has been passed."),
            2,
            ("refused the token", "discord.com/dev"),
        ),
        (closed(4004), 2, ("refused the token", "discord.com/dev")),
        (closed(4014), 2, ("intent", "Message Content Intent", "discord.com/dev")),
        (discord.PrivilegedIntentsRequired(None), 2, ("intent", "Message Content Intent")),
        (closed(4011), 2, ("SHARD_COUNT",)),
        (closed(4000), 1, ("ended the connection", "start again")),
        (NAME, 1, ("can't be reached", "no network", "start again")),
        (REFUSED, 1, ("can't be reached", "refused or cut off", "start again")),
        (OSError(101, "Network is unreachable"), 1, ("can't be reached", "start again")),
        (TimeoutError(), 1, ("can't be reached", "no answer in time")),
        (ssl.SSLError(1, "certificate verify failed"), 1, ("can't be reached", "clock")),
        (discord.HTTPException(Answer(429), "limited"), 1, ("fewer requests", "start again")),
        (discord.DiscordServerError(Answer(503), "upstream connect"), 1, ("code 503", "start again")),
        (discord.GatewayNotFound(), 1, ("does not answer as it should", "start again")),
        (OSError(28, "No space left on device"), 1, ("disk is full",)),
        (PermissionError(13, "Permission denied", "/data/x"), 1, ("/data/x", "the right to use it")),
        (OSError(98, "Address already in use"), 1, ("port is in use",)),
        (RuntimeError("internals"), 1, ("fault of its own", "report those lines")),
    ],
)
async def test_why_it_cannot_start_is_said_in_plain_words(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    code: int,
    told: tuple[str, ...],
) -> None:
    assert await ended(monkeypatch, tmp_path, error) == code
    said = capsys.readouterr().err
    assert [words for words in told if words not in said] == []
    assert "Nothing that was saved is lost" in said
    assert (str(error) or "Timeout") not in said and "[Errno" not in said and "ssl:" not in said
    assert "secret-token" not in said


async def test_an_address_of_the_model_that_is_none_is_not_blamed_on_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await ended(monkeypatch, tmp_path, SettingsError(["LLM_BASE_URL is not an address."])) == 2
    said = capsys.readouterr().err
    assert "LLM_BASE_URL is not an address" in said and "Database" not in said


@pytest.mark.parametrize("url", ["sqlite+aiosqlite:///{folder}", "postgresql://me:sesame@127.0.0.1:9/k"])
async def test_a_database_that_is_not_there_is_a_plain_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    if url.startswith("postgresql"):
        pytest.importorskip("asyncpg")
    environment(monkeypatch, tmp_path, DISCORD_TOKEN="x", DATABASE_URL=url.format(folder=tmp_path))
    monkeypatch.setattr(entry, "start_logging", lambda _level: None)
    assert await entry.main() == 1
    said = capsys.readouterr().err
    assert "Keepsake can't start: The database does not answer" in said
    assert "Nothing was written" in said and "check DATABASE_URL" in said and "start again" in said
    assert "sesame" not in said and "Error" not in said


async def test_nothing_is_said_about_voice_which_we_never_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(discord.VoiceClient, "warn_nacl", True)
    monkeypatch.setattr(discord.VoiceClient, "warn_dave", True)
    with caplog.at_level(logging.WARNING):
        async with make_world(tmp_path):
            pass
    assert "voice" not in caplog.text


async def test_the_log_counts_servers_in_plain_english(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with make_world(tmp_path) as world:
        with caplog.at_level(logging.INFO):
            await world.bot.on_ready()
            world.env.create_guild("Another")
            await world.env.settle()
            await world.bot.on_ready()
    told = [r.getMessage() for r in caplog.records if r.getMessage().startswith("ready as")]
    assert [line.rsplit(" in ", 1)[1] for line in told] == ["1 server", "2 servers"]


def test_a_log_line_carries_its_fields() -> None:
    record = logging.makeLogRecord({"name": "k", "msg": "a turn failed", "turn": 7, "channel": 42})
    assert entry.Fields("%(message)s").format(record) == "a turn failed turn=7 channel=42"


async def test_commands_that_cannot_be_registered_do_not_stop_the_bot(tmp_path: Path) -> None:
    settings = Settings.model_validate({"database_url": sqlite_url(tmp_path / "k.sqlite3"), "shard_count": 1})
    engine = await wiring.build(settings, model=ScriptedModel())
    client = entry.make_bot(engine)
    env = Env(client)
    env.inject_error("PUT", "/applications/*/commands", status=429)
    await env.start()
    try:
        guild = env.create_guild()
        channel = guild.create_text_channel("general")
        ana = guild.add_member(env.create_user("ana"))
        assert client.user is not None
        await ana.send(channel, f"<@{client.user.id}> hello")
        assert channel.last_message is not None
        assert channel.last_message.content == "I hear you."
    finally:
        await env.shutdown()
        await client.close()


async def test_an_unforeseen_error_is_a_sentence_with_an_id_and_a_traceback_in_the_log(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_args: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(type(world.engine), "refresh", broken)
    result = await world.ana.slash(world.general, "refresh")
    assert result.response is not None
    said = result.response.content
    assert "Something went wrong on my side (error `" in said
    assert "secret detail" not in said
    assert said.split("`")[1] in caplog.text
    with pytest.raises(ExceptionGroup):
        world.env.raise_errors()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (StoreBusy("The database is busy."), "The database is busy. Nothing was changed; please try again"),
        (ModelUnavailable("The model is away."), "The model is away. You can try again."),
    ],
)
async def test_a_known_error_says_its_own_sentence(
    world: World, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    async def broken(*_args: object) -> None:
        raise error

    monkeypatch.setattr(type(world.engine), "refresh", broken)
    result = await world.ana.slash(world.general, "refresh")
    assert result.response is not None
    assert words in result.response.content
    with pytest.raises(ExceptionGroup):
        world.env.raise_errors()


async def test_an_interaction_that_discord_forgot_is_no_traceback(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.env.inject_error("POST", "/interactions/*", status=404, code=10062)
    with caplog.at_level(logging.INFO):
        await world.ana.slash(world.general, "refresh")
    assert "an interaction was no longer there" in caplog.text
    assert "Traceback" not in caplog.text
    with pytest.raises(ExceptionGroup):
        world.env.raise_errors()
