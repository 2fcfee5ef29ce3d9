"""The world's file: what was said and by whom, threads, webhooks and registered commands, in one JSON file.

Written whole beside the old one and moved over it, so that a kill at any moment leaves a whole file.
Ephemeral messages and unfinished "thinking…" ones aren't kept: Discord forgets them too. Uploaded files
and webhooks' pictures lie beside it, named by their content.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import sqlite3
import time
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from simcord.backend.models import (
    AllowedMentions,
    Channel,
    Message,
    Overwrite,
    Reaction,
    SystemMessageMetadata,
    ThreadMetadata,
    User,
    Webhook,
)

from play.scene import BOT_ID, PEOPLE
from play.webhooks import avatar_url, hang_up, picture_at

VERSION = 1
_LOADING = 1 << 7
_NOT_KEPT = {"poll", "stickers"}
_BUILT = {BOT_ID, *(person.id for person in PEOPLE)}


@dataclass(slots=True)
class Stored:
    """A world as it was read from its file."""

    seeded: bool
    world: dict[str, Any]
    files: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Picture:
    """A world to write: its JSON text, and the bytes of each attachment by URL."""

    text: str
    files: dict[str, bytes]


class WorldFile:
    """``playground.json`` in the data folder, and ``playground-files`` for what was uploaded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "playground.json"
        self.uploads = folder / "playground-files"
        self._guard: sqlite3.Connection | None = None
        self._writing = asyncio.Lock()
        self._names: dict[str, str] = {}

    def lock(self) -> None:
        """Keep a second playground out of this folder; the system frees the lock of a killed process.

        Raises :class:`play.world.PlayError` when another one plays here.
        """
        from play.world import PlayError

        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            guard = sqlite3.connect(self.folder / "playground.lock", timeout=0, isolation_level=None)
        except (OSError, sqlite3.OperationalError) as refused:
            raise PlayError(
                f"Nothing can be written in the folder {self.folder}. Give yourself the right to write there."
            ) from refused
        try:
            # An exclusive transaction on an empty database is a file lock that every system has.
            guard.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as taken:
            guard.close()
            raise PlayError(
                f"Another playground is already running with the folder {self.folder}. "
                "Use its page, or stop it first (Ctrl-C in its terminal)."
            ) from taken
        self._guard = guard

    def unlock(self) -> None:
        if self._guard is not None:
            self._guard.close()
            self._guard = None

    def load(self) -> Stored | None:
        """The saved world, or None when there is none that can be read."""
        from play.world import PlayError

        try:
            world = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as broken:
            raise PlayError(f"{self.path} can't be read ({broken}). Move it away to start anew.") from broken
        if world.get("version") != VERSION:
            raise PlayError(f"{self.path} is of another version. Move it away to start anew.")
        files = {}
        for url, name in world["files"].items():
            with contextlib.suppress(OSError):
                files[url] = (self.uploads / name).read_bytes()
        return Stored(bool(world["seeded"]), world, files)

    async def save(self, picture: Picture) -> None:
        """Write in a thread, one at a time; finished even when the caller is cancelled."""
        async with self._writing:
            work = asyncio.ensure_future(asyncio.to_thread(self._write, picture))
            try:
                await asyncio.shield(work)
            except asyncio.CancelledError:
                await work
                raise

    def _write(self, picture: Picture) -> None:
        names = {url: self._upload(url, content) for url, content in picture.files.items()}
        _replace(self.path, f'{{"files":{json.dumps(names)},{picture.text[1:]}'.encode())

    def _upload(self, url: str, content: bytes) -> str:
        """Keep one attachment, under the name of its content; a URL's content never changes."""
        if url not in self._names:
            name = hashlib.sha256(content).hexdigest()
            self.uploads.mkdir(exist_ok=True)
            if not (self.uploads / name).exists():
                _replace(self.uploads / name, content)
            self._names[url] = name
        return self._names[url]


