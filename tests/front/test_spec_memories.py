"""SPEC §4.1 (budgets) and §4.2 (what a turn is given), as people see them in Discord.

The rules that other files of this folder show already name their section there.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from simcord.components import walk_components

from memory.llm.port import ModelInfo
from memory.settings import Settings
from memory.types import DEFAULT_LINEAGE, GLOBAL, Scope

from .persona_hands import create, personas
from .reading import words
from .spec_hands import (
    answer,
    given,
    hear,
    kept,
    mine,
    prompt,
    put,
    save,
    set_server,
    shared,
    tell,
    texts,
    update,
)
from .world import ScriptedModel, World, make_world

# --- §4.1: budgets ----------------------------------------------------------------------------------------

DEFAULTS = [
    pytest.param("server", 100, 0, id="SPEC §4.1 unpinned entries per server scope"),
    pytest.param("user", 100, 0, id="SPEC §4.1 unpinned entries per user scope"),
    pytest.param("server", 0, 20, id="SPEC §4.1 pinned entries per server scope"),
    pytest.param("user", 0, 20, id="SPEC §4.1 pinned entries per user scope"),
]


@pytest.mark.parametrize(("subject", "unpinned", "pinned"), DEFAULTS)
async def test_a_full_scope_refuses_with_the_counts_and_removes_nothing(
    world: World, subject: str, unpinned: int, pinned: int
) -> None:
    """SPEC §4.1: one more than fits is refused; the other budget and other scopes have room."""
    who, scope = (world.mara, shared(world)) if subject == "server" else (world.ana, mine(world))
    full, other = bool(pinned), not pinned
    await put(world, scope, *(f"fact {n}" for n in range(unpinned + pinned - 1)), pinned=full)
    options = {"scope": f"{subject}_persona", "pinned": full}
    last = await who.slash(world.general, "memory add", text="the last place", **options)
    assert "Saved" in answer(last)
    before = await kept(world, scope)
    refused = answer(await who.slash(world.general, "memory add", text="one too many", **options))
    kind = "pinned" if full else "unpinned"
    counts = f"{unpinned} unpinned and {pinned} pinned entries, and the limit is {unpinned + pinned} {kind}"
    assert counts in refused and "nothing was removed" in refused
    assert ("Unpin or delete a pinned entry" if full else "Delete or pin an entry") in refused
    assert await kept(world, scope) == before
    on_top = await who.slash(
        world.general, "memory add", text="beside it", scope=options["scope"], pinned=other
    )
    elsewhere = await who.slash(
        world.general, "memory add", text="elsewhere", scope=f"{subject}_global", pinned=full
    )
    assert "Saved" in answer(on_top) and "Saved" in answer(elsewhere)


VARIABLES = {
    "MAX_SERVER_MEMORIES": "2",
    "MAX_PERSONAL_MEMORIES": "3",
    "MAX_PINNED_MEMORIES": "1",
    "MAX_MEMORY_LENGTH": "40",
    "MAX_INJECTED_MEMORIES": "4",
}


def limits(variables: dict[str, str]) -> dict[str, Any]:
    """The settings that these variables of the environment give."""
    chosen, _ = Settings.load(variables)
    return {name.lower(): getattr(chosen, name.lower()) for name in variables}


async def test_each_limit_is_set_by_its_variable(tmp_path: Path) -> None:
    """SPEC §4.1: the column "variable"."""
    async with make_world(tmp_path, **limits(VARIABLES)) as world:
        await put(world, shared(world), "s1", "s2")
        await put(world, mine(world), "a1", "a2", "a3")
        await put(world, mine(world, GLOBAL), "g1", "g2", "g3")
        await put(world, mine(world), "pinned", pinned=True)
        panels = [(world.mara, "memories", "2 of 2 unpinned · 0 of 1 pinned")]
        panels.append((world.ana, "personal memories", "3 of 3 unpinned · 1 of 1 pinned"))
        for who, command, counts in panels:
            assert counts in words(await who.slash(world.general, command))
        rows: list[tuple[Any, dict[str, Any], str]] = [
            (world.mara, {"scope": "server_persona"}, "the limit is 2 unpinned"),
            (world.ana, {}, "the limit is 3 unpinned"),
            (world.ana, {"pinned": True}, "the limit is 1 pinned"),
            (world.ana, {"text": "x" * 41}, "41 characters and the limit is 40"),
        ]
        for who, options, said in rows:
            refused = await who.slash(world.general, "memory add", **{"text": "new"} | options)
            assert said in words(refused)
        everything = {"s1", "s2", "a1", "a2", "a3", "g1", "g2", "g3"}
        assert len(given(await hear(world), everything)) == 4


async def test_a_limit_that_is_no_number_above_zero_falls_back_to_the_default(tmp_path: Path) -> None:
    """SPEC §4.1: the default holds, and there is a warning for each at start."""
    bad = dict(zip(VARIABLES, ("many", "0", "-5", "1.5", "1e3"), strict=True))
    _, warnings = Settings.load(bad)
    assert [name for name in VARIABLES if not any(name in line for line in warnings)] == []
    async with make_world(tmp_path, **limits(bad)) as world:
        for who, command in ((world.mara, "memories"), (world.ana, "personal memories")):
            assert "0 of 100 unpinned · 0 of 20 pinned" in words(await who.slash(world.general, command))
        long = await world.ana.slash(world.general, "memory add", text="x" * 501)
        assert "the limit is 500" in words(long)
        await put(world, mine(world), *(f"fact {n}" for n in range(101)))
        assert len(given(await hear(world), {f"fact {n}" for n in range(101)})) == 100


async def test_a_memory_is_recent_for_seven_days_after_its_last_change(world: World) -> None:
    """SPEC §4.1: in the prompt and in the panel."""
    await world.ana.slash(world.general, "memory add", text="Likes tea")
    day = 24 * 3_600
    for passed, recent in ((7 * day - 3_600, True), (2 * 3_600, False)):
        await world.env.advance_time(passed)
        assert ("- m1 Likes tea (recent)" in await hear(world)) == recent
        panel = words(await world.ana.slash(world.general, "personal memories"))
        assert ("recent" in panel) == recent and "Likes tea" in panel
    box = await world.ana.slash(world.general, "memory edit", entry="m1")
    await world.ana.submit_modal(box, {"text": "Likes green tea"})
    assert "- m1 Likes green tea (recent)" in await hear(world)


async def test_a_keyword_has_fifty_characters_at_most_and_an_entry_five_channels(world: World) -> None:
    """SPEC §4.1: tags per entry. Six keywords are refused in test_keeping.py."""
    await world.ana.slash(world.general, "memory add", text="Likes tea", keywords="k" * 50)
    refused = await world.ana.slash(world.general, "memory add", text="Likes rain", keywords="k" * 51)
    assert "51" in words(refused) and "50" in words(refused)
    assert [m.keywords for m in await kept(world, mine(world))] == [("k" * 50,)]
    box = await world.ana.slash(world.general, "memory tag", entry="m1")
    assert box.modal is not None
    (picker,) = [c for c in walk_components(box.modal["components"]) if c.get("custom_id") == "channels"]
    assert picker["max_values"] == 5


# --- §4.2: what a turn is given ---------------------------------------------------------------------------


async def test_a_turn_is_given_the_scopes_in_play_and_no_others(world: World) -> None:
    """SPEC §4.2: S·P, S·global, and U·P and U·global of each member in play; in a DM that user's two."""
    far = world.env.create_guild("Far Harbour")
    people = {"ana": world.ana, "ben": world.ben, "mara": world.mara}
    scopes = {f"{name} {lineage or 'all'}": Scope.user(actor.id, lineage) for name, actor in people.items()
              for lineage in (DEFAULT_LINEAGE, GLOBAL, "other")}  # fmt: skip
    for name, guild in (("server", world.guild), ("far", far)):
        for lineage in (DEFAULT_LINEAGE, GLOBAL, "other"):
            scopes[f"{name} {lineage or 'all'}"] = Scope.server(guild.id, lineage)
    for text, scope in scopes.items():
        await put(world, scope, text)
    await world.ben.send(world.general, world.call("hello"))
    said = await hear(world, f"what of {world.mara.mention}?")
    here = {f"{who} {lineage}" for who in ("server", "ana", "ben") for lineage in ("keepsake", "all")}
    assert given(said, scopes) == here, "a mention puts nobody in play"
    await world.ana.send_dm("hello")
    assert given(prompt(world), scopes) == {"ana keepsake", "ana all"}


