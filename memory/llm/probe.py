"""One question to an endpoint's ``/models``: what it serves and how long a prompt it takes. Best effort."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

import openai

from memory.llm.models import bare_name

log = logging.getLogger(__name__)

PROBE_S = 5.0

_FIELDS = ("max_model_len", "context_length", "context_window", "max_context_length", "loaded_context_length")
"""As vLLM, OpenRouter and Together, Groq, Mistral and LM Studio call it."""


@dataclass(frozen=True, slots=True)
class Served:
    """``model``: the name to use when none was configured; ``window``: tokens, None when not told."""

    model: str = ""
    window: int | None = None


async def served(client: openai.AsyncOpenAI, name: str, *, timeout_s: float = PROBE_S) -> Served:
    """Ask once, for at most ``timeout_s`` seconds. Never raises: not knowing is an answer."""
    try:
        async with asyncio.timeout(timeout_s):
            page = await client.get("/models", cast_to=object)
    except Exception as error:  # noqa: BLE001 - whatever it is, the bot starts without knowing
        log.info("the endpoint's /models does not answer", extra={"error": type(error).__name__})
        return Served(name)
    return pick(page, name)


def pick(page: object, name: str) -> Served:
    """Read the list; ``name`` may be empty, then the first model served is taken."""
    rows = page.get("data") if isinstance(page, dict) else page
    entries = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    if not name:
        entry = entries[0] if entries else {}
    else:
        exact = [row for row in entries if row.get("id") == name]
        alike = [row for row in entries if bare_name(str(row.get("id", ""))) == bare_name(name)]
        entry = (exact or alike or [{}])[0]
    return Served(name or str(entry.get("id", "")), _window(entry))


def _window(entry: dict[str, object]) -> int | None:
    for key in _FIELDS:
        value = entry.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 1_024:
            return value
    return None
