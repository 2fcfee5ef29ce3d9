"""The documents say what is so: settings, commands, options, buttons and limits are those of the code.

Add a row to check one more document.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from discord import app_commands
from PIL import Image

import run
from cogs import _entries
from cogs.views import drafting, entry_text, listings, marks, notices, pages, panel, queue
from memory.config import docs as config_docs
from memory.config.rules import CONFIG_KEYS, PROMPT_LIMIT, Level, keys_at
from memory.facts import drafts, finding, text, writes
from memory.prompt import blocks, pins
from memory.settings import Settings
from memory.settings_docs import variables
from memory.types import DetailLevel
from memory.window import rules as window
from tests.front.world import make_world

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
    "README.md": True,
    "docs/operations.md": False,
    "docs/privacy.md": False,
    "docs/commands.md": True,
    "docs/memories.md": True,
    "docs/personas.md": True,
    "docs/actions.md": True,
    "docs/architecture.md": False,
}

# A variable is written as code, `LIKE_THIS` or `LIKE_THIS=value`, or at the head of a line of a code block.
VARIABLE = re.compile(
    r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`|^#?\s?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)=", re.M
)

# What a document may tell a person to run: pattern → the words that may stand there.
COMMANDS = {
    r"python3? run\.py ([a-z]+)": frozenset(run.COMMANDS),
    r"python3? run\.py bench ([a-z]+)": frozenset({"assembly", "turn", "soak", "prefix", "saves"}),
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


def test_the_settings_of_servers_and_channels_are_those_of_the_code() -> None:
    page = text_of("docs/settings.md")
    assert page == config_docs.settings_page(page), "run `python run.py fmt` to renew docs/settings.md"
    assert all(f"`{key.name}`" in page for key in CONFIG_KEYS if not key.hidden)


# --- Commands, with the tree that the bot registers -------------------------------------------------------

COMMANDS_PAGE = "docs/commands.md"

Command = app_commands.Command[Any, ..., Any]


@pytest.fixture
async def tree(tmp_path: Path) -> AsyncIterator[dict[str, Command]]:
    """Every slash command of the running bot by its full name."""
    async with make_world(tmp_path) as world:
        leaves = list(world.bot.tree.walk_commands())
        yield {each.qualified_name: each for each in leaves if isinstance(each, app_commands.Command)}


def section(page: str, heading: str, level: int = 2) -> str:
    """What stands under a heading, up to the next one of its level or higher."""
    marks = "#" * level
    found = re.search(rf"^{marks} {re.escape(heading)}$(.*?)(?=^#{{1,{level}}} |\Z)", page, re.M | re.S)
    assert found, f"there is no heading “{heading}”"
    return found[1]


def rows(part: str) -> list[list[str]]:
    """The cells of every table in a part, without the tables' heads."""
    lines = [line for line in part.splitlines() if line.startswith("|")]
    bodies = [
        line
        for at, line in enumerate(lines)
        if not (is_rule(line) or is_rule("".join(lines[at + 1 : at + 2])))
    ]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in bodies]


def is_rule(line: str) -> bool:
    return bool(line) and set(line) <= set("|-")


def described(page: str) -> Iterator[tuple[str, str]]:
    """Each command that has a heading of its own, and what stands there."""
    for name in re.findall(r"^### `/([^`]+)`$", page, re.M):
        yield name, section(page, f"`/{name}`", 3)


async def test_the_page_of_commands_describes_each_command_once_and_no_other(
    tree: dict[str, Command],
) -> None:
    names = [name for name, _ in described(text_of(COMMANDS_PAGE))]
    assert sorted(names) == sorted(tree)


async def test_every_option_is_described_and_no_other(tree: dict[str, Command]) -> None:
    for name, part in described(text_of(COMMANDS_PAGE)):
        told = {row[0].strip("`"): row[1] == "yes" for row in rows(part)}
        assert told == {option.name: option.required for option in tree[name].parameters}, name


async def test_every_command_says_who_may_use_it(tree: dict[str, Command]) -> None:
    for name, part in described(text_of(COMMANDS_PAGE)):
        in_words = " ".join(part.split())
        assert "Who: " in in_words, name
        root = tree[name].root_parent or tree[name]
        wanted = root.default_permissions
        if wanted is not None and wanted.manage_guild:
            assert "Who: Manage Server" in in_words, name


