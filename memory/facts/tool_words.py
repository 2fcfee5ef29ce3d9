"""A write's outcome in the tool's answer to the model: one word of SPEC §4.4, with its reason."""

from __future__ import annotations

from collections.abc import Callable

from memory.facts.outcomes import Outcome, OutcomeKind, cap, handle, names, quote, waits_for, which


def tool_words(outcome: Outcome) -> str:
    """The tool's answer to the model; begins with the word of SPEC §4.4."""
    said = _WORDS.get(outcome.kind, _error_words)(outcome)
    return f"{said} {outcome.note}" if outcome.note else said


def _error_words(outcome: Outcome) -> str:
    if outcome.kind is OutcomeKind.ERROR:
        return f"error: {outcome.detail or 'the write failed and nothing was saved. Say so.'}"
    if outcome.kind is OutcomeKind.CHANGED_MEANWHILE and outcome.memory is not None:
        now = quote(outcome.memory.text, 500)
        return (
            f"error: {handle(outcome.memory.id)} was changed by somebody meanwhile and now says {now}."
            " Nothing was written. Call again only if your change is still right."
        )
    if outcome.kind is OutcomeKind.NOT_FOUND and not outcome.detail:
        return (
            "error: there is no such memory in this prompt, so nothing was written."
            " Use a handle like m12 that is shown to you."
        )
    if outcome.kind is OutcomeKind.EMPTY:
        return "error: content is empty, so nothing was saved. Send the fact as one plain sentence."
    return f"error: {outcome.line()}"


def _similar_words(outcome: Outcome) -> str:
    text = f" {quote(outcome.similar.text, 500)}" if outcome.similar else ""
    return (
        f"similar_exists({which(outcome)}):{text}. Nothing was saved. Update that entry if it is the same"
        " fact; repeat this same call only if it is a different fact."
    )


def _limit_words(outcome: Outcome) -> str:
    if outcome.detail:
        return f"limit_reached: {outcome.detail}"
    count = outcome.pinned if cap(outcome) == "pinned" else outcome.unpinned
    return (
        f"limit_reached: {count} of {outcome.limit} {cap(outcome)} entries ({outcome.pinned} pinned)."
        " Nothing was saved and nothing was removed. Tell the member: an entry must be deleted first."
    )


def _ambiguous_words(outcome: Outcome) -> str:
    return f"ambiguous_user: nothing was saved. Set user to exactly one of: {names(outcome)}."


def _unknown_words(outcome: Outcome) -> str:
    here = f" Members here: {names(outcome)}." if outcome.candidates else ""
    return f"user_not_found: nothing was saved.{here}"


def _simple_words(outcome: Outcome) -> str:
    return f"{outcome.kind.value}: {outcome.detail or _WHY[outcome.kind]}"


_WHY = {
    OutcomeKind.PINNED_PROTECTED: "that entry is pinned; only a person may change it. Nothing was changed.",
    OutcomeKind.NOT_ALLOWED: "you may not write that. Nothing was written.",
    OutcomeKind.PRIVACY_RESTRICTED: "the member's privacy settings don't allow it. Nothing was saved.",
    OutcomeKind.DISABLED: "saving memories is switched off here. Nothing was saved.",
}

_WORDS: dict[OutcomeKind, Callable[[Outcome], str]] = {
    OutcomeKind.SAVED: lambda outcome: f"saved {which(outcome)}",
    OutcomeKind.UPDATED: lambda outcome: f"saved {which(outcome)}: updated",
    OutcomeKind.DELETED: lambda outcome: f"saved: {which(outcome)} deleted",
    OutcomeKind.DUPLICATE: lambda outcome: (
        f"duplicate {which(outcome)}: it is already remembered; nothing to do."
    ),
    OutcomeKind.SIMILAR_EXISTS: _similar_words,
    OutcomeKind.LIMIT_REACHED: _limit_words,
    OutcomeKind.AMBIGUOUS_USER: _ambiguous_words,
    OutcomeKind.USER_NOT_FOUND: _unknown_words,
    OutcomeKind.PINNED_PROTECTED: _simple_words,
    OutcomeKind.NOT_ALLOWED: _simple_words,
    OutcomeKind.PRIVACY_RESTRICTED: _simple_words,
    OutcomeKind.DISABLED: _simple_words,
    OutcomeKind.NEEDS_APPROVAL: lambda outcome: (
        f"needs_approval: nothing is saved yet. Tell the member: {waits_for(outcome)}"
        " Don't claim that it is remembered."
    ),
    OutcomeKind.TOO_LONG: lambda outcome: (
        f"too_long({outcome.limit}): {outcome.length} characters; nothing was saved."
        " Send it shorter or split it."
    ),
}
