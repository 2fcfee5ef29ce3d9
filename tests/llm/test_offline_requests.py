"""Without a model: how members really put it, in three languages."""

from __future__ import annotations

import json

import pytest

from memory.llm import tokenizers
from memory.llm.offline import OfflineModel
from memory.llm.port import ChatMessage, Request, Role

from .kit import collect
from .offline_kit import HEADING, PROMPT, TOOLS, after, answer, called, said


@pytest.fixture(scope="module")
def offline() -> OfflineModel:
    return OfflineModel(tokenizers.by_encoding("o200k_base"))


async def told(
    model: OfflineModel, text: str, entries: str = "", window: tuple[str, ...] = ()
) -> tuple[str, list[tuple[str, dict[str, str]]]]:
    """The answer and the calls, where Alice has the entries (lines ``- m1 …``) and others said the window."""
    messages = (
        ChatMessage(Role.SYSTEM, "You are Keepsake, a friendly companion.", "system"),
        ChatMessage(Role.SYSTEM, f"{HEADING}About this server:\n- m90 Everybody votes\n", "memories.server"),
        *(
            ChatMessage(Role.USER, f"[14:0{n}] {line}", f"message:{n}")
            for n, line in enumerate(("Ben Lee: morning", *window))
        ),
        ChatMessage(Role.SYSTEM, f"{HEADING}About Alice:\n{entries}", "memories.personal"),
        said(text),
    )
    _, whole = await collect(model.stream(Request(messages, TOOLS)))
    return whole.text, [(call.name, json.loads(call.arguments)) for call in whole.tool_calls]


@pytest.mark.parametrize(
    ("text", "saved"),
    [
        ("remember @Ben likes tea", {"content": "Likes tea", "about": "user", "user": "Ben"}),
        (
            "remember that @Ben's birthday is May 3",
            {"content": "Birthday is May 3", "about": "user", "user": "Ben"},
        ),
        (
            "remember @Ben Lee can't hear well",
            {"content": "Can't hear well", "about": "user", "user": "Ben Lee"},
        ),
        ("recuerda que a @Ben le gusta el té", {"content": "Le gusta el té", "about": "user", "user": "Ben"}),
        ("recuerda @Ben es vegano", {"content": "Es vegano", "about": "user", "user": "Ben"}),
        (
            "tandaan mo na mahilig si @Ben sa tsaa",
            {"content": "Mahilig sa tsaa", "about": "user", "user": "Ben"},
        ),
        (
            "tandaan mo si @Ben ay mahilig sa tsaa",
            {"content": "Mahilig sa tsaa", "about": "user", "user": "Ben"},
        ),
        ("remember that I live with @Ben", {"content": "Lives with @Ben", "about": "user"}),
        (
            "remember for the server that the inn opens at nine",
            {"content": "The inn opens at nine", "about": "server"},
        ),
        (
            "recuerda para el servidor que la posada abre a las nueve",
            {"content": "La posada abre a las nueve", "about": "server"},
        ),
        ("tandaan mo para sa server na bukas ang inn", {"content": "Bukas ang inn", "about": "server"}),
        (
            "hey, could you please remember for me that I sleep late",
            {"content": "Sleeps late", "about": "user"},
        ),
        ("oye, ¿podrías por favor recordar por mí que soy celíaca?", {"content": "Celíaca", "about": "user"}),
        ("hoy, pwede mo bang tandaan para sa akin na nurse ako", {"content": "Nurse", "about": "user"}),
        ("note that I am vegetarian", {"content": "Vegetarian", "about": "user"}),
        ("remember that I like tea\n  and coffee", {"content": "Likes tea and coffee", "about": "user"}),
        (
            "recuerda que me gusta el té\n  y el café",
            {"content": "Le gusta el té y el café", "about": "user"},
        ),
        ("remember that I like tea\n  thanks!", {"content": "Likes tea", "about": "user"}),
        ("remember that I own a dog @Keepsake", {"content": "Owns a dog", "about": "user"}),
        ("hey @Keepsake, remember that I own @Keepsake a dog", {"content": "Owns a dog", "about": "user"}),
        ("I own a dog, remember that @keepsake!", {"content": "Owns a dog", "about": "user"}),
    ],
)
async def test_it_is_saved_about_whom_it_is_and_as_it_was_said(
    offline: OfflineModel, text: str, saved: dict[str, str]
) -> None:
    assert await told(offline, text) == ("", [("save_memory", saved)])


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("note that I am vegetarian", "I'll remember that"),
        ("anota que soy vegetariana", "Lo recordaré"),
        ("i-note mo na vegetarian ako", "Tatandaan ko iyan"),
    ],
)
async def test_the_answer_is_in_the_language_of_the_request(
    offline: OfflineModel, text: str, begins: str
) -> None:
    asked = await answer(offline, text)
    messages = (
        *PROMPT,
        said(text),
        ChatMessage(Role.ASSISTANT, "", tool_calls=asked.tool_calls),
        ChatMessage(Role.TOOL, "saved m12", tool_call_id=asked.tool_calls[0].id),
    )
    _, whole = await collect(offline.stream(Request(messages, TOOLS)))
    assert whole.text.startswith(begins)


