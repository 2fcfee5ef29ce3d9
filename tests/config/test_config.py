from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.config import CONFIG_KEYS, Config, ConfigKey, ConfigRefused, ConfigType, Level
from memory.config.rules import docs_table, key_of, keys_at, plan_change, resolve, row_keys
from memory.settings import Settings, sqlite_url
from memory.store import Store
from memory.types import DetailLevel, Person, Place

from ..fakes import FakeClock

GUILD = 7
CHANNEL = Place(71, GUILD, name="general")
THREAD = Place(711, GUILD, parent_id=71, name="side talk")
DM = Place(72, None)
ADMIN = Person(1, "Mara", manages=True)
MEMBER = Person(2, "Ana")


@pytest.fixture
async def config(tmp_path: Path) -> AsyncIterator[Config]:
    settings = Settings.model_validate({"database_url": sqlite_url(tmp_path / "config.sqlite3")})
    store = await Store.open(settings.database_url)
    yield Config(store, settings, FakeClock())
    await store.close()


async def test_a_new_server_has_the_defaults(config: Config) -> None:
    now = await config.get(CHANNEL)
    assert not now.member_access
    assert not now.auto_reply
    assert now.detail is DetailLevel.BALANCED
    assert now.server_prompt == now.channel_prompt == ""
    assert {s.origin for s in now.settings} == {"default"}


async def test_a_thread_inherits_from_its_channel_and_its_channel_from_the_server(config: Config) -> None:
    await config.set(ADMIN, CHANNEL, "detail", "essential", level=Level.SERVER)
    assert (await config.get(THREAD)).detail is DetailLevel.ESSENTIAL
    await config.set(ADMIN, CHANNEL, "detail", "detailed", level=Level.CHANNEL)
    assert (await config.get(THREAD)).detail is DetailLevel.DETAILED
    assert (await config.get(THREAD)).setting("detail").origin == "channel"
    await config.set(ADMIN, THREAD, "detail", "balanced", level=Level.CHANNEL)
    assert (await config.get(THREAD)).detail is DetailLevel.BALANCED
    assert (await config.get(THREAD)).setting("detail").origin == "thread"
    assert (await config.get(CHANNEL)).detail is DetailLevel.DETAILED


async def test_auto_reply_and_the_channel_prompt_reach_the_channels_threads(config: Config) -> None:
    await config.set(ADMIN, CHANNEL, "auto_reply", "on")
    await config.set(ADMIN, CHANNEL, "channel_prompt", "Speak in rhyme.")
    now = await config.get(THREAD)
    assert now.auto_reply
    assert now.channel_prompt == "Speak in rhyme."
    other = await config.get(Place(99, GUILD))
    assert not other.auto_reply
    assert other.channel_prompt == ""


async def test_default_takes_a_setting_back(config: Config) -> None:
    await config.set(ADMIN, CHANNEL, "member_access", "on")
    assert (await config.get(CHANNEL)).member_access
    said = await config.set(ADMIN, CHANNEL, "member_access", "default")
    assert "off" in said
    assert not (await config.get(CHANNEL)).member_access


async def test_only_manage_server_changes_settings(config: Config) -> None:
    for key, value in (("member_access", "on"), ("auto_reply", "on"), ("server_prompt", "x")):
        with pytest.raises(ConfigRefused, match="Manage Server"):
            await config.set(MEMBER, CHANNEL, key, value)
    assert (await config.get(CHANNEL)).settings == (await config.get(CHANNEL)).settings
    assert not (await config.get(CHANNEL)).member_access


async def test_a_member_sets_their_own_direct_messages(config: Config) -> None:
    await config.set(MEMBER, DM, "detail", "detailed")
    await config.set(MEMBER, DM, "channel_prompt", "Call me Captain.")
    now = await config.get(DM)
    assert now.detail is DetailLevel.DETAILED
    assert now.channel_prompt == "Call me Captain."
    for key in ("member_access", "auto_reply", "server_prompt"):
        with pytest.raises(ConfigRefused, match="servers"):
            await config.set(MEMBER, DM, key, "on")


async def test_one_server_never_reads_anothers_settings(config: Config) -> None:
    await config.set(ADMIN, CHANNEL, "server_prompt", "Our secret rules.")
    elsewhere = await config.get(Place(81, GUILD + 1))
    assert elsewhere.server_prompt == ""


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("detail", "huge", "essential, balanced or detailed"),
        ("member_access", "maybe", "on or off"),
        ("server_prompt", "x" * 4_001, "4,001"),
        ("channel_prompt", "🦊" * 4_001, "shorten it by 1"),
        ("nothing", "on", "no such setting"),
    ],
)
async def test_a_bad_value_is_refused_with_what_is_allowed(
    config: Config, key: str, value: str, why: str
) -> None:
    before = await config.get(CHANNEL)
    with pytest.raises(ConfigRefused, match=why):
        await config.set(ADMIN, CHANNEL, key, value)
    assert await config.get(CHANNEL) == before


def test_the_longest_prompt_is_taken_whole() -> None:
    text = "🦊" * 4_000
    change = plan_change(ADMIN, CHANNEL, "server_prompt", text)
    assert change.value == text


