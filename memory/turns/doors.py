"""What a turn works with. Made once by :mod:`memory.wiring`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memory.facts.tools import MemoryTools
from memory.llm.port import Model
from memory.personas.service import Personas
from memory.ports import Surface
from memory.settings import Settings
from memory.store import Store
from memory.turns.notify import Notifier
from memory.turns.prepare import Preparer
from memory.types import Clock
from memory.window.recorder import Recorder

Stage = Callable[[str], None]
"""Called at each stage of a turn with its name; a fault test dies there."""


@dataclass(frozen=True, slots=True)
class Doors:
    """The rooms and the places outside that a turn needs."""

    store: Store
    clock: Clock
    settings: Settings
    model: Model
    surface: Surface
    recorder: Recorder
    preparer: Preparer
    personas: Personas
    tools: MemoryTools
    notifier: Notifier
    stage: Stage
