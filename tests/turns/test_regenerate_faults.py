"""Kill -9 while a reply is regenerated, at every stage (SPEC §15, first row)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.turns.test_faults import ROOT

STAGES = ("replaced", "taken", "prepared", "streaming", "wrote", "committed", "delivered", "closed")

pytestmark = pytest.mark.fault


def run(world: Path, url: str, stage: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.turns.regenerate_child", str(world), url, stage],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("stage", STAGES)
def test_a_kill_leaves_one_new_reply_or_one_report_and_never_the_old_memory(
    database_url: str, tmp_path: Path, stage: str
) -> None:
    world = tmp_path / "world.jsonl"
    killed = run(world, database_url, stage)
    assert killed.returncode != 0 and "Traceback" not in killed.stderr, killed.stdout + killed.stderr
    settled = run(world, database_url, "none")
    assert settled.returncode == 0, settled.stderr
    found = json.loads(settled.stdout.splitlines()[-1])
    assert len(found["replies"]) + len(found["reports"]) == 1 and found["unfinished"] == 0
    assert found["memories"] in ([], ["plays the viola"])
    if found["replies"]:
        assert found["replies"] == ["Hm.\nA viola."] and found["memories"] == ["plays the viola"]
        assert found["window"] == ["I play something", "Hm.\nA viola."]
    else:
        assert found["window"] == ["I play something"]
