from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from .world import ScriptedModel, World, make_world


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
async def world(tmp_path: Path, model: ScriptedModel) -> AsyncIterator[World]:
    """A server with the running bot; what the bot swallowed fails the test at its end."""
    async with make_world(tmp_path, model) as made:
        yield made
