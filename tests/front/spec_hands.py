"""What the tests of SPEC §4, §7, §11 and §12 do with a person's hands, and what they look at afterwards."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

import discord
from simcord.actors import MemberActor, _dispatch_actor_interaction
from simcord.backend import serializers
from simcord.builders import ChannelHandle
from simcord.enums import AppCommandType, InteractionType

from memory.facts.outcomes import OutcomeKind
from memory.llm.port import ToolCall
from memory.types import DEFAULT_LINEAGE, Memory, Scope

from .reading import labels, message_of, words
from .world import World

NEEDS = "can be changed by members with Manage Server"
"""A member without access wants to change a memory of the server."""

NOT_THERE = "can't find that entry"
"""A handle that is gone, and one that is somebody else's."""


def mine(world: World, lineage: str = DEFAULT_LINEAGE) -> Scope:
    """Ana's memories with one persona."""
    return Scope.user(world.ana.id, lineage)


def shared(world: World, lineage: str = DEFAULT_LINEAGE) -> Scope:
    """The server's memories with one persona."""
    return Scope.server(world.guild.id, lineage)


async def kept(world: World, *scopes: Scope) -> list[Memory]:
    async with world.engine._rooms.store.read() as tx:
        return await tx.memories.of_scopes(scopes, dm=True)


async def texts(world: World, *scopes: Scope) -> list[str]:
    return [memory.text for memory in await kept(world, *scopes)]


async def put(world: World, scope: Scope, *said: str, pinned: bool = False, **more: Any) -> list[Memory]:
    """Entries that were saved before the test begins."""
    at, made = world.clock.now(), []
    keywords, channels = more.pop("keywords", ()), more.pop("channels", ())
    dm_only = more.pop("dm_only", False)
    async with world.engine._rooms.store.write() as tx:
        for text in said:
            norm = text.casefold()
            made.append(
                await tx.memories.add(
                    scope, text, norm, pinned, dm_only, keywords, channels, None, None, at, ()
                )
            )
    return made


async def add(world: World, text: str, scope: Scope, *, pinned: bool = False) -> Memory:
    """An entry that its owner, or the server's manager, saved by command: with its journal."""
    actor = world.ana if scope.kind.value == "user" else world.mara
    outcome = await world.engine.facts.add(
        world.person(actor), world.place(world.general), scope, text, pinned=pinned
    )
    assert outcome.memory is not None and outcome.kind is OutcomeKind.SAVED
    return outcome.memory


def save(content: str, about: str = "user", **more: Any) -> ToolCall:
    return ToolCall("s", "save_memory", json.dumps({"content": content, "about": about, **more}))


def update(handle: str, content: str) -> ToolCall:
    return ToolCall("u", "update_memory", json.dumps({"handle": handle, "content": content}))


def forget(handle: str) -> ToolCall:
    return ToolCall("d", "delete_memory", json.dumps({"handle": handle}))


async def tell(world: World, *calls: ToolCall, who: Any = None, channel: Any = None, text: str = "") -> str:
    """Somebody calls the persona, which calls these tools at once; what the last of them answered."""
    world.model.say(list(calls), "Noted.")
    said = world.call(text or "listen to this")
    await (who or world.ana).send(channel or world.general, said)
    return world.model.requests[-1].messages[-1].text


async def hear(world: World, text: str = "hello", *, who: Any = None, channel: Any = None) -> str:
    """Somebody calls the persona; everything that the model was given."""
    await (who or world.ana).send(channel or world.general, world.call(text))
    return prompt(world)


def prompt(world: World) -> str:
    return "\n".join(message.text for message in world.model.requests[-1].messages)


def given(said: str, among: Iterable[str]) -> set[str]:
    """Which of these texts stand among the memories of a prompt."""
    lines = re.findall(r"^- m\d+ (.*?)(?: \(recent\))?$", said, re.MULTILINE)
    return set(among) & set(lines)


def cards(world: World, channel: Any = None) -> list[discord.Message]:
    """Confirmations and suggestions, oldest first."""
    return [message for message in world.said_by_bot(channel or world.general) if message.embeds]


def answer(result: Any) -> str:
    """All that an interaction was answered with."""
    shown = [result.response, *result.followups]
    return "\n".join(words(each) for each in shown if each is not None)


async def menu_in_dm(world: World, name: str, message: discord.Message) -> Any:
    """Ana uses a message action in her direct messages with the bot."""
    backend, dm, ana = world.env.backend, world.ana.user.dm_channel, world.ana.user
    stored = dict(serializers.message_payload(backend, backend.get_message(dm.id, message.id)))
    data = {
        "id": backend.find_command(name, None, type=AppCommandType.MESSAGE)["id"],
        "name": name,
        "type": AppCommandType.MESSAGE,
        "target_id": str(message.id),
        "resolved": {"messages": {str(message.id): stored}},
    }
    return await _dispatch_actor_interaction(ana, InteractionType.APPLICATION_COMMAND, dm, data)


def a_file(*said: str) -> bytes:
    """A memory file of these texts."""
    memories = [{"text": text} for text in said]
    return json.dumps({"format": "keepsake-memories", "version": 1, "memories": memories}).encode()


async def set_server(world: World, key: str, value: str, *, channel: Any = None) -> None:
    """An admin sets something for the server; with a channel, for that channel."""
    level = "channel" if channel is not None else "server"
    said = await world.mara.slash(channel or world.general, f"config {level}", key=key, value=value)
    assert "Nothing was changed" not in words(said), words(said)


Here = tuple[MemberActor, ChannelHandle]


@dataclass(frozen=True)
class Act:
    """One thing that is done to an entry, and how the entry is afterwards."""

    do: Callable[[Here, str], Awaitable[Any]]
    done: Callable[[Memory | None], bool]
    pinned: bool = False


async def _edit(here: Here, entry: str) -> Any:
    box = await here[0].slash(here[1], "memory edit", entry=entry)
    return box if box.modal is None else await here[0].submit_modal(box, {"text": f"Changed {entry}"})


async def _tag(here: Here, entry: str) -> Any:
    box = await here[0].slash(here[1], "memory tag", entry=entry)
    return box if box.modal is None else await here[0].submit_modal(box, {"keywords": "inn"})


async def _delete_pinned(here: Here, entry: str) -> Any:
    asked = await here[0].slash(here[1], "memory delete", entry=entry)
    if "Delete it" in labels(asked):
        await here[0].click(message_of(asked), label="Delete it")
    return asked


def _command(name: str, **options: str) -> Callable[[Here, str], Awaitable[Any]]:
    return lambda here, entry: here[0].slash(here[1], name, entry=entry, **options)


ACTS = {
    "edit": Act(_edit, lambda m: m is not None and m.text == f"Changed m{m.id}"),
    "delete": Act(_command("memory delete"), lambda m: m is None),
    "delete pinned": Act(_delete_pinned, lambda m: m is None, pinned=True),
    "pin": Act(_command("pins add"), lambda m: m is not None and m.pinned),
    "unpin": Act(_command("pins remove"), lambda m: m is not None and not m.pinned, pinned=True),
    "tag": Act(_tag, lambda m: m is not None and m.keywords == ("inn",)),
}
