"""From any foreign exception to one of ours, and no other.

The sentences are for a person in a channel: what happened, that nothing is lost, what to do. They are
written here, never taken from the endpoint: an endpoint's own words can hold a key, an address with a
password, or a piece of the prompt.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2
import openai

from memory.errors import (
    ContextOverflow,
    ModelAuthError,
    ModelError,
    ModelMalformed,
    ModelRateLimited,
    ModelRefused,
    ModelRequestError,
    ModelTimeout,
    ModelUnavailable,
    ToolsUnsupported,
)

UNREACHABLE = "The model cannot be reached right now. Nothing was lost; try again in a moment."
BROKEN = "The model's server failed on its side. Nothing was lost; try again in a moment."
SLOW = "The model took too long to answer. Nothing was lost; try again, or ask for something shorter."
BUSY = "The model is getting too many requests right now. Nothing was lost; try again in a moment."
NO_CREDIT = (
    "The account behind the model has no credit left. Nothing was lost; whoever runs this bot must top it up."
)
BAD_KEY = (
    "The model's server refused the key. Nothing was lost; whoever runs this bot should check LLM_API_KEY."
)
NOT_FOUND = (
    "The model's server does not know this model or address. Nothing was lost;"
    " whoever runs this bot should check LLM_MODEL and LLM_BASE_URL."
)
BAD_REQUEST = (
    "The model's server did not accept the request. Nothing was lost;"
    " whoever runs this bot can find the reason in the log."
)
TOO_LONG = (
    "The conversation is longer than the model takes. Nothing was lost;"
    " set LLM_CONTEXT_WINDOW to the model's true size, or shorten the prompts."
)
NO_TOOLS = (
    "This model takes no tools, so it cannot save memories by itself. Nothing was lost;"
    " set LLM_TOOLS=off to stop asking it to."
)
REFUSED = (
    "The model's provider stopped this answer with its content filter. Nothing was lost; try other words."
)
EMPTY = "The model gave an empty answer. Nothing was lost; try again."
EMPTY_CUT = (
    "The model used up its room before it said anything. Nothing was lost; try again with a shorter question."
)
UNREADABLE = "The model's answer could not be read. Nothing was lost; try again."
CUT = "The model's answer was cut off before its end. Nothing was lost; try again."

_OVERFLOW = re.compile(
    r"context[_ ](?:length|window|size)|maximum context"
    r"|max(?:imum)?[_ ]?(?:model[_ ]?)?(?:len(?:gth)?|context)\b"
    r"|prompt (?:is )?too (?:long|large)|too many (?:input )?tokens|input (?:is )?too (?:long|large)"
    r"|exceeds? (?:the )?(?:available |model'?s? )?(?:context|token limit)"
    r"|exceeds? (?:the )?max(?:imum)? (?:input )?(?:length|tokens)"
    r"|input length and .{0,20}max_tokens.{0,20} exceed|input token count|requested tokens|reduce the length",
    re.IGNORECASE,
)
_TOOLS = re.compile(
    r"\btools?\b|\btool[_ -](?:choice|calls?|calling|use)\b|\bfunctions?[_ -]call(?:ing|s)?\b|\bfunctions\b",
    re.IGNORECASE,
)
_TOOL_PAIRING = re.compile(r"tool_call_id|role ['\"`]?tool\b|tool_calls? must be followed", re.IGNORECASE)
"""Names tools, but means that the conversation's own calls and results do not fit together."""
_FILTER = re.compile(r"content[_ ](?:filter|policy|management)|responsibleaipolicy", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Foreign:
    """What an endpoint said, as far as it decides anything. Never shown: ``words`` may hold secrets."""

    status: int | None
    code: str
    words: str
    headers: Mapping[str, str]

    @property
    def refuses_parameters(self) -> bool:
        return self.status in (400, 404, 422, 501)


def read(error: BaseException) -> Foreign:
    """Take apart an ``openai`` error (or any other)."""
    if not isinstance(error, openai.APIError):
        return Foreign(None, "", "", {})
    status: int | None = None
    headers: Mapping[str, str] = {}
    code = " ".join(str(part) for part in (error.code, error.type) if part)
    if isinstance(error, openai.APIStatusError):
        status, headers = error.status_code, error.response.headers
    elif (error.code or "").isdigit():
        status = int(error.code or 0)  # an error inside a stream that began well
    return Foreign(status, code.casefold(), " ".join(_spoken(error.body, 0))[:2_000], headers)


_SPEAKING = frozenset(
    {"message", "msg", "error", "errors", "detail", "loc", "param", "code", "type", "reason"}
)


def _spoken(body: object, depth: int) -> Iterator[str]:
    """The endpoint's own words. Not the request that some echo: a member's words must not decide anything."""
    if isinstance(body, str):
        yield body[:1_000]
    elif depth > 5:
        return
    elif isinstance(body, Mapping):
        for key, value in body.items():
            if str(key).casefold() in _SPEAKING:
                yield from _spoken(value, depth + 1)
    elif isinstance(body, list | tuple):
        for value in body[:20]:
            yield from _spoken(value, depth + 1)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds by ``retry-after-ms`` or ``Retry-After`` (seconds or an HTTP date); None when not said."""
    exact = headers.get("retry-after-ms")
    plain = headers.get("retry-after")
    try:
        told = float(exact) / 1_000 if exact is not None else float(plain or "nan")
    except ValueError:
        pass
    else:
        return max(0.0, told) if math.isfinite(told) else None
    try:
        at = parsedate_to_datetime(plain or "")
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - now).total_seconds())


def _by_status(said: Foreign, now: datetime) -> ModelError:
    status = said.status or 0
    if _FILTER.search(said.code) or (status == 400 and _FILTER.search(said.words)):
        return ModelRefused(REFUSED)
    if status == 413 or (status in (400, 404, 422, 500) and _is_overflow(said)):
        return ContextOverflow(TOO_LONG)
    if said.refuses_parameters and _TOOLS.search(said.words) and not _TOOL_PAIRING.search(said.words):
        return ToolsUnsupported(NO_TOOLS)
    if status in (401, 403):
        return ModelAuthError(BAD_KEY)
    if status == 402 or "insufficient_quota" in said.code:
        return ModelRateLimited(NO_CREDIT) if status == 429 else ModelRequestError(NO_CREDIT)
    if status == 429:
        return ModelRateLimited(BUSY, retry_after(said.headers, now))
    if status in (408, 504, 524):
        return ModelTimeout(SLOW)
    if status >= 500 or status == 409:
        return ModelUnavailable(BROKEN)
    return ModelRequestError(NOT_FOUND if status == 404 else BAD_REQUEST)


def _is_overflow(said: Foreign) -> bool:
    return "context_length" in said.code or bool(_OVERFLOW.search(said.words))


def _streamed(said: Foreign, now: datetime) -> ModelError:
    """An error told inside a stream, by its code's name."""
    if said.status is not None and 400 <= said.status < 600:
        return _by_status(said, now)
    if _FILTER.search(said.code):
        return ModelRefused(REFUSED)
    if _is_overflow(said):
        return ContextOverflow(TOO_LONG)
    if "rate_limit" in said.code or "insufficient_quota" in said.code:
        return ModelRateLimited(BUSY)
    return ModelUnavailable(BROKEN)


_Maker = Callable[[BaseException, datetime], ModelError]

_TABLE: tuple[tuple[tuple[type[BaseException], ...], _Maker], ...] = (
    (
        (openai.APITimeoutError, httpx2.TimeoutException, TimeoutError),
        lambda error, now: ModelTimeout(SLOW),
    ),
    ((openai.APIConnectionError,), lambda error, now: ModelUnavailable(UNREACHABLE)),
    ((openai.APIResponseValidationError,), lambda error, now: ModelMalformed(UNREADABLE)),
    ((openai.APIStatusError,), lambda error, now: _by_status(read(error), now)),
    ((openai.APIError,), lambda error, now: _streamed(read(error), now)),
    ((openai.ContentFilterFinishReasonError,), lambda error, now: ModelRefused(REFUSED)),
    ((openai.LengthFinishReasonError,), lambda error, now: ModelMalformed(CUT)),
    (
        (openai.WebSocketConnectionClosedError, openai.WebSocketQueueFullError),
        lambda error, now: ModelUnavailable(UNREACHABLE),
    ),
    # Bare, it means missing credentials; its other children are about APIs that are not used here.
    (
        (openai.OpenAIError,),
        lambda error, now: (
            ModelAuthError(BAD_KEY) if type(error) is openai.OpenAIError else ModelMalformed(UNREADABLE)
        ),
    ),
    ((httpx2.DecodingError, httpx2.StreamError), lambda error, now: ModelMalformed(UNREADABLE)),
    (
        (httpx2.InvalidURL, httpx2.UnsupportedProtocol, httpx2.TooManyRedirects),
        lambda error, now: ModelRequestError(NOT_FOUND),
    ),
    ((httpx2.HTTPError, OSError), lambda error, now: ModelUnavailable(UNREACHABLE)),
)
"""First match wins, so children stand before their parents."""


def translate(error: BaseException, now: datetime) -> ModelError:
    """The one of ours that stands for a foreign exception. Total: whatever comes in, a ModelError comes out.

    Anything that is not in the table (JSON, Unicode, type and attribute errors) is an unreadable answer.
    """
    if isinstance(error, ModelError):
        return error
    for kinds, make in _TABLE:
        if isinstance(error, kinds):
            return make(error, now)
    return ModelMalformed(UNREADABLE)


def may_retry(error: BaseException) -> bool:
    """Whether trying the same again is right: 429, 5xx and connect errors (SPEC §14), nothing else."""
    if isinstance(error, openai.APITimeoutError):
        return isinstance(error.__cause__, httpx2.ConnectTimeout | httpx2.PoolTimeout)
    if isinstance(error, openai.APIConnectionError | httpx2.NetworkError | httpx2.RemoteProtocolError):
        return True
    if not isinstance(error, openai.APIError):
        return False
    said = read(error)
    if "insufficient_quota" in said.code or _is_overflow(said):
        return False
    return said.status is not None and (said.status == 429 or said.status >= 500)
