"""May we answer, and can we post here? Pure, over plain facts; asked before a token is spent.

| what                                                   | decision |
|--------------------------------------------------------|----------|
| our own message, a system line, nothing to read        | Ignore   |
| a webhook or another bot, whatever it says             | Observe  |
| a mention of us in the text, a reply to our words,     |          |
| a reply to a persona's words, its trigger word,        |          |
| a DM, any message of an auto-reply channel             | Run      |
| the same where we could not post                       | Refuse   |
| everything else                                        | Observe  |

A reply to a notice calls nobody unless it mentions us too; neither do role mentions, @everyone and edits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import discord

from cogs._inbound import is_notice


@dataclass(frozen=True, slots=True)
class Heard:
    """The facts about one message that decide.

    ``answers``: the message that it answers, where that may be a persona's; ``through``: the webhook that
    posted that one. Whose it is, the engine knows. ``calls_persona``: it does call one, see :mod:`cogs.chat`.
    """

    from_me: bool = False
    from_bot: bool = False
    empty: bool = False
    dm: bool = False
    mentions_me: bool = False
    answers_me: bool = False
    calls_persona: bool = False
    missing: str = ""
    answers: int = 0
    through: int | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """Answer it."""


@dataclass(frozen=True, slots=True)
class Observe:
    """Part of the conversation, no call."""


@dataclass(frozen=True, slots=True)
class Ignore:
    """Nothing for us."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """A call that can't be answered here. ``reason``: the permission that is missing, in plain words."""

    reason: str


Decision = Run | Observe | Ignore | Refuse


def admit(heard: Heard, *, auto_reply: bool = False) -> Decision:
    """Decide on one message. ``auto_reply``: the channel is set to answer everything."""
    if heard.from_me or (heard.empty and not heard.mentions_me):
        return Ignore()
    if heard.from_bot:
        return Observe()
    if not called(heard) and not auto_reply:
        return Observe()
    return Refuse(heard.missing) if heard.missing else Run()


def called(heard: Heard) -> bool:
    """Does the message itself call us, whatever the channel is set to?"""
    return heard.dm or heard.mentions_me or heard.answers_me or heard.calls_persona


def hear(message: discord.Message, me: discord.ClientUser) -> Heard:
    """The facts about a message. Whether it calls a persona is not among them yet."""
    answered = _answered(message, me.id)
    return Heard(
        from_me=message.author.id == me.id,
        from_bot=message.author.bot or message.webhook_id is not None,
        empty=_is_empty(message),
        dm=message.guild is None,
        mentions_me=mentions(message, me.id),
        answers_me=isinstance(answered, discord.Message) and answered.author.id == me.id,
        missing=missing_here(message.channel, message.guild),
        answers=answered if isinstance(answered, int) else answered.id,
        through=answered.webhook_id if isinstance(answered, discord.Message) else None,
    )


def mentions(message: discord.Message, me: int) -> bool:
    """Is our mention written in the text? The ping of a reply alone does not count."""
    written = re.search(rf"<@!?{me}>", message.content) is not None
    return written and any(user.id == me for user in message.mentions)


def missing_here(channel: object, guild: discord.Guild | None) -> str:
    """What we lack to read and answer in a channel, in plain words; "" when nothing is missing."""
    if guild is None:
        return ""
    thread = isinstance(channel, discord.Thread)
    me: discord.Member | None = guild.me  # None while the server is not wholly known yet
    if me is None or not isinstance(channel, discord.abc.GuildChannel | discord.Thread):
        return "View Channel"
    try:
        may = channel.permissions_for(me)
    except discord.ClientException:
        return "View Channel"
    if not may.view_channel:
        return "View Channel"
    if not (may.send_messages_in_threads if thread else may.send_messages):
        return "Send Messages in Threads" if thread else "Send Messages"
    if not may.read_message_history:
        return "Read Message History"
    if isinstance(channel, discord.Thread) and channel.locked and not may.manage_threads:
        return "Manage Threads (the thread is locked)"
    return ""


def _is_empty(message: discord.Message) -> bool:
    return not (
        message.content
        or message.attachments
        or message.stickers
        or message.embeds
        or message.poll
        or message.message_snapshots
    )


def _answered(message: discord.Message, me: int) -> discord.Message | int:
    """The message that this one answers, if it may be ours; its id where Discord does not show it, else 0."""
    if message.type is not discord.MessageType.reply or message.reference is None:
        return 0
    target = message.reference.resolved or message.reference.cached_message
    if target is None:
        return message.reference.message_id or 0
    if not isinstance(target, discord.Message) or (target.author.id == me and is_notice(target)):
        return 0
    return target if target.author.id == me or target.webhook_id is not None else 0
