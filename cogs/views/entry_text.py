"""The words of panels and lists: entries, their scopes, their history. Pure, everything escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from cogs import _render
from cogs._render import NameOf
from cogs.views.pages import ENTRY_UNITS, cut, units
from memory.facts.outcomes import Outcome, OutcomeKind
from memory.facts.outcomes import handle as handle  # for every panel and list
from memory.types import GLOBAL, ActorKind, JournalEntry, Memory, Op, Scope, SubjectKind

RECENT = timedelta(days=7)
"""An entry updated within this time is marked recent (SPEC §4.1)."""

OPENED_UNITS = 2_200
"""Room for the text of one opened entry."""

HISTORY_UNITS = 3_200
"""Room for the lines of a history."""

PRIVATE_UNITS = 1_500
"""Room for the text that a private answer is about: with its sentence it fits into one message."""

KEYWORD_UNITS = 60
"""Room for an entry's keywords in a list; the opened entry names them whole."""

LABEL = 95
"""Units of an autocomplete label: Discord takes 100 characters."""

LEFT_OUT = (
    "-# What happened to this entry in our direct messages is left out here. Run the command there to see it."
)
"""Under whose eyes: only the owner of a personal entry can open its history, so nobody else reads this."""

_HANDLE = re.compile(r"\s*m?\s*#?(\d{1,18})\s*", re.IGNORECASE)
_OPS = {
    Op.ADD: "saved",
    Op.UPDATE: "edited",
    Op.DELETE: "deleted",
    Op.PIN: "pinned",
    Op.UNPIN: "unpinned",
    Op.WIDEN: "used everywhere since then",
    Op.TAG: "tagged",
    Op.MOVE: "moved",
    Op.CLEAR: "cleared",
}


_LIVE = re.compile("\\\\@\ue000(\\d{1,20})\ue001")
_STRAY = re.compile("[\ue000\ue001]")


def _or_live(name_of: NameOf) -> NameOf:
    """Names as they are known; else a mark that becomes a mention, whose name Discord knows."""

    def name(user_id: int) -> str:
        known = name_of(user_id)
        return known if known != _render.a_member(user_id) else f"\ue000{user_id}\ue001"

    return name


def quoted(text: str, name_of: NameOf, *, limit: int = _render.SHOWN, strike: bool = False) -> str:
    """A member's words as a quotation. Mentions of unknown people stay mentions; nobody is pinged."""
    return _mentions(_render.quote(text, _or_live(name_of), limit=limit, strike=strike))


def plain(text: str, name_of: NameOf) -> str:
    """A line that may hold a member's words, as nothing but words."""
    return _mentions(_render.escape(_render.named(text, _or_live(name_of))))


def outcome_words(outcome: Outcome, name_of: NameOf) -> str:
    """What became of a write, as it may be shown: the one place that turns an outcome's line into words."""
    return plain(outcome.line(), name_of)


def private_words(outcome: Outcome, name_of: NameOf) -> str:
    """The same for an answer that only who acted can see, with the text that it is about.

    They could read the entry before, or the write would have been refused.
    """
    said = outcome_words(outcome, name_of)
    entry = outcome.journal
    about = (entry.after or entry.before) if entry is not None else None
    if about is None or outcome.kind not in (OutcomeKind.DELETED, OutcomeKind.UNDONE):
        return said
    if plain(" ".join(about.text.split()), name_of) in said:
        return said
    return f"{said}\n{cut(quoted(about.text, name_of), PRIVATE_UNITS)}"


def _mentions(words: str) -> str:
    """The marks of :func:`_or_live` as mentions; a mark that was cut off is dropped."""
    return _STRAY.sub("", _LIVE.sub(r"<@\1>", words))


def parse_handle(text: str) -> int | None:
    """The id in what was picked or typed: ``12``, ``m12``, ``M12``. None for anything else."""
    match = _HANDLE.fullmatch(text)
    return int(match[1]) if match else None


def scope_short(scope: Scope, persona: str) -> str:
    """A scope in a few words, as its reader calls it. ``persona``: what to call the one that it is for."""
    subject = "this server" if scope.kind is SubjectKind.SERVER else "you"
    return f"{subject}, all personas" if scope.lineage == GLOBAL else f"{subject}, {persona}"


def choice_label(memory: Memory, name_of: NameOf, persona: str) -> str:
    """One line for an autocomplete list: the beginning of the text, and whom it is about."""
    mark = "📌 " if memory.pinned else ""
    tail = f" · about {scope_short(memory.scope, cut(persona, 40))}"
    line = " ".join(_render.named(memory.text, name_of).split())
    return f"{mark}{cut(line, LABEL - units(mark) - units(tail))}{tail}"


def deleted_label(memory: Memory, name_of: NameOf) -> str:
    """The same for an entry that is gone: its handle, and the beginning of what it said."""
    head = f"{handle(memory.id)}, deleted: "
    line = " ".join(_render.named(memory.text, name_of).split())
    return f"{head}{cut(line, LABEL - units(head))}"


