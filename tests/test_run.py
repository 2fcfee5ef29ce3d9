"""run.py on a machine that has only Python: what it installs, when, and what it says when it can't."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import run

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that needs nothing to be installed, in a folder with spaces in its name."""
    root = tmp_path / "a bot of mine"
    root.mkdir()
    shutil.copy(ROOT / "run.py", root)
    for name in set(run.REQUIREMENTS.values()):
        (root / name).write_text("# nothing\n", encoding="utf-8")
    (root / "bot.py").write_text(
        "import os, sys\nprint(sys.argv[1:], os.getcwd() == os.path.dirname(os.path.abspath(__file__)))\n"
        "sys.exit(int(os.environ.get('CODE', '0')))\n",
        encoding="utf-8",
    )
    return root


def call(root: Path, *arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
    keep = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TEMP", "TMP") if name in os.environ}
    return subprocess.run(
        [sys.executable, str(root / "run.py"), *arguments],
        cwd=root.parent,
        env={**keep, "HOME": "", **extra},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_first_run_sets_up_and_a_second_only_starts(project: Path) -> None:
    first = call(project, "start", "--verbose", CODE="3")
    assert first.returncode == 3
    assert "Setting up .venv (first run" in first.stdout
    assert "['--verbose'] True" in first.stdout
    second = call(project, "play")
    assert second.returncode == 0
    assert "Setting up" not in second.stdout
    assert "['--play'] True" in second.stdout
    assert call(project, "play").stdout.splitlines() == ["['--play'] True"]


def test_a_venv_whose_python_is_gone_is_made_anew(project: Path) -> None:
    python = run.venv_python(project / ".venv")
    python.parent.mkdir(parents=True)
    python.write_text("", encoding="utf-8")
    done = call(project, "start")
    assert "Rebuilding .venv" in done.stdout
    assert done.returncode == 0


def test_without_a_command_the_commands_are_listed(tmp_path: Path) -> None:
    shutil.copy(ROOT / "run.py", tmp_path)
    done = call(tmp_path)
    assert done.returncode == 2
    assert all(
        f"  {command} " in done.stdout for command in ("play", "start", "test", "check", "fmt", "bench")
    )
    unknown = call(tmp_path, "paly")
    assert unknown.returncode == 2
    assert "There is no command 'paly'." in unknown.stdout
    assert not (tmp_path / ".venv").exists()


def test_an_older_python_can_read_the_file_and_is_told_so() -> None:
    ast.parse((ROOT / "run.py").read_text(encoding="utf-8"), feature_version=(3, 7))
    assert "needs Python 3.11 or newer; this is Python 3.8" in run.too_old(3, 8)
    assert run.too_old(3, 11) == run.too_old(3, 14) == ""


def test_only_the_standard_library_is_imported() -> None:
    tree = ast.parse((ROOT / "run.py").read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


@pytest.mark.parametrize("command", run.COMMANDS)
def test_every_command_has_its_requirements(command: str) -> None:
    for name in run.requirement_files(command, ""):
        assert (ROOT / name).is_file()


def test_the_postgresql_driver_is_installed_when_the_url_asks_for_it(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("LLM_MODEL=x\nexport DATABASE_URL = 'postgresql+asyncpg://h/db'\n", encoding="utf-8")
    assert run.database_url(file, {"DATABASE_URL": ""}) == "postgresql+asyncpg://h/db"
    assert run.database_url(file, {"DATABASE_URL": "sqlite:///x"}) == "sqlite:///x"
    assert run.database_url(tmp_path / "none", {}) == ""
    files = run.requirement_files("start", run.database_url(file, {}))
    assert files == ["requirements.txt", "requirements-postgres.txt"]
    assert run.requirement_files("start", "sqlite:///x") == ["requirements.txt"]


def test_only_a_changed_requirement_is_installed_again(tmp_path: Path) -> None:
    venv = tmp_path / ".venv"
    venv.mkdir()
    (tmp_path / "base.txt").write_text("a==1\n", encoding="utf-8")
    (tmp_path / "dev.txt").write_text("-r base.txt\nb==1\n", encoding="utf-8")
    assert run.included(tmp_path, "dev.txt") == ["dev.txt", "base.txt"]
    assert run.outdated(tmp_path, venv, ["dev.txt"]) == ["dev.txt"]
    stamps = {name: run.fingerprint(tmp_path, name) for name in ("base.txt", "dev.txt")}
    (venv / run.STAMP).write_text(json.dumps(stamps), encoding="utf-8")
    assert run.outdated(tmp_path, venv, ["base.txt", "dev.txt"]) == []
    (tmp_path / "dev.txt").write_text("-r base.txt\nb==2\n", encoding="utf-8")
    assert run.outdated(tmp_path, venv, ["base.txt", "dev.txt"]) == ["dev.txt"]
    (tmp_path / "base.txt").write_text("a==2\n", encoding="utf-8")
    assert run.outdated(tmp_path, venv, ["base.txt", "dev.txt"]) == ["base.txt", "dev.txt"]
    (venv / run.STAMP).write_text("{broken", encoding="utf-8")
    assert run.outdated(tmp_path, venv, ["base.txt"]) == ["base.txt"]


def test_a_missing_network_is_said_plainly() -> None:
    output = (
        "WARNING: Retrying\n NewConnectionError: Temporary failure in name resolution\nERROR: No matching"
    )
    assert "there is no network" in run.explain_pip(output)
    assert "no network" not in run.explain_pip("ERROR: Invalid requirement")
    assert "disk is full" in run.explain_pip("OSError: [Errno 28] No space left on device")


@pytest.mark.parametrize(("platform", "advice"), [("linux", "apt install python3-venv"), ("darwin", "brew")])
def test_a_missing_venv_module_names_what_to_install(platform: str, advice: str) -> None:
    assert advice in run.venv_advice(platform)
    assert "pip" in run.venv_advice("win32")


def test_windows_keeps_its_python_elsewhere() -> None:
    assert run.venv_python(Path("v"), windows=True) == Path("v", "Scripts", "python.exe")


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_the_first_failing_tool_ends_the_run_and_the_summary(capfd: pytest.CaptureFixture[str]) -> None:
    steps = [
        ("lint", python("")),
        ("types", python("raise SystemExit(4)")),
        ("pytest", python("print('never')")),
    ]
    assert run.run_steps(steps) == 4
    lines = capfd.readouterr().out.splitlines()
    assert lines[-3].startswith("lint: ok")
    assert lines[-2].startswith("types: FAILED")
    assert lines[-1] == "pytest: not run"
    assert "never" not in lines


def test_the_last_lines_of_a_good_run_are_those_of_pytest(capfd: pytest.CaptureFixture[str]) -> None:
    assert (
        run.run_steps([("lint", python("")), ("pytest", python("print('3 passed'); raise SystemExit(1)"))])
        == 1
    )
    lines = capfd.readouterr().out.splitlines()
    assert lines[0].startswith("lint: ok")
    assert lines[-1] == "3 passed"


def test_further_arguments_go_to_pytest() -> None:
    name, arguments = run.test_steps("py", ["-k", "pinned"])[-1]
    assert name == "pytest"
    assert arguments == ["py", "-m", "pytest", "--hypothesis-profile=ci", "-k", "pinned"]


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_killed_child_gives_the_code_of_its_signal() -> None:
    assert run.run(python("import os, signal; os.kill(os.getpid(), signal.SIGTERM)")) == 128 + 15
