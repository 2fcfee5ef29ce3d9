"""Ana, Ben and Mara talk to two personas in one channel and in DMs; the model writes as it likes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.stateful import rule

from memory.types import GLOBAL, AuthorKind, Incoming, Person, Place, SubjectKind
from tests.fakes import GUILD, calls, says
from tests.fakes import Step as Answer
from tests.stateful.cast import (
    ANA,
    ARIA,
    BEN,
    SQUARE,
    keywords,
    personas,
    place_of,
    scope_of,
    somebody,
    text,
    which,
    who,
)
from tests.stateful.checks import Kind
from tests.stateful.eyes import Kept, Spoken
from tests.stateful.world import Turned, World

STAGES = ("taken", "prepared", "wrote", "answered", "committed", "delivered", "closed", "")
SHOWN = re.compile(r"(?m)^- m(\d+) ")

Wish = tuple[str, str, int, Sequence[str]]

WISHES = ("me", "server", "Ana", "Ben", "update", "update", "delete", "delete", "meddle")
scripts = st.lists(st.tuples(st.sampled_from(WISHES), text, which, keywords), max_size=3)


class Talking(World):
    """Turns, one or two at a time; crashes and restarts."""

    @rule(**somebody, to=personas, script=scripts, more=st.none() | scripts)
    def talk(
        self, person: Person, private: bool, to: str, script: Sequence[Wish], more: Sequence[Wish] | None
    ) -> None:
        place = place_of(person, private)
        self._talk(place, [(person, to, script)])
        if more is not None:
            self._talk(place, [(person, to, more)])

    @rule(first=st.sampled_from((ANA, BEN)), to=personas, other=personas, script=scripts, answer=scripts)
    def talk_at_once(
        self, first: Person, to: str, other: str, script: Sequence[Wish], answer: Sequence[Wish]
    ) -> None:
        """Both call before anybody is answered: two turns, or one for both when they call the same."""
        second = BEN if first is ANA else ANA
        self._talk(SQUARE, [(first, to, script), (second, other, answer)])

    def _called(self, to: str) -> int:
        """While Aria is gone, the built-in persona answers for her."""
        return self.aria if to == ARIA else 0

    def _talk(self, place: Place, said: Sequence[tuple[Person, str, Sequence[Wish]]]) -> None:
        self.tick()
        self.model.steps[:] = [
            step for person, to, script in said for step in self._script(person, to, script)
        ]
        told = [(self.surface.say(person, "hello there", place), to) for person, to, _ in said]
        self.taken.clear()
        self.model.requests.clear()
        self.run(self._observe(told))
        self.model.steps.clear()
        old = self.settle(Kind.TURNS, place=place)
        made = [turn for number, turn in self.now.turns.items() if number not in old.turns]
        triggers = [trigger for turn in made for trigger in turn.triggers]
        assert triggers == [incoming.message_id for incoming, _ in told], self.surface.reports
        for number, turn in enumerate(made):
            self._answered(turn, place)
            before, request = self.taken[number]
            self._was_given(turn, before, self.model.requests[request].messages)
            self.turns[place.channel_id].append(Turned(turn, before))

    async def _observe(self, told: Sequence[tuple[Incoming, str]]) -> None:
        for incoming, to in told:
            await self.engine.observe(incoming, trigger=True, persona_id=self._called(to))
        await self.engine.idle()
        await self.engine.idle()

    def _script(self, person: Person, to: str, script: Sequence[Wish]) -> list[Answer]:
        """What the model does when its turn comes. ``meddle``: it changes what is not its to change."""
        tools: list[tuple[str, dict[str, object]]] = []
        given = [
            memory
            for memory in self.now.memories.values()
            if memory.scope.lineage == to and memory.scope.subject_id in (person.id, GUILD)
        ]
        own = [memory.id for memory in sorted(given, key=lambda memory: not memory.pinned)]
        others = [memory.id for memory in self.now.memories.values() if memory not in given]
        for what, words, index, tags in script:
            ids = (own if what in ("update", "delete") else others) or [1]
            handle = f"m{ids[index % len(ids)]}"
            if what in ("update", "meddle"):
                tools.append(("update_memory", {"handle": handle, "content": words}))
            elif what == "delete":
                tools.append(("delete_memory", {"handle": handle}))
            else:
                about = {"about": "server"} if what == "server" else {"about": "user"}
                named = {"user": what} if what in ("Ana", "Ben") else {}
                tools.append(("save_memory", {"content": words, **about, **named, "keywords": list(tags)}))
        return [calls(*tools), says("Done.")] if tools else [says("Hello.")]

    def _answered(self, turn: Spoken, place: Place) -> None:
        assert turn.state == "delivered" and turn.channel_id == place.channel_id
        (reply,) = turn.replies
        assert self.surface.messages[reply].place == place

    def _was_given(self, turn: Spoken, before: Kept, messages: Sequence) -> None:
        """Its own pins, and nothing of another persona or server, nor in a server what is for DMs only."""
        shown = {int(found) for message in messages for found in SHOWN.findall(message.text)}
        in_dm = turn.guild_id is None
        its = scope_of(Person(turn.authors[0], ""), not in_dm, turn.lineage)
        pins = {i for i, m in before.items() if m.pinned and m.scope == its and not m.channels}
        assert pins <= shown, f"its own pins are not given: {pins - shown}"
        for number in shown:
            memory = before[number]
            scope = memory.scope
            assert turn.guild_id is None or not memory.dm_only, f"for DMs only: {memory}"
            shared = scope.kind is SubjectKind.SERVER
            union = shared and "persona_memories" in self.on
            assert union or scope.lineage in (turn.lineage, GLOBAL), f"another persona's: {memory}"
            assert not memory.channels or turn.channel_id in memory.channels, f"for other channels: {memory}"
            if shared:
                assert turn.guild_id == scope.subject_id, f"another server's: {memory}"
            else:
                assert turn.guild_id is not None or scope.subject_id in turn.authors, f"in a DM: {memory}"

    @rule(person=who, to=personas, stage=st.sampled_from(STAGES), words=text)
    def crash(self, person: Person, to: str, stage: str, words: str) -> None:
        """The process dies in the middle of a turn, or is restarted after it."""
        self.tick()
        reports = len(self.surface.reports)
        self.model.steps[:] = self._script(person, to, [("me", words, 0, ())])
        self.die_at = stage
        incoming = self.surface.say(person, "hello there")
        self.run(self._observe([(incoming, to)]))
        self.die_at = ""
        self.model.steps.clear()
        self.restart()
        old = self.settle(Kind.TURNS, place=SQUARE)
        replies = [
            m
            for m in self.surface.messages.values()
            if m.id > incoming.message_id and m.kind is AuthorKind.PERSONA and not m.report and not m.notice
        ]
        assert len(replies) + len(self.surface.reports) - reports == 1
        assert len(self.changed) <= 1 and set(old.memories) <= set(self.now.memories)
        assert all(self.now.memories[i].text == words for i in self.changed)
        made = [turn for number, turn in self.now.turns.items() if number not in old.turns]
        answered = [turn for turn in made if turn.state == "delivered"]
        self.turns[SQUARE.channel_id] += [Turned(turn, old.memories) for turn in answered]
