"""A whole prompt, word for word. After a wanted change, write what ``render()`` gives into the file."""

from __future__ import annotations

from pathlib import Path

from memory.prompt.assembly import build
from tests.prompt.scene import INFO, scene

GOLDEN = Path(__file__).parent / "golden" / "small_scene.txt"


def render() -> str:
    messages = build(scene(), info=INFO, reserve=1_024).messages
    return "\n".join(f"=== {m.role.value} · {m.block}\n{m.text.rstrip()}\n" for m in messages)


def test_the_prompt_of_a_small_scene_is_word_for_word_what_the_golden_file_says() -> None:
    assert render() == GOLDEN.read_text("utf-8")