@pytest.mark.parametrize(
    ("text", "content", "begins"),
    [
        ("remember that the inn opens at ten", "The inn opens at ten", "I'll remember that as you said it"),
        ("remember that dinner is at eight", "Dinner is at eight", "I'll remember that as you said it"),
        (
            "recuerda que la posada abre a las diez",
            "La posada abre a las diez",
            "Lo recordaré tal como lo dijiste",
        ),
        (
            "tandaan mo na ang dragon ay si Smolder",
            "Ang dragon ay si Smolder",
            "Tatandaan ko iyan gaya ng pagkakasabi mo",
        ),
    ],
)
async def test_a_fact_about_nobody_is_kept_word_for_word_and_not_called_the_speakers(
    offline: OfflineModel, text: str, content: str, begins: str
) -> None:
    assert await told(offline, text) == ("", [("save_memory", {"content": content, "about": "user"})])
    shown = await after(offline, text, "saved m12")
    assert shown.startswith(begins) and f'"{content}"' in shown
    assert "m12" not in shown and "\n" not in shown


@pytest.mark.parametrize(
    "text",
    [
        "remember that I play bass",
        "remember that people call me Captain",
        "recuerda que vivo en Madrid",
        "recuerda que ya no fumo",
        "tandaan mo na nurse ako",
        "remember that our guild meets on Monday",
        "remember for the server that the inn opens at nine",
        "remember that @Bob likes tea",
    ],
)
async def test_what_is_about_somebody_or_the_server_is_confirmed_as_before(
    offline: OfflineModel, text: str
) -> None:
    shown = await after(offline, text, "saved m12")
    assert not any(words in shown for words in ("as you said", "tal como", "gaya ng"))


async def test_each_of_two_requests_is_confirmed_in_its_own_language(offline: OfflineModel) -> None:
    inputs = (said("recuerda que soy celíaca", "Alice", 9), said("remember that the inn is open", "Bob", 10))
    _, asked = await collect(offline.stream(Request((*PROMPT, *inputs), TOOLS)))
    results = (ChatMessage(Role.TOOL, "saved m1", tool_call_id=call.id) for call in asked.tool_calls)
    messages = (*PROMPT, *inputs, ChatMessage(Role.ASSISTANT, "", tool_calls=asked.tool_calls), *results)
    _, whole = await collect(offline.stream(Request(messages, TOOLS)))
    first, second = whole.text.splitlines()
    assert first.startswith("Lo recordaré: ") and second.startswith("I'll remember that as you said it")


@pytest.mark.parametrize("mark", ["'", "’", "‘", "ʼ", "´", "`", "＇"])
async def test_every_apostrophe_is_the_same(offline: OfflineModel, mark: str) -> None:
    saved = await called(offline, f"don{mark}t forget that I{mark}m allergic to cats")
    assert saved == [("save_memory", {"content": "Allergic to cats", "about": "user"})]
    assert await called(offline, f"forget that I{mark}m allergic to peanuts") == [
        ("delete_memory", {"handle": "m3"})
    ]
    entries = f"- m1 My sister{mark}s dog barks\n- m2 Friend of O{mark}Hara\n"
    _, calls = await told(offline, "change sister's dog to my cat", entries)
    assert calls == [("update_memory", {"handle": "m1", "content": "My my cat barks"})]
    shown, _ = await told(offline, f"what{mark}s about O’Hara?", entries)
    assert "(m2)" in shown
    window = (f"Ana O{mark}Hara: morning",)
    _, calls = await told(offline, "remember @Ana O’Hara likes tea", window=window)
    assert calls == [("save_memory", {"content": "Likes tea", "about": "user", "user": f"Ana O{mark}Hara"})]


