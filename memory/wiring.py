"""The composition root: settings in, a working engine out. Tests and benches call it with their own parts."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from memory import llm
from memory.config.service import Config
from memory.engine import Engine, Rooms, Running, RunningMaker
from memory.facts.service import Facts
from memory.facts.tools import MemoryTools
from memory.facts.writes import MemoryLimits
from memory.llm import tokenizers
from memory.llm.port import Model
from memory.personas.service import Personas
from memory.ports import Surface
from memory.settings import Settings
from memory.store import Store
from memory.turns.acting import Acting
from memory.turns.actions import Actions
from memory.turns.background import Background
from memory.turns.delivery import Delivery
from memory.turns.doors import Doors, Stage
from memory.turns.gate import Gate
from memory.turns.notify import Notifier
from memory.turns.prepare import Preparer
from memory.turns.recovery import Recovery
from memory.turns.run import Turns
from memory.types import Clock, Person, Persona, Place
from memory.window.recorder import Recorder


class WallClock:
    """The machine's own time."""

    def now(self) -> datetime:
        return datetime.now(UTC)


def _no_stage(_name: str) -> None:
    """Nothing watches the stages of a turn outside tests."""


async def build(
    settings: Settings,
    *,
    clock: Clock | None = None,
    model: Model | None = None,
    store: Store | None = None,
    stage: Stage = _no_stage,
) -> Engine:
    """Open the database (migrations applied), reach for the model, load its tokenizer off the event loop.

    Raises :class:`memory.errors.StoreError` when the database cannot be used.
    """
    clock = clock or WallClock()
    store = store or await Store.open(settings.database_url)
    try:
        model = model or await open_model(settings, clock)
        tokenizer, _ = await asyncio.to_thread(tokenizers.load, model.info.name)
    except BaseException:
        await store.close()
        raise
    limits = MemoryLimits(
        server=settings.max_server_memories,
        personal=settings.max_personal_memories,
        pinned=settings.max_pinned_memories,
        length=settings.max_memory_length,
        injected=settings.max_injected_memories,
    )
    config = Config(store, settings, clock)
    personas = Personas(store, clock)

    async def in_use(person: Person, place: Place, lately: bool) -> Persona:
        chosen = await config.persona_id(place)
        return await personas.answering(place, chosen, person.id, lately=lately)

    facts = Facts(store, clock, limits, in_use)
    rooms = Rooms(
        settings=settings,
        clock=clock,
        store=store,
        model=model,
        config=config,
        facts=facts,
        recorder=Recorder(store, clock, tokenizer),
        preparer=Preparer(store, settings, config, personas, tokenizer),
        personas=personas,
    )
    return Engine(rooms, _running(MemoryTools(facts), stage))


async def open_model(settings: Settings, clock: Clock | None = None) -> Model:
    """The model that the settings name, or the offline responder."""
    return await llm.build(_llm(settings), clock or WallClock())


def _llm(settings: Settings) -> llm.LlmConfig:
    """What the model's door needs; without a key or an endpoint of one's own, the offline responder."""
    if not settings.llm_configured:
        return llm.LlmConfig()
    key = settings.llm_api_key
    return llm.LlmConfig(
        base_url=settings.llm_base_url,
        api_key=key.get_secret_value() if key else "",
        model=settings.llm_model,
        context_window=settings.llm_context_window,
        tools=settings.llm_tools,
        timeout_s=settings.llm_timeout_seconds,
    )


def _running(tools: MemoryTools, stage: Stage) -> RunningMaker:
    def make(rooms: Rooms, surface: Surface) -> Running:
        background = Background()
        notifier = Notifier(rooms.store, rooms.facts, rooms.config, surface, background)
        doors = Doors(
            store=rooms.store,
            clock=rooms.clock,
            settings=rooms.settings,
            model=rooms.model,
            surface=surface,
            recorder=rooms.recorder,
            preparer=rooms.preparer,
            personas=rooms.personas,
            tools=tools,
            notifier=notifier,
            stage=stage,
        )
        delivery = Delivery(doors)
        turns = Turns(doors, delivery)
        gate = Gate(turns.run)
        recovery = Recovery(doors, delivery, turns, gate)
        acting = Acting(doors, rooms.facts, rooms.config, turns, delivery, gate, background)
        return Running(surface, turns, gate, notifier, recovery, background, Actions(acting))

    return make
