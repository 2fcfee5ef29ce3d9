"""Values that every room shares. They know nothing of storage, Discord or the model.

All times are UTC-aware. All Discord ids are snowflakes (64-bit integers). All lengths are code points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

GLOBAL = ""
"""Lineage of entries that every persona shares."""

DEFAULT_LINEAGE = "keepsake"
"""Lineage of the built-in persona: one everywhere, DMs included (SPEC §1)."""


class Clock(Protocol):
    """The only source of time. Injected, so that tests and the playground can own it."""

    def now(self) -> datetime:
        """The present instant, UTC-aware."""


class SubjectKind(StrEnum):
    """Whom a memory is about (SPEC §1)."""

    SERVER = "server"
    USER = "user"


@dataclass(frozen=True, slots=True, order=True)
class Scope:
    """Subject × persona lineage. ``lineage`` is :data:`GLOBAL` for all personas."""

    kind: SubjectKind
    subject_id: int
    lineage: str

    @classmethod
    def server(cls, guild_id: int, lineage: str = GLOBAL) -> Scope:
        return cls(SubjectKind.SERVER, guild_id, lineage)

    @classmethod
    def user(cls, user_id: int, lineage: str = GLOBAL) -> Scope:
        return cls(SubjectKind.USER, user_id, lineage)


@dataclass(frozen=True, slots=True)
class Place:
    """One conversation: a text channel, thread, forum post or DM. ``guild_id`` is None in a DM."""

    channel_id: int
    guild_id: int | None
    parent_id: int | None = None
    name: str = ""

    @property
    def is_dm(self) -> bool:
        return self.guild_id is None


@dataclass(frozen=True, slots=True)
class Person:
    """Who acts, always taken from the event, never from text. ``manages`` = Manage Server there."""

    id: int
    name: str
    manages: bool = False


class AuthorKind(StrEnum):
    """Who wrote a stored message: a member, another bot, or a persona of ours."""

    MEMBER = "member"
    BOT = "bot"
    PERSONA = "persona"


class AttachmentKind(StrEnum):
    IMAGE = "image"
    TEXT = "text"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file on a message. ``text`` holds a text file's words, already cut to the cap."""

    name: str
    kind: AttachmentKind
    url: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Incoming:
    """One message as Discord sent it, without any Discord object.

    ``mentions`` maps mentioned user ids to their present display names. ``lineage``: of a message that we
    posted ourselves (``kind`` PERSONA, seen when history is read back), which persona said it; "" for the
    built-in one.
    """

    message_id: int
    place: Place
    author: Person
    text: str
    at: datetime
    kind: AuthorKind = AuthorKind.MEMBER
    reply_to: int | None = None
    attachments: tuple[Attachment, ...] = ()
    mentions: Mapping[int, str] = field(default_factory=dict)
    lineage: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A stored message of the live window. ``line`` is what the prompt shows; ``tokens`` counts it.

    ``lineage``: which persona said it, "" for the built-in one and for everybody who is no persona.
    """

    id: int
    channel_id: int
    author_id: int
    author_name: str
    kind: AuthorKind
    text: str
    line: str
    tokens: int
    encoding: str
    at: datetime
    reply_to: int | None = None
    turn_id: int | None = None
    excluded: bool = False
    images: tuple[str, ...] = ()
    lineage: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """The message that a write came from."""

    channel_id: int
    message_id: int | None = None
    guild_id: int | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """A saved memory (SPEC §4). ``version`` starts at 1 and rises with every change.

    ``dm_only``: saved in a DM and not yet widened by its owner; used in DMs only.
    """

    id: int
    scope: Scope
    text: str
    pinned: bool
    created_at: datetime
    updated_at: datetime
    version: int = 1
    dm_only: bool = False
    keywords: tuple[str, ...] = ()
    channels: tuple[int, ...] = ()
    author_id: int | None = None
    source: Source | None = None


class ActorKind(StrEnum):
    """Who wrote: a person, the model in a turn, the background pass, an import."""

    MEMBER = "member"
    MODEL = "model"
    BACKGROUND = "background"
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class Actor:
    """The author of a write. ``person`` is who pressed, or who triggered the model's turn."""

    kind: ActorKind
    person: Person | None = None
    turn_id: int | None = None


