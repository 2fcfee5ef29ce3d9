"""SPEC §7 (activation, of saved memories) and §11 (personas), as people see them in Discord.

The rules that other files of this folder show already name their section there.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import discord
import pytest

from memory.types import DEFAULT_LINEAGE, GLOBAL, Scope
from tests.personas.samples import chunk, picture, with_chunk

from .persona_hands import change, create, edit, file_of, personas
from .reading import message_of, words
from .spec_hands import answer, given, hear, mine, prompt, put, set_server, shared
from .test_actions import thread_of
from .webhooks import complete, heard
from .world import World, make_world

# --- §7: activation ---------------------------------------------------------------------------------------

KEYWORDS = [
    ("", "good evening", True, "no keywords: always on"),
    ("lantern", "who lit the LANTERNS?", True, "a part of a word, in any case"),
    ("lantern", "good evening", False, "it does not appear"),
    ("Straße", "on the STRASSE", True, "casefold"),
    ("lantern", "the ｌａｎｔｅｒｎ", True, "NFKC"),
    ("ﬁre", "a big fire", True, "NFKC of the keyword"),
    ('"lantern"', "two lanterns", False, "in quotes: whole words only"),
    ('"lantern"', "a lantern, lit", True, "in quotes: a whole word"),
    ('"old lantern"', "that old lantern", True, "several words in quotes"),
    ("boat, lantern", "the lantern", True, "one of several is enough"),
]


async def test_keywords_call_an_entry_where_they_appear(world: World) -> None:
    """SPEC §7: a case each, in a channel of its own; tagged by command."""
    for number, (keywords, said, on, why) in enumerate(KEYWORDS):
        shown = await world.ana.slash(world.general, "memory add", text=f"fact {number}", keywords=keywords)
        assert "Saved" in answer(shown), why
        room = world.guild.create_text_channel(f"room {number}")
        found = given(await hear(world, said, channel=room), {f"fact {number}"})
        assert (found != set()) == on, why


async def test_the_visible_context_is_the_window_and_the_present_input(world: World) -> None:
    """SPEC §7: what somebody else said lately counts; what was left behind by a refresh does not."""
    await put(world, mine(world), "The lantern is broken", keywords=("lantern",))
    fact = {"The lantern is broken"}
    await world.ben.send(world.general, world.call("who has the lantern?"))
    assert given(await hear(world, "not me"), fact) == fact
    await world.ana.slash(world.general, "refresh")
    assert given(await hear(world, "not me"), fact) == set()
    for text, left_out in (("not me", True), ("the lantern?", False)):
        preview = words(await world.ana.slash(world.general, "context preview", text=text))
        assert ("none of its keywords appears" in preview) == left_out


async def test_channel_tags_go_by_channel_and_both_must_pass(world: World) -> None:
    """SPEC §7: a thread counts as its channel; pinned entries ignore keywords, not channels."""
    tavern = (world.tavern.id,)
    rows: dict[str, dict[str, Any]] = {
        "keyword": {"keywords": ("ale",)},
        "channel": {"channels": tavern},
        "both": {"keywords": ("ale",), "channels": tavern},
        "pinned keyword": {"keywords": ("ale",), "pinned": True},
        "pinned channel": {"channels": tavern, "pinned": True},
        "pinned both": {"keywords": ("ale",), "channels": tavern, "pinned": True},
    }
    for text, more in rows.items():
        await put(world, mine(world), text, **more)
    side = await thread_of(world, world.tavern, type=discord.ChannelType.public_thread)
    said = {
        (world.general, "hello"): {"pinned keyword"},
        (world.tavern, "hello"): {"channel", "pinned keyword", "pinned channel", "pinned both"},
        (side, "hello"): {"channel", "pinned keyword", "pinned channel", "pinned both"},
        (world.general, "ale?"): {"keyword", "pinned keyword"},
        (world.tavern, "ale?"): set(rows),
    }
    for (channel, text), expected in said.items():
        assert given(await hear(world, text, channel=channel), rows) == expected, (channel.name, text)
    preview = words(await world.ana.slash(world.general, "context preview", text="hello"))
    assert "it is for other channels" in preview and "none of its keywords appears" not in preview
    await set_server(world, "tags", "off")
    await world.ana.slash(world.general, "refresh")
    assert given(await hear(world, "hello"), rows) == set(rows), "switched off, tags are ignored"
    await set_server(world, "tags", "on")
    await world.ana.slash(world.general, "refresh")
    assert given(await hear(world, "hello"), rows) == {"pinned keyword"}


# --- §11: personas ----------------------------------------------------------------------------------------

TOO_MUCH = [
    ("**Attributes**", [f"a{n}" for n in range(11)], "11 attributes; 10 are allowed"),
    ("**Trigger words**", [f"w{n}" for n in range(11)], "11 trigger words; 10 are allowed"),
    ("**Sample dialogues**", [f"member: {n}\npersona: {n}\n" for n in range(16)], "16 sample dialogues; 15"),
]


async def test_a_persona_has_its_parts_up_to_their_numbers_and_the_model_is_given_them(world: World) -> None:
    """SPEC §11: ten attributes, fifteen sample dialogues, ten trigger words, each refused beyond."""
    await create(world, "Aria", description="Keeps the inn.")
    shown = await edit(world)
    for heading, lines, said in TOO_MUCH:
        await change(world, shown, heading, "\n".join(lines))
        assert said in words(shown) and "Nothing was changed" in words(shown)
        await change(world, shown, heading, "\n".join(lines[:-1]))
        assert "Saved" in words(shown)
    (aria,) = await personas(world)
    assert (len(aria.attributes), len(aria.samples), len(aria.triggers)) == (10, 15, 10)
    await world.ana.send(world.general, "w9?")
    assert "You are Aria." in prompt(world) and "Keeps the inn." in prompt(world)
    assert "- a9" in prompt(world) and "Member: 14\nYou: 14" in prompt(world)


async def test_how_many_personas_a_server_has_is_set_by_a_variable(tmp_path: Path) -> None:
    """SPEC §11: `MAX_PERSONAS_PER_SERVER`; that it is 20 by default is in test_personas.py."""
    async with make_world(tmp_path, max_personas_per_server=1) as world:
        await create(world, "Aria")
        assert "1 of 1 in this server" in words(await world.ana.slash(world.general, "persona list"))
        refused = await create(world, "Rook")
        assert "This server has 1 persona, as many as it can have" in words(refused)
        assert [each.name for each in await personas(world)] == ["Aria"]


async def test_the_detail_level_is_the_channels_then_the_personas_then_the_servers(world: World) -> None:
    """SPEC §11, §2: seen in how many messages the model is given."""
    await create(world, "Aria", triggers="aria")
    switch = await edit(world)
    await world.ana.send(world.general, world.call("hello"))
    for number in range(60):
        world.env.backend.create_message(world.general.id, world.ana.id, f"line {number}")
    await world.env.settle()

    async def lines() -> int:
        await world.ana.send(world.general, "aria?")
        return sum(": line " in m.text for m in world.model.requests[-1].messages)

    await set_server(world, "detail", "detailed")
    assert await lines() == 60
    await world.mara.click(message_of(switch), label="Use essential")
    assert 20 <= await lines() <= 30
    await set_server(world, "detail", "detailed", channel=world.general)
    assert await lines() == 60


def as_card(version: str, form: str) -> tuple[str, bytes]:
    """A card from another program."""
    spec = {"2": "chara_card_v2", "3": "chara_card_v3"}[version]
    data = {
        "name": "Rook",
        "description": "{{char}} keeps watch over {{user}}.",
        "system_prompt": "Be brief.",
        "mes_example": "<START>\n{{user}}: Halt?\n{{char}}: Halt!",
    }
    text = json.dumps({"spec": spec, "spec_version": f"{version}.0", "data": data}).encode()
    if form == "json":
        return "rook.json", text
    keyword = {"2": b"chara", "3": b"ccv3"}[version]
    return "rook.png", with_chunk(picture(), chunk(b"tEXt", keyword + b"\x00" + base64.b64encode(text)))


async def test_cards_of_both_versions_and_forms_are_read_and_written(world: World) -> None:
    """SPEC §11: import, then export, and the exported one is read again."""
    for version, form in (("2", "png"), ("2", "json"), ("3", "png"), ("3", "json")):
        name = f"Rook {version} {form}"
        file = as_card(version, form)
        shown = await world.mara.slash(world.general, "persona import", file=file, name=name)
        assert f"**{name}** is ready" in words(shown)
        rook = (await personas(world))[-1]
        assert (rook.description, rook.prompt) == ("{bot} keeps watch over {user}.", "Be brief.")
        assert [(each.said, each.answer) for each in rook.samples] == [("Halt?", "Halt!")]
        card = file_of(await world.ana.slash(world.general, "persona export", persona=name, form=form))
        assert card.startswith(b"\x89PNG") == (form == "png")
        again = (f"again.{form}", card)
        asked = await world.mara.slash(world.general, "persona import", file=again)
        assert f"the card of **{name}**, who is here already" in words(asked)


async def test_a_member_s_memories_follow_a_character_into_another_server(world: World) -> None:
    """SPEC §1, §11: the lineage is kept by export and import; the server's memories stay where they are."""
    await create(world, "Aria", triggers="aria")
    (aria,) = await personas(world)
    await put(world, mine(world, aria.lineage), "Ana sings")
    await put(world, mine(world, GLOBAL), "Ana is tall")
    await put(world, shared(world, aria.lineage), "The inn closes at ten")
    card = file_of(await world.ana.slash(world.general, "persona export", persona="Aria"))
    far = world.env.create_guild("Far Harbour")
    managers = far.create_role("Managers", permissions=discord.Permissions(manage_guild=True))
    docks = far.create_text_channel("docks")
    mara = far.add_member(world.mara.user, roles=[managers])
    ana = far.add_member(world.ana.user)
    await mara.slash(docks, "persona import", file=("aria.png", card))
    await ana.send(docks, "aria, do you know me?")
    assert heard(docks)[-1][0] == "Aria"
    everything = {"Ana sings", "Ana is tall", "The inn closes at ten"}
    assert given(prompt(world), everything) == {"Ana sings", "Ana is tall"}


