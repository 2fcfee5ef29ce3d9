"""The client for OpenAI-compatible endpoints: the only code that talks to one.

Retries are ours, not the package's: only for 429, 5xx and connect errors, only before the first word was
given on, honouring Retry-After, never past the request's deadline (SPEC §14). Nothing is ever retried once a
word is out: the channel would read it twice. Whatever goes wrong leaves as a :class:`ModelError`.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

import openai

from memory.errors import (
    ModelError,
    ModelMalformed,
    ModelRateLimited,
    ModelRequestError,
    ModelTimeout,
    ToolsUnsupported,
)
from memory.llm import failures, wire
from memory.llm.models import ModelRow, row_for
from memory.llm.port import Event, ModelInfo, Request, TextPiece, Tokenizer
from memory.types import Clock, Usage

log = logging.getLogger(__name__)

T = TypeVar("T")

CONNECT_S = 10.0
PIECE_S = 60.0
LAST_USAGE_S = 5.0
"""How long an answer that is whole waits for its token counts, which come after it."""

TOOLS_OFF_FOR = timedelta(hours=24)
"""SPEC §4.4."""

ATTEMPTS = 4
_LESSONS = 4
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.5, 8.0


class _Chunks(Protocol):
    def __aiter__(self) -> AsyncIterator[object]: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Patience:
    """How the client waits. Injected, so that no test does."""

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random
    monotonic: Callable[[], float] = time.perf_counter
    piece_s: float = PIECE_S

    def wait_before(self, retry: int, told: float | None) -> float:
        """Seconds before retry 1, 2, …: what the endpoint told, else exponential with full jitter."""
        ceiling = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2.0 ** (retry - 1))
        if told is not None:
            return told + 0.1 * self.jitter()
        return ceiling * (0.5 + 0.5 * self.jitter())


class _Retry(Exception):
    """Inside only: the same request may be tried again; ``error`` is what to raise if it is not."""

    def __init__(self, error: ModelError) -> None:
        super().__init__(str(error))
        self.error = error


class _Learnt(Exception):
    """Inside only: the endpoint's refusal taught something; the same request goes again at once."""


