from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cogs._delivery import Budget
from cogs._surface import DiscordSurface

from .world import HandClock, ScriptedModel, World, make_world


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
async def world(tmp_path: Path, model: ScriptedModel) -> AsyncIterator[World]:
    """A server with the running bot; what the bot swallowed fails the test at its end."""
    async with make_world(tmp_path, model) as made:
        yield made


@pytest.fixture
def hand() -> HandClock:
    return HandClock()


@pytest.fixture
def surface(world: World, hand: HandClock) -> DiscordSurface:
    made = DiscordSurface(world.bot)
    made._clock = hand
    made._budget = Budget(hand)
    return made
