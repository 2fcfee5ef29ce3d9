"""What the bot remembers already when a playground is new: three facts, saved through its own engine."""

from __future__ import annotations

from memory.engine import Engine
from memory.types import DEFAULT_LINEAGE, Person, Place, Scope
from play.scene import GUILD_ID
from play.world import World

_FACTS = (
    (
        "mara",
        Scope.server(GUILD_ID, DEFAULT_LINEAGE),
        "The lantern festival is on Friday the 18th; everybody brings a paper boat.",
    ),
    ("ana", None, "Has a workshop, and red string in it."),
    ("ben", None, "Folds forty paper boats for the lantern festival."),
)


async def seed(world: World) -> None:
    """Save the facts as if Mara, Ana and Ben had added them; once in a world's life."""
    engine = getattr(world.bot, "engine", None)
    if not isinstance(engine, Engine):
        return
    place = Place(world.room("general"), GUILD_ID, name="general")
    for key, scope, text in _FACTS:
        persona = world.people[key]
        person = Person(persona.id, persona.name, manages=persona.admin)
        scope = scope or Scope.user(persona.id, DEFAULT_LINEAGE)
        outcome = await engine.facts.add(person, place, scope, text)
        if outcome.notice is not None:
            # No confirmation of what nobody did: as if it had been posted, under an id no message has.
            await engine.notice_posted(outcome.notice.id, outcome.notice.id)
