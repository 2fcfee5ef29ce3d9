"""Makers of blocks: how each thing that the engine knows looks in a prompt, and what it costs.

Ids: ``system``, ``prompt.server``, ``prompt.channel``, ``persona``; a group of memories ``memories.server``,
``memories.personal``, ``memories.activated``; a section's heading ``memories.server.<lineage or global>`` or
``memories.user.<user id>.<lineage or global>`` and its lines ``….m12``, both with ``.activated`` after the
lineage for entries that a keyword called; ``message:<id>``, ``input:<id>``; separators ``day:<date>``, in the
input ``input.day:<date>``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

from memory.llm.port import Role
from memory.prompt.budget import PER_MESSAGE, Count, message_cost
from memory.prompt.ledger import Block, Kind, Ledger
from memory.prompt.names import A_MEMBER, THIS_SERVER, clean_name, render_mentions
from memory.prompt.texts import MEMORY_GROUP, MEMORY_HEADING, SAMPLES
from memory.types import GLOBAL, AuthorKind, Memory, Message, Scope, SubjectKind

RECENT = timedelta(days=7)
"""A memory updated within it is marked ``(recent)`` (SPEC §4.1)."""

KEPT_IMAGES = 3
"""The newest messages with images that still show them (SPEC §2)."""

EXCLUDED_BY_MEMBER = "a member excluded this message from the prompt"

_WORD = re.compile(r"[^a-z]+")

_PROMPT_IDS = {
    Kind.SYSTEM: "system",
    Kind.SERVER_PROMPT: "prompt.server",
    Kind.CHANNEL_PROMPT: "prompt.channel",
    Kind.PERSONA: "persona",
}


def prompt_block(kind: Kind, title: str, text: str, count: Count) -> Block:
    """A required block of words written by us or by an admin; macros already resolved."""
    block_id = _PROMPT_IDS.get(kind, kind.value.replace(" ", "_"))
    return Block(block_id, kind, title, Role.SYSTEM, text, message_cost(text, count), protected=True)


def dialogue_blocks(samples: Sequence[tuple[str, str]], count: Count) -> tuple[Block, ...]:
    """A persona's sample dialogue: one message, an exchange a block, so that some can be left out."""
    if not samples:
        return ()
    head = f"{SAMPLES}\n"
    blocks = [
        Block(
            "dialogue",
            Kind.DIALOGUE,
            "sample dialogue",
            Role.SYSTEM,
            head,
            count(head) + PER_MESSAGE,
            join="dialogue",
            heading=True,
        )
    ]
    for number, (said, answer) in enumerate(samples, 1):
        text = f"Member: {_on_lines(said)}\nYou: {_on_lines(answer)}\n"
        blocks.append(
            Block(
                f"dialogue.{number}",
                Kind.DIALOGUE,
                f"example {number}",
                Role.SYSTEM,
                text,
                count(text),
                join="dialogue",
                under="dialogue",
            )
        )
    return tuple(blocks)


def _on_lines(text: str) -> str:
    """Further lines indented, so that none can pass for the start of another speaker's."""
    return "\n  ".join(text.strip().splitlines())


def section_id(scope: Scope) -> str:
    """The id of the heading of a scope's memories."""
    lineage = "global" if scope.lineage == GLOBAL else scope.lineage
    if scope.kind is SubjectKind.SERVER:
        return f"memories.server.{lineage}"
    return f"memories.user.{scope.subject_id}.{lineage}"


def whom(scope: Scope, name: str = "") -> str:
    """Whom a section is about. ``name``: the member's display name, for a user scope."""
    return THIS_SERVER if scope.kind is SubjectKind.SERVER else clean_name(name)


_GROUPS = {
    Kind.SERVER_MEMORIES: "memories.server",
    Kind.PERSONAL_MEMORIES: "memories.personal",
    Kind.ACTIVATED: "memories.activated",
}


def memory_group(kind: Kind, count: Count) -> Block:
    """The heading of all memories of one kind: they are one message."""
    head, group = f"{MEMORY_GROUP}\n", _GROUPS[kind]
    tokens = count(head) + PER_MESSAGE
    return Block(group, kind, kind.value, Role.SYSTEM, head, tokens, join=group, heading=True)


def memory_blocks(
    kind: Kind,
    memories: Sequence[Memory],
    *,
    about: str,
    owner: int | None,
    protected_ids: Collection[int],
    now: datetime,
    names: Mapping[int, str],
    count: Count,
) -> tuple[Block, ...]:
    """The memories of one scope as a section of their group: a heading and one block a line, oldest first.

    The group's own heading (:func:`memory_group`) goes before the first of its sections. ``about``: whom they
    are about (see :func:`whom`). ``owner``: the member, for personal memories. ``protected_ids``: the pins
    that are never removed (the server's and the trigger authors'). ``names``: display names for ``<@id>``.
    No memories: no blocks.
    """
    if not memories:
        return ()
    group = _GROUPS[kind]
    section = section_id(memories[0].scope) + (".activated" if kind is Kind.ACTIVATED else "")
    head = MEMORY_HEADING.format(name=about) + "\n"
    blocks = [
        Block(
            section,
            kind,
            f"memories about {about}",
            Role.SYSTEM,
            head,
            count(head),
            owner=owner,
            join=group,
            under=group,
            heading=True,
        )
    ]
    for memory in sorted(memories, key=lambda m: (m.created_at, m.id)):
        line = memory_line(memory, now=now, names=names)
        blocks.append(
            Block(
                f"{section}.m{memory.id}",
                kind,
                f"m{memory.id}",
                Role.SYSTEM,
                line,
                count(line),
                protected=memory.pinned and memory.id in protected_ids,
                pinned=memory.pinned,
                owner=owner,
                memory_ids=(memory.id,),
                join=group,
                under=section,
                at=memory.updated_at,
            )
        )
    return tuple(blocks)


