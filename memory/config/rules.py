"""Settings of servers and channels, pure. A row of :data:`CONFIG_KEYS` is the only description of a setting.

From that row come its validation, its storage, its place in ``/config`` and its line in the docs. What is
stored is text; a missing row means the default. Resolution goes from the nearest to the farthest: thread,
its parent channel, server, default (SPEC §2).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memory.errors import KeepsakeError
from memory.types import DetailLevel, Person, Place

Rows = Mapping[tuple[str, int], Mapping[str, str]]
"""Stored values: (level, id) → key → text."""

PROMPT_LIMIT = 4_000
"""Longest server or channel prompt, in characters: what one Discord text box can hold."""

RESET_WORDS = frozenset({"default", "reset", "none", "clear"})
"""What a person may type to go back to the default. Never taken as the words of a prompt's text box."""

ORIGINS = {
    "thread": "set for this thread",
    "channel": "set for this channel",
    "server": "set for this server",
    "default": "the default",
}
"""Where a value comes from, in words."""

_ON = frozenset({"on", "yes", "true", "1", "enable", "enabled"})
_OFF = frozenset({"off", "no", "false", "0", "disable", "disabled"})


class ConfigRefused(KeepsakeError):
    """A setting was not changed. ``str()`` says why and what to do."""


class Level(StrEnum):
    """Where a setting may be stored. A thread, a forum post and a DM are channels."""

    SERVER = "server"
    CHANNEL = "channel"


class ConfigType(StrEnum):
    SWITCH = "switch"
    CHOICE = "choice"
    TEXT = "text"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Choice:
    """One allowed value, and what it means to a person."""

    value: str
    help: str


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """One setting. ``default`` is stored form; None: the operator's setting decides (``env`` names it).

    ``low`` and ``high`` bound a number, or the length of a text in characters. ``in_dm``: has a meaning in a
    direct message.
    """

    name: str
    levels: tuple[Level, ...]
    type: ConfigType
    default: str | None
    title: str
    help: str
    choices: tuple[Choice, ...] = ()
    low: int = 0
    high: int = 0
    in_dm: bool = False
    env: str = ""

    def parse(self, raw: str) -> str:
        """The stored form of what a person gave. Raises :class:`ConfigRefused` with what is allowed."""
        if self.type is ConfigType.SWITCH:
            return _parse_switch(self, raw)
        if self.type is ConfigType.CHOICE:
            return _parse_choice(self, raw)
        if self.type is ConfigType.NUMBER:
            return _parse_number(self, raw)
        return _parse_text(self, raw)

    def shown(self, stored: str) -> str:
        """A stored value in a word or two (the words of a text are not shown here)."""
        if self.type is ConfigType.TEXT:
            return f"{len(stored):,} characters" if stored else "empty"
        return stored


