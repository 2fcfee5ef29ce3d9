"""From what is stored to a prompt: one short read, then pure rules. Turn, preview and snapshot all come here.

Nothing is written, and ``now`` is an argument, so that a preview is exactly what a turn would send.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory.activation import rules as activation
from memory.config.rules import Mode, PlaceConfig
from memory.config.service import Config
from memory.errors import BudgetError
from memory.facts import rules as facts
from memory.llm.port import ModelInfo, Tokenizer, ToolSpec
from memory.personas.service import Personas
from memory.ports import Surface, speaker_of
from memory.prompt import assembly, blocks, texts
from memory.prompt.budget import MIN_RESERVE, PER_MESSAGE
from memory.prompt.ledger import Block, Kind
from memory.prompt.names import A_MEMBER, tell_apart
from memory.settings import Settings
from memory.store import Store, Tx
from memory.types import (
    DEFAULT_LINEAGE,
    AuthorKind,
    DetailLevel,
    Memory,
    Message,
    Person,
    Persona,
    Place,
    Scope,
    SubjectKind,
)
from memory.window import rules as window

LOADS_AT_ONCE = 2
"""Prompts that are read at the same time. However many turns begin at once, reading connections stay free for
what Discord wants within three seconds and what has to be read first: a list of choices, a text box."""

JOINED = 10
"""Waiting messages that are answered as the current input of one turn; older ones stay in the window."""


NOT_CALLED = "none of its keywords appears in the conversation"
ELSEWHERE = "it is for other channels"
NOT_CHOSEN = "newer memories have taken the places that a turn has for unpinned ones"

BLANK = "This channel's memory mode is blank: no memory is read or written here."
INCOGNITO = "This channel's memory mode is incognito: memories are read, and nothing said here is saved."
NO_LEARNING = "Learn from chat is off for this persona: saved memories are neither read nor written."


@dataclass(frozen=True, slots=True)
class Words:
    """The names that the prompt's own texts use. ``tools``: what the model may call this turn.

    ``tool_tokens``: what the tools' descriptions cost; they are sent with the prompt and kept free for it.
    ``notes``: sentences for the ledger.
    """

    bot: str
    user: str
    channel: str
    server: str
    tools: frozenset[str]
    tool_tokens: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a turn reads, in one transaction."""

    place: Place
    config: PlaceConfig
    window: tuple[Message, ...]
    triggers: tuple[Message, ...]
    memories: tuple[Memory, ...]
    in_play: tuple[Person, ...]
    names: Mapping[int, str]
    window_start: int
    persona: Persona
    scopes: tuple[Scope, ...]

    @property
    def here(self) -> tuple[int | None, ...]:
        """Which channel tags count here: a thread's are its own and its channel's."""
        return self.place.channel_id, self.place.parent_id


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prompt with what a turn must know of it. ``handles`` are the only ones the model may use."""

    prompt: assembly.Prompt
    loaded: Loaded
    handles: Mapping[str, int] = field(default_factory=dict)


class Preparer:
    """Loads and builds. Holds no state of any channel."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        config: Config,
        personas: Personas,
        tokenizer: Tokenizer,
    ) -> None:
        self._store = store
        self._settings = settings
        self._config = config
        self._personas = personas
        self._tokenizer = tokenizer
        self._loading = asyncio.Semaphore(LOADS_AT_ONCE)

    async def load(
        self,
        place: Place,
        info: ModelInfo,
        triggers: Sequence[int | Message],
        authors: Mapping[int, Person],
        persona: Persona,
        reserved: Collection[str] = (),
    ) -> Loaded:
        """Read everything that one prompt needs. ``triggers``: stored ids, or a preview's unsaved message.

        ``persona``: who answers. ``reserved``: names that no member may be shown by, such as the persona's.
        """
        async with self._loading, self._store.read() as tx:
            config = await self._config.load(tx, place)
            channel = await tx.channels.get(place.channel_id)
            start, epoch = (channel.window_start, channel.epoch) if channel else (0, 0)
            rows = await tx.messages.window(place.channel_id, start, epoch)
            unsaved = [t for t in triggers if isinstance(t, Message)]
            wanted = {t for t in triggers if isinstance(t, int)}
            if before := sorted(
                wanted - {m.id for m in rows}
            ):  # called before a `/refresh`: answered all the same
                rows = [*await tx.messages.many(place.channel_id, before), *rows]
            call_ids = {m.id for m in [*[m for m in rows if m.id in wanted][-JOINED:], *unsaved]}
            last = max(call_ids, default=0)
            stored = [*(m for m in rows if m.id <= last or unsaved), *unsaved]
            seen = self._told_apart(stored, persona.lineage, reserved)
            calls = [m for m in seen if m.id in call_ids]
            cast = await self._cast(tx, place, persona)
            kept, base = self._windows(seen, config, persona, cast, info)
            people = _in_play(kept, calls, authors)
            shared = [p.lineage for p in cast if config.union and p.learns]
            scopes = facts.scopes_in_play(place, persona.lineage, tuple(p.id for p in people), shared)
            reads = persona.learns and config.mode is not Mode.BLANK
            memories = await tx.memories.of_scopes(scopes, dm=place.is_dm) if scopes and reads else []
            names = _shown_names(seen) | await self._absent(tx, place, stored, memories)
        return Loaded(
            place=place,
            config=config,
            window=tuple(m for m in kept if m.id not in call_ids),
            triggers=tuple(calls),
            memories=tuple(memories),
            in_play=people,
            names=names,
            window_start=base if base is not None else start,
            persona=persona,
            scopes=scopes,
        )

    async def _cast(self, tx: Tx, place: Place, persona: Persona) -> tuple[Persona, ...]:
        """Who takes part in this channel besides ``persona``. Only a server that has personas is asked."""
        if place.guild_id is None:
            return ()
        rows = await self._personas.rows(place.guild_id)
        if not rows:
            return ()
        lineages = {*await tx.personas.cast(place.channel_id)} - {persona.lineage}
        found = [row for row in rows if row.lineage in lineages]
        if DEFAULT_LINEAGE in lineages and not any(row.built_in for row in found):
            found.append(await self._personas.built_in(place.guild_id))
        return tuple(found)

    def _windows(
        self,
        seen: Sequence[Message],
        config: PlaceConfig,
        persona: Persona,
        cast: Sequence[Persona],
        info: ModelInfo,
    ) -> tuple[list[Message], int | None]:
        """What this persona is given, and the id at which the channel's window begins when it has moved.

        A channel with several personas is kept at its cast's highest level; who has a lower one is given the
        newest part (SPEC §2).
        """
        own = config.detail_for(persona)
        widest = max((own, *(config.detail_for(each) for each in cast)), key=_WIDTH.__getitem__)
        base = _window(seen, window.limits(widest, info.context_window))
        kept = base if widest is own else _window(base, window.limits(own, info.context_window))
        return kept, base[0].id if base and len(base) < len(seen) else None

    def _told_apart(
        self, messages: Sequence[Message], lineage: str, reserved: Collection[str]
    ) -> list[Message]:
        """Two authors are never shown by one name; what another persona said is a line under its name.

        A line that changed by it is counted anew.
        """
        count, encoding = self._tokenizer.count, self._tokenizer.encoding
        heard = window.as_heard_by(lineage, messages)
        return [
            m if m.encoding else replace(m, tokens=count(m.line), encoding=encoding)
            for m in window.distinguish(heard, reserved)
        ]

    async def _absent(
        self, tx: Tx, place: Place, messages: Sequence[Message], memories: Sequence[Memory]
    ) -> dict[int, str]:
        """Present names of those whom a memory names as ``<@id>`` (SPEC §4.4) and who did not speak here.

        They are told apart too: an author who has the same name would pass for who the memory is about.
        """
        here = window.bearers(messages)
        named = {i for m in memories if "<@" in m.text for i in facts.mentions_in(m.text)}
        missing = sorted(named - {i for i, _ in here})
        if not missing:
            return {}
        absent = await tx.names.get(place.guild_id or 0, missing)
        given = tell_apart({*here, *absent.items()})
        personas = {m.author_id for m in messages if m.kind is AuthorKind.PERSONA}
        return {i: name if i in personas else given.get((i, name), name) for i, name in absent.items()}

    def words(
        self, surface: Surface, place: Place, user: str, tools: Sequence[ToolSpec], persona: Persona
    ) -> Words:
        """The names that the prompt's own texts use."""
        return Words(
            bot=persona.name or surface.persona_name(place),
            user=user,
            channel=place.name,
            server="" if place.guild_id is None else surface.server_name(place.guild_id),
            tools=frozenset(t.name for t in tools),
            tool_tokens=sum(map(self._tool_cost, tools)),
            notes=surface.blind_spots(place, speaker_of(persona)),
        )

    def _tool_cost(self, tool: ToolSpec) -> int:
        text = json.dumps([tool.name, tool.description, tool.parameters], ensure_ascii=False, default=dict)
        return self._tokenizer.count(text)

    def build(self, loaded: Loaded, info: ModelInfo, now: datetime, words: Words) -> Prepared:
        """Activate, select, budget, fit and assemble. Pure. Raises :class:`BudgetError`.

        Where the pins of several callers leave no room for an answer, those of the latest stay protected and
        the others' share what other members' pins have (SPEC §4.2): a full channel is answered all the same.
        """
        callers = list(dict.fromkeys(m.author_id for m in reversed(loaded.triggers)))
        try:
            return self._build(loaded, info, now, words, callers)
        except BudgetError:
            if len(callers) < 2:
                raise
        return self._build(loaded, info, now, words, callers[:1])

    def _build(
        self, loaded: Loaded, info: ModelInfo, now: datetime, words: Words, callers: Sequence[int]
    ) -> Prepared:
        count, encoding = self._tokenizer.count, self._tokenizer.encoding
        lines = (m.line for m in (*loaded.window, *loaded.triggers))
        on = activation.active(loaded.memories, loaded.here, lines) if loaded.config.tags else loaded.memories
        chosen = facts.select(on, limit=self._settings.max_injected_memories)
        system = texts.system_prompt(words.bot, tools=bool(words.tools))
        shown = blocks.KEPT_IMAGES if info.images else 0
        left = max(0, shown - blocks.image_messages(loaded.triggers))
        parts = [
            blocks.prompt_block(Kind.SYSTEM, "system", system, count),
            *self._written(loaded, words),
            *self._memory_blocks(loaded, chosen, now, callers),
            *self._unused_memories(loaded, on, chosen),
            *blocks.window_blocks(loaded.window, count=count, kept_images=left, encoding=encoding),
            *blocks.input_blocks(loaded.triggers, count=count, kept_images=shown, encoding=encoding),
        ]
        reserve = max(self._settings.reply_tokens, MIN_RESERVE) + words.tool_tokens
        notes = (*info.notes, *words.notes, *_switched(loaded))
        prompt = assembly.build(parts, info=info, reserve=reserve, notes=notes)
        return Prepared(prompt, loaded, blocks.handles(prompt.ledger))

    def _written(self, loaded: Loaded, words: Words) -> list[Block]:
        """What people wrote for every prompt: the server's, the channel's and the persona's words."""
        values = texts.macro_values(
            user=words.user, bot=words.bot, channel=words.channel, server=words.server, tools=words.tools
        )
        persona, count = loaded.persona, self._tokenizer.count
        prompts = (
            (Kind.SERVER_PROMPT, "server prompt", loaded.config.server_prompt),
            (Kind.CHANNEL_PROMPT, "channel prompt", loaded.config.channel_prompt),
            (Kind.PERSONA, "persona", texts.persona_text(persona)),
        )
        written = [
            blocks.prompt_block(kind, title, texts.resolve_macros(text, values), count)
            for kind, title, text in prompts
            if text
        ]
        samples = [
            (texts.resolve_macros(s.said, values), texts.resolve_macros(s.answer, values))
            for s in persona.samples
        ]
        return [*written, *blocks.dialogue_blocks(samples, count)]

    def _memory_blocks(
        self, loaded: Loaded, chosen: Sequence[Memory], now: datetime, callers: Collection[int]
    ) -> list[Block]:
        """A section a scope. The server's and the callers' pins are protected (SPEC §4.2)."""
        made: dict[Kind, list[Block]] = {}
        for scope in loaded.scopes:
            personal = scope.kind is SubjectKind.USER
            standing = Kind.PERSONAL_MEMORIES if personal else Kind.SERVER_MEMORIES
            here = [m for m in chosen if m.scope == scope]
            protects = not personal or scope.subject_id in callers
            for kind, keyed in ((standing, False), (Kind.ACTIVATED, True)):
                memories = [m for m in here if activation.keyed(m) is keyed]
                made.setdefault(kind, []).extend(
                    blocks.memory_blocks(
                        kind,
                        memories,
                        about=blocks.whom(scope, loaded.names.get(scope.subject_id, A_MEMBER)),
                        owner=scope.subject_id if personal else None,
                        protected_ids={m.id for m in memories if m.pinned} if protects else (),
                        now=now,
                        names=loaded.names,
                        count=self._tokenizer.count,
                    )
                )
        count = self._tokenizer.count
        return [b for kind, part in made.items() if part for b in (blocks.memory_group(kind, count), *part)]

    def _unused_memories(self, loaded: Loaded, on: Sequence[Memory], chosen: Sequence[Memory]) -> list[Block]:
        """What the scopes in play hold and this turn is not given, with the reason: the ledger names it."""
        active, given = {m.id for m in on}, {m.id for m in chosen}

        def reason(memory: Memory) -> str:
            if memory.id in active:
                return NOT_CHOSEN
            return NOT_CALLED if activation.belongs(memory, loaded.here) else ELSEWHERE

        unused: dict[tuple[Scope, str], list[Memory]] = {}
        for memory in loaded.memories:
            if memory.id not in given:
                unused.setdefault((memory.scope, reason(memory)), []).append(memory)
        return [
            blocks.unused_memories(
                Kind.PERSONAL_MEMORIES if scope.kind is SubjectKind.USER else Kind.SERVER_MEMORIES,
                memories,
                about=blocks.whom(scope, loaded.names.get(scope.subject_id, A_MEMBER)),
                owner=scope.subject_id if scope.kind is SubjectKind.USER else None,
                why=why,
                count=self._tokenizer.count,
            )
            for (scope, why), memories in unused.items()
        ]


