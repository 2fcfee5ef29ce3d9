from __future__ import annotations

import json
import re

import discord
import pytest

from cogs import _render
from memory.llm.port import ToolCall
from memory.types import Scope

from .world import World


def save(content: str, about: str = "user", **more: str) -> ToolCall:
    arguments = {"content": content, "about": about, **more}
    return ToolCall("call_1", "save_memory", json.dumps(arguments))


def notice(world: World, index: int = -1) -> discord.Message:
    """The latest confirmation in #general."""
    return [m for m in world.said_by_bot(world.general) if m.embeds][index]


def labels(message: discord.Message) -> list[str]:
    return [child.label or "" for row in message.components for child in row.children]  # type: ignore[union-attr]


def words(message: discord.Message) -> str:
    embed = message.embeds[0]
    return f"{embed.title}\n{embed.description}"


async def told(world: World, content: str = "Ana is allergic to nuts", **more: str) -> discord.Message:
    """Ana tells the persona something, which it saves; returns the confirmation."""
    world.model.say(save(content, **more), "Noted.")
    await world.ana.send(world.general, world.call("remember that I am allergic to nuts"))
    return notice(world)


async def test_a_saved_memory_is_confirmed_in_green_with_scope_and_source(world: World) -> None:
    """SPEC §4.5."""
    shown = await told(world)
    embed = shown.embeds[0]
    assert embed.title == "Saved"
    assert embed.colour == _render.SAVED
    assert "allergic to nuts" in words(shown)
    assert "about Ana · TestBot" in words(shown)
    source = world.general.history()[0]
    assert f"/{world.guild.id}/{world.general.id}/{source.id}" in words(shown)
    assert labels(shown) == ["Undo", "Pin", "Edit"]
    assert shown.mentions == []


async def test_a_confirmation_is_not_taken_for_a_persona_s_words(world: World) -> None:
    """SPEC §4.5."""
    shown = await told(world)
    await world.ben.send(world.general, "nice", reply_to=shown)
    assert len(world.model.requests) == 2


async def test_undo_takes_the_memory_back_and_strikes_the_confirmation(world: World) -> None:
    """SPEC §4.5."""
    shown = await told(world)
    await world.ana.click(shown, label="Undo")
    after = notice(world)
    assert after.embeds[0].title == "Saved · undone by Ana"
    assert after.embeds[0].colour == _render.GREY
    assert "~~" in words(after)
    assert labels(after) == []
    shelves = await world.engine.facts.shelves(world.person(world.ana), world.place(world.general))
    assert all(not shelf.memories for shelf in shelves)


async def test_a_second_press_is_told_that_it_was_undone_already(world: World) -> None:
    shown = await told(world)
    custom_id = f"ks:undo:{await notice_id(world)}"
    await world.ana.click(shown, custom_id=custom_id)
    late = await press_as_it_was(world, shown, custom_id)
    assert late.followups[0].ephemeral
    assert "already undone" in late.followups[0].content


async def notice_id(world: World) -> int:
    (row,) = notice(world).components
    return int(row.children[0].custom_id.rsplit(":", 1)[1])  # type: ignore[union-attr]


async def press_as_it_was(world: World, shown: discord.Message, custom_id: str):  # type: ignore[no-untyped-def]
    """A press that was on its way when the message was drawn again."""
    stored = world.env.backend.get_message(world.general.id, shown.id)
    kept = stored.components
    stored.components = [
        {"type": 1, "components": [{"type": 2, "style": 2, "label": "x", "custom_id": custom_id}]}
    ]
    result = await world.ana.click(shown, custom_id=custom_id)
    if stored.components and stored.components[0]["components"][0].get("label") == "x":
        stored.components = kept
    return result