class OpenAIModel:
    """A :class:`memory.llm.port.Model` behind ``chat.completions``.

    ``tools_mode``: ``auto`` (off for a day after an error that names tools), ``on`` or ``off``.
    """

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        info: ModelInfo,
        tokenizer: Tokenizer,
        clock: Clock,
        *,
        tools_mode: str = "auto",
        patience: Patience | None = None,
    ) -> None:
        self._client = client
        self._info = info
        self._tokenizer = tokenizer
        self._clock = clock
        self._row: ModelRow = row_for(info.name)
        self._quirks = wire.Quirks.of(self._row)
        self._tools_mode = tools_mode
        self._tools_off_until: datetime | None = None
        self._patience = patience or Patience()

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def tools_work(self) -> bool:
        if self._tools_mode == "on":
            return True
        if self._tools_mode == "off" or not self._row.tools:
            return False
        return self._tools_off_until is None or self._clock.now() >= self._tools_off_until

    async def close(self) -> None:
        await self._client.close()

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Stream one answer. Raises only :class:`memory.errors.ModelError` and its children."""
        ends = self._patience.monotonic() + request.deadline_s
        retries = lessons = 0
        while True:
            again: _Retry | None = None
            begun = False
            try:
                async with aclosing(self._attempt(request, ends, lessons < _LESSONS)) as events:
                    async for event in events:
                        begun = True
                        yield event
                return
            except _Learnt:
                lessons += 1
                continue
            except _Retry as retry:
                again = retry
            retries += 1
            if begun or retries >= ATTEMPTS:
                raise again.error
            await self._wait(retries, again.error, ends)

    async def _wait(self, retry: int, error: ModelError, ends: float) -> None:
        told = error.retry_after if isinstance(error, ModelRateLimited) else None
        wait = self._patience.wait_before(retry, told)
        if self._patience.monotonic() + wait >= ends:
            raise error  # waiting as asked would end past the deadline: say so now
        log.info("model call is tried again", extra={"retry": retry, "wait_s": round(wait, 2)})
        await self._patience.sleep(wait)

    async def _attempt(self, request: Request, ends: float, may_learn: bool) -> AsyncGenerator[Event, None]:
        tools = bool(request.tools) and self.tools_work
        chunks = await self._open(request, ends, tools, may_learn)
        whole = wire.Assembler()
        begun = False
        try:
            iterator = chunks.__aiter__()
            while True:
                chunk = await self._next(iterator, ends, whole, begun)
                if chunk is None:
                    break
                words = whole.feed(chunk)
                if words:
                    begun = True
                    yield TextPiece(words)
        finally:
            await self._hang_up(chunks)
        held = whole.rest()
        if held:
            yield TextPiece(held)
        yield whole.finished(whole.usage or self._estimate(request, whole))

    async def _open(self, request: Request, ends: float, tools: bool, may_learn: bool) -> _Chunks:
        body = wire.body(request, self._info.name, self._quirks, tools=tools)
        limit = self._limit(ends, first=True)
        call = self._client.post(
            "/chat/completions",
            cast_to=openai.types.chat.ChatCompletionChunk,
            body=body,
            stream=True,
            stream_cls=openai.AsyncStream[openai.types.chat.ChatCompletionChunk],
        )
        try:
            return await self._within(call, limit)
        except Exception as error:  # noqa: BLE001 - the door: nothing foreign may pass it
            caught = error
        self._learn_from(caught, request, tools, may_learn)
        raise self._ours(caught, tools) from None

    async def _next(
        self, iterator: AsyncIterator[object], ends: float, whole: wire.Assembler, begun: bool
    ) -> object | None:
        """The next chunk, or None at the end."""
        done = whole.finish is not None
        limit = LAST_USAGE_S if done else self._limit(ends, first=not begun)
        try:
            return await self._within(_following(iterator), limit)
        except Exception as error:  # noqa: BLE001 - the door: nothing foreign may pass it
            caught = error
        if done:
            return None  # the answer is whole; only its token counts are missing
        raise self._ours(caught, False, cut=True) from None

    def _limit(self, ends: float, *, first: bool) -> float:
        left = ends - self._patience.monotonic()
        if left <= 0:
            raise ModelTimeout(failures.SLOW)
        # A model that thinks before it speaks may be silent up to the deadline.
        return left if first and self._row.thinks else min(left, self._patience.piece_s)

    async def _within(self, work: Awaitable[T], limit_s: float) -> T:
        async with asyncio.timeout(limit_s):
            return await work

    def _learn_from(self, error: Exception, request: Request, tools: bool, may_learn: bool) -> None:
        """Raises _Learnt when the same request should go again in another way."""
        if not may_learn:
            return
        ours = failures.translate(error, self._clock.now())
        if isinstance(ours, ToolsUnsupported) and tools and self._tools_mode == "auto":
            self._tools_off_until = self._clock.now() + TOOLS_OFF_FOR
            log.warning("the model's endpoint takes no tools; off for a day")
            raise _Learnt from None
        learnt = wire.learn(self._quirks, failures.read(error), request)
        if learnt is not None:
            log.info("the model's endpoint has a quirk", extra={"quirks": str(learnt)})
            self._quirks = learnt
            raise _Learnt from None

    def _ours(self, error: Exception, tools: bool, *, cut: bool = False) -> Exception:
        ours = failures.translate(error, self._clock.now())
        said = failures.read(error)
        log.warning(
            "model call failed",
            extra={"error": type(error).__name__, "as": type(ours).__name__, "status": said.status},
        )
        log.debug("the endpoint said: %s", said.words)
        if isinstance(ours, ToolsUnsupported) and not tools:
            ours = ModelRequestError(failures.BAD_REQUEST)
        if failures.may_retry(error):
            return _Retry(ModelMalformed(failures.CUT) if cut and said.status is None else ours)
        return ours

    async def _hang_up(self, chunks: _Chunks) -> None:
        try:
            await chunks.close()
        except Exception:
            # The answer is decided; closing cannot change it.
            log.debug("closing a stream failed", exc_info=True)

    def _estimate(self, request: Request, whole: wire.Assembler) -> Usage:
        """Tokens by our own tokenizer + 4 a message (SPEC §5), when the endpoint gives no usage."""
        count = self._tokenizer.count
        prompt = sum(count(m.text) + 4 for m in request.messages)
        return Usage(prompt, count(whole.text))


async def _following(iterator: AsyncIterator[object]) -> object | None:
    return await anext(iterator, None)
