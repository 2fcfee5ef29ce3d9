"""One person's page in one channel: simcord's page, kept up to date while somebody looks at it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web
from simcord.enums import AppCommandType
from simcord.preview import Preview, _server
from simcord.preview._server import PreviewServer

from play.simulation import LiveEnv
from play.webhooks import Pictures


class Seat(Preview):  # type: ignore[misc]
    """One person's view of one channel: simcord's page, kept up to date while it is looked at."""

    _MAX_PAGES = 64
    _PAGE_LEASE_SECONDS = 12 * 3600.0  # a tab in the background, or a sleeping laptop, comes back

    def __init__(
        self, env: LiveEnv, channel: Any, viewer: Any, timezone: str, rewrite: Callable[[str], str]
    ) -> None:
        super().__init__(
            env,
            channel,
            (viewer,),
            layout="channel",
            display="responsive",
            width=960,
            height=720,
            locale="en-US",
            timezone=timezone,
            presentation_time=None,
            assets=None,
            port=0,
        )
        self._explicit_assets = Pictures(env.backend)
        self._server = SeatServer(env, self)
        self._rewrite = rewrite
        self._turn = asyncio.Lock()
        self._seen: dict[str, int] = {}

    def _initial_target(self, viewer: Any, channel_id: int) -> int | None:
        """simcord opens a page at the bot's last message; a chat opens at its end."""
        return None

    async def _action(self, context_id: str | None, body: Mapping[str, Any]) -> dict[str, Any]:
        """simcord refuses an action that was prepared against an older picture, or while another runs.

        Here the picture changes with every streamed word. What the person pressed is still looked up
        and validated against the present state, so only the stamp is renewed; a second action waits.
        """
        async with self._turn:
            if isinstance(body, Mapping):
                page = self._get_page(context_id)
                body = {**body, "published_revision": page.revision}
                if body.get("kind") in {"send_message", "edit_message"} and isinstance(
                    body.get("content"), str
                ):
                    body["content"] = self._rewrite(body["content"])
            result: dict[str, Any] = await super()._action(context_id, body)
            return result

    def message_menus(self) -> list[str]:
        """Names of the bot's commands that this person may use on a message here."""
        commands = self.env.backend.visible_commands(
            user_id=self.viewers[0].id, channel_id=self.channel.id, type=AppCommandType.MESSAGE
        )
        return [str(command["name"]) for command in commands]

    def refresh_if_changed(self, context_id: str) -> None:
        """simcord publishes after actions only; publish whenever the world moved since the last look."""
        page = self._pages.get(context_id)
        ticks = self.env.ticks.passed
        if page is None or self._seen.get(context_id) == ticks:
            return
        self._seen[context_id] = ticks
        former = page.snapshot, page.revision, page.published_at, page.publication_reason
        before = _substance(page.snapshot)
        self._advance_presentation_time()
        self._publish(page, reason="refresh")
        if before == _substance(page.snapshot) and not page.pending_receipt_revision:
            page.snapshot, page.revision, page.published_at, page.publication_reason = former


class SeatServer(PreviewServer):  # type: ignore[misc]
    """Answers one seat's requests on the playground's own port, instead of a port of its own.

    simcord's checks of the token, the Host and the Origin stay; ``port`` is set for them.
    """

    _SECURITY_HEADERS = {  # noqa: RUF012  # simcord's name; our page shows the channel in a frame of its own
        **PreviewServer._SECURITY_HEADERS,
        "X-Frame-Options": "SAMEORIGIN",
        "Content-Security-Policy": PreviewServer._SECURITY_HEADERS["Content-Security-Policy"].replace(
            "frame-ancestors 'none'", "frame-ancestors 'self'"
        ),
    }

    def __init__(self, env: LiveEnv, seat: Seat | None = None) -> None:
        self._env = env
        super().__init__(seat)
        _server.web = web  # simcord imports it when it binds a port, which we don't let it

    @property
    def port(self) -> int | None:
        return self._env.port

    @port.setter
    def port(self, value: object) -> None:
        """simcord notes the port that it has bound; ours is the playground's."""

    async def start(self) -> None:
        """The playground's server listens already."""

    async def close(self) -> None:
        """See ``start``."""

    async def _state(self, request: web.Request) -> web.Response:
        context = request.headers.get("X-Simcord-Context")
        if context is not None and self._authorized(request, context=context):
            self.preview.refresh_if_changed(context)
        response: web.Response = await super()._state(request)
        response.headers["X-Play-Typing"] = "1" if self._env.passing.typing(self.preview.channel.id) else "0"
        response.headers["X-Play-Apps"] = "1" if self.preview.message_menus() else "0"
        return response


def _substance(snapshot: Mapping[str, Any]) -> str:
    """A snapshot without its stamps: equal when a person would see no difference."""
    kept = {key: value for key, value in snapshot.items() if key not in {"publication", "publishedRevision"}}
    if isinstance(kept.get("profile"), Mapping):
        kept["profile"] = {**kept["profile"], "presentationTime": None}
    return json.dumps(kept, sort_keys=True, default=str)