async def test_the_keys_of_settings_are_named_where_they_are_changed(tree: dict[str, Command]) -> None:
    page = text_of(COMMANDS_PAGE)
    for level in Level:
        (key,) = [row for row in rows(section(page, f"`/config {level.value}`", 3)) if row[0] == "`key`"]
        assert set(re.findall(r"`(\w+)`", key[2])) == {each.name for each in keys_at(level)}


async def test_the_readme_lists_each_command_once_and_no_other(tree: dict[str, Command]) -> None:
    listed = [row[0] for row in rows(section(text_of("README.md"), "Commands"))]
    assert sorted(re.findall(r"`/([^`]+)`", " ".join(listed))) == sorted(tree)


@pytest.mark.parametrize("document", PRESENT)
async def test_no_document_names_an_unknown_slash_command(tree: dict[str, Command], document: str) -> None:
    groups = {name.split()[0] for name in tree}
    named = re.findall(r"`/([a-z][^`/]*)`", " ".join(text_of(document).split()))
    unknown = [
        each for each in named if each not in groups and not any(f"{each} ".startswith(f"{n} ") for n in tree)
    ]
    assert unknown == []


def test_every_button_of_a_confirmation_is_explained_and_no_other() -> None:
    labels = {label for label, _ in notices.LABELS.values()}
    labels |= {str(button(1).item.label) for button in (marks.RetryButton, marks.RestoreButton)}
    explained = [row[0] for row in rows(section(text_of(COMMANDS_PAGE), "Buttons"))]
    assert sorted(explained) == sorted(f"**{label}**" for label in labels)


# --- Limits -----------------------------------------------------------------------------------------------

DEFAULTS = {name: field.default for name, field in Settings.model_fields.items()}
SERVER, PERSONAL = DEFAULTS["max_server_memories"], DEFAULTS["max_personal_memories"]
PINNED, INJECTED = DEFAULTS["max_pinned_memories"], DEFAULTS["max_injected_memories"]
LENGTH = DEFAULTS["max_memory_length"]
SHARE = f"{pins.PIN_SHARE:.0%}".replace("%", " %")


def test_the_table_of_limits_is_that_of_the_code() -> None:
    told = {row[0]: (row[1], row[2].strip("`")) for row in rows(section(text_of(COMMANDS_PAGE), "Limits"))}
    assert told == {
        "unpinned entries about a server, for each persona and for all personas": (
            f"{SERVER}",
            "MAX_SERVER_MEMORIES",
        ),
        "unpinned entries about you, for each persona and for all personas": (
            f"{PERSONAL}",
            "MAX_PERSONAL_MEMORIES",
        ),
        "pinned entries in each of those, on top": (f"{PINNED}", "MAX_PINNED_MEMORIES"),
        "length of an entry": (f"{LENGTH} characters", "MAX_MEMORY_LENGTH"),
        "unpinned entries given to the model in one turn": (f"{INJECTED}", "MAX_INJECTED_MEMORIES"),
        "keywords of an entry": (f"{text.KEYWORDS} of {text.KEYWORD_LENGTH} characters", ""),
        "members whose memories count in one turn": (f"{window.IN_PLAY_LIMIT}", ""),
        "pins of members who did not call the bot, together": (f"{SHARE} of the prompt", ""),
        "an entry is marked recent for": (f"{blocks.RECENT.days} days", ""),
        "suggestions that wait": (f"{writes.WAITING}", ""),
        "a suggestion waits for": (f"{writes.WAITING_FOR.days} days", ""),
        "entries that a search shows": (f"{listings.FOUND}", ""),
        "a server or channel prompt": (f"{PROMPT_LIMIT:,} characters", ""),
    }


def test_what_is_said_twice_in_the_code_is_the_same() -> None:
    limits = writes.MemoryLimits()
    assert (limits.server, limits.personal, limits.pinned) == (SERVER, PERSONAL, PINNED)
    assert (limits.length, limits.injected) == (LENGTH, INJECTED)
    assert entry_text.RECENT == blocks.RECENT
    assert listings.FOUND == finding.FOUND == _entries.CHOICES


