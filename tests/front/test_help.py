from __future__ import annotations

from cogs.views.pages import units

from .reading import message_of, words
from .world import World


def _all_commands(world: World) -> list[str]:
    return list(world.mara.available_commands(world.general))


async def test_help_names_every_command_and_fits_on_one_page(world: World) -> None:
    shown = await world.ana.slash(world.general, "help")
    assert message_of(shown).ephemeral
    for name in _all_commands(world):
        assert name in words(shown), name
    assert units(words(shown)) <= 3_500
    assert "…" not in words(shown).splitlines()[-1]


async def test_help_tells_who_may_do_what(world: World) -> None:
    shown = await world.ana.slash(world.general, "help")
    assert "admins included" in words(shown)
    assert "Manage Server" in words(shown)
    assert "Use everywhere" in words(shown)


async def test_help_does_not_promise_more_privacy_than_there_is(world: World) -> None:
    shown = words(await world.ana.slash(world.general, "help"))
    assert "you alone see" not in shown
    assert "whoever reads a channel reads the confirmation" in shown
    assert "I may use what I know about you" in shown


async def test_help_works_in_a_direct_message(world: World) -> None:
    shown = await world.ana.user.slash("help")
    assert "How I remember" in words(shown)
    assert "/personal memories" in words(shown)


async def test_help_does_not_promise_a_summary_that_is_not_there(world: World) -> None:
    shown = await world.ana.slash(world.general, "help")
    has_summary = any(name.startswith("summary") for name in _all_commands(world))
    assert ("keeps none yet" in words(shown)) != has_summary
