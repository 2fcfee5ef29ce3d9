"""Character cards (v2, v3) as PNG and JSON: read with suspicion, written so that they come back whole.

A card is data: no address in it is followed and nothing in it is run. What can't be read is refused with the
reason; what is too long is shortened and said; a lineage counts only if it could be one of ours. Slow: call
in a thread.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from memory.personas import pictures, rules
from memory.personas.rules import Card, PersonaRefused
from memory.types import DetailLevel, Persona, Sample

TEXT_BYTES = 4_000_000
"""Bytes of a card's text, unpacked: lore books are large, bombs are larger."""

PACKED_BYTES = 2 * TEXT_BYTES
"""Bytes of the same in base64, as a picture holds it, with room for line ends."""

SIGNATURE = b"\x89PNG\r\n\x1a\n"
KEYWORDS = (b"ccv3", b"chara")
"""The text chunks that hold a card; the newer form first."""

_TEXT_CHUNKS = (b"tEXt", b"zTXt", b"iTXt")
_PICTURE_CHUNKS = (b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND")
_LINEAGE = re.compile(r"[0-9a-f]{32}")
_NOT_TAKEN = (
    ("first_mes", "The greeting was not taken: I speak when I am called."),
    ("post_history_instructions", "The instructions for after the conversation were not taken."),
)
_FROM_CARD = (
    (re.compile(r"\{\{user\}\}|<user>", re.I), "{user}"),
    (re.compile(r"\{\{char\}\}|<bot>", re.I), "{bot}"),
)
_TO_CARD = (("{user}", "{{user}}"), ("{bot}", "{{char}}"))


def read(data: bytes) -> Card:
    """A card from a file's bytes. Raises :class:`PersonaRefused`."""
    pictures.check_size(len(data))
    if data.startswith(SIGNATURE):
        chunks = list(_chunks(data))
        card = _understood(_parsed(_card_text(chunks)))
        bare = b"".join(_chunk(kind, body) for kind, body in chunks if kind in _PICTURE_CHUNKS)
        return Card(card.persona, pictures.avatar(SIGNATURE + bare), card.own, card.notes)
    if not data[:64].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        _refuse("That file is no character card that I can read: PNG and JSON cards work")
    return _understood(_parsed(data))


def as_json(persona: Persona) -> bytes:
    """The persona as a v3 card, which readers of v2 understand too."""
    return _text(persona, "chara_card_v3", "3.0")


def as_png(persona: Persona, png: bytes | None) -> bytes:
    """The same inside its avatar, or a plain picture, in both forms."""
    found = list(_chunks(png or pictures.plain(persona.lineage)))
    head, rest = found[0], found[1:]
    cards = (
        (b"chara", _text(persona, "chara_card_v2", "2.0")),
        (b"ccv3", _text(persona, "chara_card_v3", "3.0")),
    )
    texts = [(b"tEXt", keyword + b"\x00" + base64.b64encode(text)) for keyword, text in cards]
    return SIGNATURE + b"".join(_chunk(kind, body) for kind, body in (head, *texts, *rest))


# --- Reading ----------------------------------------------------------------------------------------------


def _refuse(why: str) -> NoReturn:
    raise PersonaRefused(f"{why}. Nothing was changed.")


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Every chunk of a PNG with its sum checked, up to its end."""
    at = len(SIGNATURE)
    while at + 12 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        end = at + 12 + length
        if end > len(data):
            break
        body = data[at + 8 : end - 4]
        if struct.unpack(">I", data[end - 4 : end])[0] != zlib.crc32(kind + body):
            _refuse("That picture is damaged: a part of it does not match its check sum")
        yield kind, body
        if kind == b"IEND":
            return
        at = end
    _refuse("That picture is cut off: its end is missing. Download it again and try once more")


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _card_text(chunks: list[tuple[bytes, bytes]]) -> bytes:
    """The JSON of the newest form of card in a picture."""
    found: dict[bytes, bytes] = {}
    for kind, body in chunks:
        keyword, gap, rest = body.partition(b"\x00") if kind in _TEXT_CHUNKS else (b"", b"", b"")
        keyword = keyword.lower()
        if keyword in KEYWORDS and keyword not in found:  # a thousand packed ones cost no more than one
            if not gap:
                _refuse("The card in that picture is damaged")
            found[keyword] = _unpacked(kind, rest)
    for keyword in KEYWORDS:
        if keyword in found:
            try:
                return base64.b64decode(b"".join(found[keyword].split()), validate=True)
            except (binascii.Error, ValueError):
                _refuse("The card in that picture is damaged")
    _refuse("There is no character card in that picture. Sites often strip it: get the original file")


def _unpacked(kind: bytes, rest: bytes) -> bytes:
    packed = kind == b"zTXt"
    method = 0
    if kind == b"iTXt":
        if len(rest) < 2:
            _refuse("The card in that picture is damaged")
        packed, method = rest[0] == 1, rest[1]
        _language, _, rest = rest[2:].partition(b"\x00")
        _translated, _, rest = rest.partition(b"\x00")
    elif packed:
        method, rest = rest[0] if rest else 1, rest[1:]
    if not packed:
        return _bounded(rest)
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(rest, PACKED_BYTES + 1) if method == 0 else b""
    except zlib.error:
        text = b""
    return _bounded(text)


def _bounded(text: bytes) -> bytes:
    if len(text) > PACKED_BYTES:
        _refuse(f"The card's text is larger than {TEXT_BYTES / 1e6:,.0f} MB")
    return text


def _parsed(text: bytes) -> Mapping[str, Any]:
    """The card's fields. Anything but an object of JSON is refused."""
    if len(text) > TEXT_BYTES:
        _refuse(f"The card's text is larger than {TEXT_BYTES / 1e6:,.0f} MB")
    try:
        parsed = json.loads(text.decode("utf-8-sig"), parse_constant=_no_constant)
    except RecursionError:
        _refuse("The card's text is nested too deeply")
    except ValueError:
        _refuse("The card's text is damaged: it is not JSON")
    if not isinstance(parsed, dict):
        _refuse("The card's text is damaged: it has no fields")
    data = parsed.get("data", parsed)
    if not isinstance(data, dict) or "name" not in data:
        _refuse("That is no character card: it has no name")
    return data


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


class _Fields:
    """The fields of one card. Collects what is said of them to the person who imports it."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self.notes: list[str] = []

    def text(self, name: str) -> str:
        value = self._data.get(name)
        if value is not None and not isinstance(value, str):
            _refuse(f"The card's field “{name}” is not text")
        return rules.clean_text(value or "")

    def lines(self, name: str, most: int, limit: int) -> tuple[str, ...]:
        """A list of short texts; what is too much is left out, and said."""
        value = self._data.get(name)
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            _refuse(f"The card's field “{name}” is not a list of texts")
        lines = rules.cleaned_lines(value)
        kept = tuple(line for line in lines if rules.size(line) <= limit)[:most]
        if len(kept) < len(lines):
            self.notes.append(
                f"{len(lines) - len(kept):,} of {len(lines):,} {name} were not taken:"
                f" {most} of at most {limit} characters are kept."
            )
        return kept

    def short(self, what: str, text: str) -> str:
        if rules.size(text) <= rules.TEXT_LIMIT:
            return text
        self.notes.append(
            f"The {what} had {rules.size(text):,} characters: the first {rules.TEXT_LIMIT:,} were kept."
        )
        return rules.shortened(text, rules.TEXT_LIMIT).rstrip()


def _understood(data: Mapping[str, Any]) -> Card:
    fields = _Fields(data)
    own = _own_fields(data)
    name = rules.clean_persona_name(fields.text("name"))
    taken: dict[str, Any] = {}
    if own is not None:
        taken = _own_values(own, fields)
    personality = "" if "attributes" in taken else fields.text("personality")
    scenario = fields.text("scenario")
    about = [
        fields.text("description"),
        f"Personality: {personality}" if personality else "",
        f"Scenario: {scenario}" if scenario else "",
    ]
    persona = Persona(
        id=0,
        guild_id=None,
        lineage=taken.pop("lineage", ""),
        name=name,
        description=fields.short("description", _ours("\n\n".join(part for part in about if part))),
        prompt=fields.short("instructions", _ours(fields.text("system_prompt"))),
        samples=_samples(fields, name),
        **taken,
    )
    _say_what_stays_out(data, fields)
    return Card(rules.tidy(persona), None, frozenset(taken), tuple(fields.notes))


def _own_fields(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What we wrote into a card ourselves."""
    extensions = data.get("extensions")
    own = extensions.get("keepsake") if isinstance(extensions, dict) else None
    return own if isinstance(own, dict) else None


def _own_values(own: Mapping[str, Any], fields: _Fields) -> dict[str, Any]:
    mine = _Fields(own)
    taken: dict[str, Any] = {}
    lineage = own.get("lineage")
    if isinstance(lineage, str) and _LINEAGE.fullmatch(lineage):
        taken["lineage"] = lineage
    if "attributes" in own:
        taken["attributes"] = mine.lines("attributes", rules.MOST_ATTRIBUTES, rules.ATTRIBUTE_LIMIT)
    if "triggers" in own:
        taken["triggers"] = mine.lines("triggers", rules.MOST_TRIGGERS, rules.TRIGGER_LIMIT)
    if "detail" in own:
        level = own["detail"]
        if not (level is None or level in tuple(DetailLevel)):
            _refuse("The card's detail level is none that I know")
        taken["detail"] = DetailLevel(level) if level else None
    if "learns" in own:
        if not isinstance(own["learns"], bool):
            _refuse("The card's field “learns” is neither true nor false")
        taken["learns"] = own["learns"]
    fields.notes += mine.notes
    return taken


def _samples(fields: _Fields, name: str) -> tuple[Sample, ...]:
    """As many sample dialogues as there is room for, the first ones."""
    by_name = name if rules.size(name) <= rules.NAME_LIMIT else ""
    found, _ = rules.read_samples(fields.text("mes_example"), by_name)
    samples = [Sample(_ours(s.said), _ours(s.answer)) for s in found]
    kept = samples[: rules.MOST_SAMPLES]
    while kept and rules.size(rules.samples_text(kept)) > rules.TEXT_LIMIT:
        kept.pop()
    if len(kept) < len(samples):
        fields.notes.append(
            f"{len(samples) - len(kept):,} of {len(samples):,} sample dialogues were not taken:"
            f" {rules.MOST_SAMPLES}, together {rules.TEXT_LIMIT:,} characters, are kept."
        )
    return tuple(kept)


def _say_what_stays_out(data: Mapping[str, Any], fields: _Fields) -> None:
    for name, line in _NOT_TAKEN:
        if data.get(name):
            fields.notes.append(line)
    book = data.get("character_book")
    entries = book.get("entries") if isinstance(book, dict) else None
    if isinstance(entries, list | dict) and entries:
        number = len(entries)
        was = "entry was" if number == 1 else "entries were"
        fields.notes.append(f"{number:,} lore {was} not taken: lore can't be imported yet.")


def _ours(text: str) -> str:
    """A card's names for who speaks, as our macros."""
    for pattern, macro in _FROM_CARD:
        text = pattern.sub(macro, text)
    return text


# --- Writing ----------------------------------------------------------------------------------------------


def _theirs(text: str) -> str:
    for macro, name in _TO_CARD:
        text = text.replace(macro, name)
    return text


def _text(persona: Persona, spec: str, version: str) -> bytes:
    samples = [Sample(_theirs(each.said), _theirs(each.answer)) for each in persona.samples]
    examples = rules.samples_text(
        samples, said="{{user}}", answered="{{char}}", between="<START>\n", paragraphs=False
    )
    data: dict[str, Any] = {
        "name": persona.name,
        "description": _theirs(persona.description),
        "personality": "\n".join(persona.attributes),
        "scenario": "",
        "first_mes": "",
        "mes_example": f"<START>\n{examples}" if examples else "",
        "creator_notes": "",
        "system_prompt": _theirs(persona.prompt),
        "post_history_instructions": "",
        "alternate_greetings": [],
        "tags": [],
        "creator": "",
        "character_version": "",
        "extensions": {
            "keepsake": {
                "lineage": persona.lineage,
                "attributes": list(persona.attributes),
                "triggers": list(persona.triggers),
                "detail": persona.detail.value if persona.detail else None,
                "learns": persona.learns,
            }
        },
    }
    if spec == "chara_card_v3":
        data["group_only_greetings"] = []
    card = {"spec": spec, "spec_version": version, "data": data}
    return json.dumps(card, ensure_ascii=False, indent=1).encode("utf-8", "replace")
