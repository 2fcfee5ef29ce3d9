"""What Discord demands of commands and the simulation lets through (DESIGN §5)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from discord import app_commands

from memory.llm.port import ToolCall

from .discord_schema import DiscordSchema
from .world import World

SLASH, USER, MESSAGE = 1, 2, 3
SUBCOMMAND, GROUP = 1, 2
NAME = re.compile(r"^[-_'a-z0-9]{1,32}$")
SCHEMAS = [path for path in [Path(__file__).parents[3] / "shared" / "discord-openapi.json"] if path.is_file()]


@pytest.fixture
def payloads(world: World) -> list[dict[str, Any]]:
    return [command.to_dict(world.bot.tree) for command in world.bot.tree.get_commands()]


def walk(option: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for child in option.get("options", []):
        yield child
        yield from walk(child)


def test_there_are_few_enough_of_each_kind(payloads: list[dict[str, Any]]) -> None:
    kinds = [p.get("type", SLASH) for p in payloads]
    assert 0 < kinds.count(SLASH) <= 100
    assert kinds.count(USER) <= 5
    assert kinds.count(MESSAGE) <= 5


def test_names_are_unique_and_well_formed(payloads: list[dict[str, Any]]) -> None:
    names = [(p.get("type", SLASH), p["name"]) for p in payloads]
    assert len(set(names)) == len(names)
    for payload in payloads:
        if payload.get("type", SLASH) == SLASH:
            for part in [payload, *walk(payload)]:
                assert NAME.match(part["name"]), part["name"]


def test_descriptions_are_there_and_short(payloads: list[dict[str, Any]]) -> None:
    for payload in payloads:
        if payload.get("type", SLASH) == SLASH:
            for part in [payload, *walk(payload)]:
                assert 1 <= len(part["description"]) <= 100, part["name"]


def test_no_command_has_too_many_options_or_choices(payloads: list[dict[str, Any]]) -> None:
    for payload in payloads:
        for part in [payload, *walk(payload)]:
            options = part.get("options", [])
            assert len(options) <= 25
            assert len({o["name"] for o in options}) == len(options)
            choices = part.get("choices", [])
            assert len(choices) <= 25
            assert all(1 <= len(str(c["name"])) <= 100 for c in choices)
            assert all(len(str(c["value"])) <= 100 for c in choices)


def test_required_options_come_first(payloads: list[dict[str, Any]]) -> None:
    for payload in payloads:
        for part in [payload, *walk(payload)]:
            options = [o for o in part.get("options", []) if o["type"] not in (SUBCOMMAND, GROUP)]
            required = [o.get("required", False) for o in options]
            assert required == sorted(required, reverse=True), part["name"]


def test_a_command_is_never_also_a_group(payloads: list[dict[str, Any]]) -> None:
    for payload in payloads:
        for part in [payload, *walk(payload)]:
            kinds = {o["type"] in (SUBCOMMAND, GROUP) for o in part.get("options", [])}
            assert len(kinds) <= 1, part["name"]


def test_groups_nest_at_most_twice(payloads: list[dict[str, Any]]) -> None:
    for payload in payloads:
        for group in payload.get("options", []):
            for inner in group.get("options", []):
                assert inner["type"] != GROUP
                assert all(o["type"] not in (SUBCOMMAND, GROUP) for o in inner.get("options", []))


def test_one_command_is_never_too_large(payloads: list[dict[str, Any]]) -> None:
    """Names, descriptions and values of one command together: at most 8,000 characters (Discord)."""
    for payload in payloads:
        words = 0
        for part in [payload, *walk(payload)]:
            words += len(part["name"]) + len(part.get("description", ""))
            words += sum(len(str(c["name"])) + len(str(c["value"])) for c in part.get("choices", []))
        assert words <= 8_000


async def test_every_command_answers_in_the_tree(world: World) -> None:
    for command in world.bot.tree.walk_commands():
        if isinstance(command, app_commands.Command):
            assert command.callback.__doc__ or command.description


if SCHEMAS:

    async def test_what_we_send_is_what_discord_s_own_description_allows(world: World) -> None:
        schema = DiscordSchema(json.loads(SCHEMAS[0].read_text(encoding="utf-8")))
        arguments = json.dumps({"content": "Ana likes tea", "about": "user"})
        world.model.say(ToolCall("c1", "save_memory", arguments), "word " * 900)
        await world.ana.send(world.general, world.call("remember that I like tea"))
        (shown,) = [m for m in world.said_by_bot(world.general) if m.embeds]
        box = await world.ana.click(shown, label="Edit")
        await world.ana.submit_modal(box, {"text": "Ana likes coffee"})
        await world.ana.click(shown, label="Show what changed")
        await world.ana.click(shown, label="Undo")
        await world.ana.slash(world.general, "refresh")
        for name in ("memories", "personal memories", "pins list", "context preview", "help"):
            await world.mara.slash(world.general, name)
        checked = 0
        for request in world.env.http_requests:
            if request.json is not None:
                wrong = schema.check(request.method, request.path, request.json)
                assert not wrong, f"{request.method} {request.path}: {wrong}"
                checked += wrong is not None
        assert checked > 15
