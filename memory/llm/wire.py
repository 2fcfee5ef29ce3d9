"""What goes over the wire and what comes back, as pure functions and one small assembler.

``Quirks`` are how an endpoint wants to be spoken to; :func:`learn` reads one more from its refusal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory.errors import ModelEmpty, ModelMalformed, ModelRefused
from memory.llm import failures
from memory.llm.models import ModelRow
from memory.llm.port import ChatMessage, Finished, Request, Role, ToolCall, ToolSpec
from memory.types import Usage

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Quirks:
    """From the model's row, then learnt from refusals and kept for the process's life."""

    usage_in_stream: bool = True
    completion_tokens: bool = False
    images: bool = True
    plain_roles: bool = False

    @classmethod
    def of(cls, row: ModelRow) -> Quirks:
        return cls(completion_tokens=row.completion_tokens, images=row.images)


_STREAM_OPTIONS = re.compile(r"stream_options|include_usage", re.IGNORECASE)
_MAX_TOKENS = re.compile(r"max_completion_tokens", re.IGNORECASE)
_IMAGES = re.compile(
    r"image_url|image input|images? (?:is|are) not|not support.{0,20}image|vision", re.IGNORECASE
)
_ROLES = re.compile(
    r"roles? must alternate|system (?:role|message).{0,40}(?:not supported|beginning|first|only)"
    r"|(?:only|unexpected).{0,30}system (?:role|message)",
    re.IGNORECASE,
)


def learn(quirks: Quirks, said: failures.Foreign, request: Request) -> Quirks | None:
    """What the endpoint's refusal teaches, or None when it is not about a quirk or nothing new."""
    if not said.refuses_parameters and not (said.status == 500 and _ROLES.search(said.words)):
        return None
    if quirks.usage_in_stream and _STREAM_OPTIONS.search(said.words):
        return replace(quirks, usage_in_stream=False)
    if _MAX_TOKENS.search(said.words):
        return replace(quirks, completion_tokens=not quirks.completion_tokens)
    if quirks.images and _IMAGES.search(said.words) and any(m.images for m in request.messages):
        return replace(quirks, images=False)
    if not quirks.plain_roles and _ROLES.search(said.words):
        return replace(quirks, plain_roles=True)
    return None


def body(request: Request, model: str, quirks: Quirks, *, tools: bool) -> Json:
    """The JSON of one streaming chat completion, extensions apart."""
    messages = [_message(m, quirks) for m in request.messages if tools or not _about_tools(m)]
    out: Json = {
        "model": model,
        "messages": _plain(messages) if quirks.plain_roles else messages,
        "stream": True,
        "max_completion_tokens" if quirks.completion_tokens else "max_tokens": request.max_tokens,
    }
    if quirks.usage_in_stream:
        out["stream_options"] = {"include_usage": True}
    if tools and request.tools:
        out["tools"] = [_tool(spec) for spec in request.tools]
    return out


def _about_tools(message: ChatMessage) -> bool:
    return message.role is Role.TOOL or (bool(message.tool_calls) and not message.text)


def _message(message: ChatMessage, quirks: Quirks) -> Json:
    text = _clean(message.text)
    out: Json = {"role": message.role.value, "content": text}
    if message.images and quirks.images and message.role is Role.USER:
        pictures: list[Json] = [{"type": "image_url", "image_url": {"url": url}} for url in message.images]
        out["content"] = [{"type": "text", "text": text}, *pictures]
    if message.tool_calls:
        out["content"] = text or None
        out["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _valid(call.arguments)},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        out["tool_call_id"] = message.tool_call_id
    return out


def _clean(text: str) -> str:
    """Lone surrogates cannot be sent."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _valid(arguments: str) -> str:
    """A model's own broken arguments, told back to it: many servers refuse the whole request for them."""
    try:
        return arguments if isinstance(json.loads(arguments), dict) else "{}"
    except ValueError:
        return "{}"


def _tool(spec: ToolSpec) -> Json:
    return {
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": dict(spec.parameters),
        },
    }


def _plain(messages: Sequence[Json]) -> list[Json]:
    """One system message, at the beginning; later ones as user messages; neighbours of a role joined."""
    out: list[Json] = []
    for message in messages:
        role = message["role"]
        if role == "system" and out and any(m["role"] != "system" for m in out):
            message = {**message, "role": "user"}
        last = out[-1] if out else None
        joins = last is not None and last["role"] == message["role"] and message["role"] != "tool"
        if (
            joins
            and last is not None
            and isinstance(last["content"], str)
            and isinstance(message["content"], str)
        ):
            out[-1] = {**last, **message, "content": f"{last['content']}\n{message['content']}"}
        else:
            out.append(message)
    return out


