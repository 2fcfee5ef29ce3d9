"""The documents say what is so: their settings and commands exist. Add a row to check one more document."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import run
from memory.settings_docs import variables

ROOT = Path(__file__).resolve().parent.parent

KNOWN = frozenset(variable.name for variable in variables())

# Names in capitals that are no settings of the bot, and where they come from.
OTHER_NAMES = frozenset(
    {
        "DATABASE_URL_TEST",  # tests
        "KEEPSAKE_REQUIRE_BROWSER",  # tests
        "PIP_INDEX_URL",  # pip
        "HTTPS_PROXY",  # pip
    }
)

# Document → whether it must be there. A document that may come later is checked as soon as it is.
DOCUMENTS = {
    "docs/settings.md": True,
    "CONTRIBUTING.md": True,
    "CHANGELOG.md": True,
    "README.md": False,
    "docs/operations.md": False,
    "docs/privacy.md": False,
    "docs/commands.md": False,
    "docs/architecture.md": False,
}

# A variable is written as code, `LIKE_THIS` or `LIKE_THIS=value`, or at the head of a line of a code block.
VARIABLE = re.compile(
    r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`|^#?\s?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)=", re.M
)

# What a document may tell a person to run: pattern → the words that may stand there.
COMMANDS = {
    r"python3? run\.py ([a-z]+)": frozenset(run.COMMANDS),
    r"python3? run\.py bench ([a-z]+)": frozenset({"assembly", "turn", "soak", "drive"}),
}


PRESENT = [document for document, required in DOCUMENTS.items() if required or (ROOT / document).exists()]


def text_of(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def names_in(text: str) -> set[str]:
    return {one or other for one, other in VARIABLE.findall(text)}


def test_every_setting_is_on_the_settings_page() -> None:
    assert names_in(text_of("docs/settings.md")) >= KNOWN


@pytest.mark.parametrize("document", PRESENT)
def test_no_document_names_an_unknown_setting(document: str) -> None:
    assert names_in(text_of(document)) - KNOWN - OTHER_NAMES == set()


@pytest.mark.parametrize("document", PRESENT)
def test_no_document_names_an_unknown_command(document: str) -> None:
    text = text_of(document)
    for pattern, words in COMMANDS.items():
        assert set(re.findall(pattern, text)) <= words


@pytest.mark.parametrize("document", PRESENT)
def test_links_to_files_lead_somewhere(document: str) -> None:
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text_of(document))
    folder = (ROOT / document).parent
    assert [link for link in links if not (folder / link).exists()] == []


def test_an_unknown_setting_would_be_found() -> None:
    assert names_in("set `LLM_COLOUR=red`\n\n```\nMAX_FUN=1\n```") == {"LLM_COLOUR", "MAX_FUN"}