CONFIG_KEYS: tuple[ConfigKey, ...] = (
    ConfigKey(
        "member_access",
        (Level.SERVER,),
        ConfigType.SWITCH,
        "off",
        "Members may write server memories",
        "On: every member may add, edit, pin and delete what is remembered about this server."
        " Off: only members with Manage Server.",
    ),
    ConfigKey(
        "detail",
        (Level.SERVER, Level.CHANNEL),
        ConfigType.CHOICE,
        None,
        "Detail level",
        "How much of the conversation stays word for word. More detail remembers more and costs more for each"
        " reply.",
        choices=(
            Choice(DetailLevel.ESSENTIAL.value, "the last 30 messages, up to 6,000 tokens; cheapest"),
            Choice(DetailLevel.BALANCED.value, "the last 50 messages, up to 10,000 tokens"),
            Choice(DetailLevel.DETAILED.value, "the last 80 messages, up to 16,000 tokens; costs most"),
        ),
        in_dm=True,
        env="DETAIL_LEVEL",
    ),
    ConfigKey(
        "server_prompt",
        (Level.SERVER,),
        ConfigType.TEXT,
        "",
        "Server prompt",
        "Standing instructions for every conversation in this server.",
        high=PROMPT_LIMIT,
    ),
    ConfigKey(
        "channel_prompt",
        (Level.CHANNEL,),
        ConfigType.TEXT,
        "",
        "Channel prompt",
        "Standing instructions for this channel and its threads.",
        high=PROMPT_LIMIT,
        in_dm=True,
    ),
    ConfigKey(
        "auto_reply",
        (Level.CHANNEL,),
        ConfigType.SWITCH,
        "off",
        "Answer every message",
        "On: I answer each message here and in its threads. Off: only when I am mentioned or replied to.",
    ),
)


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as it stands in one place. ``origin``: thread, channel, server or default."""

    key: ConfigKey
    value: str
    origin: str


@dataclass(frozen=True, slots=True)
class PlaceConfig:
    """Everything that is set for one place, resolved. Prompts are "" when there are none."""

    member_access: bool
    auto_reply: bool
    detail: DetailLevel
    server_prompt: str
    channel_prompt: str
    settings: tuple[Setting, ...] = ()

    def setting(self, name: str) -> Setting:
        return next(s for s in self.settings if s.key.name == name)


@dataclass(frozen=True, slots=True)
class Change:
    """A change that may be stored: ``value`` None goes back to the default."""

    key: ConfigKey
    level: Level
    id: int
    value: str | None


def key_of(name: str) -> ConfigKey:
    """The setting of that name. Raises :class:`ConfigRefused`."""
    for key in CONFIG_KEYS:
        if key.name == name.strip().lower():
            return key
    raise ConfigRefused("There is no such setting. Nothing was changed; pick one from the list.")


def keys_at(level: Level, *, dm: bool = False) -> tuple[ConfigKey, ...]:
    """The settings that can be stored at that level, those of a DM only when ``dm``."""
    return tuple(k for k in CONFIG_KEYS if level in k.levels and (k.in_dm or not dm))


def row_keys(place: Place) -> tuple[tuple[str, int], ...]:
    """The rows that decide in that place, nearest first."""
    keys = [(Level.CHANNEL.value, place.channel_id)]
    if place.parent_id is not None:
        keys.append((Level.CHANNEL.value, place.parent_id))
    if place.guild_id is not None:
        keys.append((Level.SERVER.value, place.guild_id))
    return tuple(keys)


def resolve(rows: Rows, place: Place, default_detail: DetailLevel) -> PlaceConfig:
    """What is set in that place. A stored value that is no longer allowed counts as not set."""
    settings = {key.name: _resolve_key(key, rows, place, default_detail) for key in CONFIG_KEYS}
    return PlaceConfig(
        member_access=settings["member_access"].value == "on",
        auto_reply=settings["auto_reply"].value == "on",
        detail=DetailLevel(settings["detail"].value),
        server_prompt=settings["server_prompt"].value,
        channel_prompt=settings["channel_prompt"].value,
        settings=tuple(settings.values()),
    )


def plan_change(
    person: Person, place: Place, name: str, raw: str | None, level: Level | None = None
) -> Change:
    """Check a person's right and the value. Raises :class:`ConfigRefused`; nothing is stored here.

    ``raw`` None, or a reset word for anything but a text, goes back to the default. ``level`` None takes
    the only level of the setting, or the server's.
    """
    key = key_of(name)
    at = level or (key.levels[0] if not place.is_dm else Level.CHANNEL)
    if not (place.is_dm or person.manages):
        raise ConfigRefused("Changing settings needs the Manage Server permission. Nothing was changed.")
    if place.is_dm and not key.in_dm:
        raise ConfigRefused(f"“{key.title}” is a setting for servers. Nothing was changed.")
    if at not in key.levels:
        others = " and ".join(f"/config {other.value}" for other in key.levels)
        raise ConfigRefused(f"“{key.title}” is set with {others}. Nothing was changed.")
    owner = place.channel_id if at is Level.CHANNEL else place.guild_id
    if owner is None:
        raise ConfigRefused("A direct message has no server settings. Nothing was changed.")
    return Change(key, at, owner, _value(key, raw))


def sentence(change: Change, place: Place, config: PlaceConfig) -> str:
    """What was set, where and from when, in one wording for every setting: its title, then its value."""
    title, where = change.key.title, _where(change.level, place)
    if change.value is not None:
        return f"Saved. **{title}: {change.key.shown(change.value)}**, {where}, from the next message."
    now = config.setting(change.key.name)
    shown = f"{change.key.shown(now.value)}, {ORIGINS[now.origin]}" if now.value else "nothing"
    return f"Saved. **{title}** is no longer set {where}. What applies now: **{shown}**."


def docs_table() -> str:
    """The settings as a Markdown table, one row each, for the docs page."""
    rows = ["| setting | where | values | default | what it does |", "|---|---|---|---|---|"]
    for key in CONFIG_KEYS:
        where = " and ".join(f"`/config {level.value}`" for level in key.levels)
        default = f"`{key.env}`" if key.default is None else (key.default or "none")
        rows.append(f"| {key.title} (`{key.name}`) | {where} | {_values(key)} | {default} | {key.help} |")
    return "\n".join(rows) + "\n"


def _values(key: ConfigKey) -> str:
    if key.type is ConfigType.SWITCH:
        return "on, off"
    if key.type is ConfigType.CHOICE:
        return "; ".join(f"`{choice.value}`: {choice.help.replace(';', ',')}" for choice in key.choices)
    if key.type is ConfigType.NUMBER:
        return f"{key.low:,} to {key.high:,}"
    return f"text, up to {key.high:,} characters"


def _where(level: Level, place: Place) -> str:
    if level is Level.SERVER:
        return "in this server"
    if place.is_dm:
        return "in our direct messages"
    return "in this channel" if place.parent_id is None else "in this thread"


def _value(key: ConfigKey, raw: str | None) -> str | None:
    if raw is None:
        return None
    if key.type is not ConfigType.TEXT and raw.strip().lower() in RESET_WORDS:
        return None
    return key.parse(raw) or None


def _resolve_key(key: ConfigKey, rows: Rows, place: Place, default_detail: DetailLevel) -> Setting:
    for level, owner in row_keys(place):
        if Level(level) not in key.levels:
            continue
        stored = rows.get((level, owner), {}).get(key.name)
        if stored is None or not _allowed(key, stored):
            continue
        return Setting(key, stored, _origin(level, owner, place))
    default = default_detail.value if key.default is None else key.default
    return Setting(key, default, "default")


def _origin(level: str, owner: int, place: Place) -> str:
    if level == Level.SERVER.value:
        return "server"
    if place.parent_id is None:
        return "channel"
    return "thread" if owner == place.channel_id else "channel"


def _allowed(key: ConfigKey, stored: str) -> bool:
    if key.type is ConfigType.TEXT:
        return len(stored) <= key.high
    try:
        return key.parse(stored) == stored
    except ConfigRefused:
        return False


def _parse_switch(key: ConfigKey, raw: str) -> str:
    word = raw.strip().lower()
    if word in _ON:
        return "on"
    if word in _OFF:
        return "off"
    raise ConfigRefused(f"“{key.title}” can be on or off. Nothing was changed.")


def _parse_choice(key: ConfigKey, raw: str) -> str:
    word = raw.strip().lower()
    names = [choice.value for choice in key.choices]
    if word in names:
        return word
    raise ConfigRefused(f"“{key.title}” can be {_one_of(names)}. Nothing was changed.")


def _parse_number(key: ConfigKey, raw: str) -> str:
    word = raw.strip()
    if not (word.isascii() and word.removeprefix("-").isdigit() and key.low <= int(word) <= key.high):
        raise ConfigRefused(
            f"“{key.title}” must be a whole number from {key.low:,} to {key.high:,}. Nothing was changed."
        )
    return str(int(word))


def _parse_text(key: ConfigKey, raw: str) -> str:
    text = raw.replace("\r\n", "\n").replace("\r", "\n")
    text = "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs"))
    text = unicodedata.normalize("NFC", text).strip()
    if len(text) > key.high:
        over = len(text) - key.high
        raise ConfigRefused(
            f"“{key.title}” may have {key.high:,} characters; that was {len(text):,}. Nothing was changed:"
            f" shorten it by {over:,}."
        )
    return text


def _one_of(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
