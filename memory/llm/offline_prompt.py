"""Reading a prompt back: what the offline responder can know is what stands there, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from memory.llm.port import ChatMessage, Request, Role, ToolCall
from memory.phrases import asks_to_change, asks_to_forget, asks_to_remember, straight


class Where(StrEnum):
    """What kind of block a line stands in."""

    MEMORY = "memory"
    SUMMARY = "summary"
    DOCUMENT = "document"
    NOTES = "notes"
    LORE = "lore"
    WINDOW = "window"


class Access(StrEnum):
    """What may be done with saved memories here, as far as a prompt shows it.

    Without tools nothing may be written, by somebody's setting (SPEC §4.8). Memories that are given show that
    they may be read all the same.
    """

    FULL = "full"
    READ = "read"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Line:
    """One line that can be quoted. ``text`` stands in the prompt exactly so.

    ``name`` says who wrote a window line; ``handle`` is a memory's. ``personal``: it is about one member,
    ``owner`` is that member's name as its heading gives it.
    """

    where: Where
    text: str
    name: str = ""
    handle: str = ""
    personal: bool = False
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the current input."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Answered:
    """A tool call of ours and what came back."""

    call: ToolCall
    words: str


@dataclass(frozen=True, slots=True)
class Reading:
    """The whole prompt, read. ``answered`` is not empty when tool results are the last thing in it.

    ``names``: of the members who speak in it or are written about. ``bot``: what the bot is called in it.
    ``character``: whether it speaks as one of a server's characters. ``about``: how who speaks is described,
    the first sentence.
    """

    lines: tuple[Line, ...]
    inputs: tuple[Said, ...]
    answered: tuple[Answered, ...]
    tools: frozenset[str]
    names: frozenset[str] = frozenset()
    bot: str = ""
    character: bool = False
    about: str = ""

    @property
    def access(self) -> Access:
        if self.tools:
            return Access.FULL
        given = any(line.where is Where.MEMORY for line in self.lines)
        return Access.READ if given else Access.NONE

    @property
    def asker(self) -> str:
        return self.inputs[-1].name if self.inputs else ""

    @property
    def text(self) -> str:
        """What was said last."""
        return self.inputs[-1].text if self.inputs else ""

    def memories(self) -> tuple[Line, ...]:
        """The entries that the asker may be told: the server's and their own, nobody else's (SPEC §12)."""
        return self.memories_for(self.asker)

    def memories_for(self, name: str) -> tuple[Line, ...]:
        """The server's entries and those of the member called so. Names in one prompt are distinct."""
        entries = (line for line in self.lines if line.where is Where.MEMORY)
        return tuple(x for x in entries if not x.personal or (name and x.owner == name))

    def others(self) -> tuple[Line, ...]:
        """Everything else that can be quoted."""
        return tuple(line for line in self.lines if line.where is not Where.MEMORY)


_SPOKEN = re.compile(r"\[\d{2}:\d{2}\] (.+?):(?: |$)")
_ENTRY = re.compile(r"- (m\d+) (.+)")
_NAMED = re.compile(r"You are (.{1,80}?), a friendly companion")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s")
_RECENT = " (recent)"
_ABOUT = re.compile(r"About (.+):")
_SERVER = "this server"
OWN_NAME = "Keepsake"
"""What the bot is called when the prompt gives it no other name."""

_SECTIONS = (
    ("memories.", Where.MEMORY),
    ("summary", Where.SUMMARY),
    ("passage", Where.DOCUMENT),
    ("document", Where.DOCUMENT),
    ("notes", Where.NOTES),
    ("lore", Where.LORE),
    ("message:", Where.WINDOW),
)


def read(request: Request) -> Reading:
    """Read a request's messages. Never raises: what does not look as expected is left out."""
    lines: list[Line] = []
    spoken: list[ChatMessage] = []
    bot = _bot(request.messages)
    for message in request.messages:
        if message.block.startswith("input:"):
            spoken.append(message)
        else:
            lines.extend(_lines(message))
    spoken = spoken or [m for m in request.messages if m.role is Role.USER][-1:]
    heads = (_SPOKEN.match(m.text) for m in request.messages if m.role is Role.USER)
    owners = (line.owner for line in lines if line.personal)
    names = frozenset(filter(None, (*owners, *(head[1] for head in heads if head))))
    inputs = tuple(_said(message, bot, names) for message in spoken)
    tools = frozenset(tool.name for tool in request.tools)
    character, about = _described(request.messages, bot)
    answered = _answered(request.messages)
    return Reading(tuple(lines), inputs, answered, tools, names, bot, character, about)


