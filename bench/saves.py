"""Does a real model save what belongs into memory, and nothing else (SPEC §4.4)?

60 messages in English, Spanish and Filipino, half of which hold something that stays true for weeks. Each is
put to the configured model with the bot's own prompt and tools; counted is whether it calls ``save_memory``.
Needs LLM_API_KEY or LLM_BASE_URL and costs about 60 short calls; the offline responder, which saves only on
request, is measured when neither is set.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from memory import wiring
from memory.facts.texts import SAVE, memory_tools
from memory.llm.port import ChatMessage, Finished, Model, Request, Role
from memory.prompt.texts import system_prompt
from memory.settings import Settings

EXAMPLES = Path(__file__).with_name("saves.json")


async def run() -> dict[str, object]:
    """Ask the model of the environment about every example."""
    settings, _ = Settings.load(os.environ)
    model = await wiring.open_model(settings)
    try:
        return await measure(model, settings.max_memory_length)
    finally:
        await model.close()


async def measure(model: Model, length: int = 500) -> dict[str, object]:
    """Shares of what should be saved and was, of what was saved and should be, and of all that is right."""
    examples: list[Mapping[str, object]] = json.loads(EXAMPLES.read_text("utf-8"))
    rows = [(bool(one["save"]), await _saves(model, str(one["text"]), length), one) for one in examples]
    hits = sum(wanted and saved for wanted, saved, _ in rows)
    wanted, saved = sum(w for w, _, _ in rows), sum(s for _, s, _ in rows)
    return {
        "model": model.info.name,
        "examples": len(rows),
        "recall": round(hits / wanted, 3),
        "precision": round(hits / saved, 3) if saved else 1.0,
        "right": round(sum(w == s for w, s, _ in rows) / len(rows), 3),
        "wrong": [str(one["text"]) for w, s, one in rows if w != s],
    }


async def _saves(model: Model, text: str, length: int) -> bool:
    now = datetime.now(UTC)
    messages = (
        ChatMessage(Role.SYSTEM, system_prompt("Keepsake"), "system"),
        ChatMessage(Role.SYSTEM, f"— {now:%Y-%m-%d} ({now:%A}) —", "input.day"),
        ChatMessage(Role.USER, f"[{now:%H:%M}] Ana: {text}", "input:1"),
    )
    async for event in model.stream(Request(messages, memory_tools(length), max_tokens=512)):
        if isinstance(event, Finished):
            return any(call.name == SAVE for call in event.tool_calls)
    return False
