"""The client against a small server that behaves as odd endpoints do."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer

from memory.errors import (
    ModelEmpty,
    ModelMalformed,
    ModelRateLimited,
    ModelRefused,
    ModelRequestError,
    ModelUnavailable,
    ToolsUnsupported,
)
from memory.llm import LlmConfig, build
from memory.llm.client import OpenAIModel
from memory.llm.port import ChatMessage, Request, Role

from .kit import FakeClock, Waits, ask, collect, model

Body = dict[str, object]


def delta(finish: str | None = None, **fields: object) -> Body:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def part(
    index: int | None = None, call_id: str | None = None, name: str | None = None, arguments: object = None
) -> Body:
    """A piece of a tool call, without what is None."""
    function = {k: v for k, v in {"name": name, "arguments": arguments}.items() if v is not None}
    return {k: v for k, v in {"index": index, "id": call_id}.items() if v is not None} | {
        "function": function
    }


OK = [delta(content="fine"), delta("stop")]


class Endpoint:
    """Answers with what ``script`` makes of each request: chunks to stream, or (status, body)."""

    def __init__(self) -> None:
        self.requests: list[Body] = []
        self.script: Callable[[Body], list[Body | str] | tuple[int, Body]] = lambda body: list(OK)
        self.models: object = {"data": []}
        self.url = ""

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        told = self.script(body)
        if isinstance(told, tuple):
            return web.json_response(told[1], status=told[0])
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for chunk in told:
            line = chunk if isinstance(chunk, str) else f"data: {json.dumps(chunk)}"
            await response.write(f"{line}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        return response

    async def list(self, request: web.Request) -> web.Response:
        if isinstance(self.models, int):
            return web.Response(status=self.models)
        return web.json_response(self.models)


@pytest_asyncio.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    made = Endpoint()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", made.chat)
    app.router.add_get("/v1/models", made.list)
    async with TestServer(app) as server:
        made.url = str(server.make_url("/v1"))
        yield made


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest_asyncio.fixture
async def gpt(endpoint: Endpoint, clock: FakeClock) -> AsyncIterator[OpenAIModel]:
    made = model(endpoint.url, Waits(), clock)
    yield made
    await made.close()


def refusing(
    word: str, message: str, status: int = 400
) -> Callable[[Body], list[Body | str] | tuple[int, Body]]:
    """Refuses requests whose JSON has the key ``word``."""
    return lambda body: (status, {"error": {"message": message}}) if word in body else list(OK)


async def test_an_endpoint_without_tools_answers_at_once_without_them(
    endpoint: Endpoint, gpt: OpenAIModel, clock: FakeClock
) -> None:
    endpoint.script = refusing("tools", "this model does not support tools")
    work = [gpt.tools_work]
    _, whole = await collect(gpt.stream(ask(tools=True)))
    assert whole.text == "fine"
    work.append(gpt.tools_work)
    assert ["tools" in sent for sent in endpoint.requests] == [True, False]
    await collect(gpt.stream(ask(tools=True)))
    assert len(endpoint.requests) == 3
    clock.pass_by(hours=23, minutes=59)
    work.append(gpt.tools_work)
    clock.pass_by(minutes=1)
    assert [*work, gpt.tools_work] == [True, False, False, True]


async def test_other_errors_leave_tools_on(endpoint: Endpoint, gpt: OpenAIModel) -> None:
    endpoint.script = lambda body: (400, {"error": {"message": "bad temperature"}})
    with pytest.raises(ModelRequestError):
        await collect(gpt.stream(ask(tools=True)))
    assert gpt.tools_work


async def test_with_tools_forced_on_the_error_is_told(endpoint: Endpoint, clock: FakeClock) -> None:
    gpt = model(endpoint.url, Waits(), clock, tools="on")
    endpoint.script = refusing("tools", "this model does not support tools")
    with pytest.raises(ToolsUnsupported, match="LLM_TOOLS"):
        await collect(gpt.stream(ask(tools=True)))
    assert gpt.tools_work
    await gpt.close()


async def test_with_tools_off_none_are_sent(endpoint: Endpoint, clock: FakeClock) -> None:
    gpt = model(endpoint.url, Waits(), clock, tools="off")
    assert not gpt.tools_work
    await collect(gpt.stream(ask(tools=True)))
    assert "tools" not in endpoint.requests[0]
    await gpt.close()


async def test_an_endpoint_that_refuses_stream_options_is_asked_once(
    endpoint: Endpoint, gpt: OpenAIModel
) -> None:
    endpoint.script = refusing("stream_options", "Extra inputs are not permitted: stream_options", 422)
    _, whole = await collect(gpt.stream(ask("how are you")))
    assert whole.usage.prompt > 4 and whole.usage.completion == 1, "estimated with our own tokenizer"
    await collect(gpt.stream(ask()))
    assert ["stream_options" in sent for sent in endpoint.requests] == [True, False, False]


async def test_the_limits_other_name_is_learnt(endpoint: Endpoint, gpt: OpenAIModel) -> None:
    message = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    endpoint.script = refusing("max_tokens", message)
    await collect(gpt.stream(ask(max_tokens=77)))
    assert endpoint.requests[-1]["max_completion_tokens"] == 77


async def test_a_reasoning_model_is_spoken_to_in_its_way_from_the_start(
    endpoint: Endpoint, clock: FakeClock
) -> None:
    gpt = model(endpoint.url, Waits(), clock, name="o3-mini")
    await collect(gpt.stream(ask()))
    assert "max_completion_tokens" in endpoint.requests[0] and "temperature" not in endpoint.requests[0]
    await gpt.close()


async def test_an_endpoint_that_keeps_refusing_is_not_asked_forever(
    endpoint: Endpoint, gpt: OpenAIModel
) -> None:
    endpoint.script = lambda body: (400, {"error": {"message": "max_completion_tokens, whatever you say"}})
    with pytest.raises(ModelRequestError):
        await collect(gpt.stream(ask()))
    assert len(endpoint.requests) <= 6


async def test_a_template_that_wants_alternating_roles_gets_them(
    endpoint: Endpoint, gpt: OpenAIModel
) -> None:
    def script(body: Body) -> list[Body | str] | tuple[int, Body]:
        roles = [m["role"] for m in body["messages"]]  # type: ignore[attr-defined]
        if roles != ["system", "user", "assistant", "user"]:
            return 400, {
                "error": {"message": "Conversation roles must alternate user/assistant/user/assistant"}
            }
        return list(OK)

    endpoint.script = script
    messages = tuple(
        ChatMessage(role, text)
        for role, text in (
            (Role.SYSTEM, "a"),
            (Role.SYSTEM, "b"),
            (Role.USER, "c"),
            (Role.USER, "d"),
            (Role.ASSISTANT, "e"),
            (Role.SYSTEM, "f"),
            (Role.USER, "g"),
        )
    )
    _, whole = await collect(gpt.stream(Request(messages)))
    assert whole.text == "fine"
    assert [m["content"] for m in endpoint.requests[-1]["messages"]] == ["a\nb", "c\nd", "e", "f\ng"]  # type: ignore[attr-defined]


async def test_images_go_only_to_a_model_that_takes_them(endpoint: Endpoint, clock: FakeClock) -> None:
    request = Request((ChatMessage(Role.USER, "look", images=("https://cdn.test/a.png",)),))
    for name, sees in (("gpt-4o", True), ("o3-mini", False), ("some-local-model", False)):
        gpt = model(endpoint.url, Waits(), clock, name=name)
        await collect(gpt.stream(request))
        assert ("image_url" in json.dumps(endpoint.requests[-1])) is sees
        await gpt.close()


async def test_block_ids_are_never_sent(endpoint: Endpoint, gpt: OpenAIModel) -> None:
    await collect(gpt.stream(Request((ChatMessage(Role.USER, "hi", "message:123456"),))))
    assert "123456" not in json.dumps(endpoint.requests)


async def test_a_lone_surrogate_can_be_sent(endpoint: Endpoint, gpt: OpenAIModel) -> None:
    _, whole = await collect(gpt.stream(ask("a\ud800b")))
    assert whole.text == "fine"


async def test_length_is_told_as_cut_short(endpoint: Endpoint, gpt: OpenAIModel) -> None:
    endpoint.script = lambda body: [delta(content="half an ans"), delta("length")]
    _, whole = await collect(gpt.stream(ask()))
    assert whole.truncated


@pytest.mark.parametrize(
    ("chunks", "kind"),
    [
        ([delta("stop")], ModelEmpty),
        ([delta(content="  \n"), delta("stop")], ModelEmpty),
        ([delta(reasoning_content="hm"), delta("length")], ModelEmpty),
        ([delta(content="<think>hm, let me see"), delta("stop")], ModelEmpty),
        ([delta(content="Half"), delta("content_filter")], ModelRefused),
        ([delta(refusal="I can't"), delta("stop")], ModelRefused),
        ([delta(content="no end")], ModelMalformed),
        ([], ModelMalformed),
        (
            [delta(tool_calls=[part(index=0, call_id="a", arguments="{}")]), delta("tool_calls")],
            ModelMalformed,
        ),
        ([{"choices": None}, {"choices": [None]}, {"x": 1}], ModelMalformed),
        (['data: {"choices": ['], ModelMalformed),
        (["data: 17"], ModelMalformed),
        ([{"error": {"message": "boom", "code": 400}}], ModelRequestError),
    ],
)
async def test_an_unusable_answer_is_named(
    endpoint: Endpoint, gpt: OpenAIModel, chunks: list[Body | str], kind: type[Exception]
) -> None:
    endpoint.script = lambda body: list(chunks)
    with pytest.raises(kind):
        await collect(gpt.stream(ask()))


async def test_an_error_told_inside_a_stream_is_tried_again_before_the_first_word(
    endpoint: Endpoint, gpt: OpenAIModel
) -> None:
    endpoint.script = lambda body: (
        [{"error": {"message": "busy", "code": 429}}] if len(endpoint.requests) == 1 else list(OK)
    )
    _, whole = await collect(gpt.stream(ask()))
    assert whole.text == "fine"


async def test_an_error_told_after_the_first_word_is_final(endpoint: Endpoint, gpt: OpenAIModel) -> None:
    endpoint.script = lambda body: [delta(content="Well"), {"error": {"message": "busy", "code": 429}}]
    with pytest.raises(ModelRateLimited):
        await collect(gpt.stream(ask()))
    assert len(endpoint.requests) == 1


async def test_reasoning_is_not_part_of_the_answer(endpoint: Endpoint, gpt: OpenAIModel) -> None:
    endpoint.script = lambda body: [
        delta(role="assistant", content=""),
        delta(reasoning_content="I should greet", reasoning="x", content=None),
        delta(content="<thi"),
        delta(content="nk>They said hi</thi"),
        delta(content="nk>\n"),
        delta(content="\nHello"),
        delta(content=" there"),
        delta("stop"),
    ]
    pieces, whole = await collect(gpt.stream(ask()))
    assert whole.text == "Hello there"
    assert pieces == ["Hello", " there"]


async def test_a_bracket_at_the_start_is_no_reasoning(endpoint: Endpoint, gpt: OpenAIModel) -> None:
    endpoint.script = lambda body: [delta(content="<"), delta(content="3 you"), delta("stop")]
    _, whole = await collect(gpt.stream(ask()))
    assert whole.text == "<3 you"
    endpoint.script = lambda body: [delta(content="<"), delta("stop")]
    _, whole = await collect(gpt.stream(ask()))
    assert whole.text == "<"


async def test_usage_and_cached_tokens_are_read(endpoint: Endpoint, gpt: OpenAIModel) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 64}}
    endpoint.script = lambda body: [*OK, {"choices": [], "usage": usage}]
    _, whole = await collect(gpt.stream(ask()))
    assert (whole.usage.prompt, whole.usage.completion, whole.usage.cached) == (100, 5, 64)


async def test_broken_usage_is_estimated(endpoint: Endpoint, gpt: OpenAIModel) -> None:
    endpoint.script = lambda body: [*OK, {"choices": [], "usage": {"prompt_tokens": "many"}}]
    _, whole = await collect(gpt.stream(ask()))
    assert whole.usage.prompt > 0 and whole.usage.completion == 1


async def test_a_whole_answer_is_kept_when_its_usage_breaks(endpoint: Endpoint, gpt: OpenAIModel) -> None:
    endpoint.script = lambda body: [*OK, "data: {broken"]
    _, whole = await collect(gpt.stream(ask()))
    assert whole.text == "fine"


async def test_two_calls_are_kept_apart_whatever_their_index(endpoint: Endpoint, gpt: OpenAIModel) -> None:
    def calls(*parts: Body) -> list[Body | str]:
        return [*(delta(tool_calls=[piece]) for piece in parts), delta("tool_calls")]

    def telling(told: list[Body | str]) -> Callable[[Body], list[Body | str]]:
        return lambda body: told

    for first, second in ((0, 1), (0, 0), (None, None)):
        endpoint.script = telling(
            calls(
                part(first, "a", "save_memory", '{"content":'),
                part(first, arguments='"one"}'),
                part(second, "b", "delete_memory", '{"handle":"m1"}'),
            )
        )
        _, whole = await collect(gpt.stream(ask(tools=True)))
        assert [(c.id, c.name, c.arguments) for c in whole.tool_calls] == [
            ("a", "save_memory", '{"content":"one"}'),
            ("b", "delete_memory", '{"handle":"m1"}'),
        ]


async def test_a_call_without_an_id_gets_one_and_an_object_becomes_json(
    endpoint: Endpoint, gpt: OpenAIModel
) -> None:
    call = part(0, name="save_memory", arguments={"content": "x"})
    endpoint.script = lambda body: [delta(tool_calls=[call]), delta("stop")]
    _, whole = await collect(gpt.stream(ask(tools=True)))
    assert whole.tool_calls[0].id and json.loads(whole.tool_calls[0].arguments) == {"content": "x"}


async def test_nobody_listening_is_said_plainly(clock: FakeClock) -> None:
    waits = Waits()
    gpt = model("http://127.0.0.1:9/v1", waits, clock)
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await collect(gpt.stream(ask()))
    assert len(waits.slept) == 3
    await gpt.close()


async def test_the_endpoints_list_gives_window_and_name(endpoint: Endpoint, clock: FakeClock) -> None:
    endpoint.models = {"data": [{"id": "qwen3:8b", "max_model_len": 40_960}]}
    built = await build(LlmConfig(base_url=endpoint.url), clock)
    assert (built.info.name, built.info.context_window, built.info.configured) == ("qwen3:8b", 40_960, True)
    _, whole = await collect(built.stream(ask()))
    assert whole.text == "fine"
    await built.close()


async def test_a_list_that_fails_never_fails_the_start(endpoint: Endpoint, clock: FakeClock) -> None:
    endpoint.models = 500
    built = await build(LlmConfig(base_url=endpoint.url, model="mine"), clock)
    assert built.info.context_window == 8_192 and built.info.notes
    await built.close()


@pytest.mark.parametrize("name", ["mine", "gpt-4o"])
async def test_an_endpoint_that_is_not_there_is_a_plain_warning_and_the_bot_starts(
    clock: FakeClock, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    built = await build(LlmConfig(base_url="http://me:sesame@127.0.0.1:9/v1", model=name), clock)
    await built.close()
    (warned,) = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert "does not answer" in warned and "LLM_BASE_URL" in warned and "starts all the same" in warned
    assert "sesame" not in caplog.text and "127.0.0.1" not in warned


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_a_plain_warning_at_the_start(
    endpoint: Endpoint, clock: FakeClock, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    endpoint.models = status
    built = await build(LlmConfig(base_url=endpoint.url, api_key="sk-x", model="gpt-4o"), clock)
    await built.close()
    (warned,) = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert "refused the key" in warned and "LLM_API_KEY" in warned


@pytest.mark.parametrize("status", [404, 500])
async def test_an_endpoint_without_a_list_of_models_is_no_reason_for_a_warning(
    endpoint: Endpoint, clock: FakeClock, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    endpoint.models = status
    built = await build(LlmConfig(base_url=endpoint.url, model="gpt-4o"), clock)
    await built.close()
    assert [r for r in caplog.records if r.levelno >= logging.WARNING] == []