_THINK_OPEN, _THINK_CLOSE = "<think>", "</think>"


@dataclass(slots=True)
class Assembler:
    """Puts the deltas of one stream together.

    Reasoning is left out: extra fields are never read, and a leading ``<think>…</think>`` is cut.
    """

    text: str = ""
    finish: str | None = None
    refusal: str = ""
    usage: Usage | None = None
    _calls: list[_Call] = field(default_factory=list)
    _held: str = ""
    _thinking: bool | None = None

    def feed(self, chunk: object) -> str:
        """Take one chunk of the ``openai`` client; returns the words that it adds ("" for none)."""
        usage = getattr(chunk, "usage", None)
        if usage is not None:
            self.usage = read_usage(usage) or self.usage
        choices = getattr(chunk, "choices", None)
        if not isinstance(choices, list) or not choices:
            return ""
        choice = choices[0]
        finish = getattr(choice, "finish_reason", None)
        if isinstance(finish, str) and finish:
            self.finish = finish
        delta = getattr(choice, "delta", None)
        for part in getattr(delta, "tool_calls", None) or ():
            self._call(part)
        refusal = getattr(delta, "refusal", None)
        if isinstance(refusal, str):
            self.refusal += refusal
        content = getattr(delta, "content", None)
        new = self._unthought(content) if isinstance(content, str) else ""
        self.text += new
        return new

    def _unthought(self, piece: str) -> str:
        if self._thinking is False:
            return piece
        self._held += piece
        if self._thinking is None:
            start = self._held.lstrip()
            if start.startswith(_THINK_OPEN):
                self._thinking = True
            elif _THINK_OPEN.startswith(start):
                return ""
            else:
                return self._release(self._held)
        _, closed, rest = self._held.partition(_THINK_CLOSE)
        return self._release(rest.lstrip()) if closed else ""

    def _release(self, words: str) -> str:
        # Until the first visible character nothing is shown: a closing tag may be followed by blank lines.
        if not words.strip() and self._thinking:
            self._held = _THINK_OPEN + _THINK_CLOSE + words
            return ""
        self._thinking, self._held = False, ""
        return words

    def rest(self) -> str:
        """Words held back that turned out to be no ``<think>``; call once, at the end."""
        if self._thinking is None and self._held:
            words, self._held, self._thinking = self._held, "", False
            self.text += words
            return words
        return ""

    def _call(self, part: object) -> None:
        function = getattr(part, "function", None)
        identity = getattr(part, "id", None) or ""
        name = getattr(function, "name", None) or ""
        raw = getattr(function, "arguments", None)
        words = raw if isinstance(raw, str) else "" if raw is None else json.dumps(raw, ensure_ascii=False)
        index = getattr(part, "index", None)
        call = next((c for c in reversed(self._calls) if c.index == index), None)
        # Some servers leave the index out, or give 0 to every call: a new id with a name is a new call.
        if call is None or (identity and name and call.id and identity != call.id):
            call = _Call(index)
            self._calls.append(call)
        call.id = call.id or str(identity)
        call.name = call.name or str(name)
        call.arguments += words

    def finished(self, fallback: Usage) -> Finished:
        """The whole. Raises ModelMalformed (cut, or a call without a name), ModelRefused, ModelEmpty."""
        if self.finish is None:
            raise ModelMalformed(failures.CUT)
        if self.finish == "content_filter" or (self.refusal and not self.text and not self._calls):
            raise ModelRefused(failures.REFUSED)
        if self.finish == "error":
            raise ModelMalformed(failures.UNREADABLE)
        truncated = self.finish in ("length", "max_tokens", "model_length")
        if not self.text.strip() and not self._calls:
            raise ModelEmpty(failures.EMPTY_CUT if truncated else failures.EMPTY)
        if any(not call.name for call in self._calls):
            raise ModelMalformed(failures.UNREADABLE)
        calls = tuple(
            ToolCall(call.id or f"call_{at}", call.name, call.arguments)
            for at, call in enumerate(self._calls)
        )
        return Finished(self.text, calls, self.usage or fallback, truncated)


@dataclass(slots=True)
class _Call:
    index: object
    id: str = ""
    name: str = ""
    arguments: str = ""


def read_usage(usage: object) -> Usage | None:
    """Usage as the endpoint counted it, or None when there is none to read."""
    prompt, completion = _number(usage, "prompt_tokens"), _number(usage, "completion_tokens")
    if prompt is None or completion is None:
        return None
    details = getattr(usage, "prompt_tokens_details", None)
    cached = _number(details, "cached_tokens") or _number(usage, "prompt_cache_hit_tokens") or 0
    return Usage(prompt, completion, min(cached, prompt))


def _number(holder: object, name: str) -> int | None:
    value = holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None