@pytest.mark.parametrize("who", ["ben", "mara"])
@pytest.mark.parametrize("label", ["Undo", "Pin"])
async def test_nobody_else_can_touch_a_personal_memory(world: World, who: str, label: str) -> None:
    """SPEC §12."""
    shown = await told(world)
    result = await getattr(world, who).click(shown, label=label)
    assert result.followups[0].ephemeral
    assert notice(world).embeds[0].title == "Saved"
    (memory,) = await world.engine.facts.find(world.person(world.ana), world.place(world.general), "allergic")
    assert not memory.pinned


async def test_edit_is_refused_to_others_without_showing_the_text(world: World) -> None:
    shown = await told(world)
    result = await world.ben.click(shown, label="Edit")
    assert result.modal is None
    assert result.ephemeral


async def test_pin_and_unpin_by_the_confirmation(world: World) -> None:
    """SPEC §4.6."""
    shown = await told(world)
    await world.ana.click(shown, label="Pin")
    assert "pinned" in words(notice(world))
    assert labels(notice(world)) == ["Undo", "Unpin", "Edit"]
    await world.ana.click(notice(world), label="Unpin")
    assert "pinned" not in words(notice(world))


async def test_edit_opens_a_text_box_first_and_the_confirmation_shows_the_new_text(world: World) -> None:
    """SPEC §4.5."""
    shown = await told(world)
    box = await world.ana.click(shown, label="Edit")
    assert box.modal is not None
    await world.ana.submit_modal(box, {"text": "Ana is allergic to walnuts only"})
    assert notice(world).embeds[0].title == "Updated · by Ana"
    assert notice(world).embeds[0].colour == _render.UPDATED
    assert "walnuts only" in words(notice(world))
    assert "Show what changed" in labels(notice(world))


async def test_a_refused_edit_gives_the_typed_text_back(world: World) -> None:
    shown = await told(world)
    box = await world.ana.click(shown, label="Edit")
    long = "nuts " * 150
    refused = await world.ana.submit_modal(box, {"text": long})
    (answer,) = refused.followups
    assert answer.ephemeral
    again = await world.ana.click(answer, label="Edit again")
    assert long.strip() in json.dumps(again.modal)


async def test_the_old_text_is_shown_to_its_owner_only(world: World) -> None:
    """SPEC §4.5."""
    shown = await told(world)
    box = await world.ana.click(shown, label="Edit")
    await world.ana.submit_modal(box, {"text": "Ana can eat everything now"})
    assert "allergic" not in words(notice(world))
    own = await world.ana.click(notice(world), label="Show what changed")
    assert own.response is not None
    assert own.response.ephemeral
    assert "allergic" in json.dumps(own.response.embeds[0].to_dict())
    other = await world.mara.click(notice(world), label="Show what changed")
    assert other.response is not None
    assert other.response.ephemeral
    assert other.response.embeds == []


async def test_a_deleted_personal_text_is_never_shown_in_the_channel(world: World) -> None:
    """SPEC §4.5."""
    await told(world, "Ana fears spiders")
    (memory,) = await world.engine.facts.find(world.person(world.ana), world.place(world.general), "spiders")
    call = ToolCall("call_2", "delete_memory", json.dumps({"handle": f"m{memory.id}"}))
    world.model.say(call, "Forgotten.")
    await world.ana.send(world.general, world.call("forget that about the beasts"))
    assert notice(world).embeds[0].title == "Deleted"
    assert notice(world).embeds[0].colour == _render.DELETED
    assert "spiders" not in words(notice(world))


async def test_a_memory_about_somebody_else_waits_for_their_approval(world: World) -> None:
    """SPEC §4.4."""
    await world.ben.send(world.general, world.call("hello"))
    shown = await told(world, "Ben loves tea", user="Ben")
    assert shown.embeds[0].title == "Save this?"
    assert "Waits for Ben" in words(shown)
    assert labels(shown) == ["Approve", "Discard"]
    refused = await world.mara.click(shown, label="Approve")
    assert refused.followups[0].ephemeral
    await world.ben.click(shown, label="Approve")
    assert notice(world).embeds[0].title == "Saved · approved by Ben"
    assert "Undo" in labels(notice(world))