async def test_ten_members_are_in_play_at_most(world: World) -> None:
    """SPEC §1, §4.2: the most recent human authors, who calls before all others."""
    for number in range(12):
        guest = world.guild.add_member(world.env.create_user(f"guest{number}"))
        await put(world, Scope.user(guest.id), f"guest {number}")
        await guest.send(world.general, world.call("hello") if not number else "hello")
    await put(world, mine(world), "Ana's own")
    everybody = {f"guest {n}" for n in range(12)} | {"Ana's own"}
    assert given(await hear(world), everybody) == {f"guest {n}" for n in range(3, 12)} | {"Ana's own"}


async def test_all_pins_are_given_whole_and_a_hundred_others_newest_first_and_evenly(world: World) -> None:
    """SPEC §4.2: what a small scope leaves goes to the others; what its tags leave out takes no place."""
    scopes = {
        "server": shared(world),
        "small": shared(world, GLOBAL),
        "mine": mine(world),
        "global": mine(world, GLOBAL),
    }
    for name, scope in scopes.items():
        await put(world, scope, *(f"{name} {n}" for n in range(10 if name == "small" else 100)))
    await put(world, mine(world), *(f"unheard {n}" for n in range(20)), keywords=("zebra",))
    pinned = "p" * 500
    await put(world, mine(world), pinned, *(f"pin {n}" for n in range(19)), pinned=True)
    said = await hear(world)
    found = {
        name: sorted(int(n) for n in re.findall(rf"^- m\d+ {name} (\d+)", said, re.MULTILINE))
        for name in (*scopes, "pin", "unheard")
    }
    assert found.pop("pin") == list(range(19)) and f" {pinned} " in said
    assert found.pop("unheard") == [] and found.pop("small") == list(range(10))
    assert sum(map(len, found.values())) == 90
    for name, numbers in found.items():
        assert len(numbers) == 30 and numbers == list(range(70, 100)), name


