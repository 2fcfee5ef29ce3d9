"""The live window's rules: how a message looks, where the window starts, who is in play (SPEC §1, §2).

Pure. Author and time of a line always come from the event: no text and no name can fake another line, because
only the first line of a message stands at the left edge. No two authors of a window are shown by one name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from memory.prompt.names import A_MEMBER, THIS_SERVER, clean_name, render_mentions, tell_apart
from memory.types import (
    DEFAULT_LINEAGE,
    Attachment,
    AttachmentKind,
    AuthorKind,
    DetailLevel,
    Message,
)

__all__ = [
    "IN_PLAY_LIMIT",
    "RESERVED",
    "TEXT_FILE_CAP",
    "Limits",
    "as_heard_by",
    "bearers",
    "clean_name",
    "distinguish",
    "has_words",
    "in_play",
    "limits",
    "plan_start",
    "render_line",
]

TEXT_FILE_CAP = 2_000
"""Characters of a text file that a line shows."""

IN_PLAY_LIMIT = 10
"""Members in play (SPEC §1)."""

WINDOW_SHARE = 4
"""The window takes at most one part in four of the model's context window (SPEC §2)."""

RESERVED = (THIS_SERVER, A_MEMBER)
"""What the prompt's own words call nobody in particular."""

_INDENT = "  "
_HEAD = re.compile(r"(\[\d{2}:\d{2}\] )([^:\n]+)(?=:)")
"""How :func:`render_line` begins. A cleaned name holds no colon, so the name ends at the first."""
_LEVELS = {
    DetailLevel.ESSENTIAL: (30, 6_000),
    DetailLevel.BALANCED: (50, 10_000),
    DetailLevel.DETAILED: (80, 16_000),
}


@dataclass(frozen=True, slots=True)
class Limits:
    """How much stays verbatim, and the size of a chunk: 10 messages or 2,000 tokens, what comes first."""

    messages: int
    tokens: int
    chunk_messages: int = 10
    chunk_tokens: int = 2_000


def limits(level: DetailLevel, context_window: int) -> Limits:
    """The level's messages and tokens, and never more than 25 % of the model's context window (SPEC §2)."""
    messages, tokens = _LEVELS[level]
    return Limits(messages, min(tokens, context_window // WINDOW_SHARE))


def render_line(
    name: str,
    at: datetime,
    text: str,
    attachments: Sequence[Attachment] = (),
    *,
    kind: AuthorKind,
    mentions: Mapping[int, str] | None = None,
) -> str:
    """What the prompt shows of one message: ``[HH:MM] Name: text``, the time in UTC.

    Every further line, of the text or of a file, is indented by two spaces. ``mentions``: display names for
    ``<@id>``, shown as ``@Name``; ids without a name stay. A persona's own message is its bare text.
    """
    shown = render_mentions(text, mentions or {}, prefix="@")
    if kind is AuthorKind.PERSONA:
        return shown
    lines = shown.strip().splitlines() or [""]
    for attachment in attachments:
        lines += _attached(attachment)
    if not lines[0] and len(lines) > 1:
        lines = lines[1:]
    head = f"[{at.astimezone(UTC):%H:%M}] {clean_name(name)}: {lines[0]}".rstrip()
    return "\n".join([head, *(_INDENT + line for line in lines[1:])])


def _attached(attachment: Attachment) -> list[str]:
    word = "image" if attachment.kind is AttachmentKind.IMAGE else "file"
    label = f"[{word}: {clean_name(attachment.name)}]"
    if attachment.kind is not AttachmentKind.TEXT or not attachment.text:
        return [label]
    cut = attachment.text[:TEXT_FILE_CAP]
    if len(attachment.text) > TEXT_FILE_CAP:
        cut += "…"
    return [label, *cut.splitlines()]


def as_heard_by(lineage: str, messages: Sequence[Message]) -> list[Message]:
    """The messages as one persona hears them: what another persona said is a line under that one's name.

    Such a line's tokens are unknown (``encoding`` empty). All others come back as the same objects.
    """
    return [
        replace(
            m,
            kind=AuthorKind.BOT,
            line=render_line(m.author_name, m.at, m.text, kind=AuthorKind.BOT),
            encoding="",
        )
        if m.kind is AuthorKind.PERSONA and (m.lineage or DEFAULT_LINEAGE) != lineage
        else m
        for m in messages
    ]


def distinguish(messages: Sequence[Message], reserved: Collection[str] = ()) -> list[Message]:
    """The messages with every author shown by a name of their own, as long as both stand in ``messages``.

    A member or bot whose name would be taken for another author's, for the persona's or for a name in
    ``reserved`` is shown as ``Name (…1234)``, in ``author_name`` and in the line; the line's tokens are then
    unknown (``encoding`` empty). What counts is the name that the line shows: an edit may have brought a
    newer one than the message was stored with. All other messages come back as the same objects.
    """
    personas = {m.author_name for m in messages if m.kind is AuthorKind.PERSONA}
    given = tell_apart(bearers(messages), {*RESERVED, *reserved, *personas})
    return [
        m if m.kind is AuthorKind.PERSONA else _renamed(m, given.get((m.author_id, _name(m)), _name(m)))
        for m in messages
    ]


def bearers(messages: Sequence[Message]) -> Set[tuple[int, str]]:
    """The authors, personas left out, with each of the names that their lines show."""
    return {(m.author_id, _name(m)) for m in messages if m.kind is not AuthorKind.PERSONA}


def _name(message: Message) -> str:
    head = _HEAD.match(message.line)
    return head[2] if head else message.author_name


def _renamed(message: Message, name: str) -> Message:
    """The message under that name, in its line's head too."""
    head = _HEAD.match(message.line)
    if head is None or head[2] == name:
        return message if message.author_name == name else replace(message, author_name=name)
    line = f"{head[1]}{name}{message.line[head.end() :]}"
    return replace(message, author_name=name, line=line, encoding="")


def has_words(text: str) -> bool:
    """Is there anything to see in a text? Blanks and invisible signs are nothing."""
    return any(c not in _BLANK and unicodedata.category(c) not in _UNSEEN for c in text)


_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f")
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"))


def plan_start(sizes: Sequence[tuple[int, int]], limits: Limits) -> int:
    """Index of the first message that stays, given the window's messages as (id, tokens), oldest first.

    While the window is over a limit its oldest chunk leaves: the shortest run that reaches 10 messages or
    2,000 tokens. The newest message always stays, even alone over the limit: a chunk that would take it is
    cut short before it.
    """
    start, messages, tokens = 0, len(sizes), sum(size for _, size in sizes)
    while messages > 1 and (messages > limits.messages or tokens > limits.tokens):
        taken = taken_tokens = 0
        while (
            taken < messages - 1
            and taken < max(1, limits.chunk_messages)
            and (taken == 0 or taken_tokens < limits.chunk_tokens)
        ):
            taken_tokens += sizes[start + taken][1]
            taken += 1
        start, messages, tokens = start + taken, messages - taken, tokens - taken_tokens
    return start


def in_play(
    messages: Sequence[Message], trigger_author_ids: Sequence[int], limit: int = IN_PLAY_LIMIT
) -> tuple[int, ...]:
    """Whom the turn is with: trigger authors first, then the most recent human authors (SPEC §1).

    ``messages``: the live window, newest last. Bots and personas never are, nor are the mentioned.
    """
    recent = (m.author_id for m in reversed(messages) if m.kind is AuthorKind.MEMBER)
    return tuple(dict.fromkeys([*trigger_author_ids, *recent]))[:limit]
