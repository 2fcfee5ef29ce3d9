"""``python -m bench NAME``: runs one measurement and prints its figures as one JSON line."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys

NAMES = ("turn", "assembly", "prefix", "soak", "saves")


def main(arguments: list[str]) -> int:
    """Run the named bench. Returns the exit code."""
    if len(arguments) != 1 or arguments[0] not in NAMES:
        print(f"usage: python -m bench {'|'.join(NAMES)}", file=sys.stderr)
        return 2
    module = importlib.import_module(f"bench.{arguments[0]}")
    measure = module.run
    takes_url = arguments[0] == "turn"
    result = measure(os.environ.get("DATABASE_URL", "")) if takes_url else measure()
    if asyncio.iscoroutine(result):
        result = asyncio.run(result)
    print(json.dumps({"bench": arguments[0], **result}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
