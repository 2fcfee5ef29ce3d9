"""Names inside a prompt: nobody's display name may pass for anything but a name, nor for somebody else's."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from functools import lru_cache

NAME_LIMIT = 80
"""Longest display name that a prompt shows, in code points."""

THIS_SERVER = "this server"
"""What a heading calls the server. No member may be called so."""

A_MEMBER = "a member"
"""Stands for a member whose name is not known. No member may be called so."""

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co"})
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that show as nothing."""

_NEUTRAL = {
    "[": "(",
    "]": ")",
    "<": "(",
    ">": ")",
    "{": "(",
    "}": ")",
    ":": "-",
    "：": "-",
    "∶": "-",
    "ː": "-",
}
_MENTION = re.compile(r"<@!?([0-9]{1,20})>")

_DIGITS = 4
"""The shortest tail of an id that tells two members apart."""

_TOLD_APART = re.compile(r"\.{2,}\s*\d")
"""In a :func:`likeness`: what could pass for the digits that :func:`tell_apart` puts behind a name."""

_ALIKE = str.maketrans(
    dict(zip("авекмнорстухіѕјһԁԛԝ", "abekmhopctyxisjhdqw", strict=True))
    | dict(zip("αβεζηικμνορτυχ", "abezhikmnoptyx", strict=True))
)
"""Cyrillic and Greek letters that look like Latin ones, small or capital."""


def _shown(char: str) -> str:
    """``char`` as a name may show it: brackets and colons, look-alikes too, become harmless."""
    if char in _NEUTRAL:
        return _NEUTRAL[char]
    category = unicodedata.category(char)
    if category in _HIDDEN:
        return " " if char.isspace() else ""
    if category in ("Zl", "Zp", "Zs") or char in _BLANK:
        return " "
    plain = unicodedata.normalize("NFKC", char)
    return "".join(_NEUTRAL.get(c, c) for c in plain) if any(c in _NEUTRAL for c in plain) else char


def clean_name(name: str) -> str:
    """A display name that can't fake a line: one line, no bracket or colon, 1 to 80 code points."""
    shown = " ".join("".join(_shown(c) for c in name).split())
    return shown[:NAME_LIMIT].rstrip() or "someone"


def render_mentions(
    text: str, names: Mapping[int, str], *, prefix: str = "", unknown: str | None = None
) -> str:
    """Put names where ``text`` says ``<@id>``. ``unknown`` stands for nameless ids; None leaves them."""

    def name_of(match: re.Match[str]) -> str:
        name = names.get(int(match[1]))
        if name is not None:
            return prefix + clean_name(name)
        return match[0] if unknown is None else unknown

    return _MENTION.sub(name_of, text)


@lru_cache(maxsize=1024)
def likeness(name: str) -> str:
    """What a reader takes a name for: the same for names that differ in case, width, spaces, look-alikes."""
    folded = unicodedata.normalize("NFKC", clean_name(name)).casefold()
    bare = "".join(c for c in unicodedata.normalize("NFKC", folded) if not _is_selector(c))
    return " ".join(bare.translate(_ALIKE).split())


def _is_selector(char: str) -> bool:
    """True for marks that change nothing that is seen, or only an emoji's style."""
    return char == "\u034f" or "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def tell_apart(
    people: Collection[tuple[int, str]], reserved: Collection[str] = ()
) -> Mapping[tuple[int, str], str]:
    """Names for those whose own would be taken for another's: ``Name (…1234)``, the last digits of the id.

    ``people``: ids with their names as the prompt shows them; one id may come with several names.
    ``reserved``: names that belong to nobody among them. Four digits, more while two are still alike. Who is
    called like such a label already gets one as well, so that the last digits are always the bearer's own.
    Who can't be mistaken is not in the result.
    """
    taken = {likeness(name) for name in reserved}
    tails = {who: _DIGITS for who in people if _TOLD_APART.search(likeness(who[1]))}
    while True:
        bearers: dict[str, set[tuple[int, str]]] = {}
        for who in people:
            bearers.setdefault(likeness(_labelled(who, tails.get(who, 0))), set()).add(who)
        alike = [
            who
            for form, group in bearers.items()
            if form in taken or len({person for person, _ in group}) > 1
            for who in group
            if tails.get(who, 0) < len(str(who[0]))
        ]
        if not alike:
            return {who: _labelled(who, tail) for who, tail in tails.items()}
        for who in alike:
            tails[who] = tails[who] + 1 if who in tails else _DIGITS


def _labelled(who: tuple[int, str], tail: int) -> str:
    """A name with the last ``tail`` digits of the id, never longer than a name may be."""
    if not tail:
        return who[1]
    digits = f" (…{str(who[0])[-tail:]})"
    return who[1][: NAME_LIMIT - len(digits)].rstrip() + digits
