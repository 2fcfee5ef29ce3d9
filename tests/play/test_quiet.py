"""What whoever starts the playground reads in the terminal before it is up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_nothing_is_said_about_what_the_bot_never_uses() -> None:
    """In a process of its own: discord.py says it once, when the first client is made."""
    start = "import logging; logging.basicConfig(); import bot, play"
    told = subprocess.run(
        [sys.executable, "-c", start], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert told.stdout + told.stderr == ""
