"""What the engine asks of the place where people talk. The Discord front is one such surface.

The engine never sees a Discord object: it names places, messages and people by id and gets plain values back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from memory.types import Incoming, JournalEntry, Memory, Notice, Place, Proposal


@dataclass(frozen=True, slots=True)
class Posted:
    """A message that we posted: its id and its present text.

    ``report``: it is the line of a failed turn; ``turn_id`` is then the turn that its Retry button names.
    """

    message_id: int
    text: str
    report: bool = False
    turn_id: int | None = None


@dataclass(frozen=True, slots=True)
class NoticeView:
    """All that a confirmation shows. Exactly one of ``entry`` and ``proposal`` is set.

    ``memory`` is the entry as it stands now (None when it is gone). ``subject_name`` is the present display
    name of the member it is about, or the server's name. ``names``: those of the members its texts mention.
    """

    notice: Notice
    entry: JournalEntry | None
    proposal: Proposal | None
    memory: Memory | None
    persona_name: str
    subject_name: str
    names: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failure:
    """One plain line for a channel when a turn failed. ``retry``: offer the Retry button."""

    turn_id: int
    line: str
    retry: bool = True


class Reply(Protocol):
    """One reply on its way. The only thing that posts a persona's words."""

    async def typing(self) -> None:
        """Show that an answer is being written. Never raises."""

    async def show(self, text: str) -> int | None:
        """Show what there is so far; posts once, then edits at most once in 1.2 s.

        Returns the id of the message it stands in, or None when nothing was posted yet. Never raises: a
        partial view is a courtesy.
        """

    async def finish(self, text: str, nonce: str) -> tuple[Posted, ...]:
        """Make ``text`` the whole reply, split at 2,000 characters; returns its messages in order.

        Safe to call again with the same nonce. Raises :class:`DeliveryError` when the channel refuses it.
        """

    async def withdraw(self) -> None:
        """Take back a partial reply. Never raises."""


class DeliveryError(Exception):
    """The channel would not take the message. ``gone``: the channel or our right to post is gone for good."""

    def __init__(self, message: str, *, gone: bool = False) -> None:
        super().__init__(message)
        self.gone = gone


class Surface(Protocol):
    """Where people talk."""

    def reply(self, place: Place, reply_to: int, standing: Sequence[Posted] = ()) -> Reply:
        """Begin a reply to that message, or go on with one of which ``standing`` messages are posted already.

        ``finish`` then edits those in place and posts what is missing; ``withdraw`` deletes them.
        """

    async def history(
        self, place: Place, *, limit: int, before: int | None = None, after: int | None = None
    ) -> list[Incoming]:
        """Past messages, oldest first, ours included (``kind`` PERSONA), bot notices and system lines not.

        Empty when the place cannot be read.
        """

    async def own_replies(
        self, place: Place, reply_to: int, partial_id: int | None = None
    ) -> list[Posted] | None:
        """Our messages that answer ``reply_to``, with what directly follows them, oldest first.

        Reports of failed turns are among them, marked; confirmations are not. ``partial_id``: a message known
        to be part of the answer, found even where the trigger is gone. Empty when the place is gone; None
        when it can't be read now: then nothing is known.
        """

    async def post_notice(self, place: Place, view: NoticeView) -> int | None:
        """Post a confirmation; returns its message id, or None when the place would not take it."""

    async def report(self, place: Place, reply_to: int, failure: Failure) -> int | None:
        """Say in one line that a turn failed; returns the message id, or None when it could not be said.

        ``reply_to`` 0: no message to answer. Never raises. Once a turn: its nonce is the turn's.
        """

    async def can_read(self, place: Place, user_id: int) -> bool:
        """May this member read that place now? Unsure means False."""

    def own_id(self) -> int:
        """The bot's own user id."""

    def blind_spots(self) -> tuple[str, ...]:
        """Sentences on what cannot be seen there; previews show them."""

    def persona_name(self, place: Place) -> str:
        """The built-in persona's display name there."""

    def server_name(self, guild_id: int) -> str:
        """The server's name, or a neutral word when unknown."""
