"""Fakes that several rooms' tests share: a clock, a scripted model, a place where people talk."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from memory.llm.port import Event, Finished, ModelInfo, Request, TextPiece, ToolCall
from memory.ports import DeliveryError, Failure, NoticeView, Past, Posted, Speaker
from memory.types import AuthorKind, Hook, Incoming, Person, Place, Usage

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
BOT_ID = 9_000
GUILD = 700
GENERAL = Place(71, GUILD, name="general")


class FakeClock:
    """Stands still until it is told to move."""

    def __init__(self, at: datetime = START) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at

    def move(self, **by: float) -> None:
        self.at += timedelta(**by)


def says(text: str) -> list[Event]:
    """A scripted answer of plain words, in two pieces."""
    half = len(text) // 2
    pieces: list[Event] = [TextPiece(p) for p in (text[:half], text[half:]) if p]
    return [*pieces, Finished(text, (), Usage(100, 10))]


def calls(*tools: tuple[str, dict[str, object]] | tuple[str, str], text: str = "") -> list[Event]:
    """A scripted answer that calls tools; arguments as a dict, or raw text to be malformed."""
    made = tuple(
        ToolCall(f"call{i}", name, arguments if isinstance(arguments, str) else json.dumps(arguments))
        for i, (name, arguments) in enumerate(tools)
    )
    return [Finished(text, made, Usage(100, 10))]


Step = list[Event] | Exception | Callable[[Request], "list[Event] | Exception"]


class ScriptedModel:
    """Answers by a script, one step a call; then repeats ``after``. Keeps every request."""

    def __init__(self, *steps: Step, after: Step | None = None, window: int = 128_000) -> None:
        self.steps = list(steps)
        self.after = after
        self.requests: list[Request] = []
        self.tools_work = True
        self._info = ModelInfo("gpt-4o", window, "o200k_base", exact=True)
        self.before: Callable[[], object] | None = None

    @property
    def info(self) -> ModelInfo:
        return self._info

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        self.requests.append(request)
        if self.before is not None:
            waited = self.before()
            if hasattr(waited, "__await__"):
                await waited
        step = self.steps.pop(0) if self.steps else self.after or says("All right.")
        events = step(request) if callable(step) else step
        if isinstance(events, Exception):
            raise events
        for event in events:
            if isinstance(event, Exception):
                raise event
            yield event

    async def close(self) -> None:
        """Nothing to close."""

    def prompt(self, number: int = -1) -> str:
        """The whole prompt of a call, as text."""
        return "\n".join(m.text for m in self.requests[number].messages)


@dataclass
class Said:
    """One message in the fake place."""

    id: int
    place: Place
    text: str
    author: Person
    kind: AuthorKind
    at: datetime
    reply_to: int | None = None
    report: bool = False
    notice: bool = False
    report_of: int | None = None
    lineage: str = ""


@dataclass
class FakeSurface:
    """A place where people talk, in memory. Survives a restart of the engine, as Discord does."""

    clock: FakeClock = field(default_factory=FakeClock)
    messages: dict[int, Said] = field(default_factory=dict)
    nonces: dict[str, tuple[Posted, ...]] = field(default_factory=dict)
    notices: list[NoticeView] = field(default_factory=list)
    reports: list[Failure] = field(default_factory=list)
    refuse: DeliveryError | None = None
    unreadable: bool = False
    redrawn: list[NoticeView] = field(default_factory=list)
    retired: list[Hook] = field(default_factory=list)
    strangers: set[tuple[int, int]] = field(default_factory=set)
    managers: set[tuple[int, int]] = field(default_factory=set)
    left_servers: set[int] = field(default_factory=set)
    shut_out: set[tuple[int, int]] = field(default_factory=set)
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1_000))

    def say(self, person: Person, text: str, place: Place = GENERAL, reply_to: int | None = None) -> Incoming:
        """A member posts; returns what the front would hand over."""
        said = Said(next(self._ids), place, text, person, AuthorKind.MEMBER, self.clock.now(), reply_to)
        self.messages[said.id] = said
        return self._incoming(said)

    def post(self, place: Place, text: str, **more: object) -> Said:
        said = Said(
            next(self._ids),
            place,
            text,
            Person(BOT_ID, "Keepsake"),
            AuthorKind.PERSONA,
            self.clock.now(),
            **more,  # type: ignore[arg-type]
        )
        self.messages[said.id] = said
        return said

    def _incoming(self, said: Said) -> Incoming:
        return Incoming(
            said.id,
            said.place,
            said.author,
            said.text,
            said.at,
            said.kind,
            said.reply_to,
            lineage=said.lineage,
        )

    def replies(self, place: Place = GENERAL) -> list[str]:
        """The persona's words in a place, reports and confirmations left out."""
        return [
            m.text
            for m in self.messages.values()
            if m.kind is AuthorKind.PERSONA and m.place == place and not m.report and not m.notice
        ]

    def reply(
        self, place: Place, reply_to: int, standing: Sequence[Posted] = (), speaker: Speaker | None = None
    ) -> FakeReply:
        return FakeReply(self, place, reply_to, [p.message_id for p in standing], speaker)

    async def history(
        self, place: Place, *, limit: int, before: int | None = None, after: int | None = None
    ) -> Past | None:
        if self.unreadable:
            return None
        found = [
            self._incoming(m)
            for m in self.messages.values()
            if m.place.channel_id == place.channel_id
            and not m.report
            and not m.notice
            and (before is None or m.id < before)
            and (after is None or m.id > after)
        ]
        found.sort(key=lambda m: m.message_id)
        return Past(tuple(found[-limit:]), found[-limit].message_id if len(found) > limit else 0)

    async def own_replies(
        self, place: Place, reply_to: int, partial_id: int | None = None, speaker: Speaker | None = None
    ) -> list[Posted] | None:
        if self.unreadable:
            return None
        lineage = speaker.lineage if speaker is not None else ""
        return [
            Posted(m.id, m.text, m.report, m.report_of)
            for m in self.messages.values()
            if m.kind is AuthorKind.PERSONA
            and m.place.channel_id == place.channel_id
            and (
                m.reply_to == reply_to
                or m.id == partial_id
                or (lineage and m.lineage == lineage and m.id > reply_to)
            )
        ]

    async def post_notice(self, place: Place, view: NoticeView) -> int | None:
        self.notices.append(view)
        return self.post(place, "", notice=True).id

    async def report(self, place: Place, reply_to: int, failure: Failure) -> int | None:
        self.reports.append(failure)
        return self.post(place, failure.line, reply_to=reply_to, report=True, report_of=failure.turn_id).id

    async def redraw(self, view: NoticeView) -> None:
        self.redrawn.append(view)

    async def retire(self, hooks: Sequence[Hook]) -> None:
        self.retired += hooks

    async def branch(self, place: Place, title: str, opening: str, people: Sequence[int]) -> Place:
        if self.refuse is not None:
            raise self.refuse
        made = Place(next(self._ids), place.guild_id, place.parent_id or place.channel_id, title)
        self.post(made, opening, notice=True)
        return made

    async def is_member(self, guild_id: int, user_id: int) -> bool:
        return (guild_id, user_id) not in self.strangers

    async def manages(self, guild_id: int, user_id: int) -> bool:
        return (guild_id, user_id) in self.managers

    def in_server(self, guild_id: int) -> bool:
        return guild_id not in self.left_servers

    async def can_read(self, place: Place, user_id: int) -> bool:
        return (place.channel_id, user_id) not in self.shut_out

    def own_id(self) -> int:
        return BOT_ID

    def blind_spots(self, place: Place, speaker: Speaker | None = None) -> tuple[str, ...]:
        return ()

    def persona_name(self, place: Place) -> str:
        return "Keepsake"

    def server_name(self, guild_id: int) -> str:
        return "The Tavern"


