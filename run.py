"""The one command of the project: makes ``.venv``, installs what the command needs there, then runs it.

Standard library only; Linux, macOS and Windows; from any current directory. Python 3.11 or newer runs it, and
an older one must still be able to read this file and say so: nothing above that check uses newer syntax.
"""

import hashlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def too_old(major: int, minor: int) -> str:
    """The sentence for a Python that is too old, or an empty string."""
    if (major, minor) >= (3, 11):
        return ""
    return (
        f"Keepsake needs Python 3.11 or newer; this is Python {major}.{minor}. Install a newer one"
        " (https://www.python.org/downloads/) and use it by name, for example: python3.13 run.py play"
    )


if too_old(sys.version_info[0], sys.version_info[1]):
    sys.exit(too_old(sys.version_info[0], sys.version_info[1]))

ROOT = Path(__file__).resolve().parent
STAMP = "keepsake-installed.json"
HEARTBEAT_S = 15

COMMANDS = {
    "play": "try the bot in a browser page: no Discord token, no model key, no network",
    "start": "run the bot on Discord (needs DISCORD_TOKEN in the file .env)",
    "test": "lint, types and all tests; further arguments go to pytest",
    "check": "lint and types only",
    "fmt": "format the code, fix what the linter can fix, renew the settings' documentation",
    "bench": "measure: bench assembly, bench turn, bench soak, bench drive",
}

REQUIREMENTS = {
    "play": "requirements-play.txt",
    "start": "requirements.txt",
    "test": "requirements-dev.txt",
    "check": "requirements-dev.txt",
    "fmt": "requirements-dev.txt",
    "bench": "requirements-dev.txt",
}

NO_NETWORK_SIGNS = (
    "Temporary failure in name resolution",
    "Name or service not known",
    "nodename nor servname",
    "getaddrinfo failed",
    "NameResolutionError",
    "NewConnectionError",
    "Failed to establish a new connection",
    "ConnectTimeoutError",
    "Network is unreachable",
    "Cannot connect to proxy",
)


class Stop(Exception):
    """Ends the run with one plain sentence."""


def say(line: str) -> None:
    print(line, flush=True)


# --- What to install ---


def database_url(env_file: Path, environ: dict[str, str]) -> str:
    """DATABASE_URL as the bot will see it: the environment's, else the ``.env`` file's, else empty."""
    found = environ.get("DATABASE_URL", "").strip()
    if not found and env_file.is_file():
        for line in env_file.read_text(encoding="utf-8-sig", errors="replace").splitlines():
            match = re.match(r"\s*(?:export\s+)?DATABASE_URL\s*=\s*(.*)", line)
            if match:
                found = match[1].strip().strip("'\"")
    return found


def requirement_files(command: str, url: str) -> list[str]:
    """The requirement files that a command needs."""
    files = [REQUIREMENTS[command]]
    if command in {"start", "play"} and url.startswith("postgres"):
        files.append("requirements-postgres.txt")
    return files


def included(root: Path, name: str) -> list[str]:
    """A requirement file and all that it includes with ``-r``, itself first."""
    found = [name]
    for line in (root / name).read_text(encoding="utf-8").splitlines():
        match = re.match(r"-r\s+(\S+)", line)
        if match:
            found += [other for other in included(root, match[1]) if other not in found]
    return found


def fingerprint(root: Path, name: str) -> str:
    """A hash over a requirement file and all that it includes."""
    digest = hashlib.sha256()
    for part in included(root, name):
        digest.update(part.encode() + b"\0" + (root / part).read_bytes() + b"\0")
    return digest.hexdigest()


