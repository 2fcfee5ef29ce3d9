"""Every table, once. ``migrations/`` builds the same; a test compares the two.

Own ids count up and are never used again; Discord's ids are keys as they are. Times are microseconds (see
:mod:`memory.store.codec`).
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from memory.store.codec import clean

Big = BigInteger().with_variant(Integer, "sqlite")
"""64 bits on both databases; SQLite counts up only a column that is called INTEGER."""


class CleanText(TypeDecorator[str]):
    """Text without what PostgreSQL cannot keep (:func:`memory.store.codec.clean`)."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else clean(value)


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _own_id() -> Column[int]:
    return Column("id", Big, primary_key=True, autoincrement=True)


def _discord_id(name: str) -> Column[int]:
    return Column(name, Big, primary_key=True, autoincrement=False)


def _number(name: str) -> Column[int]:
    return Column(name, Big, nullable=False)


def _maybe(name: str) -> Column[int]:
    return Column(name, Big, nullable=True)


def _text(name: str) -> Column[str]:
    return Column(name, CleanText, nullable=False)


def _flag(name: str) -> Column[bool]:
    return Column(name, Boolean(create_constraint=False), nullable=False)


def _one_of(name: str, *values: str) -> CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{name} IN ({listed})", name=name)


def _place() -> list[Column[int] | Column[str]]:
    return [_number("channel_id"), _maybe("guild_id"), _maybe("parent_id"), _text("name")]


def _scope() -> list[Column[int] | Column[str] | CheckConstraint]:
    return [
        _text("subject_kind"),
        _number("subject_id"),
        _text("lineage"),
        _one_of("subject_kind", "server", "user"),
    ]


def _source() -> list[Column[int]]:
    return [_maybe("source_channel_id"), _maybe("source_message_id"), _maybe("source_guild_id")]


channels = Table(
    "channels",
    metadata,
    _discord_id("channel_id"),
    _maybe("guild_id"),
    _maybe("parent_id"),
    _text("name"),
    _number("epoch"),
    _number("window_start"),
    _maybe("last_turn_at"),
    Index(None, "last_turn_at"),
    Index(None, "guild_id"),
)

epochs = Table(
    "epochs",
    metadata,
    _discord_id("marker_id"),
    _number("channel_id"),
    _number("by"),
    _number("at"),
    Index(None, "channel_id", "marker_id"),
)

messages = Table(
    "messages",
    metadata,
    _discord_id("id"),
    _discord_id("channel_id"),  # a forked channel holds copies under their old ids
    _number("author_id"),
    _text("author_name"),
    _text("kind"),
    _text("text"),
    _text("line"),
    Column("tokens", Integer, nullable=False),
    _text("encoding"),
    _number("at"),
    _maybe("reply_to"),
    _maybe("turn_id"),
    _flag("excluded"),
    _text("images"),
    _maybe("edited_at"),
    _text("lineage"),
    CheckConstraint("tokens >= 0", name="tokens"),
    Index(None, "channel_id", "id"),
    Index(None, "author_id"),
    Index(None, "turn_id"),
    Index(None, "at"),
)

memories = Table(
    "memories",
    metadata,
    _own_id(),
    *_scope(),
    _flag("dm_only"),
    _text("norm"),
    _text("text"),
    _flag("pinned"),
    _number("created_at"),
    _number("updated_at"),
    Column("version", Integer, nullable=False),
    _text("keywords"),
    _text("channels"),
    _maybe("author_id"),
    *_source(),
    CheckConstraint("version >= 1", name="version"),
    UniqueConstraint("subject_kind", "subject_id", "lineage", "dm_only", "norm"),
    Index(None, "author_id"),
    sqlite_autoincrement=True,
)

memory_mentions = Table(
    "memory_mentions",
    metadata,
    Column("memory_id", Big, ForeignKey("memories.id", ondelete="CASCADE"), primary_key=True),
    _discord_id("user_id"),
    Index(None, "user_id"),
)

journal = Table(
    "journal",
    metadata,
    _own_id(),
    _number("memory_id"),  # no foreign key: the journal outlives the memory
    *_scope(),
    _text("op"),
    _text("actor_kind"),
    _maybe("actor_id"),
    _maybe("turn_id"),
    Column("before", CleanText, nullable=True),
    Column("after", CleanText, nullable=True),
    _number("at"),
    *_source(),
    _maybe("undoes"),
    _maybe("undone_by"),
    Index(None, "memory_id", "id"),
    Index(None, "turn_id"),
    Index(None, "actor_id", "id"),
    Index(None, "subject_kind", "subject_id"),
    sqlite_autoincrement=True,
)