async def test_the_built_in_persona_is_one_everywhere(world: World) -> None:
    """SPEC §1: what it knows of a member it knows in every server and in direct messages."""
    await world.ana.slash(world.general, "memory add", text="I play the cello", scope="user_persona")
    far = world.env.create_guild("Far Harbour")
    docks = far.create_text_channel("docks")
    ana = far.add_member(world.ana.user)
    cello = {"I play the cello"}
    assert given(await hear(world, who=ana, channel=docks), cello) == cello
    await world.ana.send_dm("hello")
    assert given(prompt(world), cello) == cello
    assert Scope.user(world.ana.id, DEFAULT_LINEAGE) == mine(world)


async def test_each_way_of_calling_reaches_the_bot_and_nothing_else_does(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC §11: mention, reply, direct message, trigger word, auto-reply channel. test_called.py: whom."""
    complete(monkeypatch)
    await create(world, "Aria", triggers="aria")

    async def answered(text: str, channel: Any = None, **more: Any) -> bool:
        before = len(world.model.requests)
        await world.ana.send(channel or world.general, text, **more)
        return len(world.model.requests) > before

    assert await answered(world.call("hello"))
    reply = world.said_by_bot(world.general)[-1]
    assert await answered("go on", reply_to=reply)
    assert await answered("aria?") and not await answered("marial")
    assert not await answered("hello everybody") and not await answered("@everyone hello")
    await set_server(world, "auto_reply", "on", channel=world.tavern)
    assert await answered("hello", world.tavern)
    before = len(world.model.requests)
    await world.ana.send_dm("hello")
    assert len(world.model.requests) == before + 1
