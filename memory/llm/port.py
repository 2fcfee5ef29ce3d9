"""The model's door: what the engine asks of any model, and what comes back.

Two things stand behind it: a client for OpenAI-compatible endpoints and the offline responder. The engine
cannot tell which. Errors are those of :mod:`memory.errors`, and no other.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from memory.types import Usage

JsonSchema = Mapping[str, object]


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asked for. ``arguments`` is its raw JSON text, unchecked."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt. ``block`` is the id of the prompt block it came from (never sent)."""

    role: Role
    text: str
    block: str = ""
    images: tuple[str, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool the model may call. ``parameters`` is a JSON schema of type object."""

    name: str
    description: str
    parameters: JsonSchema


@dataclass(frozen=True, slots=True)
class Request:
    """One call. ``max_tokens`` bounds the answer; ``deadline_s`` the whole call, seconds from now."""

    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int = 1024
    deadline_s: float = 120.0


@dataclass(frozen=True, slots=True)
class TextPiece:
    """The next words of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """Always the last event of a good stream: everything that came, whole."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    usage: Usage
    truncated: bool = False


Event = TextPiece | Finished


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is known of a model. ``exact``: ``encoding`` is the model's own, so that counts are exact.

    ``configured`` is False for the offline responder. ``notes``: sentences for the ledger, such as that the
    window is assumed.
    """

    name: str
    context_window: int
    encoding: str
    exact: bool
    images: bool = False
    configured: bool = True
    notes: tuple[str, ...] = ()


class Tokenizer(Protocol):
    """Counts tokens. Pure and quick for a text seen lately; safe for any text a person can type."""

    @property
    def encoding(self) -> str: ...

    def count(self, text: str) -> int: ...


class Model(Protocol):
    """A chat model."""

    @property
    def info(self) -> ModelInfo: ...

    @property
    def tools_work(self) -> bool:
        """False while the endpoint is known to refuse tools (SPEC §4.4: for a day) or LLM_TOOLS is off."""

    def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Stream one answer. Raises only :class:`memory.errors.ModelError` and its children."""

    async def close(self) -> None: ...
