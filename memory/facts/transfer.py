"""One scope as a JSON file, out and in (docs/transfer.md). What is read is judged before anything is written.

A file is a stranger's: its size, shape and every value are checked, and a refusal names the entry. An import
is all or nothing, arrives unpinned, passes the write gate entry by entry, and skips what is known.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.facts.gate import WriteGate
from memory.facts.living import lock_scopes
from memory.facts.outcomes import Outcome, OutcomeKind, describe
from memory.facts.recording import Withdrawn
from memory.facts.rights import may_write_now
from memory.facts.rules import check_text, normalise
from memory.facts.tagging import fault_in
from memory.facts.text import Problem, TextProblem
from memory.facts.writes import Hand, MemoryLimits, Write
from memory.store import Tx
from memory.types import Memory, Op, Scope, SubjectKind

FORMAT = "keepsake-memories"
VERSION = 1

FILE_BYTES = 1_000_000
"""A larger file is not read."""


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of a file, checked. ``private``: it was used in DMs only."""

    number: int
    text: str
    keywords: tuple[str, ...] = ()
    private: bool = False


class BadFile(Exception):
    """Why a file is not imported, in a sentence for who sent it."""


def written(scope: Scope, memories: Sequence[Memory], at: datetime) -> bytes:
    """The file of these entries, the oldest change first."""
    ordered = sorted(memories, key=lambda memory: (memory.updated_at, memory.id))
    content = {
        "format": FORMAT,
        "version": VERSION,
        "about": scope.kind.value,
        "persona": scope.lineage,
        "exported": at.isoformat(),
        "memories": [_entry(memory) for memory in ordered],
    }
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()


def _entry(memory: Memory) -> dict[str, object]:
    entry: dict[str, object] = {
        "text": memory.text,
        "pinned": memory.pinned,
        "keywords": list(memory.keywords),
        "created": memory.created_at.isoformat(),
        "updated": memory.updated_at.isoformat(),
    }
    return {**entry, "dm_only": True} if memory.dm_only else entry


def read(data: bytes, scope: Scope, limits: MemoryLimits) -> list[Line]:
    """The entries of a file for that scope. Raises :class:`BadFile`."""
    content = _content(data)
    found = content.get("memories")
    if not isinstance(found, list):
        raise BadFile("Its “memories” are not a list.")
    most = limits.unpinned(scope) + limits.pinned
    if len(found) > most:
        raise BadFile(f"It holds {len(found):,} memories, and one scope holds at most {most:,}.")
    return [_line(n, entry, scope, limits) for n, entry in enumerate(found, 1)]


def _content(data: bytes) -> dict[str, object]:
    if len(data) > FILE_BYTES:
        raise BadFile(f"It has {len(data):,} bytes, and I read at most {FILE_BYTES:,}.")
    try:
        content = json.loads(data.decode("utf-8-sig"), parse_constant=_no_number)
    except RecursionError:
        raise BadFile("It is nested too deeply.") from None
    except ValueError:  # not UTF-8, not JSON, a number of thousands of digits
        raise BadFile("It is not JSON text.") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise BadFile("It is not a file that `/memory export` made.")
    version = content.get("version")
    if version != VERSION or isinstance(version, bool):
        raise BadFile(f"It is of another version than {VERSION}, the one that I know.")
    return content


def _no_number(name: str) -> None:
    raise ValueError(name)


def _line(number: int, entry: object, scope: Scope, limits: MemoryLimits) -> Line:
    if not isinstance(entry, dict):
        raise BadFile(f"Memory {number} is not an object with a “text”.")
    text, keywords = entry.get("text"), entry.get("keywords", [])
    private = entry.get("dm_only", False)
    if not isinstance(text, str):
        raise BadFile(f"The text of memory {number} is missing or is no text.")
    if not isinstance(keywords, list) or not all(isinstance(word, str) for word in keywords):
        raise BadFile(f"The keywords of memory {number} are not a list of texts.")
    if not isinstance(private, bool):
        raise BadFile(f"“dm_only” of memory {number} is neither true nor false.")
    checked = check_text(text, limits.length)
    if isinstance(checked, Problem):
        if checked.kind is TextProblem.EMPTY:
            raise BadFile(f"Memory {number} has no text.")
        raise BadFile(
            f"Memory {number} has {checked.length:,} characters, and the limit is {checked.limit:,}."
        )
    if fault := fault_in(keywords):
        raise BadFile(f"Memory {number}: {fault.removeprefix('Nothing was saved: ')}")
    if private and scope.kind is SubjectKind.SERVER:
        raise BadFile(f"Memory {number} was kept for DMs, so it can't become one of a server.")
    return Line(number, checked.text, tuple(keywords), private)


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of an import. ``known``: entries that were there already. ``refused``: why nothing was."""

    saved: int = 0
    known: int = 0
    refused: str = ""

    def told(self) -> str:
        """What happened, in a sentence or two for who asked."""
        if self.refused:
            return f"Nothing was imported. {self.refused}"
        were = "was" if self.known == 1 else "were"
        already = f" {_counted(self.known)} of the file {were} there already." if self.known else ""
        if not self.saved:
            return f"Nothing was imported: there was nothing new in the file.{already}"
        return f"Imported {_counted(self.saved)}, unpinned.{already}"


async def bring_in(
    gate: WriteGate, tx: Tx, hand: Hand, scope: Scope, lines: Sequence[Line], called: str = ""
) -> Imported:
    """Save what is new of a file. Raises :class:`Withdrawn` when the gate refuses one: then none is saved."""
    person = hand.actor.person
    if person is None or not await may_write_now(tx, scope, person, hand.place):
        return Imported(refused=Outcome(OutcomeKind.NOT_ALLOWED, scope=scope).line())
    shared = scope.kind is SubjectKind.SERVER
    if shared and not person.manages:
        return Imported(refused="Importing memories about a server needs the Manage Server permission.")
    await lock_scopes(tx, scope)
    new: dict[tuple[str, bool], Line] = {}
    for line in lines:
        norm, private = normalise(line.text), not shared and (line.private or hand.place.is_dm)
        if await gate.recorder.same(tx, scope, norm, dm_only=private) is None:
            new.setdefault((norm, private), line)
    unpinned, _ = await tx.memories.counts(scope)
    limit = gate.limits.unpinned(scope)
    if new and unpinned + len(new) > limit:
        return Imported(refused=_no_room(describe(scope, called), len(new), unpinned, limit))
    # DMs' first: the gate refuses one for DMs beside the same words for everywhere, and not the reverse
    for (_, private), line in sorted(new.items(), key=lambda each: not each[0][1]):
        write = Write(Op.ADD, scope=scope, text=line.text, keywords=line.keywords, dm_only=private)
        outcome = await gate.apply(tx, write, hand)
        if not outcome.wrote:
            raise Withdrawn(outcome)
    return Imported(len(new), len(lines) - len(new))


def _no_room(whose: str, new: int, unpinned: int, limit: int) -> str:
    room = max(0, limit - unpinned)
    return (
        f"The file holds {_counted(new)} that {'is' if new == 1 else 'are'} new, and {whose} have"
        f" room for {room} ({unpinned} of {limit} unpinned). Delete or pin some, or shorten the file."
    )


def _counted(number: int) -> str:
    return f"{number:,} {'memory' if number == 1 else 'memories'}"
