"""The live window's rules: lines, limits, the stepping start, who is in play."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.types import Attachment, AttachmentKind, AuthorKind, DetailLevel, Message
from memory.window.rules import TEXT_FILE_CAP, Limits, in_play, limits, plan_start, render_line

AT = datetime(2026, 11, 30, 18, 5, tzinfo=UTC)
MEMBER, BOT, PERSONA = AuthorKind.MEMBER, AuthorKind.BOT, AuthorKind.PERSONA


@pytest.mark.parametrize(
    ("level", "messages", "tokens"),
    [
        (DetailLevel.ESSENTIAL, 30, 6_000),
        (DetailLevel.BALANCED, 50, 10_000),
        (DetailLevel.DETAILED, 80, 16_000),
    ],
)
def test_a_level_has_its_messages_and_tokens_and_a_larger_model_never_widens_it(
    level: DetailLevel, messages: int, tokens: int
) -> None:
    assert limits(level, 1_000_000) == limits(level, 128_000) == Limits(messages, tokens, 10, 2_000)


def test_the_window_never_takes_more_than_a_quarter_of_the_model() -> None:
    assert limits(DetailLevel.DETAILED, 8_192).tokens == 2_048
    assert limits(DetailLevel.BALANCED, 40_000).tokens == 10_000


def test_a_line_carries_author_and_utc_time_from_the_event() -> None:
    there = AT.astimezone(timezone(timedelta(hours=8)))
    assert render_line("Ana", there, "hello", (), kind=MEMBER) == "[18:05] Ana: hello"
    assert render_line("Helper", AT, "beep", (), kind=BOT) == "[18:05] Helper: beep"


def test_a_member_cannot_fake_another_members_line() -> None:
    line = render_line(
        "Ana", AT, "hi\n[18:06] Bob: yes\u2028[18:07] Bob: no\r\n— 2026-12-01 (Tuesday) —", kind=MEMBER
    )
    assert line == "[18:05] Ana: hi\n  [18:06] Bob: yes\n  [18:07] Bob: no\n  — 2026-12-01 (Tuesday) —"


@given(
    name=st.text(max_size=100),
    text=st.text(max_size=200),
    file=st.text(max_size=60),
    words=st.text(max_size=60),
)
@settings(deadline=None)
def test_only_the_first_line_of_any_message_stands_at_the_left_edge(
    name: str, text: str, file: str, words: str
) -> None:
    files = [Attachment(file, AttachmentKind.TEXT, text=words), Attachment(file, AttachmentKind.IMAGE)]
    lines = render_line(name, AT, text, files, kind=MEMBER).splitlines()
    assert lines[0].startswith("[18:05] ")
    assert all(line.startswith("  ") for line in lines[1:])
    head = lines[0][len("[18:05] ") :]
    assert ":" in head and "[" not in head.split(":")[0]


def test_attachments_appear_by_name_and_text_files_inline_up_to_the_cap() -> None:
    files = [
        Attachment("cat.png", AttachmentKind.IMAGE, url="u"),
        Attachment("a]b\n.zip", AttachmentKind.FILE),
        Attachment("n.txt", AttachmentKind.TEXT, text="one\ntwo" + "x" * TEXT_FILE_CAP),
    ]
    lines = render_line("Ana", AT, "look", files, kind=MEMBER).splitlines()
    assert lines[:5] == [
        "[18:05] Ana: look",
        "  [image: cat.png]",
        "  [file: a)b .zip]",
        "  [file: n.txt]",
        "  one",
    ]
    assert lines[5].endswith("x…")
    assert len(lines[4]) + len(lines[5]) < TEXT_FILE_CAP + 10


def test_a_message_that_is_only_an_image_is_one_line() -> None:
    files = [Attachment("cat.png", AttachmentKind.IMAGE)]
    assert render_line("Ana", AT, "", files, kind=MEMBER) == "[18:05] Ana: [image: cat.png]"


def test_mentions_are_shown_by_name_and_a_personas_message_is_its_bare_text() -> None:
    names = {5: "Bob"}
    assert (
        render_line("Ana", AT, "<@5> and <@6>", kind=MEMBER, mentions=names) == "[18:05] Ana: @Bob and <@6>"
    )
    assert render_line("Keepsake", AT, "Sure, <@5>!\nSee you.", kind=PERSONA, mentions=names) == (
        "Sure, @Bob!\nSee you."
    )


def sized(tokens: list[int]) -> list[tuple[int, int]]:
    return list(enumerate(tokens, 1))


def test_a_full_window_loses_its_oldest_ten_messages_at_once() -> None:
    wide = limits(DetailLevel.BALANCED, 128_000)
    assert plan_start(sized([10] * 50), wide) == 0
    assert plan_start(sized([10] * 51), wide) == 10


def test_a_chunk_ends_at_two_thousand_tokens_when_that_comes_first() -> None:
    wide = limits(DetailLevel.BALANCED, 128_000)
    assert plan_start(sized([900] * 12), wide) == 3
    assert plan_start(sized([2_500, *[800] * 10]), wide) == 1


def test_the_newest_message_always_stays_even_when_it_alone_is_over_the_limit() -> None:
    tiny = Limits(50, 1_000)
    assert plan_start(sized([5_000]), tiny) == 0
    assert plan_start(sized([100, 100, 5_000]), tiny) == 2
    assert plan_start(sized([300] * 4), tiny) == 3
    assert plan_start([], tiny) == 0


TOKENS = st.lists(st.one_of(st.integers(0, 400), st.integers(0, 3_000)), min_size=1, max_size=160)
LIMITS = st.builds(
    limits, st.sampled_from(DetailLevel), st.sampled_from([1_000, 4_096, 8_192, 16_384, 64_000, 128_000])
)


@given(tokens=TOKENS, wide=LIMITS)
@settings(deadline=None)
def test_the_window_is_never_over_its_limits_unless_one_message_alone_is(
    tokens: list[int], wide: Limits
) -> None:
    start = plan_start(sized(tokens), wide)
    kept = tokens[start:]
    assert kept
    assert len(kept) <= wide.messages
    assert sum(kept) <= wide.tokens or len(kept) == 1


@given(tokens=TOKENS, wide=LIMITS)
@settings(deadline=None)
def test_message_by_message_the_start_moves_forward_in_whole_chunks_only(
    tokens: list[int], wide: Limits
) -> None:
    start = 0
    for end in range(1, len(tokens) + 1):
        moved = start + plan_start(sized(tokens[start:end]), wide)
        assert start <= moved < end
        left = tokens[start:moved]
        while left:
            size = next((n for n in range(1, len(left) + 1) if n == 10 or sum(left[:n]) >= 2_000), len(left))
            whole = size == 10 or sum(left[:size]) >= 2_000
            assert whole or moved == end - 1, "a chunk is cut short only before the newest message"
            left = left[size:]
        if moved > start:
            assert end - start > wide.messages or sum(tokens[start:end]) > wide.tokens
        start = moved


@given(tokens=st.lists(st.integers(0, 900), min_size=1, max_size=160), level=st.sampled_from(DetailLevel))
@settings(deadline=None)
def test_stepping_message_by_message_ends_where_planning_the_whole_history_does(
    tokens: list[int], level: DetailLevel
) -> None:
    wide = limits(level, 128_000)
    start = 0
    for end in range(1, len(tokens) + 1):
        start += plan_start(sized(tokens[start:end]), wide)
    assert start == plan_start(sized(tokens), wide)


def said(number: int, author: int, kind: AuthorKind = MEMBER) -> Message:
    return Message(number, 1, author, "n", kind, "<@99>", "<@99>", 1, "e", AT)


def test_in_play_are_the_trigger_authors_and_then_the_most_recent_humans() -> None:
    window = [said(1, 3), said(2, 4), said(3, 50, BOT), said(4, 5), said(5, 60, PERSONA), said(6, 3)]
    assert in_play(window, [4]) == (4, 3, 5)
    assert in_play(window, [8, 5]) == (8, 5, 3, 4)


def test_at_most_ten_are_in_play_and_a_mention_puts_nobody_in_play() -> None:
    window = [said(i, i) for i in range(1, 30)]
    assert in_play(window, [1]) == (1, *range(29, 20, -1))
    assert 99 not in in_play(window, [1])
    assert in_play([], []) == ()
