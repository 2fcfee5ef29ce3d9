"""A bot that is killed while it regenerates. Not a test: :mod:`tests.turns.test_regenerate_faults` starts it.

Usage: ``python -m tests.turns.regenerate_child WORLD_FILE DATABASE_URL STAGE``. A first answer is given and
saved; then it is regenerated, and at STAGE of that the process kills itself. With STAGE ``none`` it settles
what the last process left, and prints what stands as one JSON line.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from memory import wiring
from memory.settings import Settings
from memory.types import Scope
from tests.fakes import GENERAL, FakeClock, ScriptedModel, calls, says
from tests.turns.crash_child import ANA, FileSurface, die

FIRST, SECOND = "plays the cello", "plays the viola"


async def main(world: Path, url: str, stage: str) -> None:
    settings, _ = Settings.load({"DATABASE_URL": url})
    regenerating = False

    def at(name: str) -> None:
        if regenerating and name == stage:
            die()

    first = [calls(("save_memory", {"content": FIRST, "about": "user"})), says("A cello.")]
    again = calls(("save_memory", {"content": SECOND, "about": "user"}), text="Hm.")
    model = ScriptedModel(*(first if stage != "none" else ()), again, after=says("A viola."))
    surface = FileSurface(world)
    engine = await wiring.build(settings, clock=FakeClock(), model=model, stage=at)
    await engine.start(surface)
    if stage == "none":
        await engine.reconnected()
        await engine.idle()
        await engine.idle()
    else:
        await engine.observe(surface.say(ANA, "I play something"), trigger=True)
        await engine.idle()
        (reply,) = [m for m in surface.messages.values() if m.text == "A cello."]
        regenerating = True
        await engine.actions.regenerate(ANA, GENERAL, reply.id)
        await engine.idle()
    async with engine._rooms.store.read() as tx:
        memories = await tx.memories.of_scopes([Scope.user(ANA.id, "keepsake")], dm=False)
        window = await tx.messages.window(GENERAL.channel_id, 0, 0)
        unfinished = await tx.turns.unfinished()
    standing = [m for m in surface.messages.values() if m.reply_to]
    found = {
        "memories": [m.text for m in memories],
        "replies": [m.text for m in standing if not m.report],
        "reports": [m.text for m in standing if m.report],
        "window": [m.text for m in window],
        "unfinished": len(unfinished),
    }
    print(json.dumps(found), flush=True)
    await engine.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