async def test_what_was_changed_last_is_the_newest_and_lines_stand_oldest_first(world: World) -> None:
    """SPEC §4.2: newest by update; rendered oldest first, so that an addition appends; stable handles."""
    await set_server(world, "autosave", "on")
    await put(world, mine(world), *(f"fact {n}" for n in range(101)))
    everything = {f"fact {n}" for n in range(101)} | {"fact 0 again"}
    assert "fact 0" not in given(await hear(world), everything)
    await world.env.advance_time(60)
    box = await world.ana.slash(world.general, "memory edit", entry="m1")
    await world.ana.submit_modal(box, {"text": "fact 0 again"})
    said = await hear(world)
    assert given(said, everything) == everything - {"fact 0", "fact 1"}
    handles = [int(number) for number in re.findall(r"^- m(\d+) fact", said, re.MULTILINE)]
    assert handles == [1, *range(3, 102)]


async def test_only_handles_of_the_present_prompt_are_accepted(world: World) -> None:
    """SPEC §4.2: another member's, a DM's, one that was not given and one that never was are the same."""
    await put(world, Scope.user(world.mara.id, DEFAULT_LINEAGE), "Mara sings")
    await put(world, mine(world), "Said in a DM", dm_only=True)
    await put(world, mine(world), "Unheard", keywords=("zebra",))
    for handle in ("m1", "m2", "m3", "m9", "m0"):
        answered = await tell(world, update(handle, "Something else"))
        assert answered.startswith("error") or answered.startswith("not_"), answered
        assert not any(word in answered for word in ("sings", "DM", "Unheard"))
    assert await texts(world, mine(world)) == ["Said in a DM", "Unheard"]


async def test_other_members_pins_share_a_quarter_and_the_preview_names_what_is_left_out(
    tmp_path: Path,
) -> None:
    """SPEC §4.2: the server's pins and those of who calls are protected."""

    class Small(ScriptedModel):
        @property
        def info(self) -> ModelInfo:
            return ModelInfo("small", 12_000, "o200k_base", exact=True)

    async with make_world(tmp_path, Small()) as world:
        long = "keeps many promises about the lantern festival and the boats " * 7
        bens = Scope.user(world.ben.id), Scope.user(world.ben.id, DEFAULT_LINEAGE)
        for name, scope in (("ana", mine(world)), ("server", shared(world)), *(("ben", s) for s in bens)):
            await put(world, scope, *(f"{name} {n} {long}" for n in range(20)), pinned=True)
        await world.ben.send(world.general, world.call("hello"))
        said = await hear(world)
        assert world.said_by_bot(world.general)[-1].content == "I hear you."
        count = {name: len(re.findall(rf"- m\d+ {name} \d", said)) for name in ("ana", "ben", "server")}
        assert count["ana"] == count["server"] == 20 and 0 < count["ben"] < 40
        preview = words(await world.ana.slash(world.general, "context preview"))
        assert f"{40 - count['ben']} × personal memories" in preview
        assert "pins of members who did not call the bot share at most 25 % of the budget" in preview


async def test_personas_of_one_channel_are_isolated_unless_an_admin_sets_union(world: World) -> None:
    """SPEC §4.2: in union the server memories of the cast, never anybody's personal ones."""
    await create(world, "Aria", triggers="aria")
    await create(world, "Rook", triggers="rook")
    aria, rook = await personas(world)
    for persona in (aria, rook):
        await put(world, shared(world, persona.lineage), f"{persona.name} knows the inn")
        await put(world, mine(world, persona.lineage), f"{persona.name} knows Ana")
    await put(world, shared(world, GLOBAL), "Everybody knows the well")
    known = {f"{p.name} knows {what}" for p in (aria, rook) for what in ("the inn", "Ana")}
    expected = {"Aria knows the inn", "Aria knows Ana", "Everybody knows the well"}
    for more in (set(), {"Rook knows the inn"}):
        for name in ("Rook", "Aria"):
            await world.ana.send(world.general, f"{name}, are you there?")
        assert given(prompt(world), known | expected) == expected | more
        await set_server(world, "persona_memories", "union", channel=world.general)


async def test_what_was_saved_in_a_dm_is_used_there_only_until_its_owner_widens_it(world: World) -> None:
    """SPEC §4.2: by the button on the confirmation."""
    world.model.say(save("Ana is moving to Cebu"), "Noted.")
    await world.ana.send_dm("remember that I am moving to Cebu")
    moving = {"Ana is moving to Cebu"}
    await world.ana.send_dm("where to?")
    assert given(prompt(world), moving) == moving and given(await hear(world), moving) == set()
    (card,) = [m for m in world.ana.user.dm_channel.history() if m.embeds]
    await world.ana.user.click(card, label="Use everywhere")
    assert given(await hear(world), moving) == moving
