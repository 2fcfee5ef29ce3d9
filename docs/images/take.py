"""Takes the screenshots of the documents anew, from the real playground with the offline responder.

From the project's folder: ``.venv/bin/python -m docs.images.take`` (it needs what ``python run.py test``
installs, and any Chromium, Chrome or Edge). The world lives in a temporary folder; ``data/`` is not touched.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from PIL import Image
from playwright.async_api import Locator, async_playwright

from tests.play.chat import SWITCHES, Chat, browser_program
from tests.play.test_browser import BOT, ROOT

HERE = Path(__file__).resolve().parent
SIZE, SHARPNESS = {"width": 932, "height": 1_180}, 1.75
"""The tab in CSS pixels, and how many of the picture's make one: the conversation is then 1,225 wide."""

MARGIN = 14


@contextlib.asynccontextmanager
async def playground(folder: str) -> AsyncIterator[str]:
    """The address of a new playground, which ends with the block."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LLM_", "DISCORD_"))}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-u", "-c", BOT, folder),
        cwd=folder,
        env={**kept, "PLAY_PORT": "0", "PYTHONPATH": str(ROOT), "LOG_LEVEL": "WARNING"},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            while not (found := re.search(r"http://\S+", (await process.stdout.readline()).decode())):
                pass
        yield found[0]
    finally:
        process.terminate()
        await process.communicate()


@contextlib.asynccontextmanager
async def tab(url: str) -> AsyncIterator[Chat]:
    """One person's tab, as Ana in #general, without the line of hints."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=browser_program(), args=list(SWITCHES))
        page = await browser.new_page(viewport=SIZE, device_scale_factor=SHARPNESS)
        chat = Chat(page)
        await page.goto(url)
        await chat.box.wait_for()
        await page.locator("#hint-close").click()
        yield chat
        await browser.close()


async def shoot(chat: Chat, name: str, first: Locator, last: Locator) -> None:
    """Save what stands between the upper edge of one thing and the lower edge of another."""
    await chat.page.mouse.move(5, 300)
    await last.scroll_into_view_if_needed()
    await chat.page.wait_for_timeout(600)  # pictures and fonts
    frame = await chat.page.locator("#frame").bounding_box()
    top, bottom = await first.bounding_box(), await last.bounding_box()
    assert frame and top and bottom
    high = max(frame["y"], top["y"] - MARGIN)
    low = min(frame["y"] + frame["height"], bottom["y"] + bottom["height"] + MARGIN)
    clip = {"x": frame["x"], "y": high, "width": frame["width"], "height": int(low - high)}
    taken = await chat.page.screenshot(clip=clip)  # type: ignore[arg-type]  # playwright wants its own TypedDict
    picture = Image.open(io.BytesIO(taken)).convert("RGB")
    few = picture.quantize(200, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(HERE / f"{name}.png", optimize=True)


async def command(chat: Chat, name: str, option: str = "") -> None:
    """Pick a command from the list and send it, with text for its first optional option."""
    await chat.box.press_sequentially(f"/{name}", delay=15)
    await chat.frame.get_by_role("option").filter(has_text=f"/{name}").first.wait_for()
    await chat.box.press("Enter")
    await chat.frame.locator('[data-command-mode="true"]').wait_for()
    if option:
        await chat.frame.locator(".command-ghost").click()
        await chat.page.keyboard.press("Enter")
        await chat.page.wait_for_timeout(400)  # the field opens
        await chat.page.keyboard.type(option)
    await chat.page.keyboard.press("Enter")


async def remember(chat: Chat, fact: str) -> Locator:
    """Tell the bot a fact; returns its confirmation."""
    before = await chat.notice("Saved").count()
    await chat.say(f"@Keepsake remember that {fact}")
    saved = chat.notice("Saved").nth(before)
    await saved.get_by_role("button", name="Undo").wait_for()
    return saved


async def restart(chat: Chat) -> None:
    await chat.page.get_by_role("button", name="Restart the bot", exact=True).click()
    await chat.page.locator("#cover").wait_for(state="hidden")
    await chat.page.locator("#bot-state.online").wait_for()


async def take(chat: Chat) -> None:
    """The story that the pictures tell, in its order."""
    saved = await remember(chat, "I'm allergic to peanuts")
    await shoot(chat, "remember", chat.line("Forty of them"), saved)
    await saved.get_by_role("button", name="Pin").click()
    await saved.get_by_role("button", name="Unpin").wait_for()
    await remember(chat, "I prefer tea to coffee")
    await chat.go("Keepsake")
    await remember(chat, "my birthday is on 4 March")

    await restart(chat)
    await chat.go("tavern")
    await chat.say("@Keepsake what am I allergic to?")
    answer = chat.line("From memory").last
    await answer.wait_for()
    await shoot(chat, "recall", chat.frame.locator("#channel-name"), answer)

    await chat.go("general")
    await command(chat, "personal memories")
    panel = chat.line("What I remember about you").last
    await panel.wait_for()
    await shoot(chat, "memories", panel, panel)

    await command(chat, "context preview", "What shall I bake for the lantern festival?")
    preview = chat.line("What I would be given now").last
    await preview.wait_for()
    await shoot(chat, "preview", preview, preview)
    await persona(chat)
    await suggestion(chat)
    assert chat.complaints == []


async def persona(chat: Chat) -> None:
    """The admin makes a character; Ana calls it by its trigger word."""
    await chat.be("Mara")
    await chat.page.wait_for_timeout(1_500)  # the page of the other person has settled
    await command(chat, "persona create")
    box = chat.frame.get_by_role("dialog")
    fields = box.locator("input[type=text], textarea, input:not([type])")
    await fields.nth(0).fill("Captain Aria")
    await fields.nth(1).fill("A ship's captain who loves storms and hates small talk.")
    await fields.nth(3).fill("captain")
    await box.get_by_role("button", name="Submit").click()
    made = chat.line("Sample dialogues").last
    await made.wait_for()
    await chat.be("Ana")
    await chat.say("captain, remember that I get seasick")
    saved = chat.notice("Saved").filter(has_text="Captain Aria").last
    await saved.get_by_role("button", name="Undo").wait_for()
    await shoot(chat, "persona", chat.line("captain, remember").last, saved)


async def suggestion(chat: Chat) -> None:
    """Ana has no right to the server's memories: what she tells about it waits for the admin."""
    await chat.go("tavern")
    await chat.say("@Keepsake remember for the server that the cellar floods in spring")
    await chat.notice("Save this?").last.wait_for()
    await chat.be("Mara")
    await chat.go("tavern")
    await chat.page.wait_for_timeout(1_500)
    await command(chat, "approvals")
    queue = chat.line("What waits for you").last
    await queue.get_by_role("button", name="Approve", exact=True).first.wait_for()
    await shoot(chat, "approvals", queue, queue)


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with playground(folder) as url, tab(url) as chat:
            await take(chat)


if __name__ == "__main__":
    asyncio.run(main())
