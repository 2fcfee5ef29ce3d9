"""Opening an OpenAI-compatible endpoint: its client, its window, its tokenizer.

Apart from the room's face, because the client takes most of a second to import and the offline responder
needs none of it.
"""

from __future__ import annotations

import asyncio

import httpx2
import openai

from memory.errors import SettingsError
from memory.llm import LlmConfig, models, tokenizers
from memory.llm.client import CONNECT_S, OpenAIModel, Patience
from memory.llm.port import Model
from memory.llm.probe import served
from memory.types import Clock

OPENAI_URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "gpt-4o-mini"
_LOCAL_KEY = "none-needed"
"""Local servers ask for no key, but the client sends a header all the same."""


async def open_endpoint(config: LlmConfig, clock: Clock) -> Model:
    """The model of a configured endpoint. Raises SettingsError when LLM_BASE_URL is not an address."""
    client = _client(config)
    name, window = config.model, None
    if not name and not config.base_url:
        name = DEFAULT_MODEL
    unknown = not name or (config.context_window is None and models.row_for(name).window is None)
    if (
        unknown or config.base_url
    ):  # what is known is asked too: an address may be wrong, a server not running
        found = await served(client, name)
        name = name or found.model or DEFAULT_MODEL
        window = found.window
    tokenizer, _ = await asyncio.to_thread(tokenizers.load, name)
    info = models.info(name, configured_window=config.context_window, served_window=window)
    return OpenAIModel(
        client, info, tokenizer, clock, tools_mode=config.tools, patience=Patience(piece_s=config.timeout_s)
    )


def _client(config: LlmConfig) -> openai.AsyncOpenAI:
    try:
        return openai.AsyncOpenAI(
            api_key=config.api_key or _LOCAL_KEY,
            base_url=config.base_url or OPENAI_URL,
            max_retries=0,
            # No read timeout here: silence is measured between pieces, which keep-alive comments are not.
            timeout=httpx2.Timeout(None, connect=CONNECT_S, write=60.0, pool=CONNECT_S),
        )
    except (httpx2.InvalidURL, ValueError, openai.OpenAIError):
        pass
    raise SettingsError(["LLM_BASE_URL is not an address like http://localhost:11434/v1."])
