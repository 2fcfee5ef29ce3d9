"""The settings of servers and channels, one row each in :data:`CONFIG_KEYS`; pure.

A row is the only description of a setting: from it come its validation, its storage, its place in ``/config``
and its line in the docs. What is stored is text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from memory.errors import KeepsakeError
from memory.types import DetailLevel

PROMPT_LIMIT = 4_000
"""Longest server or channel prompt, in characters: what one Discord text box can hold."""

_ON = frozenset({"on", "yes", "true", "1", "enable", "enabled"})
_OFF = frozenset({"off", "no", "false", "0", "disable", "disabled"})


class ConfigRefused(KeepsakeError):
    """A setting was not changed. ``str()`` says why and what to do."""


class Level(StrEnum):
    """Where a setting may be stored. A thread, a forum post and a DM are channels."""

    SERVER = "server"
    CHANNEL = "channel"


class Autosave(StrEnum):
    """Whether the model and the background pass write by themselves (SPEC §4.8)."""

    ON = "on"
    ASK = "ask"
    OFF = "off"


class Mode(StrEnum):
    """What is remembered in a channel (SPEC §4.8)."""

    NORMAL = "normal"
    INCOGNITO = "incognito"
    BLANK = "blank"


class Confirmations(StrEnum):
    """How committed writes are told (SPEC §4.5)."""

    FULL = "full"
    COMPACT = "compact"
    OFF = "off"


class ConfigType(StrEnum):
    SWITCH = "switch"
    CHOICE = "choice"
    TEXT = "text"
    NUMBER = "number"
    CHANNEL = "channel"


@dataclass(frozen=True, slots=True)
class Choice:
    """One allowed value, and what it means to a person."""

    value: str
    help: str


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """One setting. ``default`` is stored form; None: the operator's setting decides (``env`` names it).

    ``low`` and ``high`` bound a number, or the length of a text in characters. ``in_dm``: has a meaning in a
    direct message; ``help_in_dm``: said there instead of ``help``. ``hidden``: has a command of its own and
    no place in ``/config``.
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
    hidden: bool = False
    help_in_dm: str = ""

    def parse(self, raw: str) -> str:
        """The stored form of what a person gave. Raises :class:`ConfigRefused` with what is allowed."""
        if self.type is ConfigType.SWITCH:
            return _parse_switch(self, raw)
        if self.type is ConfigType.CHOICE:
            return _parse_choice(self, raw)
        if self.type is ConfigType.NUMBER:
            return _parse_number(self, raw)
        if self.type is ConfigType.CHANNEL:
            return _parse_channel(self, raw)
        return _parse_text(self, raw)

    def shown(self, stored: str) -> str:
        """A stored value in a word or two (the words of a text are not shown here)."""
        if self.type is ConfigType.TEXT:
            return f"{len(stored):,} characters" if stored else "empty"
        if self.type is ConfigType.CHANNEL:
            return f"<#{stored}>" if stored else "none"
        return stored


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


def _parse_channel(key: ConfigKey, raw: str) -> str:
    """A channel's id, also as Discord writes it (``<#id>``). Whether we may post there is asked elsewhere."""
    word = raw.strip().removeprefix("<#").removesuffix(">")
    if not word:
        return ""
    if not (word.isascii() and word.isdigit() and 0 < int(word) < 1 << 63):
        raise ConfigRefused(f"“{key.title}” must be a channel of this server. Nothing was changed.")
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
        help_in_dm="Standing instructions for this conversation.",
    ),
    ConfigKey(
        "auto_reply",
        (Level.CHANNEL,),
        ConfigType.SWITCH,
        "off",
        "Answer every message",
        "On: I answer each message here and in its threads. Off: only when I am mentioned or replied to.",
    ),
    ConfigKey(
        "autosave",
        (Level.SERVER,),
        ConfigType.CHOICE,
        "on",
        "Saving from chat",
        "What happens when I want to save, change or delete a memory in a conversation by myself.",
        choices=(
            Choice("on", "it is done at once where the member may do it, and waits for approval elsewhere"),
            Choice(
                "ask",
                "it always waits for approval by button: the server's by who may write them,"
                " personal ones by the member",
            ),
            Choice("off", "I save, change and delete nothing by myself"),
        ),
    ),
    ConfigKey(
        "memory_mode",
        (Level.CHANNEL,),
        ConfigType.CHOICE,
        "normal",
        "Memory mode",
        "What I remember in this channel and its threads.",
        choices=(
            Choice("normal", "memories are read and written"),
            Choice("incognito", "memories are read, and nothing said here is saved anywhere"),
            Choice("blank", "memories are neither read nor written"),
        ),
        in_dm=True,
        help_in_dm="What I remember in this conversation.",
    ),
    ConfigKey(
        "confirmations",
        (Level.SERVER, Level.CHANNEL),
        ConfigType.CHOICE,
        "full",
        "Confirmations",
        "How I say that a memory was saved, changed or deleted in a conversation.",
        choices=(
            Choice("full", "a card for each, with what was written and its buttons"),
            Choice("compact", "one line for each reply"),
            Choice("off", "only in the audit channel, if one is set"),
        ),
        in_dm=True,
    ),
    ConfigKey(
        "audit_channel",
        (Level.SERVER,),
        ConfigType.CHANNEL,
        "",
        "Audit channel",
        "Where confirmations are posted that a channel does not show, or that could not be posted there.",
    ),
    ConfigKey(
        "persona_memories",
        (Level.CHANNEL,),
        ConfigType.CHOICE,
        "isolated",
        "Memories of several personas",
        "Which server memories a persona reads in a channel where several take part.",
        choices=(
            Choice("isolated", "its own and those for all personas"),
            Choice("union", "also those of every other persona that takes part here and learns from chat"),
        ),
    ),
    ConfigKey(
        "tags",
        (Level.SERVER,),
        ConfigType.SWITCH,
        "on",
        "Keywords and channel tags",
        "On: an entry with keywords or channels is used only where they fit. Off: tags are ignored.",
    ),
    ConfigKey(
        "persona",
        (Level.SERVER, Level.CHANNEL),
        ConfigType.NUMBER,
        "0",
        "Persona",
        "Who answers here when nobody else is called; set with `/persona use`.",
        high=(1 << 63) - 1,
        in_dm=True,
        hidden=True,
    ),
)