class Op(StrEnum):
    """What one journaled write did."""

    ADD = "add"
    UPDATE = "update"
    DELETE = "delete"
    PIN = "pin"
    UNPIN = "unpin"
    WIDEN = "widen"
    TAG = "tag"
    MOVE = "move"
    CLEAR = "clear"


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One committed write: what was before, what is after. ``undone_by`` names the entry that undid it."""

    id: int
    memory_id: int
    scope: Scope
    op: Op
    actor_kind: ActorKind
    actor_id: int | None
    turn_id: int | None
    before: Memory | None
    after: Memory | None
    at: datetime
    source: Source | None = None
    undoes: int | None = None
    undone_by: int | None = None


class TurnState(StrEnum):
    """Life of a turn. OPEN and COMMITTED are unfinished. REPLACED: its reply was regenerated; REWOUND: the
    channel was taken back to before it. Neither is touched again, nor is any other closed turn."""

    OPEN = "open"
    COMMITTED = "committed"
    DELIVERED = "delivered"
    FAILED = "failed"
    REPORTED = "reported"
    REPLACED = "replaced"
    REWOUND = "rewound"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the model counted them, all rounds of a turn added up; ``cached`` is part of ``prompt``."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt + other.prompt, self.completion + other.completion, self.cached + other.cached
        )


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply: its triggers, its state, its result. ``persona_id`` 0: the built-in persona."""

    id: int
    place: Place
    lineage: str
    state: TurnState
    trigger_ids: tuple[int, ...]
    author_ids: tuple[int, ...]
    started_at: datetime
    reply_ids: tuple[int, ...] = ()
    partial_id: int | None = None
    error: str = ""
    usage: Usage = Usage()
    model: str = ""
    persona_id: int = 0


@dataclass(frozen=True, slots=True)
class Outbox:
    """A finished reply that must reach the channel exactly once."""

    turn_id: int
    place: Place
    reply_to: int
    text: str
    nonce: str
    created_at: datetime


class NoticeState(StrEnum):
    """A notice is committed with its write (PENDING), then POSTED, or given up (FAILED)."""

    PENDING = "pending"
    POSTED = "posted"
    FAILED = "failed"


class NoticeLook(StrEnum):
    """How a notice shows: a card of its own, a share of a turn's one line, or a card in the audit channel.

    The audit channel's readers are not those who heard what was said: no personal text shows there.
    """

    CARD = "card"
    LINE = "line"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True)
class Notice:
    """The confirmation of one committed write or one waiting proposal. ``channel_id``: where it stands, or is
    to be posted. All lines of one turn stand in one message."""

    id: int
    channel_id: int
    guild_id: int | None
    journal_id: int | None
    proposal_id: int | None
    state: NoticeState
    message_id: int | None = None
    turn_id: int | None = None
    attempts: int = 0
    look: NoticeLook = NoticeLook.CARD


class ProposalState(StrEnum):
    WAITING = "waiting"
    APPROVED = "approved"
    DISCARDED = "discarded"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A write that waits for somebody's approval (SPEC §4.4, §4.8). ``op`` is ADD, UPDATE or DELETE.

    ``text``: as it was suggested. ``journal_id``: the write that approved it, whose text may be another.
    """

    id: int
    scope: Scope
    op: Op
    text: str
    memory_id: int | None
    keywords: tuple[str, ...]
    turn_id: int | None
    proposer_id: int | None
    source: Source | None
    state: ProposalState
    created_at: datetime
    journal_id: int | None = None


class DetailLevel(StrEnum):
    """How much of a channel stays verbatim (SPEC §2)."""

    ESSENTIAL = "essential"
    BALANCED = "balanced"
    DETAILED = "detailed"


@dataclass(frozen=True, slots=True)
class Sample:
    """One exchange that shows how a persona speaks: what a member says, what it answers."""

    said: str
    answer: str


@dataclass(frozen=True, slots=True)
class Persona:
    """A character of a server (SPEC §11). ``id`` 0: the built-in one, which every place has.

    ``lineage``: kept by card export and import, so that memories follow the character. ``prompt``: its own
    standing instructions. ``detail`` None: the server's level. ``learns`` False: saved memories are neither
    written by the model nor read (SPEC §4.8). ``picture``: digest of its avatar, "" when it has none.
    """

    id: int
    guild_id: int | None
    lineage: str
    name: str
    description: str = ""
    prompt: str = ""
    attributes: tuple[str, ...] = ()
    samples: tuple[Sample, ...] = ()
    triggers: tuple[str, ...] = ()
    detail: DetailLevel | None = None
    learns: bool = True
    picture: str = ""
    version: int = 1

    @property
    def built_in(self) -> bool:
        return self.lineage == DEFAULT_LINEAGE


@dataclass(frozen=True, slots=True)
class Hook:
    """The webhook through which one persona speaks in one channel and its threads.

    ``channel_id``: the parent channel. ``picture``: digest of the avatar that was uploaded to it.
    """

    id: int
    channel_id: int
    guild_id: int
    lineage: str
    token: str = field(repr=False)
    picture: str = ""
    used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Rewound:
    """A stretch that *Rewind to here* took out: ids above ``after_id`` up to ``marker_id``, both messages."""

    channel_id: int
    after_id: int
    marker_id: int

    def holds(self, message_id: int) -> bool:
        return self.after_id < message_id <= self.marker_id


@dataclass(frozen=True, slots=True)
class Channel:
    """What is kept about one conversation besides its messages.

    ``epoch``: messages with an id at or below it left the prompt by ``/refresh``. ``window_start``: id of
    the window's first message. ``last_turn_at``: recording stops 24 h after it (SPEC §2).
    """

    place: Place
    epoch: int = 0
    window_start: int = 0
    last_turn_at: datetime | None = None
