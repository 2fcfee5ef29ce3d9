"""One question to an endpoint's ``/models``: what it serves and how long a prompt it takes. Best effort."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

import openai

from memory.llm.models import bare_name

log = logging.getLogger(__name__)

PROBE_S = 5.0

UNREACHABLE = (
    "The model's server does not answer at the address in LLM_BASE_URL. The bot starts all the same: memories"
    " and commands work, nothing is lost, and whoever calls it is told that the model cannot be reached. See"
    " that the server runs and that the address is right. Replies work as soon as it answers; if"
    " LLM_CONTEXT_WINDOW is not set, start the bot again then, so that it learns how much the model takes."
)
KEY_REFUSED = (
    "The model's server refused the key in LLM_API_KEY. The bot starts all the same: memories and commands"
    " work, nothing is lost, and whoever calls it is told. Put the right key into .env, then start it again."
)

_FIELDS = ("max_model_len", "context_length", "context_window", "max_context_length", "loaded_context_length")
"""As vLLM, OpenRouter and Together, Groq, Mistral and LM Studio call it."""


@dataclass(frozen=True, slots=True)
class Served:
    """``model``: the name to use when none was configured; ``window``: tokens, None when not told."""

    model: str = ""
    window: int | None = None


async def served(client: openai.AsyncOpenAI, name: str, *, timeout_s: float = PROBE_S) -> Served:
    """Ask once, for at most ``timeout_s`` seconds. Never raises: not knowing is an answer.

    Whoever runs the bot is warned when nobody answers, or when the key is refused: replies would fail too.
    """
    try:
        async with asyncio.timeout(timeout_s):
            page = await client.get("/models", cast_to=object)
    except (openai.AuthenticationError, openai.PermissionDeniedError):
        log.warning(KEY_REFUSED)
        return Served(name)
    except openai.APIStatusError as error:
        log.info("the endpoint's /models is of no use", extra={"status": error.status_code})
        return Served(name)
    except Exception as error:  # noqa: BLE001 - whatever it is, the bot starts without knowing
        log.warning(UNREACHABLE, extra={"error": type(error).__name__})
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
