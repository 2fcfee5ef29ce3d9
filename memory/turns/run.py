"""One turn: take, load, build, ask, call tools, commit, deliver, close (the path of DESIGN §2).

No transaction is open across a network call. A turn's row says how far it got, so that after a crash
:mod:`memory.turns.recovery` can tell what to do: run it again, deliver it, or report it; never two of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory import phrases
from memory.errors import BudgetError, KeepsakeError, ModelEmpty, ModelTimeout, StoreError
from memory.facts.outcomes import Outcome, OutcomeKind
from memory.facts.tools import MemoryTools, ToolContext
from memory.llm.port import ChatMessage, Finished, Model, Request, Role, ToolCall, ToolSpec
from memory.ports import DeliveryError, Failure, Posted, Reply, Surface
from memory.prompt import views
from memory.settings import Settings
from memory.store import Store
from memory.turns.notify import Notifier
from memory.turns.prepare import JOINED, Prepared, Preparer
from memory.types import Clock, Message, Outbox, Person, Place, Source, Turn, TurnState, Usage
from memory.window import rules as window
from memory.window.recorder import Recorder

log = logging.getLogger(__name__)

ROUNDS = 4
"""Tool rounds a turn at most (DESIGN §2.6)."""

CALLS_A_ROUND = 8
"""Tool calls of one answer that are carried out; the model is told of the rest."""

BROKE = "Something went wrong on my side; the log says what. Your message is kept."
"""What a channel is told of a fault that nobody foresaw."""

Stage = Callable[[str], None]
"""Called at each stage of a turn with its name; a fault test dies there."""


@dataclass(slots=True)
class Answer:
    """What the model said and did in a turn so far."""

    text: str = ""
    usage: Usage = field(default_factory=Usage)
    outcomes: list[Outcome] = field(default_factory=list)
    truncated: bool = False

    @property
    def wrote(self) -> bool:
        """Was a memory written, or is one waiting for approval?"""
        return any(o.journal is not None or o.kind is OutcomeKind.NEEDS_APPROVAL for o in self.outcomes)


@dataclass(frozen=True, slots=True)
class Doors:
    """What a turn works with. Made once by :mod:`memory.wiring`."""

    store: Store
    clock: Clock
    settings: Settings
    model: Model
    surface: Surface
    recorder: Recorder
    preparer: Preparer
    tools: MemoryTools
    notifier: Notifier
    lineage: str
    stage: Stage


class Turns:
    """Runs turns, one call of :meth:`run` a turn. The gate sees to it that a channel has one at a time."""

    def __init__(self, doors: Doors) -> None:
        self._do = doors
        self._live: set[int] = set()
        self._people: dict[int, tuple[int, Person]] = {}
        self._places: dict[int, Place] = {}
        self._unclosed: dict[int, list[tuple[Turn, Sequence[Posted]]]] = {}

    def called(self, message_id: int, place: Place, person: Person) -> None:
        """Keep what only the event knows, the caller's rights, until the turn takes the trigger.

        After a restart it is gone, and the caller counts as a member without rights: the narrower reading.
        """
        self._people[message_id] = (place.channel_id, person)
        self._places[place.channel_id] = place

    async def run(self, channel_id: int) -> bool:
        """Answer what waits in a channel. True when more may be waiting afterwards."""
        place = self._places.get(channel_id) or await self._place(channel_id)
        if place is None:
            return False
        try:
            await self._do.recorder.in_step(place, self._do.surface)
            await self._close_late(channel_id)
            turn = await self._take(place)
        except StoreError as error:
            log.error("a turn could not begin: %s", error)
            await self._say_waiting(place, error)
            return False
        if turn is None:
            self._places.pop(channel_id, None)
            return False
        self._live.add(turn.id)
        try:
            await self.answer(turn, self._authors(turn))
        finally:
            self._live.discard(turn.id)
        return True

    async def _say_waiting(self, place: Place, error: StoreError) -> None:
        """A call is stored but its turn can't begin: who called is told, and it joins the next one."""
        if any(channel_id == place.channel_id for channel_id, _ in self._people.values()):
            line = f"{error} Your message is kept; call me again in a moment."
            await self._do.surface.report(place, 0, Failure(0, line, retry=False))

    def live(self, turn_id: int) -> bool:
        """Is this turn running in this process?"""
        return turn_id in self._live

    async def _place(self, channel_id: int) -> Place | None:
        async with self._do.store.read() as tx:
            channel = await tx.channels.get(channel_id)
        return channel.place if channel else None

    async def _take(self, place: Place) -> Turn | None:
        """Open a turn for all that waits here; None when nothing does."""
        now = self._do.clock.now()
        async with self._do.store.write() as tx:
            waiting = await tx.triggers.waiting(place.channel_id, 1_000)
            stored = {m.id: m for m in await tx.messages.many(waiting)}
            calls = [stored[i] for i in waiting if i in stored]
            gone = [i for i in waiting if i not in stored]
            await tx.triggers.drop(gone)
            for message_id in gone:
                self._people.pop(message_id, None)
            if not calls:
                return None
            ids = tuple(m.id for m in calls)
            authors = tuple(dict.fromkeys(m.author_id for m in calls[-JOINED:]))
            turn = await tx.turns.open(place, self._do.lineage, ids, authors, now)
            await tx.triggers.take(ids, turn.id)
            await tx.channels.touch_turn(place.channel_id, now)
        self._do.recorder.touch(place.channel_id)
        self._do.stage("taken")
        return turn

    def _authors(self, turn: Turn) -> dict[int, Person]:
        """Each trigger author with the rights of their latest trigger."""
        known = [self._people.pop(i, None) for i in turn.trigger_ids]
        return {each[1].id: each[1] for each in known if each is not None}

    async def answer(self, turn: Turn, authors: Mapping[int, Person]) -> None:
        """Run an open turn to its end. A failure is said in the channel in one line; nothing is raised."""
        reply = self._do.surface.reply(turn.place, turn.trigger_ids[-1])
        answer = Answer()
        try:
            await reply.typing()
            async with asyncio.timeout(self._do.settings.turn_deadline_seconds):
                prepared = await self._ask(turn, authors, reply, answer)
            if prepared is None:
                await reply.withdraw()
                await self._close(turn, TurnState.FAILED, error="its message was deleted")
                return
            outbox = await self._commit(turn, prepared, answer)
        except (KeepsakeError, TimeoutError) as error:
            await self.fail(turn, reply, error, answer)
            return
        except Exception:
            log.exception("a turn broke", extra={"turn": turn.id})
            await self.fail(turn, reply, KeepsakeError(BROKE), answer)
            return
        await self.deliver(turn, outbox, reply)
        self._do.notifier.wake()

    async def _ask(
        self, turn: Turn, authors: Mapping[int, Person], reply: Reply, answer: Answer
    ) -> Prepared | None:
        """Load, build and talk to the model until it is done. None when every trigger was deleted."""
        do = self._do
        info = do.model.info
        reserved = (do.surface.persona_name(turn.place),)
        loaded = await do.preparer.load(turn.place, info, turn.trigger_ids, authors, reserved=reserved)
        if not loaded.triggers:
            return None
        tools = self.tool_specs()
        words = do.preparer.words(do.surface, turn.place, loaded.triggers[-1].author_name, tools)
        prepared = do.preparer.build(loaded, info, do.clock.now(), words)
        do.stage("prepared")
        people = {p.id: p for p in loaded.in_play}
        last = loaded.triggers[-1]
        context = ToolContext(
            place=turn.place,
            lineage=turn.lineage,
            turn_id=turn.id,
            authors=tuple(people[i] for i in dict.fromkeys(m.author_id for m in loaded.triggers)),
            in_play=loaded.in_play,
            handles=dict(prepared.handles),
            source=Source(turn.place.channel_id, last.id, turn.place.guild_id),
        )
        await self._rounds(turn, prepared, context, tools, reply, answer)
        if self._unkept(loaded.triggers, answer):
            answer.text += "\n-# Nothing was saved just now. With `/memory add` you save something yourself."
        return prepared

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """The tools that a turn offers now."""
        return self._do.tools.specs() if self._do.model.tools_work else ()

    @staticmethod
    def _unkept(triggers: Sequence[Message], answer: Answer) -> bool:
        """Was it asked to remember something, and nothing was written (SPEC §4.4)?"""
        asked = any(phrases.asks_to_remember(m.text) for m in triggers)
        duplicate = any(o.kind is OutcomeKind.DUPLICATE for o in answer.outcomes)
        return asked and not answer.wrote and not duplicate

    async def _rounds(
        self,
        turn: Turn,
        prepared: Prepared,
        context: ToolContext,
        tools: tuple[ToolSpec, ...],
        reply: Reply,
        answer: Answer,
    ) -> None:
        messages = list(prepared.prompt.messages)
        for number in range(ROUNDS + 1):
            done = await self._stream(turn, messages, tools, reply, answer)
            if not done.tool_calls or number == ROUNDS:
                break
            messages.append(ChatMessage(Role.ASSISTANT, done.text, tool_calls=done.tool_calls))
            at = replace(context, round=number)
            for position, call in enumerate(done.tool_calls):
                result = await self._call(at, call, position, answer)
                messages.append(ChatMessage(Role.TOOL, result, tool_call_id=call.id))
        if not window.has_words(answer.text):
            raise ModelEmpty("The model answered nothing. Your message is kept.")
        self._do.stage("answered")

    async def _call(self, context: ToolContext, call: ToolCall, position: int, answer: Answer) -> str:
        if position >= CALLS_A_ROUND:
            return f"error: only {CALLS_A_ROUND} calls at once are carried out; this one was not"
        result = await self._do.tools.call(context, call)
        answer.outcomes.append(result.outcome)
        if result.outcome.journal is not None:
            self._do.stage("wrote")
        return result.words

    async def _stream(
        self,
        turn: Turn,
        messages: Sequence[ChatMessage],
        tools: tuple[ToolSpec, ...],
        reply: Reply,
        answer: Answer,
    ) -> Finished:
        """One call of the model, shown as it comes. Adds its text and usage to ``answer``."""
        before, heard = answer.text, ""
        request = Request(
            tuple(messages),
            tools=tools,
            max_tokens=self._do.settings.reply_tokens,
            deadline_s=self._do.settings.turn_deadline_seconds,
        )
        stood_in: int | None = turn.partial_id
        async with contextlib.aclosing(self._do.model.stream(request)) as events:
            async for event in events:
                if isinstance(event, Finished):
                    answer.usage += event.usage
                    answer.truncated = event.truncated
                    answer.text = _joined(before, event.text)
                    return event
                heard += event.text
                answer.text = _joined(before, heard)
                shown = await reply.show(answer.text)
                if shown is not None and shown != stood_in:
                    stood_in = shown
                    async with self._do.store.write() as tx:
                        await tx.turns.set_partial(turn.id, shown)
                    self._do.stage("streaming")
        raise ModelEmpty("The model's answer had no end. Your message is kept.")

    async def _commit(self, turn: Turn, prepared: Prepared, answer: Answer) -> Outbox:
        """The reply is final: its text, its ledger and the window's new start are one transaction."""
        do = self._do
        now = do.clock.now()
        text = answer.text.strip()
        if answer.truncated:
            text += "\n-# The answer reached its length limit (`REPLY_TOKENS`)."
        outbox = Outbox(turn.id, turn.place, turn.trigger_ids[-1], text, f"ks{turn.id}", now)
        account = views.to_json(views.bare(prepared.prompt.ledger))
        async with do.store.write() as tx:
            await tx.turns.commit(turn.id, answer.usage, do.model.info.name, account, now)
            await tx.outbox.add(turn.id, turn.place, outbox.reply_to, text, outbox.nonce, now)
            await tx.channels.set_window_start(turn.place.channel_id, prepared.loaded.window_start)
        do.stage("committed")
        return outbox

    async def deliver(self, turn: Turn, outbox: Outbox, reply: Reply) -> None:
        """Post a committed reply and close its turn. What cannot be posted now is tried at the next start."""
        try:
            parts = await reply.finish(outbox.text, outbox.nonce)
        except DeliveryError as error:
            log.warning("a reply could not be posted: %s", error, extra={"turn": turn.id})
            if error.gone:
                await self._undeliverable(turn, reply, error)
            return
        self._do.stage("delivered")
        try:
            await self._close_delivered(turn, parts)
        except StoreError as broken:
            log.error("a delivered turn could not be closed yet: %s", broken, extra={"turn": turn.id})
            self._unclosed.setdefault(turn.place.channel_id, []).append((turn, parts))

    async def _undeliverable(self, turn: Turn, reply: Reply, error: DeliveryError) -> None:
        """The channel will never take this reply: nothing half stands, and it is said where it can be."""
        await reply.withdraw()
        await self._do.surface.report(turn.place, turn.trigger_ids[-1], Failure(turn.id, f"{error}"))
        await self._close(turn, TurnState.FAILED, error="the channel would not take the reply")

    async def _close_late(self, channel_id: int) -> None:
        """Replies that stand in the channel and could not be stored join the window before the next turn."""
        while late := self._unclosed.get(channel_id):
            await self._close_delivered(*late[0])
            late.pop(0)
        self._unclosed.pop(channel_id, None)

    async def _close_delivered(self, turn: Turn, parts: Sequence[Posted]) -> None:
        """The reply stands in the channel: it joins the window and the turn is over."""
        do = self._do
        author = (do.surface.own_id(), do.surface.persona_name(turn.place))
        async with do.store.write() as tx:
            await do.recorder.keep_reply(tx, turn.place, author, parts, turn.id)
            await tx.turns.close(
                turn.id, TurnState.DELIVERED, [p.message_id for p in parts], at=do.clock.now()
            )
            await tx.outbox.delivered(turn.id)
            await tx.triggers.done(turn.id)
        do.stage("closed")

    async def _close(self, turn: Turn, state: TurnState, *, error: str) -> None:
        async with self._do.store.write() as tx:
            await tx.turns.close(turn.id, state, error=error, at=self._do.clock.now())
            await tx.outbox.delivered(turn.id)

    async def fail(self, turn: Turn, reply: Reply, error: Exception, answer: Answer) -> None:
        """Say in one line what went wrong and what was kept, with a Retry button (SPEC §14)."""
        if isinstance(error, TimeoutError):
            waited = f"{self._do.settings.turn_deadline_seconds:g} seconds"
            error = ModelTimeout(
                f"The model did not finish within {waited}. Your message is kept; try again."
            )
        log.warning("a turn failed: %s", type(error).__name__, extra={"turn": turn.id})
        await reply.withdraw()
        line = str(error)
        written = sum(o.journal is not None for o in answer.outcomes)
        if written:
            line += f" What was saved before that stays saved ({written})."
        retry = not isinstance(error, BudgetError)
        await self._do.surface.report(turn.place, turn.trigger_ids[-1], Failure(turn.id, line, retry=retry))
        try:
            await self._close(turn, TurnState.FAILED, error=type(error).__name__)
        except StoreError as broken:
            log.error("a failed turn could not be closed: %s", broken)
        self._do.notifier.wake()

    async def again(
        self, turn_id: int, person: Person, place: Place, answers: int | None = None
    ) -> str | None:
        """The Retry button. Returns a sentence when it can't, else None and the triggers wait again."""
        async with self._do.store.write() as tx:
            turn = await tx.turns.get(turn_id)
            known = turn is not None and turn.place.channel_id == place.channel_id
            if turn is None or not known or (answers is not None and answers not in turn.trigger_ids):
                return "That turn is no longer stored. Please say it again."
            if person.id not in turn.author_ids and not person.manages:
                return "Only who asked, or somebody with Manage Server, can try this again."
            if turn.state is TurnState.OPEN and not self.live(turn_id):
                await tx.turns.close(turn_id, TurnState.FAILED, error="closed late", at=self._do.clock.now())
            elif turn.state not in (TurnState.FAILED, TurnState.REPORTED):
                return "That was already answered, or is being answered now."
            if not await tx.triggers.put_back(turn_id):
                return "It is being tried again already, or the message was deleted."
        if person.id in turn.author_ids:
            self._people[turn.trigger_ids[-1]] = (place.channel_id, person)
        self._places[turn.place.channel_id] = turn.place
        return None


def _joined(before: str, text: str) -> str:
    """Words of several rounds, one below the other."""
    if not before.strip():
        return text
    return f"{before.rstrip()}\n{text}" if text else before
