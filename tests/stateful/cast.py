"""Who takes part, where, and what they can say."""

from __future__ import annotations

from hypothesis import strategies as st

from memory.types import DEFAULT_LINEAGE, GLOBAL, Person, Place, Scope
from tests.fakes import GENERAL, GUILD

ANA, BEN, MARA = Person(501, "Ana"), Person(502, "Ben"), Person(503, "Mara", manages=True)
PEOPLE = (ANA, BEN, MARA)
SQUARE = GENERAL
DMS = {ANA.id: Place(601, None), BEN.id: Place(602, None)}
ELSEWHERE = Place(72, GUILD + 1, name="elsewhere")
PLACES = (SQUARE, *DMS.values())

ARIA = "aria-lineage"

TEXTS = (
    "Keeps bees on the roof.",
    "Was born in Oaxaca.",
    "Owns a blue bicycle.",
    "Has a sister called Inés.",
    "Never drinks coffee.",
    "The harvest fair opens on 12 May.",
    "Wi-Fi is off after midnight.",
)

who = st.sampled_from(PEOPLE)
text = st.sampled_from(TEXTS)
personas = st.sampled_from((DEFAULT_LINEAGE, ARIA))
lineages = st.sampled_from((DEFAULT_LINEAGE, ARIA, GLOBAL))
which = st.integers(0, 59)
keywords = st.sampled_from(((), ("hello",), ("loom",), ('"hello"', "zither", "loom")))
channels = st.sampled_from(((), (SQUARE.channel_id,), (999,), (SQUARE.channel_id, DMS[ANA.id].channel_id)))


someone = st.none() | who
"""None: who may always do it."""

aside = st.sampled_from((False, False, True))

somebody = {"person": who, "private": aside}
"""A person and, by :func:`place_of`, where they act."""


def place_of(person: Person, private: bool) -> Place:
    """Where somebody acts: in their own DM, if they have one."""
    return DMS.get(person.id, SQUARE) if private else SQUARE


def owner_of(scope: Scope) -> Person:
    """Who may always write there."""
    return next((person for person in PEOPLE if person.id == scope.subject_id), MARA)


def scope_of(person: Person, server: bool, lineage: str) -> Scope:
    """The server's, or somebody's own."""
    return Scope.server(GUILD, lineage) if server else Scope.user(person.id, lineage)
