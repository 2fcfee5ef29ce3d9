from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from PIL import Image, ImageFont

from cogs.context import ledger_words, reasons, table
from cogs.views import budget_picture
from memory.llm.port import ModelInfo, Role
from memory.prompt.ledger import Block, Entry, Kind, Ledger, Status

from .reading import message_of, words
from .world import ScriptedModel, World, make_world


async def test_a_preview_shows_the_numbers_the_picture_and_the_table_to_the_asker_alone(world: World) -> None:
    await world.ana.slash(world.general, "memory add", text="I play the cello")
    shown = await world.ana.slash(world.general, "context preview", text="What do I play?")
    assert message_of(shown).ephemeral
    assert "scripted" in words(shown)
    assert "o200k_base" in words(shown)
    assert "32,000" in words(shown)
    assert "Nothing was sent" in words(shown)
    assert "**Who would answer** **TestBot**" in words(shown)
    names = [a.filename for a in message_of(shown).attachments]
    assert names == ["budget.png", "blocks.txt"]
    assert world.model.requests == []


async def test_a_preview_changes_nothing(world: World) -> None:
    before = world.general.history()
    await world.ana.slash(world.general, "context preview")
    await world.ana.slash(world.general, "context preview", text="@everyone <|endoftext|>")
    assert [m.id for m in world.general.history(viewer=world.ben)] == [m.id for m in before]
    last = await world.ana.slash(world.general, "context last")
    assert "not answered anybody" in words(last)


async def test_the_last_turn_shows_what_it_used_and_what_it_cost(world: World) -> None:
    await world.ana.slash(world.general, "memory add", text="I play the cello")
    await world.ana.send(world.general, world.call("what do I play?"))
    shown = await world.ana.slash(world.general, "context last")
    assert message_of(shown).ephemeral
    assert "**Answered** **TestBot**" in words(shown)
    assert "100 tokens in" in words(shown)
    assert "m1" in words(shown)
    assert "[the reply](https://discord.com/channels/" in words(shown)


async def test_nobody_learns_anothers_memories_from_the_last_turn(world: World) -> None:
    """SPEC §12."""
    await world.ana.slash(world.general, "memory add", text="I play the cello")
    await world.ana.send(world.general, world.call("what do I play?"))
    for other in (world.mara, world.ben):
        shown = await other.slash(world.general, "context last")
        assert "cello" not in words(shown)
        assert "**Memories used** m1" not in words(shown)


async def test_the_snapshot_is_for_managers_and_in_a_dm_for_its_member(world: World) -> None:
    """SPEC §5."""
    refused = await world.ana.slash(world.general, "context snapshot")
    assert "Manage Server" in words(refused)
    assert not message_of(refused).attachments
    shown = await world.mara.slash(world.general, "context snapshot")
    assert message_of(shown).ephemeral
    assert [a.filename for a in message_of(shown).attachments] == ["prompt.txt"]
    own = await world.ana.user.slash("context snapshot")
    assert [a.filename for a in message_of(own).attachments] == ["prompt.txt"]


class SmallModel(ScriptedModel):
    """A model with hardly any room."""

    @property
    def info(self) -> ModelInfo:
        return ModelInfo("small", 2_200, "o200k_base", exact=True)


async def test_a_prompt_that_cannot_fit_is_said_with_the_numbers(tmp_path: Path) -> None:
    async with make_world(tmp_path, SmallModel()) as world:
        text = "many different words follow here " * 120
        await world.mara.slash(world.general, "config server", key="server_prompt", value=text)
        for who, command in ((world.ana, "context preview"), (world.mara, "context snapshot")):
            shown = await who.slash(world.general, command)
            said = "\n".join(words(each) for each in (shown, *shown.followups))
            assert "Nothing was sent" in said
            assert "Shorten the prompts" in said


def _ledger(*, window: int = 32_000, approximate: bool = False) -> Ledger:
    def block(kind: Kind, number: int, tokens: int) -> Block:
        at = datetime(2026, 3, 1, tzinfo=UTC)
        return Block(f"{kind.value}{number}", kind, kind.value, Role.SYSTEM, "words", tokens, at=at)

    inside = [Entry(block(kind, n, 40), Status.INCLUDED) for kind in Kind for n in range(3)]
    outside = [Entry(block(Kind.WINDOW, n, 90), Status.EXCLUDED, "over the budget") for n in range(5)]
    used = sum(entry.block.tokens for entry in inside)
    return Ledger(
        model="gpt-4.1-mini",
        encoding="o200k_base",
        approximate=approximate,
        context_window=window,
        reserve=1_024,
        budget=window - 1_024,
        used=used,
        strategy="truncate",
        entries=(*inside, *outside),
    )


