"""Every foreign error becomes one of ours; none is missing, none tells a secret."""

from __future__ import annotations

import inspect
import json
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx2
import openai
import pytest
from openai.types.chat import ChatCompletion

from memory import errors
from memory.errors import ModelError
from memory.llm import failures
from memory.llm.failures import may_retry, read, retry_after, translate

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SECRET = "sk-very-secret"
REQUEST = httpx2.Request("POST", f"https://user:{SECRET}@example.test/v1/chat/completions")


def _subclasses(kind: type[BaseException]) -> Iterator[type[BaseException]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _subclasses(child)


def _openai_exceptions() -> list[type[BaseException]]:
    named = {
        thing
        for _, thing in inspect.getmembers(openai, inspect.isclass)
        if issubclass(thing, Exception) and thing.__module__.startswith("openai")
    }
    found = named | {kind for kind in _subclasses(openai.OpenAIError) if kind.__module__.startswith("openai")}
    return sorted(found, key=lambda kind: kind.__name__)


def _httpx2_exceptions() -> list[type[BaseException]]:
    found = {
        thing
        for _, thing in inspect.getmembers(httpx2, inspect.isclass)
        if issubclass(thing, Exception) and not issubclass(thing, Warning)
    }
    return sorted(found, key=lambda kind: kind.__name__)


def _made(kind: type[BaseException]) -> BaseException:
    """An instance of any foreign exception, with a secret in whatever words it takes."""
    body = {"message": f"refused {SECRET}", "code": None}
    given: dict[str, object] = {
        "message": f"no {SECRET}",
        "request": REQUEST,
        "response": httpx2.Response(getattr(kind, "status_code", None) or 500, request=REQUEST),
        "body": body,
        "completion": ChatCompletion.model_construct(usage=None),
        "unsent_messages": [SECRET],
        "transport": None,
    }
    try:
        wanted = list(inspect.signature(kind.__init__).parameters.values())[1:]
        named = [p for p in wanted if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        if not named:
            return kind(SECRET) if wanted else kind()
        return kind(**{p.name: given.get(p.name, SECRET) for p in named})
    except (TypeError, ValueError, AttributeError):
        return kind.__new__(kind, SECRET)  # wants a whole result of an API that is not used here


@pytest.mark.parametrize("kind", _openai_exceptions())
def test_every_exception_of_the_openai_package_is_one_of_ours(kind: type[BaseException]) -> None:
    ours = translate(_made(kind), NOW)
    assert isinstance(ours, ModelError)
    assert SECRET not in f"{ours} {ours!r}"
    in_table = any(issubclass(kind, kinds) for kinds, _ in failures._TABLE)
    assert in_table or issubclass(kind, ValueError)


def test_the_list_of_the_openai_packages_exceptions_is_not_empty() -> None:
    assert len(_openai_exceptions()) >= 20


@pytest.mark.parametrize("kind", _httpx2_exceptions())
def test_every_exception_of_httpx2_is_one_of_ours(kind: type[BaseException]) -> None:
    ours = translate(_made(kind), NOW)
    assert isinstance(ours, ModelError)
    assert SECRET not in str(ours)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (json.JSONDecodeError("x", "y", 0), errors.ModelMalformed),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"), errors.ModelMalformed),
        (AttributeError("choices"), errors.ModelMalformed),
        (TypeError("x"), errors.ModelMalformed),
        (TimeoutError(), errors.ModelTimeout),
        (ConnectionResetError(), errors.ModelUnavailable),
        (ssl.SSLError(), errors.ModelUnavailable),
        (httpx2.ReadTimeout("x"), errors.ModelTimeout),
        (httpx2.ConnectError("x"), errors.ModelUnavailable),
        (httpx2.UnsupportedProtocol("x"), errors.ModelRequestError),
        (openai.APITimeoutError(REQUEST), errors.ModelTimeout),
        (openai.APIConnectionError(request=REQUEST), errors.ModelUnavailable),
        (openai.ContentFilterFinishReasonError(), errors.ModelRefused),
        (openai.OpenAIError("Missing credentials"), errors.ModelAuthError),
        (errors.ModelEmpty("x"), errors.ModelEmpty),
    ],
)
def test_an_error_becomes_the_right_one(error: BaseException, kind: type[ModelError]) -> None:
    assert type(translate(error, NOW)) is kind


def _status(status: int, body: object, headers: dict[str, str] | None = None) -> openai.APIStatusError:
    response = httpx2.Response(status, request=REQUEST, headers=headers or {})
    kinds = {
        400: openai.BadRequestError,
        401: openai.AuthenticationError,
        404: openai.NotFoundError,
        422: openai.UnprocessableEntityError,
        429: openai.RateLimitError,
    }
    kind = kinds.get(status, openai.InternalServerError if status >= 500 else openai.APIStatusError)
    return kind(f"Error code: {status}", response=response, body=body)