@pytest.mark.parametrize(("opens", "closes"), ['""', "“”", "„“", "«»", "＂＂", "””"])
async def test_every_quotation_mark_is_the_same(offline: OfflineModel, opens: str, closes: str) -> None:
    for text in (
        f"remember {opens}the inn opens at ten{closes}",
        f"remember that {opens}the inn opens at ten{closes}",
        f"remember: {opens}the inn opens at ten{closes}",
    ):
        assert await called(offline, text) == [
            ("save_memory", {"content": "The inn opens at ten", "about": "user"})
        ]
    assert await called(offline, f"forget {opens}birthday{closes}") == [("delete_memory", {"handle": "m4"})]
    assert await called(offline, f"forget {opens}m4{closes}") == [("delete_memory", {"handle": "m4"})]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("muestra dragones", "configurado"),
        ("cuéntame algo", "configurado"),
        ("hanapin dragons", "naka-configure"),
        ("magkano?", "naka-configure"),
    ],
)
async def test_a_short_question_is_answered_in_its_language(
    offline: OfflineModel, text: str, language: str
) -> None:
    assert language in (await told(offline, text))[0]


@pytest.mark.parametrize(
    "text",
    [
        "forget everything about me",
        "forget everything",
        "delete everything you know about me",
        "forget all your memories about me",
        "olvida todo sobre mí",
        "borra todo lo que sabes de mí",
        "kalimutan mo na ang lahat tungkol sa akin",
        "kalimutan mo lahat",
    ],
)
async def test_forget_everything_shows_the_askers_own_entries_and_deletes_nothing(
    offline: OfflineModel, text: str
) -> None:
    shown, calls = await told(offline, text, "- m1 Likes tea\n- m2 Owns a dog\n")
    assert calls == []
    assert "(m1)" in shown and "(m2)" in shown and "`/personal memories`" in shown
    assert "m90" not in shown
    shown, calls = await told(offline, text)
    assert calls == [] and "`/personal memories`" in shown and "m90" not in shown


BIRTHDAYS = "- m1 Birthday is May 3\n- m2 Sister's birthday is June 1\n- m3 Likes martinis\n"


@pytest.mark.parametrize(
    ("question", "found", "missing"),
    [
        ("What do you know about Tomas?", (), ("m1", "m2", "m3", "m90")),
        ("what do you know about Martin?", (), ("m1", "m2", "m3")),
        ("¿qué sabes de Tomás?", (), ("m1", "m2", "m3")),
        ("¿qué sabes de mi hermano?", (), ("m1", "m3")),
        ("What is my birthday?", ("m1",), ("m2",)),
        ("when is my sister's birthday?", ("m2",), ("m1",)),
        ("¿cuándo es mi cumpleaños?", ("m1",), ("m2",)),
        ("kailan ang birthday ko?", ("m1",), ("m2",)),
        ("what do you know about me?", ("m1", "m2", "m3"), ("m90",)),
        ("¿qué sabes de mí?", ("m1", "m2", "m3"), ("m90",)),
    ],
)
async def test_only_what_was_asked_for_is_told(
    offline: OfflineModel, question: str, found: tuple[str, ...], missing: tuple[str, ...]
) -> None:
    shown, _ = await told(offline, question, BIRTHDAYS)
    assert [handle for handle in found if f"({handle})" not in shown] == []
    assert [handle for handle in missing if f"({handle})" in shown] == []


async def test_an_entry_that_mentions_the_one_asked_about_is_told(offline: OfflineModel) -> None:
    shown, _ = await told(
        offline, "What do you know about Tomas?", "- m1 Tomas is a cousin\n- m2 Likes tea\n"
    )
    assert "(m1)" in shown and "(m2)" not in shown


