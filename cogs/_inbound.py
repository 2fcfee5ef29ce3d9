"""From Discord's objects to the engine's values. Nothing here decides; rights and names come from the event.

:func:`incoming` is pure. Only :func:`with_files` waits: it fetches the words of attached text files.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterable
from dataclasses import replace

import aiohttp
import discord

from cogs import _names
from memory.types import Attachment, AttachmentKind, AuthorKind, Incoming, Person, Place

log = logging.getLogger(__name__)

TEXT_FILE_BYTES = 64 * 1024
"""A larger text file is only named, not read."""

TEXT_FILE_CAP = 2_000
"""Characters of a text file that are read inline."""

REPORT_SIGN = "\u2060"
"""Opens the line of a failed turn (nobody sees it), so that it is never taken for a persona's words."""

RETRY_ID = r"ks:retry:(?P<id>\d+)"
"""The id of the button beneath such a line: it names the turn that failed."""

FILES_DEADLINE = 5.0
"""Seconds for all text files of one message together."""

_IMAGE_NAMES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_TEXT_NAMES = (
    *(".txt", ".md", ".markdown", ".rst", ".log", ".csv", ".tsv", ".json", ".jsonl", ".yaml", ".yml"),
    *(".toml", ".ini", ".cfg", ".xml", ".html", ".css", ".sql", ".diff", ".patch", ".sh", ".bat", ".ps1"),
    *(".py", ".js", ".ts", ".jsx", ".tsx", ".java", ".kt", ".c", ".h", ".cpp", ".hpp", ".cs", ".go", ".rs"),
    *(".rb", ".php", ".lua", ".swift", ".tex", ".srt"),
)
_NICK_MENTION = re.compile(r"<@!(\d{1,20})>")
_ROLE = re.compile(r"<@&(\d{1,20})>")
_CHANNEL = re.compile(r"<#(\d{1,20})>")
_EMOJI = re.compile(r"<a?(:\w{1,64}:)\d{1,20}>")
_TOKEN = re.compile(r"<(?:a?:\w{1,64}:|@[!&]?|#|/[^:<>\n]{1,128}:)\d{1,20}>")
_COMMAND = re.compile(r"<(/[^:<>\n]{1,128}):\d{1,20}>")

_SPOKEN = (discord.MessageType.default, discord.MessageType.reply)
_NEVER_SPOKEN = (discord.MessageType.thread_starter_message,)


def place_of(channel: object, guild_id: int | None = None) -> Place:
    """Where something happens. Give ``guild_id`` when the channel object may not know its guild."""
    guild = getattr(channel, "guild", None)
    thread = isinstance(channel, discord.Thread)
    return Place(
        channel_id=int(getattr(channel, "id", 0)),
        guild_id=guild.id if guild is not None else guild_id,
        parent_id=channel.parent_id if isinstance(channel, discord.Thread) and thread else None,
        name=str(getattr(channel, "name", None) or ""),
    )


def person_of(user: discord.abc.User, permissions: discord.Permissions | None = None) -> Person:
    """Who acts. ``permissions``: what Discord said they may do there (an interaction carries it).

    A user who is no member there, or whom Discord sent without rights, manages nothing.
    """
    manages = isinstance(user, discord.Member) and user.guild_permissions.manage_guild
    if permissions is not None and isinstance(user, discord.Member):
        manages = manages or permissions.manage_guild
    return Person(id=user.id, name=user.display_name, manages=manages)


def place_and_person(interaction: discord.Interaction) -> tuple[Place, Person]:
    """Where an interaction was made, and by whom, with the rights Discord sent with it."""
    place = place_of(interaction.channel, interaction.guild_id)
    if not place.channel_id:
        place = replace(place, channel_id=interaction.channel_id or 0)
    if interaction.guild_id is None:
        return place, Person(interaction.user.id, interaction.user.display_name)
    return place, person_of(interaction.user, interaction.permissions)


def is_notice(message: discord.Message) -> bool:
    """Is this message of ours a notice, a panel or a report rather than a persona's words?

    A persona's words have content and no buttons; a link in them may unfold as an embed. This is the quick
    look: what is a confirmation for certain is told by its recorded id, which the engine knows (SPEC §4.5).
    """
    if message.type not in _SPOKEN or is_report(message):
        return True
    return bool(message.components) or not message.content


def is_report(message: discord.Message) -> bool:
    """Is this message of ours the line of a failed turn?"""
    return message.content.startswith(REPORT_SIGN)


def retried_turn(report: discord.Message) -> int | None:
    """The turn that the Retry button beneath the line of a failed turn runs again; None without a button."""
    for row in report.components:
        for child in row.children if isinstance(row, discord.ActionRow) else ():
            if match := re.fullmatch(RETRY_ID, child.custom_id or ""):
                return int(match["id"])
    return None


