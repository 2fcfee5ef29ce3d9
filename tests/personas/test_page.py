"""docs/personas.md says what is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memory.personas import pictures, rules
from memory.settings import Settings

PAGE = " ".join((Path(__file__).parents[2] / "docs" / "personas.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize(
    "words",
    [
        f"| name | {rules.NAME_LIMIT} characters |",
        f"| picture | {pictures.SIDE} pixels |",
        f"at most {pictures.FILE_LIMIT // 1_000_000} MB; the first frame",
        f"| description | {rules.TEXT_LIMIT:,} characters |",
        f"| instructions | {rules.TEXT_LIMIT:,} characters |",
        f"| attributes | {rules.MOST_ATTRIBUTES} of {rules.ATTRIBUTE_LIMIT} characters |",
        f"| sample dialogues | {rules.MOST_SAMPLES}, together {rules.TEXT_LIMIT:,} characters |",
        f"| trigger words | {rules.MOST_TRIGGERS} of {rules.TRIGGER_LIMIT} characters |",
        f"at most {Settings.model_fields['max_personas_per_server'].default} personas, the built-in one not",
    ],
)
def test_a_number_on_the_page_is_that_of_the_code(words: str) -> None:
    assert words in PAGE


def test_the_example_on_the_page_is_read_as_it_is_meant() -> None:
    page = (Path(__file__).parents[2] / "docs" / "personas.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```\n(.*?)```", page, re.DOTALL)
    assert [s.said for s in rules.written_samples(example)] == ["Good evening!", "Who are you?"]
