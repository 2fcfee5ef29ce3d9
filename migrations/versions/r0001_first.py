"""The first schema: channels and messages, turns, memories with their journal, settings and names."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None

Big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _conversation()
    _memory()
    _settings()


def _conversation() -> None:
    op.create_table(
        "channels",
        sa.Column("channel_id", Big, autoincrement=False, nullable=False),
        sa.Column("guild_id", Big, nullable=True),
        sa.Column("parent_id", Big, nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("epoch", Big, nullable=False),
        sa.Column("window_start", Big, nullable=False),
        sa.Column("last_turn_at", Big, nullable=True),
        sa.PrimaryKeyConstraint("channel_id", name=op.f("pk_channels")),
    )
    op.create_index(op.f("ix_channels_guild_id"), "channels", ["guild_id"], unique=False)
    op.create_index(op.f("ix_channels_last_turn_at"), "channels", ["last_turn_at"], unique=False)
    op.create_table(
        "epochs",
        sa.Column("marker_id", Big, autoincrement=False, nullable=False),
        sa.Column("channel_id", Big, nullable=False),
        sa.Column("by", Big, nullable=False),
        sa.Column("at", Big, nullable=False),
        sa.PrimaryKeyConstraint("marker_id", name=op.f("pk_epochs")),
    )
    op.create_index(
        op.f("ix_epochs_channel_id_marker_id"), "epochs", ["channel_id", "marker_id"], unique=False
    )
    op.create_table(
        "messages",
        sa.Column("id", Big, autoincrement=False, nullable=False),
        sa.Column("channel_id", Big, nullable=False),
        sa.Column("author_id", Big, nullable=False),
        sa.Column("author_name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("encoding", sa.Text(), nullable=False),
        sa.Column("at", Big, nullable=False),
        sa.Column("reply_to", Big, nullable=True),
        sa.Column("turn_id", Big, nullable=True),
        sa.Column("excluded", sa.Boolean(), nullable=False),
        sa.Column("images", sa.Text(), nullable=False),
        sa.Column("edited_at", Big, nullable=True),
        sa.CheckConstraint("tokens >= 0", name=op.f("ck_messages_tokens")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_messages")),
    )
    op.create_index(op.f("ix_messages_at"), "messages", ["at"], unique=False)
    op.create_index(op.f("ix_messages_author_id"), "messages", ["author_id"], unique=False)
    op.create_index(op.f("ix_messages_channel_id_id"), "messages", ["channel_id", "id"], unique=False)
    op.create_index(op.f("ix_messages_turn_id"), "messages", ["turn_id"], unique=False)
    op.create_table(
        "triggers",
        sa.Column("message_id", Big, autoincrement=False, nullable=False),
        sa.Column("channel_id", Big, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("turn_id", Big, nullable=True),
        sa.Column("at", Big, nullable=False),
        sa.CheckConstraint(
            "state IN ('waiting', 'taken', 'done', 'dropped')", name=op.f("ck_triggers_state")
        ),
        sa.PrimaryKeyConstraint("message_id", name=op.f("pk_triggers")),
    )
    op.create_index(
        op.f("ix_triggers_channel_id_state_message_id"),
        "triggers",
        ["channel_id", "state", "message_id"],
        unique=False,
    )
    op.create_index(op.f("ix_triggers_state_channel_id"), "triggers", ["state", "channel_id"], unique=False)
    op.create_index(op.f("ix_triggers_turn_id"), "triggers", ["turn_id"], unique=False)
    op.create_table(
        "turns",
        sa.Column("id", Big, autoincrement=True, nullable=False),
        sa.Column("channel_id", Big, nullable=False),
        sa.Column("guild_id", Big, nullable=True),
        sa.Column("parent_id", Big, nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("lineage", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("trigger_ids", sa.Text(), nullable=False),
        sa.Column("author_ids", sa.Text(), nullable=False),
        sa.Column("started_at", Big, nullable=False),
        sa.Column("reply_ids", sa.Text(), nullable=False),
        sa.Column("partial_id", Big, nullable=True),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("cached_tokens", sa.Integer(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("committed_at", Big, nullable=True),
        sa.Column("closed_at", Big, nullable=True),
        sa.Column("ledger", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "state IN ('open', 'committed', 'delivered', 'failed', 'reported')", name=op.f("ck_turns_state")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_turns")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_turns_channel_id_id"), "turns", ["channel_id", "id"], unique=False)
    op.create_index(op.f("ix_turns_state_id"), "turns", ["state", "id"], unique=False)
    op.create_table(
        "turn_replies",
        sa.Column("message_id", Big, autoincrement=False, nullable=False),
        sa.Column("turn_id", Big, nullable=False),
        sa.ForeignKeyConstraint(
            ["turn_id"], ["turns.id"], name=op.f("fk_turn_replies_turn_id_turns"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("message_id", name=op.f("pk_turn_replies")),
    )
    op.create_index(op.f("ix_turn_replies_turn_id"), "turn_replies", ["turn_id"], unique=False)
    op.create_table(
        "outbox",
        sa.Column("turn_id", Big, autoincrement=False, nullable=False),
        sa.Column("channel_id", Big, nullable=False),
        sa.Column("guild_id", Big, nullable=True),
        sa.Column("parent_id", Big, nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("reply_to", Big, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("nonce", sa.Text(), nullable=False),
        sa.Column("created_at", Big, nullable=False),
        sa.PrimaryKeyConstraint("turn_id", name=op.f("pk_outbox")),
    )


def _memory() -> None:
    op.create_table(
        "memories",
        sa.Column("id", Big, autoincrement=True, nullable=False),
        sa.Column("subject_kind", sa.Text(), nullable=False),
        sa.Column("subject_id", Big, nullable=False),
        sa.Column("lineage", sa.Text(), nullable=False),
        sa.Column("dm_only", sa.Boolean(), nullable=False),
        sa.Column("norm", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("created_at", Big, nullable=False),
        sa.Column("updated_at", Big, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("keywords", sa.Text(), nullable=False),
        sa.Column("channels", sa.Text(), nullable=False),
        sa.Column("author_id", Big, nullable=True),
        sa.Column("source_channel_id", Big, nullable=True),
        sa.Column("source_message_id", Big, nullable=True),
        sa.Column("source_guild_id", Big, nullable=True),
        sa.CheckConstraint("subject_kind IN ('server', 'user')", name=op.f("ck_memories_subject_kind")),
        sa.CheckConstraint("version >= 1", name=op.f("ck_memories_version")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memories")),
        sa.UniqueConstraint(
            "subject_kind",
            "subject_id",
            "lineage",
            "dm_only",
            "norm",
            name=op.f("uq_memories_subject_kind_subject_id_lineage_dm_only_norm"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_memories_author_id"), "memories", ["author_id"], unique=False)
    op.create_table(
        "memory_mentions",
        sa.Column("memory_id", Big, nullable=False),
        sa.Column("user_id", Big, autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(
            ["memory_id"],
            ["memories.id"],
            name=op.f("fk_memory_mentions_memory_id_memories"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("memory_id", "user_id", name=op.f("pk_memory_mentions")),
    )
    op.create_index(op.f("ix_memory_mentions_user_id"), "memory_mentions", ["user_id"], unique=False)
    op.create_table(
        "journal",
        sa.Column("id", Big, autoincrement=True, nullable=False),
        sa.Column("memory_id", Big, nullable=False),
        sa.Column("subject_kind", sa.Text(), nullable=False),
        sa.Column("subject_id", Big, nullable=False),
        sa.Column("lineage", sa.Text(), nullable=False),
        sa.Column("op", sa.Text(), nullable=False),
        sa.Column("actor_kind", sa.Text(), nullable=False),
        sa.Column("actor_id", Big, nullable=True),
        sa.Column("turn_id", Big, nullable=True),
        sa.Column("before", sa.Text(), nullable=True),
        sa.Column("after", sa.Text(), nullable=True),
        sa.Column("at", Big, nullable=False),
        sa.Column("source_channel_id", Big, nullable=True),
        sa.Column("source_message_id", Big, nullable=True),
        sa.Column("source_guild_id", Big, nullable=True),
        sa.Column("undoes", Big, nullable=True),
        sa.Column("undone_by", Big, nullable=True),
        sa.CheckConstraint("subject_kind IN ('server', 'user')", name=op.f("ck_journal_subject_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_journal")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_journal_actor_id_id"), "journal", ["actor_id", "id"], unique=False)
    op.create_index(op.f("ix_journal_memory_id_id"), "journal", ["memory_id", "id"], unique=False)
    op.create_index(
        op.f("ix_journal_subject_kind_subject_id"), "journal", ["subject_kind", "subject_id"], unique=False
    )
    op.create_index(op.f("ix_journal_turn_id"), "journal", ["turn_id"], unique=False)
    op.create_table(
        "proposals",
        sa.Column("id", Big, autoincrement=True, nullable=False),
        sa.Column("subject_kind", sa.Text(), nullable=False),
        sa.Column("subject_id", Big, nullable=False),
        sa.Column("lineage", sa.Text(), nullable=False),
        sa.Column("op", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("memory_id", Big, nullable=True),
        sa.Column("keywords", sa.Text(), nullable=False),
        sa.Column("turn_id", Big, nullable=True),
        sa.Column("proposer_id", Big, nullable=True),
        sa.Column("source_channel_id", Big, nullable=True),
        sa.Column("source_message_id", Big, nullable=True),
        sa.Column("source_guild_id", Big, nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", Big, nullable=False),
        sa.Column("decided_by", Big, nullable=True),
        sa.Column("decided_at", Big, nullable=True),
        sa.CheckConstraint(
            "state IN ('waiting', 'approved', 'discarded', 'expired')", name=op.f("ck_proposals_state")
        ),
        sa.CheckConstraint("subject_kind IN ('server', 'user')", name=op.f("ck_proposals_subject_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_proposals")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_proposals_turn_id"), "proposals", ["turn_id"], unique=False)
    op.create_index(op.f("ix_proposals_state_created_at"), "proposals", ["state", "created_at"], unique=False)
    op.create_index(
        op.f("ix_proposals_state_subject_kind_subject_id_lineage"),
        "proposals",
        ["state", "subject_kind", "subject_id", "lineage"],
        unique=False,
    )
    op.create_table(
        "notices",
        sa.Column("id", Big, autoincrement=True, nullable=False),
        sa.Column("channel_id", Big, nullable=False),
        sa.Column("guild_id", Big, nullable=True),
        sa.Column("turn_id", Big, nullable=True),
        sa.Column("journal_id", Big, nullable=True),
        sa.Column("proposal_id", Big, nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("message_id", Big, nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("created_at", Big, nullable=False),
        sa.CheckConstraint("state IN ('pending', 'posted', 'failed')", name=op.f("ck_notices_state")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notices")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_notices_journal_id"), "notices", ["journal_id"], unique=False)
    op.create_index(op.f("ix_notices_message_id"), "notices", ["message_id"], unique=False)
    op.create_index(op.f("ix_notices_proposal_id"), "notices", ["proposal_id"], unique=False)
    op.create_index(op.f("ix_notices_state_id"), "notices", ["state", "id"], unique=False)
    op.create_index(op.f("ix_notices_turn_id"), "notices", ["turn_id"], unique=False)


def _settings() -> None:
    op.create_table(
        "config",
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("id", Big, autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("at", Big, nullable=False),
        sa.Column("by", Big, nullable=True),
        sa.PrimaryKeyConstraint("level", "id", "key", name=op.f("pk_config")),
    )
    op.create_table(
        "names",
        sa.Column("guild_id", Big, autoincrement=False, nullable=False),
        sa.Column("user_id", Big, autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("guild_id", "user_id", name=op.f("pk_names")),
    )
    op.create_index(op.f("ix_names_user_id"), "names", ["user_id"], unique=False)
