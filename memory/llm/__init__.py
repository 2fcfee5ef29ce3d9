"""The model's room: one door (:mod:`memory.llm.port`), an OpenAI-compatible client and an offline responder.

The only importer of ``openai`` and ``tiktoken``. It knows nothing of stores, retrieval or rooms, and reads no
environment: all it needs is in :class:`LlmConfig`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Literal

import httpx2
import openai

from memory.errors import SettingsError
from memory.llm import models, tokenizers
from memory.llm.client import CONNECT_S, OpenAIModel, Patience
from memory.llm.offline import OfflineModel
from memory.llm.port import Model
from memory.llm.probe import served
from memory.types import Clock

OPENAI_URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "gpt-4o-mini"
_LOCAL_KEY = "none-needed"
"""Local servers ask for no key, but the client sends a header all the same."""


@dataclass(frozen=True, slots=True)
class LlmConfig:
    """What a self-hoster set (SPEC §14). Empty strings mean not set. ``repr`` shows no secret.

    ``timeout_s`` is the longest silence between two pieces of an answer, in seconds.
    """

    base_url: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)
    model: str = ""
    context_window: int | None = None
    tools: Literal["auto", "on", "off"] = "auto"
    timeout_s: float = 60.0

    @property
    def configured(self) -> bool:
        """False: the offline responder answers."""
        return bool(self.api_key or self.base_url)


async def build(config: LlmConfig, clock: Clock) -> Model:
    """The model behind the door, with its tokenizer loaded off the event loop.

    Asks the endpoint's ``/models`` only for what is not known, for 5 s at most; that never fails the start.
    Raises SettingsError when LLM_BASE_URL is not an address.
    """
    if not config.configured:
        tokenizer, _ = await asyncio.to_thread(tokenizers.load, "gpt-4o")
        return OfflineModel(tokenizer)
    client = _client(config)
    name, window = config.model, None
    if not name and not config.base_url:
        name = DEFAULT_MODEL
    if not name or (config.context_window is None and models.row_for(name).window is None):
        found = await served(client, name)
        name, window = name or found.model or DEFAULT_MODEL, found.window
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
