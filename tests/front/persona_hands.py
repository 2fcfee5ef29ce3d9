"""What the tests of `/persona …` do with a person's hands."""

from __future__ import annotations

from typing import Any

from memory.types import Persona

from .reading import message_of, raw
from .world import World

NEEDS = "needs the Manage Server permission. Nothing was changed"


async def create(world: World, name: str = "Aria", **more: Any) -> Any:
    box = await world.mara.slash(world.general, "persona create")
    return await world.mara.submit_modal(box, {"name": name, **more})


async def personas(world: World) -> tuple[Persona, ...]:
    return await world.engine.personas.of_guild(world.guild.id)


async def edit(world: World, name: str = "Aria") -> Any:
    return await world.mara.slash(world.general, "persona edit", persona=name)


def section_button(shown: Any, heading: str, label: str = "Edit") -> str:
    """The custom id of the button beside the words that begin so."""
    for one in _walk(raw(shown)):
        if one.get("type") == 9 and one["components"][0]["content"].startswith(heading):
            assert one["accessory"]["label"] == label
            return str(one["accessory"]["custom_id"])
    raise AssertionError(f"no part {heading}")


def _walk(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for one in found for each in (one, *_walk(one.get("components") or []))]


async def change(world: World, shown: Any, heading: str, text: str) -> None:
    box = await world.mara.click(message_of(shown), custom_id=section_button(shown, heading))
    await world.mara.submit_modal(box, {"text": text})


def lose_rights(world: World) -> list[int]:
    roles = world.env.backend.get_guild(world.guild.id).members[world.mara.id].role_ids
    kept = list(roles)
    roles.clear()
    return kept


def file_of(shown: Any) -> bytes:
    (attachment,) = message_of(shown).attachments
    found = shown._env.backend.cdn.get(attachment.url)
    assert found is not None
    return bytes(found)
