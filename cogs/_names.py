"""A persona's name in front of its words, where no webhook can carry it: in DMs, and without the right. Pure.

An unseen sign opens such a message, so that it is never taken for words that only look like it.
"""

from __future__ import annotations

import re

from cogs._render import escape

SIGN = "\u2063"
"""Opens a message with a name in front. It is taken out of everything that a model writes."""

MOST = 80
"""Characters of a name (Discord's own limit for webhooks)."""

_AT_LINE_START = re.compile(r"(?:#{1,3}|-#|[-*+]|>{1,3}|\d{1,9}[.)])[ \t]|>|```")
"""Markup that counts only where a line begins."""

_FRONT = re.compile(rf"{SIGN}\*\*(?P<name>(?:\\.|[^*\\])+?):\*\*[ \n](?P<text>.*)", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)")


def in_front(name: str) -> str:
    """What stands before the words, one character short: a blank or a line's end follows."""
    return f"{SIGN}**{escape(' '.join(name[:MOST].split())) or 'Somebody'}:**"


def under(name: str, text: str) -> str:
    """The words with the name in front."""
    return f"{in_front(name)}{chr(10) if _AT_LINE_START.match(text) else ' '}{text}"


def room_beside(name: str) -> int:
    """Characters that the name takes of a message."""
    return len(in_front(name)) + 1


def taken_apart(content: str) -> tuple[str, str] | None:
    """Name and words of a message of ours that has a name in front; None for any other."""
    found = _FRONT.fullmatch(content)
    return None if found is None else (_ESCAPED.sub(r"\1", found["name"]), found["text"])


def same(one: str, other: str) -> bool:
    """Are two names the same once they are written in front?"""
    return in_front(one) == in_front(other)
