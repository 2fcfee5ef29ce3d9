"""The model's tools: save, update, delete (SPEC §4.4). What a model sends is never trusted.

A call can name only people in play and only handles shown to the model in this turn; rights, caps and pins
are the gate's. Every call is answered with words, also when the database fails, and never with an exception.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from memory.errors import StoreError
from memory.facts.arguments import BadArguments, Change, Save, read_delete, read_save, read_update
from memory.facts.outcomes import Outcome, OutcomeKind, handle
from memory.facts.rules import check_keywords, labels, normalise, resolve_name, with_mentions
from memory.facts.service import Facts
from memory.facts.texts import DELETE, NAMES, SAVE, UPDATE, memory_tools
from memory.facts.tool_words import tool_words
from memory.facts.writes import Hand, Write
from memory.llm.port import ToolCall, ToolSpec
from memory.types import Actor, ActorKind, Op, Person, Place, Scope, Source, SubjectKind

_TURNS = 256
"""Turns whose answers are remembered. A turn ends long before that many others have begun."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The turn that a call belongs to. ``authors``: trigger authors; ``in_play``: who may be named.

    ``handles``: those in the present prompt. ``round``: which model call of the turn asked, when known: then
    what a call of one round was told counts for later rounds only, because its answer was not yet seen.
    """

    place: Place
    lineage: str
    turn_id: int
    authors: tuple[Person, ...]
    in_play: tuple[Person, ...]
    handles: Mapping[str, int]
    source: Source | None = None
    round: int | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The words that go back to the model, and what became of the write."""

    words: str
    outcome: Outcome


@dataclass(slots=True)
class _Told:
    """What the model was told in one turn, and in which round: handles, near duplicates, newer versions."""

    handles: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    similar: dict[tuple[Scope, str], int | None] = field(default_factory=dict)
    versions: dict[int, tuple[int, int | None]] = field(default_factory=dict)

    def named(self, given: str, now: int | None) -> int | None:
        """The entry of a handle that the model was told before it sent this."""
        memory_id, when = self.handles.get(given, (None, now))
        return memory_id if _read(when, now) else None

    def confirmed(self, key: tuple[Scope, str], now: int | None) -> bool:
        """Was the model told of the near duplicate before it sent this?"""
        return key in self.similar and _read(self.similar[key], now)

    def seen(self, memory_id: int, now: int | None) -> int | None:
        """The newer version that the model was told of before it sent this, once."""
        version, when = self.versions.get(memory_id, (None, now))
        if version is None or not _read(when, now):
            return None
        del self.versions[memory_id]
        return version


def _read(told: int | None, now: int | None) -> bool:
    """Could what was told in one round be read before this one? Where rounds are not known, it could."""
    return now is None or told != now


