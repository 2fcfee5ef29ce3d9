"""Costs are exact: pieces add up to the whole, and the ledger to what is sent."""

from __future__ import annotations

from dataclasses import replace

import pytest
import tiktoken
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.llm.tokenizers import load
from memory.prompt.assembly import build, to_messages
from memory.prompt.blocks import memory_blocks, whom, window_blocks
from memory.prompt.budget import IMAGE_TOKENS, MIN_RESERVE, PER_MESSAGE, Count, Tally, budget
from memory.prompt.ledger import Block, Kind
from memory.prompt.texts import MEMORY_GROUP
from memory.types import Memory, Scope
from tests.prompt.scene import INFO, NAMES, NOW, count, grouped, memory, message, scene, section, window

AWKWARD = st.sampled_from(
    [
        *("\n", "\r\n", "\u2028", "\x85", " ", "  ", "\t", "- ", "-", "/", "!\n/", "'s", "<@101>"),
        *(
            "<|endoftext|>",
            "...",
            "§",
            "👩\u200d🚀",
            "ñ",
            "日本",
            "m12",
            "\x00",
            "a",
            "9",
            "(recent)",
            "“",
            "\u0308",
        ),
    ]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(AWKWARD, max_size=12).map("".join))


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4"])
def test_the_two_models_of_the_counting_test_use_two_encodings(model: str) -> None:
    tokenizer, exact = load(model)
    assert exact
    assert tokenizer.encoding == {"gpt-4o": "o200k_base", "gpt-4": "cl100k_base"}[model]


@st.composite
def shelves(draw: st.DrawFn) -> list[tuple[Kind, str, list[str]]]:
    """Sections of the three groups: whom each is about, by any name, and what it says."""
    kinds = st.sampled_from([Kind.SERVER_MEMORIES, Kind.PERSONAL_MEMORIES, Kind.ACTIVATED])
    section = st.tuples(kinds, TEXTS, st.lists(TEXTS, min_size=1, max_size=5))
    return draw(st.lists(section, min_size=1, max_size=5))


def pieces(shelves: list[tuple[Kind, str, list[str]]], count: Count) -> list[Block]:
    """Their blocks, each section about another member."""
    sections = []
    for owner, (kind, name, texts) in enumerate(shelves, 1):
        scope = Scope.user(owner)
        sections.append(
            memory_blocks(
                kind,
                [Memory(owner * 100 + i, scope, text, False, NOW, NOW) for i, text in enumerate(texts)],
                about=whom(scope, name),
                owner=owner,
                protected_ids=(),
                now=NOW,
                names=NAMES,
                count=count,
            )
        )
    return grouped(*sections, count=count)


@given(shelves=shelves())
@settings(max_examples=200, deadline=None)
def test_every_piece_of_a_memory_message_has_the_shape_that_makes_counting_exact(
    shelves: list[tuple[Kind, str, list[str]]],
) -> None:
    for block in pieces(shelves, count):
        assert block.text.startswith(("- ", "About ", f"{MEMORY_GROUP}\n"))
        assert block.text.endswith("\n") and not block.text[:-1].endswith(tuple(" \n\r\t\u2028\x85"))
        assert len(block.text.splitlines()) == 1


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4"])
@given(shelves=shelves(), leaving=st.sets(st.integers(0, 40)))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pieces_counted_one_by_one_cost_what_the_joined_message_costs(
    model: str, shelves: list[tuple[Kind, str, list[str]]], leaving: set[int]
) -> None:
    tokenizer, _ = load(model)
    encoding = _encoding(tokenizer)
    blocks = pieces(shelves, tokenizer.count)
    tally = Tally(blocks)
    for out in (set[int](), leaving):
        for index in out & set(range(len(blocks))):
            tally.remove(index)
        kept = [b for b, inside in zip(blocks, tally.inside, strict=True) if inside]
        sent = to_messages(kept)
        assert len(sent) == len({b.kind for b in kept})
        wholes = [len(encoding.encode_ordinary(m.text)) + PER_MESSAGE for m in sent]
        assert sum(b.tokens for b in kept) == tally.used == sum(wholes)
        for one, whole in zip(sent, wholes, strict=True):
            assert sum(b.tokens for b in kept if b.join == one.block) == whole


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4"])
@pytest.mark.parametrize("end", [".", "!?", "…", "\u0308", "/", "'", "9", "日", "🚀", "\x00", "-", ":"])
def test_a_line_with_any_ending_is_counted_alone_whatever_comes_next(model: str, end: str) -> None:
    tokenizer, _ = load(model)
    following = ["- m2 x\n", "About Bob:\n", "About \u0308:\n", "About 1:\n", "About /:\n"]
    for line in (f"- m1 x{end}\n", f"About x{end}:\n", f"{MEMORY_GROUP}\n"):
        for after in following:
            assert tokenizer.count(line + after) == tokenizer.count(line) + tokenizer.count(after)


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4"])
def test_a_group_longer_than_any_counting_shortcut_still_adds_up(model: str) -> None:
    tokenizer, _ = load(model)
    texts = [f"{'word, ' * 80}{i}" for i in range(120)]
    blocks = pieces(
        [(Kind.SERVER_MEMORIES, "Ana", texts[:60]), (Kind.SERVER_MEMORIES, "Bob", texts[60:])],
        tokenizer.count,
    )
    (sent,) = to_messages(blocks)
    assert len(sent.text) > 16_384
    whole = len(_encoding(tokenizer).encode_ordinary(sent.text))
    assert sum(b.tokens for b in blocks) == whole + PER_MESSAGE


def _encoding(tokenizer: object) -> tiktoken.Encoding:
    encoding = tokenizer._encoding  # type: ignore[attr-defined]
    assert isinstance(encoding, tiktoken.Encoding)
    return encoding


def test_used_is_what_the_sent_messages_cost_with_four_for_each() -> None:
    prompt = build(scene(), info=INFO, reserve=1_024)
    assert prompt.ledger.used == sum(count(m.text) + 4 for m in prompt.messages)
    assert prompt.ledger.used == sum(e.tokens for e in prompt.ledger.included())


def test_the_budget_keeps_the_reply_reserve_and_never_less_than_1024_free() -> None:
    assert budget(8_192, 2_000) == 6_192
    assert budget(8_192, 0) == 8_192 - MIN_RESERVE == 7_168
    assert build(scene(), info=INFO, reserve=5).ledger.reserve == 1_024


def test_an_image_costs_a_flat_estimate_and_the_ledger_says_approximate() -> None:
    plain = build(window_blocks([message(1, "look")], count=count), info=INFO, reserve=0).ledger
    shown = build(
        window_blocks([message(1, "look", images=("https://cdn.example/a.png",))], count=count),
        info=INFO,
        reserve=0,
    ).ledger
    assert shown.used == plain.used + IMAGE_TOKENS
    assert (plain.approximate, shown.approximate) == (False, True)


def test_a_line_counted_when_it_was_stored_is_not_counted_again() -> None:
    counted: list[str] = []

    def spy(text: str) -> int:
        counted.append(text)
        return len(text)

    window_blocks(window(), count=spy, encoding="bytes")
    assert all(text.startswith("— ") for text in counted)
    window_blocks(window(), count=spy, encoding="o200k_base")
    assert any("picnic" in text for text in counted)


def test_a_tokenizer_that_is_not_the_models_own_makes_the_ledger_approximate() -> None:
    assert build(
        grouped(section([memory(1, "x")])), info=replace(INFO, exact=False), reserve=0
    ).ledger.approximate
