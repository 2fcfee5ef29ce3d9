"""The documentation of servers' and channels' settings, made from their own metadata.

``python run.py fmt`` (or ``python -m memory.config.docs``) rewrites their table in ``docs/settings.md``; a
test fails while it differs.
"""

from __future__ import annotations

from pathlib import Path

from memory.config.rules import docs_table
from memory.settings import PROJECT

TABLE_BEGIN, TABLE_END = "<!-- server settings: begin -->\n", "<!-- server settings: end -->\n"


def settings_page(page: str) -> str:
    """``docs/settings.md`` with this table renewed; everything around it stays."""
    before, _, rest = page.partition(TABLE_BEGIN)
    _, _, after = rest.partition(TABLE_END)
    return f"{before}{TABLE_BEGIN}\n{docs_table()}\n{TABLE_END}{after}"


def write_documents(project: Path = PROJECT) -> None:
    """Rewrite the table in ``docs/settings.md``."""
    page = project / "docs" / "settings.md"
    page.write_text(settings_page(page.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_documents()
