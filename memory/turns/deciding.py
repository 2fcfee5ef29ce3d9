"""Suggestions that wait for somebody, and who may know what they say (SPEC §4.4, §12).

Words from a channel are nobody's to know who can't read it, until they were approved: a server's suggestion
is shown to, and decided by, those alone who can read a channel where it was made, as of that moment. Who
manages the server may discard one unread: its channel may be gone. A personal one is for the member it is
about, wherever it was made. No transaction is open while it is asked who can read what.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from memory.facts.outcomes import Outcome, OutcomeKind
from memory.facts.service import Facts
from memory.ports import Waiting
from memory.turns.seeing import Seeing
from memory.types import Person, Place, Proposal, SubjectKind

UNREAD = "Nothing was changed: that was suggested in a channel that you can't read, so others decide on it."
"""Why a server's suggestion was not decided."""


class Deciding:
    """The queue and its decisions, as the front asks for them."""

    def __init__(self, facts: Facts, seeing: Seeing) -> None:
        self._facts = facts
        self._seeing = seeing

    async def queue(self, person: Person, place: Place) -> list[Waiting]:
        """Suggestions that wait for this person here, oldest first; those they can't read are ``hidden``."""
        waiting = await self._facts.queue(person, place)
        read = await self._read(person, place, [w.proposal for w in waiting if _servers(w.proposal)])
        return [_as_seen(each, read) for each in waiting]

    async def decide(
        self, person: Person, place: Place, proposal_id: int, approve: bool, text: str | None = None
    ) -> Outcome:
        """Approve, with other words when ``text`` is given, or discard a suggestion that one may read."""
        async with self._facts.store.read() as tx:
            proposal = await tx.proposals.get(proposal_id)
        here = proposal is not None and proposal.scope.subject_id == place.guild_id
        unread_too = person.manages and not approve
        if proposal is not None and here and _servers(proposal) and not unread_too:
            read = await self._read(person, place, [proposal])
            if not read[proposal.id]:
                return Outcome(OutcomeKind.NOT_ALLOWED, scope=proposal.scope, detail=UNREAD)
        return await self._facts.decide(person, place, proposal_id, approve, text)

    async def _read(
        self, person: Person, place: Place, proposals: Sequence[Proposal]
    ) -> Mapping[int, frozenset[int]]:
        """For each suggestion: in which of the channels where it was made this person can read."""
        async with self._facts.store.read() as tx:
            made = await tx.notices.made_in([each.id for each in proposals])
        for each in proposals:
            if each.source is not None:
                made.setdefault(each.id, set()).add(each.source)
        channels = {source for sources in made.values() for source in sources}
        reads = {source.channel_id for source in channels if await self._seeing.reads(person, place, source)}
        return {
            each.id: frozenset(source.channel_id for source in made.get(each.id, ())) & reads
            for each in proposals
        }


def _servers(proposal: Proposal) -> bool:
    return proposal.scope.kind is SubjectKind.SERVER


def _as_seen(waiting: Waiting, read: Mapping[int, frozenset[int]]) -> Waiting:
    """What this person may know of it: all, all but where it was said first and to whom, or that it waits."""
    proposal = waiting.proposal
    if not _servers(proposal):
        return waiting
    channels = read[proposal.id]
    if proposal.source is not None and proposal.source.channel_id in channels:
        return waiting
    bare = replace(proposal, proposer_id=None, source=None)
    if channels:
        return replace(waiting, proposal=bare)
    return Waiting(replace(bare, text="", keywords=(), memory_id=None), None, hidden=True)
