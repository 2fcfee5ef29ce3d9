"""What a browser's tab asks of the playground, without a browser."""

from __future__ import annotations

import asyncio
import time
from typing import Any
from uuid import uuid4

import aiohttp

import play
from play.server import PlayServer


class Tab:
    """One person's browser tab in one channel: what the page's scripts do, without a browser."""

    def __init__(self, served: Served, person: str, channel: int) -> None:
        self.served = served
        self.person = person
        self.channel = channel
        self.sequence = 0
        self.headers: dict[str, str] = {}
        self.snapshot: dict[str, Any] = {}
        self.typing = False

    async def open(self) -> Tab:
        seat = await self.served.ask(
            "POST",
            "/play/seat",
            {"as": self.person, "channel": str(self.channel), "timezone": "Europe/Madrid"},
        )
        self.headers = {"X-Simcord-Capability": seat["frame"].partition("#")[2]}
        self.snapshot = await self.served.ask("POST", "/api/pages", {}, self.headers)
        self.headers["X-Simcord-Context"] = self.snapshot["context"]["id"]
        return self

    async def look(self) -> list[str]:
        async with self.served.http.get(f"{self.served.base}/api/state", headers=self.headers) as answer:
            self.typing = answer.headers["X-Play-Typing"] == "1"
            self.snapshot = await answer.json()
        return self.texts()

    def texts(self) -> list[str]:
        return [self.snapshot["messages"][key]["content"] for key in self.snapshot["timeline"]]

    async def act(self, kind: str, **body: object) -> dict[str, Any]:
        self.sequence += 1
        answer: dict[str, Any] = await self.served.ask(
            "POST",
            "/api/action",
            {
                "protocol_version": 3,
                "sequence": self.sequence,
                "request_id": str(uuid4()),
                "generation": self.snapshot["context"]["generation"],
                "bot_generation": self.snapshot["botGeneration"],
                "published_revision": self.snapshot["publishedRevision"],
                "kind": kind,
                **body,
            },
            self.headers,
        )
        return answer

    async def say(self, text: str) -> dict[str, Any]:
        return await self.act("send_message", content=text)

    async def sees(self, text: str, within: float = 5.0) -> bool:
        end = time.monotonic() + within
        while not any(text in line for line in await self.look()):
            if time.monotonic() > end:
                return False
            await asyncio.sleep(0.05)
        return True


class Served:
    """A served world, and a browser's requests to it."""

    def __init__(self, world: play.World, server: PlayServer, http: aiohttp.ClientSession) -> None:
        self.world = world
        self.server = server
        self.http = http
        self.base = f"http://127.0.0.1:{server.port}"

    async def ask(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> Any:
        own = headers if headers is not None else {"X-Play-Token": self.server.token}
        async with self.http.request(method, self.base + path, json=body, headers=own) as answer:
            assert answer.status == 200, f"{path}: {answer.status} {await answer.text()}"
            return await answer.json()

    async def status(self, method: str, path: str, headers: dict[str, str], body: object = None) -> int:
        async with self.http.request(method, self.base + path, headers=headers, json=body) as answer:
            return answer.status

    async def tab(self, person: str, room: str = "general") -> Tab:
        channel = self.world.dm(person) if room == "dm" else self.world.room(room)
        return await Tab(self, person, channel).open()
