"""A bot in a process of its own, to be killed. Not a test: :mod:`tests.turns.test_faults` starts it.

Usage: ``python -m tests.turns.crash_child WORLD_FILE DATABASE_URL STAGE [PERSONA]``. The world (what stands
in the channel) is an append-only file, so that it outlives the process as Discord does. At STAGE the process
kills itself; with STAGE ``none`` it settles what the last process left, and prints what stands as one JSON
line. PERSONA: the name of a character that is called; without one the built-in persona is.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path

from memory import wiring
from memory.engine import Engine
from memory.personas.rules import name_key
from memory.settings import Settings
from memory.types import AuthorKind, Person, Persona, Scope
from tests.fakes import GENERAL, GUILD, FakeClock, FakeSurface, ScriptedModel, calls, says

ANA = Person(501, "Ana")
FACT = "is allergic to peanuts"


class FileSurface(FakeSurface):
    """A place whose messages are replayed from a file and appended to it at each change."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                self._apply(json.loads(line))
        self._ids = iter(range(1_000 + len(self.log), 10_000))

    @property
    def log(self) -> list[str]:
        return self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []

    def _apply(self, change: dict) -> None:
        from tests.fakes import Said

        if change["op"] == "del":
            self.messages.pop(change["id"], None)
            return
        author = Person(change["author"], change["name"])
        self.messages[change["id"]] = Said(
            change["id"],
            GENERAL,
            change["text"],
            author,
            AuthorKind(change["kind"]),
            self.clock.now(),
            change["reply_to"],
            change["report"],
            change["notice"],
            lineage=change["lineage"],
        )

    def save(self) -> None:
        """Append what changed. One write a change, as one request is to Discord."""
        seen = {}
        for line in self.log:
            change = json.loads(line)
            seen[change["id"]] = change
        with self.path.open("a", encoding="utf-8") as file:
            for m in self.messages.values():
                change = {
                    "op": "put",
                    "id": m.id,
                    "text": m.text,
                    "author": m.author.id,
                    "name": m.author.name,
                    "kind": m.kind.value,
                    "reply_to": m.reply_to,
                    "report": m.report,
                    "notice": m.notice,
                    "lineage": m.lineage,
                }
                if seen.get(m.id) != change:
                    file.write(json.dumps(change) + "\n")
            for known, change in seen.items():
                if change["op"] == "put" and known not in self.messages:
                    file.write(json.dumps({"op": "del", "id": known}) + "\n")

    def say(self, *args, **more):
        incoming = super().say(*args, **more)
        self.save()
        return incoming

    def reply(self, place, reply_to, standing=(), speaker=None):
        reply = super().reply(place, reply_to, standing, speaker)
        for name in ("show", "finish", "withdraw"):
            setattr(reply, name, self._saving(getattr(reply, name)))
        return reply

    def _saving(self, method):
        async def saving(*args):
            result = await method(*args)
            self.save()
            return result

        return saving

    async def report(self, *args):
        result = await super().report(*args)
        self.save()
        return result

    async def post_notice(self, *args):
        result = await super().post_notice(*args)
        self.save()
        return result


def die() -> None:
    """Be gone at once, as by kill -9."""
    if hasattr(signal, "SIGKILL"):
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(9)


def hook(stage: str):
    def at(name: str) -> None:
        if name == stage:
            die()

    return at


async def called(engine: Engine, name: str) -> Persona:
    """The persona of that name, made the first time."""
    key = name_key(name)
    async with engine._rooms.store.write() as tx:
        await tx.personas.add(Persona(0, GUILD, f"line-{key}", name), key, None, engine.clock.now())
    engine.personas.forget(GUILD)
    (found,) = await engine.personas.of_guild(GUILD)
    return found


async def main(world: Path, url: str, stage: str, name: str = "") -> None:
    settings, _ = Settings.load({"DATABASE_URL": url})
    model = ScriptedModel(
        calls(("save_memory", {"content": FACT, "about": "user"}), text="One moment."),
        after=says("Noted: you are allergic to peanuts."),
    )
    surface = FileSurface(world)
    engine = await wiring.build(settings, clock=FakeClock(), model=model, stage=hook(stage))
    await engine.start(surface)
    whom = await called(engine, name) if name else await engine.personas.built_in(GUILD)
    if stage == "none":
        await engine.reconnected()
        await engine.idle()
        await engine.idle()
    else:
        said = surface.say(ANA, "please remember that I'm allergic to peanuts")
        if stage.startswith("after "):
            asyncio.get_running_loop().call_later(float(stage.split()[1]) / 1000, die)
        await engine.observe(said, trigger=True, persona_id=whom.id)
        if stage == "observed":
            die()
        await engine.idle()
    async with engine._rooms.store.read() as tx:
        memories = await tx.memories.of_scopes([Scope.user(ANA.id, whom.lineage)], dm=False)
        journal = [len(await tx.journal.of_memory(m.id)) for m in memories]
        window = await tx.messages.window(GENERAL.channel_id, 0, 0)
        unfinished = await tx.turns.unfinished()
    standing = [m for m in surface.messages.values() if m.kind is AuthorKind.PERSONA and not m.notice]
    print(
        json.dumps(
            {
                "memories": [m.text for m in memories],
                "journal": journal,
                "replies": [m.text for m in standing if not m.report],
                "authors": sorted({m.author.name for m in standing if not m.report}),
                "reports": [m.text for m in standing if m.report],
                "notices": sum(m.notice for m in surface.messages.values()),
                "window": [m.line for m in window],
                "unfinished": len(unfinished),
                "asked": len(model.requests),
            }
        ),
        flush=True,
    )
    await engine.close()


if __name__ == "__main__":
    started = time.time()
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
