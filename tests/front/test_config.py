from __future__ import annotations

import discord
import pytest
from discord import app_commands
from simcord.backend.errors import SetupError

from cogs.config import Configuration

from .reading import labels, message_of, modal_text, words
from .world import World


async def test_an_admin_sees_every_setting_with_a_button(world: World) -> None:
    shown = await world.mara.slash(world.general, "config show")
    assert message_of(shown).ephemeral
    for title in ("Members may write", "Detail level", "Server prompt", "Saving from chat", "Audit channel"):
        assert title in words(shown)
    assert labels(shown) == [
        *("This channel", "Turn on", "Use detailed", "Edit", "Use ask", "Use compact", "Choose", "Turn off")
    ]
    await world.mara.click(message_of(shown), label="This channel")
    for title in ("Detail level", "Channel prompt", "Answer every", "Memory mode", "Memories of several"):
        assert title in words(shown)
    assert labels(shown) == [
        *("This server", "Use detailed", "Edit", "Turn on", "Use incognito", "Use compact", "Use union")
    ]
    assert "`/persona use`" not in words(shown)


async def test_a_switch_is_one_press(world: World) -> None:
    shown = await world.mara.slash(world.general, "config show")
    (access,) = [b for b in _ids(shown) if b[0] == "Turn on"]
    await world.mara.click(message_of(shown), custom_id=access[1])
    assert (await world.engine.config.get(world.place(world.general))).member_access
    assert "**Members may write server memories: on**, in this server" in words(shown)


def _ids(shown: object) -> list[tuple[str, str]]:
    from .reading import ids

    return [(label, one) for label in ("Turn on", "Edit") for one in ids(shown, label)]


async def test_a_prompt_is_written_in_a_box_and_a_too_long_one_is_offered_back(world: World) -> None:
    shown = await world.mara.slash(world.general, "config show")
    edit = next(one for label, one in _ids(shown) if label == "Edit")
    box = await world.mara.click(message_of(shown), custom_id=edit)
    await world.mara.submit_modal(box, {"text": "Speak in rhyme."})
    assert (await world.engine.config.get(world.place(world.general))).server_prompt == "Speak in rhyme."
    edit = next(one for label, one in _ids(shown) if label == "Edit")
    again = await world.mara.click(message_of(shown), custom_id=edit)
    assert modal_text(again) == "Speak in rhyme."
    await world.mara.submit_modal(again, {"text": ""})
    assert (await world.engine.config.get(world.place(world.general))).server_prompt == ""


async def test_a_value_is_set_by_command_at_either_level(world: World) -> None:
    place = world.place(world.general)
    await world.mara.slash(world.general, "config server", key="detail", value="essential")
    assert (await world.engine.config.get(place)).detail.value == "essential"
    said = await world.mara.slash(world.general, "config channel", key="detail", value="detailed")
    assert "in this channel" in words(said)
    assert (await world.engine.config.get(place)).detail.value == "detailed"
    await world.mara.slash(world.general, "config channel", key="detail", value="default")
    assert (await world.engine.config.get(place)).detail.value == "essential"


async def test_values_are_offered_for_the_chosen_setting(world: World) -> None:
    switch = await world.mara.autocomplete(world.general, "config server", "value", "", key="member_access")
    assert [c["value"] for c in switch] == ["on", "off", "default"]
    detail = await world.mara.autocomplete(world.general, "config channel", "value", "bal", key="detail")
    assert [c["value"] for c in detail] == ["balanced"]
    text = await world.mara.autocomplete(world.general, "config server", "value", "", key="server_prompt")
    assert text == []


async def test_a_long_text_opens_a_box(world: World) -> None:
    box = await world.mara.slash(world.general, "config channel", key="channel_prompt")
    said = await world.mara.submit_modal(box, {"text": "You are the keeper."})
    assert "Channel prompt: 19 characters" in words(said)
    assert (await world.engine.config.get(world.place(world.general))).channel_prompt == "You are the keeper."
    again = await world.mara.slash(world.general, "config channel", key="channel_prompt")
    assert modal_text(again) == "You are the keeper."


@pytest.mark.parametrize("value", ["perhaps", "@everyone", "", "🦊" * 600])
async def test_a_bad_value_is_refused_in_plain_words(world: World, value: str) -> None:
    if value:
        said = await world.mara.slash(world.general, "config server", key="member_access", value=value)
        assert "on or off" in words(said)
    else:
        said = await world.mara.slash(world.general, "config server", key="member_access")
        assert "Choose a value" in words(said)


async def test_members_do_not_even_see_the_command(world: World) -> None:
    with pytest.raises(SetupError, match="not visible"):
        await world.ana.slash(world.general, "config show")


async def test_the_right_is_asked_for_again_even_when_a_server_lets_members_see_the_command(
    world: World,
) -> None:
    command = world.env.backend.find_command("config", world.guild.id, type=1)
    assert command is not None
    world.guild.set_command_permissions(int(command["id"]), {world.ana: True})
    said = await world.ana.slash(world.general, "config server", key="member_access", value="on")
    assert "Manage Server" in words(said)
    assert not (await world.engine.config.get(world.place(world.general))).member_access
    shown = await world.ana.slash(world.general, "config show")
    assert labels(shown) == ["This channel"]


