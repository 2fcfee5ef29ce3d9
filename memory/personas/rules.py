"""Which persona a message calls, which names are the same, what a persona may hold. Pure (SPEC §11)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from memory.errors import KeepsakeError
from memory.types import Persona, Sample

NAME_LIMIT = 80
"""Longest name: what Discord takes for a webhook."""

TEXT_LIMIT = 4_000
"""Longest description, longest instructions, and all sample dialogues together: what one text box holds."""

ATTRIBUTE_LIMIT, TRIGGER_LIMIT = 200, 50
MOST_ATTRIBUTES, MOST_SAMPLES, MOST_TRIGGERS = 10, 15, 10

BUILT_IN_FIELDS = frozenset({"description", "prompt", "detail", "learns"})
"""What a server may change of the built-in persona; its name and picture are the bot's own."""

UNANSWERED = "…"
"""Stands for what was said before an answer that a card gives without it."""

_FORBIDDEN_PARTS = ("clyde", "discord")
_FORBIDDEN_NAMES = frozenset({"everyone", "here"})
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_SAID = re.compile(r"(?:member|user|\{\{user\}\}|<user>)\s*:\s*", re.IGNORECASE)
_ANSWERED = re.compile(r"(?:persona|char|\{\{char\}\}|<bot>)\s*:\s*", re.IGNORECASE)


class PersonaRefused(KeepsakeError):
    """A persona was not made or changed. ``str()`` says why and what to do."""


@dataclass(frozen=True, slots=True)
class Card:
    """What a character card holds. ``persona.lineage`` is "" when it carries none that we can know.

    ``own``: the fields that are told apart only in a card that we wrote. ``notes``: sentences on what was
    shortened or not taken.
    """

    persona: Persona
    picture: bytes | None = None
    own: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


_MARKS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]")
"""Marks over, under and through letters. The vowel signs of other scripts are not among them."""

_ALIKE = str.maketrans(
    dict(zip("авекмнорстухіѕјһԁԛԝӏѵѡԍ", "abekmhopctyxisjhdqwlvwg", strict=True))
    | dict(zip("αβεζηικμνορτυχγ", "abezhikmnoptyxy", strict=True))
    | dict(zip("ᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢıɡɑ", "abcdeghijklmnoprstuvwyziga", strict=True))
    | dict(zip("օոսց", "onug", strict=True))
)
"""Letters that look like small Latin ones: Cyrillic, Greek, small capitals, Armenian."""


def name_key(name: str) -> str:
    """The form in which two names of one server are the same to who reads them: NFKC, case, blanks, accents
    and letters that look alike folded."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    bare = _MARKS.sub("", unicodedata.normalize("NFKD", plain)).translate(_ALIKE)
    return " ".join(unicodedata.normalize("NFKC", bare).split())


def _spoken(name: str) -> str:
    """A name as it is read out: its letters and digits alone."""
    return " ".join("".join(c if c.isalnum() else " " for c in name_key(name)).split())


_RESERVED = frozenset(
    map(
        _spoken,
        (
            "Keepsake",
            *("this persona", "all personas", "every persona"),
            *("built-in persona", "the built-in persona", "you", "me", "server", "this server", "everywhere"),
            *("for all personas", "me, with this persona", "me, everywhere (all personas)"),
            *("me, for all personas", "this server, with this persona", "this server, for all personas"),
            *("a character of another server", "a persona of another server", "a member", "somebody"),
        ),
    )
)
"""What the bot's own words mean by something else: a scope, the one who reads, the bot."""


def fold(text: str) -> str:
    """How trigger words and texts are compared."""
    return unicodedata.normalize("NFKC", text).casefold()


@lru_cache(maxsize=2_048)
def _whole(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")


def called_by_word(text: str, personas: Sequence[Persona]) -> Persona | None:
    """The persona whose trigger word stands first in a text, as a whole word; the longer word wins a tie."""
    folded = fold(text)
    best: tuple[int, int, int] | None = None
    found: Persona | None = None
    for persona in personas:
        for trigger in persona.triggers:
            word = fold(trigger).strip()
            match = _whole(word).search(folded) if word else None
            if match is None:
                continue
            rank = (match.start(), -len(word), persona.id)
            if best is None or rank < best:
                best, found = rank, persona
    return found


def size(text: str) -> int:
    """The length of a text as Discord's boxes and webhooks count it: an emoji may count as two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def shortened(text: str, limit: int) -> str:
    """The beginning of a text, at most ``limit`` long, no character cut in two."""
    return text.encode("utf-16-le", "surrogatepass")[: 2 * limit].decode("utf-16-le", "ignore")


def clean_text(text: str) -> str:
    """What is kept of a written text: one kind of line end, no control characters, NFC."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs"))
    return unicodedata.normalize("NFC", text).strip()


