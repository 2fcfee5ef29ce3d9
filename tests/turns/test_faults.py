"""Kill -9 at every stage of a turn, in a process of its own, on each database (SPEC §15, first row)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STAGES = (
    "observed",
    "taken",
    "prepared",
    "streaming",
    "wrote",
    "answered",
    "committed",
    "delivered",
    "closed",
)
WRITTEN = STAGES[STAGES.index("wrote") :]
MOMENTS = tuple(f"after {ms}" for ms in (2, 8, 15, 25, 45))

pytestmark = pytest.mark.fault


def run(world: Path, url: str, stage: str, *persona: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.turns.crash_child", str(world), url, stage, *persona],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def after_restart(tmp_path: Path, url: str, stage: str, *persona: str) -> dict:
    """Kill a bot at ``stage``, start another one, and say what stands."""
    world = tmp_path / "world.jsonl"
    killed = run(world, url, stage, *persona)
    died = killed.returncode != 0
    assert died or stage.startswith("after"), killed.stdout + killed.stderr
    assert "Traceback" not in killed.stderr
    settled = run(world, url, "none", *persona)
    assert settled.returncode == 0, settled.stderr
    return json.loads(settled.stdout.splitlines()[-1])


@pytest.mark.parametrize("persona", [(), ("Sable",)], ids=["built-in", "persona"])
@pytest.mark.parametrize("stage", STAGES)
def test_a_kill_at_any_stage_loses_and_doubles_nothing(
    database_url: str, tmp_path: Path, stage: str, persona: tuple[str, ...]
) -> None:
    found = after_restart(tmp_path, database_url, stage, *persona)
    assert found["memories"] == ["is allergic to peanuts"] or (
        not found["memories"] and found["reports"] and stage not in WRITTEN
    )
    assert found["journal"] in ([], [1])
    assert len(found["replies"]) + len(found["reports"]) == 1
    assert found["unfinished"] == 0
    if found["replies"]:
        assert found["replies"] == ["One moment.\nNoted: you are allergic to peanuts."]
        assert found["window"][-1] == found["replies"][0]
        assert found["authors"] == [*(persona or ("Keepsake",))]
    if found["memories"]:
        assert found["notices"] == 1


@pytest.mark.parametrize("stage", MOMENTS)
def test_a_kill_at_any_moment_leaves_one_reply_or_one_report(
    database_url: str, tmp_path: Path, stage: str
) -> None:
    found = after_restart(tmp_path, database_url, stage)
    assert len(found["memories"]) <= 1
    assert found["journal"] in ([], [1])
    assert len(found["replies"]) + len(found["reports"]) <= 1
    assert found["unfinished"] == 0
