"""One turn: take, load, build, ask, call tools, commit, deliver, close (the path of DESIGN §2).

No transaction is open across a network call. A turn's row says how far it got, so that after a crash
:mod:`memory.turns.recovery` can tell what to do: run it again, deliver it, or report it; never two of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from memory.config.rules import Mode
from memory.errors import BudgetError, KeepsakeError, ModelTimeout, StoreError
from memory.facts.tools import ToolContext
from memory.llm.port import ToolSpec
from memory.ports import Failure, Posted, Reply, Speaker, speaker_of
from memory.prompt.names import A_MEMBER
from memory.turns.asking import Answer, Asking, saving_is_off, suggestions, unkept_words
from memory.turns.delivery import Delivery
from memory.turns.doors import Doors
from memory.turns.prepare import JOINED, Loaded, Prepared
from memory.types import DEFAULT_LINEAGE, Person, Persona, Place, Source, Turn, TurnState

log = logging.getLogger(__name__)

BROKE = "Something went wrong on my side; the log says what."
"""What a channel is told of a fault that nobody foresaw."""


@dataclass(frozen=True, slots=True)
class _Standing:
    """An old reply that is to be replaced: what it answers, the messages it stands in, whose it is."""

    trigger: int
    parts: tuple[Posted, ...]
    lineage: str


class Turns:
    """Runs turns, one call of :meth:`run` a turn. The gate sees to it that a channel has one at a time."""

    def __init__(self, doors: Doors, delivery: Delivery) -> None:
        self._do = doors
        self._delivery = delivery
        self._live: set[int] = set()
        self._people: dict[int, tuple[int, Person]] = {}
        self._places: dict[int, Place] = {}
        self._standing: dict[int, _Standing] = {}

    def called(self, message_id: int, place: Place, person: Person) -> None:
        """Keep what only the event knows, the caller's rights, until the turn takes the trigger.

        When the turn is run again, or after a restart, Discord is asked for them.
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
            await self._delivery.close_late(channel_id)
            turn, persona, more = await self._take(place)
        except StoreError as error:
            log.error("a turn could not begin: %s", error)
            await self._say_waiting(place, error)
            return False
        except Exception:
            log.exception("a turn could not begin", extra={"channel": channel_id})
            await self._say_waiting(place, KeepsakeError(BROKE))
            return False
        await self._unclaimed(place, turn)
        if turn is None:
            if not more:
                self._places.pop(channel_id, None)
            return more
        self._live.add(turn.id)
        try:
            await self.answer(turn, persona, await self._authors(turn))
        finally:
            self._live.discard(turn.id)
        return True

    async def _say_waiting(self, place: Place, error: KeepsakeError) -> None:
        """A call is stored but its turn can't begin: who called is told, and it joins the next one."""
        if any(channel_id == place.channel_id for channel_id, _ in self._people.values()):
            line = f"{error} Your message is kept; call me again in a moment."
            await self._do.surface.report(place, 0, Failure(0, line, retry=False))

    def replaces(self, old: Turn, person: Person) -> None:
        """The triggers of a delivered turn wait again: their next answer is put where the old one stands."""
        trigger, channel_id = old.trigger_ids[-1], old.place.channel_id
        parts = tuple(Posted(message_id, "") for message_id in old.reply_ids)
        self._standing[channel_id] = _Standing(trigger, parts, old.lineage)
        self._places[channel_id] = old.place
        if person.id in old.author_ids:
            self._people[trigger] = (channel_id, person)

    async def _unclaimed(self, place: Place, turn: Turn | None) -> None:
        """An old reply goes when no turn takes its place: its message was deleted, or its persona was."""
        left = self._standing.get(place.channel_id)
        if left is None or (
            turn is not None and left.trigger in turn.trigger_ids and left.lineage == turn.lineage
        ):
            return
        del self._standing[place.channel_id]
        speaker = None if left.lineage == DEFAULT_LINEAGE else Speaker(left.lineage, "")
        await self._do.surface.reply(place, left.trigger, left.parts, speaker).withdraw()
        with contextlib.suppress(StoreError):  # Discord tells of the deletion, too
            await self._do.recorder.deleted(place.channel_id, [p.message_id for p in left.parts])

    def live(self, turn_id: int) -> bool:
        """Is this turn running in this process?"""
        return turn_id in self._live

    async def _place(self, channel_id: int) -> Place | None:
        async with self._do.store.read() as tx:
            channel = await tx.channels.get(channel_id)
        return channel.place if channel else None

    async def _take(self, place: Place) -> tuple[Turn | None, Persona, bool]:
        """Open a turn for all that waits here for one persona. No turn when none of it is stored any more.

        The last value: something else waits, too.
        """
        now = self._do.clock.now()
        called, persona = await self._first_called(place)
        async with self._do.store.write() as tx:
            waiting = await tx.triggers.waiting(place.channel_id, 1_000)
            same = [message_id for message_id, whom in waiting if called in (whom, None)]
            stored = {m.id: m for m in await tx.messages.many(place.channel_id, same)}
            calls = [stored[i] for i in same if i in stored]
            gone = [i for i in same if i not in stored]
            await tx.triggers.drop(gone)
            for message_id in gone:
                self._people.pop(message_id, None)
            more = len(same) < len(waiting)
            if not calls:
                return None, persona, more
            ids = tuple(m.id for m in calls)
            authors = tuple(dict.fromkeys(m.author_id for m in calls[-JOINED:]))
            turn = await tx.turns.open(place, persona.lineage, ids, authors, now, persona.id)
            await tx.triggers.take(ids, turn.id)
            await tx.channels.touch_turn(place.channel_id, now)
        self._do.recorder.touch(place.channel_id)
        self._do.stage("taken")
        return turn, persona, more

    async def _first_called(self, place: Place) -> tuple[int | None, Persona]:
        """Whom the oldest waiting message calls, as it was called (None: there is one alone); who answers."""
        personas = self._do.personas
        if place.guild_id is not None and not await personas.of_guild(place.guild_id):
            return None, await personas.built_in(place.guild_id)
        async with self._do.store.read() as tx:
            waiting = await tx.triggers.waiting(place.channel_id, 1)
            called = waiting[0][1] if waiting else 0
            stored = await tx.messages.many(place.channel_id, [waiting[0][0]]) if waiting and called else []
        author = stored[0].author_id if stored else 0
        return called, await personas.answering(place, called, author)

    async def _authors(self, turn: Turn) -> dict[int, Person]:
        """Each trigger author with the rights of their latest trigger; unknown ones as Discord says now.

        Who presses Regenerate or Retry for others lends them nothing.
        """
        known = [self._people.pop(i, None) for i in turn.trigger_ids]
        people = {each[1].id: each[1] for each in known if each is not None}
        if turn.place.guild_id is not None:
            for user_id in set(turn.author_ids) - set(people):
                manages = await self._do.surface.manages(turn.place.guild_id, user_id)
                people[user_id] = Person(user_id, A_MEMBER, manages=manages)
        return people

    async def answer(self, turn: Turn, persona: Persona, authors: Mapping[int, Person]) -> None:
        """Run an open turn to its end. A failure is said in the channel in one line; nothing is raised."""
        stands = self._standing.pop(turn.place.channel_id, None)
        standing = stands.parts if stands is not None else ()
        speaker = speaker_of(persona)
        reply = self._do.surface.reply(turn.place, turn.trigger_ids[-1], standing, speaker)
        answer = Answer()
        try:
            await reply.typing()
            async with asyncio.timeout(self._do.settings.turn_deadline_seconds):
                prepared = await self._ask(turn, persona, authors, reply, answer)
            if prepared is None:
                await reply.withdraw()
                await self._delivery.close(turn, TurnState.FAILED, error="its message was deleted")
                return
            outbox = await self._delivery.commit(turn, prepared, answer)
        except (KeepsakeError, TimeoutError) as error:
            await self.fail(turn, reply, error, answer)
            return
        except Exception:
            log.exception("a turn broke", extra={"turn": turn.id})
            await self.fail(turn, reply, KeepsakeError(f"{BROKE} Your message is kept."), answer)
            return
        await self._delivery.deliver(turn, outbox, reply, speaker)
        self._do.notifier.wake()

    async def _ask(
        self,
        turn: Turn,
        persona: Persona,
        authors: Mapping[int, Person],
        reply: Reply,
        answer: Answer,
    ) -> Prepared | None:
        """Load, build and talk to the model until it is done. None when every trigger was deleted."""
        do = self._do
        info = do.model.info
        reserved = (do.surface.persona_name(turn.place), persona.name)
        loaded = await do.preparer.load(
            turn.place, info, turn.trigger_ids, authors, persona, reserved=reserved
        )
        if not loaded.triggers:
            return None
        tools = self.tool_specs(loaded)
        words = do.preparer.words(do.surface, turn.place, loaded.triggers[-1].author_name, tools, persona)
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
        await Asking(do, turn, reply, answer).run(prepared, context, tools)
        answer.text += unkept_words(loaded, answer) + suggestions(loaded, answer)
        return prepared

    def tool_specs(self, loaded: Loaded) -> tuple[ToolSpec, ...]:
        """The tools that a turn offers there: none where the model may not write (SPEC §4.8)."""
        if saving_is_off(loaded) or not loaded.persona.learns or loaded.config.mode is not Mode.NORMAL:
            return ()
        return self._do.tools.specs() if self._do.model.tools_work else ()

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
            await self._delivery.close(turn, TurnState.FAILED, error=type(error).__name__)
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
