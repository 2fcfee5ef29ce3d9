"""Making drafts, by a model or of the words as they are, and keeping the reviewed ones (SPEC §4.3).

Nothing here saves by itself: a model's answer becomes drafts, and only what a person sends back is written.
No transaction is open while the model is waited for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence

from memory.config.rules import Mode, PlaceConfig
from memory.errors import ContextOverflow, ModelEmpty, ModelMalformed
from memory.facts.drafts import (
    DESCRIPTION,
    FROM_DESCRIPTION,
    FROM_MESSAGES,
    NOT_SAID,
    PICKED,
    REPAIR,
    Draft,
    DraftRefused,
    Drafts,
    Pick,
    as_mentioned,
    by_name,
    draft_of,
    gather,
    people_in,
    read_drafts,
    request_messages,
)
from memory.facts.outcomes import Outcome
from memory.facts.rules import labels, mentions_in
from memory.facts.service import Facts
from memory.llm.port import ChatMessage, Finished, Model, Request, Role
from memory.types import AuthorKind, Incoming, Person, Place, Scope, Source

DEADLINE_S = 120.0
"""Seconds for all drafts of one request, the repair included: a person waits for them."""

ConfigOf = Callable[[Place], Awaitable[PlaceConfig]]


class Drafting:
    """One a process. Methods raise DraftRefused, ModelError and StoreError; then nothing was saved."""

    def __init__(self, facts: Facts, model: Model, config_of: ConfigOf) -> None:
        self._facts = facts
        self._model = model
        self._config_of = config_of

    @property
    def _limit(self) -> int:
        return self._facts.limits.length

    def draft(self, text: str, source: Source | None = None) -> Draft | None:
        """The draft that an edited text makes; None when there is nothing to see in it."""
        return draft_of(text, self._limit, source)

    async def pickable(
        self, place: Place, messages: Sequence[Incoming], clicked_id: int | None = None
    ) -> tuple[Pick, ...]:
        """Those of ``messages`` that may be saved, in order. Refused when ``clicked_id`` is not among them.

        Not: confirmations, what holds no words, what was excluded from the prompt.
        """
        await self._open(place)
        ids = [each.message_id for each in messages]
        async with self._facts.store.read() as tx:
            notices = set(await tx.notices.is_notice(ids))
            excluded = {m.id for m in await tx.messages.many(place.channel_id, ids) if m.excluded}
        if clicked_id in notices:
            raise DraftRefused(NOT_SAID)
        if clicked_id in excluded:
            raise DraftRefused(_EXCLUDED)
        hidden = notices | excluded
        picks = [_pick(m) for m in messages if m.message_id not in hidden and draft_of(m.text, 1)]
        if clicked_id is not None and all(pick.id != clicked_id for pick in picks):
            raise DraftRefused(_NO_WORDS)
        return tuple(picks)

    async def from_description(self, person: Person, place: Place, description: str) -> Drafts:
        """Drafts of what a member describes. The chat is not read."""
        words = description.strip()
        if draft_of(words, 1) is None:
            raise DraftRefused("There is nothing in that description, so no drafts were made.")
        if len(words) > DESCRIPTION:
            raise DraftRefused(
                f"That description has {len(words):,} characters and the limit is {DESCRIPTION:,}."
                " No drafts were made; shorten it."
            )
        named = mentions_in(words)
        async with self._facts.store.read() as tx:
            names = await tx.names.get(place.guild_id or 0, named) if named else {}
        people = people_in((person,), names)
        source = {
            "by": f"@{labels(people)[person.id]}",
            "at": f"{self._facts.clock.now():%Y-%m-%d %H:%M} UTC",
            "text": by_name(words, people),
        }
        about = "Draft entries of this description:"
        return await self._ask([source], about, people, FROM_DESCRIPTION)

    async def from_messages(self, place: Place, picks: Sequence[Pick], clicked: Pick | None = None) -> Drafts:
        """A model's drafts of picked messages. ``clicked``: the one that they will name as their source."""
        await self._open(place)
        _check_picks(picks)
        names = {user_id: name for pick in picks for user_id, name in pick.names.items()}
        people = people_in([pick.author for pick in picks if pick.member], names)
        given = labels(people)
        quoted = [
            {
                "by": f"@{given[pick.author.id]}" if pick.member else pick.author.name,
                "at": pick.at,
                "text": by_name(pick.text, people),
            }
            for pick in picks
        ]
        source = (clicked or picks[0]).source
        return await self._ask(quoted, "Draft entries of these messages:", people, FROM_MESSAGES, source)

    async def as_is(self, place: Place, picks: Sequence[Pick]) -> Drafts:
        """The messages' own words, one draft each. Over-long ones are to be trimmed in the review."""
        await self._open(place)
        _check_picks(picks)
        return gather([(pick.text, pick.source) for pick in picks], self._limit, PICKED)

    async def keep(
        self,
        person: Person,
        place: Place,
        scope: Scope,
        drafts: Sequence[Draft],
        *,
        pinned: bool,
        from_chat: bool,
    ) -> list[Outcome]:
        """Save reviewed drafts, all or none (see Facts.add_all). ``from_chat``: they came from messages."""
        if from_chat:
            await self._open(place)
        entries = [(draft.text, draft.source) for draft in drafts]
        return await self._facts.add_all(person, place, scope, entries, pinned=pinned)

    async def _open(self, place: Place) -> None:
        """Nothing that is said in an incognito or blank channel may outlive it (SPEC §4.8)."""
        mode = (await self._config_of(place)).mode
        if mode is not Mode.NORMAL:
            raise DraftRefused(_CLOSED[mode])

    async def _ask(
        self,
        quoted: Sequence[Mapping[str, str]],
        about: str,
        people: Sequence[Person],
        most: int,
        source: Source | None = None,
    ) -> Drafts:
        try:
            texts = await self._answered(quoted, about, most)
        except ContextOverflow as error:
            raise DraftRefused(_TOO_MUCH) from error
        if texts is None:
            raise ModelMalformed("The model did not answer with drafts.")
        return gather([(as_mentioned(text, people), source) for text in texts], self._limit, most)

    async def _answered(self, quoted: Sequence[Mapping[str, str]], about: str, most: int) -> list[str] | None:
        """The model's texts, asked once more when they can't be read; None when they still can't."""
        begun = self._facts.clock.now()
        messages = request_messages(quoted, about, length=self._limit, most=most)
        answer = await self._said(messages, DEADLINE_S, most)
        texts = read_drafts(answer)
        if texts is not None:
            return texts
        left = DEADLINE_S - (self._facts.clock.now() - begun).total_seconds()
        again = (
            *messages,
            ChatMessage(Role.ASSISTANT, answer or "(nothing)"),
            ChatMessage(Role.USER, REPAIR, "drafts.repair"),
        )
        return read_drafts(await self._said(again, max(left, 1.0), most))

    async def _said(self, messages: tuple[ChatMessage, ...], deadline_s: float, most: int) -> str:
        tokens = min(4_096, 256 + most * self._limit)
        request = Request(messages, max_tokens=tokens, deadline_s=deadline_s)
        async with contextlib.aclosing(self._model.stream(request)) as events:
            async for event in events:
                if isinstance(event, Finished):
                    return event.text
        raise ModelEmpty("The model's answer had no end.")


