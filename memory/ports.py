"""What the engine asks of the place where people talk. The Discord front is one such surface.

The engine never sees a Discord object: it names places, messages and people by id and gets plain values back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from memory.types import Hook, Incoming, JournalEntry, Memory, Notice, Persona, Place, Proposal


@dataclass(frozen=True, slots=True)
class Speaker:
    """In whose name a reply is posted: a persona of a server. Without one the bot speaks as itself.

    ``picture``: digest of its avatar, "" when it has none.
    """

    lineage: str
    name: str
    picture: str = ""


def speaker_of(persona: Persona | None) -> Speaker | None:
    """Who speaks for a persona; None for the built-in one."""
    if persona is None or persona.built_in:
        return None
    return Speaker(persona.lineage, persona.name, persona.picture)


@dataclass(frozen=True, slots=True)
class Posted:
    """A message that we posted: its id and its present text, without the name that may stand in front.

    ``report``: it is the line of a failed turn; ``turn_id`` is then the turn that its Retry button names.
    """

    message_id: int
    text: str
    report: bool = False
    turn_id: int | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """What the one line of a turn says of its writes: how many of each, and about whom."""

    saved: int
    changed: int
    deleted: int
    undone: int
    about: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoticeView:
    """All that a confirmation shows. Exactly one of ``entry`` and ``proposal`` is set.

    ``memory`` is the entry as it stands now (None when it is gone). ``subject_name`` is the present display
    name of the member it is about, or the server's name. ``names``: those of the members its texts mention.
    ``outlived``: the reply that made the write was taken back, and the write was not.
    ``line``: set when it is shown as its share of the one line of a turn.
    ``approved``: it stands where its suggestion did; ``reworded``: which was approved in other words.
    """

    notice: Notice
    entry: JournalEntry | None
    proposal: Proposal | None
    memory: Memory | None
    persona_name: str
    subject_name: str
    names: Mapping[int, str] = field(default_factory=dict)
    outlived: bool = False
    line: Tally | None = None
    moved: bool = False
    cleared: bool = False
    route: str = ""
    approved: bool = False
    reworded: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """A suggestion in the queue of who may decide.

    ``memory``: what it would change or delete, as it stands now; None for a new entry, and for one that is
    gone or not read here. ``names``: the members that it tells of, by their names here, where known.
    ``hidden``: it was made in no channel that this person can read, so nothing of what it says is here.
    """

    proposal: Proposal
    memory: Memory | None
    names: Mapping[int, str] = field(default_factory=dict)
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """One plain line for a channel when a turn failed. ``retry``: offer the Retry button."""

    turn_id: int
    line: str
    retry: bool = True


@dataclass(frozen=True, slots=True)
class Past:
    """What was said in a place, oldest first, and how far back that is all of it.

    ``since``: every message of the place from this id on was looked at; 0: the place holds no others.
    """

    messages: tuple[Incoming, ...] = ()
    since: int = 0


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

    def reply(
        self, place: Place, reply_to: int, standing: Sequence[Posted] = (), speaker: Speaker | None = None
    ) -> Reply:
        """Begin a reply to that message, or go on with one of which ``standing`` messages are posted already.

        ``finish`` then edits those in place and posts what is missing; ``withdraw`` deletes them.
        ``speaker``: in whose name; where no webhook can be had, and in a DM, it stands in front.
        """

    async def history(
        self, place: Place, *, limit: int, before: int | None = None, after: int | None = None
    ) -> Past | None:
        """The newest ``limit`` messages, ours included (``kind`` PERSONA), bot notices and system lines not.

        What a persona said through a webhook carries its ``lineage``. None when the place can't be read now:
        then nothing is known of it.
        """

    async def own_replies(
        self, place: Place, reply_to: int, partial_id: int | None = None, speaker: Speaker | None = None
    ) -> list[Posted] | None:
        """Our messages that answer ``reply_to``, with what directly follows them, oldest first.

        A persona's messages refer to none: with a ``speaker``, all that it said after ``reply_to`` is there
        too, and the caller leaves out what is known to belong to another turn.

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

    async def redraw(self, view: NoticeView) -> None:
        """Draw a posted confirmation again, as things stand now. Never raises."""

    async def retire(self, hooks: Sequence[Hook]) -> None:
        """Delete webhooks of ours that nobody needs any more. Never raises."""

    async def branch(self, place: Place, title: str, opening: str, people: Sequence[int]) -> Place:
        """A new thread of the same parent, as private as ``place``, that begins with ``opening``, a notice.

        ``people``: of them, those who are in a private original now are brought along.
        Raises :class:`DeliveryError` with what is missing.
        """

    async def is_member(self, guild_id: int, user_id: int) -> bool:
        """Is this user a member of that server now? Unsure means False."""

    async def manages(self, guild_id: int, user_id: int) -> bool:
        """Has this member Manage Server in that server now? Unsure means False."""

    def in_server(self, guild_id: int) -> bool:
        """Is the bot in that server now?"""

    async def can_read(self, place: Place, user_id: int) -> bool:
        """May this member read that place now? Unsure means False."""

    def own_id(self) -> int:
        """The bot's own user id."""

    def blind_spots(self, place: Place, speaker: Speaker | None = None) -> tuple[str, ...]:
        """Sentences on what cannot be seen there, or not done as it should be; previews show them.

        ``speaker``: who would answer.
        """

    def persona_name(self, place: Place) -> str:
        """The built-in persona's display name there."""

    def server_name(self, guild_id: int) -> str:
        """The server's name, or a neutral word when unknown."""
