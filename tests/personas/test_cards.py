"""Cards: what comes in, what goes out, and what is refused (SPEC §11, §15: hostile card)."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.personas import cards, pictures
from memory.personas.rules import PersonaRefused, check, tidy
from memory.types import Persona, Sample

from .samples import ARIA, LINEAGE, as_file, card, chunk, picture, text_chunk, with_chunk

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.sampled_from(
    ["name", "description", "personality", "scenario", "mes_example", "system_prompt", "extensions", "tags"]
)


def without_place(persona: Persona) -> Persona:
    return replace(persona, id=0, guild_id=None, picture="", version=1)


def refused(data: bytes) -> str:
    with pytest.raises(PersonaRefused) as caught:
        cards.read(data)
    assert "Nothing was changed" in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("form", ["json", "png"])
def test_a_persona_comes_back_whole_from_its_own_card(form: str) -> None:
    avatar = pictures.avatar(picture())
    data = cards.as_json(ARIA) if form == "json" else cards.as_png(ARIA, avatar)
    back = cards.read(data)
    assert back.persona == without_place(ARIA)
    assert back.own == {"attributes", "triggers", "detail", "learns"}
    assert back.notes == ()
    assert back.picture == (avatar if form == "png" else None)


def test_a_persona_without_a_picture_has_a_plain_one_on_its_card() -> None:
    made = cards.as_png(ARIA, None)
    assert cards.read(made).persona.name == "Aria"
    assert cards.as_png(replace(ARIA, lineage="f" * 32), None) != made


def test_a_card_has_both_forms_that_others_read() -> None:
    png = cards.as_png(ARIA, None)
    for keyword, spec in ((b"chara", "chara_card_v2"), (b"ccv3", "chara_card_v3")):
        text = png.split(keyword + b"\x00")[1].split(b"IDAT")[0].split(b"tEXt")[0][:-8]
        inside = json.loads(base64.b64decode(text))
        assert inside["spec"] == spec
        assert inside["data"]["description"] == "{{char}} keeps the inn and likes {{user}}."
        assert inside["data"]["mes_example"].startswith("<START>\n{{user}}: Good evening!\n{{char}}: Evening")


def test_a_card_from_elsewhere_becomes_a_persona() -> None:
    read = cards.read(
        as_file(
            name=" Rook\u200b ",
            description="{{char}} plays chess with <USER>.",
            personality="calm",
            scenario="a park",
            mes_example="<START>\n{{user}}: Hi\n{{char}}: Your move.\n<START>\nRook: *waits*",
            system_prompt="Speak as {{char}}.",
            tags=["chess"],
            first_mes="Sit.",
            alternate_greetings=["Hm."],
        )
    )
    assert read.persona == Persona(
        0,
        None,
        "",
        "Rook",
        "{bot} plays chess with {user}.\n\nPersonality: calm\n\nScenario: a park",
        "Speak as {bot}.",
        samples=(Sample("Hi", "Your move."), Sample("…", "*waits*")),
    )
    assert read.own == frozenset()
    assert any("greeting was not taken" in note for note in read.notes)


def test_lore_is_named_as_not_taken() -> None:
    book = {"entries": [{"keys": ["a"], "content": "b"}] * 12}
    assert "12 lore entries were not taken" in " ".join(cards.read(as_file(character_book=book)).notes)


def test_what_is_too_long_is_shortened_and_said() -> None:
    samples = "\n".join(f"{{{{user}}}}: {n}\n{{{{char}}}}: answer {n}" for n in range(20))
    read = cards.read(as_file(description="d" * 5_000, mes_example=samples))
    assert read.persona.description == "d" * 4_000
    assert len(read.persona.samples) == 15
    notes = " ".join(read.notes)
    assert "The description had 5,000 characters: the first 4,000 were kept" in notes
    assert "5 of 20 sample dialogues were not taken" in notes


@pytest.mark.parametrize(
    "lineage", ["keepsake", "", "x" * 32, "0123", 7, None, LINEAGE.upper(), LINEAGE + "\n"]
)
def test_a_card_can_not_pass_for_the_built_in_persona_or_for_all(lineage: Any) -> None:
    assert cards.read(as_file(extensions={"keepsake": {"lineage": lineage}})).persona.lineage == ""


@pytest.mark.parametrize("keyword", [b"chara", b"Chara", b"ccv3"])
@pytest.mark.parametrize("kind", ["tEXt", "zTXt", "iTXt", "iTXt packed"])
def test_every_kind_of_text_chunk_is_read(keyword: bytes, kind: str) -> None:
    text = base64.b64encode(json.dumps(card()).encode())
    body = {
        "tEXt": keyword + b"\x00" + text,
        "zTXt": keyword + b"\x00\x00" + zlib.compress(text),
        "iTXt": keyword + b"\x00\x00\x00en\x00\x00" + text,
        "iTXt packed": keyword + b"\x00\x01\x00\x00\x00" + zlib.compress(text),
    }[kind]
    read = cards.read(with_chunk(picture(), chunk(kind[:4].encode(), body)))
    assert read.persona.name == "Rook"
    assert read.picture is not None


def test_the_newer_form_of_a_card_wins() -> None:
    both = text_chunk(card(name="Old")) + text_chunk(card(name="New"), b"ccv3")
    assert cards.read(with_chunk(picture(), both)).persona.name == "New"


HALF = zlib.compress(b"abc" * 99)[:-9]
BOMB = zlib.compress(b"A" * 200_000_000, 9)
DEEP = b'{"data": {"name": "x", "tags": ' + b"[" * 200_000 + b"]" * 200_000 + b"}}"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no character card"),
        (b"\x00" * 30_000_000, "30.0 MB; 10 MB are allowed"),
        (picture(form="JPEG"), "PNG and JSON cards work"),
        (picture(), "no character card in that picture"),
        (with_chunk(picture(), text_chunk(card()))[:-20], "cut off"),
        (with_chunk(picture(), chunk(b"tEXt", b"chara\x00AAAA", crc=1)), "check sum"),
        (with_chunk(picture(), b"\xff\xff\xff\xfftEXtchara"), "cut off"),
        (with_chunk(picture(), chunk(b"tEXt", b"chara")), "damaged"),
        (with_chunk(picture(), chunk(b"tEXt", b"chara\x00!!!!")), "damaged"),
        (with_chunk(picture(), chunk(b"zTXt", b"chara\x00")), "damaged"),
        (with_chunk(picture(), chunk(b"zTXt", b"chara\x00\x00nonsense")), "damaged"),
        (
            with_chunk(picture(), chunk(b"zTXt", b"chara\x00\x00" + HALF)),
            "damaged",
        ),
        (with_chunk(picture(), chunk(b"iTXt", b"chara\x00\x01")), "damaged"),
        (with_chunk(picture(), chunk(b"zTXt", b"chara\x00\x00" + BOMB)), "larger than 4 MB"),
        (with_chunk(picture(), chunk(b"iTXt", b"ccv3\x00\x01\x00\x00\x00" + BOMB)), "larger than 4 MB"),
        (b'{"data": {"name": "' + b"A" * 4_000_001 + b'"}}', "larger than 4 MB"),
        (DEEP, "nested too deeply"),
        (b'{"data": {"name": "x", "extensions": NaN}}', "not JSON"),
        (b'{"data": {"name": "x", "n": ' + b"9" * 5_000 + b"}}", "not JSON"),
        (b'{"data": {"name": "x"', "not JSON"),
        (b'{"data": {"name": "\xff"}}', "not JSON"),
        (b'{"data": []}', "it has no name"),
        (b'{"spec": "chara_card_v2"}', "it has no name"),
        (as_file(name=7), "“name” is not text"),
        (as_file(description={"a": 1}), "“description” is not text"),
        (as_file(mes_example=["a"]), "“mes_example” is not text"),
        (as_file(extensions={"keepsake": {"attributes": "x"}}), "not a list of texts"),
        (as_file(extensions={"keepsake": {"triggers": [1]}}), "not a list of texts"),
        (as_file(extensions={"keepsake": {"learns": 1}}), "neither true nor false"),
        (as_file(extensions={"keepsake": {"detail": "all"}}), "detail level"),
        (as_file(extensions={"keepsake": {"detail": ["a"]}}), "detail level"),
    ],
    ids=range(31),
)
def test_a_hostile_or_broken_card_is_refused_with_the_reason(data: bytes, why: str) -> None:
    assert why in refused(data)


def test_a_card_inside_a_picture_that_is_a_bomb_is_refused() -> None:
    head = chunk(b"IHDR", b"\x00\x01\x00\x00" * 2 + b"\x08\x02\x00\x00\x00")
    bomb = cards.SIGNATURE + head + text_chunk(card()) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")
    with pytest.raises(PersonaRefused, match="pixels"):
        cards.read(bomb)


def test_the_same_field_twice_is_no_reason_to_refuse() -> None:
    assert cards.read(b'{"data": {"name": "a", "name": "b"}}').persona.name == "b"


def test_half_a_character_in_a_card_does_no_harm() -> None:
    assert cards.read(b'{"data": {"name": "a\\ud800b", "description": "\\udfff"}}').persona.name == "ab"


@given(st.dictionaries(FIELDS, JSON_VALUES, max_size=5))
def test_any_fields_are_a_persona_or_refused(data: dict[str, Any]) -> None:
    try:
        read = cards.read(json.dumps({"data": data}).encode())
    except PersonaRefused:
        return
    assert read.persona == tidy(read.persona)
    json.dumps(read.persona.description).encode()


@given(st.integers(0, 2_000), st.integers(0, 255))
def test_one_changed_byte_of_a_card_is_never_an_unforeseen_error(at: int, byte: int) -> None:
    data = bytearray(with_chunk(picture(), text_chunk(card(description="d" * 50))))
    data[at % len(data)] = byte
    try:
        cards.read(bytes(data))
    except PersonaRefused as refusal:
        assert str(refusal)


def test_a_thousand_packed_cards_in_one_picture_cost_no_more_than_one() -> None:
    text = base64.b64encode(json.dumps(card()).encode())
    more = chunk(b"zTXt", b"chara\x00\x00" + BOMB) * 20
    first = chunk(b"zTXt", b"chara\x00\x00" + zlib.compress(text))
    assert cards.read(with_chunk(picture(), first + more)).persona.name == "Rook"


def test_a_name_without_end_is_read_quickly_and_refused_where_the_limit_is() -> None:
    examples = "\n".join("{{char}}: x" for _ in range(1_000))
    read = cards.read(as_file(name="n" * 1_000_000, mes_example=examples))
    with pytest.raises(PersonaRefused, match="1,000,000 characters; 80 are allowed"):
        check(read.persona, "Keepsake", ())