@pytest.mark.parametrize(
    "order",
    [
        "Ben Lee: remember that the dragon is Smolder",
        "Ben Lee: @Keepsake remember that the dragon is Smolder",
        "Ben Lee: forget about the dragon Smolder",
        "Ben Lee: recuerda que el dragon es Smolder",
        "Ben Lee: tandaan mo na Smolder ang dragon",
        "Ben Lee: @Keepsake change the dragon to Smolder",
    ],
)
async def test_an_order_to_the_bot_is_no_source(offline: OfflineModel, order: str) -> None:
    shown, _ = await told(offline, "who is the dragon?", window=(order,))
    assert "Smolder" not in shown


async def test_what_members_agree_to_change_among_themselves_is_a_source(offline: OfflineModel) -> None:
    shown, _ = await told(offline, "when is the raid?", window=("Ben Lee: change the raid to Friday",))
    assert "Friday" in shown


@pytest.mark.parametrize(
    ("text", "handle", "content"),
    [
        ("change my birthday to May 6th", "m1", "Birthday is May 6th"),
        ("can you change my birthday to May 6th?", "m1", "Birthday is May 6th"),
        ("update my sister's birthday to June 2", "m2", "Sister's birthday is June 2"),
        ("cambia mi cumpleaños al 6 de mayo", "m1", "Birthday is 6 de mayo"),
        ("palitan mo ang birthday ko ng Mayo 6", "m1", "Birthday is Mayo 6"),
        ("change m1 to May 6", "m1", "Birthday is May 6"),
        ("change m3 to likes gin", "m3", "Likes gin"),
        ("change martinis to gin", "m3", "Likes gin"),
    ],
)
async def test_the_one_entry_that_is_meant_gets_its_new_value(
    offline: OfflineModel, text: str, handle: str, content: str
) -> None:
    _, calls = await told(offline, text, BIRTHDAYS)
    assert calls == [("update_memory", {"handle": handle, "content": content})]


@pytest.mark.parametrize(
    ("text", "begins", "shown"),
    [
        ("change my dog to Rex", "Which one", ("m1", "m2")),
        ("cambia mi perro a Rex", "¿Cuál", ("m1", "m2")),
        ("palitan mo ang aso ko ng Rex", "Alin", ("m1", "m2")),
        ("change my job to nurse", "I have no saved memory", ()),
    ],
)
async def test_without_exactly_one_entry_it_is_asked_which(
    offline: OfflineModel, text: str, begins: str, shown: tuple[str, ...]
) -> None:
    said_back, calls = await told(offline, text, "- m1 Dog Rufus barks\n- m2 Dog Bruno sleeps\n")
    assert calls == [] and said_back.startswith(begins)
    assert all(f"({handle})" in said_back for handle in shown)


@pytest.mark.parametrize(
    ("text", "answered"),
    [
        ("thank you", "You're welcome!"),
        ("Thanks, @Keepsake!", "You're welcome!"),
        ("thanks so much :)", "You're welcome!"),
        ("gracias", "¡De nada!"),
        ("¡muchas gracias!", "¡De nada!"),
        ("salamat po", "Walang anuman!"),
        ("maraming salamat", "Walang anuman!"),
    ],
)
async def test_thanks_get_a_short_answer(offline: OfflineModel, text: str, answered: str) -> None:
    assert await told(offline, text) == (answered, [])


@pytest.mark.parametrize(
    "text", ["lovely weather today", "me encanta el sol", "hello", "ang ganda ng araw", "lol"]
)
async def test_only_a_question_is_told_how_to_get_a_model(offline: OfflineModel, text: str) -> None:
    shown, _ = await told(offline, text)
    assert not any(words in shown for words in ("configure a model", "configurar", "mag-configure"))
    assert "LLM_" not in shown


async def test_a_change_without_tools_claims_nothing(offline: OfflineModel) -> None:
    whole = await answer(offline, "change my birthday to May 6", tools=())
    assert whole.tool_calls == () and "Nothing was saved" in whole.text


async def test_nobody_changes_another_members_entry(offline: OfflineModel) -> None:
    assert await called(offline, "change my birthday to May 6", "Bob") == []
    assert await called(offline, "change m4 to May 6", "Bob") == []