def unused_memories(
    kind: Kind, memories: Sequence[Memory], *, about: str, owner: int | None, why: str, count: Count
) -> Block:
    """The memories of one scope that a turn is not given for one reason, as one block that stays out."""
    number = len(memories)
    noun = "memory" if number == 1 else "memories"
    return Block(
        f"{section_id(memories[0].scope)}.unused.{_WORD.sub('_', why)}",
        kind,
        f"{number} {noun} about {about}",
        Role.SYSTEM,
        "",
        sum(count(m.text) for m in memories),
        owner=owner,
        memory_ids=tuple(m.id for m in memories),
        left_out=why,
        entries=number,
    )


def memory_line(memory: Memory, *, now: datetime, names: Mapping[int, str]) -> str:
    """``- m12 text`` on one line, whatever the text holds; ``(recent)`` for a week after its last change."""
    text = " ".join(render_mentions(memory.text, names, unknown=A_MEMBER).split())
    recent = " (recent)" if now - memory.updated_at <= RECENT else ""
    return f"- m{memory.id} {text}".rstrip() + f"{recent}\n"


def window_blocks(
    messages: Sequence[Message], *, count: Count, kept_images: int = KEPT_IMAGES, encoding: str = ""
) -> tuple[Block, ...]:
    """The live window, oldest first: a message each, a separator before the first of each UTC day.

    ``kept_images``: how many of the newest messages with images keep them (0 for a model that takes none).
    ``encoding``: the counter's; a message counted by it when stored is not counted again. Messages that a
    member excluded are left out; so is a line without words.
    """
    with_images = [m.id for m in messages if m.images and not m.excluded]
    kept = frozenset(with_images[-kept_images:] if kept_images > 0 else ())
    blocks: list[Block] = []
    day: date | None = None
    under = ""
    for message in messages:
        if not message.line.strip():
            continue
        today = message.at.astimezone(UTC).date()
        if day is None or today > day:
            day = today
            under = f"day:{day.isoformat()}"
            blocks.append(_separator(under, day, Kind.WINDOW, count))
        blocks.append(_message_block(message, Kind.WINDOW, under, message.id in kept, count, encoding))
    return tuple(blocks)


def input_blocks(
    messages: Sequence[Message], *, count: Count, kept_images: int = KEPT_IMAGES, encoding: str = ""
) -> tuple[Block, ...]:
    """The current input: the trigger messages, never removed, under their own day's separator.

    The separator is repeated here because the window may lack one, and memories stand between the two. Give
    the window ``kept_images`` less what :func:`image_messages` counts here.
    """
    blocks: list[Block] = []
    kept = frozenset([m.id for m in messages if m.images][-kept_images:] if kept_images > 0 else ())
    day: date | None = None
    under = ""
    for message in messages:
        today = message.at.astimezone(UTC).date()
        if day is None or today > day:
            day = today
            under = f"input.day:{day.isoformat()}"
            blocks.append(_separator(under, day, Kind.INPUT, count))
        blocks.append(_message_block(message, Kind.INPUT, under, message.id in kept, count, encoding))
    return tuple(blocks)


def image_messages(messages: Sequence[Message]) -> int:
    """How many of ``messages`` carry images."""
    return sum(1 for m in messages if m.images)


def handles(ledger: Ledger) -> Mapping[str, int]:
    """The handles that this prompt shows: ``m12`` → 12. The model may name no other (SPEC §4.2)."""
    return {f"m{i}": i for block in ledger.included() for i in block.memory_ids}


def _separator(block_id: str, day: date, kind: Kind, count: Count) -> Block:
    text = f"— {day.isoformat()} ({_WEEKDAYS[day.weekday()]}) —"
    return Block(block_id, kind, day.isoformat(), Role.SYSTEM, text, message_cost(text, count), heading=True)


_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _message_block(
    message: Message, kind: Kind, under: str, keeps_images: bool, count: Count, encoding: str
) -> Block:
    known = bool(encoding) and message.encoding == encoding
    images = message.images if keeps_images else ()
    cost = message_cost(message.line, (lambda _: message.tokens) if known else count, len(images))
    current = kind is Kind.INPUT
    return Block(
        f"{'input' if current else 'message'}:{message.id}",
        kind,
        f"message of {clean_name(message.author_name)}",
        Role.ASSISTANT if message.kind is AuthorKind.PERSONA else Role.USER,
        message.line,
        cost,
        protected=current,
        message_id=message.id,
        images=images,
        under=under,
        at=message.at,
        left_out=EXCLUDED_BY_MEMBER if message.excluded and not current else "",
    )
