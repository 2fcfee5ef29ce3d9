"""The entry: settings → engine → client → cogs. `python bot.py` for Discord, `python bot.py --play` without.

The only place that reads the environment. The client carries one attribute of ours: ``engine``.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
from collections.abc import Coroutine, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import discord
from discord.ext import commands

from cogs import EXTENSIONS, _starting
from cogs._errors import Tree
from cogs._surface import NO_CONTENT, DiscordSurface
from cogs.views import notices
from memory import wiring
from memory.engine import Engine
from memory.errors import SettingsError, StoreError
from memory.settings import Settings, read_env, sqlite_url

log = logging.getLogger("keepsake")

HERE = Path(__file__).resolve().parent


class Keepsake(commands.AutoShardedBot):
    """The Discord client. All that is ours hangs on ``engine``."""

    engine: Engine

    def __init__(self, settings: Settings, *, message_content: bool = True) -> None:
        shard_ids: Any = None if settings.shard_ids is None else list(settings.shard_ids)
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # we never speak
        super().__init__(
            command_prefix=commands.when_mentioned,
            help_command=None,
            tree_cls=Tree,
            intents=intents(message_content=message_content),
            allowed_mentions=discord.AllowedMentions.none(),
            shard_count=settings.shard_count,
            shard_ids=shard_ids,
            max_messages=1_000,
        )

    async def setup_hook(self) -> None:
        """Before the first event: the engine has its surface, every old button is known, commands are up."""
        await self.engine.start(DiscordSurface(self))
        self.add_dynamic_items(*notices.BUTTONS)
        for name in EXTENSIONS:
            await self.load_extension(name)
        await self._sync()

    async def _sync(self) -> None:
        """Tell Discord the commands, at each start: an unchanged list costs one request and no quota.

        A refusal leaves the commands of the last start in force, so it is logged and the bot goes on.
        """
        try:
            synced = await self.tree.sync()
        except (discord.HTTPException, discord.app_commands.CommandSyncFailure) as error:
            log.error("the commands could not be registered; those of the last start stay: %s", error)
        else:
            log.info("%d commands are registered", len(synced))

    async def on_ready(self) -> None:
        """Discord can be reached (again, with events possibly missed): settle and catch up."""
        count = len(self.guilds)
        log.info("ready as %s in %d server%s", self.user, count, "" if count == 1 else "s")
        await self.engine.reconnected()

    async def on_message(self, message: discord.Message, /) -> None:
        """Nothing: there are no prefix commands, and the chat cog listens by itself."""

    async def close(self) -> None:
        """Running turns finish first, while their replies can still be posted."""
        try:
            if hasattr(self, "engine"):
                await self.engine.close()
        finally:
            await super().close()


def intents(*, message_content: bool = True) -> discord.Intents:
    """What we ask Discord to tell us. The members intent is not among it."""
    return discord.Intents(
        guilds=True, guild_messages=True, dm_messages=True, message_content=message_content
    )


def make_bot(engine: Engine, *, message_content: bool = True) -> Keepsake:
    """The client around an engine. Its cogs are loaded by its setup hook."""
    bot = Keepsake(engine.settings, message_content=message_content)
    bot.engine = engine
    return bot


async def run_discord(settings: Settings) -> None:
    """Run until stopped. Without the message-content intent it starts again, and says what is missing."""
    token = settings.discord_token
    assert token is not None
    for content in (True, False):
        bot = make_bot(await wiring.build(settings), message_content=content)
        if not content:
            log.warning(NO_CONTENT)
        try:
            async with bot:
                await bot.start(token.get_secret_value())
        except discord.PrivilegedIntentsRequired:
            if not content:
                raise
            continue
        return


async def run_playground(settings: Settings) -> int:
    """The same bot in a browser page, with no token and a database of its own (DESIGN §4)."""
    import play

    folder = HERE / "data" / "play"
    folder.mkdir(parents=True, exist_ok=True)
    own = settings.model_copy(
        update={
            "database_url": sqlite_url(folder / "keepsake.sqlite3"),
            "shard_count": 1,
            "shard_ids": None,
        }
    )

    class Player(Keepsake):
        """Opens its engine itself: the playground makes a fresh client at each restart."""

        async def setup_hook(self) -> None:
            self.engine = await wiring.build(own)
            await super().setup_hook()

    try:
        await play.run(
            lambda: Player(own),
            data_dir=folder,
            port=settings.play_port,
            clock_now=lambda: datetime.now(UTC),
            seed=play.seed,
            **({"about": settings.llm_model} if settings.llm_configured else {}),
        )
    except play.PlayError as error:
        print(f"The playground can't start. {error} What was played before is kept.", file=sys.stderr)
        return 1
    return 0


def load_settings(*, need_token: bool) -> Settings | None:
    """The settings, or None after every bad variable was named. Warnings are logged."""
    try:
        settings, warnings = Settings.load(read_env(HERE / ".env", os.environ), need_token=need_token)
    except SettingsError as error:
        print("Keepsake can't start:", file=sys.stderr)
        for problem in error.problems:
            print(f"  - {problem}", file=sys.stderr)
        if any("DISCORD_TOKEN is not set" in problem for problem in error.problems):
            print(_starting.NO_TOKEN, file=sys.stderr)
        return None
    start_logging(settings.log_level)
    for warning in warnings:
        log.warning(warning)
    return settings


class Fields(logging.Formatter):
    """A line with its fields behind it, such as ``channel=42``. Fields are ids and counts, never words."""

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        fields = {k: v for k, v in vars(record).items() if k not in _PLAIN and isinstance(v, int | str)}
        return " ".join([line, *(f"{name}={value}" for name, value in fields.items())])


_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def start_logging(level: str) -> None:
    """Lines on standard error. Libraries keep to themselves what holds whole messages or statements."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Fields("%(asctime)s %(levelname)-7s %(name)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[handler])
    ours = logging.getLevelNamesMapping()[level]
    logging.getLogger("discord").setLevel(max(ours, logging.INFO))
    for name in (
        "aiosqlite",
        "alembic",
        "discord.client",
        "httpcore",
        "httpx",
        "httpx2",
        "openai",
        "sqlalchemy",
    ):
        logging.getLogger(name).setLevel(max(ours, logging.WARNING))