def _switched(loaded: Loaded) -> tuple[str, ...]:
    """What a switch keeps from being read or written, for the ledger."""
    said = {Mode.BLANK: BLANK, Mode.INCOGNITO: INCOGNITO}.get(loaded.config.mode, "")
    return tuple(note for note in (said, "" if loaded.persona.learns else NO_LEARNING) if note)


_WIDTH = {level: place for place, level in enumerate(DetailLevel)}
"""The detail levels, the narrowest window first."""


def _window(messages: Sequence[Message], limits: window.Limits) -> list[Message]:
    """The messages that stay verbatim. What a member excluded costs nothing, and is named in the ledger."""
    sizes = [(m.id, 0 if m.excluded else m.tokens + PER_MESSAGE) for m in messages]
    return list(messages[window.plan_start(sizes, limits) :])


def _in_play(
    messages: Sequence[Message], calls: Sequence[Message], authors: Mapping[int, Person]
) -> tuple[Person, ...]:
    """The people whose memories count, by the name they are shown by; rights only where the event said."""
    callers = list(dict.fromkeys(m.author_id for m in reversed(calls)))
    ids = window.in_play(messages, callers)
    names = _shown_names([*calls, *messages])
    return tuple(replace(authors.get(i) or Person(i, A_MEMBER), name=names.get(i, A_MEMBER)) for i in ids)


def _shown_names(messages: Sequence[Message]) -> dict[int, str]:
    """Each author's latest name, the messages being oldest first. A persona's lines show none."""
    return {m.author_id: m.author_name for m in messages if m.kind is not AuthorKind.PERSONA}