@dataclass
class FakeReply:
    """Posts at the first piece, edits at every further one."""

    surface: FakeSurface
    place: Place
    reply_to: int
    ids: list[int]
    speaker: Speaker | None = None

    async def typing(self) -> None:
        """Nobody looks."""

    async def show(self, text: str) -> int | None:
        if not self.ids:
            self.ids.append(self._post(text))
        self.surface.messages[self.ids[0]].text = text
        return self.ids[0]

    async def finish(self, text: str, nonce: str) -> tuple[Posted, ...]:
        if self.surface.refuse is not None:
            raise self.surface.refuse
        if nonce in self.surface.nonces:
            return self.surface.nonces[nonce]
        await self.show(text)
        for extra in self.ids[1:]:
            self.surface.messages.pop(extra, None)
        del self.ids[1:]
        posted = (Posted(self.ids[0], text),)
        self.surface.nonces[nonce] = posted
        return posted

    def _post(self, text: str) -> int:
        """A persona's message refers to none."""
        if self.speaker is None:
            return self.surface.post(self.place, text, reply_to=self.reply_to).id
        said = self.surface.post(self.place, text, lineage=self.speaker.lineage)
        said.author = Person(BOT_ID, self.speaker.name)
        return said.id

    async def withdraw(self) -> None:
        for message_id in self.ids:
            self.surface.messages.pop(message_id, None)
        self.ids.clear()
