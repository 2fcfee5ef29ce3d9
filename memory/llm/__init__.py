"""The model's room: one door (:mod:`memory.llm.port`), an OpenAI-compatible client and an offline responder.

The only importer of ``openai`` and ``tiktoken``. It knows nothing of stores, retrieval or rooms, and reads no
environment: all it needs is in :class:`LlmConfig`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Literal

from memory.llm import tokenizers
from memory.llm.offline import OfflineModel
from memory.llm.port import Model
from memory.types import Clock


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

    Asks the endpoint's ``/models`` for what is not known, and whether anybody answers there: for 5 s at most,
    and that never fails the start.
    Raises SettingsError when LLM_BASE_URL is not an address.
    """
    if not config.configured:
        tokenizer, _ = await asyncio.to_thread(tokenizers.load, "gpt-4o")
        return OfflineModel(tokenizer)
    from memory.llm.endpoint import open_endpoint  # the client is heavy, and only needed here

    return await open_endpoint(config, clock)
