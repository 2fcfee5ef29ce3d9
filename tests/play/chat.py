"""A browser on the playground's page, as a person uses it.

Needs `playwright` (requirements-dev.txt) and any Chromium, Chrome or Edge of this machine; nothing is
downloaded. Without one the tests are skipped with the reason, unless KEEPSAKE_REQUIRE_BROWSER=1.
KEEPSAKE_BROWSER names the program when it isn't found by itself.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.async_api import Browser, FrameLocator, Locator, Page

NAMES = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge"),
    *("msedge",),
)
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
SWITCHES = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


def missing(reason: str) -> None:
    """Skip, or fail where a browser is required."""
    if os.environ.get("KEEPSAKE_REQUIRE_BROWSER") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def browser_program() -> str:
    found = os.environ.get("KEEPSAKE_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    found = found or next((place for place in PLACES if Path(place).exists()), None)
    if not found:
        missing("no Chromium, Chrome or Edge on this machine (KEEPSAKE_BROWSER names one)")
    return str(found)


class Chat:
    """What a person sees and does in one tab."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda line: self.complaints.append(line.text) if line.type == "error" else None)

    @classmethod
    async def open(cls, browser: Browser, url: str, width: int = 1280) -> Chat:
        page = await browser.new_page(viewport={"width": width, "height": 800})
        page.set_default_timeout(15_000)
        chat = cls(page)
        await page.goto(url)
        await chat.box.wait_for()
        return chat

    @property
    def frame(self) -> FrameLocator:
        return self.page.frame_locator("#frame")

    @property
    def box(self) -> Locator:
        return self.frame.locator("#channel-composer-input")

    @property
    def lines(self) -> Locator:
        return self.frame.locator("#channel-message-list .channel-message")

    async def say(self, text: str) -> None:
        await self.box.fill(text)
        await self.box.press("Enter")
        await self.line(text.replace("@Keepsake ", "")).first.wait_for()

    def line(self, text: str) -> Locator:
        return self.lines.filter(has_text=text)

    def notice(self, title: str) -> Locator:
        return self.lines.filter(has=self.page.locator(".embed-card").filter(has_text=title))

    async def be(self, name: str) -> None:
        await self.page.locator("#people .pick").filter(has_text=name).click()
        await self.page.locator("#you").filter(has_text=f"You are {name}").wait_for()
        await self.box.wait_for()

    async def go(self, channel: str) -> None:
        await self.page.locator("#side nav button").filter(has_text=channel).click()
        await self.frame.locator("#channel-name").filter(has_text=channel).wait_for()
        await self.box.wait_for()

    async def run(self, command: str) -> None:
        """Choose a slash command; its form is open then, or Enter runs it."""
        await self.box.press_sequentially(f"/{command}")
        await self.frame.get_by_role("option").filter(has_text=f"/{command}").first.wait_for()
        await self.box.press("Enter")
        await self.frame.locator('[data-command-mode="true"]').wait_for()

    def told(self, text: str) -> Locator:
        """What the page says beneath the conversation."""
        return self.frame.get_by_role("alert").filter(has_text=text)
