"""Why the bot could not start or had to stop, for whoever runs it: what happened, what is kept, what to do.

Plain words only: a library's own say nothing to a person and can hold addresses. The debug log has those.
"""

from __future__ import annotations

import errno
import socket
import ssl

import aiohttp
import discord

from memory.errors import KeepsakeError, SettingsError

STOPPED, SETTINGS = 1, 2
"""Exit codes: something failed, and it may help to start again; a setting must be changed first."""

NO_TOKEN = """\
To get a token: open https://discord.com/developers/applications, make an application, open its page “Bot”,
press “Reset Token”, and put the token into the file .env as DISCORD_TOKEN=… Switch on “Message Content
Intent” on the same page. To try Keepsake without Discord run: python run.py play"""

_KEPT = "Nothing that was saved is lost or changed."
_NETWORK = "Check the network of this machine, then start again: python run.py start"
_LATER = (
    "Wait some minutes, then start again: python run.py start (https://discordstatus.com tells of outages)"
)

_WRONG_TOKEN = (
    f"Discord refused the token in DISCORD_TOKEN: it is mistyped, or it was reset. {_KEPT}\n{NO_TOKEN}"
)
_NO_INTENT = (
    f"Discord refused an intent that is not switched on for this bot. {_KEPT}\nOpen"
    " https://discord.com/developers/applications, your application, its page “Bot”, switch on “Message"
    " Content Intent”, then start again: python run.py start"
)
_SHARDS = (
    f"Discord refused the shards of this process. {_KEPT}\nCheck SHARD_COUNT and SHARD_IDS in the file .env"
    " (one process needs neither), then start again."
)
_FULL = f"The disk is full. {_KEPT}\nFree some space, then start again."

_TOKEN_CODES, _SHARD_CODES, _INTENT_CODES = {4004}, {4010, 4011}, {4013, 4014}
"""Discord's close codes for what only a change of settings can heal."""


def sentence(error: BaseException, *, playing: bool = False) -> tuple[str, int] | None:
    """What is told, and the exit code; None for what nobody foresaw. ``playing``: without Discord."""
    if isinstance(error, KeepsakeError):
        code = SETTINGS if isinstance(error, SettingsError) else STOPPED
        return f"Keepsake can't start: {error}\nPut that right, then start again.", code
    if isinstance(error, OSError):
        on_disk = _of_a_file(error)
        if on_disk is not None:
            return on_disk, STOPPED
    if playing:
        return None
    if isinstance(error, discord.LoginFailure):
        return _WRONG_TOKEN, SETTINGS
    if isinstance(error, discord.PrivilegedIntentsRequired):
        return _NO_INTENT, SETTINGS
    if isinstance(error, discord.ConnectionClosed):
        return _of_a_close(error.code)
    if isinstance(error, discord.HTTPException):
        return _of_an_answer(error.status), STOPPED
    if isinstance(error, discord.GatewayNotFound):
        return _of_an_answer(404), STOPPED
    if isinstance(error, aiohttp.ClientError | OSError):
        return f"Discord can't be reached: {_of_a_connection(error)}. {_KEPT}\n{_NETWORK}", STOPPED
    return None


def _of_a_close(code: int) -> tuple[str, int]:
    if code in _TOKEN_CODES:
        return _WRONG_TOKEN, SETTINGS
    if code in _INTENT_CODES:
        return _NO_INTENT, SETTINGS
    if code in _SHARD_CODES:
        return _SHARDS, SETTINGS
    return f"Discord ended the connection (its code {code}). {_KEPT}\n{_LATER}", STOPPED


def _of_an_answer(status: int) -> str:
    if status == 429:
        return f"Discord wants fewer requests from this bot or this machine. {_KEPT}\n{_LATER}"
    return f"Discord does not answer as it should (its code {status}). {_KEPT}\n{_LATER}"


def _of_a_connection(error: BaseException) -> str:
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientSSLError | ssl.SSLError):
        return "no safe connection (is this machine's clock right, and is a proxy in between?)"
    if isinstance(error, aiohttp.ClientConnectorDNSError | socket.gaierror):
        return "its name can't be looked up, so this machine has no network or no name server"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return "the connection was refused or cut off"


def _of_a_file(error: OSError) -> str | None:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return _FULL
    if error.errno == errno.EADDRINUSE:
        return f"The port is in use by another program. {_KEPT}\nStop that program or choose another port."
    if error.filename is None or isinstance(error, aiohttp.ClientError):
        return None
    return (
        f"The file {error.filename} can't be read or written. {_KEPT}\nGive yourself the right to use it,"
        " then start again."
    )
