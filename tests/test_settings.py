"""Settings: what an operator writes, what the bot makes of it, and what the documentation says about it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError

from memory.errors import SettingsError
from memory.settings import OPENAI_URL, PROJECT, Settings, read_env
from memory.settings_docs import env_example, settings_page, settings_table, variables
from memory.types import DetailLevel

LIMITS = {
    "MAX_SERVER_MEMORIES": 100,
    "MAX_PERSONAL_MEMORIES": 100,
    "MAX_PINNED_MEMORIES": 20,
    "MAX_MEMORY_LENGTH": 500,
    "MAX_INJECTED_MEMORIES": 100,
    "MAX_PERSONAS_PER_SERVER": 20,
}

BAD = {
    "DATABASE_URL": ["mysql://db", "sqlite+aiosqlite:///:memory:", "postgresql+asyncpg://", "keepsake.db"],
    "DETAIL_LEVEL": ["high"],
    "LLM_BASE_URL": ["api.example.org/v1", "ftp://example.org", "http://", "http://h:99999/v1"],
    "LLM_CONTEXT_WINDOW": ["8k", "0", "-1", "1024", "9" * 30],
    "LLM_TIMEOUT_SECONDS": ["soon", "0", "-3", "nan", "inf"],
    "LLM_TOOLS": ["yes"],
    "LOG_LEVEL": ["loud"],
    "PLAY_PORT": ["65536", "-1", "http"],
    "REPLY_TOKENS": ["many", "0"],
    "SHARD_COUNT": ["two", "0", "1.5"],
    "SHARD_IDS": ["a", "0,0", "-1", ","],
    "TURN_DEADLINE_SECONDS": ["0"],
}


def load(**environ: str) -> Settings:
    return Settings.load(environ)[0]


def problems(environ: dict[str, str], *, need_token: bool = False) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        Settings.load(environ, need_token=need_token)
    return caught.value.problems


def test_nothing_at_all_is_a_working_configuration() -> None:
    settings, warnings = Settings.load({})
    assert warnings == []
    assert settings == Settings()
    assert settings.database_url == f"sqlite+aiosqlite:///{(PROJECT / 'data/keepsake.sqlite3').as_posix()}"
    assert (settings.detail_level, settings.llm_tools, settings.reply_tokens) == (
        DetailLevel.BALANCED,
        "auto",
        1024,
    )
    assert not settings.llm_configured


@pytest.mark.parametrize(("name", "default"), LIMITS.items())
def test_a_limit_defaults_to_the_number_of_the_spec(name: str, default: int) -> None:
    assert getattr(load(), name.lower()) == default
    assert getattr(load(**{name: " 7 "}), name.lower()) == 7


@pytest.mark.parametrize("value", ["many", "0", "-5", "12.5", "1e3", "1_000", "٣", "9" * 40, "0x10", "nan"])
@pytest.mark.parametrize("name", LIMITS)
def test_a_useless_limit_falls_back_with_a_warning(name: str, value: str) -> None:
    settings, warnings = Settings.load({name: value})
    assert getattr(settings, name.lower()) == LIMITS[name]
    assert len(warnings) == 1
    assert name in warnings[0]
    assert f"default of {LIMITS[name]}" in warnings[0]


@given(st.text())
def test_no_text_in_a_limit_can_stop_the_start(text: str) -> None:
    settings, warnings = Settings.load({"MAX_MEMORY_LENGTH": text})
    assert settings.max_memory_length > 0
    assert warnings or not text.strip() or settings.max_memory_length == int(text)


@given(st.sampled_from([variable.name for variable in variables()]), st.text())
def test_any_text_is_either_understood_or_named_as_bad(name: str, text: str) -> None:
    try:
        Settings.load({name: text})
    except SettingsError as error:
        assert [line.split()[0] for line in error.problems] == [name]


def test_an_empty_value_counts_as_not_set() -> None:
    blank = dict.fromkeys((variable.name for variable in variables()), "")
    assert Settings.load(blank) == (Settings(), [])
    assert Settings.load(dict.fromkeys(blank, " \t")) == (Settings(), [])


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in BAD.items() for value in values]
)
def test_a_bad_value_is_named_in_a_sentence(name: str, value: str) -> None:
    found = problems({name: value, **({"SHARD_COUNT": "4"} if name == "SHARD_IDS" else {})})
    assert len(found) == 1
    assert re.match(rf"{name} (must|needs|names) ", found[0])


def test_all_bad_variables_are_named_at_once() -> None:
    environ = {name: values[0] for name, values in BAD.items()}
    found = problems(environ, need_token=True)
    assert {line.split()[0] for line in found} == {*BAD, "DISCORD_TOKEN"}


def test_the_token_is_needed_on_discord_only() -> None:
    assert load().discord_token is None
    assert "run.py play" in problems({}, need_token=True)[0]
    settings, _ = Settings.load({"DISCORD_TOKEN": " abc "}, need_token=True)
    assert settings.discord_token is not None
    assert settings.discord_token.get_secret_value() == "abc"


def test_shards_must_fit_their_count() -> None:
    assert load(SHARD_COUNT="4", SHARD_IDS="0, 3").shard_ids == (0, 3)
    assert "from 0 to 3" in problems({"SHARD_COUNT": "4", "SHARD_IDS": "0,4"})[0]
    assert "SHARD_COUNT" in problems({"SHARD_IDS": "0"})[0]


@pytest.mark.parametrize(
    ("given_url", "url"),
    [
        ("postgresql+asyncpg://u:p@h/db", "postgresql+asyncpg://u:p@h/db"),
        ("postgresql://u:p@h/db", "postgresql+asyncpg://u:p@h/db"),
        ("postgres://h/db", "postgresql+asyncpg://h/db"),
        ("sqlite:///a b/x.sqlite3", f"sqlite+aiosqlite:///{PROJECT.as_posix()}/a b/x.sqlite3"),
        (f"sqlite+aiosqlite:///{PROJECT.as_posix()}/x.db", f"sqlite+aiosqlite:///{PROJECT.as_posix()}/x.db"),
    ],
)
def test_a_database_url_gets_its_driver_and_its_folder(given_url: str, url: str) -> None:
    assert load(DATABASE_URL=given_url).database_url == url


def test_no_secret_is_ever_shown() -> None:
    settings = load(
        DISCORD_TOKEN="sesame1",
        LLM_API_KEY="sesame2",
        DATABASE_URL="postgresql://me:sesame3@db/x?password=sesame4",
        LLM_BASE_URL="https://me:sesame5@models.example/v1",
    )
    shown = f"{settings} {settings!r} {settings.safe_database_url}"
    assert "sesame" not in shown
    assert "models.example" in shown
    bad = {"DATABASE_URL": "mysql://me:sesame6@db", "LLM_BASE_URL": "ftp://me:sesame7@h", "LLM_TOOLS": "x"}
    with pytest.raises(SettingsError) as caught:
        Settings.load({"DISCORD_TOKEN": "sesame8", **bad})
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize(
    ("environ", "configured"),
    [
        ({}, False),
        ({"LLM_BASE_URL": OPENAI_URL + "/"}, False),
        ({"LLM_API_KEY": "k"}, True),
        ({"LLM_BASE_URL": "http://127.0.0.1:11434/v1"}, True),
    ],
)
def test_a_model_is_called_with_a_key_or_an_endpoint_of_ones_own(
    environ: dict[str, str], configured: bool
) -> None:
    assert load(**environ).llm_configured is configured


def test_words_are_taken_in_any_case() -> None:
    settings = load(DETAIL_LEVEL="Detailed", LLM_TOOLS="OFF", LOG_LEVEL="debug")
    assert (settings.detail_level, settings.llm_tools, settings.log_level) == (
        DetailLevel.DETAILED,
        "off",
        "DEBUG",
    )


def test_unknown_variables_are_left_alone() -> None:
    assert Settings.load({"KEEPSAKE_COLOUR": "green", "PATH": "x"}) == (Settings(), [])


def test_settings_can_not_be_changed_later() -> None:
    settings = Settings(llm_api_key=SecretStr("k"))
    with pytest.raises(ValidationError):
        settings.max_memory_length = 1  # type: ignore[misc]


def test_the_real_environment_wins_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text(
        "\ufeffLLM_MODEL='small model'\nexport LLM_API_KEY=from$file\nLOG_LEVEL=\n# PLAY_PORT=1\nSHARD_IDS\n",
        encoding="utf-8",
    )
    merged = read_env(file, {"LLM_API_KEY": "real", "LLM_MODEL": "", "LOG_LEVEL": "DEBUG"})
    assert merged == {"LLM_MODEL": "small model", "LLM_API_KEY": "real", "LOG_LEVEL": "DEBUG"}
    assert read_env(file, {})["LLM_API_KEY"] == "from$file"


def test_a_missing_file_is_no_error_and_an_unreadable_one_is(tmp_path: Path) -> None:
    assert read_env(tmp_path / "none", {"A": "1"}) == {"A": "1"}
    (tmp_path / ".env").write_bytes(b"LLM_MODEL=\xff\xfe\n")
    with pytest.raises(SettingsError, match="UTF-8"):
        read_env(tmp_path / ".env", {})


def test_the_example_file_lists_each_variable_once_with_its_default() -> None:
    text = (PROJECT / ".env.example").read_text(encoding="utf-8")
    assert text == env_example(), "run `python run.py fmt` to renew .env.example"
    lines = text.splitlines()
    for variable in variables():
        at = [number for number, line in enumerate(lines) if re.match(rf"#?{variable.name}=", line)]
        assert len(at) == 1, variable.name
        assert lines[at[0] - 1] == f"# {variable.about.help}"


def test_the_example_file_changes_nothing(tmp_path: Path) -> None:
    whole = tmp_path / ".env"
    text = (PROJECT / ".env.example").read_text(encoding="utf-8")
    whole.write_text(text, encoding="utf-8")
    assert Settings.load(read_env(whole, {})) == (Settings(), [])
    whole.write_text(re.sub(r"(?m)^#(?=[A-Z_]+=)", "", text), encoding="utf-8")
    assert Settings.load(read_env(whole, {})) == (Settings(), [])


def test_the_settings_page_lists_each_variable_once() -> None:
    page = (PROJECT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert page == settings_page(page), "run `python run.py fmt` to renew docs/settings.md"
    for variable in variables():
        assert settings_table().count(f"| `{variable.name}` |") == 1