def _replace(target: Path, content: bytes) -> None:
    beside = target.with_name(f"{target.name}.new")
    with beside.open("wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    for attempt in range(20):
        try:
            beside.replace(target)
        except PermissionError:  # Windows: a virus scanner or an indexer holds the old file for a moment
            if attempt == 19:
                raise
            time.sleep(0.05)
        else:
            return


def picture(backend: Any, *, seeded: bool) -> Picture:
    """Everything to keep, detached from the living world."""
    messages = [
        message
        for channel in backend.messages.values()
        for message in channel.values()
        if not message.is_ephemeral and not message.flags & _LOADING
    ]
    files = {
        str(attachment["url"]): blob
        for message in messages
        for attachment in message.attachments
        if (blob := backend.cdn.get(attachment["url"])) is not None
    }
    # Whoever spoke is kept, also when the webhook is deleted or the member has left: what they said stays.
    strangers = [user for user in backend.users.values() if user.id not in _BUILT]
    worn = {message.author_avatar for message in messages if message.author_avatar} | {
        url for user in strangers if (url := avatar_url(user))
    }
    files |= {url: blob for url in worn if (blob := picture_at(backend, url)) is not None}
    world = {
        "version": VERSION,
        "seeded": seeded,
        "messages": [_message_out(message) for message in messages],
        "channels": [
            asdict(channel)
            for channel in backend.channels.values()
            if channel.is_thread and channel.guild_id is not None
        ],
        "users": [asdict(user) for user in strangers],
        "webhooks": [asdict(webhook) for webhook in backend.webhooks.values()],
        "commands": [
            [scope, name, int(kind), command]
            for scope, registered in backend.commands.items()
            for (name, kind), command in registered.items()
        ],
    }
    return Picture(json.dumps(world, ensure_ascii=False, separators=(",", ":")), files)


def restore(backend: Any, stored: Stored) -> None:
    """Put a saved world into a freshly built one."""
    world = stored.world
    for row in world["channels"]:
        channel = _channel_in(row)
        backend.channels[channel.id] = channel
        backend.messages.setdefault(channel.id, {})
        backend.guilds[channel.guild_id].thread_ids.append(channel.id)
    for row in world.get("users", ()):
        user = User(**row)
        backend.users[user.id] = user
    for row in world["webhooks"]:
        webhook = Webhook(**row)
        backend.webhooks[webhook.id] = webhook
        backend.webhook_tokens[webhook.token] = webhook.id
        backend.users.setdefault(  # a file of before kept no users, only the webhooks' pictures
            webhook.webhook_user_id,
            User(
                id=webhook.webhook_user_id,
                name=webhook.name,
                bot=True,
                avatar=world.get("avatars", {}).get(str(webhook.id)),
            ),
        )
    for scope, name, kind, command in world["commands"]:
        backend.commands.setdefault(scope, {})[name, kind] = command
    for url, content in stored.files.items():
        hang_up(backend, url, content)
    for row in world["messages"]:
        message = _message_in(row)
        if message.channel_id not in backend.messages:
            continue
        backend.users.setdefault(  # a file of before kept no users; each message knows the name it was under
            message.author_id,
            User(id=message.author_id, name=message.author_name or "Deleted User", bot=True),
        )
        backend.messages[message.channel_id][message.id] = message
        backend._reserved_ids.add(message.id)
        backend.channels[message.channel_id].last_message_id = message.id
        backend.clock.never_before(datetime.fromisoformat(message.timestamp))


def _message_out(message: Any) -> dict[str, Any]:
    row = {name: value for name, value in vars(message).items() if name not in _NOT_KEPT}
    policy = message.allowed_mentions
    row["allowed_mentions"] = {
        "everyone": policy.everyone,
        "users": None if policy.users is None else sorted(policy.users),
        "roles": None if policy.roles is None else sorted(policy.roles),
        "replied_user": policy.replied_user,
    }
    row["reactions"] = [asdict(reaction) for reaction in message.reactions]
    row["system_metadata"] = asdict(message.system_metadata) if message.system_metadata is not None else None
    return row


def _message_in(row: dict[str, Any]) -> Any:
    policy = row["allowed_mentions"]
    system = row["system_metadata"]
    return Message(
        **{
            **row,
            "allowed_mentions": AllowedMentions(
                everyone=policy["everyone"],
                users=None if policy["users"] is None else frozenset(policy["users"]),
                roles=None if policy["roles"] is None else frozenset(policy["roles"]),
                replied_user=policy["replied_user"],
            ),
            "reactions": [Reaction(**reaction) for reaction in row["reactions"]],
            "system_metadata": SystemMessageMetadata(**system) if system is not None else None,
        }
    )


def _channel_in(row: dict[str, Any]) -> Any:
    metadata = row["thread_metadata"]
    return Channel(
        **{
            **row,
            "overwrites": [Overwrite(**overwrite) for overwrite in row["overwrites"]],
            "thread_metadata": ThreadMetadata(**metadata) if metadata is not None else None,
            "thread_members": {int(user): joined for user, joined in row["thread_members"].items()},
        }
    )
