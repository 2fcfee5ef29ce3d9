"""Suggestions that wait for somebody, and who may know what they say (SPEC §4.4, §12).

Words from a channel are nobody's to know who can't read it, until they were approved: a server's suggestion
is shown to, and decided by, those alone who can read where it was made at that moment. A personal one is for
the member it is about, wherever it was made. No transaction is open while it is asked who can read what.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from memory.facts.outcomes import Outcome, OutcomeKind
from memory.facts.service import Facts
from memory.ports import Surface, Waiting
from memory.types import Person, Place, Proposal, Source, SubjectKind

UNREAD = "Nothing was changed: that was suggested in a channel that you can't read, so others decide on it."
"""Why a server's suggestion was not decided."""


class Deciding:
    """The queue and its decisions, as the front asks for them."""

    def __init__(self, facts: Facts, surface: Callable[[], Surface]) -> None:
        self._facts = facts
        self._surface = surface

    async def queue(self, person: Person, place: Place) -> list[Waiting]:
        """Suggestions that wait for this person here, oldest first; those they can't read are ``hidden``."""
        waiting = await self._facts.queue(person, place)
        sources = {w.proposal.source for w in waiting if _servers(w.proposal)}
        channels = {source.channel_id: source for source in sources if source is not None}
        read = {key for key, source in channels.items() if await self._reads(person, place, source)}
        return [each if _shown(each.proposal, read) else _hidden(each) for each in waiting]

    async def decide(
        self, person: Person, place: Place, proposal_id: int, approve: bool, text: str | None = None
    ) -> Outcome:
        """Approve, with other words when ``text`` is given, or discard a suggestion that one may read."""
        async with self._facts.store.read() as tx:
            proposal = await tx.proposals.get(proposal_id)
        here = proposal is not None and proposal.scope.subject_id == place.guild_id
        if proposal is not None and here and _servers(proposal):
            source = proposal.source
            if source is None or not await self._reads(person, place, source):
                return Outcome(OutcomeKind.NOT_ALLOWED, scope=proposal.scope, detail=UNREAD)
        return await self._facts.decide(person, place, proposal_id, approve, text)

    async def _reads(self, person: Person, place: Place, source: Source) -> bool:
        """Can this person read where that was said? Who acts there can."""
        there = Place(source.channel_id, source.guild_id)
        return place.channel_id == there.channel_id or await self._surface().can_read(there, person.id)


def _servers(proposal: Proposal) -> bool:
    return proposal.scope.kind is SubjectKind.SERVER


def _shown(proposal: Proposal, read: set[int]) -> bool:
    if not _servers(proposal):
        return True
    return proposal.source is not None and proposal.source.channel_id in read


def _hidden(waiting: Waiting) -> Waiting:
    """That something waits, and nothing of what it says, where it was said or to whom."""
    bare = replace(waiting.proposal, text="", keywords=(), memory_id=None, proposer_id=None, source=None)
    return Waiting(bare, None, hidden=True)