OVER_LONG = [
    (
        400,
        {
            "code": "context_length_exceeded",
            "message": "This model's maximum context length is 8192 tokens. However"
            " your messages resulted in 9000 tokens (8000 in the messages, 1000 in the functions).",
        },
    ),
    (
        400,
        {
            "message": "This model's maximum context length is 4096 tokens."
            " Please reduce the length of the messages."
        },
    ),
    (
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size. try increasing the context size",
                "type": "exceed_context_size_error",
            }
        },
    ),
    (400, {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}),
    (
        400,
        {
            "message": "The input token count (1200000)"
            " exceeds the maximum number of tokens allowed (1048576)."
        },
    ),
    (
        400,
        {
            "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for"
            " model with 32768 maximum context"
            " length"
        },
    ),
    (
        422,
        {
            "message": "Input validation error: `inputs` tokens + `max_new_tokens` must be"
            " <= 4096. Given: 5000",
            "type": "context_length",
        },
    ),
    (413, {"message": "Request too large"}),
    (500, {"message": "context window exceeded"}),
    (
        400,
        "Trying to keep the first 5000 tokens when context the overflows."
        " Model's context length is only 4096 tokens",
    ),
]


@pytest.mark.parametrize(("status", "body"), OVER_LONG)
def test_an_over_long_prompt_is_recognised_on_the_common_servers(status: int, body: object) -> None:
    error = _status(status, body)
    assert type(translate(error, NOW)) is errors.ContextOverflow
    assert not may_retry(error)


NO_TOOLS = [
    (400, {"message": "registry.ollama.ai/library/gemma:2b does not support tools"}),
    (400, {"message": "Unrecognized request argument supplied: tools", "param": "tools"}),
    (404, {"message": 'No endpoints found that support tool use. Try disabling "save_memory".'}),
    (400, {"message": "`tool calling` is not supported with this model"}),
    (422, {"detail": [{"loc": ["body", "tools"], "msg": "Extra inputs are not permitted"}]}),
    (
        400,
        {"message": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'},
    ),
    (400, {"message": "This model does not support function calling."}),
]


@pytest.mark.parametrize(("status", "body"), NO_TOOLS)
def test_an_error_that_names_tools_is_recognised(status: int, body: object) -> None:
    assert type(translate(_status(status, body), NOW)) is errors.ToolsUnsupported


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (
            400,
            {
                "message": "messages with role 'tool' must be a response to"
                " a preceeding message with 'tool_calls'"
            },
        ),
        (
            422,
            {
                "detail": [
                    {"loc": ["body", "messages"], "msg": "bad", "input": "my favourite tools are hammers"}
                ]
            },
        ),
        (500, {"message": "tools crashed"}),
        (400, {"message": "temperature must be 1"}),
    ],
)
def test_other_errors_are_not_about_tools(status: int, body: object) -> None:
    assert type(translate(_status(status, body), NOW)) is not errors.ToolsUnsupported


def test_a_providers_filter_is_a_refusal() -> None:
    body = {"code": "content_filter", "message": "The response was filtered due to the prompt"}
    assert type(translate(_status(400, body), NOW)) is errors.ModelRefused


def test_an_empty_account_is_said_so_and_not_tried_again() -> None:
    error = _status(429, {"code": "insufficient_quota", "message": "You exceeded your current quota"})
    assert "credit" in str(translate(error, NOW))
    assert not may_retry(error)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds
    ours = translate(_status(429, {"message": "slow down"}, headers), NOW)
    assert isinstance(ours, errors.ModelRateLimited) and ours.retry_after == seconds


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
def test_busy_and_broken_servers_are_tried_again(status: int) -> None:
    assert may_retry(_status(status, {}))


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 408, 409, 413, 422])
def test_a_refusal_is_not_tried_again(status: int) -> None:
    assert not may_retry(_status(status, {}))


def test_an_error_inside_a_stream_is_read_by_its_code() -> None:
    def streamed(code: object, message: str = "x") -> openai.APIError:
        return openai.APIError("x", REQUEST, body={"code": code, "message": message})

    assert type(translate(streamed(429), NOW)) is errors.ModelRateLimited
    assert type(translate(streamed(502), NOW)) is errors.ModelUnavailable
    assert type(translate(streamed("content_filter"), NOW)) is errors.ModelRefused
    assert type(translate(streamed("rate_limit_exceeded"), NOW)) is errors.ModelRateLimited
    assert type(translate(streamed(None, "maximum context length"), NOW)) is errors.ContextOverflow
    assert type(translate(streamed("server_error"), NOW)) is errors.ModelUnavailable


def test_what_an_endpoint_echoes_of_the_request_decides_nothing() -> None:
    said = read(_status(422, {"detail": [{"msg": "bad", "input": "maximum context length tools"}]}))
    assert "context" not in said.words


def test_every_sentence_says_that_nothing_was_lost() -> None:
    sentences = [value for name, value in vars(failures).items() if name.isupper() and isinstance(value, str)]
    assert len(sentences) >= 12
    for sentence in sentences:
        assert "Nothing was lost" in sentence and sentence.endswith(".")
