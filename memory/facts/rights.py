"""Who may make a write, and what is switched off, judged inside the write's own transaction.

The pure rules are in :mod:`memory.facts.rules` and :mod:`memory.config.rules`.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from memory.config.rules import Autosave, Mode, PlaceConfig, resolve, row_keys
from memory.facts.outcomes import Outcome
from memory.facts.rules import may_read, may_write
from memory.facts.writes import Hand, Write
from memory.store import Tx
from memory.types import (
    GLOBAL,
    ActorKind,
    DetailLevel,
    JournalEntry,
    Op,
    Person,
    Place,
    Scope,
    SubjectKind,
)


class Verdict(StrEnum):
    """Written at once, waits for approval, or refused."""

    WRITE = "write"
    PROPOSE = "propose"
    REFUSE = "refuse"


async def member_access(tx: Tx, place: Place) -> bool:
    """Has an admin let every member write this server's memories? Off in a new server (SPEC §12)."""
    if place.guild_id is None:
        return False
    settings = await tx.config.get("server", place.guild_id)
    return settings.get("member_access") == "on"


async def switches(tx: Tx, place: Place) -> PlaceConfig:
    """What is set in that place now. Its detail level means nothing here."""
    return resolve(await tx.config.many(row_keys(place)), place, DetailLevel.BALANCED)


async def switched_off(tx: Tx, hand: Hand) -> str:
    """Why the model may write nothing at all here, in words for it; "" when it may (SPEC §4.8)."""
    config = await switches(tx, hand.place)
    if config.autosave is Autosave.OFF:
        return f"saving from chat is off in this server. {_NOT_WRITTEN}"
    if config.mode is not Mode.NORMAL:
        return (
            f"this channel's memory mode is {config.mode.value}: nothing said here is saved. {_NOT_WRITTEN}"
        )
    if not await _learns(tx, hand):
        return f"this persona does not learn from chat. {_NOT_WRITTEN}"
    return ""


async def told_unused(tx: Tx, outcome: Outcome, hand: Hand) -> Outcome:
    """A person's own addition is kept for a persona that does not learn from chat, and they are told so."""
    memory, guild_id = outcome.memory, hand.place.guild_id
    if hand.is_model or not outcome.wrote or memory is None or guild_id is None:
        return outcome
    if memory.scope.lineage == GLOBAL or await _learns_in(tx, guild_id, memory.scope.lineage):
        return outcome
    return replace(outcome, note=f"{outcome.note} {NOT_USED}".strip())


async def _learns(tx: Tx, hand: Hand) -> bool:
    """Does the persona in whose name the model writes learn from chat? In a DM: the one whose turn it is."""
    if hand.place.guild_id is not None:
        return await _learns_in(tx, hand.place.guild_id, hand.lineage)
    turn = None if hand.actor.turn_id is None else await tx.turns.get(hand.actor.turn_id)
    persona = await tx.personas.get(turn.persona_id) if turn is not None and turn.persona_id else None
    return persona is None or persona.learns


async def _learns_in(tx: Tx, guild_id: int, lineage: str) -> bool:
    return all(row.learns for row in await tx.personas.of_guild(guild_id) if row.lineage == lineage)


NOT_USED = "It is kept, but not used here now: Learn from chat is off for this persona."
"""Follows a person's own addition."""

_NOT_WRITTEN = "Nothing was written. Don't claim that it is remembered; a member can use /memory add."


async def judge(tx: Tx, scope: Scope, write: Write, hand: Hand) -> Verdict:
    """May this hand make this write in this scope, now?"""
    if hand.is_model:
        return await _judge_model(tx, scope, hand)
    person = hand.actor.person
    if person is None or not may_read(scope, person, hand.place):
        return Verdict.REFUSE
    if write.undoes is not None and undoes_own_turn(write.undoes, person):
        return Verdict.WRITE
    return Verdict.WRITE if await may_write_now(tx, scope, person, hand.place) else Verdict.REFUSE


async def may_write_now(tx: Tx, scope: Scope, person: Person, place: Place) -> bool:
    """:func:`memory.facts.rules.may_write` with the server's present setting."""
    return may_write(scope, person, place, member_access=await member_access(tx, place))


def undoes_own_turn(entry: JournalEntry, person: Person) -> bool:
    """A trigger author may take back what the model added in their own turn, and nothing more."""
    return entry.actor_kind is ActorKind.MODEL and entry.actor_id == person.id and entry.op is Op.ADD


async def _judge_model(tx: Tx, scope: Scope, hand: Hand) -> Verdict:
    """Persona scopes only: about a trigger author at once, else by approval (SPEC §4.4, §4.8).

    Where a server is set to ask, everything waits. Whether it may write at all: :func:`switched_off`.
    """
    if scope.lineage != hand.lineage or scope.lineage == GLOBAL or not hand.authors:
        return Verdict.REFUSE
    if scope.kind is SubjectKind.USER:
        if any(author.id == scope.subject_id for author in hand.authors):
            return Verdict.PROPOSE if await _asks(tx, hand.place) else Verdict.WRITE
        known = any(person.id == scope.subject_id for person in hand.in_play)
        return Verdict.PROPOSE if known and not hand.place.is_dm else Verdict.REFUSE
    if hand.place.guild_id != scope.subject_id:
        return Verdict.REFUSE
    access = await member_access(tx, hand.place)
    written = all(may_write(scope, author, hand.place, member_access=access) for author in hand.authors)
    return Verdict.WRITE if written and not await _asks(tx, hand.place) else Verdict.PROPOSE


async def _asks(tx: Tx, place: Place) -> bool:
    return (await switches(tx, place)).autosave is Autosave.ASK
