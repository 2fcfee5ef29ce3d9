"""What a person sees of the engine's values. Pure: words, embeds and colours, no button and no network.

A member's words are shown as a quotation with every sign of Discord's markup escaped, so that a memory can
fake neither a heading nor a link, a mention or a notice of ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import discord

from cogs.views.pages import cut, units
from memory.facts.outcomes import handle
from memory.ports import NoticeView
from memory.types import (
    GLOBAL,
    JournalEntry,
    Memory,
    NoticeLook,
    Op,
    Proposal,
    ProposalState,
    Scope,
    Source,
    SubjectKind,
)

SAVED = discord.Colour(0x2E9E5B)
UPDATED = discord.Colour(0xE0A526)
DELETED = discord.Colour(0xC8453B)
GREY = discord.Colour(0x80848E)
WAITING = discord.Colour(0x5865F2)

SHOWN = 1_500
"""Characters of one text that a notice shows; a whole entry of the default length fits three times."""

MESSAGE_UNITS, FIELD_UNITS, DESCRIPTION_UNITS = 2_000, 1_024, 4_000
"""Most of a message, of an embed's field and of its description (Discord: 2,000, 1,024, 4,096 characters)."""

NameOf = Callable[[int], str]
"""A member's present name by id."""

_MENTION = re.compile(r"<@!?(\d{1,20})>")
_SIGNS = re.compile(r"([\\*_~|`>#\[\]()<@]|:(?=\S))")
_LIST = re.compile(r"^(\s*)([-+])", re.MULTILINE)
_HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

_DONE = {
    Op.ADD: ("Saved", SAVED),
    Op.UPDATE: ("Updated", UPDATED),
    Op.DELETE: ("Deleted", DELETED),
    Op.PIN: ("Pinned", UPDATED),
    Op.UNPIN: ("Unpinned", UPDATED),
    Op.WIDEN: ("Used everywhere now", UPDATED),
    Op.TAG: ("Tagged", UPDATED),
    Op.MOVE: ("Moved", UPDATED),
    Op.CLEAR: ("Cleared", GREY),
}
_DECIDED = {
    ProposalState.APPROVED: ("Approved", SAVED),
    ProposalState.DISCARDED: ("Discarded", GREY),
    ProposalState.EXPIRED: ("Nobody decided in time", GREY),
}
_ASKED = {Op.ADD: "Save this?", Op.UPDATE: "Update this?", Op.DELETE: "Delete this?"}
_UNDID = {
    Op.ADD: "Undone: back again",
    Op.UPDATE: "Undone: as it was before",
    Op.DELETE: "Undone: this is not saved any more",
    Op.PIN: "Undone: pinned again",
    Op.UNPIN: "Undone: no longer pinned",
    Op.WIDEN: "Undone: used in DMs only again",
    Op.TAG: "Undone: earlier keywords and channels",
    Op.MOVE: "Undone: back where it was",
}
"""Titles of a write that took another one back, by what it did itself."""


def a_member(user_id: int) -> str:
    """The name of somebody who can't be named."""
    del user_id
    return "a member"


def escape(text: str) -> str:
    """The same words with no markup, mention, link or hidden direction sign in them."""
    text = _SIGNS.sub(r"\\\1", _HIDDEN.sub("", text))
    return _LIST.sub(r"\1\\\2", text)


def named(text: str, name_of: NameOf = a_member) -> str:
    """A stored text with members by their present names (SPEC §4.4); not escaped."""
    return _MENTION.sub(lambda m: f"@{name_of(int(m[1]))}", text)


def quote(text: str, name_of: NameOf = a_member, *, limit: int = SHOWN, strike: bool = False) -> str:
    """A member's words as a quotation, each line marked, at most ``limit`` characters of them."""
    words = named(text, name_of)
    if len(words) > limit:
        words = words[: limit - 1].rstrip() + "…"
    lines = [escape(line.strip()) for line in words.splitlines() if line.strip()] or ["(empty)"]
    return "\n".join(f"> ~~{line}~~" if strike else f"> {line}" for line in lines)


def scope_words(scope: Scope, subject_name: str, *, persona: str, dm_only: bool = False) -> str:
    """A scope in plain words, such as “about Ana · Mira · used in DMs only”."""
    about = escape(subject_name) or ("this server" if scope.kind is SubjectKind.SERVER else "a member")
    parts = [f"about {about}", "all personas" if scope.lineage == GLOBAL else persona]
    if scope.kind is SubjectKind.SERVER:
        parts.append("everybody in the server may be told")
    if dm_only:
        parts.append("used in DMs only")
    return " · ".join(parts)


def jump(source: Source | None) -> str:
    """The link to the message that a write came from, or ""."""
    if source is None or source.message_id is None:
        return ""
    guild = source.guild_id if source.guild_id is not None else "@me"
    return f"https://discord.com/channels/{guild}/{source.channel_id}/{source.message_id}"


def is_undone(view: NoticeView) -> bool:
    return view.entry is not None and view.entry.undone_by is not None


