from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.personas import rules
from memory.personas.rules import PersonaRefused
from memory.types import DEFAULT_LINEAGE, Persona, Sample

from .samples import ARIA

NAMES = st.text(max_size=120)
TEXTS = st.text(max_size=200)


def refused(persona: Persona, *others: Persona, own: str = "Keepsake") -> str:
    with pytest.raises(PersonaRefused) as caught:
        rules.check(rules.tidy(persona), own, others)
    return str(caught.value)


def named(name: str, **more: object) -> Persona:
    return replace(ARIA, name=name, **more)  # type: ignore[arg-type]


def test_the_limits_are_those_of_the_spec() -> None:
    assert (rules.NAME_LIMIT, rules.MOST_ATTRIBUTES, rules.MOST_SAMPLES, rules.MOST_TRIGGERS) == (
        80,
        10,
        15,
        10,
    )


@pytest.mark.parametrize("name", ["A", "x" * 80, "Ana María", "守り人", "🦊", "👩‍🚀 Zoe", "R2-D2", "_"])
def test_a_name_that_discord_takes_is_taken(name: str) -> None:
    rules.check(rules.tidy(named(name)), "Keepsake", ())


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("x" * 81, "has 81 characters; 80 are allowed"),
        ("🦊" * 41, "has 82 characters"),
        ("", "can be seen"),
        (" \u200b\u3164\u2800 ", "can be seen"),
        ("Clyde", "“clyde”"),
        ("my DisCord", "“discord”"),
        ("ｄｉｓｃｏｒｄ", "“discord”"),
        ("everyone", "does not allow"),
        ("@Here", "does not allow"),
        ("  keepsake ", "my own name"),
        ("Keep\u200bsake", "my own name"),
        ("Кeepsаke", "my own name"),
        ("Kéępsake", "my own name"),
        ("cl\u0443de", "“clyde”"),
        ("disc\u043erd", "“discord”"),
        ("ᴅɪsᴄᴏʀᴅ", "“discord”"),
        ("ever\u0443one", "does not allow"),
        ("You", "already means something else"),
        ("mе", "already means something else"),
        ("This Persona", "already means something else"),
        ("*every persona*", "already means something else"),
        ("all personas", "already means something else"),
        ("The built-in persona", "already means something else"),
        ("this server", "already means something else"),
        ("Server.", "already means something else"),
        ("me, everywhere (all personas)", "already means something else"),
    ],
)
def test_a_name_that_discord_or_a_reader_would_mistake_is_refused(name: str, why: str) -> None:
    assert why in refused(named(name))


def test_a_bot_with_another_name_is_not_passed_for_by_its_first_one_either() -> None:
    with pytest.raises(PersonaRefused, match="already means something else"):
        rules.check(rules.tidy(named("Keepsake")), "Archivist", ())
    assert rules.free_name("Keepsake", "Archivist", ()) == "Keepsake 2"


@pytest.mark.parametrize("name", ["Youna", "Serveria", "Μῆτις", "Мария", "かぐや", "がくや", "हिंदी", "José"])
def test_a_name_in_any_script_that_passes_for_nothing_else_is_taken(name: str) -> None:
    rules.check(rules.tidy(named(name)), "Keepsake", (named("かくや"), named("हद")))


def test_a_name_with_forbidden_letters_in_two_words_is_fine() -> None:
    rules.check(rules.tidy(named("Doc Lyde")), "Keepsake", ())


def test_two_names_that_read_the_same_are_the_same() -> None:
    assert "here already" in refused(named(" ARIA  "), named("Aria"))
    assert "here already" in refused(named("А\u0433іа".replace("г", "r")), named("Aria"))
    rules.check(rules.tidy(named("Aria II")), "Keepsake", (named("Aria"),))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"description": "x" * 4_001}, "description has 4,001 characters; 4,000 are allowed"),
        ({"prompt": "x" * 4_001}, "instructions has 4,001"),
        ({"attributes": tuple(f"a{n}" for n in range(11))}, "That is 11 attributes; 10 are allowed"),
        ({"attributes": ("x" * 201,)}, "Number 1 of the attributes has 201"),
        ({"triggers": tuple(f"t{n}" for n in range(11))}, "That is 11 trigger words; 10"),
        ({"triggers": ("x" * 51,)}, "Number 1 of the trigger words has 51"),
        ({"triggers": ("!?",)}, "no letter or digit"),
        ({"samples": tuple(Sample("a", "b") for _ in range(16))}, "16 sample dialogues; 15"),
        ({"samples": (Sample("a" * 2_000, "b" * 2_000),)}, "together have 4,018 characters; 4,000"),
    ],
)
def test_what_is_over_a_limit_is_refused_with_the_numbers(change: dict[str, object], why: str) -> None:
    assert why in refused(replace(ARIA, **change))  # type: ignore[arg-type]


