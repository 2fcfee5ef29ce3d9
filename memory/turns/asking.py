"""Talking to the model until it is done: rounds of tool calls, shown as they come (DESIGN §2.6).

No transaction is open while the model is waited for; each tool call is one of its own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memory import phrases
from memory.config.rules import Autosave, Confirmations, Mode
from memory.errors import ModelEmpty
from memory.facts.outcomes import Outcome, OutcomeKind, describe
from memory.facts.tool_words import tool_words
from memory.facts.tools import NO_SERVER, ToolContext
from memory.llm.port import ChatMessage, Finished, Request, Role, ToolCall, ToolSpec
from memory.ports import Reply
from memory.turns.doors import Doors
from memory.turns.prepare import Loaded, Prepared
from memory.types import Turn, Usage
from memory.window import rules as window

ROUNDS = 4
"""Tool rounds a turn at most (DESIGN §2.6)."""

CALLS_A_ROUND = 8
"""Tool calls of one answer that are carried out; the model is told of the rest."""


_TOO_MANY = Outcome(
    OutcomeKind.ERROR, detail=f"only {CALLS_A_ROUND} calls at once are carried out; this one was not"
)
"""What becomes of the rest."""


@dataclass(slots=True)
class Answer:
    """What the model said and did in a turn so far. ``rounds``: what became of the calls of each round."""

    text: str = ""
    usage: Usage = field(default_factory=Usage)
    rounds: list[list[Outcome]] = field(default_factory=list)
    truncated: bool = False

    @property
    def outcomes(self) -> list[Outcome]:
        return [outcome for outcomes in self.rounds for outcome in outcomes]

    @property
    def kept(self) -> bool:
        """Was a memory written, or does one wait for approval, or was it there already?"""
        return any(_kept(outcome) for outcome in self.outcomes)

    @property
    def missed(self) -> list[Outcome]:
        """Refused calls that no call of a later round took the place of.

        Where a scope was full, only one about that scope does; a deletion never does.
        """
        waiting: list[Outcome] = []
        for outcomes in self.rounds:
            for later in outcomes:
                taken = next((i for i, earlier in enumerate(waiting) if _instead(later, earlier)), None)
                if taken is not None:
                    del waiting[taken]
            waiting += (o for o in outcomes if not _kept(o) and o.kind is not OutcomeKind.SIMILAR_EXISTS)
        return waiting


def _instead(later: Outcome, earlier: Outcome) -> bool:
    if later.kind is OutcomeKind.DELETED:
        return False
    return earlier.kind is not OutcomeKind.LIMIT_REACHED or earlier.scope == later.scope


def _kept(outcome: Outcome) -> bool:
    return outcome.wrote or outcome.kind in (OutcomeKind.NEEDS_APPROVAL, OutcomeKind.DUPLICATE)


def unkept_words(loaded: Loaded, answer: Answer) -> str:
    """What is said beneath a reply that was asked to remember and did not keep all: one line, and why.

    Where memory is off, the mark beneath every reply is that line.
    """
    asked = any(phrases.asks_to_remember(m.text) for m in loaded.triggers)
    missed = answer.missed
    if loaded.config.mode is not Mode.NORMAL or not asked or (answer.kept and not missed):
        return ""
    if not loaded.persona.learns:
        name = "I learn" if loaded.persona.built_in else "this persona learns"
        return (
            f"\n-# Nothing was saved: {name} nothing from chat. What you add with `/memory add` is kept for"
            " later."
        )
    if saving_is_off(loaded):
        return (
            "\n-# Nothing was saved: saving from chat is off in this server. With `/memory add` you save"
            " something yourself."
        )
    said = "Not all of it was saved" if answer.kept else "Nothing was saved"
    if why := next(filter(None, map(_why, missed)), ""):
        return f"\n-# {said}: {why}"
    return f"\n-# {said}{'' if answer.kept else ' just now'}. With `/memory add` you save something yourself."


def _why(missed: Outcome) -> str:
    """Why a call was refused; "" where that says nothing to who asked."""
    if missed.kind is OutcomeKind.LIMIT_REACHED:
        if missed.detail:
            return f"{missed.limit} suggestions wait already, see `/approvals`."
        whose = describe(missed.scope, "this persona")
        return f"{whose} are full ({missed.unpinned} of {missed.limit} unpinned). Delete or pin one first."
    if missed.kind is OutcomeKind.TOO_LONG:
        return f"a text of {missed.length:,} characters is too long; the limit is {missed.limit:,}."
    if missed.detail == NO_SERVER:
        return "what is for a whole server is saved there, not in a DM."
    return "it was too much at once. Ask again for the rest." if missed is _TOO_MANY else ""


def saving_is_off(loaded: Loaded) -> bool:
    """Does the server let the model write nothing by itself? It has no say in a direct message."""
    return loaded.config.autosave is Autosave.OFF and not loaded.place.is_dm


def suggestions(loaded: Loaded, answer: Answer) -> str:
    """Beneath a reply whose suggestions have no card here, because confirmations are off: how many wait."""
    waiting = {o.proposal.id for o in answer.outcomes if o.proposal is not None}
    if not waiting or loaded.config.confirmations is not Confirmations.OFF:
        return ""
    said = "1 suggestion waits" if len(waiting) == 1 else f"{len(waiting)} suggestions wait"
    return f"\n-# {said} for approval: `/approvals`"


class Asking:
    """One conversation with the model, for one turn."""

    def __init__(self, doors: Doors, turn: Turn, reply: Reply, answer: Answer) -> None:
        self._do = doors
        self._turn = turn
        self._reply = reply
        self._answer = answer

    async def run(self, prepared: Prepared, context: ToolContext, tools: tuple[ToolSpec, ...]) -> None:
        """Fill the answer. Raises what the model's door raises; what was said so far is in the answer."""
        messages = list(prepared.prompt.messages)
        for number in range(ROUNDS + 1):
            done = await self._stream(messages, tools)
            if number == ROUNDS:
                self._answer.rounds.append([_TOO_MANY for _ in done.tool_calls])
            if not done.tool_calls or number == ROUNDS:
                break
            messages.append(ChatMessage(Role.ASSISTANT, done.text, tool_calls=done.tool_calls))
            at = replace(context, round=number)
            self._answer.rounds.append([])
            for position, call in enumerate(done.tool_calls):
                result = await self._call(at, call, position)
                messages.append(ChatMessage(Role.TOOL, result, tool_call_id=call.id))
        if not window.has_words(self._answer.text):
            raise ModelEmpty("The model answered nothing. Your message is kept.")
        self._do.stage("answered")

    async def _call(self, context: ToolContext, call: ToolCall, position: int) -> str:
        if position >= CALLS_A_ROUND:
            self._answer.rounds[-1].append(_TOO_MANY)
            return tool_words(_TOO_MANY)
        result = await self._do.tools.call(context, call)
        self._answer.rounds[-1].append(result.outcome)
        if result.outcome.journal is not None:
            self._do.stage("wrote")
        return result.words

    async def _stream(self, messages: Sequence[ChatMessage], tools: tuple[ToolSpec, ...]) -> Finished:
        """One call of the model, shown as it comes. Adds its text and usage to the answer."""
        answer = self._answer
        before, heard = answer.text, ""
        request = Request(
            tuple(messages),
            tools=tools,
            max_tokens=self._do.settings.reply_tokens,
            deadline_s=self._do.settings.turn_deadline_seconds,
        )
        stood_in: int | None = self._turn.partial_id
        async with contextlib.aclosing(self._do.model.stream(request)) as events:
            async for event in events:
                if isinstance(event, Finished):
                    answer.usage += event.usage
                    answer.truncated = event.truncated
                    answer.text = _joined(before, event.text)
                    return event
                heard += event.text
                answer.text = _joined(before, heard)
                shown = await self._reply.show(answer.text)
                if shown is not None and shown != stood_in:
                    stood_in = shown
                    async with self._do.store.write() as tx:
                        await tx.turns.set_partial(self._turn.id, shown)
                    self._do.stage("streaming")
        raise ModelEmpty("The model's answer had no end. Your message is kept.")


def _joined(before: str, text: str) -> str:
    """Words of several rounds, one below the other."""
    if not before.strip():
        return text
    return f"{before.rstrip()}\n{text}" if text else before