def when(moment: datetime, style: str = "R") -> str:
    """A moment in the reader's own language and zone."""
    return f"<t:{int(moment.timestamp())}:{style}>"


def entry_block(memory: Memory, now: datetime, name_of: NameOf, about: str = "") -> str:
    """An entry on a page: its words, and one small line. At most ENTRY_UNITS.

    ``about``: whose it is, in a list where entries of several scopes stand together.
    """
    marks = [f"about {about}"] if about else []
    if memory.pinned:
        marks.append("📌 pinned")
    if memory.dm_only:
        marks.append("🔒 DMs only")
    if memory.keywords and not memory.pinned:
        marks.append(f"only with {_render.escape(cut(', '.join(memory.keywords), KEYWORD_UNITS))}")
    if memory.channels:
        count = len(memory.channels)
        marks.append(f"only in {count} channel{'' if count == 1 else 's'}")
    if now - memory.updated_at < RECENT:
        marks.append("recent")
    small = f"-# {' · '.join([handle(memory.id), *marks, when(memory.updated_at)])}"
    room = ENTRY_UNITS - units(small) - 1
    return f"{cut(quoted(memory.text, name_of), room)}\n{small}"


def entry_page(memory: Memory, now: datetime, name_of: NameOf, persona: str) -> str:
    """An opened entry, whole, with all that is known about it."""
    facts = [f"About {scope_short(memory.scope, _render.escape(persona))}"]
    if memory.pinned:
        facts.append("📌 pinned")
    if now - memory.updated_at < RECENT:
        facts.append("recent")
    dates = f"Saved {when(memory.created_at, 'D')}"
    if memory.author_id is not None:
        dates += f" · by <@{memory.author_id}>"
    if memory.updated_at != memory.created_at:
        dates += f" · changed {when(memory.updated_at)}"
    lines = [
        f"### {handle(memory.id)}",
        cut(quoted(memory.text, name_of, limit=2_000), OPENED_UNITS),
        f"-# {' · '.join(facts)}",
        f"-# {dates}",
    ]
    lines += [f"-# {line}" for line in _render.tag_words(memory).splitlines()]
    if link := _render.jump(memory.source):
        lines.append(f"-# [Where it came from]({link})")
    if memory.dm_only:
        lines.append("-# 🔒 Said in a DM, so it is used in our DMs only until you choose **Use everywhere**.")
    return "\n".join(lines)


def history_text(entries: Sequence[JournalEntry], name_of: NameOf, *, room: int = HISTORY_UNITS) -> str:
    """The writes of one entry, newest first, as many as fit."""
    if not entries:
        return "Nothing is recorded about this entry."
    shown: list[str] = [LEFT_OUT] if any(map(_follows_a_dm, entries)) else []
    used = sum(map(units, shown))
    for index, entry in enumerate(entries):
        block = _history_block(entry, name_of)
        used += units(block) + 1
        if used > room:
            left = len(entries) - index
            shown.append(f"-# … and {left} older {'change' if left == 1 else 'changes'}")
            break
        shown.append(block)
    return "\n".join(shown)


def _follows_a_dm(entry: JournalEntry) -> bool:
    """Was the state before this write kept for DMs? A server is given the write without that state."""
    return entry.before is None and entry.after is not None and entry.op not in (Op.ADD, Op.MOVE)


def counted(unpinned: int, pinned: int, limit: int, pinned_limit: int) -> str:
    return f"{unpinned} of {limit} unpinned · {pinned} of {pinned_limit} pinned"


def _history_block(entry: JournalEntry, name_of: NameOf) -> str:
    undone = " · undone" if entry.undone_by is not None else ""
    undoes = "undid a change: " if entry.undoes is not None else ""
    link = _render.jump(entry.source)
    source = f" · [source]({link})" if link else ""
    head = f"**{undoes}{_OPS[entry.op]}** {_actor(entry)} · {when(entry.at, 'f')}{source}{undone}"
    text = entry.after or entry.before
    if text is None or entry.op in (Op.PIN, Op.UNPIN, Op.WIDEN):
        return head
    if entry.op is Op.TAG:
        return f"{head}\n{_render.tag_words(text) or 'Always used'}"
    if entry.op is Op.MOVE and entry.after is not None:
        return f"{head}\nIt is about {scope_short(entry.after.scope, 'one persona')} since then"
    words = cut(quoted(text.text, name_of, strike=entry.op is Op.DELETE), 700)
    return f"{head}\n{words}"


def _actor(entry: JournalEntry) -> str:
    """Who wrote. A member as a mention: it shows their present name and pings nobody."""
    if entry.actor_kind is ActorKind.MODEL:
        return "by the persona, in a reply"
    if entry.actor_kind is ActorKind.BACKGROUND:
        return "by the persona, after a reply"
    if entry.actor_kind is ActorKind.IMPORT:
        return "by an import"
    who = f"by <@{entry.actor_id}>" if entry.actor_id is not None else "by a member"
    return who if entry.turn_id is None else f"{who}, who approved a suggestion"