notices = Table(
    "notices",
    metadata,
    _own_id(),
    _number("channel_id"),
    _maybe("guild_id"),
    _maybe("turn_id"),
    _maybe("journal_id"),
    _maybe("proposal_id"),
    _text("state"),
    _maybe("message_id"),
    Column("attempts", Integer, nullable=False),
    _number("created_at"),
    _text("look"),
    _one_of("state", "pending", "posted", "failed"),
    Index(None, "state", "id"),
    Index(None, "message_id"),
    Index(None, "journal_id"),
    Index(None, "proposal_id"),
    Index(None, "turn_id"),
    sqlite_autoincrement=True,
)

proposals = Table(
    "proposals",
    metadata,
    _own_id(),
    *_scope(),
    _text("op"),
    _text("text"),
    _maybe("memory_id"),
    _text("keywords"),
    _maybe("turn_id"),
    _maybe("proposer_id"),
    *_source(),
    _text("state"),
    _number("created_at"),
    _maybe("decided_by"),
    _maybe("decided_at"),
    _maybe("journal_id"),
    _one_of("state", "waiting", "approved", "discarded", "expired"),
    Index(None, "state", "subject_kind", "subject_id", "lineage"),
    Index(None, "state", "created_at"),
    Index(None, "journal_id"),
    Index(None, "subject_kind", "subject_id", "lineage"),
    Index(None, "memory_id"),
    Index(None, "turn_id"),
    sqlite_autoincrement=True,
)

turns = Table(
    "turns",
    metadata,
    _own_id(),
    *_place(),
    _text("lineage"),
    _text("state"),
    _text("trigger_ids"),
    _text("author_ids"),
    _number("started_at"),
    _text("reply_ids"),
    _maybe("partial_id"),
    _text("error"),
    Column("prompt_tokens", Integer, nullable=False),
    Column("completion_tokens", Integer, nullable=False),
    Column("cached_tokens", Integer, nullable=False),
    _text("model"),
    _maybe("committed_at"),
    _maybe("closed_at"),
    Column("ledger", CleanText, nullable=True),  # late: long, and most reads stop before it
    _number("persona_id"),
    _one_of("state", "open", "committed", "delivered", "failed", "reported", "replaced", "rewound"),
    Index(None, "channel_id", "id"),
    Index(None, "state", "id"),
    sqlite_autoincrement=True,
)

turn_replies = Table(
    "turn_replies",
    metadata,
    _discord_id("message_id"),
    Column("turn_id", Big, ForeignKey("turns.id", ondelete="CASCADE"), nullable=False),
    Index(None, "turn_id"),
)

triggers = Table(
    "triggers",
    metadata,
    _discord_id("message_id"),
    _number("channel_id"),
    _text("state"),
    _maybe("turn_id"),
    _number("at"),
    _number("persona_id"),
    _one_of("state", "waiting", "taken", "done", "dropped"),
    Index(None, "channel_id", "state", "message_id"),
    Index(None, "state", "channel_id"),
    Index(None, "turn_id"),
)

outbox = Table(
    "outbox",
    metadata,
    _discord_id("turn_id"),
    *_place(),
    _number("reply_to"),
    _text("text"),
    _text("nonce"),
    _number("created_at"),
)

config = Table(
    "config",
    metadata,
    Column("level", CleanText, primary_key=True),
    Column("id", Big, primary_key=True, autoincrement=False),
    Column("key", CleanText, primary_key=True),
    _text("value"),
    _number("at"),
    _maybe("by"),
)

names = Table(
    "names",
    metadata,
    _discord_id("guild_id"),
    _discord_id("user_id"),
    _text("name"),
    Index(None, "user_id"),
)

personas = Table(
    "personas",
    metadata,
    _own_id(),
    _number("guild_id"),
    _text("lineage"),
    _text("name"),
    _text("name_key"),
    _text("description"),
    _text("prompt"),
    _text("attributes"),
    _text("samples"),
    _text("triggers"),
    _text("detail"),
    _flag("learns"),
    _text("picture"),
    Column("version", Integer, nullable=False),
    _number("created_at"),
    _maybe("created_by"),
    _number("updated_at"),
    UniqueConstraint("guild_id", "lineage"),
    UniqueConstraint("guild_id", "name_key"),
    Index(None, "lineage"),
    Index(None, "picture"),
    sqlite_autoincrement=True,
)

pictures = Table(
    "pictures",
    metadata,
    Column("digest", CleanText, primary_key=True),
    Column("png", LargeBinary, nullable=False),
)

hooks = Table(
    "hooks",
    metadata,
    _discord_id("id"),
    _number("channel_id"),
    _number("guild_id"),
    _text("lineage"),
    _text("token"),
    _text("picture"),
    _number("used_at"),
    UniqueConstraint("channel_id", "lineage"),
    Index(None, "guild_id"),
)

cast_members = Table(
    "cast_members",
    metadata,
    _discord_id("channel_id"),
    Column("lineage", CleanText, primary_key=True),
    _number("joined_at"),
)

rewinds = Table(
    "rewinds",
    metadata,
    _discord_id("marker_id"),
    _number("channel_id"),
    _number("after_id"),
    _number("by"),
    _number("at"),
    Index(None, "channel_id"),
)
