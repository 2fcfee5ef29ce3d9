"""The playground as a process: its address, Ctrl-C, and a kill at any moment."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

import play
from play.scene import SCENE

from .standin import maker, now

STANDIN = Path(__file__).with_name("standin.py")
pytestmark = pytest.mark.fault


class Process:
    """A playground in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process, url: str) -> None:
        self.process = process
        self.base, self.token = url.split("/#")
        self.url = url

    @classmethod
    async def start(cls, folder: Path, port: int = 0) -> Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-u",
            str(STANDIN),
            str(folder),
            str(port),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        async with asyncio.timeout(60):
            while line := (await process.stdout.readline()).decode():
                if found := re.search(r"http://\S+", line):
                    return cls(process, found[0])
        assert process.stderr is not None
        raise AssertionError((await process.stderr.read()).decode())

    async def say(self, http: aiohttp.ClientSession, text: str) -> None:
        """As Ana in #general, by a form post: the shortest way that a page has."""
        body = {"as": "ana", "channel": "1440000000000000301", "timezone": "UTC"}
        token = {"X-Play-Token": self.token}
        async with http.post(f"{self.base}/play/seat", json=body, headers=token) as answer:
            seat = (await answer.json())["frame"].partition("#")[2]
        form = aiohttp.FormData()
        form.add_field("file", b"x", filename="x.txt")
        form.add_field("text", text)
        headers = {"X-Simcord-Capability": seat}
        async with http.post(f"{self.base}/play/upload", data=form, headers=headers) as answer:
            assert answer.status == 200

    async def end(self) -> tuple[str, str]:
        async with asyncio.timeout(30):
            out, err = await self.process.communicate()
        return out.decode(), err.decode()


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


def said(world: play.World) -> list[str]:
    return [line.text for line in world.read("ana", world.room("general"))]


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows sends Ctrl-C to a whole console, not to a process"
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_ctrl_c_ends_without_a_traceback_and_everything_is_kept(
    tmp_path: Path, http: aiohttp.ClientSession, number: signal.Signals
) -> None:
    running = await Process.start(tmp_path)
    await running.say(http, "@Keepsake story")
    await running.say(http, "The last word.")
    running.process.send_signal(number)
    out, err = await running.end()
    assert running.process.returncode == 0
    assert "Traceback" not in err
    assert "has stopped" in out
    async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now) as world:
        assert "The last word." in said(world)


async def test_a_killed_playground_lost_at_most_the_last_second(
    tmp_path: Path, http: aiohttp.ClientSession
) -> None:
    running = await Process.start(tmp_path)
    file = tmp_path / "playground.json"
    for text in ("The first word.", "The second, at once.", "The third."):
        await running.say(http, text)
        said_at = time.monotonic()
        while text not in file.read_text("utf-8"):
            assert time.monotonic() - said_at < 2, "a second, and some time to write it"
            await asyncio.sleep(0.01)
    running.process.kill()
    await running.end()
    async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now) as world:
        assert said(world)[-1] == "The third."


async def test_a_killed_playground_frees_its_folder_and_goes_on(
    tmp_path: Path, http: aiohttp.ClientSession
) -> None:
    for text in ("Once", "Twice"):
        running = await Process.start(tmp_path)
        await running.say(http, text)
        running.process.kill()
        await running.end()
    async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now) as world:
        assert said(world)[: len(SCENE)] == [text for _, text in SCENE]


async def test_a_taken_port_is_said_and_the_next_one_is_used(
    tmp_path: Path, http: aiohttp.ClientSession
) -> None:
    first = await Process.start(tmp_path / "one")
    port = int(first.base.rpartition(":")[2])
    second = await asyncio.create_subprocess_exec(
        sys.executable, "-u", str(STANDIN), str(tmp_path / "two"), str(port), stdout=asyncio.subprocess.PIPE
    )
    assert second.stdout is not None
    async with asyncio.timeout(60):
        line = (await second.stdout.readline()).decode()
    assert re.match(rf"Port {port} is in use; the playground took \d+\.", line)
    for process in (first.process, second):
        process.kill()
        await process.communicate()


async def test_two_playgrounds_in_one_folder_are_refused(tmp_path: Path) -> None:
    first = await Process.start(tmp_path)
    with pytest.raises(AssertionError, match="refused: Another playground is already running"):
        await Process.start(tmp_path)
    first.process.kill()
    await first.end()