class MemoryTools:
    """``save_memory``, ``update_memory``, ``delete_memory``. One for the whole process."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._told: OrderedDict[int, _Told] = OrderedDict()

    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is offered."""
        return memory_tools(self._facts.limits.length)

    async def call(self, ctx: ToolContext, call: ToolCall) -> ToolResult:
        """Carry out one call. Never raises for what a model sent, nor for a failing database."""
        try:
            outcome = await self._run(ctx, call)
        except BadArguments as error:
            outcome = Outcome(OutcomeKind.ERROR, detail=f"{error} Nothing was written.")
        except StoreError:
            outcome = Outcome(OutcomeKind.ERROR, detail=_FAILED)
        outcome = _named(ctx, outcome)
        return ToolResult(tool_words(outcome), outcome)

    async def _run(self, ctx: ToolContext, call: ToolCall) -> Outcome:
        name = call.name.strip()
        if name == SAVE:
            return await self._save(ctx, read_save(call.arguments))
        if name == UPDATE:
            return await self._change(ctx, Op.UPDATE, read_update(call.arguments))
        if name == DELETE:
            return await self._change(ctx, Op.DELETE, read_delete(call.arguments))
        raise BadArguments(f"there is no such tool. The tools are {', '.join(NAMES)}.")

    async def _save(self, ctx: ToolContext, asked: Save) -> Outcome:
        people = _people(ctx)
        keywords, dropped = check_keywords(asked.keywords)
        if asked.about_server:
            if ctx.place.guild_id is None:
                return Outcome(OutcomeKind.NOT_ALLOWED, detail=NO_SERVER)
            scope = Scope.server(ctx.place.guild_id, ctx.lineage)
        else:
            subject = _subject(ctx, asked.user, people)
            if isinstance(subject, Outcome):
                return subject
            scope = Scope.user(subject.id, ctx.lineage)
        told = self._turn(ctx.turn_id)
        text = with_mentions(asked.content, people)
        key = (scope, normalise(text))
        write = Write(
            Op.ADD,
            scope=scope,
            text=text,
            keywords=keywords,
            confirmed=told.confirmed(key, ctx.round),
            source=ctx.source,
        )
        outcome = await self._facts.write(write, _hand(ctx, scope))
        if outcome.kind is OutcomeKind.SIMILAR_EXISTS:
            told.similar[key] = ctx.round
        if outcome.memory is not None:
            told.handles.setdefault(handle(outcome.memory.id), (outcome.memory.id, ctx.round))
        if dropped and (outcome.wrote or outcome.proposal is not None):
            outcome = replace(outcome, note=f"({dropped} keywords dropped: at most 5 of 50 characters.)")
        return outcome

    async def _change(self, ctx: ToolContext, op: Op, asked: Change) -> Outcome:
        told = self._turn(ctx.turn_id)
        memory_id = ctx.handles.get(asked.handle, told.named(asked.handle, ctx.round))
        if memory_id is None:
            return Outcome(OutcomeKind.NOT_FOUND)
        write = Write(
            op,
            memory_id=memory_id,
            text=with_mentions(asked.content, _people(ctx)),
            expected_version=told.seen(memory_id, ctx.round),
            source=ctx.source,
        )
        outcome = await self._facts.write(write, _hand(ctx, await self._scope(ctx, memory_id)))
        if outcome.kind is OutcomeKind.CHANGED_MEANWHILE and outcome.memory is not None:
            told.versions[memory_id] = (outcome.memory.version, ctx.round)
        if outcome.kind is OutcomeKind.NOT_FOUND:
            gone = f"{handle(memory_id)} was deleted meanwhile, so nothing was written."
            return replace(outcome, detail=gone)
        return outcome

    async def _scope(self, ctx: ToolContext, memory_id: int) -> Scope | None:
        """Whose entry it is: decides which of several trigger authors the write is journaled under."""
        if len(ctx.authors) < 2:
            return None
        async with self._facts.store.read() as tx:
            memory = await tx.memories.get(memory_id)
        return None if memory is None else memory.scope

    def _turn(self, turn_id: int) -> _Told:
        told = self._told.setdefault(turn_id, _Told())
        self._told.move_to_end(turn_id)
        while len(self._told) > _TURNS:
            self._told.popitem(last=False)
        return told


def _people(ctx: ToolContext) -> tuple[Person, ...]:
    return tuple({person.id: person for person in (*ctx.authors, *ctx.in_play)}.values())


def _named(ctx: ToolContext, outcome: Outcome) -> Outcome:
    """Whom a suggestion waits for, by the name that the model knows."""
    scope = outcome.scope
    if outcome.kind is not OutcomeKind.NEEDS_APPROVAL or scope is None or scope.kind is SubjectKind.SERVER:
        return outcome
    return replace(outcome, whom=labels(_people(ctx)).get(scope.subject_id, ""))


def _subject(ctx: ToolContext, name: str | None, people: tuple[Person, ...]) -> Person | Outcome:
    """Whom ``about: user`` means: the one trigger author when nobody is named (SPEC §4.4)."""
    if name is None:
        if len(ctx.authors) == 1:
            return ctx.authors[0]
        given = labels(people)
        candidates = tuple(given[author.id] for author in ctx.authors)
        return Outcome(OutcomeKind.AMBIGUOUS_USER, candidates=candidates)
    found = resolve_name(name, people)
    if found is None:
        return Outcome(OutcomeKind.USER_NOT_FOUND, candidates=tuple(labels(people).values()))
    if isinstance(found, tuple):
        return Outcome(OutcomeKind.AMBIGUOUS_USER, candidates=found)
    return found


def _hand(ctx: ToolContext, scope: Scope | None) -> Hand:
    subject = [author for author in ctx.authors if scope == Scope.user(author.id, ctx.lineage)]
    person = next(iter((*subject, *ctx.authors)), None)
    actor = Actor(ActorKind.MODEL, person, ctx.turn_id)
    return Hand(actor, ctx.place, ctx.lineage, ctx.authors, ctx.in_play)


NO_SERVER = 'this is a private conversation, so there is no server. Use about "user". Nothing was saved.'
_FAILED = "the database did not answer and nothing was saved. Tell the member so; they can ask again later."
