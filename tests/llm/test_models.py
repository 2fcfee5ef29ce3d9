"""The table of models, and what is asked of an endpoint that serves an unknown one."""

from __future__ import annotations

import pytest

from memory.llm import models
from memory.llm.probe import Served, pick


@pytest.mark.parametrize(
    ("model", "prefix"),
    [
        ("gpt-4o-mini-2024-07-18", "gpt-4o"),
        ("ft:gpt-4o-mini:acme", "gpt-4o"),
        ("OpenAI/GPT-4.1", "gpt-4.1"),
        ("gpt-4-turbo-preview", "gpt-4-turbo"),
        ("gpt-4-0613", "gpt-4"),
        ("gpt-5-chat-latest", "gpt-5-chat"),
        ("gpt-5.1", "gpt-5"),
        ("o3-mini", "o3-mini"),
        ("o1-2024-12-17", "o1"),
        ("anthropic/claude-sonnet-4", "claude"),
        ("google/gemini-2.5-flash", "gemini"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("gpt-45", ""),
        ("nobody-knows", ""),
    ],
)
def test_a_model_is_found_by_its_longest_prefix(model: str, prefix: str) -> None:
    assert models.row_for(model).prefix == prefix


def test_no_prefix_stands_twice_in_the_table() -> None:
    prefixes = [row.prefix for row in models.ROWS]
    assert len(prefixes) == len(set(prefixes))


def test_a_reasoning_model_has_its_quirks_in_its_row() -> None:
    row = models.row_for("o3")
    assert row.completion_tokens and row.thinks and not row.temperature


def test_the_setting_wins_over_the_table() -> None:
    assert models.info("gpt-4o", configured_window=32_000).context_window == 32_000


def test_the_table_wins_over_the_endpoint() -> None:
    assert models.info("gpt-4o", served_window=1_000_000).context_window == 128_000


def test_the_endpoint_is_believed_about_an_unknown_model() -> None:
    assert models.info("my-model", served_window=40_960).context_window == 40_960


def test_an_unknown_window_is_small_and_noted() -> None:
    info = models.info("my-model")
    assert info.context_window == 8_192 and not info.exact
    assert any("LLM_CONTEXT_WINDOW" in note for note in info.notes)
    assert any("approximate" in note for note in info.notes)


def test_a_known_model_has_no_notes() -> None:
    assert models.info("gpt-4o").notes == ()


@pytest.mark.parametrize(
    "field",
    ["max_model_len", "context_length", "context_window", "max_context_length", "loaded_context_length"],
)
def test_the_window_is_read_from_the_endpoints_list(field: str) -> None:
    page = {"data": [{"id": "other", field: 2_048}, {"id": "mine", field: 65_536}]}
    assert pick(page, "mine") == Served("mine", 65_536)


@pytest.mark.parametrize(
    "page",
    [
        None,
        [],
        {},
        {"data": None},
        {"data": ["x", 3]},
        {"data": [{"id": "mine", "context_length": "many"}]},
        7,
    ],
)
def test_a_strange_list_tells_nothing_and_raises_nothing(page: object) -> None:
    assert pick(page, "mine") == Served("mine", None)


def test_without_a_name_the_first_served_model_is_taken() -> None:
    assert pick({"data": [{"id": "qwen3:8b"}, {"id": "b"}]}, "") == Served("qwen3:8b", None)