def clean_line(text: str) -> str:
    """The same on one line."""
    return " ".join(clean_text(text).split())


def clean_persona_name(name: str) -> str:
    """A name without what nobody can see, its blanks folded."""
    line = " ".join(unicodedata.normalize("NFC", name).split())
    seen = (c for c in line if unicodedata.category(c) not in _INVISIBLE and c not in _BLANKS)
    return " ".join("".join(seen).split())


def cleaned_lines(lines: Iterable[str]) -> tuple[str, ...]:
    """Each line cleaned, empty ones and repetitions left out."""
    kept: dict[str, str] = {}
    for line in map(clean_line, lines):
        if line:
            kept.setdefault(fold(line), line)
    return tuple(kept.values())


def tidy(persona: Persona) -> Persona:
    """A persona with every text in the form in which it is kept."""
    samples = tuple(Sample(clean_text(s.said), clean_text(s.answer)) for s in persona.samples)
    return replace(
        persona,
        name=clean_persona_name(persona.name),
        description=clean_text(persona.description),
        prompt=clean_text(persona.prompt),
        attributes=cleaned_lines(persona.attributes),
        samples=tuple(s for s in samples if s.answer),
        triggers=cleaned_lines(persona.triggers),
    )


def check(persona: Persona, own_name: str, others: Iterable[Persona]) -> None:
    """May this (tidy) persona stand in a server? Raises :class:`PersonaRefused`.

    ``own_name``: the bot's there. ``others``: the other personas of the server.
    """
    if not persona.built_in:
        _check_name(persona.name, own_name, others)
    _check_length("The description", persona.description, TEXT_LIMIT)
    _check_length("The instructions", persona.prompt, TEXT_LIMIT)
    _check_length("All sample dialogues together", samples_text(persona.samples), TEXT_LIMIT)
    _check_list("attributes", persona.attributes, MOST_ATTRIBUTES, ATTRIBUTE_LIMIT)
    _check_list("trigger words", persona.triggers, MOST_TRIGGERS, TRIGGER_LIMIT)
    if len(persona.samples) > MOST_SAMPLES:
        raise _too_many("sample dialogues", len(persona.samples), MOST_SAMPLES)
    for word in persona.triggers:
        if not any(c.isalnum() for c in word):
            raise PersonaRefused(f"The trigger word “{word}” has no letter or digit. Nothing was changed.")


def _check_name(name: str, own_name: str, others: Iterable[Persona]) -> None:
    key = name_key(name)
    if not any(unicodedata.category(c)[0] in "LNPS" for c in name):
        raise PersonaRefused("A persona needs a name that can be seen. Nothing was changed.")
    _check_length("The name", name, NAME_LIMIT)
    for part in _FORBIDDEN_PARTS:
        if part in key:
            raise PersonaRefused(
                f"Discord does not let a name have “{part}” in it. Nothing was changed: choose another."
            )
    if key.lstrip("@") in _FORBIDDEN_NAMES:
        raise PersonaRefused("Discord does not allow that name. Nothing was changed: choose another.")
    if key == name_key(clean_persona_name(own_name)):
        raise PersonaRefused("That is my own name here. Nothing was changed: choose another.")
    if _spoken(name) in _RESERVED:
        raise PersonaRefused(
            f"“{name}” already means something else in what I say. Nothing was changed: choose another name."
        )
    if any(name_key(other.name) == key for other in others):
        raise PersonaRefused(f"There is a persona called “{name}” here already. Nothing was changed.")


def _check_length(what: str, text: str, limit: int) -> None:
    if size(text) > limit:
        over = size(text) - limit
        verb = "have" if what.startswith("All") else "has"
        raise PersonaRefused(
            f"{what} {verb} {size(text):,} characters; {limit:,} are allowed. Nothing was changed:"
            f" shorten by {over:,}."
        )


def _check_list(what: str, lines: Sequence[str], most: int, limit: int) -> None:
    if len(lines) > most:
        raise _too_many(what, len(lines), most)
    for number, line in enumerate(lines, 1):
        _check_length(f"Number {number} of the {what}", line, limit)


def _too_many(what: str, number: int, most: int) -> PersonaRefused:
    return PersonaRefused(
        f"That is {number:,} {what}; {most} are allowed. Nothing was changed: take {number - most:,} out."
    )


