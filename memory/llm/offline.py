"""The offline responder: what stands behind the door when no model is configured.

Deterministic, without clock or network. It looks things up in the prompt that it is given and quotes them
with their source, obeys "remember…" and "forget…" by the same tools as a model, and says that no model is
configured (SPEC §14). It never invents: whatever it quotes stands in the prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator

from memory.llm import offline_words as words
from memory.llm.lookup import RELEVANT, Hit, covers, fold, rank, terms
from memory.llm.offline_facts import content, is_shared, supersedes
from memory.llm.offline_prompt import Answered, Line, Reading, Said, Where, read
from memory.llm.port import Event, Finished, ModelInfo, Request, TextPiece, Tokenizer, ToolCall
from memory.phrases import Language, asks_to_forget, asks_to_remember, guess_language
from memory.phrases import Request as Asked
from memory.types import Usage

SAVE, UPDATE, DELETE = "save_memory", "update_memory", "delete_memory"

INFO = ModelInfo("offline", 16_384, "o200k_base", exact=True, configured=False)

_SHOWN = 3
_LISTED = 5
_MINE = re.compile(
    r"\b(?:my|mine|me|i|i'm|am i|mi|mis|yo|me|soy|tengo|ko|kong|akin|aking|ako)\b", re.IGNORECASE
)
_GREETING = re.compile(
    r"[¡¿]*(?:hi+|hello+|hey+|yo|good (?:morning|evening|afternoon|night)|hola+|buen[oa]s(?: d[ií]as"
    r"| tardes| noches)?"
    r"|kumusta(?: ka)?|kamusta(?: ka)?|magandang \w+|uy|hoy)\b(?:[\s,]+(?:@\S+|there|keepsake|bot|po"
    r"|everyone|all))*[\s!.,?]*",
    re.IGNORECASE,
)
_OVERVIEW = re.compile(
    r"\b(?:about (?:me|us|this server)|do you (?:know|remember)\b(?! (?:if|when|where|who|how|the|my))"
    r"|sobre m[ií]|de m[ií]"
    r"|tungkol sa (?:akin|amin)|naaalala mo)",
    re.IGNORECASE,
)


class OfflineModel:
    """A :class:`memory.llm.port.Model` that needs no key, no network and no model."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    @property
    def info(self) -> ModelInfo:
        return INFO

    @property
    def tools_work(self) -> bool:
        return True

    async def close(self) -> None:
        return None

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Answer, in several pieces. Raises nothing."""
        text, calls = respond(read(request))
        for piece in re.findall(r"\S+\s*|\s+", text):
            yield TextPiece(piece)
        yield Finished(text, calls, self._usage(request, text, calls))

    def _usage(self, request: Request, text: str, calls: tuple[ToolCall, ...]) -> Usage:
        count = self._tokenizer.count
        prompt = sum(count(m.text) + 4 for m in request.messages)
        return Usage(prompt, count(text) + sum(count(c.arguments) for c in calls))


def respond(reading: Reading) -> tuple[str, tuple[ToolCall, ...]]:
    """The text of the answer, or the tool calls to make first."""
    language = guess_language(reading.text)
    if reading.answered:
        return "\n".join(_confirm(answer, reading) for answer in reading.answered), ()
    calls: list[ToolCall] = []
    said: list[str] = []
    for message in reading.inputs:
        _obey(message, reading, calls, said)
    if calls:
        return "", tuple(calls)
    if said:
        return "\n".join(dict.fromkeys(said)), ()
    if _GREETING.fullmatch(reading.text.strip()):
        name = words.neutral(reading.asker) or words.ANYBODY[language]
        return f"{words.GREETING[language].format(name=name)}\n{words.SUFFIX[language]}", ()
    return _look_up(reading, language), ()


def _obey(message: Said, reading: Reading, calls: list[ToolCall], said: list[str]) -> None:
    """Add the tool call that a message asks for, or the sentence that says why there is none."""
    forget = asks_to_forget(message.text)
    remember = None if forget else asks_to_remember(message.text)
    asked = forget or remember
    if asked is None:
        return
    spoken = asked.language
    if (DELETE if forget else SAVE) not in reading.tools:
        said.append(words.NO_TOOLS[spoken])
    elif forget:
        _forget(forget, message, reading, calls, said)
    elif not asked.thing:
        said.append(words.WHAT_TO_REMEMBER[spoken])
    else:
        calls.append(_remember(asked, message, reading, len(calls)))


def _remember(asked: Asked, message: Said, reading: Reading, number: int) -> ToolCall:
    shared = is_shared(asked.thing, asked.language)
    text = content(asked.thing, asked.language, shared=shared)
    same_scope = [line for line in reading.memories_for(message.name) if line.personal is not shared]
    old = supersedes(text, message.text, same_scope) if UPDATE in reading.tools else None
    if old is not None:
        return _call(UPDATE, number, handle=old.handle, content=text)
    arguments = {"content": text, "about": "server" if shared else "user"}
    if not shared and len({said.name for said in reading.inputs}) > 1:
        arguments["user"] = message.name
    return _call(SAVE, number, **arguments)


def _forget(asked: Asked, message: Said, reading: Reading, calls: list[ToolCall], said: list[str]) -> None:
    lines = reading.memories_for(message.name)
    if asked.handle is not None:
        fits = [line for line in lines if line.handle == asked.handle]
    else:
        mine = bool(_MINE.search(asked.thing))
        hits = rank(asked.thing, lines, lambda line: 1.2 if mine and line.personal else 1.0)
        near = [hit.line for hit in hits if hit.score >= RELEVANT]
        whole = [line for line in near if covers(line, asked.thing)]
        fits = whole or near
    if not fits:
        said.append(words.NOT_REMEMBERED[asked.language])
    elif len(fits) == 1 and (asked.handle is not None or covers(fits[0], asked.thing)):
        calls.append(_call(DELETE, len(calls), handle=fits[0].handle))
    else:
        listed = "\n".join(words.cited(line, asked.language) for line in fits[:_LISTED])
        said.append(f"{words.WHICH_ONE[asked.language]}\n{listed}")


def _call(tool: str, number: int, **arguments: str) -> ToolCall:
    return ToolCall(f"offline_{number}", tool, json.dumps(arguments, ensure_ascii=False))


def _confirm(answer: Answered, reading: Reading) -> str:
    try:
        arguments = json.loads(answer.call.arguments)
    except ValueError:
        arguments = {}
    given = arguments if isinstance(arguments, dict) else {}
    text, handle = str(given.get("content", "")), str(given.get("handle", ""))
    for message in reading.inputs:
        asked = asks_to_forget(message.text) or asks_to_remember(message.text)
        if asked is not None:
            return words.outcome(answer.call.name, answer.words, text, handle, asked.language)
    return words.outcome(answer.call.name, answer.words, text, handle, guess_language(reading.text))


def _look_up(reading: Reading, language: Language) -> str:
    question = reading.text
    mine = bool(_MINE.search(question))
    memories = reading.memories()

    def favour(line: Line) -> float:
        if line.where is Where.WINDOW:
            return (0.3 if line.text.endswith("?") else 1.0) * (
                1.2 if mine and line.name == reading.asker else 1.0
            )
        return 1.25 if mine and line.personal else 1.0

    named = set(re.findall(r"\bm\d+\b", question.casefold()))
    found = [line for line in memories if line.handle in named][:_LISTED]
    found = found or _best(rank(question, memories, favour))
    if not found and memories and (_OVERVIEW.search(question) or ("?" in question and not terms(question))):
        about_me = [line for line in memories if line.personal] if mine else []
        found = (about_me or list(memories))[-_LISTED:]
    if not found:
        asked = {fold(said.text) for said in reading.inputs}
        lines = [line for line in reading.others() if fold(line.text) not in asked]
        found = _best(rank(question, lines, favour))
    if not found:
        return words.NOTHING[language]
    shown = "\n".join(words.cited(line, language) for line in found)
    return f"{shown}\n{words.SUFFIX[language]}"


def _best(hits: list[Hit]) -> list[Line]:
    good = [hit for hit in hits if hit.score >= RELEVANT]
    return [hit.line for hit in good if hit.score >= 0.7 * good[0].score][:_SHOWN]
