"""Memory at rest: 1,000 channels × 200 messages, turns among them (the figure to hold: 20 KB a channel)."""

from __future__ import annotations

import gc
import tempfile
import time
import tracemalloc
from pathlib import Path

from bench.place import GUILD, BenchClock, InstantModel, OpenPlace, sentence
from memory import wiring
from memory.engine import Engine
from memory.settings import Settings
from memory.types import Person, Place

CHANNELS = 1_000
MESSAGES = 200
CALL_EVERY = 20
WARM = 20
"""Channels talked through before the first reading, so that fixed costs are not counted as a channel's."""


async def run() -> dict[str, object]:
    """Talk in every channel, let all come to rest, and read what Python still holds."""
    clock = BenchClock()
    model = InstantModel()
    surface = OpenPlace(clock)
    with tempfile.TemporaryDirectory() as folder:
        settings, _ = Settings.load({"DATABASE_URL": f"sqlite:///{Path(folder) / 'bench.sqlite3'}"})
        engine = await wiring.build(settings, clock=clock, model=model)
        await engine.start(surface)
        tracemalloc.start()
        for number in range(WARM):
            await _talk(engine, surface, number)
        gc.collect()
        first, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        started = time.perf_counter()
        tracemalloc.start()
        for number in range(WARM, WARM + CHANNELS):
            await _talk(engine, surface, number)
        seconds = time.perf_counter() - started
        gc.collect()
        last, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        await engine.close()
    return {
        "channels": CHANNELS,
        "messages": CHANNELS * MESSAGES,
        "bytes_per_channel": round(last / CHANNELS),
        "fixed_bytes": first,
        "peak_bytes": peak,
        "seconds": round(seconds, 1),
    }


async def _talk(engine: Engine, surface: OpenPlace, number: int) -> None:
    place = Place(10_000 + number, GUILD, name=f"channel {number}")
    people = [Person(100 + (number + i) % 50, f"Member {(number + i) % 50}") for i in range(6)]
    for said in range(MESSAGES):
        calls = said % CALL_EVERY == 0
        await engine.observe(surface.says(people[said % 6], place, sentence(said + number)), trigger=calls)
        if calls:
            await engine.idle()