async def test_losing_the_right_while_the_panel_is_open_changes_nothing(world: World) -> None:
    shown = await world.mara.slash(world.general, "config show")
    world.env.backend.get_guild(world.guild.id).members[world.mara.id].role_ids.clear()
    first = next(one for label, one in _ids(shown) if label == "Turn on")
    await world.mara.click(message_of(shown), custom_id=first)
    assert "Manage Server" in words(shown)
    assert not (await world.engine.config.get(world.place(world.general))).member_access


async def test_a_member_sets_their_own_direct_messages(world: World) -> None:
    shown = await world.ana.user.slash("config show")
    assert "What I remember in this conversation." in words(shown) and "threads" not in words(shown)
    assert "Our direct messages" in words(shown)
    assert "Members may write" not in words(shown)
    said = await world.ana.user.slash("config channel", key="detail", value="detailed")
    assert "in our direct messages" in words(said)
    refused = await world.ana.user.slash("config server", key="member_access", value="on")
    assert "servers" in words(refused)


async def test_a_prompt_is_never_lost_when_it_is_refused(world: World) -> None:
    box = await world.mara.slash(world.general, "config channel", key="channel_prompt")
    world.env.backend.get_guild(world.guild.id).members[world.mara.id].role_ids.clear()
    said = await world.mara.submit_modal(box, {"text": "A long prompt that took an hour."})
    assert "Manage Server" in words(said)
    again = await world.mara.click(message_of(said), label="Try again with my words")
    assert modal_text(again) == "A long prompt that took an hour."


async def test_the_panel_shows_what_is_set_at_each_level(world: World) -> None:
    await world.mara.slash(world.general, "config server", key="detail", value="essential")
    await world.mara.slash(world.general, "config channel", key="detail", value="detailed")
    shown = await world.mara.slash(world.general, "config show")
    assert "Detail level: **essential**" in words(shown)
    assert "set for this server" in words(shown)
    await world.mara.click(message_of(shown), label="This channel")
    assert "Detail level: **detailed**" in words(shown)
    assert "set for this channel" in words(shown)


async def test_a_refused_prompt_stays_in_the_panel_until_it_is_saved_or_discarded(world: World) -> None:
    shown = await world.mara.slash(world.general, "config show")
    edit = next(one for label, one in _ids(shown) if label == "Edit")
    box = await world.mara.click(message_of(shown), custom_id=edit)
    roles = world.env.backend.get_guild(world.guild.id).members[world.mara.id].role_ids
    kept = list(roles)
    roles.clear()
    await world.mara.submit_modal(box, {"text": "An hour of work."})
    assert "Manage Server" in words(shown)
    roles.extend(kept)
    again = await world.mara.click(message_of(shown), label="Try again with my words")
    assert modal_text(again) == "An hour of work."
    await world.mara.submit_modal(again, {"text": "An hour of work."})
    assert (await world.engine.config.get(world.place(world.general))).server_prompt == "An hour of work."
    assert "Try again with my words" not in labels(shown)


async def test_an_audit_channel_is_chosen_from_a_list_and_taken_back(world: World) -> None:
    shown = await world.mara.slash(world.general, "config show")
    await world.mara.click(message_of(shown), label="Choose")
    await world.mara.select(message_of(shown), [world.tavern])
    assert f"**Audit channel: <#{world.tavern.id}>**, in this server" in words(shown)
    assert (await world.engine.config.get(world.place(world.general))).audit_channel == world.tavern.id
    await world.mara.click(message_of(shown), label="Choose")
    await world.mara.click(message_of(shown), label="No channel")
    assert (await world.engine.config.get(world.place(world.general))).audit_channel == 0


async def test_an_audit_channel_where_i_cannot_post_is_refused_with_what_is_missing(world: World) -> None:
    deny = discord.PermissionOverwrite(send_messages=False)
    assert world.bot.user is not None
    mute = world.guild.create_text_channel("mute", overwrites={world.bot.user: deny})
    other = world.env.create_guild("Far Harbour").create_text_channel("docks")
    voice = world.guild.create_category("rooms")
    for value, why in (
        (f"<#{mute.id}>", "I lack Send Messages there"),
        (str(other.id), "of this server"),
        (str(voice.id), "of this server"),
        ("12345", "of this server"),
        ("somewhere", "must be a channel of this server"),
    ):
        said = await world.mara.slash(world.general, "config server", key="audit_channel", value=value)
        assert why in words(said)
        assert "Nothing was changed" in words(said)
    assert (await world.engine.config.get(world.place(world.general))).audit_channel == 0
    shown = await world.mara.slash(world.general, "config show")
    await world.mara.click(message_of(shown), label="Choose")
    await world.mara.select(message_of(shown), [mute])
    assert "I lack Send Messages there" in words(shown)
    assert (await world.engine.config.get(world.place(world.general))).audit_channel == 0


async def test_an_audit_channel_is_set_by_command_from_the_offered_channels(world: World) -> None:
    offered = await world.mara.autocomplete(
        world.general, "config server", "value", "tav", key="audit_channel"
    )
    assert [c["value"] for c in offered] == [str(world.tavern.id)]
    await world.mara.slash(world.general, "config server", key="audit_channel", value=offered[0]["value"])
    assert (await world.engine.config.get(world.place(world.general))).audit_channel == world.tavern.id


def test_a_setting_is_found_by_its_key_and_by_its_title() -> None:
    for level in ("server", "channel"):
        command = Configuration.config.get_command(level)
        assert isinstance(command, app_commands.Command)
        key = command.get_parameter("key")
        assert key is not None and key.choices
        assert all(choice.name.endswith(f" ({choice.value})") for choice in key.choices)
