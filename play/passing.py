"""What passes by as an event and simcord keeps nowhere: who is typing, and which command somebody ran."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from simcord.enums import InteractionType, OptionType

TYPING_LASTS = 10.0
"""Seconds for which Discord shows one typing signal."""
_NESTED = {int(OptionType.SUBCOMMAND), int(OptionType.SUBCOMMAND_GROUP)}


class Passing:
    """Sees every event before the bot does."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        self._typing: dict[int, float] = {}
        backend.subscribers.append(self._see)

    def _see(self, event: str, payload: Mapping[str, Any]) -> None:
        if event == "TYPING_START" and payload["user_id"] == str(self._backend.bot_user.id):
            self._typing[int(payload["channel_id"])] = asyncio.get_running_loop().time() + TYPING_LASTS
        elif event == "MESSAGE_CREATE" and payload.get("author", {}).get("bot"):
            self._typing.pop(int(payload["channel_id"]), None)
        elif event == "INTERACTION_CREATE" and payload["type"] == InteractionType.APPLICATION_COMMAND:
            # simcord keeps the first word alone; Discord says "Ana used /memory add".
            self._backend.interactions[int(payload["id"])].command_name = _full_name(payload["data"])

    def typing(self, channel_id: int) -> bool:
        """Whether the bot is typing in this channel."""
        return self._typing.get(channel_id, 0.0) > asyncio.get_running_loop().time()

    def forget(self) -> None:
        """Nobody types any more: the bot has gone."""
        self._typing.clear()


def _full_name(data: Mapping[str, Any]) -> str:
    nested = next((option for option in data.get("options") or () if option.get("type") in _NESTED), None)
    return str(data["name"]) if nested is None else f"{data['name']} {_full_name(nested)}"
