"""What a confirmation says beyond its own write: the one line of a turn, and the words that were approved.

The line counts and names nobody's text. The text of a suggestion that was approved is that of its write.
"""

from __future__ import annotations

from dataclasses import replace

from memory.facts.outcomes import Outcome
from memory.facts.recording import each_once
from memory.ports import Tally
from memory.store import Tx
from memory.types import Clock, JournalEntry, Notice, NoticeLook, Op, Proposal, ProposalState, SubjectKind


async def line_of(tx: Tx, notice: Notice) -> list[Notice]:
    """The notices that share one line with this one, itself included; none when it stands alone."""
    if notice.look is not NoticeLook.LINE or notice.turn_id is None:
        return []
    rows = await tx.notices.of_turn(notice.turn_id)
    return [row for row in rows if row.look is NoticeLook.LINE and row.channel_id == notice.channel_id]


async def tally(tx: Tx, notice: Notice, server_name: str) -> Tally | None:
    """What the line of this notice says; None when it is no line."""
    entries: list[JournalEntry] = []
    for row in await line_of(tx, notice):
        entry = None if row.journal_id is None else await tx.journal.get(row.journal_id)
        entries += [] if entry is None else [entry]
    if notice.look is not NoticeLook.LINE:
        return None
    people = [e.scope.subject_id for e in entries if e.scope.kind is SubjectKind.USER]
    names = await tx.names.get(notice.guild_id or 0, people)
    about = [
        server_name if e.scope.kind is SubjectKind.SERVER else names.get(e.scope.subject_id, "a member")
        for e in entries
    ]
    return Tally(
        saved=sum(e.op is Op.ADD for e in entries),
        changed=sum(e.op is Op.UPDATE for e in entries),
        deleted=sum(e.op is Op.DELETE for e in entries),
        undone=sum(e.undone_by is not None for e in entries),
        about=tuple(dict.fromkeys(about)),
    )


async def as_approved(tx: Tx, proposal: Proposal | None, *, dm: bool) -> Proposal | None:
    """The suggestion with the words that were approved; with none when these are gone or are for DMs only."""
    if proposal is None or proposal.state is not ProposalState.APPROVED or proposal.journal_id is None:
        return proposal
    entry = await tx.journal.get(proposal.journal_id)
    after = None if entry is None else entry.after
    hidden = after is None or (after.dm_only and not dm)
    return replace(proposal, text="" if after is None or hidden else after.text)


async def on_its_card(tx: Tx, clock: Clock, outcome: Outcome) -> Outcome:
    """A suggestion was approved elsewhere: its newest card becomes the confirmation of the write.

    As when it is approved at the card itself. What it says of the text, :func:`reworded` decides.
    """
    proposal, journal = outcome.proposal, outcome.journal
    if proposal is None or journal is None or proposal.state is not ProposalState.APPROVED:
        return outcome
    rows = await tx.notices.of_proposal(proposal.id)
    cards = (NoticeLook.CARD, NoticeLook.AUDIT)
    card = next((row for row in rows if row.message_id is not None and row.look in cards), None)
    if card is None or card.message_id is None:
        return outcome
    made = await tx.notices.add(card.channel_id, card.guild_id, None, journal.id, proposal.id, clock.now())
    await tx.notices.shown_as(made.id, card.channel_id, card.look)
    await tx.notices.posted(made.id, card.message_id)
    made = replace(made, message_id=card.message_id, look=card.look)
    return replace(outcome, redraws=each_once(*outcome.redraws, made))


def reworded(entry: JournalEntry | None, proposal: Proposal | None) -> bool:
    """Was the suggestion on this card approved in other words, which the card has never shown?"""
    if entry is None or proposal is None or entry.after is None:
        return False
    return proposal.text != entry.after.text
