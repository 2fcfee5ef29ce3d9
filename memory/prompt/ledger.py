"""The ledger: every block of a prompt, what it costs, and whether and why it is in.

The same value is the real prompt, the preview, the snapshot and ``/context last`` (SPEC §5).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memory.llm.port import Role


class Kind(StrEnum):
    """What a block is. The order here is the order in the prompt, stable to volatile (SPEC §5)."""

    SYSTEM = "system"
    SERVER_PROMPT = "server prompt"
    CHANNEL_PROMPT = "channel prompt"
    PERSONA = "persona"
    LORE = "lore"
    SERVER_MEMORIES = "server memories"
    CONDITIONING = "conditioning"
    DIALOGUE = "sample dialogue"
    SUMMARY = "summary"
    WINDOW = "window"
    PERSONAL_MEMORIES = "personal memories"
    ACTIVATED = "activated entries"
    PASSAGES = "passages"
    NOTES = "notes"
    INPUT = "current input"

    @property
    def label(self) -> str:
        """What a person reads. The value is stored, so it stays as it is."""
        return "entries called by a keyword" if self is Kind.ACTIVATED else self.value


class Status(StrEnum):
    """SUMMARISED: not in the prompt itself, but what it says is in a summary that is."""

    INCLUDED = "included"
    EXCLUDED = "excluded"
    SUMMARISED = "summarised"


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of the prompt that goes in or out as one.

    ``tokens`` is the cost: tokens of ``text`` (and of images) + 4 when the block is a message of its own.
    ``protected``: never removed, whatever the budget. ``pinned``: shows a pinned memory; pinned, personal and
    not protected means a pin of somebody who did not call the bot: those share a part of the budget.
    ``group``: blocks of one group (a tool call and its result) move together. ``owner`` is the member whose
    personal memory this is: nobody else is ever shown its text. ``memory_ids``: the entries it shows.
    ``join``: neighbours with the same non-empty key become one message; its + 4 is the first heading's.
    ``heading``: the head of a group of memories or of a section in it, or a date separator. It is sent
    exactly while a block whose ``under`` is its id is sent. ``at``: how old the content is; the oldest is
    removed first.
    ``left_out``: why it must stay out before any budget is looked at, as a plain sentence; mostly empty.
    ``entries``: how many things it stands for; more than one only for what was left out together.
    """

    id: str
    kind: Kind
    title: str
    role: Role
    text: str
    tokens: int
    protected: bool = False
    pinned: bool = False
    group: str = ""
    owner: int | None = None
    memory_ids: tuple[int, ...] = ()
    message_id: int | None = None
    images: tuple[str, ...] = ()
    join: str = ""
    heading: bool = False
    under: str = ""
    at: datetime | None = None
    left_out: str = ""
    entries: int = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """A block with the decision on it. ``why`` is a plain sentence for anything but included."""

    block: Block
    status: Status
    why: str = ""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The whole decision. Tokens throughout. ``approximate``: the tokenizer is not the model's own."""

    model: str
    encoding: str
    approximate: bool
    context_window: int
    reserve: int
    budget: int
    used: int
    strategy: str
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()

    def included(self) -> tuple[Block, ...]:
        """The blocks whose own text is in the prompt, in order."""
        return tuple(e.block for e in self.entries if e.status is Status.INCLUDED)
