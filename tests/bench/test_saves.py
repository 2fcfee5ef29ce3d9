"""The accept/reject set of SPEC §4.4, and its measure."""

from __future__ import annotations

import json

from bench.saves import EXAMPLES, measure
from tests.fakes import ScriptedModel, calls, says


def test_the_set_holds_sixty_examples_in_three_languages_half_of_them_to_save() -> None:
    examples = json.loads(EXAMPLES.read_text("utf-8"))
    assert len({one["text"] for one in examples}) == 60
    for language in ("en", "es", "fil"):
        verdicts = [one["save"] for one in examples if one["lang"] == language]
        assert (len(verdicts), sum(verdicts)) == (20, 10)


async def test_a_model_that_saves_everything_has_full_recall_and_half_precision() -> None:
    found = await measure(ScriptedModel(after=calls(("save_memory", {"content": "x", "about": "user"}))))
    assert (found["recall"], found["precision"]) == (1.0, 0.5)


async def test_a_model_that_saves_nothing_is_right_about_half() -> None:
    found = await measure(ScriptedModel(after=says("Nice.")))
    assert (found["recall"], found["right"]) == (0.0, 0.5)
