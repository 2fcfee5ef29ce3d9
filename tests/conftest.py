"""For every test: no network, and the same examples whenever hypothesis runs under the profile ``ci``.

The guard refuses connections to anything but the loopback, and look-ups of any name but localhost. Code under
test may swallow the refusal; the test fails all the same, at its end.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("default")


class NetworkForbiddenError(Exception):
    """A test tried to leave this machine."""


class SocketGuard:
    """Judges every address. ``attempts``: what was refused since the last look."""

    def __init__(self, *also: str) -> None:
        self.attempts: list[str] = []
        self._names = {"localhost", "", *also}

    def check_host(self, host: object, doing: str) -> None:
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")
        if name.lower() in self._names or _is_loopback(name):
            return
        self.attempts.append(f"{doing} {name}")
        raise NetworkForbiddenError(f"tests may not use the network: {doing} {name}")

    def check_lookup(self, host: object) -> None:
        """Numbers need no look-up; a connection to them is judged when it is made."""
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")
        if not _is_number(name):
            self.check_host(name, "looking up")

    def check_address(self, sock: socket.socket, address: Any) -> None:
        if sock.family in {socket.AF_INET, socket.AF_INET6}:
            self.check_host(address[0], "connecting to")


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True


def _is_loopback(name: str) -> bool:
    return _is_number(name) and ipaddress.ip_address(name.partition("%")[0]).is_loopback


def _test_database_host() -> str:
    return urlsplit(os.environ.get("DATABASE_URL_TEST", "")).hostname or "localhost"


def _guarded(guard: SocketGuard, patch: pytest.MonkeyPatch) -> None:
    def on_socket(name: str, address_at: int) -> None:
        real = getattr(socket.socket, name)

        def method(self: socket.socket, *args: Any) -> Any:
            guard.check_address(self, args[address_at])
            return real(self, *args)

        patch.setattr(socket.socket, name, method)

    def on_lookup(name: str) -> None:
        real: Callable[..., Any] = getattr(socket, name)

        def function(host: Any, *args: Any, **kwargs: Any) -> Any:
            guard.check_lookup(host)
            return real(host, *args, **kwargs)

        patch.setattr(socket, name, function)

    on_socket("connect", 0)
    on_socket("connect_ex", 0)
    on_socket("sendto", -1)
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
        on_lookup(name)


@pytest.fixture(scope="session", autouse=True)
def socket_guard() -> Iterator[SocketGuard]:
    """The guard, in place from before the first fixture to after the last."""
    guard = SocketGuard(_test_database_host())
    with pytest.MonkeyPatch.context() as patch:
        _guarded(guard, patch)
        yield guard


@pytest.fixture(autouse=True)
def no_network(socket_guard: SocketGuard) -> Iterator[list[str]]:
    """Fails a test that tried to use the network. Yields the refused attempts so far."""
    attempts = socket_guard.attempts
    attempts.clear()
    yield attempts
    tried, attempts[:] = list(attempts), []
    if tried:
        pytest.fail(f"this test tried to use the network: {', '.join(tried)}")
