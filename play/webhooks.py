"""What simcord's webhooks lack and Discord's have: a picture, a name that a message keeps, posts in threads.

A bot's own webhook may also carry buttons, as one that belongs to an application may on Discord. Where a name
of simcord isn't there any more, simcord stays as it is.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import simcord.http.client  # noqa: F401  # its import fills the table of routes
from simcord.backend import errors, serializers
from simcord.backend.cdn import CDN_BASE
from simcord.http import router
from simcord.http.routes import interactions

_AVATARS = "https://cdn.discordapp.com/avatars"
_DISCORDS_AVATAR = re.compile(r"https://cdn\.discordapp\.com/(?P<path>avatars/\d+/\w+)\.\w+(?:\?.*)?")

_find = interactions._incoming_webhook
_read = interactions._incoming_webhook_body
_payload = serializers.webhook_payload
_done: list[bool] = []


def make_them_whole() -> None:
    """Put these in simcord's place, once a process."""
    if _done:
        return
    _done.append(True)
    interactions._incoming_webhook = _of_a_place
    interactions._incoming_webhook_body = _body
    serializers.webhook_payload = _described
    for method, template in (
        ("POST", "channels/{channel_id}/webhooks"),
        ("PATCH", "webhooks/{webhook_id}"),
        ("PATCH", "webhooks/{webhook_id}/{token}"),
    ):
        routes = router._ROUTES.get(method, [])
        for at, (parts, handler) in enumerate(routes):
            if "/".join(parts) == template:
                routes[at] = (parts, _pictured(handler))


def avatar_url(user: Any) -> str | None:
    """The address of a user's picture on Discord, when it has one. A webhook is a user, too."""
    return f"{_AVATARS}/{user.id}/{user.avatar}.png" if user.avatar else None


def picture_at(backend: Any, url: str) -> bytes | None:
    """The avatar that Discord would have at this address; nothing is fetched from the network."""
    found = _DISCORDS_AVATAR.fullmatch(url)
    blob: bytes | None = backend.cdn.get(f"{CDN_BASE}/{found['path']}.png") if found else None
    return blob


def hang_up(backend: Any, url: str, content: bytes) -> None:
    """Keep a file where simcord looks for it: Discord's address of an avatar is another one there."""
    found = _DISCORDS_AVATAR.fullmatch(url)
    backend.cdn._blobs[f"{CDN_BASE}/{found['path']}.png" if found else url] = content


class Pictures(dict[str, tuple[str, bytes]]):
    """What simcord's page asks for the picture that a webhook's message names."""

    def __init__(self, backend: Any) -> None:
        super().__init__()
        self._backend = backend

    def get(self, url: str, default: Any = None) -> Any:
        blob = picture_at(self._backend, url)
        return default if blob is None else ("avatar.png", blob)


def _of_a_place(ctx: Any) -> Any:
    """The webhook of a request, standing in the thread that ``thread_id`` names, as on Discord."""
    webhook = _find(ctx)
    wanted = ctx.params.get("thread_id")
    if wanted is None:
        return webhook
    thread = ctx.backend.channels.get(int(wanted))
    if thread is None or thread.parent_id != webhook.channel_id:
        raise errors.unknown_channel()
    return replace(webhook, channel_id=thread.id)


def _body(ctx: Any) -> tuple[dict[str, Any], bool]:
    """What a webhook posts: under its present name and picture, which the message then keeps."""
    webhook = ctx.backend.webhooks[_find(ctx).id]
    own = webhook.creator_id == ctx.backend.bot_user.id
    body, with_components = (dict(ctx.body()), True) if own else _read(ctx)
    if ctx.method == "POST":
        body["username"] = body.get("username") or webhook.name
        body["avatar_url"] = body.get("avatar_url") or avatar_url(ctx.backend.users[webhook.webhook_user_id])
    return body, with_components


def _described(backend: Any, webhook: Any, *, include_token: bool = True) -> dict[str, Any]:
    payload: dict[str, Any] = _payload(backend, webhook, include_token=include_token)
    payload["avatar"] = backend.users[webhook.webhook_user_id].avatar
    if webhook.creator_id == backend.bot_user.id:
        payload["application_id"] = str(backend.application_id)
    return payload


def _pictured(handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Let a route that makes or edits a webhook take its avatar, which simcord drops or refuses."""

    def handle(ctx: Any) -> Any:
        body = ctx.body()
        ctx.json = {name: value for name, value in body.items() if name != "avatar"}
        payload = handler(ctx)
        if "avatar" in body:
            payload["avatar"] = _wear(ctx.backend, int(payload["id"]), body["avatar"])
        return payload

    return handle


def _wear(backend: Any, webhook_id: int, data: object) -> str | None:
    """Give a webhook the picture of a ``data:`` address, or take it away; returns its hash."""
    webhook = backend.webhooks[webhook_id]
    user = backend.users[webhook.webhook_user_id]
    user.avatar = None
    if data is not None:
        try:
            content = base64.b64decode(str(data).partition("base64,")[2], validate=True)
        except binascii.Error as broken:
            raise errors.invalid_form_body("avatar: Invalid image data") from broken
        user.avatar = hashlib.sha256(content).hexdigest()[:32]
        hang_up(backend, f"{_AVATARS}/{user.id}/{user.avatar}.png", content)
    avatar: str | None = user.avatar
    return avatar
