"""Two people with one name: each is shown by a name of their own."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.prompt.names import NAME_LIMIT, clean_name, likeness
from memory.types import Attachment, AttachmentKind, AuthorKind, Message
from memory.window.rules import distinguish, render_line

AT = datetime(2026, 11, 30, 18, 5, tzinfo=UTC)
MEMBER, BOT, PERSONA = AuthorKind.MEMBER, AuthorKind.BOT, AuthorKind.PERSONA
REAL, IMPOSTOR = 111_111_111_111_111_234, 222_222_222_222_229_999


def said(
    number: int, author: int, name: str, text: str = "hi", *, kind: AuthorKind = MEMBER, files: int = 0
) -> Message:
    attachments = [Attachment(f"{i}.png", AttachmentKind.IMAGE) for i in range(files)]
    line = render_line(name, AT, text, attachments, kind=kind)
    return Message(number, 1, author, clean_name(name), kind, text, line, 7, "o200k_base", AT)


def names(messages: list[Message]) -> list[str]:
    return [m.author_name for m in messages]


def test_a_member_who_takes_anothers_nickname_is_shown_by_another_name() -> None:
    real, impostor = distinguish(
        [said(1, REAL, "Ana", "hello\nall"), said(2, IMPOSTOR, "Ana", "I'm Ana: yes")]
    )
    assert real.line == "[18:05] Ana (…1234): hello\n  all"
    assert impostor.line == "[18:05] Ana (…9999): I'm Ana: yes"
    assert (real.author_name, impostor.author_name) == ("Ana (…1234)", "Ana (…9999)")
    assert (real.text, real.encoding, impostor.encoding) == ("hello\nall", "", "")


def test_a_message_without_words_and_one_with_only_an_image_keep_their_form() -> None:
    shown = distinguish([said(1, REAL, "Ana", ""), said(2, IMPOSTOR, "Ana", "", files=1)])
    assert [m.line for m in shown] == ["[18:05] Ana (…1234):", "[18:05] Ana (…9999): [image: 0.png]"]


@pytest.mark.parametrize(
    "twin",
    ["ANA", "Ａｎａ", " Ana\u3000", "A\u200bna", "Ana\ufe0f", "Аna", "Αna", "аnа", "𝐀𝐧𝐚", "Ana\u202e"],
)
def test_case_width_spaces_invisible_characters_and_look_alike_letters_make_no_other_name(twin: str) -> None:
    shown = names(distinguish([said(1, REAL, "Ana"), said(2, IMPOSTOR, twin)]))
    assert shown[0] == "Ana (…1234)"
    assert shown[1].endswith(" (…9999)")


def test_messages_of_authors_whom_nobody_could_mistake_come_back_as_they_are() -> None:
    window = [
        said(1, REAL, "Ana"),
        said(2, IMPOSTOR, "Anna"),
        said(3, 900, "Keepsake", "Ana: hi", kind=PERSONA),
        said(4, 55, "beep", kind=BOT),
        said(5, REAL, "Ana", "again"),
        said(6, 66, "José"),
        said(7, 77, "Jose"),
    ]
    assert all(a is b for a, b in zip(distinguish(window), window, strict=True))
    mixed = distinguish([*window, said(8, 10_088, "JOSÉ")])
    assert all(a is b for a, b in zip(mixed[:5], window, strict=False))
    assert [m.author_name for m in mixed[5:]] == ["José (…66)", "Jose", "JOSÉ (…0088)"]


def test_another_bot_can_take_no_members_name_either() -> None:
    shown = distinguish([said(1, REAL, "Ana"), said(2, IMPOSTOR, "Ana", kind=BOT)])
    assert names(shown) == ["Ana (…1234)", "Ana (…9999)"]


def test_the_server_the_unnamed_and_the_persona_have_names_that_nobody_can_take() -> None:
    window = [said(1, REAL, "This Server"), said(2, 55_555, "a member"), said(3, IMPOSTOR, "KEEPSAKE")]
    assert names(distinguish(window, {"Keepsake"})) == [
        "This Server (…1234)",
        "a member (…5555)",
        "KEEPSAKE (…9999)",
    ]
    answered = [said(1, IMPOSTOR, "Keepsake"), said(2, 900, "Keepsake", kind=PERSONA)]
    shown = distinguish(answered)
    assert names(shown) == ["Keepsake (…9999)", "Keepsake"]
    assert shown[1] is answered[1]


def test_ids_that_end_alike_show_more_digits() -> None:
    window = [said(1, 771_234, "Ana"), said(2, 881_234, "Ana"), said(3, 5_678, "Ana"), said(4, 81_234, "Ana")]
    assert names(distinguish(window)) == ["Ana (…71234)", "Ana (…881234)", "Ana (…5678)", "Ana (…81234)"]


@pytest.mark.parametrize(
    "fake", ["Ana (…1234)", "Ana (...1234)", "ana（…１２３４）", "Ana …1234", "Ana (‥1234)"]
)
def test_the_digits_behind_a_name_are_always_the_bearers_own(fake: str) -> None:
    faker = 333_333_333_333_335_555
    (alone,) = distinguish([said(1, faker, fake)])
    assert alone.author_name.endswith(" (…5555)")
    shown = names(distinguish([said(1, REAL, "Ana"), said(2, IMPOSTOR, "Ana"), said(3, faker, fake)]))
    assert shown[:2] == ["Ana (…1234)", "Ana (…9999)"]
    assert shown[2].endswith(" (…5555)")


def test_a_longest_name_keeps_its_digits_and_its_length() -> None:
    shown = names(distinguish([said(1, REAL, "x" * 90), said(2, IMPOSTOR, "X" * 80)]))
    assert shown == ["x" * 72 + " (…1234)", "X" * 72 + " (…9999)"]
    assert all(clean_name(name) == name for name in shown)


def test_a_name_taken_by_editing_an_older_message_counts_as_the_line_shows_it() -> None:
    before = said(2, IMPOSTOR, "Mara", "hi")
    edited = replace(before, line=render_line("Ana", AT, "now I'm Ana", kind=MEMBER))
    real, shown = distinguish([said(1, REAL, "Ana"), edited])
    assert real.author_name == "Ana (…1234)"
    assert (shown.author_name, shown.line) == ("Ana (…9999)", "[18:05] Ana (…9999): now I'm Ana")
    (alone,) = distinguish([edited])
    assert (alone.author_name, alone.line, alone.encoding) == ("Ana", edited.line, edited.encoding)


def test_who_was_renamed_is_told_apart_only_where_the_names_are_alike() -> None:
    window = [said(1, IMPOSTOR, "Mara"), said(2, REAL, "Ana"), said(3, IMPOSTOR, "Ana")]
    assert names(distinguish(window)) == ["Mara", "Ana (…1234)", "Ana (…9999)"]


def test_a_name_stays_the_same_from_turn_to_turn_while_both_are_in_the_window() -> None:
    window = [said(i, (REAL, IMPOSTOR, 500 + i)[i % 3], ("Ana", "Ana", f"M{i}")[i % 3]) for i in range(40)]
    for start in range(20):
        for end in (25, 30, 40):
            for shown in distinguish(window[start:end]):
                wanted = {REAL: "Ana (…1234)", IMPOSTOR: "Ana (…9999)"}
                assert shown.author_name == wanted.get(shown.author_id, f"M{shown.id}")


IDS = st.one_of(
    st.integers(1, 30), st.sampled_from([1_234, 11_234, 21_234, REAL, IMPOSTOR]), st.integers(10**17, 2**63)
)
NAMES = st.one_of(
    st.sampled_from(
        ["Ana", "ana", "Аna", "Ana (…1234)", "Ana (…1234) (…1234)", "this server", "Keepsake", "", "x" * 80]
    ),
    st.text(max_size=90),
)


@given(
    people=st.lists(st.tuples(IDS, NAMES, st.sampled_from([MEMBER, BOT])), max_size=10),
    text=st.text(max_size=30),
    order=st.integers(0, 99),
)
@settings(deadline=None, max_examples=300)
def test_no_two_authors_are_ever_shown_by_names_that_look_alike(
    people: list[tuple[int, str, AuthorKind]], text: str, order: int
) -> None:
    window = [said(i, author, name, text, kind=kind) for i, (author, name, kind) in enumerate(people)]
    shown = distinguish(window, ["Keepsake"])
    bearers: dict[str, set[int]] = {"this server": {0}, "keepsake": {0}}
    for before, after in zip(window, shown, strict=True):
        bearers.setdefault(likeness(after.author_name), set()).add(after.author_id)
        assert after.line.startswith(f"[18:05] {after.author_name}:")
        assert len(after.author_name) <= NAME_LIMIT and clean_name(after.author_name) == after.author_name
        head, whole = f"[18:05] {before.author_name}", f"[18:05] {after.author_name}"
        assert after.line.removeprefix(whole) == before.line.removeprefix(head)
        assert after is before or (after.encoding == "" and after.author_name != before.author_name)
    assert all(len(ids) == 1 for ids in bearers.values())
    mixed = list(window)
    random.Random(order).shuffle(mixed)
    given_names = {m.id: m.author_name for m in distinguish(mixed, ["Keepsake"])}
    assert given_names == {m.id: m.author_name for m in shown}