def free_name(name: str, own_name: str, others: Sequence[Persona]) -> str:
    """That name, or with a number after it when it is taken, inside the limit."""
    taken = {name_key(clean_persona_name(own_name)), *(name_key(other.name) for other in others)}
    if name_key(name) not in taken and _spoken(name) not in _RESERVED:
        return name
    for number in range(2, len(taken) + 3):
        end = f" {number}"
        made = shortened(name, NAME_LIMIT - len(end)).rstrip() + end
        if name_key(made) not in taken:
            return made
    raise AssertionError("one more name than is taken was tried")


def shared_triggers(persona: Persona, others: Iterable[Persona]) -> Mapping[str, Persona]:
    """The trigger words that another persona has too, and which (the first)."""
    shared: dict[str, Persona] = {}
    for other in others:
        theirs = {fold(word) for word in other.triggers}
        for word in persona.triggers:
            if fold(word) in theirs:
                shared.setdefault(word, other)
    return shared


# --- Sample dialogues as a person writes them -------------------------------------------------------------


def samples_text(
    samples: Iterable[Sample],
    *,
    said: str = "member",
    answered: str = "persona",
    between: str = "\n",
    paragraphs: bool = True,
) -> str:
    """Sample dialogues as lines ``member: …`` and ``persona: …``, a blank line between two.

    ``paragraphs``: mark further ones of an answer as :func:`written_samples` wants them.
    """
    return f"\n{between}".join(
        f"{said}: {_guarded(each.said, paragraphs)}\n{answered}: {_guarded(each.answer, paragraphs)}"
        for each in samples
    )


def _guarded(text: str, paragraphs: bool) -> str:
    """Further lines that would begin a new part, or a paragraph, opened by a backslash."""
    first, *rest = text.split("\n")
    kept, gap = [first], False
    for line in rest:
        opened = bool(line.strip()) and ((gap and paragraphs) or _opens(line))
        kept.append(f"\\{line}" if opened else line)
        gap = not line.strip()
    return "\n".join(kept)


def _opens(line: str) -> bool:
    line = line.lstrip()
    return line.startswith("\\") or _is_start(line) or bool(_SAID.match(line) or _ANSWERED.match(line))


def _is_start(line: str) -> bool:
    return line.strip().casefold() == "<start>"


def read_samples(text: str, name: str = "", *, strict: bool = False) -> tuple[tuple[Sample, ...], int]:
    """The sample dialogues in a text, and how many parts of it belong to none.

    A line that opens no part goes on with the one before it. What a member says after an answer, or a line
    ``<START>``, begins the next exchange. ``name``: the persona's, which may stand for ``persona``.
    ``strict``: an empty line ends a part, and what follows it belongs to none unless a backslash opens it.
    """
    by_name = re.compile(rf"{re.escape(name)}\s*:\s*", re.IGNORECASE) if name else None
    found: list[tuple[list[str], list[str]]] = [([], [])]
    part: list[str] | None = None
    stray, gap = 0, False
    for line in clean_text(text).split("\n"):
        bare = line.lstrip()
        answered = _ANSWERED.match(bare) or (by_name.match(bare) if by_name else None)
        if _is_start(bare):
            found.append(([], []))
            part = None
        elif opened := _SAID.match(bare):
            if found[-1][1]:
                found.append(([], []))
            part = found[-1][0]
            part.append(bare[opened.end() :])
        elif answered:
            part = found[-1][1]
            part.append(bare[answered.end() :])
        elif part is None or (strict and gap and bare and not line.startswith("\\")):
            stray += bool(bare)
        else:
            part.append(line.removeprefix("\\"))
        gap = not bare
    exchanges = [("\n".join(said).strip(), "\n".join(answer).strip()) for said, answer in found]
    stray += sum(1 for said, answer in exchanges if said and not answer)
    return tuple(Sample(said or UNANSWERED, answer) for said, answer in exchanges if answer), stray


def written_samples(text: str, name: str = "") -> tuple[Sample, ...]:
    """The same for what a person typed: everything must belong somewhere. Raises :class:`PersonaRefused`."""
    samples, stray = read_samples(text, name, strict=True)
    if stray:
        raise PersonaRefused(
            "I can't read all of these sample dialogues. Write each as a line “member: …” and a line"
            " “persona: …” below it, with an empty line between two. A further paragraph of the same answer"
            " begins with a backslash (\\). Nothing was changed."
        )
    return samples
