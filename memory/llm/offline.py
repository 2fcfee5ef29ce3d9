"""The offline responder: what stands behind the door when no model is configured.

Deterministic, without clock or network. It looks things up in the prompt that it is given and quotes them
with their source, obeys "remember…" and "forget…" by the same tools as a model, and says that no model is
configured (SPEC §14). It never invents: whatever it quotes stands in the prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator

from memory.llm import offline_drafts
from memory.llm import offline_words as words
from memory.llm.lookup import RELEVANT, Hit, closest, fold, names, rank, terms
from memory.llm.offline_facts import of_nobody
from memory.llm.offline_prompt import Answered, Line, Reading, Said, Where, read
from memory.llm.offline_requests import MINE, obey, own_instead, requests_of
from memory.llm.offline_talk import Talk, small_talk
from memory.llm.port import Event, Finished, ModelInfo, TextPiece, Tokenizer, ToolCall
from memory.llm.port import Request as Prompt
from memory.phrases import Language, Request, guess_language
from memory.types import Usage

INFO = ModelInfo("offline", 16_384, "o200k_base", exact=True, configured=False)

_SHOWN = 3
_LISTED = 5
_OVERVIEW = re.compile(
    r"\b(?:about (?:me|us|this server)|(?:sobre|de) m[ií]|tungkol sa (?:akin|amin))\b\s*(?:[?.!,]|$)",
    re.IGNORECASE,
)
_RECALL = re.compile(
    r"\b(?:remember|recall|know|tell me|who am i|recuerd\w+|acuerd\w+|sab[eé]s|conoces|dime|qui[eé]n soy"
    r"|naaalala|natatandaan|alam|sino ako)\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"\b(?:about|sobre|de|kay|kina|si|ni|of|acerca de) @?(?-i:([A-ZÁÉÍÓÚÑ][\w-]*))", re.IGNORECASE
)
_QUESTION = re.compile(
    r"\?|^\W*(?:what|when|where|who|whom|whose|which|why|how|is|are|am|do|does|did|can|could|will|would"
    r"|should|tell|explain"
    r"|describe|show|write|give|find|list|help|qu[eé]|cu[aá]l\w*|cu[aá]ndo|cu[aá]nt\w*|d[oó]nde"
    r"|qui[eé]n\w*|c[oó]mo"
    r"|expl[ií]ca\w*|cu[eé]nta\w*|dime|escrib\w+|muestra|busca|ayuda\w*|ano\w*|sino|saan|kailan|bakit"
    r"|paano|alin|ilan"
    r"|ipaliwanag|sabihin|ikwento|hanapin|magkano)\b",
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

    async def stream(self, request: Prompt) -> AsyncGenerator[Event, None]:
        """Answer, in several pieces. Raises nothing."""
        drafts = offline_drafts.drafts(request)
        text, calls = respond(read(request)) if drafts is None else (drafts, ())
        for piece in re.findall(r"\S+\s*|\s+", text):
            yield TextPiece(piece)
        yield Finished(text, calls, self._usage(request, text, calls))

    def _usage(self, request: Prompt, text: str, calls: tuple[ToolCall, ...]) -> Usage:
        count = self._tokenizer.count
        prompt = sum(count(m.text) + 4 for m in request.messages)
        return Usage(prompt, count(text) + sum(count(c.arguments) for c in calls))


def respond(reading: Reading) -> tuple[str, tuple[ToolCall, ...]]:
    """The text of the answer, or the tool calls to make first."""
    language = guess_language(reading.text)
    if reading.answered:
        led = requests_of(reading)
        again = own_instead(reading, led)
        repeated = {call.id for call in again}
        rest = [answer for answer in reading.answered if answer.call.id not in repeated]
        return "\n".join(_confirm(answer, led, language) for answer in rest), again
    calls: list[ToolCall] = []
    said: list[str] = []
    for message in reading.inputs:
        obey(message, reading, calls, said)
    if calls:
        return "", tuple(calls)
    if said:
        return "\n".join(dict.fromkeys(said)), ()
    talk = small_talk(reading.text, reading.bot)
    if talk is not None:
        return _small(*talk, reading), ()
    return _look_up(reading, language), ()


def _small(talk: Talk, language: Language, reading: Reading) -> str:
    """The answer to small talk. Nothing that is remembered is told: it was not asked for."""
    if talk is Talk.THANKS:
        return words.WELCOME[language]
    offer = words.OFFER[reading.access][language]
    if talk is Talk.WHO:
        said = words.identity(reading.bot, reading.about, language, character=reading.character)
        return f"{said}\n{offer}\n{words.SUFFIX[language]}"
    name = words.neutral(reading.asker) or words.ANYBODY[language]
    return f"{words.GREETING[language].format(name=name)} {offer}\n{words.SUFFIX[language]}"


def _confirm(answer: Answered, led: dict[str, tuple[Said, Request]], language: Language) -> str:
    try:
        arguments = json.loads(answer.call.arguments)
    except ValueError:
        arguments = {}
    given = arguments if isinstance(arguments, dict) else {}
    text, handle = str(given.get("content", "")), str(given.get("handle", ""))
    as_said, member = False, ""
    if answer.call.id in led:
        message, asked = led[answer.call.id]
        language = asked.language
        user = str(given.get("user", message.name))
        own = given.get("about") == "user" and user == message.name
        member = "" if user == message.name else user
        as_said = own and of_nobody(asked.thing, language)
    return words.outcome(
        answer.call.name, answer.words, text, handle, language, as_said=as_said, member=member
    )


def _look_up(reading: Reading, language: Language) -> str:
    question = reading.text
    mine = bool(MINE.search(question))
    memories = reading.memories()

    def favour(line: Line) -> float:
        if line.where is Where.WINDOW:
            return (0.3 if line.text.endswith("?") else 1.0) * (
                1.2 if mine and line.name == reading.asker else 1.0
            )
        return 1.25 if mine and line.personal else 1.0

    named = set(re.findall(r"\bm\d+\b", question.casefold()))
    found = [line for line in memories if line.handle in named][:_LISTED]
    found = found or _naming(question, _best(rank(question, memories, favour), question))
    if not found and memories and (_OVERVIEW.search(question) or _asks_for_all(question)):
        about_me = [line for line in memories if line.personal] if mine else []
        found = (about_me or list(memories))[-_LISTED:]
    if not found:
        asked = {fold(said.text) for said in reading.inputs}
        lines = [line for line in reading.others() if fold(line.text) not in asked]
        found = _best(rank(question, lines, favour), question)
    if not found:
        if _QUESTION.search(question):
            return words.NOTHING[reading.access][language]
        return f"{words.OFFER[reading.access][language]}\n{words.SUFFIX[language]}"
    shown = "\n".join(words.cited(line, language) for line in found)
    return f"{shown}\n{words.SUFFIX[language]}"


def _asks_for_all(question: str) -> bool:
    """Whether a question is about what is remembered and names nothing: "what do you remember?"."""
    return "?" in question and not terms(question) and _RECALL.search(question) is not None


def _naming(question: str, lines: list[Line]) -> list[Line]:
    """Of an answer to "what about Tomas?" only the lines that mention Tomas."""
    asked = _ABOUT.findall(question)
    return [line for line in lines if all(names(line, name) for name in asked)]


def _best(hits: list[Hit], question: str) -> list[Line]:
    good = [hit for hit in hits if hit.score >= RELEVANT]
    near = [hit.line for hit in good if hit.score >= 0.7 * good[0].score]
    exact = set(closest([line for line in near if line.where is Where.MEMORY], question))
    return [line for line in near if line.where is not Where.MEMORY or line in exact][:_SHOWN]
