"""A small server in a simulated Discord, with the real bot on the real engine and a scripted model.

`async with make_world(tmp_path) as world:` or the fixture `world`. People act through simcord's actors:
`world.ana.send(world.general, world.call("hello"))`, `world.mara.slash(world.general, "refresh")`,
`world.ana.click(message, label="Undo")`. Each returns when the bot has nothing left to do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import discord
from simcord.actors import MemberActor
from simcord.builders import ChannelHandle, GuildHandle
from simcord.env import Env

import bot as entry
from cogs._surface import DiscordSurface
from memory import wiring
from memory.engine import Engine
from memory.llm.port import Event, Finished, ModelInfo, Request, TextPiece, ToolCall
from memory.ports import Reply
from memory.settings import Settings, sqlite_url
from memory.types import Person, Place, Usage

Step = str | ToolCall | Sequence[ToolCall] | Exception


class ScriptedModel:
    """Says what it was given to say, in order, and then the same line again and again."""

    def __init__(self, *script: Step, then: str = "I hear you.") -> None:
        self.script: deque[Step] = deque(script)
        self.then = then
        self.requests: list[Request] = []

    def say(self, *script: Step) -> None:
        self.script.extend(script)

    @property
    def info(self) -> ModelInfo:
        return ModelInfo("scripted", 32_000, "o200k_base", exact=True)

    @property
    def tools_work(self) -> bool:
        return True

    async def stream(self, request: Request) -> AsyncIterator[Event]:
        self.requests.append(request)
        step = self.script.popleft() if self.script else self.then
        if isinstance(step, Exception):
            raise step
        usage = Usage(100, 10)
        if isinstance(step, str):
            middle = len(step) // 2
            yield TextPiece(step[:middle])
            yield TextPiece(step[middle:])
            yield Finished(step, (), usage)
        else:
            calls = (step,) if isinstance(step, ToolCall) else tuple(step)
            yield Finished("", calls, usage)

    async def close(self) -> None:
        return None


class WorldClock:
    """The simulated Discord's own time, once there is one."""

    def __init__(self) -> None:
        self.env: Env | None = None

    def now(self) -> datetime:
        return self.env.now() if self.env is not None else datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class World:
    env: Env
    bot: entry.Keepsake
    engine: Engine
    model: ScriptedModel
    clock: WorldClock
    guild: GuildHandle
    general: ChannelHandle
    tavern: ChannelHandle
    council: ChannelHandle
    ana: MemberActor
    ben: MemberActor
    mara: MemberActor
    stranger: MemberActor
    settings: Settings
    names: dict[int, str] = field(default_factory=dict)

    def call(self, text: str) -> str:
        """The text with the bot's mention before it."""
        assert self.bot.user is not None
        return f"<@{self.bot.user.id}> {text}"

    def place(self, channel: ChannelHandle) -> Place:
        guild_id = channel.guild.id if channel.guild is not None else None
        return Place(channel.id, guild_id, None, channel.name or "")

    def person(self, actor: MemberActor) -> Person:
        return Person(actor.id, actor.name, manages=actor.id == self.mara.id)

    def said_by_bot(self, channel: ChannelHandle) -> list[discord.Message]:
        """What the bot posted there, oldest first."""
        assert self.bot.user is not None
        return [m for m in channel.history() if m.author.id == self.bot.user.id]

    async def restart(self) -> None:
        """A new process: a fresh client and engine on the same database, in the same Discord."""
        await self.bot.close()
        self.engine = await wiring.build(self.settings, clock=self.clock, model=self.model)
        self.bot = entry.make_bot(self.engine)
        await self.env.restart_bot(self.bot)


@asynccontextmanager
async def make_world(
    tmp_path: Path,
    model: ScriptedModel | None = None,
    *,
    check_errors: bool = True,
    approved_intents: discord.Intents | None = None,
    message_content: bool = True,
    **settings: object,
) -> AsyncIterator[World]:
    """The server, its people and the running bot. Extra keywords are settings."""
    chosen = Settings.model_validate(
        {"database_url": sqlite_url(tmp_path / "keepsake.sqlite3"), "shard_count": 1, **settings}
    )
    model, clock = model or ScriptedModel(), WorldClock()
    engine = await wiring.build(chosen, clock=clock, model=model)
    client = entry.make_bot(engine, message_content=message_content)
    env = Env(client, check_errors=check_errors, approved_intents=approved_intents)
    clock.env = env
    await env.start()
    try:
        yield _populate(env, client, engine, model, clock, chosen)
    finally:
        await env.shutdown()
        await env.bot.close()
        if env.check_errors:
            env._raise_errors_since(env._errors_acknowledged)


def _populate(
    env: Env,
    client: entry.Keepsake,
    engine: Engine,
    model: ScriptedModel,
    clock: WorldClock,
    settings: Settings,
) -> World:
    guild = env.create_guild("Lantern Inn")
    managers = guild.create_role(
        "Managers", permissions=discord.Permissions(manage_guild=True, manage_messages=True)
    )
    ana = guild.add_member(env.create_user("ana", global_name="Ana"))
    ben = guild.add_member(env.create_user("ben", global_name="Ben"))
    mara = guild.add_member(env.create_user("mara", global_name="Mara"), roles=[managers])
    stranger = guild.add_member(env.create_user("stranger", global_name="Stranger"))
    assert client.user is not None
    private = {
        guild.default_role: discord.PermissionOverwrite(view_channel=False),
        mara: discord.PermissionOverwrite(view_channel=True),
        client.user: discord.PermissionOverwrite(view_channel=True),
    }
    return World(
        env=env,
        bot=client,
        engine=engine,
        model=model,
        clock=clock,
        guild=guild,
        general=guild.create_text_channel("general"),
        tavern=guild.create_text_channel("tavern"),
        council=guild.create_text_channel("council-private", overwrites=private),
        ana=ana,
        ben=ben,
        mara=mara,
        stranger=stranger,
        settings=settings,
    )


class HandClock:
    """A clock that stands still until a test lets time pass."""

    def __init__(self) -> None:
        self.at = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def pass_(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


async def asked(world: World, surface: DiscordSurface) -> tuple[Reply, discord.Message]:
    """Ana asks something in #general: the reply to it on its way, and her message."""
    message = await world.ana.send(world.general, "a question")
    return surface.reply(world.place(world.general), message.id), message