async def test_a_discarded_proposal_is_grey_and_writes_nothing(world: World) -> None:
    await world.ben.send(world.general, world.call("hello"))
    shown = await told(world, "Ben loves tea", user="Ben")
    result = await world.ben.click(shown, label="Discard")
    assert result.followups == []
    assert notice(world).embeds[0].title == "Discarded · by Ben"
    assert notice(world).embeds[0].colour == _render.GREY
    assert labels(notice(world)) == []


async def test_a_server_fact_by_a_member_waits_for_an_admin(world: World) -> None:
    """SPEC §4.4, §4.8."""
    shown = await told(world, "Quiet hours begin at ten", about="server")
    assert "may write this server" in words(shown)
    refused = await world.ben.click(shown, label="Approve")
    assert refused.followups[0].ephemeral
    await world.mara.click(shown, label="Approve")
    assert notice(world).embeds[0].title == "Saved · approved by Mara"


async def test_a_memory_saved_in_a_dm_can_be_used_everywhere(world: World) -> None:
    """SPEC §4.2, §4.5."""
    world.model.say(save("Ana is moving to Cebu"), "Noted.")
    await world.ana.send_dm("remember that I am moving to Cebu")
    dm = world.ana.user.dm_channel
    shown = [m for m in dm.history() if m.embeds][-1]
    assert "used in DMs only" in words(shown)
    await world.ana.user.click(shown, label="Use everywhere")
    shown = next(m for m in dm.history() if m.embeds)
    assert "used in DMs only" not in words(shown)


async def test_where_embeds_are_not_allowed_a_confirmation_is_plain_text(world: World) -> None:
    assert world.bot.user is not None
    plain = world.guild.create_text_channel(
        "plain", overwrites={world.bot.user: discord.PermissionOverwrite(embed_links=False)}
    )
    world.model.say(save("Ana is allergic to nuts"), "Noted.")
    await world.ana.send(plain, world.call("remember that I am allergic to nuts"))
    shown = plain.history()[-1]
    assert shown.embeds == []
    assert shown.content.startswith("**Saved**\n> Ana is allergic to nuts")
    assert labels(shown) == ["Undo", "Pin", "Edit"]


async def test_buttons_of_a_confirmation_work_after_a_restart(world: World) -> None:
    """SPEC §4.5."""
    shown = await told(world)
    await world.restart()
    await world.ana.click(shown, label="Undo")
    assert notice(world).embeds[0].title == "Saved · undone by Ana"


@pytest.mark.parametrize(
    "text",
    [
        "# A heading",
        "[click me](https://evil.example)",
        "https://evil.example/page",
        "```\ncode\n```",
        "> quote\n> quote",
        "@everyone <@&5> <#7>",
        "**bold** __under__ ~~gone~~ ||spoiler||",
        "\u202egnp.exe",
        "- list\n- list",
        "<t:1700000000:R> <:smile:123>",
    ],
)
def test_a_memory_can_fake_no_markup(text: str) -> None:
    quoted = _render.quote(text)
    assert re.search(r"(?<!\\)[*_~|`\[\]()<@:#]", quoted) is None
    assert "\u202e" not in quoted
    assert all(line.startswith("> ") and line[2] not in "#->" for line in quoted.splitlines())


def test_people_in_a_memory_are_shown_by_name_and_strangers_as_a_member() -> None:
    names = {5: "Ana_B"}
    shown = _render.quote("<@5> likes <@!6>", lambda i: names.get(i, "a member"))
    assert shown == "> \\@Ana\\_B likes \\@a member"


def test_a_scope_in_plain_words() -> None:
    assert _render.scope_words(Scope.user(1, "keepsake"), "Ana", persona="Keepsake", dm_only=True) == (
        "about Ana · Keepsake · used in DMs only"
    )
    assert _render.scope_words(Scope.server(1), "Inn", persona="") == (
        "about Inn · all personas · everybody in the server may be told"
    )
