"""The whole demonstration, as a person does it: the real bot, its page, a real browser.

What a browser needs: see ``chat``.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .chat import Chat

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

ROOT = Path(__file__).resolve().parents[2]
BOT = """
import asyncio, pathlib, sys
import bot
bot.HERE = pathlib.Path(sys.argv[1])  # its data folder, and no .env
sys.exit(asyncio.run(bot.main(["--play"])))
"""


@pytest.fixture
async def url(tmp_path: Path) -> AsyncIterator[str]:
    """The real bot's playground, in a process of its own, without any key."""
    settings = {"PLAY_PORT": "0", "PYTHONPATH": str(ROOT), "LOG_LEVEL": "WARNING"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LLM_", "DISCORD_"))}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-u",
        "-c",
        BOT,
        str(tmp_path),
        cwd=tmp_path,
        env={**kept, **settings},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    async with asyncio.timeout(60):
        while line := (await process.stdout.readline()).decode():
            if found := re.search(r"http://\S+", line):
                break
        else:
            raise AssertionError((await process.stderr.read()).decode())
    yield found[0]
    process.terminate()
    async with asyncio.timeout(30):
        _, errors = await process.communicate()
    assert "Traceback" not in errors.decode()


async def test_it_remembers_undoes_and_knows_it_after_a_restart(browser: Browser, url: str) -> None:
    chat = await Chat.open(browser, url)
    await chat.page.locator("#you").filter(has_text="You are Ana in #general").wait_for()

    await chat.say("@Keepsake remember that I'm allergic to peanuts")
    saved = chat.notice("Saved").last
    await saved.get_by_role("button", name="Undo").wait_for()
    assert "peanuts" in (await saved.inner_text()).lower()

    await saved.get_by_role("button", name="Undo").click()
    await chat.notice("undone").last.wait_for()
    assert await chat.notice("undone").last.locator("del").count() == 1

    await chat.say("@Keepsake remember that I'm allergic to peanuts.")
    await chat.notice("Saved").nth(1).get_by_role("button", name="Undo").wait_for()

    await chat.page.get_by_role("button", name="Restart the bot", exact=True).click()
    await chat.page.locator("#cover").wait_for(state="hidden")
    await chat.page.locator("#bot-state.online").wait_for()

    before = await chat.lines.count()
    await chat.say("@Keepsake what am I allergic to?")
    await chat.lines.nth(before + 1).wait_for()
    answer = chat.lines.nth(before + 1).locator(".message-content")
    await answer.filter(has_text=re.compile("peanuts", re.IGNORECASE)).wait_for()
    assert chat.complaints == []


async def test_a_slash_command_opens_a_panel_that_only_its_user_sees(browser: Browser, url: str) -> None:
    chat = await Chat.open(browser, url)
    await chat.box.press_sequentially("/personal", delay=20)
    await chat.frame.get_by_role("option").filter(has_text="/personal memories").first.wait_for()
    await chat.box.press("Enter")
    await chat.frame.locator('[data-command-mode="true"]').wait_for()
    await chat.page.keyboard.press("Enter")
    await chat.line("Only you can see this").filter(has_text="red string").wait_for()

    await chat.be("Ben")
    await chat.line("I forget everything").wait_for()
    assert await chat.line("Only you can see this").count() == 0
    assert chat.complaints == []


async def test_mara_finds_the_council_and_ana_does_not(browser: Browser, url: str) -> None:
    chat = await Chat.open(browser, url)
    assert await chat.page.locator("#side nav button").filter(has_text="council").count() == 0
    await chat.be("Mara")
    await chat.go("council")
    await chat.say("@Keepsake remember that the vault opens at noon")
    await chat.lines.nth(1).wait_for()
    assert chat.complaints == []


async def test_two_people_talk_in_two_tabs(browser: Browser, url: str) -> None:
    ana = await Chat.open(browser, url)
    ben = await Chat.open(browser, f"{url}&as=ben&in=general")
    await ben.page.locator("#you").filter(has_text="You are Ben").wait_for()
    await asyncio.gather(ana.say("@Keepsake remember that I sail"), ben.say("Good morning, Ana."))
    await ana.line("Good morning, Ana.").wait_for()
    await ben.notice("Saved").last.wait_for()
    assert ana.complaints == ben.complaints == []
