"""The client against llmock, a real local server that speaks OpenAI's API and fails on cue."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest
import pytest_asyncio
from llmock.pytest_plugin import LLMock

from memory.errors import (
    ContextOverflow,
    ModelAuthError,
    ModelMalformed,
    ModelRateLimited,
    ModelRequestError,
    ModelTimeout,
    ModelUnavailable,
)
from memory.llm.client import OpenAIModel
from memory.llm.port import ChatMessage, Request, Role, TextPiece, ToolCall

from .kit import FakeClock, Waits, ask, collect, model


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest_asyncio.fixture
async def hasty(llmock: LLMock, waits: Waits, clock: FakeClock) -> AsyncIterator[OpenAIModel]:
    """Waits hardly at all for the next piece."""
    made = model(llmock.base_url("openai"), waits, clock, piece_s=0.4)
    yield made
    await made.close()


@pytest_asyncio.fixture
async def gpt(llmock: LLMock, waits: Waits, clock: FakeClock) -> AsyncIterator[OpenAIModel]:
    made = model(llmock.base_url("openai"), waits, clock)
    yield made
    await made.close()


async def test_an_answer_arrives_in_pieces_and_then_whole(llmock: LLMock, gpt: OpenAIModel) -> None:
    llmock.reply("The raid is on Friday.")
    pieces, whole = await collect(gpt.stream(ask()))
    assert len(pieces) > 2
    assert whole.text == "The raid is on Friday."
    assert whole.usage.prompt > 0 and whole.usage.completion > 0
    assert not whole.truncated and whole.tool_calls == ()


async def test_a_tool_call_is_put_together_from_its_fragments(llmock: LLMock, gpt: OpenAIModel) -> None:
    arguments = {"content": "Allergic to peanuts and to shellfish", "about": "user"}
    llmock.call_tool("save_memory", arguments)
    _, whole = await collect(gpt.stream(ask(tools=True)))
    assert [call.name for call in whole.tool_calls] == ["save_memory"]
    assert json.loads(whole.tool_calls[0].arguments) == arguments
    assert whole.tool_calls[0].id


async def test_malformed_arguments_are_passed_on_raw(llmock: LLMock, gpt: OpenAIModel) -> None:
    llmock.call_tool("save_memory", {"content": "x", "about": "user"}).break_tool_call("malformed_arguments")
    _, whole = await collect(gpt.stream(ask(tools=True)))
    with pytest.raises(ValueError):
        json.loads(whole.tool_calls[0].arguments)


async def test_an_unknown_tool_is_passed_on_for_the_engine_to_refuse(
    llmock: LLMock, gpt: OpenAIModel
) -> None:
    llmock.call_tool("save_memory", {"content": "x", "about": "user"}).break_tool_call("unknown_tool")
    _, whole = await collect(gpt.stream(ask(tools=True)))
    assert whole.tool_calls[0].name != "save_memory"


async def test_a_tools_result_goes_back_to_the_model(llmock: LLMock, gpt: OpenAIModel) -> None:
    begun = ask(tools=True)
    call = ToolCall("call_1", "save_memory", "{broken")
    messages = (
        *begun.messages,
        ChatMessage(Role.ASSISTANT, "", tool_calls=(call,)),
        ChatMessage(Role.TOOL, "saved m12", tool_call_id="call_1"),
    )
    llmock.reply("Noted!")
    _, whole = await collect(gpt.stream(Request(messages, begun.tools)))
    assert whole.text == "Noted!"
    sent = llmock.last_request.body["messages"]
    assert sent[-1] == {"role": "tool", "content": "saved m12", "tool_call_id": "call_1"}
    # A server may refuse the whole request for its own model's broken JSON.
    assert sent[-2]["tool_calls"][0]["function"]["arguments"] == "{}"


async def test_429_is_waited_out_as_long_as_the_server_asks(
    llmock: LLMock, gpt: OpenAIModel, waits: Waits
) -> None:
    llmock.rate_limit(times=2, retry_after=7.0)
    llmock.reply("there", times=None)
    _, whole = await collect(gpt.stream(ask()))
    assert whole.text == "there"
    assert waits.slept == [7.0, 7.0]


async def test_a_wait_past_the_deadline_is_not_begun(llmock: LLMock, gpt: OpenAIModel, waits: Waits) -> None:
    llmock.rate_limit(times=None, retry_after=300.0)
    with pytest.raises(ModelRateLimited) as caught:
        await collect(gpt.stream(ask(deadline_s=60.0)))
    assert caught.value.retry_after == 300.0
    assert waits.slept == []


async def test_5xx_is_tried_again_with_growing_waits(llmock: LLMock, gpt: OpenAIModel, waits: Waits) -> None:
    llmock.fail(500, times=2)
    _, whole = await collect(gpt.stream(ask()))
    assert whole.text
    assert len(waits.slept) == 2 and waits.slept[0] < waits.slept[1]


async def test_an_outage_is_given_up_after_four_tries(llmock: LLMock, gpt: OpenAIModel) -> None:
    llmock.outage(status=503)
    with pytest.raises(ModelUnavailable):
        await collect(gpt.stream(ask()))
    assert len(llmock.requests) == 4


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ModelRequestError),
        (401, ModelAuthError),
        (403, ModelAuthError),
        (404, ModelRequestError),
        (422, ModelRequestError),
        (409, ModelUnavailable),
    ],
)
async def test_other_refusals_are_never_tried_again(
    llmock: LLMock, gpt: OpenAIModel, waits: Waits, status: int, kind: type[Exception]
) -> None:
    llmock.fail(status, times=None)
    with pytest.raises(kind):
        await collect(gpt.stream(ask()))
    assert len(llmock.requests) == 1 and waits.slept == []


async def test_an_over_long_prompt_is_named_so(llmock: LLMock, gpt: OpenAIModel) -> None:
    llmock.context_overflow()
    with pytest.raises(ContextOverflow, match="LLM_CONTEXT_WINDOW"):
        await collect(gpt.stream(ask()))


async def test_a_server_with_a_real_limit_says_over_long(llmock: LLMock, gpt: OpenAIModel) -> None:
    llmock.limits(context_window=50)
    with pytest.raises(ContextOverflow):
        await collect(gpt.stream(ask("word " * 400)))


async def test_a_stalled_stream_ends_in_a_timeout(llmock: LLMock, hasty: OpenAIModel) -> None:
    llmock.reply("one two three four").stall(after_chunks=3, seconds=1.0)
    seen: list[str] = []
    with pytest.raises(ModelTimeout):
        async for event in hasty.stream(ask()):
            assert isinstance(event, TextPiece)
            seen.append(event.text)
    assert seen
    assert len(llmock.requests) == 1


async def test_no_first_word_in_time_is_a_timeout(llmock: LLMock, hasty: OpenAIModel) -> None:
    llmock.slow_first_token(1.0)
    with pytest.raises(ModelTimeout):
        await collect(hasty.stream(ask()))


async def test_the_deadline_bounds_the_whole_call(llmock: LLMock, gpt: OpenAIModel) -> None:
    llmock.delay(1.0)
    with pytest.raises(ModelTimeout):
        await collect(gpt.stream(ask(deadline_s=0.2)))


async def test_a_dropped_stream_is_never_retried_once_words_are_out(llmock: LLMock, gpt: OpenAIModel) -> None:
    llmock.reply("one two three four").disconnect(after_chunks=4)
    with pytest.raises(ModelMalformed, match="cut off"):
        await collect(gpt.stream(ask()))
    assert len(llmock.requests) == 1


async def test_a_stream_dropped_before_any_word_is_tried_again(llmock: LLMock, gpt: OpenAIModel) -> None:
    llmock.disconnect(after_chunks=1)
    _, whole = await collect(gpt.stream(ask()))
    assert whole.text
    assert len(llmock.requests) == 2


async def test_a_stream_that_ends_early_is_not_taken_for_an_answer(llmock: LLMock, gpt: OpenAIModel) -> None:
    llmock.reply("one two three four").truncate(after_chunks=3)
    with pytest.raises(ModelMalformed, match="cut off"):
        await collect(gpt.stream(ask()))


async def test_a_corrupt_chunk_is_an_unreadable_answer(llmock: LLMock, gpt: OpenAIModel) -> None:
    llmock.reply("one two three four").corrupt(after_chunks=2)
    with pytest.raises(ModelMalformed, match="could not be read"):
        await collect(gpt.stream(ask()))


async def test_a_reader_may_leave_in_the_middle(llmock: LLMock, gpt: OpenAIModel) -> None:
    llmock.reply("one two three four").pace(20)
    async with aclosing(gpt.stream(ask())) as stream:
        async for _ in stream:
            break
    llmock.reply("still here")
    _, whole = await collect(gpt.stream(ask()))
    assert whole.text == "still here"


async def test_the_server_sees_a_well_mannered_client(llmock: LLMock, gpt: OpenAIModel) -> None:
    llmock.fail(500)
    await collect(gpt.stream(ask()))
    llmock.assert_resilient()


async def test_the_key_is_in_no_error(llmock: LLMock, gpt: OpenAIModel) -> None:
    llmock.fail(401, message="Incorrect API key provided: sk-secret-key")
    with pytest.raises(ModelAuthError) as caught:
        await collect(gpt.stream(ask("my prompt")))
    told = f"{caught.value!r} {caught.value} {caught.value.__cause__!r}"
    assert "sk-secret" not in told and "my prompt" not in told
    assert caught.value.__context__ is None
