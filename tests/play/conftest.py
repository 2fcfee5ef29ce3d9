"""The browser of the page's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

from .chat import SWITCHES, browser_program, missing

if TYPE_CHECKING:
    from playwright.async_api import Browser


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    try:
        from playwright.async_api import async_playwright
    except ImportError:
        missing("playwright is not installed (requirements-dev.txt)")
        raise
    program = browser_program()
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=program, args=list(SWITCHES))
        yield launched
        await launched.close()
