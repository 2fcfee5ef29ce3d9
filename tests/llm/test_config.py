"""What a self-hoster sets, and what is built from it."""

from __future__ import annotations

import pytest

from memory.errors import SettingsError
from memory.llm import LlmConfig, build
from memory.llm.client import OpenAIModel
from memory.llm.offline import OfflineModel

from .kit import FakeClock


async def test_without_key_and_address_the_offline_responder_answers() -> None:
    built = await build(LlmConfig(model="gpt-4o"), FakeClock())
    assert isinstance(built, OfflineModel)
    assert not built.info.configured and built.tools_work


async def test_a_key_alone_means_openai() -> None:
    built = await build(LlmConfig(api_key="sk-secret"), FakeClock())
    assert isinstance(built, OpenAIModel)
    assert built.info.configured and built.info.exact
    await built.close()


async def test_an_address_that_is_none_is_named_by_its_variable() -> None:
    with pytest.raises(SettingsError, match="LLM_BASE_URL"):
        await build(LlmConfig(base_url="http://[::1", model="x", context_window=4_096), FakeClock())


def test_no_secret_is_in_the_configurations_repr() -> None:
    shown = repr(LlmConfig(base_url="https://user:hunter2@example.test", api_key="sk-secret", model="gpt-4o"))
    assert "sk-secret" not in shown and "hunter2" not in shown and "gpt-4o" in shown