def is_textless(view: NoticeView) -> bool:
    """Is this about a member, in the audit channel? Its readers learn that there was something, no more."""
    scope = _scope(view)
    personal = scope is not None and scope.kind is SubjectKind.USER
    return personal and view.notice.look is NoticeLook.AUDIT


def is_withheld(view: NoticeView) -> bool:
    """Words that nobody approved, in the audit channel: its readers may have no right to where they were
    said."""
    proposal = view.proposal
    if proposal is None or view.notice.look is not NoticeLook.AUDIT:
        return False
    return proposal.state is not ProposalState.APPROVED


def has_hidden_text(view: NoticeView) -> bool:
    """Is there an old or deleted text that the notice itself doesn't show?"""
    if view.entry is not None:
        return view.entry.op in (Op.UPDATE, Op.DELETE) and view.entry.before is not None
    proposal = view.proposal
    waiting = proposal is not None and proposal.state is ProposalState.WAITING
    return waiting and proposal is not None and proposal.op is not Op.ADD and view.memory is not None


def notice_embed(
    view: NoticeView, name_of: NameOf = a_member, *, note: str = "", private: bool = False
) -> discord.Embed:
    """A confirmation: what, scope, persona, source. ``note`` follows its title, such as “undone by Ana”.

    Never shows a text that was replaced or deleted, nor one that a member has changed in private since; but
    when it is ``private``, seen by nobody but the entry's owner, the deleted and the present text are shown.
    """
    scope = _scope(view)
    whom = _whom(view, name_of)

    def name(user_id: int) -> str:
        if scope is not None and scope.kind is SubjectKind.USER and scope.subject_id == user_id:
            return whom
        return view.names.get(user_id) or name_of(user_id)

    if private and scope is not None and scope.kind is SubjectKind.USER:
        about = _about(view, "you")
    else:
        about = _about(view, whom)
    if view.proposal is not None:
        return _proposal_embed(view, view.proposal, name, note, about, whom)
    return _entry_embed(view, name, note, about, private=private)


def _whom(view: NoticeView, name_of: NameOf) -> str:
    """The member or the server that a confirmation is about, by the best name that is known."""
    scope, known = _scope(view), view.subject_name
    if scope is None or scope.kind is SubjectKind.SERVER or known not in ("", a_member(scope.subject_id)):
        return known
    return name_of(scope.subject_id)


def changed_embed(view: NoticeView, name_of: NameOf = a_member) -> discord.Embed:
    """The old and the new text, for those only who may read the entry."""

    def name(user_id: int) -> str:
        return view.names.get(user_id) or name_of(user_id)

    entry = view.entry
    if entry is not None:
        before = entry.before.text if entry.before else ""
        after = entry.after.text if entry.after else ""
    else:
        before = view.memory.text if view.memory else ""
        after = view.proposal.text if view.proposal and view.proposal.op is Op.UPDATE else ""
    embed = discord.Embed(title="What changed", colour=GREY)
    told = quote(after, name) if after else "*(deleted)*"
    embed.add_field(name="Before", value=cut(quote(before, name), FIELD_UNITS), inline=False)
    embed.add_field(name="After", value=cut(told, FIELD_UNITS), inline=False)
    if is_undone(view) and view.memory is not None:
        now = cut(quote(view.memory.text, name), FIELD_UNITS)
        embed.add_field(name="Undone, so it says now", value=now, inline=False)
    return embed


def _entry_embed(view: NoticeView, name: NameOf, note: str, about: str, *, private: bool) -> discord.Embed:
    entry = view.entry
    if entry is None:
        return discord.Embed(title="This is no longer stored.", colour=GREY)
    title, colour = _DONE[entry.op]
    if entry.undoes is not None:
        title = _UNDID[entry.op]
    if is_undone(view):
        colour, note = GREY, note or "undone"
    elif view.cleared:
        colour, note = GREY, note or "cleared"
    elif view.outlived:
        note = note or "its reply was taken back, this stays"
    elif view.approved:
        note = note or "approved"
    text = _entry_text(view, entry, name, private=private)
    return _embed(_titled(title, note), colour, text, about, _link(view, entry.source))


def _entry_text(view: NoticeView, entry: JournalEntry, name: NameOf, *, private: bool) -> str:
    if is_textless(view):
        return _NOT_SHOWN
    if view.cleared:
        return CLEARED
    undone = is_undone(view)
    if view.moved and (entry.op is Op.MOVE or not undone):
        return f"> *({'back where it was' if undone else 'moved since'})*"
    hidden = entry.scope.kind is SubjectKind.USER and not private
    if hidden and view.reworded:
        return _NOT_SHOWN
    if entry.op is Op.DELETE or (entry.after is None and entry.op in _JOINING):
        return _gone_text(entry, name, undone=undone, private=private)
    worded = entry.op in (Op.ADD, Op.UPDATE)
    if undone and worded and entry.after is not None:
        return quote(entry.after.text, name, strike=True) + _holds_now(view, entry, name, hidden=hidden)
    if entry.after is None or view.memory is None:
        return "> *(deleted since)*"
    if hidden and view.memory.text != entry.after.text:
        return "> *(changed since)*"
    as_saved = (view.memory.keywords, view.memory.channels) == (entry.after.keywords, entry.after.channels)
    tagged = entry.op is Op.TAG or (entry.op is Op.ADD and (as_saved or not hidden))
    more = tag_words(view.memory) if tagged else ""
    if view.route and not undone:
        more = f"{escape(view.route[:1].upper() + view.route[1:])}."
    return quote(view.memory.text, name) + (f"\n{more}" if more else "")