def incoming(message: discord.Message, me: int, lineage: str | None = None) -> Incoming | None:
    """A message as the engine sees it; None for a system line. ``me`` is the bot's own user id.

    ``lineage``: of the persona whose webhook said it. Our own message with a name in front comes under that
    name and without it, as another bot's: whose name it is now, :meth:`DiscordSurface.history` looks up.
    Text files come without their words: :func:`with_files` adds them.
    """
    if message.is_system() or message.type in _NEVER_SPOKEN:
        return None
    ours = message.author.id == me or lineage is not None
    author, text = person_of(message.author), _text(message, me, ours=ours)
    kind = AuthorKind.BOT if message.author.bot or message.webhook_id else AuthorKind.MEMBER
    named = _names.taken_apart(text) if message.author.id == me else None
    if named is not None:
        author, text = Person(me, named[0]), named[1]
    elif ours:
        author, kind = Person(me, author.name), AuthorKind.PERSONA
    reference = message.reference if message.type is discord.MessageType.reply else None
    return Incoming(
        message_id=message.id,
        place=place_of(message.channel, message.guild.id if message.guild else None),
        author=author,
        text=text,
        at=message.created_at,
        kind=kind,
        reply_to=reference.message_id if reference else None,
        attachments=tuple(_attachments(message.attachments)),
        mentions={user.id: user.display_name for user in message.mentions},
        lineage=lineage or "",
    )


async def with_files(seen: Incoming, message: discord.Message) -> Incoming:
    """The same with the words of its text files, where they could be fetched in time."""
    texts = [a for a in message.attachments if _kind(a) is AttachmentKind.TEXT]
    if not texts:
        return seen
    words: dict[str, str] = {}
    try:
        async with asyncio.timeout(FILES_DEADLINE):
            for attachment in texts:
                words[attachment.url] = await _read(attachment)
    except (TimeoutError, OSError, aiohttp.ClientError, discord.DiscordException) as error:
        log.info("a text file could not be read: %s", type(error).__name__)
    read = tuple(
        (replace(a, text=words[a.url]) if words.get(a.url) else replace(a, kind=AttachmentKind.FILE))
        if a.kind is AttachmentKind.TEXT
        else a
        for a in seen.attachments
    )
    return replace(seen, attachments=read)


async def _read(attachment: discord.Attachment) -> str:
    raw = await attachment.read()
    text = raw[: TEXT_FILE_CAP * 4 + 4].decode("utf-8-sig", errors="replace")
    return "" if "\x00" in text else text[:TEXT_FILE_CAP]


def _kind(attachment: discord.Attachment) -> AttachmentKind:
    name = attachment.filename.lower()
    media = (attachment.content_type or "").lower()
    if media.startswith("image/") or (not media and name.endswith(_IMAGE_NAMES)):
        return AttachmentKind.IMAGE
    if (media.startswith("text/") or name.endswith(_TEXT_NAMES)) and attachment.size <= TEXT_FILE_BYTES:
        return AttachmentKind.TEXT
    return AttachmentKind.FILE


def _attachments(attachments: Iterable[discord.Attachment]) -> list[Attachment]:
    return [Attachment(name=a.filename, kind=_kind(a), url=a.url) for a in attachments]


def _text(message: discord.Message, me: int, *, ours: bool) -> str:
    text = _readable(message.content, message.guild)
    if not ours:
        text = _without_call(text, me)
    return "\n".join(part for part in (text, *_extras(message, ours=ours)) if part.strip())


def spoken(message: discord.Message) -> str:
    """The words that its author wrote themselves: no names of emoji, people or channels among them."""
    return _TOKEN.sub(" ", message.content)


def _readable(text: str, guild: discord.Guild | None) -> str:
    """Roles, channels, emoji and commands by name. People stay as ``<@id>``: the engine names them."""
    text = _NICK_MENTION.sub(r"<@\1>", text)
    text = _EMOJI.sub(r"\1", text)
    text = _COMMAND.sub(r"\1", text)
    if guild is None:
        return text

    def role(match: re.Match[str]) -> str:
        found = guild.get_role(int(match[1]))
        return f"@{found.name}" if found else "@a role"

    def channel(match: re.Match[str]) -> str:
        found = guild.get_channel_or_thread(int(match[1]))
        return f"#{found.name}" if found else "#a channel"

    return _CHANNEL.sub(channel, _ROLE.sub(role, text))


def _without_call(text: str, me: int) -> str:
    """Without the mention that opens a call, unless it is all there is."""
    call = f"<@{me}>"
    if not text.lstrip().startswith(call):
        return text
    rest = text.lstrip().removeprefix(call).lstrip(" ,:\n\t")
    return rest or text


def _extras(message: discord.Message, *, ours: bool) -> list[str]:
    """What a message carries besides text and files, in words."""
    notes = [f"[sticker: {sticker.name}]" for sticker in message.stickers]
    if message.poll is not None:
        notes.append(f"[poll: {message.poll.question}]")
    if not ours:  # what a link in our own words unfolds to was not said by us
        notes += [f"[embed: {embed.title}]" for embed in message.embeds if embed.title]
    for snapshot in message.message_snapshots:
        names = "".join(f" [file: {a.filename}]" for a in snapshot.attachments)
        notes.append(f"[forwarded: {_readable(snapshot.content, message.guild)[:TEXT_FILE_CAP]}{names}]")
    return notes
