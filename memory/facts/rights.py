"""Who may make a write, judged inside its transaction. The pure rules are in :mod:`memory.facts.rules`."""

from __future__ import annotations

from enum import StrEnum

from memory.facts.rules import may_read, may_write
from memory.facts.writes import Hand, Write
from memory.store import Tx
from memory.types import GLOBAL, ActorKind, JournalEntry, Op, Person, Place, Scope, SubjectKind


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
    """Persona scopes only: about a trigger author at once, else by approval (SPEC §4.4, §4.8)."""
    if scope.lineage != hand.lineage or scope.lineage == GLOBAL or not hand.authors:
        return Verdict.REFUSE
    if scope.kind is SubjectKind.USER:
        if any(author.id == scope.subject_id for author in hand.authors):
            return Verdict.WRITE
        known = any(person.id == scope.subject_id for person in hand.in_play)
        return Verdict.PROPOSE if known and not hand.place.is_dm else Verdict.REFUSE
    if hand.place.guild_id != scope.subject_id:
        return Verdict.REFUSE
    access = await member_access(tx, hand.place)
    written = all(may_write(scope, author, hand.place, member_access=access) for author in hand.authors)
    return Verdict.WRITE if written else Verdict.PROPOSE
