"""Settings: what the operator decides by environment variables. One frozen value, made once, by the entry.

Nothing here looks at the environment by itself: ``bot.py`` hands over a mapping (:func:`read_env` merges the
``.env`` file into it). An empty value counts as not set. Every bad variable is named at once; only the limits
of SPEC §4.1 fall back to their default, with a warning. Each field carries its own line of help, from which
:mod:`memory.settings_docs` makes ``.env.example`` and the tables of ``docs/settings.md``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from dotenv import dotenv_values
from pydantic import BaseModel, BeforeValidator, ConfigDict, SecretStr, ValidationError, ValidationInfo
from pydantic import field_validator as check

from memory.errors import SettingsError
from memory.types import DetailLevel

PROJECT = Path(__file__).resolve().parent.parent
"""The project's folder: relative SQLite paths start here, whatever the current directory is."""

OPENAI_URL = "https://api.openai.com/v1"
"""The default endpoint. It is the only one that counts as not configured while no key is set."""

LEAST_RESERVE = 1024
"""Tokens always kept free for the reply (SPEC §5)."""

ToolsMode = Literal["auto", "on", "off"]
LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]

_SQLITE = re.compile(r"sqlite(?:\+aiosqlite)?:///(?P<path>[^?]+)(?P<query>\?.*)?", re.DOTALL)
_POSTGRES = re.compile(r"postgres(?:ql)?(?:\+asyncpg)?://(?P<rest>.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class About:
    """What a person reads about one variable. ``shown``: its default in words, where the value itself is
    not what one would write. ``lenient``: a bad value falls back to the default with a warning."""

    section: str
    help: str
    shown: str = ""
    lenient: bool = False


def _whole(low: int, high: int | None = None) -> Callable[[object], object]:
    """A whole number from ``low`` to ``high``, written in plain digits."""
    limits = f"of at least {low:,}" if high is None else f"from {low:,} to {high:,}"

    def parse(value: object) -> object:
        if not isinstance(value, str):
            return value
        number = int(value) if re.fullmatch(r"[+-]?[0-9]{1,18}", value) else None
        if number is None or number < low or (high is not None and number > high):
            raise ValueError(f"must be a whole number {limits}, not {_short(value)}")
        return number

    return parse


def _seconds(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"must be a number of seconds above 0, not {_short(value)}")
    return number


def _one_of(*words: str, upper: bool = False) -> Callable[[object], object]:
    """One of the words, in whatever case it is written."""

    def parse(value: object) -> object:
        if not isinstance(value, str):
            return value
        word = value.upper() if upper else value.lower()
        if word not in words:
            raise ValueError(f"must be one of {', '.join(words)}, not {_short(value)}")
        return word

    return parse


def _shards(value: object) -> object:
    if not isinstance(value, str):
        return value
    parts = [part for part in re.split(r"[,\s]+", value) if part]
    if not parts or not all(re.fullmatch(r"[0-9]{1,9}", part) for part in parts):
        raise ValueError(f"must be whole numbers separated by commas, such as 0,1,2, not {_short(value)}")
    numbers = tuple(int(part) for part in parts)
    if len(set(numbers)) != len(numbers):
        raise ValueError(f"names a shard twice: {_short(value)}")
    return numbers


def _endpoint(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        parts = urlsplit(value)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or re.search(r"\s", value):
        raise ValueError("must be an address such as http://127.0.0.1:11434/v1")
    return value.rstrip("/")


def _database(value: object) -> object:
    """The URL with its async driver named. A bad one is never repeated: it may hold a password."""
    if not isinstance(value, str):
        return value
    if found := _POSTGRES.fullmatch(value):
        return f"postgresql+asyncpg://{found['rest']}"
    found = _SQLITE.fullmatch(value)
    if found is None:
        raise ValueError(
            "must begin with sqlite+aiosqlite:/// (then a file) or postgresql+asyncpg:// (then a server)"
        )
    if ":memory:" in value or "mode=memory" in value:
        raise ValueError("names a database in memory, which forgets everything; name a file")
    return sqlite_url(Path(found["path"])) + (found["query"] or "")


def sqlite_url(path: Path) -> str:
    """The URL of a SQLite file. A relative path starts at the project's folder."""
    return f"sqlite+aiosqlite:///{(PROJECT / path).as_posix()}"


def _short(value: str) -> str:
    return repr(value if len(value) <= 40 else value[:39] + "…")


def _redacted(url: str) -> str:
    """The URL without its user, password and query."""
    return re.sub(r"\?.*", "?…", re.sub(r"//.*@", "//…@", url), flags=re.DOTALL)


_DISCORD, _DATABASE, _MODEL = "Discord", "Database", "Model"
_LIMITS, _RUNNING = "Memory", "Running"

Limit = Annotated[int, BeforeValidator(_whole(1))]


class Settings(BaseModel):
    """Every variable, checked. A field is named as its variable, in lower case. No secret is ever shown."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    discord_token: Annotated[
        SecretStr | None,
        About(_DISCORD, "The bot's token, from Discord's developer portal. Not needed by the playground."),
    ] = None
    shard_count: Annotated[
        int | None,
        BeforeValidator(_whole(1)),
        About(_DISCORD, "Shards in all; empty lets Discord decide.", "Discord's advice"),
    ] = None
    shard_ids: Annotated[
        tuple[int, ...] | None,
        BeforeValidator(_shards),
        About(_DISCORD, "The shards of this process, such as 0,1; needs SHARD_COUNT.", "all of them"),
    ] = None

    database_url: Annotated[
        str,
        BeforeValidator(_database),
        About(
            _DATABASE,
            "A SQLite file (a relative path starts at the project's folder) or postgresql+asyncpg://…",
            "sqlite+aiosqlite:///data/keepsake.sqlite3",
        ),
    ] = sqlite_url(Path("data/keepsake.sqlite3"))

    llm_base_url: Annotated[
        str,
        BeforeValidator(_endpoint),
        About(_MODEL, "Any OpenAI-compatible endpoint; a local one may need no key."),
    ] = OPENAI_URL
    llm_api_key: Annotated[
        SecretStr | None,
        About(
            _MODEL, "The endpoint's key. Without one, OpenAI's is not called: the offline responder answers."
        ),
    ] = None
    llm_model: Annotated[str, About(_MODEL, "The model's name, as the endpoint spells it.")] = "gpt-4.1-mini"
    reply_tokens: Annotated[
        int,
        BeforeValidator(_whole(1)),
        About(_MODEL, "Tokens kept free for a reply; the prompt's budget never counts fewer than 1,024."),
    ] = LEAST_RESERVE
    llm_context_window: Annotated[
        int | None,
        BeforeValidator(_whole(1)),
        About(_MODEL, "The model's context window in tokens, when Keepsake does not know it.", "by model"),
    ] = None
    llm_tools: Annotated[
        ToolsMode,
        BeforeValidator(_one_of("auto", "on", "off")),
        About(_MODEL, "auto, on or off: whether the model is offered the memory tools."),
    ] = "auto"
    llm_timeout_seconds: Annotated[
        float,
        BeforeValidator(_seconds),
        About(_MODEL, "Longest wait for the model's next piece, in seconds."),
    ] = 60.0
    turn_deadline_seconds: Annotated[
        float,
        BeforeValidator(_seconds),
        About(_MODEL, "Longest time for a whole reply, tool calls included, in seconds."),
    ] = 180.0

    detail_level: Annotated[
        DetailLevel,
        BeforeValidator(_one_of(*DetailLevel)),
        About(_LIMITS, "essential, balanced or detailed: how much of a channel stays word for word."),
    ] = DetailLevel.BALANCED
    max_server_memories: Annotated[
        Limit, About(_LIMITS, "Unpinned memories in each server scope.", lenient=True)
    ] = 100
    max_personal_memories: Annotated[
        Limit, About(_LIMITS, "Unpinned memories in each personal scope.", lenient=True)
    ] = 100
    max_pinned_memories: Annotated[
        Limit, About(_LIMITS, "Pinned memories in each scope, on top of the others.", lenient=True)
    ] = 20
    max_memory_length: Annotated[
        Limit, About(_LIMITS, "Longest memory, in characters (code points).", lenient=True)
    ] = 500
    max_injected_memories: Annotated[
        Limit, About(_LIMITS, "Unpinned memories given to the model in one turn.", lenient=True)
    ] = 100

    max_personas_per_server: Annotated[
        Limit, About(_LIMITS, "Personas of one server, the built-in one not counted.", lenient=True)
    ] = 20

    log_level: Annotated[
        LogLevel,
        BeforeValidator(_one_of("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", upper=True)),
        About(_RUNNING, "DEBUG, INFO, WARNING, ERROR or CRITICAL. Message text is logged at DEBUG only."),
    ] = "INFO"
    play_port: Annotated[
        int,
        BeforeValidator(_whole(0, 65535)),
        About(_RUNNING, "Port of the playground's page on this machine; 0 takes any free one."),
    ] = 8765

    @check("shard_ids")
    @classmethod
    def _shards_fit(cls, ids: tuple[int, ...] | None, info: ValidationInfo) -> tuple[int, ...] | None:
        if ids is None or "shard_count" not in info.data:
            return ids
        count = info.data["shard_count"]
        if count is None:
            raise ValueError("needs SHARD_COUNT, the number of shards in all")
        if max(ids, default=0) >= count:
            raise ValueError(
                f"names shard {max(ids)}; with SHARD_COUNT={count} they go from 0 to {count - 1}"
            )
        return ids

    @check("llm_context_window")
    @classmethod
    def _room_for_a_prompt(cls, window: int | None, info: ValidationInfo) -> int | None:
        reserve = max(info.data.get("reply_tokens", LEAST_RESERVE), LEAST_RESERVE)
        if window is not None and window <= reserve:
            raise ValueError(f"must be larger than the {reserve:,} tokens that are kept for a reply")
        return window

    @classmethod
    def load(cls, environ: Mapping[str, str], *, need_token: bool = False) -> tuple[Settings, list[str]]:
        """Read the variables. Returns the settings and sentences to log as warnings.

        ``need_token``: a missing DISCORD_TOKEN is a problem too (not for the playground).
        Raises :class:`SettingsError` naming every bad variable at once; values of secrets are never repeated.
        """
        given: dict[str, str] = {}
        warnings: list[str] = []
        for field, info in cls.model_fields.items():
            text = environ.get(field.upper(), "").strip()
            if not text:
                continue
            if about_of(info.metadata).lenient and not _is_limit(text):
                warnings.append(
                    f"{field.upper()} must be a whole number above 0, not {_short(text)};"
                    f" the default of {info.default} is used"
                )
                continue
            given[field] = text
        problems = [] if given.get("discord_token") or not need_token else [NO_TOKEN]
        settings: Settings | None = None
        try:
            settings = cls.model_validate(given)
        except ValidationError as error:
            problems += [
                f"{str(each['loc'][0]).upper()} {each['msg'].removeprefix('Value error, ')}"
                for each in error.errors(include_input=False, include_url=False)
            ]
        if settings is None or problems:
            raise SettingsError(problems)
        return settings, warnings

    @property
    def llm_configured(self) -> bool:
        """False: the offline responder answers. A local endpoint counts without a key (SPEC §14)."""
        return self.llm_api_key is not None or self.llm_base_url != OPENAI_URL

    @property
    def safe_database_url(self) -> str:
        """The database's URL for a log line: without user, password and query."""
        return _redacted(self.database_url)

    def __repr_args__(self) -> Iterable[tuple[str | None, object]]:
        for name, value in super().__repr_args__():
            yield name, _redacted(value) if name in {"database_url", "llm_base_url"} else value


NO_TOKEN = (
    "DISCORD_TOKEN is not set: put the bot's token into the file .env,"
    " or run `python run.py play`, which needs none"
)
"""The sentence for a missing token."""


def _is_limit(text: str) -> bool:
    return bool(re.fullmatch(r"\+?[0-9]{1,18}", text)) and int(text) > 0


def about_of(metadata: Iterable[object]) -> About:
    """The line of help in a field's metadata."""
    return next(item for item in metadata if isinstance(item, About))


def read_env(env_file: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """The ``.env`` file's variables under the real environment's, which win where they are not empty.

    A missing file is no error. Raises :class:`SettingsError` when the file cannot be read.
    """
    merged: dict[str, str] = {}
    try:
        if env_file.is_file():
            values = dotenv_values(env_file, interpolate=False, encoding="utf-8-sig")
            merged.update({name: value for name, value in values.items() if value})
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError([f"{env_file} cannot be read as UTF-8 text ({type(error).__name__})"]) from error
    merged.update({name: value for name, value in environ.items() if value.strip() or name not in merged})
    return merged
