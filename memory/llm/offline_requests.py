"""What a member asks to remember, change or forget becomes tool calls, or the sentence why not. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from memory.llm import offline_words as words
from memory.llm.lookup import RELEVANT, closest, covers, rank, terms
from memory.llm.offline_facts import (
    about_another,
    about_named,
    content,
    is_shared,
    of_nobody,
    renewed,
    supersedes,
)
from memory.llm.offline_prompt import Line, Reading, Said
from memory.llm.port import ToolCall
from memory.phrases import Request, asks_to_change, asks_to_forget, asks_to_remember

SAVE, UPDATE, DELETE = "save_memory", "update_memory", "delete_memory"

MINE = re.compile(
    r"\b(?:my|mine|me|i|i'm|am i|m[ií]|mis|yo|me|soy|tengo|ko|kong|akin|aking|ako)\b", re.IGNORECASE
)
"""Words by which members mean themselves."""

_LISTED = 5
_LISTED_OF_ALL = 10
_NO_TOPIC = frozenset(terms("memory memories recuerdo recuerdos alaala saved stored data info information"))


def asked_of(text: str) -> Request | None:
    """The request to forget, to remember or to change in a text, looked for in this order."""
    return asks_to_forget(text) or asks_to_remember(text) or asks_to_change(text)


def requests_of(reading: Reading) -> dict[str, tuple[Said, Request]]:
    """The request behind each call that a prompt leads to, by the call's id."""
    calls: list[ToolCall] = []
    found: dict[str, tuple[Said, Request]] = {}
    for message in reading.inputs:
        known = len(calls)
        obey(message, reading, calls, [])
        asked = asked_of(message.text)
        if asked is not None:
            found |= {call.id: (message, asked) for call in calls[known:]}
    return found


def obey(message: Said, reading: Reading, calls: list[ToolCall], said: list[str]) -> None:
    """Add the tool call that a message asks for, or the sentence that says why there is none."""
    forget = asks_to_forget(message.text)
    asked = forget or asked_of(message.text)
    if asked is None:
        return
    tool = UPDATE if asked.changes else DELETE if forget else SAVE
    spoken = asked.language
    if tool not in reading.tools:
        said.append(words.NO_TOOLS[reading.access][spoken])
    elif asked.changes:
        _change(asked, message, reading, calls, said)
    elif forget:
        _forget(asked, message, reading, calls, said)
    elif not asked.thing:
        said.append(words.WHAT_TO_REMEMBER[spoken])
    else:
        calls.append(_remember(asked, message, reading, len(calls)))


def own_instead(reading: Reading, led: dict[str, tuple[Said, Request]]) -> tuple[ToolCall, ...]:
    """Calls that keep facts with their teller's own memories, where the one they name is not in play.

    The prompt does not show who is: other bots and personas speak in it too. A mention is left as it is.
    """
    calls = []
    for answer in reading.answered:
        unknown = answer.words.strip().casefold().startswith(("user_not_found", "ambiguous_user"))
        if not unknown or answer.call.id not in led:
            continue
        message, asked = led[answer.call.id]
        named = _remember(asked, message, reading, 0)
        own = _remember(asked, message, reading, 0, named=False)
        if own != named and answer.call.arguments == named.arguments:
            calls.append(replace(own, id=answer.call.id))
    return tuple(calls)


def _remember(
    asked: Request, message: Said, reading: Reading, number: int, *, named: bool = True
) -> ToolCall:
    another = None if asked.shared else about_another(asked.thing, asked.language, reading.names)
    if another is None and named and not asked.shared:
        another = about_named(asked.thing, asked.language, reading.names - {message.name})
    if another is not None:
        name, fact = another
        text = content(fact, asked.language, as_said=True)
        return _call(SAVE, number, content=text, about="user", user=name)
    shared = asked.shared or is_shared(asked.thing, asked.language)
    text = content(asked.thing, asked.language, as_said=shared or of_nobody(asked.thing, asked.language))
    same_scope = [line for line in reading.memories_for(message.name) if line.personal is not shared]
    old = supersedes(text, message.text, same_scope) if UPDATE in reading.tools else None
    if old is not None:
        return _call(UPDATE, number, handle=old.handle, content=text)
    arguments = {"content": text, "about": "server" if shared else "user"}
    if not shared and len({said.name for said in reading.inputs}) > 1:
        arguments["user"] = message.name
    return _call(SAVE, number, **arguments)


def _forget(asked: Request, message: Said, reading: Reading, calls: list[ToolCall], said: list[str]) -> None:
    lines = reading.memories_for(message.name)
    if asked.handle is not None:
        fits = [line for line in lines if line.handle == asked.handle]
    elif _NO_TOPIC.issuperset(terms(asked.thing)):
        said.append(_everything(asked, [line for line in lines if line.personal]))
        return
    else:
        near = _near(asked.thing, lines)
        fits = [line for line in near if covers(line, asked.thing)] or near
    if not fits:
        said.append(words.NOT_REMEMBERED[asked.language])
    elif len(fits) == 1 and (asked.handle is not None or covers(fits[0], asked.thing)):
        calls.append(_call(DELETE, len(calls), handle=fits[0].handle))
    else:
        said.append(_listed(words.WHICH_ONE[asked.language], fits[:_LISTED], asked))


def _everything(asked: Request, own: list[Line]) -> str:
    """ "Forget everything": nothing is deleted, the asker's own newest entries are shown."""
    if not own:
        return words.NOTHING_OF_YOURS[asked.language]
    return _listed(words.EVERYTHING[asked.language], own[: -_LISTED_OF_ALL - 1 : -1], asked)


def _change(asked: Request, message: Said, reading: Reading, calls: list[ToolCall], said: list[str]) -> None:
    lines = reading.memories_for(message.name)
    several: list[Line] = []
    for thing, value in asked.changes:
        if asked.handle is not None:
            fits = [line for line in lines if line.handle == asked.handle]
        else:
            fits = [line for line in lines if covers(line, thing)]
            if MINE.search(thing):
                fits = [line for line in fits if line.personal] or fits
            fits = closest(fits, thing)
        if len(fits) == 1:
            text = renewed(fits[0].text, "" if asked.handle else thing, value, asked.language)
            calls.append(_call(UPDATE, len(calls), handle=fits[0].handle, content=text))
            return
        several = several or fits
    several = several or _near(asked.changes[0][0], lines)
    if several:
        said.append(_listed(words.WHICH_TO_CHANGE[asked.language], several[:_LISTED], asked))
    else:
        said.append(words.NOTHING_TO_CHANGE[asked.language])


def _near(thing: str, lines: tuple[Line, ...]) -> list[Line]:
    mine = bool(MINE.search(thing))
    hits = rank(thing, lines, lambda line: 1.2 if mine and line.personal else 1.0)
    return [hit.line for hit in hits if hit.score >= RELEVANT]


def _listed(heading: str, lines: list[Line], asked: Request) -> str:
    return "\n".join([heading, *(words.cited(line, asked.language) for line in lines)])


def _call(tool: str, number: int, **arguments: str) -> ToolCall:
    return ToolCall(f"offline_{number}", tool, json.dumps(arguments, ensure_ascii=False))
