from __future__ import annotations

import re

import discord
import pytest
from discord import app_commands

from cogs.views.help_panel import PAGE_UNITS, Topic, words_of
from cogs.views.pages import CUT, MAX_COMPONENTS, units
from cogs.views.panel import AWAKE

from .reading import double_click, labels, message_of, raw, walk_components, words
from .world import World

TABS = [topic.value for topic in Topic]


def _named(said: str) -> set[str]:
    """The slash commands that a page names: `/group one · two` is two of them."""
    found = set()
    for line in re.findall(r"^`/([^`]+)`", said, re.MULTILINE):
        group, *others = line.split(" · ")
        first, _, _ = group.rpartition(" ")
        found |= {group, *(f"{first} {other}" for other in others)}
    return found


def _slash_commands(world: World) -> set[str]:
    walked = world.bot.tree.walk_commands()
    return {c.qualified_name for c in walked if isinstance(c, app_commands.Command)}


def _menus(world: World) -> set[str]:
    found = world.bot.tree.get_commands(type=discord.AppCommandType.message)
    return {command.name for command in found}


async def test_the_commands_tab_names_every_command(world: World) -> None:
    said = words(await world.ana.slash(world.general, "help", topic="COMMANDS"))
    assert len(_slash_commands(world)) > 30
    assert _named(said) == _slash_commands(world)
    assert len(_menus(world)) == 5
    for name in _menus(world):
        assert name in said, name


async def test_a_new_command_appears_by_itself(world: World) -> None:
    @app_commands.command(name="lantern", description="Light the lantern")
    async def lantern(_interaction: discord.Interaction) -> None:
        """Nothing."""

    outer = app_commands.Group(name="outer", description="The outer room")
    inner = app_commands.Group(name="inner", description="The inner room", parent=outer)
    inner.command(name="door", description="The door")(lantern.callback)
    world.bot.tree.add_command(lantern)
    world.bot.tree.add_command(outer)
    said = words_of(Topic.COMMANDS, world.bot.tree.get_commands(), dm=False)
    assert {"lantern", "outer inner door"} <= _named(said)
    assert "`/lantern` Light the lantern" in said


@pytest.mark.parametrize("topic", list(Topic), ids=lambda topic: topic.name)
async def test_every_tab_fits_and_nothing_is_cut(world: World, topic: Topic) -> None:
    shown = await world.ana.slash(world.general, "help", topic=topic.name)
    assert message_of(shown).ephemeral
    whole = words_of(topic, world.bot.tree.get_commands(), dm=False)
    assert words(shown) == whole
    assert units(whole) < PAGE_UNITS
    assert not whole.endswith(CUT)
    assert len(list(walk_components(raw(shown)))) < MAX_COMPONENTS


async def test_help_opens_on_the_start_and_turns_to_each_tab(world: World) -> None:
    shown = await world.ana.slash(world.general, "help")
    assert "How I remember" in words(shown)
    assert "Pinned memories are always kept in mind" in words(shown)
    for tab, says in (
        ("Commands", "/memory add"),
        ("Tagging", "always on"),
        ("Personas and rights", "Who may do what"),
        ("Start", "Mention me, reply to me"),
    ):
        await world.ana.click(message_of(shown), label=tab)
        assert says in words(shown), tab
        assert labels(shown) == [name for name in TABS if name != tab]


async def test_tagging_says_what_the_tags_do_and_where_they_are_set(world: World) -> None:
    """SPEC §7."""
    said = words(await world.ana.slash(world.general, "help", topic="TAGGING"))
    for says in (
        "**Without keywords** it is always on",
        '**A keyword in "quotes"** counts only as a whole word',
        "both must fit",
        "**Pinned** memories don't wait for their keywords. Their channels count.",
        "`/memory tag`",
        "`/config server`",
    ):
        assert says in said


async def test_help_tells_who_may_do_what(world: World) -> None:
    said = words(await world.ana.slash(world.general, "help", topic="RIGHTS"))
    assert "admins included" in said
    assert "Manage Server" in said
    assert "Use everywhere" in said


async def test_help_does_not_promise_more_privacy_than_there_is(world: World) -> None:
    said = words(await world.ana.slash(world.general, "help", topic="RIGHTS"))
    assert "you alone see" not in said
    assert "whoever reads a channel reads the confirmation" in said
    assert "I may use what I know about you" in said


async def test_in_a_direct_message_what_is_for_servers_is_left_out(world: World) -> None:
    assert "How I remember" in words(await world.ana.user.slash("help"))
    said = words(await world.ana.user.slash("help", topic="COMMANDS"))
    assert {"personal memories", "config show", "persona use"} <= _named(said)
    for name in ("config server", "persona create", "persona edit", "persona delete", "persona import"):
        assert name not in _named(said), name
    assert "Fork here" not in said and "Regenerate" in said
    assert "Manage Server" not in said
    assert "/config server" not in words(await world.ana.user.slash("help", topic="TAGGING"))


async def test_a_double_click_turns_the_tab_once(world: World) -> None:
    shown = await world.ana.slash(world.general, "help")
    first, second = await double_click(world.ana, message_of(shown), "Tagging")
    assert "## Tagging" in words(shown)
    assert first.acknowledged and second.acknowledged
    assert not first.followups and not second.followups


async def test_only_who_opened_it_turns_its_tabs(world: World) -> None:
    shown = await world.ana.slash(world.general, "help")
    refused, _ = await double_click(world.ben, message_of(shown), "Commands")
    assert "belongs to who opened it" in words(refused)
    assert "How I remember" in words(shown)


async def test_after_a_while_it_sleeps_and_says_how_to_open_it_again(world: World) -> None:
    shown = await world.ana.slash(world.general, "help")
    (panel,) = [p for p in AWAKE.values() if p.command == "help" and p.client is world.bot]
    await panel.sleep()
    assert "asleep. Run `/help`" in words(shown)
    assert labels(shown) == []


async def test_a_press_after_a_restart_is_answered(world: World) -> None:
    shown = await world.ana.slash(world.general, "help")
    message = message_of(shown)
    await world.restart()
    await world.ana.click(message, label="Commands")
    assert "asleep. Run `/help`" in words(message)


async def test_help_does_not_promise_a_summary_that_is_not_there(world: World) -> None:
    shown = await world.ana.slash(world.general, "help")
    has_summary = any(name.startswith("summary") for name in _slash_commands(world))
    assert ("keeps none yet" in words(shown)) != has_summary
