"""Keywords and channels of an entry: set within the limits, journaled, taken back (SPEC §4.1, §7)."""

from __future__ import annotations

import pytest

from memory.facts.outcomes import OutcomeKind as Kind
from memory.facts.service import Facts
from memory.store import Store
from memory.types import Op
from tests.facts.world import (
    ADMIN,
    ANA,
    ANAS,
    ANAS_DM,
    BEN,
    SERVER,
    SQUARE,
    Desk,
    everything,
    journal_id,
    saved,
    texts,
)


async def test_an_entry_gets_all_its_keywords_and_channels_and_is_journaled(
    facts: Facts, store: Store
) -> None:
    memory = await saved(facts, "Likes tea")
    tagged = await facts.tag(ANA, SQUARE, memory.id, ("tea", '"café"', "TEA"), (7, 8, 7))
    assert tagged.kind is Kind.TAGGED and tagged.journal is not None and tagged.journal.op is Op.TAG
    assert tagged.journal.before == memory and tagged.journal.after == tagged.memory
    (now,) = await everything(store)
    assert (now.keywords, now.channels, now.text) == (("tea", '"café"'), (7, 8), "Likes tea")
    assert "2 channels" in tagged.line() and "“tea”" in tagged.line()
    assert not (await facts.tag(ANA, SQUARE, memory.id, ("tea", '"café"'), (7, 8))).wrote
    bare = await facts.tag(ANA, SQUARE, memory.id, (), ())
    assert bare.wrote and "always used" in bare.line()


@pytest.mark.parametrize(
    ("keywords", "channels", "said"),
    [
        (tuple("abcdef"), (), "6 keywords and an entry takes 5. Leave out 1."),
        (("x" * 51,), (), "51 characters and the limit is 50"),
        (("é" * 51,), (), "51 characters"),
        ((), (1, 2, 3, 4, 5, 6, 7), "7 channels and an entry takes 5. Leave out 2."),
    ],
)
async def test_tags_beyond_a_limit_are_refused_with_the_numbers_and_nothing_is_cut(
    facts: Facts, store: Store, keywords: tuple[str, ...], channels: tuple[int, ...], said: str
) -> None:
    memory = await saved(facts, "Likes tea")
    refused = await facts.tag(ANA, SQUARE, memory.id, keywords, channels)
    assert refused.kind is Kind.BAD_TAGS and said in refused.line()
    assert await everything(store) == [memory]


async def test_exactly_five_keywords_of_fifty_characters_and_five_channels_are_taken(facts: Facts) -> None:
    memory = await saved(facts, "Likes tea")
    words = tuple(letter * 50 for letter in "abcde")
    tagged = await facts.tag(ANA, SQUARE, memory.id, (*words, words[0].upper()), (1, 2, 3, 4, 5, 5))
    assert tagged.memory is not None and tagged.memory.keywords == words
    assert tagged.memory.channels == (1, 2, 3, 4, 5)


async def test_a_person_who_adds_with_too_many_keywords_is_refused_and_a_model_is_told(
    facts: Facts, store: Store, desk: Desk
) -> None:
    refused = await facts.add(ANA, SQUARE, ANAS, "Likes tea", keywords=tuple("abcdef"))
    assert refused.kind is Kind.BAD_TAGS and not await everything(store)
    told = await desk.save("Likes tea", keywords=list("abcdef"))
    assert "1 keywords dropped" in told.words and len(await everything(store)) == 1


async def test_only_who_may_write_an_entry_tags_it(facts: Facts, store: Store) -> None:
    hers, shared = await saved(facts, "Likes tea"), await saved(facts, "Closes at ten", SERVER)
    assert (await facts.tag(BEN, SQUARE, hers.id, ("a",), ())).kind is Kind.NOT_FOUND
    assert (await facts.tag(ADMIN, SQUARE, hers.id, ("a",), ())).kind is Kind.NOT_FOUND
    assert (await facts.tag(BEN, SQUARE, shared.id, ("a",), ())).kind is Kind.NOT_ALLOWED
    secret = await saved(facts, "Afraid of the dark", place=ANAS_DM)
    assert (await facts.tag(ANA, SQUARE, secret.id, ("a",), ())).kind is Kind.NOT_FOUND
    assert all(not each.keywords for each in await everything(store))


async def test_a_tag_is_undone_whatever_the_text_says_by_now(facts: Facts, store: Store) -> None:
    memory = await saved(facts, "Likes tea")
    await facts.tag(ANA, SQUARE, memory.id, ("tea",), (7,))
    second = await facts.tag(ANA, SQUARE, memory.id, ("coffee",), ())
    await facts.edit(ANA, SQUARE, memory.id, "Likes coffee")
    undone = await facts.undo(ANA, SQUARE, journal_id(second))
    assert undone.kind is Kind.UNDONE and "earlier keywords" in undone.line()
    (now,) = await everything(store)
    assert (now.keywords, now.channels, now.text) == (("tea",), (7,), "Likes coffee")


async def test_a_tag_that_was_set_again_since_is_kept(facts: Facts, store: Store) -> None:
    memory = await saved(facts, "Likes tea")
    first = await facts.tag(ANA, SQUARE, memory.id, ("tea",), ())
    await facts.tag(ANA, SQUARE, memory.id, ("coffee",), ())
    assert (await facts.undo(ANA, SQUARE, journal_id(first))).kind is Kind.CHANGED_MEANWHILE
    assert (await everything(store))[0].keywords == ("coffee",)


async def test_tagging_what_changed_meanwhile_says_what_stands(facts: Facts) -> None:
    memory = await saved(facts, "Likes tea")
    await facts.edit(ANA, SQUARE, memory.id, "Likes coffee")
    refused = await facts.tag(ANA, SQUARE, memory.id, ("tea",), (), memory.version)
    assert refused.kind is Kind.CHANGED_MEANWHILE and "Likes coffee" in refused.line()


async def test_a_pinned_entry_says_that_it_does_not_wait_for_keywords(facts: Facts, store: Store) -> None:
    memory = await saved(facts, "Likes tea", pinned=True)
    assert "doesn't wait" in (await facts.tag(ANA, SQUARE, memory.id, ("tea",), ())).line()
    assert texts(await everything(store)) == ["Likes tea"]
