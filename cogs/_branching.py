"""Making the thread of a fork: of the same parent, as private as the original (SPEC §4.6).

What is missing is said before anything is made. Who is in a private thread is asked of Discord then.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Collection

import discord
from discord import ui

from cogs._delivery import QUIET, TROUBLE
from memory.ports import DeliveryError

log = logging.getLogger(__name__)

Parent = discord.TextChannel | discord.ForumChannel


async def branch(channel: object, title: str, opening: str, people: Collection[int]) -> discord.Thread:
    """The new thread. ``people``: who may be in a private original, besides those that Discord names.

    Raises :class:`DeliveryError` with what is missing, and what discord.py raises.
    """
    parent = channel.parent if isinstance(channel, discord.Thread) else channel
    if not isinstance(parent, discord.TextChannel | discord.ForumChannel):
        raise DeliveryError("Discord has no threads in this kind of channel.", gone=True)
    private = isinstance(channel, discord.Thread) and channel.is_private()
    if missing := _missing(parent, private=private):
        raise DeliveryError(f"I lack the permission {missing} there.", gone=True)
    if isinstance(parent, discord.ForumChannel):
        made = await parent.create_thread(name=title, view=_opening(opening), allowed_mentions=QUIET)
        return made.thread
    if private and isinstance(channel, discord.Thread):
        thread = await parent.create_thread(
            name=title, type=discord.ChannelType.private_thread, invitable=channel.invitable
        )
        await _bring_along(channel, thread, people)
    else:
        news = discord.ChannelType.news_thread if parent.is_news() else discord.ChannelType.public_thread
        thread = await parent.create_thread(name=title, type=news)
    try:
        await thread.send(view=_opening(opening), allowed_mentions=QUIET)
    except TROUBLE as error:
        log.warning("a fork's first line could not be posted: %s", type(error).__name__)
    return thread


def _missing(parent: Parent, *, private: bool) -> str:
    """The permission that we lack to make it and to speak there; "" when nothing is missing."""
    may = parent.permissions_for(parent.guild.me)
    if isinstance(parent, discord.ForumChannel):
        makes, name = may.send_messages, "Create Posts"
    elif private:
        makes, name = may.create_private_threads, "Create Private Threads"
    else:
        makes, name = may.create_public_threads, "Create Public Threads"
    if not makes:
        return name
    return "" if may.send_messages_in_threads else "Send Messages in Threads"


async def _bring_along(original: discord.Thread, made: discord.Thread, people: Collection[int]) -> None:
    """Add those who are in the private original now, and nobody else.

    Discord may not tell us everybody; whoever spoke there or asked is looked up one by one.
    """
    here = {original.guild.me.id}
    with contextlib.suppress(*TROUBLE, discord.ClientException):
        for known in await original.fetch_members():
            await _add(made, known.id, here)
    for user_id in people:
        if user_id not in here:
            with contextlib.suppress(*TROUBLE):
                await original.fetch_member(user_id)
                await _add(made, user_id, here)


async def _add(made: discord.Thread, user_id: int, here: set[int]) -> None:
    if user_id in here:
        return
    here.add(user_id)
    try:
        await made.add_user(discord.Object(user_id))
    except TROUBLE as error:
        log.warning("a member could not be added to a fork: %s", type(error).__name__)


def _opening(text: str) -> ui.LayoutView:
    """A notice that needs no right to embed, and is never taken for a persona's words."""
    view = ui.LayoutView(timeout=None)
    view.add_item(ui.TextDisplay(text))
    view.stop()
    return view
