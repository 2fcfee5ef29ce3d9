"""What is set where, pure. The settings themselves are described in :mod:`memory.config.keys`.

A missing row means the default. Resolution goes from the nearest to the farthest: thread, its parent channel,
server, default (SPEC §2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memory.config.keys import (
    CONFIG_KEYS,
    PROMPT_LIMIT,
    Autosave,
    Choice,
    ConfigKey,
    ConfigRefused,
    ConfigType,
    Confirmations,
    Level,
    Mode,
)
from memory.types import DetailLevel, Person, Persona, Place

__all__ = [
    "CONFIG_KEYS",
    "ORIGINS",
    "PROMPT_LIMIT",
    "RESET_WORDS",
    "Autosave",
    "Change",
    "Choice",
    "ConfigKey",
    "ConfigRefused",
    "ConfigType",
    "Confirmations",
    "Level",
    "Mode",
    "PlaceConfig",
    "Rows",
    "Setting",
    "docs_table",
    "key_of",
    "keys_at",
    "plan_change",
    "resolve",
    "row_keys",
    "sentence",
]

Rows = Mapping[tuple[str, int], Mapping[str, str]]
"""Stored values: (level, id) → key → text."""

RESET_WORDS = frozenset({"default", "reset", "none", "clear"})
"""What a person may type to go back to the default. Never taken as the words of a prompt's text box."""

ORIGINS = {
    "thread": "set for this thread",
    "channel": "set for this channel",
    "server": "set for this server",
    "default": "the default",
}
"""Where a value comes from, in words."""


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
    detail_origin: str = "default"
    autosave: Autosave = Autosave.ON
    mode: Mode = Mode.NORMAL
    confirmations: Confirmations = Confirmations.FULL
    audit_channel: int = 0
    union: bool = False
    tags: bool = True
    persona_id: int = 0

    def detail_for(self, persona: Persona) -> DetailLevel:
        """Detail resolves channel → persona → server → the operator's (SPEC §2)."""
        if persona.detail is not None and self.detail_origin not in ("thread", "channel"):
            return persona.detail
        return self.detail

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
        if key.name == name.strip().lower() and not key.hidden:
            return key
    raise ConfigRefused("There is no such setting. Nothing was changed; pick one from the list.")


def keys_at(level: Level, *, dm: bool = False) -> tuple[ConfigKey, ...]:
    """The settings that can be stored at that level, those of a DM only when ``dm``."""
    return tuple(k for k in CONFIG_KEYS if level in k.levels and (k.in_dm or not dm) and not k.hidden)


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
        settings=tuple(setting for setting in settings.values() if not setting.key.hidden),
        detail_origin=settings["detail"].origin,
        autosave=Autosave(settings["autosave"].value),
        mode=Mode(settings["memory_mode"].value),
        confirmations=Confirmations(settings["confirmations"].value),
        audit_channel=int(settings["audit_channel"].value or 0),
        union=settings["persona_memories"].value == "union",
        tags=settings["tags"].value == "on",
        persona_id=int(settings["persona"].value),
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
        if key.hidden:
            continue
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
    if key.type is ConfigType.CHANNEL:
        return "a channel of the server"
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
