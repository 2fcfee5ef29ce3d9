"""The engine's public face: all that a front may ask. Plain values in and out, no Discord object, no row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memory.config.service import Config
from memory.facts.clearing import Cleared
from memory.facts.drafting import Drafting
from memory.facts.drafts import Pick
from memory.facts.leaving import Left as Left  # for the front's types
from memory.facts.leaving import leave, leaving_counts
from memory.facts.service import Facts
from memory.llm.port import Model
from memory.personas.editing import Editing
from memory.personas.rules import PersonaRefused
from memory.personas.service import Personas
from memory.ports import NoticeView, Surface
from memory.prompt import views
from memory.prompt.ledger import Ledger
from memory.settings import Settings
from memory.store import Store
from memory.turns.actions import Actions
from memory.turns.background import Background
from memory.turns.deciding import Deciding
from memory.turns.gate import Gate
from memory.turns.notify import Notifier
from memory.turns.prepare import Preparer
from memory.turns.recovery import Recovery
from memory.turns.run import Turns
from memory.turns.seeing import Seeing
from memory.types import (
    AuthorKind,
    Clock,
    Incoming,
    Notice,
    Person,
    Persona,
    Place,
    Scope,
    Turn,
)
from memory.window.recorder import Recorder

SHUTDOWN_GRACE_S = 10.0
"""Seconds that running turns get to finish when the process is asked to stop."""


RECOUNT = "Its memories have changed meanwhile. Nothing was deleted: look at the numbers again."
"""Why a persona was not deleted together with memories that nobody was told of."""


@dataclass(frozen=True, slots=True)
class LastTurn:
    """The latest real turn of a channel with its ledger, as the asker may see it."""

    turn: Turn
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class Rooms:
    """The rooms that stand without a surface. Made by :mod:`memory.wiring`."""

    settings: Settings
    clock: Clock
    store: Store
    model: Model
    config: Config
    facts: Facts
    recorder: Recorder
    preparer: Preparer
    personas: Personas


@dataclass(frozen=True, slots=True)
class Running:
    """The rooms that need a surface: there once :meth:`Engine.start` was called."""

    surface: Surface
    turns: Turns
    gate: Gate
    notifier: Notifier
    recovery: Recovery
    background: Background
    actions: Actions


RunningMaker = Callable[[Rooms, Surface], Running]


class Engine:
    """One a process. ``await start(surface)`` before anything that talks; ``await close()`` at the end."""

    def __init__(self, rooms: Rooms, run: RunningMaker) -> None:
        self._rooms = rooms
        self._make = run
        self._running: Running | None = None
        self._drafts = Drafting(rooms.facts, rooms.model, rooms.config.get)
        self._seeing = Seeing(lambda: self._now.surface)
        self._suggestions = Deciding(rooms.facts, self._seeing)
        self._editing = Editing(
            rooms.store,
            rooms.clock,
            rooms.personas,
            limit=rooms.settings.max_personas_per_server,
            surface=lambda: self._now.surface,
            changed=rooms.config.forget,
        )

    @property
    def settings(self) -> Settings:
        return self._rooms.settings

    @property
    def clock(self) -> Clock:
        return self._rooms.clock

    @property
    def facts(self) -> Facts:
        return self._rooms.facts

    @property
    def config(self) -> Config:
        return self._rooms.config

    @property
    def personas(self) -> Personas:
        return self._rooms.personas

    @property
    def editing(self) -> Editing:
        """Personas as people change them."""
        return self._editing

    @property
    def seeing(self) -> Seeing:
        """Who may learn where something was said."""
        return self._seeing

    @property
    def suggestions(self) -> Deciding:
        """What waits for somebody's yes."""
        return self._suggestions

    @property
    def drafts(self) -> Drafting:
        """Entries that somebody reviews before they are saved."""
        return self._drafts

    @property
    def model(self) -> Model:
        return self._rooms.model

    @property
    def actions(self) -> Actions:
        """What members do to one message: regenerate, rewind, fork, exclude."""
        return self._now.actions

    async def start(self, surface: Surface) -> None:
        """Begin to work with a surface. Recovery waits for :meth:`reconnected`, when it can be reached."""
        self._running = self._make(self._rooms, surface)
        self._rooms.facts.own_name = surface.persona_name
        await self._rooms.personas.load(surface.is_member)
        await self._rooms.recorder.load()

    @property
    def _now(self) -> Running:
        if self._running is None:
            raise RuntimeError("the engine was not started")
        return self._running

    async def reconnected(self) -> None:
        """The surface can be reached (again): settle unfinished turns, bring the windows in step."""
        now = self._now
        self._rooms.recorder.out_of_step()
        now.background.start("recovery", now.recovery.run)
        now.background.start("windows", self._windows)
        now.notifier.wake()

    async def _windows(self) -> None:
        for channel in await self._rooms.recorder.load():
            await self._rooms.recorder.in_step(channel.place, self._now.surface)

    async def idle(self) -> None:
        """Wait until no turn and no background work runs. For tests, benches and the playground."""
        await self._now.gate.idle()
        await self._now.background.idle()

    async def close(self) -> None:
        """Finish or stop what runs, then close the model and the database. Safe to call twice."""
        if self._running is not None:
            await self._running.gate.close(SHUTDOWN_GRACE_S)
            await self._running.background.close()
            self._running = None
        await self._rooms.model.close()
        await self._rooms.store.close()

    async def observe(self, incoming: Incoming, *, trigger: bool, persona_id: int = 0) -> None:
        """A message was said. Stored once, however often it is told; a trigger is answered once.

        ``persona_id``: whom a trigger calls (0: the built-in persona).
        """
        if await self._rooms.recorder.observe(incoming, trigger=trigger, persona_id=persona_id):
            self._now.turns.called(incoming.message_id, incoming.place, incoming.author)
            self._now.gate.wake(incoming.place.channel_id)

    async def turn_of(self, message_id: int) -> Turn | None:
        """The turn whose reply a message of ours is (part of)."""
        async with self._rooms.store.read() as tx:
            return await tx.turns.by_reply(message_id)

    async def edited(self, incoming: Incoming) -> None:
        """A person edited a message."""
        await self._rooms.recorder.edited(incoming)

    async def deleted(self, channel_id: int, ids: Sequence[int]) -> None:
        """Messages were deleted: gone from the window; a deleted `/refresh` marker is undone."""
        await self._rooms.recorder.deleted(channel_id, ids)

    async def retry(
        self, person: Person, place: Place, turn_id: int, answers: int | None = None
    ) -> str | None:
        """Run a failed turn again. Returns why not, in a sentence, or None when it is on its way.

        ``answers``: the message that the pressed report answers, when it answers one.
        """
        refusal = await self._now.turns.again(turn_id, person, place, answers)
        if refusal is None:
            self._now.gate.wake(place.channel_id)
        return refusal

    async def refresh(self, place: Place, person: Person, marker_id: int) -> None:
        """A new epoch: what was said up to the marker leaves the prompt; saved memories stay (SPEC §2)."""
        async with self._rooms.store.write() as tx:
            await tx.channels.put(place)
            await tx.channels.add_epoch(place.channel_id, marker_id, person.id, self.clock.now())

    async def restore(self, place: Place, person: Person, marker_id: int) -> bool:
        """Undo a `/refresh`. The front has asked for the right (Manage Server, in a DM the member).

        False when that marker is not in force (restored already).
        """
        async with self._rooms.store.write() as tx:
            return await tx.channels.drop_epochs(place.channel_id, [marker_id]) > 0

    async def clear(
        self, person: Person, place: Place, scope: Scope, asked: Sequence[int], *, pinned: bool
    ) -> Cleared:
        """Delete entries of a scope for good (SPEC §4.6); confirmations that show their words lose them."""
        done = await self.facts.clear(person, place, scope, asked, pinned=pinned)
        if done.notices:
            self._redraw(f"cleared up to notice {done.notices[0].id}", done.notices)
        return done

    def _redraw(self, why: str, notices: Sequence[Notice]) -> None:
        """Draw confirmations again in the background, as things stand now."""

        async def redraw() -> None:
            for notice in notices:
                view = await self.notice_view(notice.id, Place(notice.channel_id, notice.guild_id))
                if view is not None:
                    await self._now.surface.redraw(view)

        if notices:
            self._now.background.start(why, redraw)

    async def answering(self, person: Person, place: Place) -> Persona:
        """Who answers this person here when nobody else is called, as things stand now."""
        rooms = self._rooms
        return await rooms.personas.answering(place, await rooms.config.persona_id(place), person.id)

    async def preview(
        self, person: Person, place: Place, text: str, persona: Persona | None = None
    ) -> Ledger:
        """What a turn would send if ``person`` said ``text`` now. Writes nothing. Raises BudgetError.

        ``persona``: who would answer; None for whoever answers there when nobody else is called.
        """
        rooms, surface = self._rooms, self._now.surface
        if persona is None:
            persona = await self.answering(person, place)
        said = Incoming(_AFTER_ALL, place, person, text or "…", self.clock.now(), kind=AuthorKind.MEMBER)
        info = rooms.model.info
        row = rooms.recorder.message(said)
        reserved = (surface.persona_name(place), persona.name)
        loaded = await rooms.preparer.load(
            place, info, [row], {person.id: person}, persona, reserved=reserved
        )
        tools = self._now.turns.tool_specs(loaded)
        words = rooms.preparer.words(surface, place, loaded.triggers[-1].author_name, tools, persona)
        prepared = rooms.preparer.build(loaded, info, self.clock.now(), words)
        return views.redact(prepared.prompt.ledger, person.id)

    async def snapshot(self, person: Person, place: Place, text: str = "") -> str:
        """The whole prompt as text, other members' personal memories as counts only."""
        return views.snapshot_text(await self.preview(person, place, text))

    async def last(self, person: Person, place: Place) -> LastTurn | None:
        """The ledger of the channel's latest real turn; None when there was none."""
        async with self._rooms.store.read() as tx:
            turn = await tx.turns.latest_with_ledger(place.channel_id)
            if turn is None:
                return None
            stored = await tx.turns.ledger(turn.id)
        return LastTurn(turn, views.redact(views.from_json(stored), person.id))

    async def leaving(self, person: Person, place: Place, persona_id: int) -> tuple[Persona, Left]:
        """What deleting a persona would do to its memories, counted. Raises PersonaRefused.

        Nothing is written; it is a unit of writing because what it counts is held still until it ends.
        """
        async with self._rooms.store.write() as tx:
            persona = await self._editing.removable(tx, person, place, persona_id)
            return persona, await leaving_counts(tx, persona, self._now.surface.in_server)

    async def delete_persona(
        self,
        person: Person,
        place: Place,
        persona_id: int,
        delete_server: bool,
        counted: int | None = None,
    ) -> Left:
        """Delete a persona in one transaction; its memories become those of all personas (SPEC §4.6).

        ``delete_server``: those about the server are deleted instead; ``counted``: how many the person was
        told these are. Raises PersonaRefused when there are others by now, and for who may not do this.
        """
        surface = self._now.surface
        async with self._rooms.store.write() as tx:
            persona = await self._editing.removable(tx, person, place, persona_id)
            if delete_server and counted is not None:
                now = await leaving_counts(tx, persona, surface.in_server)
                if now.server != counted:
                    raise PersonaRefused(RECOUNT)
            left = await leave(
                tx,
                self.clock,
                persona,
                person,
                place,
                surface.in_server,
                delete_server=delete_server,
            )
            hooks = await tx.hooks.of_persona(persona.guild_id or 0, persona.lineage)
            if not await tx.personas.remove(persona):
                raise PersonaRefused(RECOUNT)
        self._rooms.personas.forget(persona.guild_id)
        self._redraw(f"persona {persona.id} was deleted", left.notices)
        await surface.retire(hooks)
        for hook in hooks:
            await self._rooms.personas.drop_hook(hook.id)
        return left

    async def pickable(
        self, place: Place, messages: Sequence[Incoming], clicked_id: int | None = None
    ) -> tuple[Pick, ...]:
        """Those of ``messages`` that may be saved. Raises DraftRefused when the clicked one may not."""
        bare = [replace(m, text=self._rooms.recorder.message(m).text) for m in messages]
        return await self._drafts.pickable(place, bare, clicked_id)

    async def notice_posted(self, notice_id: int, message_id: int) -> None:
        """A confirmation stands in a channel: it is recognised by this message id from now on."""
        async with self._rooms.store.write() as tx:
            await tx.notices.posted(notice_id, message_id)

    async def only_audited(self, notice: Notice, place: Place) -> bool:
        """A server's write by command: is its confirmation kept out of the place by its settings?

        It is told in the audit channel then, if the server has one.
        """
        return await self._now.notifier.audit(notice, place)

    async def told_in(self, place: Place) -> Place | None:
        """Where a server is told what became of many of its memories at once; None: nowhere."""
        return await self._now.notifier.told_in(place)

    async def notice_view(self, notice_id: int, place: Place) -> NoticeView | None:
        """All that a confirmation shows, as things stand now."""
        surface = self._now.surface
        server = "" if place.guild_id is None else surface.server_name(place.guild_id)
        return await self.facts.notice_view(
            notice_id, persona_name=surface.persona_name(place), server_name=server
        )


_AFTER_ALL = (1 << 63) - 1
"""Id of a preview's message: later than any real one."""
