"""The guard of conftest.py: a test that leaves this machine fails, whatever its code does about it."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest


def test_a_connection_to_another_machine_is_refused(no_network: list[str]) -> None:
    with socket.socket() as sock, pytest.raises(Exception, match=r"may not use the network.*192\.0\.2\.1"):
        sock.connect(("192.0.2.1", 80))
    assert no_network == ["connecting to 192.0.2.1"]
    no_network.clear()


def test_looking_up_another_name_is_refused(no_network: list[str]) -> None:
    with pytest.raises(Exception, match="may not use the network"):
        socket.getaddrinfo("example.com", 443)
    no_network.clear()


async def test_asyncio_connections_are_refused_too(no_network: list[str]) -> None:
    with pytest.raises(Exception, match="may not use the network"):
        await asyncio.open_connection("203.0.113.7", 443)
    no_network.clear()


async def test_the_loopback_stays_usable() -> None:
    async def hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(hello, "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection("localhost", server.sockets[0].getsockname()[1])
        assert await reader.read() == b"hello"
        writer.close()
        await writer.wait_closed()


def test_a_swallowed_refusal_still_fails_its_test(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_swallow.py").write_text(
        "import contextlib, socket\n"
        "def test_it():\n"
        "    with contextlib.suppress(Exception):\n"
        "        socket.create_connection(('192.0.2.1', 80))\n"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            str(tmp_path),
            str(tmp_path),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "this test tried to use the network: connecting to 192.0.2.1" in done.stdout