_JOINING = (Op.MOVE, Op.WIDEN)
"""What leaves nothing of an entry where another says the same."""


def _gone_text(entry: JournalEntry, name: NameOf, *, undone: bool, private: bool) -> str:
    if undone:
        return "> *(back as it was)*"
    if entry.op in _JOINING:
        return "> *(joined to one that says the same)*"
    if private and entry.before is not None:
        return quote(entry.before.text, name, strike=True)
    return _NOT_SHOWN


def tag_words(memory: Memory) -> str:
    """When and where an entry with tags is used; "" for one that always is."""
    lines = []
    if memory.keywords:
        lines.append(keyword_words(memory.keywords))
    if memory.channels:
        lines.append("Only in " + " ".join(f"<#{channel}>" for channel in memory.channels))
    return "\n".join(lines)


def keyword_words(keywords: Sequence[str]) -> str:
    """With which words an entry is used."""
    return "Only when one of these words appears: " + ", ".join(escape(cut(word, 50)) for word in keywords)


def _holds_now(view: NoticeView, entry: JournalEntry, name: NameOf, *, hidden: bool) -> str:
    """What follows the struck text of an undone update. A ``hidden`` text is told to its owner alone."""
    if entry.op is not Op.UPDATE or view.memory is None:
        return ""
    if not hidden:
        return f"\nIt says now:\n{quote(view.memory.text, name)}"
    former = entry.before is not None and entry.before.text == view.memory.text
    return "\nIts earlier text holds again." if former else "\nIt was changed since."


_NOT_SHOWN = "> *(its text is not shown)*"
CLEARED = "> *(cleared: what it said is gone for good)*"


def _proposal_embed(
    view: NoticeView, proposal: Proposal, name: NameOf, note: str, about: str, whom: str
) -> discord.Embed:
    title, colour = _DECIDED.get(proposal.state, (_ASKED[proposal.op], WAITING))
    gone = proposal.state in (ProposalState.DISCARDED, ProposalState.EXPIRED)
    personal = proposal.scope.kind is SubjectKind.USER
    target = None if personal else view.memory
    if is_withheld(view):
        text = _NOT_SHOWN
    elif personal and proposal.state is ProposalState.APPROVED:
        text = _NOT_SHOWN  # its owner may change it in private, and this would still tell what it said
    elif proposal.op is Op.DELETE:
        text = quote(target.text, name) if target is not None else _NOT_SHOWN
    else:
        text = quote(proposal.text, name, strike=gone) if proposal.text else _NOT_SHOWN
    if proposal.state is ProposalState.WAITING:
        if proposal.keywords and not is_withheld(view):
            text += f"\n{keyword_words(proposal.keywords)}"
        if personal:
            text += f"\nWaits for {escape(whom)}. Nobody else can decide."
        elif is_withheld(view):
            text = "A suggestion waits: `/approvals` shows it to those who can read where it was made."
        else:
            text += "\nWaits for somebody who may write this server's memories."
    return _embed(_titled(title, note), colour, text, about, _link(view, proposal.source))


def _about(view: NoticeView, whom: str) -> str:
    """The small line: the handle, whom it is about, for which personas."""
    scope = _scope(view)
    if scope is None:
        return ""
    memory = view.memory if view.memory is not None else (view.entry.after if view.entry else None)
    persona = escape(view.persona_name)
    words = scope_words(scope, whom, dm_only=memory is not None and memory.dm_only, persona=persona)
    record = view.entry or view.proposal
    if record is not None and record.memory_id is not None:
        words = f"{handle(record.memory_id)} · {words}"
    return f"{words} · pinned" if memory is not None and memory.pinned and not is_undone(view) else words


def _link(view: NoticeView, source: Source | None) -> str:
    """The link of a confirmation. One that a server sees leads out of its own channel to no other."""
    notice = view.notice
    elsewhere = source is not None and source.channel_id != notice.channel_id
    return "" if elsewhere and notice.guild_id is not None else jump(source)


def _embed(title: str, colour: discord.Colour, text: str, about: str, link: str) -> discord.Embed:
    small = " · ".join(part for part in (about, f"[source]({link})" if link else "") if part)
    text = cut(text, DESCRIPTION_UNITS - units(small))
    return discord.Embed(title=title, colour=colour, description=f"{text}\n\n-# {small}" if small else text)


def as_text(embed: discord.Embed) -> str:
    """The words of an embed, for a channel where we may not embed."""
    return cut(f"**{embed.title}**\n{embed.description}", MESSAGE_UNITS)


def _scope(view: NoticeView) -> Scope | None:
    if view.entry is not None:
        return view.entry.scope
    return view.proposal.scope if view.proposal is not None else None


def _titled(title: str, note: str) -> str:
    return f"{title} · {escape(note)[:120]}" if note else title