async def main(arguments: Sequence[str] = ()) -> int:
    """Run until stopped; returns the exit code: 0 stopped, 1 failed, 2 bad settings."""
    playing = "--play" in arguments
    settings = load_settings(need_token=not playing)
    if settings is None:
        return 2
    try:
        if playing:
            return await run_playground(settings)
        await _until_stopped(run_discord(settings))
        return 0
    except Exception as error:  # noqa: BLE001 - the last place that can tell whoever runs this
        return _told(error, settings, playing=playing)


def _told(error: Exception, settings: Settings, *, playing: bool) -> int:
    """Say on standard error why it ended; returns the exit code."""
    known = _starting.sentence(error, playing=playing)
    if known is None:
        log.error("a fault that nobody foresaw", exc_info=error)
        print(
            "Keepsake stopped by a fault of its own; the lines above say where. Nothing that was saved is"
            " lost or changed.\nStart it again; if it stays like this, report those lines.",
            file=sys.stderr,
        )
        return _starting.STOPPED
    line, code = known
    log.debug("why it ended", exc_info=error)
    if isinstance(error, StoreError) and not playing:
        line += f" (Database: {settings.safe_database_url})"
    print(line, file=sys.stderr)
    return code


async def _until_stopped(work: Coroutine[object, object, None]) -> None:
    """Run ``work`` until it ends or the process is asked to stop by SIGTERM."""
    running = asyncio.create_task(work)
    with contextlib.suppress(NotImplementedError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await running


if __name__ == "__main__":
    gc.freeze()  # a full collection stops the loop; what was imported need not be looked through each time
    try:
        code = asyncio.run(main(sys.argv[1:]))
    except KeyboardInterrupt:
        code = 0
    sys.exit(code)
