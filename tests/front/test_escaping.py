"""Whatever a member wrote is shown as nothing but words, on every way by which it comes back to somebody."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cogs import _errors
from memory.errors import BudgetError, KeepsakeError
from memory.llm.port import ToolCall
from memory.types import DEFAULT_LINEAGE, Memory, Scope

from .reading import message_of, words
from .world import World

COGS = Path(__file__).parents[2] / "cogs"


def hostile(world: World) -> str:
    return f"**x** [x](http://e.vil) <@{world.ben.id}> @everyone\n# big"


def faked(said: str, world: World) -> list[str]:
    """What of the hostile text would be more than words in Discord."""
    found = [sign for sign in ("**x**", "[x](", "http://e.vil") if sign in said]
    found += [request.path for request in world.env.http_requests if pings(request.json)]
    found += re.findall(r"(?<!\\)@everyone", said)
    return found + re.findall(r"(?m)^(?:> )?#+ big", said)


def pings(sent: Any) -> bool:
    """Could this request mention somebody? A member who is not known by name is shown as a silent mention."""
    data = sent.get("data", sent) if isinstance(sent, dict) else None
    shows = isinstance(data, dict) and ("content" in data or "embeds" in data or "components" in data)
    return shows and data.get("allowed_mentions", {"parse": []}).get("parse") != []


def all_words(shown: Any) -> str:
    """The words of a response and of all its follow-ups."""
    parts = [shown.response] if getattr(shown, "response", None) is not None else []
    return "\n".join(words(each) for each in [*parts, *getattr(shown, "followups", [])])


async def told(world: World, content: str, **more: str) -> Any:
    """The persona saves something while it answers Ana; returns the confirmation."""
    arguments = {"content": content, "about": "user", **more}
    world.model.say(ToolCall("c", "save_memory", json.dumps(arguments)), "Noted.")
    await world.ana.send(world.general, world.call("remember this"))
    return [m for m in world.said_by_bot(world.general) if m.embeds][-1]


async def only(world: World, actor: Any) -> Memory:
    (memory,) = await world.engine.facts.find(world.person(actor), world.place(world.general), "")
    return memory


async def now_hostile(world: World, actor: Any) -> Memory:
    """The one entry that this person reads says the hostile text from now on."""
    memory = await only(world, actor)
    place = world.place(world.general)
    outcome = await world.engine.facts.edit(world.person(actor), place, memory.id, hostile(world))
    assert outcome.wrote
    return memory


def sources() -> Iterator[tuple[str, str]]:
    for path in sorted(COGS.rglob("*.py")):
        yield path.relative_to(COGS).as_posix(), path.read_text(encoding="utf-8")


def test_one_place_turns_an_outcome_into_words() -> None:
    assert [name for name, text in sources() if ".line()" in text] == ["views/entry_text.py"]
    assert sum(text.count(".line()") for _, text in sources()) == 1


def test_no_error_is_shown_without_passing_the_one_place_that_escapes_it() -> None:
    shown = re.compile(r"(?:whisper|_line|Flash|send|send_message)\([^)]*str\((?:error|refused)\)")
    assert [name for name, text in sources() if shown.search(text)] == []


async def test_a_refused_undo_shows_the_present_text_as_words(world: World) -> None:
    shown = await told(world, "Ana is allergic to nuts")
    await now_hostile(world, world.ana)
    refused = await world.ana.click(shown, label="Undo")
    assert "changed meanwhile" in all_words(refused)
    assert "e.vil" in all_words(refused)
    assert faked(all_words(refused), world) == []


async def test_a_refused_edit_of_a_confirmation_shows_the_present_text_as_words(world: World) -> None:
    shown = await told(world, "Ana is allergic to nuts")
    box = await world.ana.click(shown, label="Edit")
    await now_hostile(world, world.ana)
    refused = await world.ana.submit_modal(box, {"text": "Ana eats everything"})
    assert "e.vil" in all_words(refused)
    assert faked(all_words(refused), world) == []


async def test_a_refused_approval_shows_the_present_text_as_words(world: World) -> None:
    await world.ben.slash(world.general, "memory add", text="Ben loves tea")
    await world.ben.send(world.general, world.call("hello"))
    memory = await only(world, world.ben)
    change = {"handle": f"m{memory.id}", "content": "Ben hates tea"}
    world.model.say(ToolCall("c", "update_memory", json.dumps(change)), "I asked Ben.")
    await world.ana.send(world.general, world.call("Ben hates tea now"))
    asked = [m for m in world.said_by_bot(world.general) if m.embeds][-1]
    assert asked.embeds[0].title == "Update this?"
    await world.env.advance_time(60)
    await now_hostile(world, world.ben)
    refused = await world.ben.click(asked, label="Approve")
    assert "e.vil" in all_words(refused)
    assert faked(all_words(refused), world) == []


async def test_every_answer_of_the_commands_shows_a_hostile_text_as_words(world: World) -> None:
    async def say(command: str, **options: object) -> Any:
        shown = await world.ana.slash(world.general, command, **options)
        assert faked(all_words(shown), world) == [], command
        return shown

    await say("memory add", text=hostile(world))
    memory = await only(world, world.ana)
    box = await world.ana.slash(world.general, "memory edit", entry=str(memory.id))
    await world.engine.facts.pin(world.person(world.ana), world.place(world.general), memory.id, True)
    stale = await world.ana.submit_modal(box, {"text": "Something else"})
    assert "e.vil" in all_words(stale)
    assert faked(all_words(stale), world) == []
    asked = await say("memory delete", entry=str(memory.id))
    assert "e.vil" in words(asked)
    await world.ana.click(message_of(asked), label="Delete it")
    assert "e.vil" in words(asked)
    assert faked(words(asked), world) == []
    for command in ("memory undo", "memory undo"):
        assert "e.vil" in words(await say(command))
    assert "e.vil" in words(await say("memory history", entry=f"m{memory.id}"))
    assert "e.vil" in words(await say("memory search", query="**x** [x](http://e.vil)"))


async def test_every_page_of_the_panel_shows_a_hostile_text_as_words(world: World) -> None:
    place, person = world.place(world.general), world.person(world.ana)
    scope = Scope.user(world.ana.id, DEFAULT_LINEAGE)
    made = await world.engine.facts.add(person, place, scope, hostile(world))
    assert made.memory is not None
    shown = await world.ana.slash(world.general, "personal memories")
    seen = [words(shown)]
    for label in ("Open", "History", "Back", "Delete", "Delete it", "Undo"):
        await world.ana.click(message_of(shown), label=label)
        seen.append(words(shown))
    await world.ana.click(message_of(shown), label="Open")
    box = await world.ana.click(message_of(shown), label="Edit")
    await world.engine.facts.pin(person, place, made.memory.id, True)
    await world.ana.submit_modal(box, {"text": "Something else"})
    seen.append(words(shown))
    assert all("e.vil" in said for said in seen)
    assert [found for said in seen if (found := faked(said, world))] == []


async def test_the_old_text_behind_its_button_is_shown_as_words(world: World) -> None:
    shown = await told(world, hostile(world))
    box = await world.ana.click(shown, label="Edit")
    await world.ana.submit_modal(box, {"text": "Ana is allergic to nuts"})
    changed = [m for m in world.said_by_bot(world.general) if m.embeds][-1]
    old = await world.ana.click(changed, label="Show what changed")
    assert "e.vil" in words(old)
    assert faked(words(old), world) == []


async def test_the_longest_hostile_texts_fit_into_what_discord_takes(world: World) -> None:
    worst = "*\n" * 249 + "*"
    await world.ana.slash(world.general, "memory add", text=worst, pinned=True)
    memory = await only(world, world.ana)
    asked = await world.ana.slash(world.general, "memory delete", entry=str(memory.id))
    assert len(words(asked)) <= 2_000
    await world.ana.click(message_of(asked), label="Delete it")
    assert len(message_of(asked).embeds[0].description) <= 4_096
    undone = await world.ana.slash(world.general, "memory undo")
    assert len(message_of(undone).content) <= 2_000
    box = await world.ana.slash(world.general, "memory edit", entry=str(memory.id))
    changed = await world.ana.submit_modal(box, {"text": "+\n" * 249 + "*"})
    old = await world.ana.click(message_of(changed), label="Show what changed")
    assert all(len(field.value) <= 1_024 for field in message_of(old).embeds[0].fields)


@pytest.mark.parametrize("error", [KeepsakeError("**x** @everyone"), BudgetError(2, 1, (("**x**", 1),))])
def test_the_sentence_of_an_error_is_nothing_but_words(error: KeepsakeError) -> None:
    for said in (_errors.known(error), _errors.sentence(error)):
        assert said is not None
        assert "**x**" not in said
        assert "@everyone" not in said.replace("\\@everyone", "")