def _check_picks(picks: Sequence[Pick]) -> None:
    if not picks:
        raise DraftRefused("No message is picked, so no drafts were made. Pick at least one.")
    if len(picks) > PICKED:
        raise DraftRefused(
            f"{len(picks)} messages are picked and the limit is {PICKED}, so no drafts were made. Pick fewer."
        )


def _pick(message: Incoming) -> Pick:
    place = message.place
    return Pick(
        message.message_id,
        message.author,
        message.kind is AuthorKind.MEMBER,
        message.text,
        f"{message.at:%Y-%m-%d %H:%M} UTC",
        Source(place.channel_id, message.message_id, place.guild_id),
        message.mentions,
    )


_TOO_MUCH = (
    "That is more than the model can read at once, so no drafts were made."
    " Pick fewer or shorter messages, or use their words as they are."
)
_NO_WORDS = "There are no words in that message, so nothing was saved."
_EXCLUDED = (
    "That message is excluded from what I am given, so nothing was saved."
    " Take it in again first: Exclude from prompt, in its menu."
)
_CLOSED = {
    Mode.INCOGNITO: (
        "This channel is incognito: nothing that is said here is saved, so nothing was saved."
        " Your own words can be saved with /memory add."
    ),
    Mode.BLANK: (
        "Memory is switched off in this channel (blank), so nothing was saved."
        " Your own words can be saved with /memory add."
    ),
}
