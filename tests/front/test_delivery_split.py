from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from cogs._split import FENCE, pieces, split

FRAGMENTS = st.sampled_from(
    [
        *("word ", "a", "\n", "\n\n", ". ", "! ", " ", "\t", "`", "``", "```", "```py\n", "\n```\n"),
        *(
            "<@123456789012345678>",
            "https://example.org/a/very/long/path?x=1 ",
            "**bold words**",
            "[l](https://x.y)",
        ),
        *("👩‍👩‍👧‍👧", "🇵🇭", "é", "ñ", "漢字", "\u200b", "x" * 90, "\ud800"),
    ]
)
TEXTS = st.one_of(
    st.text(max_size=400),
    st.lists(FRAGMENTS, max_size=80).map("".join),
)
LIMITS = st.integers(60, 200)


def bare(text: str) -> str:
    return "".join(text.split())


@given(TEXTS, LIMITS)
@example("```" * 100, 60)
@example("`" * 500, 61)
@example("x" * 61 + "```py\n" + "y " * 90, 60)
def test_no_part_is_too_long_or_empty_and_no_word_is_lost(text: str, limit: int) -> None:
    parts = pieces(text, limit)
    assert all(len(part.text) <= limit for part in parts)
    assert all(part.text.strip() for part in parts)
    assert bare("".join(part.body for part in parts)) == bare(text)


@given(TEXTS, LIMITS)
@example("`" * 500, 61)
def test_every_part_closes_the_code_blocks_that_it_opens(text: str, limit: int) -> None:
    assert all(part.count(FENCE) % 2 == 0 for part in split(text, limit))


@given(st.lists(st.sampled_from(["<@12345>", "word", "🇵🇭", "👩‍👩‍👧‍👧", "**a b**"]), max_size=120), LIMITS)
def test_mentions_flags_and_families_are_never_cut_in_two(words: list[str], limit: int) -> None:
    for part in split(" ".join(words), limit):
        assert set(re.sub(r"\*\*a b\*\*", "", part).split()) <= {"<@12345>", "word", "🇵🇭", "👩‍👩‍👧‍👧"}


def test_a_short_text_stays_one_message() -> None:
    assert split("Hello **there**.") == ["Hello **there**."]


def test_white_space_alone_is_no_message() -> None:
    assert split(" \n\t ") == []


def test_a_long_answer_is_cut_between_its_paragraphs() -> None:
    first, second = "one. " * 250, "two. " * 250
    assert split(f"{first.strip()}\n\n{second.strip()}") == [first.strip(), second.strip()]


def test_a_long_code_block_is_closed_and_opened_again_with_its_language() -> None:
    code = "\n".join(f"    line_{n} = {n}" for n in range(200))
    parts = split(f"Here:\n```py\n{code}\n```\nDone.")
    assert len(parts) > 1
    assert all(part.startswith("```py\n    line_") for part in parts[1:])
    assert all(part.endswith("\n```") for part in parts[:-1])
    assert parts[-1].endswith("```\nDone.")


def test_a_block_that_the_model_never_closed_is_closed() -> None:
    assert split("```js\nlet a = 1") == ["```js\nlet a = 1\n```"]


def test_a_code_block_that_fits_into_the_next_message_begins_there() -> None:
    parts = split("x" * 1_990 + "\n```py\nprint(1)\n```")
    assert parts == ["x" * 1_990, "```py\nprint(1)\n```"]


def test_a_link_that_fits_is_kept_whole() -> None:
    link = "https://example.org/" + "a" * 300
    parts = split("y" * 1_900 + link)
    assert parts == ["y" * 1_900, link]
