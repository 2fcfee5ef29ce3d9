"""What a model sent as a tool's arguments, read leniently and checked strictly. Pure.

Nothing here raises for anything a model can send: a bad value becomes a sentence that says what to send.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Save:
    """Arguments of ``save_memory``. ``about_server`` False: about a member, ``user`` if one is named."""

    content: str
    about_server: bool
    user: str | None = None
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """Arguments of ``update_memory`` and ``delete_memory`` (then ``content`` is empty)."""

    handle: str
    content: str = ""


class BadArguments(Exception):
    """``str(error)`` tells the model what to send."""


_SAVE = (
    'Send {"content": text, "about": "user" or "server"},'
    ' and if needed "user": a name, "keywords": a list of texts.'
)
_UPDATE = 'Send {"handle": "m12", "content": text}.'
_DELETE = 'Send {"handle": "m12"}.'


def read_save(raw: str) -> Save:
    """Raises :class:`BadArguments`."""
    given = _object(raw, ("content", "about", "user", "keywords"), _SAVE)
    user = _text(given, "user", _SAVE)
    about = _text(given, "about", _SAVE)
    if about is None and user is not None:
        about = "user"
    if about is None or about.strip().casefold() not in ("user", "server"):
        raise BadArguments(f'about must be "user" or "server". {_SAVE}')
    content = _needed(given, "content", _SAVE)
    named = user if user is not None and user.strip() else None
    return Save(content, about.strip().casefold() == "server", named, _keywords(given))


def read_update(raw: str) -> Change:
    """Raises :class:`BadArguments`."""
    given = _object(raw, ("handle", "content"), _UPDATE)
    return Change(_handle(given, _UPDATE), _needed(given, "content", _UPDATE))


def read_delete(raw: str) -> Change:
    """Raises :class:`BadArguments`."""
    return Change(_handle(_object(raw, ("handle",), _DELETE), _DELETE))


def _object(raw: str, known: tuple[str, ...], send: str) -> Mapping[str, object]:
    value: object = raw.strip() or "{}"
    for _ in range(2):  # some models send the object as a JSON string once more
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                raise BadArguments(f"the arguments are not valid JSON. {send}") from None
    if not isinstance(value, dict):
        raise BadArguments(f"the arguments must be one JSON object. {send}")
    extra = sorted(str(key)[:40] for key in value if key not in known)
    if extra:
        raise BadArguments(f"unknown argument: {', '.join(extra[:5])}. {send}")
    return {key: each for key, each in value.items() if each is not None}


def _text(given: Mapping[str, object], key: str, send: str) -> str | None:
    value = given.get(key)
    if value is None or isinstance(value, str):
        return value
    raise BadArguments(f"{key} must be text. {send}")


def _needed(given: Mapping[str, object], key: str, send: str) -> str:
    value = _text(given, key, send)
    if value is None:
        raise BadArguments(f"{key} is missing. {send}")
    return value


def _handle(given: Mapping[str, object], send: str) -> str:
    value = given.get("handle")
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value) if abs(value) < 10**18 else ""
    if value is None:
        raise BadArguments(f"handle is missing. {send}")
    if not isinstance(value, str):
        raise BadArguments(f"handle must be text such as m12. {send}")
    bare = value.strip().strip("[]()#").strip().casefold()
    return f"m{bare}" if bare.isdecimal() else bare


def _keywords(given: Mapping[str, object]) -> tuple[str, ...]:
    value = given.get("keywords", [])
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise BadArguments(f"keywords must be a list of texts. {_SAVE}")
    return tuple(value)
