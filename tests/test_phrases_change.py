"""What counts as a request to change something remembered, and "for the server", in three languages."""

from __future__ import annotations

import pytest

from memory.phrases import Language, asks_to_change, asks_to_remember

CHANGE = [
    ("change my birthday to May 6th", Language.EN, ("my birthday", "May 6th")),
    ("can you update my trip to Rome to June 6?", Language.EN, ("my trip to Rome", "June 6")),
    ("Keepsake, change m4 to May 6", Language.EN, ("m4", "May 6")),
    ("cambia mi cumpleaños al 6 de mayo", Language.ES, ("mi cumpleaños", "6 de mayo")),
    ("actualiza mi color a verde", Language.ES, ("mi color", "verde")),
    ("palitan mo ang birthday ko ng Mayo 6", Language.FIL, ("ang birthday ko", "Mayo 6")),
]
CHANGE_NOT = [
    "did you change it to that?",
    "I changed my name to Al",
    "change it",
    "¿cambia a algo?",
    "palitan mo",
]


@pytest.mark.parametrize(("text", "language", "change"), CHANGE)
def test_a_request_to_change_is_recognised_with_its_new_value(
    text: str, language: Language, change: tuple[str, str]
) -> None:
    found = asks_to_change(text)
    assert found is not None and found.language is language and change in found.changes


@pytest.mark.parametrize("text", CHANGE_NOT)
def test_talk_about_change_is_no_request_to_change(text: str) -> None:
    assert asks_to_change(text) is None


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        ("remember for the server that the inn opens at nine", True),
        ("save for everyone: the raid is on Friday", True),
        ("recuerda para el servidor que la posada abre a las nueve", True),
        ("tandaan mo para sa server na bukas ang inn", True),
        ("remember for me that the server is old", False),
        ("recuerda para mí que el servidor es viejo", False),
    ],
)
def test_for_the_server_is_no_part_of_the_thing(text: str, shared: bool) -> None:
    found = asks_to_remember(text)
    assert found is not None and found.shared is shared
    assert not found.thing.startswith(("for", "para"))
