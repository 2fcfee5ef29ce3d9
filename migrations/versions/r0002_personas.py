"""Personas with their webhooks and casts; forked and rewound channels; how a notice shows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | None = None
depends_on: str | None = None

Big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

TURN_STATES = "'open', 'committed', 'delivered', 'failed', 'reported', 'replaced', 'rewound'"


def upgrade() -> None:
    _messages()
    _turns()
    _personas()
    op.add_column("notices", sa.Column("look", sa.Text(), nullable=False, server_default="card"))
    op.add_column("proposals", sa.Column("journal_id", Big, nullable=True))
    op.create_index(op.f("ix_proposals_journal_id"), "proposals", ["journal_id"], unique=False)
    scope = ["subject_kind", "subject_id", "lineage"]
    op.create_index(op.f("ix_proposals_subject_kind_subject_id_lineage"), "proposals", scope, unique=False)
    op.create_index(op.f("ix_proposals_memory_id"), "proposals", ["memory_id"], unique=False)


def _messages() -> None:
    with op.batch_alter_table("messages") as batch:
        batch.add_column(sa.Column("lineage", sa.Text(), nullable=False, server_default=""))
        batch.drop_constraint(op.f("pk_messages"), type_="primary")
        batch.create_primary_key(op.f("pk_messages"), ["id", "channel_id"])
    with op.batch_alter_table("triggers") as batch:
        batch.add_column(sa.Column("persona_id", Big, nullable=False, server_default="0"))
    op.create_table(
        "rewinds",
        sa.Column("marker_id", Big, autoincrement=False, nullable=False),
        sa.Column("channel_id", Big, nullable=False),
        sa.Column("after_id", Big, nullable=False),
        sa.Column("by", Big, nullable=False),
        sa.Column("at", Big, nullable=False),
        sa.PrimaryKeyConstraint("marker_id", name=op.f("pk_rewinds")),
    )
    op.create_index(op.f("ix_rewinds_channel_id"), "rewinds", ["channel_id"], unique=False)


def _turns() -> None:
    with op.batch_alter_table("turns", table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.add_column(sa.Column("persona_id", Big, nullable=False, server_default="0"))
        batch.drop_constraint(op.f("ck_turns_state"), type_="check")
        batch.create_check_constraint(op.f("ck_turns_state"), f"state IN ({TURN_STATES})")


def _personas() -> None:
    op.create_table(
        "personas",
        sa.Column("id", Big, autoincrement=True, nullable=False),
        sa.Column("guild_id", Big, nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("lineage", "name", "name_key")),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("description", "prompt", "attributes")),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("samples", "triggers", "detail")),
        sa.Column("learns", sa.Boolean(), nullable=False),
        sa.Column("picture", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", Big, nullable=False),
        sa.Column("created_by", Big, nullable=True),
        sa.Column("updated_at", Big, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_personas")),
        sa.UniqueConstraint("guild_id", "lineage", name=op.f("uq_personas_guild_id_lineage")),
        sa.UniqueConstraint("guild_id", "name_key", name=op.f("uq_personas_guild_id_name_key")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_personas_lineage"), "personas", ["lineage"], unique=False)
    op.create_index(op.f("ix_personas_picture"), "personas", ["picture"], unique=False)
    op.create_table(
        "pictures",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("png", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_pictures")),
    )
    op.create_table(
        "hooks",
        sa.Column("id", Big, autoincrement=False, nullable=False),
        sa.Column("channel_id", Big, nullable=False),
        sa.Column("guild_id", Big, nullable=False),
        sa.Column("lineage", sa.Text(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("picture", sa.Text(), nullable=False),
        sa.Column("used_at", Big, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hooks")),
        sa.UniqueConstraint("channel_id", "lineage", name=op.f("uq_hooks_channel_id_lineage")),
    )
    op.create_index(op.f("ix_hooks_guild_id"), "hooks", ["guild_id"], unique=False)
    op.create_table(
        "cast_members",
        sa.Column("channel_id", Big, autoincrement=False, nullable=False),
        sa.Column("lineage", sa.Text(), nullable=False),
        sa.Column("joined_at", Big, nullable=False),
        sa.PrimaryKeyConstraint("channel_id", "lineage", name=op.f("pk_cast_members")),
    )
