"""The playground's web server: one page on loopback, with a simcord page for each person and channel.

Every request must carry the token of the printed address (a page's frame: the token of its own seat), must
name this machine as its Host, and must come from this page's own Origin.
"""

from __future__ import annotations

import asyncio
import errno
import html
import json
import logging
import secrets
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import simcord.preview
from aiohttp import web
from simcord.backend.errors import BackendError, SetupError

from play.menus import use_menu
from play.rendering import make_it_fit, reworded
from play.scene import BOT_COLOR, BOT_NAME, GUILD_NAME, PEOPLE
from play.seats import Seat, SeatServer
from play.world import PlayError, World

log = logging.getLogger("keepsake.play")

PAGE = Path(__file__).with_name("page")
PORTS_TO_TRY = 20
ONLINE_WITHIN = 30.0
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    ),
}


class PlayServer:
    """Serves one world. ``about`` is the line that says who answers (a model, or the offline responder)."""

    def __init__(self, world: World, about: str) -> None:
        self.world = world
        self.about = about
        self.token = secrets.token_urlsafe(24)
        self.port: int | None = None
        self._static = SeatServer(world.env)
        self._frame = _frame_page()
        make_it_fit()
        self._seats: dict[str, tuple[str, Seat]] = {}
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """The address to open. It carries the token: whoever has it can play."""
        return f"http://127.0.0.1:{self.port}/#{self.token}"

    # ------------------------------------------------------------------ life

    async def start(self, port: int) -> bool:
        """Listen on ``port``, or the next free one; True when it is the wanted one.

        Raises :class:`PlayError` when none of the next twenty is free.
        """
        self._runner = web.AppRunner(self._application(), access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        for candidate in range(port, min(port + PORTS_TO_TRY, 65_536)):
            try:
                site = web.TCPSite(self._runner, "127.0.0.1", candidate)
                await site.start()
            except OSError as refused:
                if refused.errno not in {errno.EADDRINUSE, errno.EACCES, 10013, 10048}:
                    raise
                continue
            sockets: Any = site._server
            self.port = int(sockets.sockets[0].getsockname()[1])
            self.world.env.port = self.port
            return port in {0, self.port}
        await self.stop()
        last = port + PORTS_TO_TRY - 1
        raise PlayError(f"The ports {port} to {last} are all in use. Set PLAY_PORT in .env to another one.")

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def _application(self) -> web.Application:
        app = web.Application(handler_args={"handler_cancellation": False}, client_max_size=30 * 1024**2)
        add = app.router
        add.add_get("/", self._shell)
        add.add_get("/frame", self._frame_of_a_seat)
        for name in ("shell.css", "shell.js", "frame.css", "frame.js", "messages.js"):
            add.add_get(f"/play/{name}", self._own_file)
        for path in SeatServer._STATIC_FILES:
            if path != "/":
                add.add_get(path, self._simcord_file)
        for method, path, handler in (
            ("POST", "/api/pages", "_pages"),
            ("DELETE", "/api/pages/{context_id}", "_delete_page"),
            ("GET", "/api/state", "_state"),
            ("GET", "/api/commands", "_commands"),
            ("GET", "/api/action-result", "_action_result"),
            ("POST", "/api/action", "_action"),
            ("GET", "/api/assets/{asset_id}", "_asset"),
        ):
            add.add_route(method, path, self._at_seat(handler))
        add.add_get("/play/world", self._look)
        add.add_post("/play/seat", self._take_seat)
        add.add_post("/play/restart", self._restart)
        add.add_get("/play/menus", self._menus)
        add.add_post("/play/menus", self._use_menu)
        add.add_post("/play/upload", self._upload)
        return app

    # ------------------------------------------------------------------ files

    def _from_here(self, request: web.Request) -> None:
        hosts = self._static._allowed_hosts()
        origin = request.headers.get("Origin")
        if request.headers.get("Host", "") not in hosts:
            raise web.HTTPForbidden
        if origin is not None and origin.removeprefix("http://") not in hosts:
            raise web.HTTPForbidden

    async def _shell(self, request: web.Request) -> web.Response:
        self._from_here(request)
        return _file(PAGE / "shell.html", _HEADERS)

    async def _own_file(self, request: web.Request) -> web.Response:
        self._from_here(request)
        return _file(PAGE / Path(request.path).name, _HEADERS)

    async def _simcord_file(self, request: web.Request) -> web.Response:
        """A part of simcord's page. Its 30 MB of fonts needn't be read again for each channel."""
        answer: web.Response = await self._static._static(request)
        if request.path.startswith("/fonts/"):
            answer.headers["Cache-Control"] = "private, max-age=86400, immutable"
            del answer.headers["Pragma"]
        elif answer.text is not None:
            answer.text = reworded(request.path, answer.text)
        return answer

    async def _frame_of_a_seat(self, request: web.Request) -> web.Response:
        self._from_here(request)
        return web.Response(text=self._frame, content_type="text/html", headers=SeatServer._SECURITY_HEADERS)

    # ------------------------------------------------------------------ the seats

    def _at_seat(self, handler: str) -> Any:
        """Hand a request of a frame to its seat's own handler, which checks token, Host and Origin."""

        async def handle(request: web.Request) -> web.StreamResponse:
            _, seat = self._seat_of(request)
            if handler == "_action":
                await self._bot_online()
            answer: web.StreamResponse = await getattr(seat._server, handler)(request)
            return answer

        return handle

    def _seat_of(self, request: web.Request) -> tuple[str, Seat]:
        self._from_here(request)
        found = self._seats.get(request.headers.get("X-Simcord-Capability", ""))
        if found is None:
            raise web.HTTPUnauthorized
        return found

    async def _bot_online(self) -> None:
        """While the bot restarts, what a person does waits for it, as in a slow network."""
        try:
            async with asyncio.timeout(ONLINE_WITHIN):
                await self.world.online.wait()
        except TimeoutError:
            raise web.HTTPServiceUnavailable from None

    def _authorize(self, request: web.Request) -> None:
        self._from_here(request)
        if not secrets.compare_digest(request.headers.get("X-Play-Token", "").encode(), self.token.encode()):
            raise web.HTTPUnauthorized

    async def _take_seat(self, request: web.Request) -> web.Response:
        self._authorize(request)
        body = await _body(request)
        person, channel_id = _person(body), _number(body.get("channel"))
        if channel_id not in self.world.env.backend.channels or not self.world.may_see(person, channel_id):
            raise web.HTTPNotFound
        seat = await self.world.seat(person, channel_id, _timezone(body.get("timezone")))
        self._seats[seat.capability] = (person, seat)
        return _json({"frame": f"/frame#{seat.capability}"})

    # ------------------------------------------------------------------ what the page asks

    async def _look(self, request: web.Request) -> web.Response:
        """Everything beside the conversation: people, channels with their newest message, the bot's state."""
        self._authorize(request)
        person = _person(dict(request.query))
        channels = self.world.places(person)
        return _json(
            {
                "guild": GUILD_NAME,
                "bot": {"name": BOT_NAME, "online": self.world.bot_is_up},
                "about": self.about,
                "people": [
                    {"key": item.key, "name": item.name, "admin": item.admin, "color": f"#{item.color:06x}"}
                    for item in PEOPLE
                ],
                "channels": channels,
            }
        )

    async def _restart(self, request: web.Request) -> web.Response:
        self._authorize(request)
        try:
            await self.world.restart()
        except Exception as failed:
            log.exception("the bot didn't start again")
            return _json({"error": f"The bot didn't start: {failed}. The terminal says more."}, status=500)
        return _json({"restarted": True})

    async def _menus(self, request: web.Request) -> web.Response:
        _, seat = self._seat_of(request)
        return _json({"menus": seat.message_menus()})

    async def _use_menu(self, request: web.Request) -> web.Response:
        person, seat = self._seat_of(request)
        body = await _body(request)
        await self._bot_online()
        said = await use_menu(
            self.world,
            person,
            seat,
            str(body.get("page")),
            _number(body.get("message")),
            str(body.get("name")),
        )
        return _json({"said": said})

    async def _upload(self, request: web.Request) -> web.Response:
        """A message with one attached file, which simcord's composer can't send."""
        person, seat = self._seat_of(request)
        await self._bot_online()
        form = await request.post()
        file = form.get("file")
        if not isinstance(file, web.FileField):
            raise web.HTTPBadRequest
        content = await asyncio.to_thread(file.file.read)
        try:
            await self.world.say(
                person, seat.channel.id, str(form.get("text", "")), file=(file.filename, content)
            )
        except (BackendError, SetupError, PlayError) as refused:
            return _json({"said": str(refused)})
        return _json({"said": ""})


def _frame_page() -> str:
    """simcord's page with our stylesheet and script; refuses to start when simcord changed its page."""
    static = Path(simcord.preview.__file__).with_name("static")
    page = (static / "index.html").read_text(encoding="utf-8")
    style = '<link rel="stylesheet" href="/preview.css">'
    if page.count(style) != 1:
        raise PlayError("This version of simcord has another page; install the pinned one.")
    faces = {item.name: f"#{item.color:06x}" for item in PEOPLE} | {BOT_NAME: f"#{BOT_COLOR:06x}"}
    ours = (
        f'<meta name="play-faces" content="{html.escape(json.dumps(faces))}">'
        '<link rel="stylesheet" href="/play/frame.css">'
        '<script src="/play/frame.js"></script><script src="/play/messages.js"></script>'
    )
    return page.replace(style, style + ours).replace(
        "<title>SimCord Preview</title>", "<title>Keepsake</title>"
    )


def _file(path: Path, headers: dict[str, str]) -> web.Response:
    return web.Response(
        text=path.read_text(encoding="utf-8"), content_type=_TYPES[path.suffix], headers=headers
    )


def _json(value: object, status: int = 200) -> web.Response:
    return web.json_response(value, status=status, headers=_HEADERS)


async def _body(request: web.Request) -> dict[str, object]:
    try:
        body = await request.json()
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise web.HTTPBadRequest from None
    if not isinstance(body, dict):
        raise web.HTTPBadRequest
    return body


def _person(source: dict[str, object] | dict[str, str]) -> str:
    person = source.get("as")
    if not isinstance(person, str) or person not in {item.key for item in PEOPLE}:
        raise web.HTTPNotFound
    return person


def _number(value: object) -> int:
    if not isinstance(value, str) or not value.isascii() or not value.isdecimal():
        raise web.HTTPBadRequest
    return int(value)


def _timezone(value: object) -> str:
    """The browser's time zone when this machine knows it."""
    if isinstance(value, str) and value in available_timezones():
        return ZoneInfo(value).key
    return "UTC"