def test_a_setting_of_one_level_is_not_set_at_the_other() -> None:
    with pytest.raises(ConfigRefused, match="/config server"):
        plan_change(ADMIN, CHANNEL, "member_access", "on", Level.CHANNEL)
    with pytest.raises(ConfigRefused, match="/config channel"):
        plan_change(ADMIN, CHANNEL, "auto_reply", "on", Level.SERVER)


def test_the_word_default_may_be_a_prompt() -> None:
    assert plan_change(ADMIN, CHANNEL, "channel_prompt", "default").value == "default"


def test_a_stored_value_that_is_no_longer_allowed_counts_as_not_set() -> None:
    rows = {("server", GUILD): {"detail": "gigantic", "member_access": "perhaps", "old_key": "1"}}
    now = resolve(rows, CHANNEL, DetailLevel.ESSENTIAL)
    assert now.detail is DetailLevel.ESSENTIAL
    assert not now.member_access


def test_the_operators_level_is_the_last_word() -> None:
    assert resolve({}, CHANNEL, DetailLevel.DETAILED).detail is DetailLevel.DETAILED


def test_rows_are_read_nearest_first() -> None:
    assert row_keys(THREAD) == (("channel", 711), ("channel", 71), ("server", GUILD))
    assert row_keys(DM) == (("channel", 72),)


@given(st.text(max_size=200))
def test_whatever_is_typed_is_stored_or_refused(text: str) -> None:
    for key in CONFIG_KEYS:
        for level in key.levels:
            try:
                change = plan_change(ADMIN, CHANNEL, key.name, text, level)
            except ConfigRefused as refused:
                assert str(refused)
                continue
            if change.value is not None:
                assert key.parse(change.value) == change.value
                rows = {(level.value, change.id): {key.name: change.value}}
                assert resolve(rows, CHANNEL, DetailLevel.BALANCED).setting(key.name).value == change.value


def test_every_setting_is_described_for_people() -> None:
    for key in CONFIG_KEYS:
        assert key.title
        assert key.help.endswith(".")
        assert len(key.title) <= 45
        assert key.choices or key.type is not ConfigType.CHOICE
        assert key.default is None or key.type is ConfigType.TEXT or key.parse(key.default) == key.default
        if not key.hidden:
            assert key_of(key.name) is key


def test_a_setting_with_a_command_of_its_own_is_not_changed_here() -> None:
    (hidden,) = [key for key in CONFIG_KEYS if key.hidden]
    with pytest.raises(ConfigRefused, match="no such setting"):
        key_of(hidden.name)
    assert hidden not in (*keys_at(Level.SERVER), *keys_at(Level.CHANNEL))


@pytest.mark.parametrize(("given", "stored"), [("42", "42"), (" <#42> ", "42"), ("", "")])
def test_a_channel_is_given_by_id_or_as_discord_writes_it(given: str, stored: str) -> None:
    assert key_of("audit_channel").parse(given) == stored


@pytest.mark.parametrize("given", ["general", "0", "-1", "<@42>", "9" * 30, "٣"])
def test_what_is_no_channel_is_refused(given: str) -> None:
    with pytest.raises(ConfigRefused, match="a channel of this server"):
        key_of("audit_channel").parse(given)


def test_a_number_is_checked_against_its_bounds() -> None:
    key = replace(CONFIG_KEYS[0], type=ConfigType.NUMBER, low=1, high=10)
    assert key.parse(" 7 ") == "7"
    for bad in ("0", "11", "x", "1.5", "٣", ""):
        with pytest.raises(ConfigRefused, match="from 1 to 10"):
            key.parse(bad)


def test_the_docs_table_has_one_row_for_each_setting() -> None:
    rows, shown = docs_table().splitlines(), [key for key in CONFIG_KEYS if not key.hidden]
    for key, row in zip(shown, rows[2:], strict=True):
        assert f"`{key.name}`" in row
        assert row.count("|") == 6


@pytest.mark.parametrize("key", [key for key in CONFIG_KEYS if not key.hidden], ids=lambda key: key.name)
async def test_every_change_is_said_in_the_same_words(config: Config, key: ConfigKey) -> None:
    value = {ConfigType.SWITCH: "on", ConfigType.TEXT: "Speak in rhyme.", ConfigType.CHANNEL: "42"}
    given = value.get(key.type) or key.choices[-1].value
    said = await config.set(ADMIN, CHANNEL, key.name, given)
    where = "in this server" if key.levels[0] is Level.SERVER else "in this channel"
    assert said == f"Saved. **{key.title}: {key.shown(given)}**, {where}, from the next message."
    back = await config.set(ADMIN, CHANNEL, key.name, None)
    assert back.startswith(f"Saved. **{key.title}** is no longer set {where}. What applies now: **")


async def test_a_setting_taken_back_says_what_applies_instead_and_why(config: Config) -> None:
    await config.set(ADMIN, CHANNEL, "detail", "essential", level=Level.SERVER)
    await config.set(ADMIN, CHANNEL, "detail", "detailed", level=Level.CHANNEL)
    back = await config.set(ADMIN, CHANNEL, "detail", None, level=Level.CHANNEL)
    assert back.endswith("What applies now: **essential, set for this server**.")
    await config.set(ADMIN, CHANNEL, "channel_prompt", "Speak in rhyme.")
    none = await config.set(ADMIN, CHANNEL, "channel_prompt", "")
    assert none.endswith("What applies now: **nothing**.")
