"""What became of a write: one value, and one plain line for a person.

What the model is told of it: :mod:`memory.facts.tool_words`.

Nothing here escapes text for display; memory text only ever appears inside quotation marks, on one line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from memory.types import GLOBAL, JournalEntry, Memory, Notice, Op, Proposal, Scope, SubjectKind

_SHOWN = 120
"""Code points of a memory shown in a line; the entry itself is behind a panel."""


class OutcomeKind(StrEnum):
    """What became of a write. The values are the tools' words where SPEC §4.4 has one."""

    SAVED = "saved"
    UPDATED = "updated"
    DELETED = "deleted"
    PINNED = "pinned"
    UNPINNED = "unpinned"
    WIDENED = "widened"
    TAGGED = "tagged"
    MOVED = "moved"
    UNDONE = "undone"
    DISCARDED = "discarded"
    DUPLICATE = "duplicate"
    SIMILAR_EXISTS = "similar_exists"
    LIMIT_REACHED = "limit_reached"
    PINNED_PROTECTED = "pinned_protected"
    AMBIGUOUS_USER = "ambiguous_user"
    USER_NOT_FOUND = "user_not_found"
    NOT_ALLOWED = "not_allowed"
    PRIVACY_RESTRICTED = "privacy_restricted"
    DISABLED = "disabled"
    NEEDS_APPROVAL = "needs_approval"
    TOO_LONG = "too_long"
    EMPTY = "empty"
    BAD_TAGS = "bad_tags"
    NOT_FOUND = "not_found"
    CHANGED_MEANWHILE = "changed_meanwhile"
    ERROR = "error"


def handle(memory_id: int) -> str:
    """An entry's handle in prompts and panels: ``m12``."""
    return f"m{memory_id}"


def quote(text: str, shown: int = _SHOWN) -> str:
    """``text`` on one line inside “…”, cut at ``shown`` code points, unable to close its own quotation."""
    flat = " ".join(text.split()).replace("“", '"').replace("”", '"')
    if len(flat) > shown:
        flat = flat[: shown - 1].rstrip() + "…"
    return f"“{flat}”"


