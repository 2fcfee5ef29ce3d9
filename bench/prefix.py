"""How much of each prompt is an unchanged prefix of the turn before: what a provider's cache can reuse.

A 300-message conversation of six speakers, 15 saved memories and 3 keyword entries. The figure to hold: at
least 75 % of all prompt tokens, steps of the window included.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.place import GUILD, BenchClock, InstantModel, OpenPlace, sentence
from memory import wiring
from memory.engine import Engine
from memory.llm import tokenizers
from memory.llm.port import ChatMessage
from memory.prompt.budget import PER_MESSAGE, Count
from memory.settings import Settings
from memory.types import DEFAULT_LINEAGE, Person, Place, Scope

SPEAKERS = tuple(
    Person(100 + i, name, manages=i == 0)
    for i, name in enumerate(("Ana", "Ben", "Carla", "Dio", "Eva", "Finn"))
)
MESSAGES = 300
REPLY_WORDS = 50
"""Two or three sentences: about what a chat model answers."""

KEYWORDS = {"lighthouse": 70, "silver": 90, "violin": 110}
"""Each keyword is said once in so many messages, and so comes and goes."""


async def run() -> dict[str, object]:
    """Talk, and compare each prompt with the one before. Shares of tokens."""
    clock = BenchClock()
    model = InstantModel(words=REPLY_WORDS)
    place = Place(71, GUILD, name="general")
    surface = OpenPlace(clock)
    tokenizer, _ = tokenizers.load("gpt-4o")
    with tempfile.TemporaryDirectory() as folder:
        settings, _ = Settings.load({"DATABASE_URL": f"sqlite:///{Path(folder) / 'bench.sqlite3'}"})
        engine = await wiring.build(settings, clock=clock, model=model)
        await engine.start(surface)
        await _remember(engine, place)
        before: tuple[ChatMessage, ...] = ()
        same = total = said = 0
        while said < MESSAGES:
            person = SPEAKERS[(said // 2 + said // 10 % 2) % 6]
            extra = " ".join(word for word, every in KEYWORDS.items() if said % every == 0)
            await engine.observe(surface.says(person, place, f"{sentence(said)} {extra}"), trigger=True)
            await engine.idle()
            said += 2
            assert model.last is not None
            now = model.last.messages
            if before:
                same += _tokens(_shared(before, now), tokenizer.count)
                total += _tokens(now, tokenizer.count)
            before = now
        await engine.close()
    return {"prefix_share": round(same / total, 4), "prompt_tokens": total, "messages": said}


async def _remember(engine: Engine, place: Place) -> None:
    """15 memories over server and members, and 3 that wait for a keyword."""
    admin = SPEAKERS[0]
    for number in range(5):
        scope = Scope.server(GUILD, DEFAULT_LINEAGE)
        await engine.facts.add(admin, place, scope, f"The tavern rule {number}: {sentence(number, 9)}")
    for number in range(10):
        person = SPEAKERS[number % 6]
        scope = Scope.user(person.id, DEFAULT_LINEAGE)
        await engine.facts.add(person, place, scope, f"{person.name} likes {sentence(40 + number, 7)}")
    for keyword in KEYWORDS:
        await engine.facts.add(
            admin,
            place,
            Scope.server(GUILD, DEFAULT_LINEAGE),
            f"About {keyword}: {sentence(80, 8)} {keyword}",
            keywords=(keyword,),
        )


def _shared(before: tuple[ChatMessage, ...], now: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
    shared = 0
    for old, new in zip(before, now, strict=False):
        if (old.role, old.text) != (new.role, new.text):
            break
        shared += 1
    return now[:shared]


def _tokens(messages: tuple[ChatMessage, ...], count: Count) -> int:
    return sum(count(m.text) + PER_MESSAGE for m in messages)
