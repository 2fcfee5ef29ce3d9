"""The settings' documentation, made from their own metadata, so that it can't drift from the code.

``python run.py fmt`` (or ``python -m memory.settings_docs``) rewrites ``.env.example`` and the tables of
``docs/settings.md``; a test fails while they differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from memory.settings import PROJECT, About, Settings, about_of


@dataclass(frozen=True, slots=True)
class Variable:
    """One line of the documentation. ``default`` is empty when there is none."""

    name: str
    default: str
    about: About


def variables() -> list[Variable]:
    """Every variable, in the order of the documentation."""
    found = []
    for field, info in Settings.model_fields.items():
        value = info.default
        default = "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
        found.append(Variable(field.upper(), default, about_of(info.metadata)))
    return found


def _sections() -> dict[str, list[Variable]]:
    grouped: dict[str, list[Variable]] = {}
    for variable in variables():
        grouped.setdefault(variable.about.section, []).append(variable)
    return grouped


def env_example() -> str:
    """The text of ``.env.example``: one line of help and one line to fill in for each variable."""
    lines = [
        "# Copy this file to .env and fill in what you need. An empty value counts as not set; a variable",
        "# of the real environment wins over this file. Lines with a # in front show the defaults.",
    ]
    for section, members in _sections().items():
        lines += ["", f"# --- {section} ---"]
        for variable in members:
            default = variable.default and (variable.about.shown or variable.default)
            lines += ["", f"# {variable.about.help}", f"{'#' if default else ''}{variable.name}={default}"]
    return "\n".join(lines) + "\n"


def settings_table() -> str:
    """The tables of ``docs/settings.md``, one a section."""
    lines: list[str] = []
    for section, members in _sections().items():
        lines += ["", f"### {section}", "", "| variable | default | meaning |", "|---|---|---|"]
        for variable in members:
            shown = variable.about.shown or variable.default
            default = f"`{shown}`" if variable.default else shown or "none"
            lines.append(f"| `{variable.name}` | {default} | {variable.about.help} |")
    return "\n".join(lines[1:]) + "\n"


TABLE_BEGIN, TABLE_END = "<!-- settings: begin -->\n", "<!-- settings: end -->\n"


def settings_page(page: str) -> str:
    """``docs/settings.md`` with its tables renewed; the words around them stay."""
    before, _, rest = page.partition(TABLE_BEGIN)
    _, _, after = rest.partition(TABLE_END)
    return f"{before}{TABLE_BEGIN}\n{settings_table()}\n{TABLE_END}{after}"


def write_documents(project: Path = PROJECT) -> None:
    """Rewrite ``.env.example`` and the tables of ``docs/settings.md``."""
    page = project / "docs" / "settings.md"
    (project / ".env.example").write_text(env_example(), encoding="utf-8", newline="\n")
    page.write_text(settings_page(page.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_documents()