def describe(scope: Scope | None, persona: str = "") -> str:
    """A scope in words for a person: "this server's memories for Mira", "personal memories for all personas".

    ``persona``: what to call the one that it is for.
    """
    if scope is None:
        return "memories"
    whose = "this server's memories" if scope.kind is SubjectKind.SERVER else "personal memories"
    return f"{whose} for {'all personas' if scope.lineage == GLOBAL else persona or 'one persona'}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one write.

    ``memory``: the entry as it stands now. ``journal``: set exactly when something was written. ``similar``:
    the entry that already says the same or nearly so. ``unpinned``, ``pinned``: entries in ``scope``, and
    ``limit`` the cap that refused. ``length``: code points of a refused text. ``redraw``: an earlier
    confirmation of the same entry that should be drawn again; ``redraws``: all such, each in a message
    of its own, that one first. ``also``: a second confirmation, of what the write did to another entry.
    ``of_pins``: it was the cap of pinned entries.
    ``persona``: what to call the persona of ``scope`` where it was written.
    ``own``: a suggestion about the very member who is answered; ``whom``: the name of whom else it is about.
    ``detail`` replaces the standard sentence, ``note`` follows it.
    """

    kind: OutcomeKind
    memory: Memory | None = None
    journal: JournalEntry | None = None
    notice: Notice | None = None
    proposal: Proposal | None = None
    similar: Memory | None = None
    unpinned: int = 0
    pinned: int = 0
    limit: int = 0
    candidates: tuple[str, ...] = ()
    scope: Scope | None = None
    length: int = 0
    redraw: Notice | None = None
    redraws: tuple[Notice, ...] = ()
    also: Notice | None = None
    of_pins: bool = False
    persona: str = ""
    own: bool = False
    whom: str = ""
    detail: str = ""
    note: str = ""

    @property
    def wrote(self) -> bool:
        """Was a memory written? False for everything refused, waiting or already so."""
        return self.journal is not None

    def line(self) -> str:
        """One plain sentence or two for a person: what happened, what was kept, what to do."""
        said = self.detail or _LINES.get(self.kind, _plain)(self)
        return f"{said} {self.note}" if self.note else said


def which(outcome: Outcome) -> str:
    known = outcome.memory or outcome.similar
    if known is not None:
        return handle(known.id)
    if outcome.journal is not None:
        return handle(outcome.journal.memory_id)
    return "the entry"


def _saved(outcome: Outcome) -> str:
    memory = outcome.memory
    if memory is None:
        return "Saved."
    pinned = " and pinned" if memory.pinned else ""
    widen = " It is used in DMs only until you choose to use it everywhere." if memory.dm_only else ""
    return f"Saved{pinned} as {handle(memory.id)}: {quote(memory.text)}.{widen}"


def _updated(outcome: Outcome) -> str:
    text = f" It now says {quote(outcome.memory.text)}." if outcome.memory else ""
    dm = " It is used in DMs only until you choose to use it everywhere." if _narrowed(outcome) else ""
    return f"Updated {which(outcome)}.{text}{dm}"


def _narrowed(outcome: Outcome) -> bool:
    before = outcome.journal.before if outcome.journal else None
    return bool(before and outcome.memory and outcome.memory.dm_only and not before.dm_only)


def _deleted(outcome: Outcome) -> str:
    return f"Deleted {which(outcome)}. Undo brings it back."


def _pinned(outcome: Outcome) -> str:
    if not outcome.wrote:
        return f"{which(outcome)} is already pinned. Nothing was changed."
    return f"Pinned {which(outcome)}. The persona can't change or delete it."


def _unpinned(outcome: Outcome) -> str:
    if not outcome.wrote:
        return f"{which(outcome)} is not pinned. Nothing was changed."
    return f"Unpinned {which(outcome)}. The text was kept."


def _widened(outcome: Outcome) -> str:
    if not outcome.wrote:
        return f"{which(outcome)} is already used everywhere. Nothing was changed."
    if _joined(outcome):
        return "Joined:"
    return f"{which(outcome)} is now used everywhere, not only in DMs."


def _tagged(outcome: Outcome) -> str:
    memory = outcome.memory
    if memory is None or not outcome.wrote:
        return f"{which(outcome)} has these keywords and channels already. Nothing was changed."
    words = ", ".join(quote(word, 60) for word in memory.keywords)
    places = f"{len(memory.channels)} {'channel' if len(memory.channels) == 1 else 'channels'}"
    if not memory.keywords and not memory.channels:
        return f"{which(outcome)} has no keywords and no channels any more: it is always used."
    when = f" when one of these appears: {words}" if memory.keywords else ""
    where = f" in {places} only" if memory.channels else ""
    pinned = " It is pinned, and a pinned entry doesn't wait for its keywords."
    return f"{which(outcome)} is used{where}{when}.{pinned if memory.pinned and memory.keywords else ''}"


def _moved_to(outcome: Outcome) -> str:
    there = describe(outcome.scope, outcome.persona)
    if not outcome.wrote:
        return f"{which(outcome)} is among {there} already. Nothing was changed."
    return "Joined:" if _joined(outcome) else f"Moved {which(outcome)}: it is among {there} now."


def _joined(outcome: Outcome) -> bool:
    """Did it become one with an entry that says the same? Which one follows as the note."""
    return outcome.journal is not None and outcome.journal.after is None


def _undone(outcome: Outcome) -> str:
    entry = outcome.journal
    if entry is not None and entry.after is None:
        return f"Undone: {handle(entry.memory_id)} is not saved any more."
    if entry is not None and entry.before is None and entry.after is not None:
        return f"Undone: {handle(entry.memory_id)} is back and says {quote(entry.after.text)}."
    if entry is not None and entry.op is Op.UPDATE and entry.after is not None:
        return f"Undone: {handle(entry.memory_id)} says {quote(entry.after.text)} again."
    if entry is not None and entry.op is Op.PIN:
        return f"Undone: {handle(entry.memory_id)} is pinned again."
    if entry is not None and entry.op is Op.UNPIN:
        return f"Undone: {handle(entry.memory_id)} is no longer pinned."
    if entry is not None and entry.op is Op.WIDEN:
        return f"Undone: {handle(entry.memory_id)} is used in DMs only again."
    if entry is not None and entry.op is Op.TAG:
        return f"Undone: {handle(entry.memory_id)} has its earlier keywords and channels again."
    if entry is not None and entry.op is Op.MOVE:
        return f"Undone: {handle(entry.memory_id)} is back among {describe(entry.scope, outcome.persona)}."
    return "Undone."


def _duplicate(outcome: Outcome) -> str:
    return f"Nothing was written: {which(outcome)} already says exactly this."


def _similar(outcome: Outcome) -> str:
    text = f" ({quote(outcome.similar.text)})" if outcome.similar else ""
    return f"Nothing was written: {which(outcome)} says nearly the same{text}. Edit that entry instead."


def _limit(outcome: Outcome) -> str:
    full = (
        f"{outcome.unpinned} unpinned and {outcome.pinned} pinned entries, and the limit is {outcome.limit}"
    )
    return (
        f"Nothing was written and nothing was removed: {describe(outcome.scope, outcome.persona)} are full"
        f" ({full} {cap(outcome)}). {_room(outcome)}"
    )


def cap(outcome: Outcome) -> str:
    return "pinned" if outcome.of_pins else "unpinned"


def _room(outcome: Outcome) -> str:
    if cap(outcome) == "pinned":
        return "Unpin or delete a pinned entry first."
    return "Delete or pin an entry, or edit one that already exists."


def _protected(outcome: Outcome) -> str:
    return f"Nothing was changed: {which(outcome)} is pinned, and only a person may change it."


def names(outcome: Outcome) -> str:
    return ", ".join(quote(name, 60) for name in outcome.candidates)


def _ambiguous(outcome: Outcome) -> str:
    return f"Nothing was saved: several members fit. Choose one: {names(outcome)}."


def _unknown(outcome: Outcome) -> str:
    here = f" Here now: {names(outcome)}." if outcome.candidates else ""
    return f"Nothing was saved: nobody of that name takes part here.{here}"


def _not_allowed(outcome: Outcome) -> str:
    if outcome.scope is not None and outcome.scope.kind is SubjectKind.SERVER:
        return (
            "Nothing was changed: this server's memories can be changed by members with Manage Server,"
            " or by all once an admin turns member access on."
        )
    return "Nothing was changed: you may not do that. Personal memories belong to the member they are about."


def _too_long(outcome: Outcome) -> str:
    over = outcome.length - outcome.limit
    return (
        f"Nothing was saved: the text has {outcome.length:,} characters and the limit is {outcome.limit:,}."
        f" Shorten it by {over:,}, or split it into several entries."
    )


def _approval(outcome: Outcome) -> str:
    return f"Nothing is saved yet: {waits_for(outcome)} It waits for 7 days at most."


def waits_for(outcome: Outcome) -> str:
    """Who can approve it, and how."""
    if _shared(outcome):
        return "a member with Manage Server, or with access to this server's memories, must approve it."
    if outcome.own:
        return "open `/approvals`, or press Approve below where its card is shown."
    scope = outcome.scope or (outcome.proposal.scope if outcome.proposal else None)
    whom = outcome.whom or (f"<@{scope.subject_id}>" if scope is not None else "the member it is about")
    return f"it waits for {whom}: only they can approve it."


def _shared(outcome: Outcome) -> bool:
    scope = outcome.scope or (outcome.proposal.scope if outcome.proposal else None)
    return scope is not None and scope.kind is SubjectKind.SERVER


def _changed(outcome: Outcome) -> str:
    now = f" It now says {quote(outcome.memory.text)}." if outcome.memory else ""
    said = f"Nothing was written: {which(outcome)} was changed meanwhile.{now}"
    return said if outcome.note else f"{said} Look at it and try again."


def _plain(outcome: Outcome) -> str:
    return _FIXED.get(outcome.kind, "Nothing was changed.")


_FIXED = {
    OutcomeKind.DISCARDED: "Discarded. Nothing was saved.",
    OutcomeKind.EMPTY: "Nothing was saved: there is no text to remember. Write what should be remembered.",
    OutcomeKind.NOT_FOUND: "There is no such memory here. It may have been deleted.",
    OutcomeKind.PRIVACY_RESTRICTED: "Nothing was saved: the member's privacy settings don't allow it.",
    OutcomeKind.DISABLED: "Nothing was saved: saving memories is switched off here.",
    OutcomeKind.ERROR: "Nothing was saved: something went wrong. Try again in a moment.",
}

_Say = Callable[["Outcome"], str]

_LINES: dict[OutcomeKind, _Say] = {
    OutcomeKind.SAVED: _saved,
    OutcomeKind.UPDATED: _updated,
    OutcomeKind.DELETED: _deleted,
    OutcomeKind.PINNED: _pinned,
    OutcomeKind.UNPINNED: _unpinned,
    OutcomeKind.WIDENED: _widened,
    OutcomeKind.TAGGED: _tagged,
    OutcomeKind.MOVED: _moved_to,
    OutcomeKind.UNDONE: _undone,
    OutcomeKind.DUPLICATE: _duplicate,
    OutcomeKind.SIMILAR_EXISTS: _similar,
    OutcomeKind.LIMIT_REACHED: _limit,
    OutcomeKind.PINNED_PROTECTED: _protected,
    OutcomeKind.AMBIGUOUS_USER: _ambiguous,
    OutcomeKind.USER_NOT_FOUND: _unknown,
    OutcomeKind.NOT_ALLOWED: _not_allowed,
    OutcomeKind.TOO_LONG: _too_long,
    OutcomeKind.NEEDS_APPROVAL: _approval,
    OutcomeKind.CHANGED_MEANWHILE: _changed,
}
