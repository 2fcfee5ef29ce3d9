"""What can be done with a confirmation, by whom, and what a press that is refused is told. Pure.

Whoever sees a confirmation knows that its entry exists; a refusal says no more of it than is seen there.
"""

from __future__ import annotations

from cogs import _render
from memory.ports import NoticeView
from memory.types import Op, Person, Place, ProposalState, SubjectKind

GONE = "That is no longer stored, so there is nothing to change."

GONE_SINCE = "That memory is no longer there, so nothing was changed. It was deleted meanwhile."

GONE_SINCE_HERE = (
    "That memory of yours is not used here, so nothing was changed: it was deleted, or is kept for our DMs."
    " `/personal memories` in our DM shows what I keep."
)

CLEARED = "That was cleared, and what it said is gone for good. There is nothing left to change."

MOVED = "That memory was moved since, so nothing was changed here. Change it where it is now."

KEPT_FOR_DMS = "That was kept for our DMs, so I show it only there."

THEIRS = {
    "undo": "take this back",
    "pin": "pin this",
    "unpin": "unpin this",
    "edit": "edit this",
    "widen": "have this used everywhere",
    "approve": "approve this",
    "discard": "discard this",
    "show": "see that",
}
"""What each button does, in the words of a refusal."""


def verbs(view: NoticeView, *, private: bool = False, whole: bool = False) -> list[str]:
    """What can be done with a confirmation now. A ``private`` one shows a deleted text by itself.

    ``whole``: a card, where a line stands for it. A member's own is decided where it was said, not in the
    audit channel; so is a suggestion, whose words are not shown there.
    """
    if view.line is not None and not whole:
        return ["cards"]
    if _render.is_textless(view) or _render.is_withheld(view) or view.cleared or view.moved:
        return []
    if view.proposal is not None:
        if view.proposal.state is not ProposalState.WAITING:
            return []
        return ["approve", "discard", *(["show"] if _render.has_hidden_text(view) else [])]
    if view.entry is None:
        return []
    if _render.is_undone(view):
        update = view.entry.op is Op.UPDATE and not private
        return ["show"] if update and _render.has_hidden_text(view) else []
    found = ["undo"]
    if view.memory is not None:
        found += ["unpin" if view.memory.pinned else "pin", "edit"]
        found += ["widen"] if view.memory.dm_only else []
    hidden = _render.has_hidden_text(view) and not (private and view.entry.op is Op.DELETE)
    return [*found, "show"] if hidden else found


def is_theirs(view: NoticeView, person: Person) -> bool:
    """Is this about that member's own memory?"""
    record = view.entry or view.proposal
    if record is None or record.scope.kind is not SubjectKind.USER:
        return False
    return record.scope.subject_id == person.id


def may_see(view: NoticeView, person: Person, place: Place) -> bool:
    """May this person read the old text? A server's: who is there. A personal one: its owner alone."""
    record = view.entry or view.proposal
    if record is None:
        return False
    if record.scope.kind is SubjectKind.SERVER:
        return place.guild_id == record.scope.subject_id
    before = view.entry.before if view.entry is not None else view.memory
    kept_for_dms = before is not None and before.dm_only and not place.is_dm
    return is_theirs(view, person) and not kept_for_dms


def refusal(view: NoticeView, verb: str, person: Person) -> str:
    """Why another member's memory can't be touched; "" for one's own and a server's: the engine judges."""
    record = view.entry or view.proposal
    if record is None or record.scope.kind is SubjectKind.SERVER or is_theirs(view, person):
        return ""
    kept = "" if verb == "show" else " Nothing was changed."
    return f"Only the member whom this memory is about can {THEIRS[verb]}.{kept}"


def out_of_reach(view: NoticeView) -> str:
    """What a press is told once the entry was cleared, or is kept in another scope; "" while it is here."""
    if view.cleared:
        return CLEARED
    return MOVED if view.moved else ""


def already(view: NoticeView, verb: str) -> str:
    """What a second press is told: the same thing is not done twice."""
    if gone := out_of_reach(view):
        return gone
    if view.entry is not None and _render.is_undone(view):
        return "That was already undone."
    if view.proposal is not None and view.proposal.state is not ProposalState.WAITING:
        return f"That was already decided: {view.proposal.state.value}."
    if verb in ("pin", "unpin") and view.memory is not None and view.memory.pinned == (verb == "pin"):
        return "It is pinned already." if verb == "pin" else "It is not pinned any more."
    return ""