def installed(venv: Path) -> dict[str, str]:
    """What was installed into the venv: requirement file → fingerprint."""
    try:
        stamps = json.loads((venv / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamps if isinstance(stamps, dict) else {}


def outdated(root: Path, venv: Path, files: list[str]) -> list[str]:
    """Those of the requirement files that changed since they were installed."""
    stamps = installed(venv)
    return [name for name in files if stamps.get(name) != fingerprint(root, name)]


# --- The venv ---


def venv_python(venv: Path, windows: bool = os.name == "nt") -> Path:
    return venv / "Scripts" / "python.exe" if windows else venv / "bin" / "python"


def environment() -> dict[str, str]:
    """The environment for every child: no foreign Python's settings, pip without questions."""
    env = {name: value for name, value in os.environ.items() if name not in {"PYTHONHOME", "VIRTUAL_ENV"}}
    if not env.get("HOME"):
        env.pop("HOME", None)
    env.update(PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1", PIP_USER="0")
    return env


def healthy(venv: Path) -> bool:
    """True when the venv's Python starts, is new enough, has pip and lives where it should."""
    code = "import sys, pip; print(sys.prefix); sys.exit(sys.version_info < (3, 11))"
    try:
        answer = subprocess.run(
            [str(venv_python(venv)), "-I", "-c", code],
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return Path(answer.stdout.strip()).samefile(venv)
    except (OSError, subprocess.SubprocessError):
        return False


def venv_advice(platform: str) -> str:
    """What to install where Python came without venv or ensurepip."""
    if platform.startswith("linux"):
        return (
            "On Debian and Ubuntu: sudo apt install python3-venv. On Fedora: sudo dnf install python3-pip."
            " On Alpine: sudo apk add python3 py3-pip."
        )
    if platform == "darwin":
        return "Install Python with brew install python, or from https://www.python.org/downloads/."
    return "Run the installer from https://www.python.org/downloads/ again and tick pip."


def make_venv(venv: Path) -> None:
    """Make or rebuild the venv. Raises :class:`Stop` where this Python can't."""
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if missing:
        raise Stop(f"This Python lacks its module {missing[0]}. {venv_advice(sys.platform)}")
    if venv.exists():
        say("Rebuilding .venv: its Python no longer works (a minute or so) ...")
    else:
        say("Setting up .venv (first run, about a minute) ...")
    inside = Path(sys.prefix).resolve() == venv.resolve()
    python = str(getattr(sys, "_base_executable", sys.executable)) if inside else sys.executable
    code, output = quietly([python, "-m", "venv", "--clear", str(venv)], "making .venv")
    if code:
        raise Stop(f"Making .venv failed:\n{output.strip()}\n{venv_advice(sys.platform)}")


def install(root: Path, venv: Path, files: list[str]) -> None:
    """Install requirement files and note it. Raises :class:`Stop` when pip fails."""
    say(f"Installing {', '.join(files)} ...")
    began = time.monotonic()
    arguments = [part for name in files for part in ("-r", name)]
    code, output = quietly(
        [str(venv_python(venv)), "-m", "pip", "install", "--quiet", *arguments], "still installing"
    )
    if code:
        raise Stop(explain_pip(output))
    stamps = installed(venv)
    for name in files:
        stamps.update({part: fingerprint(root, part) for part in included(root, name)})
    draft = venv / f"{STAMP}.{os.getpid()}"
    draft.write_text(json.dumps(stamps, indent=1), encoding="utf-8")
    draft.replace(venv / STAMP)
    say(f"Installed in {time.monotonic() - began:.0f} s.")


def explain_pip(output: str) -> str:
    """Why an installation failed, in words."""
    tail = "\n".join(output.strip().splitlines()[-12:])
    if any(sign in output for sign in NO_NETWORK_SIGNS):
        return (
            f"{tail}\nThe packages could not be downloaded: there is no network, or the package index does"
            " not answer. Connect (or set PIP_INDEX_URL or HTTPS_PROXY) and run the same command again."
        )
    if "No space left" in output:
        return f"{tail}\nThe packages could not be installed: the disk is full."
    return f"{tail}\nThe packages could not be installed; pip's own words are above."


def prepare(command: str) -> Path:
    """Make sure that ``.venv`` holds what the command needs; returns its Python."""
    venv = ROOT / ".venv"
    if not healthy(venv):
        make_venv(venv)
    files = requirement_files(command, database_url(ROOT / ".env", dict(os.environ)))
    stale = outdated(ROOT, venv, files)
    if stale:
        install(ROOT, venv, stale)
    return venv_python(venv)


# --- Running children ---


def quietly(arguments: list[str], waiting: str) -> tuple[int, str]:
    """Run a child without its output, with a sign of life now and then; returns code and output."""
    with tempfile.TemporaryFile() as sink:
        began = time.monotonic()
        child = subprocess.Popen(
            arguments, cwd=ROOT, env=environment(), stdout=sink, stderr=subprocess.STDOUT
        )
        while True:
            try:
                code = child.wait(timeout=HEARTBEAT_S)
                break
            except subprocess.TimeoutExpired:
                say(f"  ... {waiting} ({time.monotonic() - began:.0f} s)")
            except KeyboardInterrupt:
                child.terminate()
                child.wait()
                raise
        sink.seek(0)
        return code, sink.read().decode("utf-8", errors="replace")


def run(arguments: list[str]) -> int:
    """Run a child in the foreground; returns its exit code, 130 after Ctrl-C."""
    child = subprocess.Popen(arguments, cwd=ROOT, env=environment())
    try:
        code = child.wait()
    except KeyboardInterrupt:  # the child had it too: let it end in its own way
        try:
            child.wait(timeout=10)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            child.kill()
            child.wait()
        return 130
    return code if code >= 0 else 128 - code


def become(arguments: list[str]) -> int:
    """Run the last child: where the system can, in our place, so that signals reach it directly."""
    if os.name != "nt":
        sys.stdout.flush()
        os.chdir(ROOT)
        os.execve(arguments[0], arguments, environment())
    return run(arguments)


def run_steps(steps: list[tuple[str, list[str]]]) -> int:
    """Run tools until one fails. The summary comes at the end, or before pytest, whose own comes last."""
    lines: list[str] = []
    for position, (name, arguments) in enumerate(steps):
        if name == "pytest":
            say("\n".join([*lines, "pytest"]))
            return run(arguments)
        began = time.monotonic()
        code = run(arguments)
        lines.append(f"{name}: {'FAILED' if code else 'ok'} ({time.monotonic() - began:.1f} s)")
        if code:
            lines += [f"{later}: not run" for later, _ in steps[position + 1 :]]
            say("\n".join(["", *lines]))
            return code
    say("\n".join(lines))
    return 0


def check_steps(python: str) -> list[tuple[str, list[str]]]:
    return [
        ("ruff check", [python, "-m", "ruff", "check", "--quiet", "."]),
        ("ruff format", [python, "-m", "ruff", "format", "--check", "--quiet", "."]),
        ("mypy", [python, "-m", "mypy"]),
    ]


def test_steps(python: str, arguments: list[str]) -> list[tuple[str, list[str]]]:
    """All checks, then pytest with the same examples at every run unless another profile is asked for."""
    profile = [] if any("hypothesis-profile" in each for each in arguments) else ["--hypothesis-profile=ci"]
    return [*check_steps(python), ("pytest", [python, "-m", "pytest", *profile, *arguments])]


def fmt_steps(python: str) -> list[list[str]]:
    return [
        [python, "-m", "ruff", "check", "--fix", "--quiet", "."],
        [python, "-m", "ruff", "format", "."],
        [python, "-m", "memory.settings_docs"],
        [python, "-m", "memory.config.docs"],
    ]


def dispatch(command: str, arguments: list[str]) -> int:
    python = str(prepare(command))
    if command == "play":
        return become([python, "bot.py", "--play", *arguments])
    if command == "start":
        return become([python, "bot.py", *arguments])
    if command == "bench":
        return become([python, "-m", "bench", *arguments])
    if command == "fmt":
        return max([run(step) for step in fmt_steps(python)])
    return run_steps(check_steps(python) if command == "check" else test_steps(python, arguments))


def usage() -> str:
    width = max(len(name) for name in COMMANDS)
    lines = [f"  {name:<{width}}  {meaning}" for name, meaning in COMMANDS.items()]
    return "\n".join(["usage: python run.py COMMAND [arguments]", "", *lines])


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] in {"-h", "--help", "help"}:
        say(usage())
        return 0 if arguments else 2
    if arguments[0] not in COMMANDS:
        say(f"There is no command {arguments[0]!r}.\n\n{usage()}")
        return 2
    try:
        return dispatch(arguments[0], arguments[1:])
    except Stop as stop:
        say(str(stop))
        return 1
    except KeyboardInterrupt:
        say("Stopped.")
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
