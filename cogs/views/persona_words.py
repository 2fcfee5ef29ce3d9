"""What a person reads about personas. Pure: everything that people wrote is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cogs._render import escape
from cogs.views.pages import cut, units
from memory.engine import Left
from memory.personas.rules import MOST_ATTRIBUTES, MOST_SAMPLES, MOST_TRIGGERS
from memory.types import Persona

LEARNS = "Learn from chat is **on**: saved memories are read, and written while we talk."
LEARNS_NOT = (
    "Learn from chat is **off**: saved memories are neither written in conversations nor read. What people"
    " add themselves with this persona is kept for later, and they are told so."
)

HOW_CALLED = (
    "-# It answers replies to its messages, its trigger words, and whatever calls me where `/persona use`"
    " put it."
)

SHOWN = 900
"""Room for one long text of a persona where all of it is shown."""

PAGE = 3_900
"""Room for a whole page."""

FIRST = 130
"""Room for the beginning of a text in a list of all its parts."""


def bold(name: str) -> str:
    return f"**{escape(name)}**"


def learning(persona: Persona) -> str:
    return LEARNS if persona.learns else LEARNS_NOT


def detail_words(persona: Persona) -> str:
    return f"**{persona.detail.value}**" if persona.detail else "as the server or channel is set"


def trigger_words(persona: Persona) -> str:
    return ", ".join(f"“{escape(word)}”" for word in persona.triggers) or "none"


def beginning(text: str) -> str:
    """The start of a text on one line, or that there is none."""
    return escape(cut(" ".join(text.split()), FIRST)) or "*nothing yet*"


def counted(number: int, most: int) -> str:
    return f"{number} of {most}"


def shown(persona: Persona, name: str) -> str:
    """A persona as everybody in its server may see it."""
    lines = [f"## {escape(name)}"]
    if persona.built_in:
        lines.append("-# That is me, the built-in persona")
    lines.append(escape(cut(persona.description, SHOWN)) or "*No description.*")
    if persona.attributes:
        listed = "\n".join(f"- {escape(line)}" for line in persona.attributes)
        lines.append(f"**Attributes**\n{cut(listed, SHOWN)}")
    if persona.prompt:
        lines.append(f"**Instructions**\n{escape(cut(persona.prompt, SHOWN // 2))}")
    if not persona.built_in:
        lines.append(f"**Trigger words** {cut(trigger_words(persona), SHOWN // 2)}")
        lines.append(f"**Sample dialogues** {counted(len(persona.samples), MOST_SAMPLES)}")
    lines.append(f"**Detail** {detail_words(persona)}")
    lines.append(f"-# {learning(persona)}")
    if not persona.built_in:
        lines.append(HOW_CALLED)
    return "\n".join(lines)


def listed(
    personas: Sequence[Persona], names: Mapping[int, str], marks: Mapping[int, str], most: int | None
) -> str:
    """All personas, a line each. ``names`` and ``marks`` by id: what else is said of one.

    Every one is there: where names and words are long, less of them is shown.
    """
    own = sum(1 for persona in personas if not persona.built_in)
    head = f"## Personas\n-# {own} of {most} in this server" if most else "## Personas for our DMs"
    full = "\n".join((head, *_lines(personas, names, marks, 80, 60)))
    if units(full) <= PAGE:
        return full
    return cut("\n".join((head, *_lines(personas, names, marks, 40, 20))), PAGE)


def _lines(
    personas: Sequence[Persona],
    names: Mapping[int, str],
    marks: Mapping[int, str],
    name_room: int,
    word_room: int,
) -> list[str]:
    lines = []
    for persona in personas:
        parts = [f"- {bold(cut(names[persona.id], name_room))}"]
        if persona.triggers:
            parts.append(f"called by {cut(trigger_words(persona), word_room)}")
        if not persona.learns:
            parts.append("learns nothing from chat")
        if marks.get(persona.id):
            parts.append(marks[persona.id])
        lines.append(" · ".join(parts))
    return lines


def sections(persona: Persona) -> list[tuple[str, str]]:
    """The parts of a persona that are edited in a box of their own: the field, and its words now."""
    texts = [
        ("name", f"**Name** {escape(persona.name)}"),
        ("description", f"**Description**\n{beginning(persona.description)}"),
        ("prompt", f"**Instructions**\n{beginning(persona.prompt)}"),
        (
            "attributes",
            f"**Attributes** {counted(len(persona.attributes), MOST_ATTRIBUTES)}"
            f"\n{beginning(' · '.join(persona.attributes))}",
        ),
        (
            "samples",
            f"**Sample dialogues** {counted(len(persona.samples), MOST_SAMPLES)}"
            f"\n{beginning(' · '.join(s.answer for s in persona.samples))}",
        ),
        (
            "triggers",
            f"**Trigger words** {counted(len(persona.triggers), MOST_TRIGGERS)}"
            f"\n{cut(trigger_words(persona), FIRST)}",
        ),
    ]
    return [pair for pair in texts if not persona.built_in or pair[0] in ("description", "prompt")]


def shared_words(shared: Mapping[str, Persona]) -> str:
    """That a trigger word calls another persona first; "" when none does."""
    if not shared:
        return ""
    first = ", ".join(f"“{escape(word)}” ({escape(other.name)})" for word, other in shared.items())
    return f"\n-# Also a trigger word of another persona, and the older one answers: {cut(first, 200)}."


def left_words_out(shared: Mapping[str, Persona]) -> str:
    """That a copy came without the trigger words that call somebody else; "" when it has them all."""
    if not shared:
        return ""
    first = ", ".join(f"“{escape(word)}” ({escape(other.name)})" for word, other in shared.items())
    return f"It came without the trigger words that call somebody here already: {cut(first, 200)}."


def leaving_words(name: str, left: Left, in_use: str = "") -> str:
    """What deleting a persona does to its memories, before it is done. ``in_use``: where it answers."""
    personal, waiting = left.personal + left.staying, left.discarded
    lines = [f"Delete {bold(name)}? It has {_memories(left.server)} about this server"]
    lines[0] += f" and {_memories(personal)} about members." if personal else "."
    if left.server:
        lines.append(
            "**Keep its memories**: those about this server become memories for all personas."
            " **Delete the server's**: they are deleted with it."
        )
    if personal:
        one = left.personal == 1
        going = f"{_memories(left.personal)} become{'s a memory' if one else ' memories'} for all personas"
        lines.append(f"Members' own memories are always kept: {_own(left, going)}.")
    if waiting:
        one = waiting == 1
        lines.append(f"{waiting:,} waiting suggestion{' is' if one else 's are'} discarded.")
    if in_use:
        lines.append(f"It answers {in_use} when nobody else is called; the bot itself does so after that.")
    lines.append("Its webhooks go; what it said in channels stays. This can't be undone.")
    return "\n".join(lines)


def left_words(name: str, *, moved: int, merged: int, deleted: int, discarded: int, staying: int = 0) -> str:
    """What became of its memories."""
    lines = [f"{bold(name)} is deleted."]
    if moved:
        lines.append(f"{_memories(moved)} {_were(moved)} kept for all personas.")
    if merged:
        lines.append(f"{_memories(merged)} {_were(merged)} there already and became one with it.")
    if staying:
        lines.append(f"{_memories(staying)} of members stayed with the character in another server.")
    if deleted:
        lines.append(f"{_memories(deleted)} about this server {_were(deleted)} deleted.")
    if discarded:
        lines.append(f"{discarded:,} waiting suggestion{' was' if discarded == 1 else 's were'} discarded.")
    return "\n".join(lines)


def _own(left: Left, going: str) -> str:
    stays = f"{_memories(left.staying)} stay{'s' if left.staying == 1 else ''} with the character in another"
    stays += " server where the bot and that member are"
    said = [going] if left.personal else []
    return ", ".join([*said, stays] if left.staying else said)


def _memories(number: int) -> str:
    return f"{number:,} memor{'y' if number == 1 else 'ies'}"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