def test_everything_at_its_limit_is_taken() -> None:
    full = replace(
        ARIA,
        description="x" * 4_000,
        prompt="y" * 4_000,
        attributes=tuple(f"{n:03d}" + "x" * 197 for n in range(10)),
        triggers=tuple(f"{n:02d}" + "x" * 48 for n in range(10)),
        samples=tuple(Sample(f"{n}", "b") for n in range(15)),
    )
    rules.check(rules.tidy(full), "Keepsake", ())
    assert rules.tidy(full) == full


def test_the_built_in_persona_has_no_name_to_check() -> None:
    rules.check(rules.tidy(Persona(0, 7, DEFAULT_LINEAGE, "")), "Keepsake", ())


@given(NAMES)
def test_a_clean_name_stays_as_it_is_and_hides_nothing(name: str) -> None:
    clean = rules.clean_persona_name(name)
    assert rules.clean_persona_name(clean) == clean
    assert not set(clean) & set("\n\r\t\u200b\u202e\ue000")


def test_repeated_and_empty_lines_are_left_out() -> None:
    made = rules.tidy(replace(ARIA, triggers=("Fox", " fox ", "", "the  fox"), attributes=(" a\x00b ",)))
    assert made.triggers == ("Fox", "the fox")
    assert made.attributes == ("ab",)


def test_a_free_name_has_a_number_and_still_fits() -> None:
    long = "x" * 80
    assert rules.free_name("Aria", "Keepsake", [named("Bob")]) == "Aria"
    assert rules.free_name("Aria", "Keepsake", [named("aria"), named("Aria 2")]) == "Aria 3"
    assert rules.free_name("Keepsake", "Keepsake", []) == "Keepsake 2"
    assert rules.free_name(long, "Keepsake", [named(long)]) == "x" * 78 + " 2"


def test_a_trigger_word_that_another_has_is_named() -> None:
    other = named("Bob", triggers=("ARIA", "bob"))
    assert rules.shared_triggers(ARIA, [other]) == {"aria": other}


# --- Sample dialogues -------------------------------------------------------------------------------------


def test_sample_dialogues_are_read_as_people_write_them() -> None:
    text = "member: Hi\npersona: Hello.\nHow are you?\n\nMember : Bye\nARIA: Farewell\n"
    assert rules.written_samples(text, "Aria") == (
        Sample("Hi", "Hello.\nHow are you?"),
        Sample("Bye", "Farewell"),
    )


@pytest.mark.parametrize("text", ["Hello", "member: Hi", "Hi\nmember: a\npersona: b", "member: a\n<START>"])
def test_words_that_belong_nowhere_are_refused_not_lost(text: str) -> None:
    with pytest.raises(PersonaRefused, match="can't read all"):
        rules.written_samples(text)


def test_a_paragraph_without_a_speaker_is_refused_unless_a_backslash_opens_it() -> None:
    with pytest.raises(PersonaRefused, match="backslash"):
        rules.written_samples("member: Hi\npersona: Hello.\n\nAria sighs and says nothing.")
    (kept,) = rules.written_samples("member: Hi\npersona: Hello.\n\n\\Aria sighs.")
    assert kept.answer == "Hello.\n\nAria sighs."
    assert rules.written_samples(rules.samples_text([kept])) == (kept,)


def test_no_sample_dialogue_at_all_is_fine() -> None:
    assert rules.written_samples(" \n") == ()


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=5))
def test_sample_dialogues_come_back_from_their_text(pairs: list[tuple[str, str]]) -> None:
    tidy = rules.tidy(replace(ARIA, samples=tuple(Sample(said or "…", answer) for said, answer in pairs)))
    kept = tuple(Sample(s.said or rules.UNANSWERED, s.answer) for s in tidy.samples)
    assert rules.written_samples(rules.samples_text(kept)) == kept


def test_words_that_look_like_another_part_come_back_too() -> None:
    assert rules.written_samples(rules.samples_text(ARIA.samples)) == ARIA.samples
