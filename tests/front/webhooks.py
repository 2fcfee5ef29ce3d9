"""What simcord leaves out of webhooks: messages in a thread, and a new picture for one that stands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import discord
import pytest
from simcord.builders import ChannelHandle
from simcord.http import router
from simcord.http.routes import interactions

from memory.personas.rules import name_key
from memory.ports import Speaker, speaker_of
from memory.types import Persona, Place

from .world import World


def complete(patch: pytest.MonkeyPatch) -> None:
    """``thread_id`` is honoured; an ``avatar`` may be changed."""
    find, fields = interactions._incoming_webhook, router.RequestContext.fields

    def in_thread(ctx: Any) -> Any:
        webhook = find(ctx)
        thread = ctx.params.get("thread_id")
        if thread is None or webhook.channel_id == int(thread):  # the playground's, once it has been loaded
            return webhook
        channel = ctx.backend.get_channel(int(thread))
        assert channel.parent_id == webhook.channel_id, "a thread of another channel"
        return replace(webhook, channel_id=channel.id)

    def with_avatar(self: Any, *handled: str, ignore: tuple[str, ...] = (), **more: Any) -> Any:
        if self.method == "PATCH" and "/webhooks/" in self.path:
            ignore = (*ignore, "avatar")
        return fields(self, *handled, ignore=ignore, **more)

    patch.setattr(interactions, "_incoming_webhook", in_thread)
    patch.setattr(router.RequestContext, "fields", with_avatar)


async def cast(world: World, name: str, *triggers: str, picture: bytes = b"", **more: Any) -> Persona:
    """A new persona of the server."""
    lineage = more.pop("lineage", f"line-{name_key(name)}"[:40])
    digest = f"{len(picture)}-{name_key(name)}"[:32] if picture else ""
    new = Persona(0, world.guild.id, lineage, name, triggers=triggers, picture=digest, **more)
    async with world.engine._rooms.store.write() as tx:
        if picture:
            await tx.personas.add_picture(digest, picture)
        made = await tx.personas.add(new, name_key(name), world.mara.id, world.clock.now())
    assert made is not None
    world.engine.personas.forget(world.guild.id)
    return made


async def change(world: World, persona: Persona, **new: Any) -> Persona:
    changed = replace(persona, **new)
    async with world.engine._rooms.store.write() as tx:
        made = await tx.personas.change(changed, name_key(changed.name), world.clock.now())
    assert made is not None
    world.engine.personas.forget(world.guild.id)
    return made


async def remove(world: World, persona: Persona) -> None:
    """Delete it as a manager's command does: first in the table, then its webhooks."""
    async with world.engine._rooms.store.write() as tx:
        hooks = await tx.hooks.of_persona(world.guild.id, persona.lineage)
        assert await tx.personas.remove(persona)
    world.engine.personas.forget(world.guild.id)
    await world.engine._now.surface.retire(hooks)


def heard(channel: ChannelHandle) -> list[tuple[str, str]]:
    """What was said by bots and personas, with the name that people see."""
    return [(m.author.display_name, m.content) for m in channel.history() if m.author.bot]


def through_webhooks(channel: ChannelHandle) -> list[discord.Message]:
    return [m for m in channel.history() if m.webhook_id is not None]


def requests(world: World, method: str, part: str) -> list[Any]:
    return [r for r in world.env.http_requests if r.method == method and part in r.path]


def foreign(world: World, number: int) -> None:
    """Webhooks that Mara made."""
    for each in range(number):
        world.env.backend.create_webhook(world.general.id, f"Feed {each}", world.mara.id)


async def take_right(world: World) -> None:
    """The bot may no longer make webhooks in #general."""
    channel = world.bot.get_channel(world.general.id)
    assert isinstance(channel, discord.TextChannel)
    await channel.set_permissions(channel.guild.me, manage_webhooks=False)


async def put_in_use(world: World, place: Place, persona: Persona) -> None:
    """What `/persona use` keeps."""
    async with world.engine._rooms.store.write() as tx:
        at = world.clock.now()
        await tx.config.set("channel", place.channel_id, "persona", str(persona.id), at=at, by=None)
    world.engine.config.forget()


def hooks(world: World) -> list[str]:
    """The names of all webhooks of #general, the oldest first."""
    there = world.env.backend.webhooks.values()
    return [webhook.name for webhook in there if webhook.channel_id == world.general.id]


def speaker(persona: Persona) -> Speaker:
    made = speaker_of(persona)
    assert made is not None
    return made