@dataclass(frozen=True)
class Says:
    """A document, and words with numbers of the code that must stand in it."""

    document: str
    words: str


def detail(level: DetailLevel) -> window.Limits:
    return window.limits(level, 10**9)


NORMAL = detail(DEFAULTS["detail_level"])

SENTENCES = (
    Says("docs/memories.md", f"room for {PERSONAL} unpinned memories and {PINNED} pinned ones"),
    Says("docs/memories.md", f"at most {LENGTH} characters"),
    Says("docs/memories.md", f"**{window.IN_PLAY_LIMIT} members**"),
    Says("docs/memories.md", f"at most {SHARE} of the prompt"),
    Says("docs/memories.md", f"**{INJECTED} unpinned** ones, the newest first, spread evenly"),
    Says("docs/memories.md", f"changed within {blocks.RECENT.days} days"),
    Says("docs/memories.md", f"at most {text.KEYWORDS}, of {text.KEYWORD_LENGTH} characters each"),
    Says(COMMANDS_PAGE, f"in your own words; at most {drafts.DESCRIPTION:,} characters"),
    Says(COMMANDS_PAGE, f"up to {drafts.FROM_DESCRIPTION} drafts, and you"),
    Says(COMMANDS_PAGE, f"up to {drafts.PICKED} messages out of the {drafting.OFFERED} around it"),
    Says(COMMANDS_PAGE, f"up to {drafts.FROM_MESSAGES} drafts of what was picked"),
    Says(COMMANDS_PAGE, f"After {panel.IDLE_S / 60:.0f} minutes without a press the review goes to sleep"),
    Says(COMMANDS_PAGE, f"as one plain sentence; at most {LENGTH} characters"),
    Says(COMMANDS_PAGE, f"holds {PINNED} pinned entries already"),
    Says(COMMANDS_PAGE, f"up to {_entries.CHOICES} are shown"),
    Says(COMMANDS_PAGE, f"of the best {listings.FOUND}"),
    Says(COMMANDS_PAGE, f"for at most {PROMPT_LIMIT:,} characters"),
    Says(COMMANDS_PAGE, f"expire after {writes.WAITING_FOR.days} days"),
    Says(COMMANDS_PAGE, f"At most {writes.WAITING} suggestions wait"),
    Says(COMMANDS_PAGE, f"changed within {blocks.RECENT.days} days"),
    Says(COMMANDS_PAGE, f"After {panel.IDLE_S / 60:.0f} minutes without a press"),
    Says(
        "README.md",
        f"{NORMAL.messages} messages or {NORMAL.tokens:,} tokens at most"
        f" ({detail(DetailLevel.ESSENTIAL).messages} or {detail(DetailLevel.DETAILED).messages}"
        " by detail level)",
    ),
)


@pytest.mark.parametrize("says", SENTENCES, ids=lambda says: says.words)
def test_a_number_in_a_document_is_that_of_the_code(says: Says) -> None:
    assert says.words in " ".join(text_of(says.document).split())


def test_a_page_of_a_panel_holds_as_many_entries_as_it_is_said_to() -> None:
    assert pages.PAGE_ENTRIES == 5
    assert "Five entries a page" in text_of(COMMANDS_PAGE)
    assert queue.PAGE == 4
    assert "four on a page at most" in text_of(COMMANDS_PAGE)


# --- Pictures ---------------------------------------------------------------------------------------------

PICTURES = sorted(path.name for path in (ROOT / "docs" / "images").glob("*.png"))


def test_every_picture_is_shown_in_a_document_with_words_for_who_cannot_see_it() -> None:
    shown = [
        Path(link).name
        for document in PRESENT
        for words, link in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", text_of(document))
        if len(words.split()) >= 3
    ]
    assert PICTURES
    assert set(shown) == set(PICTURES)


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_small_enough_to_load_at_once(name: str) -> None:
    path = ROOT / "docs" / "images" / name
    with Image.open(path) as picture:
        assert picture.width <= 1_280
    assert path.stat().st_size < 200_000
