"""What the page owes a person beyond simcord's: the stand-in bot in this process, a real browser."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from simcord.enums import AppCommandType

import play
from play.server import PlayServer

from .chat import Chat
from .standin import maker, now

if TYPE_CHECKING:
    from playwright.async_api import Browser, Locator

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]

FITS = "(box => [box.scrollWidth - innerWidth, box.scrollHeight - innerHeight])(document.scrollingElement)"
FLASHED = re.compile(r"\bplay-shown\b")


@dataclass
class Stage:
    """A served world and a browser."""

    world: play.World
    server: PlayServer
    browser: Browser

    async def chat(self, who: str = "ana", width: int = 1280) -> Chat:
        return await Chat.open(self.browser, f"{self.server.url}&as={who}", width)


@pytest.fixture
async def stage(tmp_path: Path, browser: Browser) -> AsyncIterator[Stage]:
    async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now) as world:
        server = PlayServer(world, "a test")
        await server.start(0)
        yield Stage(world, server, browser)
        await server.stop()


# --- Commands ---


async def test_an_options_choices_are_there_before_a_letter_is_typed(stage: Stage) -> None:
    stage.world.bot.remember("I sail on Fridays")
    chat = await stage.chat()
    await chat.run("find")
    await chat.frame.locator(".command-suggestion").filter(has_text="I sail on Fridays").click()
    await chat.page.keyboard.press("Enter")
    await chat.line("Found: I sail on Fridays").wait_for()
    assert chat.complaints == []


async def test_a_picked_choice_shows_its_name_and_a_long_value_can_be_read(stage: Stage) -> None:
    words = "The lanterns hang over the harbour, " * 8 + "and nobody counts them."
    for width in (1280, 390):
        chat = await stage.chat(width=width)
        await chat.run("tone")
        await chat.page.keyboard.press("ArrowDown")
        await chat.page.keyboard.press("Enter")
        how, said = (chat.frame.locator(f'.command-pill[data-option="{name}"]') for name in ("how", "words"))
        assert await how.locator("input").input_value() == "Loudly, as in a storm"
        assert await how.locator("input").evaluate("field => field.scrollWidth - field.clientWidth") == 0
        await said.locator("input").fill(words)
        beneath = "pill => [getComputedStyle(pill, '::after').content, pill.scrollWidth - pill.clientWidth]"
        assert await said.evaluate(beneath) == [f'"{words}"', 0]
        await said.locator("input").fill("Ahoy")
        assert await said.evaluate(beneath) == ["none", 0]
        await said.locator("input").press("Enter")
        await chat.line("loud: Ahoy").last.wait_for()
        assert chat.complaints == []


@pytest.mark.parametrize("far", [False, True])
async def test_the_answer_to_ones_own_command_comes_into_view(stage: Stage, far: bool) -> None:
    from playwright.async_api import expect

    for count in range(200):
        await stage.world.say("ben", stage.world.room("general"), f"Boat {count} is folded.")
    chat = await stage.chat()
    await chat.line("Boat 199").wait_for()
    await chat.lines.last.hover()
    await chat.page.mouse.wheel(0, -30_000)
    if far:
        for _ in range(3):
            await chat.frame.locator("#history-older").click()
            await chat.page.wait_for_timeout(400)
        await chat.line("Boat 199").wait_for(state="detached")
    await expect(chat.line("Boat 199")).not_to_be_in_viewport()
    await chat.run("tone")
    await chat.page.keyboard.press("ArrowDown")
    await chat.page.keyboard.press("Enter")
    await chat.page.keyboard.type("Ahoy")
    await chat.page.keyboard.press("Enter")
    await expect(chat.line("loud: Ahoy")).to_be_in_viewport()
    await chat.page.wait_for_timeout(1_000)  # nothing scrolls it away again
    await expect(chat.line("loud: Ahoy")).to_be_in_viewport()
    assert chat.complaints == []


async def test_enter_picks_a_command_also_while_an_answer_is_awaited(stage: Stage) -> None:
    chat = await stage.chat()
    await chat.box.press_sequentially("/note")
    await chat.frame.get_by_role("option").filter(has_text="/note add").first.wait_for()
    await chat.frame.locator("#send-message").evaluate("send => { send.disabled = true; }")
    await chat.box.press("Enter")
    await chat.frame.locator('[data-command-mode="true"]').wait_for()
    assert await chat.line("/note").count() == 0


async def test_a_used_command_is_named_in_full(stage: Stage) -> None:
    chat = await stage.chat()
    await chat.run("note add")
    await chat.page.keyboard.press("Enter")
    await chat.line("Noted.").filter(has_text="Ana used /note add").wait_for()


async def test_a_command_takes_a_file(stage: Stage) -> None:
    chat = await stage.chat()
    await chat.run("weigh")
    await chat.frame.locator(".command-file-input").set_input_files(
        {"name": "stone.txt", "mimeType": "text/plain", "buffer": b"heavy"}
    )
    await chat.frame.locator(".command-file-choose").filter(has_text="stone.txt").wait_for()
    await chat.frame.locator("#send-message").click()
    await chat.line("stone.txt has 5 bytes.").wait_for()
    assert chat.complaints == []


async def test_a_dialog_with_a_choice_and_a_file_is_filled_in(stage: Stage) -> None:
    chat = await stage.chat()
    await chat.run("bring")
    await chat.page.keyboard.press("Enter")
    dialog = chat.frame.get_by_role("dialog", name="Bring something")
    await dialog.locator(".select-trigger").click()
    await chat.frame.get_by_role("option", name="Map").click()
    await dialog.locator('input[type="file"]').set_input_files(
        {"name": "cove.txt", "mimeType": "text/plain", "buffer": b"dig here"}
    )
    await dialog.get_by_role("textbox").fill("Shh.")
    await dialog.get_by_role("button", name="Submit").click()
    await chat.line("Map cove.txt: dig here Shh.").wait_for()
    assert chat.complaints == []


# --- Messages ---


async def test_an_over_long_message_is_refused_and_stays_in_the_box(stage: Stage) -> None:
    chat = await stage.chat()
    await chat.box.fill("@Keepsake " + "é" * 1_990)
    await chat.frame.locator(".play-count").filter(has_text="-13").wait_for()
    await chat.box.press("Enter")
    await chat.told("Messages are limited to 2,000 characters; this one has 2,013.").wait_for()
    assert len(await chat.box.input_value()) == 2_000
    await chat.box.fill("é" * 2_000)
    await chat.box.press("Enter")
    await chat.line("é" * 2_000).wait_for()
    assert chat.complaints == []


async def test_a_link_jumps_to_an_old_message_or_says_why_not(stage: Stage) -> None:
    world = stage.world
    tavern = world.room("tavern")
    await world.say("ben", tavern, "By the fire.")
    for count in range(60):
        await world.say("ben", world.room("general"), f"Line {count}")
    chat = await stage.chat()
    await chat.say(f"@Keepsake where {tavern}")
    links = chat.frame.locator(".embed-card a")

    await links.filter(has_text="nowhere").click()
    await chat.told("That place isn't in this playground").wait_for()
    await links.filter(has_text="gone").click()
    await chat.told("That message isn't here any more.").wait_for()
    await links.filter(has_text="other").click()
    await chat.page.locator("#you").filter(has_text="#tavern").wait_for()
    await _flashed(chat.line("By the fire."))
    await chat.go("general")
    await links.filter(has_text="first").click()
    await _flashed(chat.line("chimney smokes again"))
    assert chat.complaints == []


async def _flashed(line: Locator) -> None:
    from playwright.async_api import expect

    await expect(line).to_have_class(FLASHED)
    await expect(line).to_be_in_viewport()


async def test_the_bots_menus_open_on_a_message_and_a_dialog_waits_for_words(stage: Stage) -> None:
    chat = await stage.chat()
    line = chat.line("chimney smokes again").first
    await line.hover()
    await line.get_by_role("button", name="Apps").click()
    await chat.frame.get_by_role("menuitem", name="Save to memory").click()
    await chat.line("Kept: The tavern's chimney").wait_for()

    await line.locator(".message-content").click(button="right")
    await chat.frame.get_by_role("menuitem", name="Add a note").click()
    await chat.frame.get_by_role("dialog", name="Add a memory").get_by_role("textbox").wait_for()
    await chat.frame.locator("textarea:focus, .modal-fields input:focus").wait_for()
    await chat.page.keyboard.type("Sweep it.")
    await chat.frame.get_by_role("button", name="Submit").click()
    await chat.line("Kept: Sweep it.").wait_for()
    assert chat.complaints == []


async def test_the_answer_to_a_menu_far_up_comes_into_view(stage: Stage) -> None:
    from playwright.async_api import expect

    for count in range(30):
        await stage.world.say("ben", stage.world.room("general"), f"Boat {count} is folded.")
    chat = await stage.chat()
    line = chat.line("chimney smokes again").first
    await chat.lines.last.hover()
    await chat.page.mouse.wheel(0, -30_000)
    await expect(line).to_be_in_viewport()
    await line.hover()
    await line.get_by_role("button", name="Apps").click()
    await chat.frame.get_by_role("menuitem", name="Save to memory").click()
    await expect(chat.line("Kept: The tavern's chimney")).to_be_in_viewport()
    assert chat.complaints == []


async def test_where_the_bot_has_no_menus_none_is_offered(stage: Stage) -> None:
    commands = stage.world.env.backend.commands[None]
    for key in [key for key in commands if key[1] == AppCommandType.MESSAGE]:
        del commands[key]
    chat = await stage.chat()
    line = chat.line("chimney smokes again")
    await line.hover()
    await line.get_by_role("button", name="Reply").wait_for()
    assert await line.get_by_role("button", name="Apps").count() == 0


async def test_edited_stands_behind_the_words_of_a_message_without_a_head(stage: Stage) -> None:
    chat = await stage.chat()
    await chat.say("@Keepsake correct")
    await chat.line("So it begins.").wait_for()
    for message in (chat.line("A first draft."), chat.line("2"), chat.notice("New")):
        edited = message.last.get_by_text("(edited)")
        await edited.wait_for()
        box, words = await edited.bounding_box(), await chat.line("So it begins.").locator("p").bounding_box()
        assert box is not None
        assert words is not None
        assert box["x"] >= words["x"]
    assert await chat.line("A first draft.").locator("p").inner_text() == "A first draft.(edited)"
    assert chat.complaints == []


async def test_a_menu_of_several_speaks_discords_words(stage: Stage) -> None:
    chat = await stage.chat()
    await chat.say("@Keepsake ask")
    menu = chat.line("What do you drink?")
    await menu.locator(".select-trigger").filter(has_text="Make a selection").click()
    await chat.frame.get_by_role("option", name="Rum").click()
    await menu.get_by_role("button", name="Apply").wait_for()
    assert "simcord" not in (await chat.frame.locator("#channel-timeline").inner_text()).lower()


# --- Personas and threads ---


async def test_personas_speak_under_their_own_names_in_channels_and_threads(stage: Stage) -> None:
    chat = await stage.chat()
    await chat.say("@Keepsake troupe")
    captain = chat.lines.filter(has=chat.page.locator(".message-author", has_text="Captain"))
    await captain.filter(has_text="Arr.").locator(".message-avatar-image img[src]").wait_for()
    cat = chat.lines.filter(has=chat.page.locator(".message-author", has_text="The cat"))
    await cat.filter(has_text="Meow.").wait_for()

    await chat.line("started a thread").get_by_role("link", name="Aboard").click()
    await chat.page.locator("#you").filter(has_text="#Aboard").wait_for()
    admiral = chat.lines.filter(has=chat.page.locator(".message-author", has_text="Admiral"))
    await admiral.filter(has_text="Below deck.").wait_for()
    assert await chat.line("Forget me.").count() == 0

    await admiral.hover()
    await admiral.get_by_role("button", name="Reply").click()
    await chat.say("Aye.")
    await chat.line("You answered Admiral, who said Below deck.").wait_for()
    assert chat.complaints == []


async def test_a_private_thread_is_seen_by_its_members_alone(stage: Stage) -> None:
    ana, ben = await stage.chat("ana"), await stage.chat("ben")
    await ana.say("@Keepsake secret")
    await ana.go("Behind the curtain")
    await ana.line("Only you and I.").wait_for()
    await ben.line("secret").wait_for()
    assert await ben.line("curtain").count() == 0
    assert await ben.page.locator("#side nav button").filter(has_text="curtain").count() == 0


# --- The page itself ---


@pytest.mark.parametrize("width", [1280, 390])
async def test_nothing_is_cut_off(stage: Stage, width: int) -> None:
    stage.world.bot.remember("a fact as long as " + "a wide sea and " * 20)
    chat = await stage.chat(width=width)
    await chat.run("memory")
    await chat.page.keyboard.press("Enter")
    await chat.line("What I keep").wait_for()
    for frame in chat.page.frames:
        assert await frame.evaluate(FITS) == [0, 0]
    for part in ("#send-message", ".play-mention", ".play-attach", "#channel-composer-input"):
        box = await chat.frame.locator(part).bounding_box()
        assert box is not None
        assert box["x"] >= 0, part
        assert box["width"] > 20, part
        assert box["x"] + box["width"] <= width, part
    for hint in await chat.page.locator("#tries button").all():
        box = await hint.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= width, await hint.inner_text()
    if width < 720:
        await chat.page.get_by_role("button", name="Channels and people").click()
        await chat.go("tavern")
        await chat.page.get_by_role("navigation").wait_for(state="hidden")
    assert chat.complaints == []


async def test_a_face_is_there_before_its_picture(stage: Stage) -> None:
    page = await stage.browser.new_page()
    await page.route("**/api/assets/**", lambda route: None)  # never answered
    await page.goto(f"{stage.server.url}&as=ana")
    face = page.frame_locator("#frame").locator(".message-avatar-image").first
    await face.wait_for()
    shown = "face => [getComputedStyle(face, '::before').content, getComputedStyle(face).backgroundColor]"
    assert await face.evaluate(shown) == ['"A"', "rgb(91, 192, 190)"]


async def test_no_sign_needs_a_font_of_its_own(stage: Stage) -> None:
    chat = await stage.chat("mara")
    await chat.say("@Keepsake thread")
    for name in ("council", "A side story"):
        row = chat.page.locator("#side nav button").filter(has_text=name)
        await row.locator("svg").wait_for()
    written = await chat.page.locator("body").inner_text()
    assert [sign for sign in written if sign > "\u2100"] == []


async def test_the_dot_goes_out_with_the_bot(stage: Stage) -> None:
    chat = await stage.chat()
    await chat.page.locator("#bot-state.online").wait_for()
    await stage.world.bot.close()
    await chat.page.locator("#bot-state:not(.online)").filter(has_text="offline").wait_for()
    restart = chat.page.get_by_role("button", name="Restart the bot", exact=True)
    await restart.click()
    await chat.page.locator("#bot-state.online").wait_for()
    await stage.server.stop()
    await chat.page.locator("#bot-state:not(.online)").filter(has_text="stopped").wait_for()
    assert await restart.is_disabled()
    assert "python run.py play" in (await restart.get_attribute("title") or "")


async def test_restarting_a_playground_that_has_just_stopped_says_so(stage: Stage) -> None:
    chat = await stage.chat()
    await chat.page.locator("#bot-state.online").wait_for()
    await stage.server.stop()
    restart = chat.page.get_by_role("button", name="Restart the bot", exact=True)
    await restart.click()
    await chat.page.locator("#cover").filter(has_text="Start it again (python run.py play)").wait_for()
    await chat.page.locator("#bot-state").filter(has_text="stopped").wait_for()
    assert await restart.is_disabled()
    assert "python run.py play" in (await restart.get_attribute("title") or "")