def _bot(messages: Sequence[ChatMessage]) -> str:
    named = next((_NAMED.match(m.text) for m in messages if m.block == "system"), None)
    return named[1] if named else ""


def _described(messages: Sequence[ChatMessage], bot: str) -> tuple[bool, str]:
    """Whether a character speaks, and the first sentence of the description that the prompt gives."""
    text = next((m.text for m in messages if m.block == "persona"), "")
    head, _, rest = text.partition("\n")
    character = bool(bot) and head == f"You are {bot}."
    first = (rest if character else text).split("\n", 1)[0].strip()
    about = "" if first.startswith("- ") else _SENTENCE_END.split(first, maxsplit=1)[0]
    return character, about


def _said(message: ChatMessage, bot: str, names: frozenset[str]) -> Said:
    """What a member said, without the name that it calls the bot by."""
    head = _SPOKEN.match(message.text)
    text = "\n".join(_unindented(message.text[head.end() if head else 0 :])).strip()
    said, own = straight(text), straight(bot)
    called = re.match(rf"@?{re.escape(own)}(?:[,:!]\s*|\s+|$)", said, re.IGNORECASE) if bot else None
    if not called and not any(said[1:].casefold().startswith(straight(n).casefold()) for n in names):
        called = re.match(r"@[^\s,:]+(?:[,:!]\s*|\s+|$)", text)
    text = text[called.end() if called else 0 :]
    return Said(head[1] if head else "", _unaddressed(text, bot).strip())


def _unaddressed(text: str, bot: str) -> str:
    """Without the mentions of the bot itself in the midst or at the end of a text."""
    called = "|".join(re.escape(name) for name in {bot or OWN_NAME, OWN_NAME})
    return re.sub(rf"(?:^|[ \t,]{{1,3}})@(?:{called})(?![\w-])", "", text, flags=re.IGNORECASE)


def _unindented(text: str) -> list[str]:
    first, *rest = text.split("\n")
    return [first, *(line.removeprefix("  ") for line in rest)]


def _lines(message: ChatMessage) -> list[Line]:
    where = next((w for prefix, w in _SECTIONS if message.block.startswith(prefix)), None)
    if where is Where.MEMORY:
        return _entries(message)
    if where is Where.WINDOW:
        return _spoken(message) if message.role is Role.USER else []
    if where is None:
        return []
    shown = [line.strip().lstrip("-• ").strip() for line in message.text.splitlines()]
    return [Line(where, line) for line in shown if line and not line.endswith(":")]


def _entries(message: ChatMessage) -> list[Line]:
    """A group's entries, each under the heading that says whom it is about."""
    owner = ""
    found: list[Line] = []
    for line in message.text.splitlines():
        entry = _ENTRY.fullmatch(line.rstrip())
        about = _ABOUT.fullmatch(line.strip())
        if entry:
            text = entry[2].removesuffix(_RECENT)
            personal = owner != _SERVER
            found.append(Line(Where.MEMORY, text, handle=entry[1], personal=personal, owner=owner))
        elif about:
            owner = about[1]
    return found


def _spoken(message: ChatMessage) -> list[Line]:
    """What a member said, unless it is an order to remember or forget: that answers nothing."""
    head = _SPOKEN.match(message.text)
    if head is None:
        return []
    rest = _unindented(message.text[head.end() :])
    text = "\n".join(rest)
    if asks_to_forget(text) or asks_to_remember(text) or (text.startswith("@") and asks_to_change(text)):
        return []
    return [Line(Where.WINDOW, line.strip(), name=head[1]) for line in rest if line.strip()]


def _answered(messages: Sequence[ChatMessage]) -> tuple[Answered, ...]:
    results: dict[str, str] = {}
    for message in reversed(messages):
        if message.role is Role.TOOL:
            results[message.tool_call_id or ""] = message.text
        elif message.tool_calls and results:
            return tuple(Answered(c, results[c.id]) for c in message.tool_calls if c.id in results)
        else:
            break
    return ()
