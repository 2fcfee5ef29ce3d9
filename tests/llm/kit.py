"""What the tests of the model's door share: a clock and waits that the test owns, and short requests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import openai

from memory.llm import models, tokenizers
from memory.llm.client import OpenAIModel, Patience
from memory.llm.port import ChatMessage, Event, Finished, Request, Role, TextPiece, ToolSpec

TOOL = ToolSpec(
    "save_memory",
    "Save a memory.",
    {
        "type": "object",
        "properties": {
            "content": {"type": "string"},
            "about": {"type": "string", "enum": ["server", "user"]},
        },
        "required": ["content", "about"],
    },
)


class FakeClock:
    def __init__(self) -> None:
        self.at = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def pass_by(self, **delta: float) -> None:
        self.at += timedelta(**delta)


class Waits:
    """Sleeping takes no time: it is written down, and the measured time moves on."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def monotonic(self) -> float:
        return sum(self.slept)

    def patience(self, piece_s: float = 5.0) -> Patience:
        return Patience(self.sleep, lambda: 0.0, self.monotonic, piece_s)


def ask(text: str = "hello", *, tools: bool = False, **more: object) -> Request:
    messages = (
        ChatMessage(Role.SYSTEM, "You are Keepsake.", "system"),
        ChatMessage(Role.USER, text, "input:1"),
    )
    return Request(messages, (TOOL,) if tools else (), **more)  # type: ignore[arg-type]


def model(
    url: str,
    waits: Waits,
    clock: FakeClock,
    *,
    name: str = "gpt-4o-mini",
    tools: str = "auto",
    piece_s: float = 5.0,
) -> OpenAIModel:
    tokenizer, _ = tokenizers.load(name)
    client = openai.AsyncOpenAI(api_key="sk-secret-key", base_url=url, max_retries=0)
    return OpenAIModel(
        client, models.info(name), tokenizer, clock, tools_mode=tools, patience=waits.patience(piece_s)
    )


async def collect(stream: AsyncIterator[Event]) -> tuple[list[str], Finished]:
    """The pieces and the last event. The pieces always add up to the whole."""
    pieces: list[str] = []
    last: Finished | None = None
    async for event in stream:
        assert last is None, "nothing follows Finished"
        if isinstance(event, TextPiece):
            pieces.append(event.text)
        else:
            last = event
    assert last is not None
    assert "".join(pieces) == last.text
    return pieces, last
