"""Does a pressed button still mean what its message shows? Asked before anything is done or drawn.

A button's id names a record by its number. After a database was restored from a backup, or begun anew,
numbers are given out again, and an old message's button names somebody else's record. So a press counts only
where the record says that it stands in that very message.
"""

from __future__ import annotations

import discord

from cogs import engine_of
from cogs._inbound import is_report, place_and_person
from cogs.views.notice_verbs import GONE
from memory.ports import NoticeView
from memory.types import Notice

FROM_BEFORE = (
    "This confirmation is from before my records were restored or begun anew, so nothing was changed."
    " Look the entry up with `/memory history`."
)

OLD_REPORT = "This line does not belong to a turn that I still know, so nothing was tried again."

OLD_MARKER = "This marker is not from a `/refresh` that I still know, so nothing was changed."


async def confirmed_here(interaction: discord.Interaction, notice_id: int, line: int = 0) -> NoticeView | str:
    """What the pressed message confirms, as things stand now; or why it confirms nothing, in a sentence.

    ``line``: the pressed message is a card that only who pressed can see, of the line in that message.
    """
    view = await engine_of(interaction).notice_view(notice_id, place_and_person(interaction)[0])
    if view is None:
        return GONE
    return view if _stands_here(interaction, view.notice, line) else FROM_BEFORE


def no_retry(interaction: discord.Interaction) -> str:
    """Why the pressed message is no line of a failed turn; "" when it is. The engine judges the turn."""
    message = interaction.message
    return "" if message is not None and is_report(message) else OLD_REPORT


def no_marker(interaction: discord.Interaction, marker_id: int) -> str:
    """Why the pressed message is not that marker; "" when it is: a marker's id is its message's own."""
    message = interaction.message
    return "" if message is not None and message.id == marker_id else OLD_MARKER


def _stands_here(interaction: discord.Interaction, notice: Notice, line: int) -> bool:
    """Is this confirmation recorded as the pressed message, or as the line that it is a card of?"""
    message = interaction.message
    return (
        message is not None
        and notice.message_id == (line if line and message.flags.ephemeral else message.id)
        and notice.channel_id == interaction.channel_id
        and notice.guild_id == interaction.guild_id
    )