def test_an_approximate_count_is_labelled() -> None:
    assert "approximate" in ledger_words(_ledger(approximate=True))
    assert "approximate" not in ledger_words(_ledger())


def test_what_was_left_out_is_named_with_its_reason() -> None:
    assert reasons(_ledger()) == "- 5 × window, 450 tokens: over the budget"
    assert "excluded" in table(_ledger())


def test_the_picture_is_a_png_whatever_the_ledger_holds() -> None:
    empty = Ledger("m", "e", True, 0, 0, 0, 0, "truncate", ())
    over = Ledger("模型", "e", True, 2_000, 1_024, 976, 5_000, "truncate", _ledger().entries)
    for ledger in (_ledger(), _ledger(window=1_000_000), _ledger(window=3_000), empty, over):
        image = Image.open(io.BytesIO(budget_picture.draw(ledger)))
        assert image.format == "PNG"
        assert image.width == budget_picture.WIDTH * budget_picture.SCALE


def test_the_letters_of_the_picture_are_as_large_as_those_of_the_message() -> None:
    assert budget_picture.WIDTH <= 560
    assert budget_picture.TYPE >= 15


def test_the_picture_has_room_for_the_largest_numbers_and_names() -> None:
    """Nothing in a row of the legend runs into its neighbour."""
    font = ImageFont.load_default(budget_picture.TYPE)
    place = budget_picture.Columns
    name = max(font.getlength(kind.label.capitalize()) for kind in Kind)
    assert place.name + name < place.left_out
    assert place.name + font.getlength("Kept for reply and tools") < place.tokens - font.getlength(
        "1,048,576"
    )
    assert place.left_out + font.getlength("1,200 left out") < place.tokens - font.getlength("1,048,576")
    assert place.share - font.getlength("100.0 %") > place.tokens


def test_a_share_is_never_nothing_when_something_is_there() -> None:
    assert budget_picture.share(1, 1_000_000) == "< 0.1 %"
    assert budget_picture.share(0, 1_000_000) == "0.0 %"
    assert budget_picture.share(428, 16_384) == "2.6 %"
    assert budget_picture.share(5, 0) == "500.0 %"


def test_the_numbers_above_the_picture_say_what_they_are_shares_of() -> None:
    limit, used = ledger_words(_ledger()).splitlines()[1:]
    assert limit == "**Limit** 32,000 tokens · **kept for reply and tools** 1,024"
    assert used == "**Used** 1,800 of the other 30,976 (6 %) · **strategy** truncate"


def test_blocks_that_stand_for_many_are_counted_as_many() -> None:
    block = Block("x", Kind.PERSONAL_MEMORIES, "x", Role.SYSTEM, "", 10, entries=120)
    ledger = replace(_ledger(), entries=(Entry(block, Status.EXCLUDED, "not called"),))
    (part,) = budget_picture.parts(ledger)
    assert part.left_out == 120
    assert reasons(ledger) == "- 120 × personal memories, 10 tokens: not called"


def test_the_bar_is_filled_exactly_and_everything_in_it_is_seen() -> None:
    for sizes in ([1, 1_000_000, 0, 5], [3], [1] * 17, [0, 0], [10, 0, 10**9, 1]):
        found = budget_picture.widths(sizes, 1_872)
        assert sum(found) == (1_872 if any(sizes) else 0)
        assert all(
            (width >= budget_picture.LEAST_PIXELS) == (size > 0)
            for size, width in zip(sizes, found, strict=True)
        )


def test_every_kind_has_its_own_colour() -> None:
    assert set(budget_picture.COLOURS) == set(Kind)
    assert len(set(budget_picture.COLOURS.values())) == len(Kind)


def test_every_kind_of_block_is_counted_once() -> None:
    found = budget_picture.parts(_ledger())
    assert [part.kind for part in found] == list(Kind)
    assert sum(part.tokens for part in found) == _ledger().used
    assert next(part for part in found if part.kind is Kind.WINDOW).left_out == 5


def test_what_a_keyword_called_is_named_so_that_people_understand_it() -> None:
    block = Block("x", Kind.ACTIVATED, "x", Role.SYSTEM, "", 10)
    ledger = replace(_ledger(), entries=(Entry(block, Status.EXCLUDED, "no room"),))
    for said in (table(ledger), reasons(ledger)):
        assert "entries called by a keyword" in said and "activated" not in said
