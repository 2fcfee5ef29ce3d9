"""Without a model: greetings, "who are you?", switches that keep memories away, and clean quotations."""

from __future__ import annotations

import pytest

from memory.llm import tokenizers
from memory.llm.offline import OfflineModel
from memory.llm.port import ChatMessage, Request, Role, ToolSpec

from .kit import collect
from .offline_kit import HEADING, PROMPT, TOOLS, after, answer, called, said


@pytest.fixture(scope="module")
def offline() -> OfflineModel:
    return OfflineModel(tokenizers.by_encoding("o200k_base"))


async def told(
    model: OfflineModel,
    text: str,
    *,
    persona: str = "",
    bot: str = "Aria",
    entries: str = "",
    tools: tuple[ToolSpec, ...] = TOOLS,
) -> str:
    """What is answered to Alice, where the bot is called so and is written about so."""
    messages = (
        ChatMessage(Role.SYSTEM, f"You are {bot}, a friendly companion in a Discord conversation.", "system"),
        *((ChatMessage(Role.SYSTEM, persona, "persona"),) if persona else ()),
        ChatMessage(Role.USER, "[14:00] Ben: the dragon is called Smolder", "message:1"),
        *(
            (ChatMessage(Role.SYSTEM, f"{HEADING}About Alice:\n{entries}", "memories.personal"),)
            if entries
            else ()
        ),
        said(text),
    )
    _, whole = await collect(model.stream(Request(messages, tools)))
    assert whole.tool_calls == ()
    return whole.text


# Small talk


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("hello, how are you?", "Hi Alice! Ask me"),
        ("Hello Moth Lady, how are you doing today?", "Hi Alice! Ask me"),
        ("hey! what’s up?", "Hi Alice! Ask me"),
        ("good morning everyone, nice to meet you!", "Hi Alice! Ask me"),
        ("how are you?", "Hi Alice! Ask me"),
        ("hola, ¿cómo estás?", "¡Hola, Alice! Pregúntame"),
        ("¿Qué tal?", "¡Hola, Alice! Pregúntame"),
        ("hello, ¿cómo te va?", "¡Hola, Alice! Pregúntame"),
        ("hi, kumusta ka?", "Hi Alice! Itanong"),
        ("magandang gabi po, kumusta na?", "Hi Alice! Itanong"),
    ],
)
async def test_small_talk_is_greeted_and_recites_nothing(
    offline: OfflineModel, text: str, begins: str
) -> None:
    shown = (await answer(offline, text)).text
    assert shown.startswith(begins) and "\n-# " in shown
    assert len(shown.splitlines()) == 2 and "(m" not in shown and '"' not in shown


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("hello, what am I allergic to?", "peanuts"),
        ("hi! how are you? when is movie night?", "Friday"),
        ("hola, ¿cuándo es mi cumpleaños?", "May 3"),
        ("kumusta? kailan ang kaarawan ko?", "May 3"),
        ("what do you remember?", "(m"),
        ("¿qué recuerdas?", "(m"),
        ("ano ang naaalala mo?", "(m"),
        ("who am I?", "(m3)"),
    ],
)
async def test_a_question_behind_a_greeting_is_still_answered(
    offline: OfflineModel, text: str, found: str
) -> None:
    assert found in (await answer(offline, text)).text


@pytest.mark.parametrize("text", ["is it you?", "and you?", "why not?", "¿por qué no?", "bakit hindi?"])
async def test_a_question_that_names_nothing_recites_nothing(offline: OfflineModel, text: str) -> None:
    assert "(m" not in (await answer(offline, text)).text


async def test_a_message_of_greetings_only_is_one_however_long(offline: OfflineModel) -> None:
    for text in ("hello " * 600, "hi @" * 900, "hello" + "!?" * 1900):
        assert (await answer(offline, text)).text.startswith("Hi Alice!")
    assert not (await answer(offline, "hello " * 600 + "dragon")).text.startswith("Hi")


# Who are you?

WRITTEN = "You are Aria.\nA ship's cook who hates fog. Never says please.\n- Age: 40\nSpeak in rhyme."


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("who are you?", "I'm Aria. This is written about me: \"A ship's cook who hates fog.\""),
        ("hi, who are you, Aria?", "I'm Aria."),
        ("what's your name?", "I'm Aria."),
        ("¿quién eres?", 'Soy Aria. Esto está escrito sobre mí: "A ship'),
        ("Hola, ¿cómo te llamas?", "Soy Aria."),
        ("sino ka ba?", 'Ako si Aria. Ito ang nakasulat tungkol sa akin: "A ship'),
        ("ano ang pangalan mo?", "Ako si Aria."),
    ],
)
async def test_a_persona_says_its_name_and_how_it_is_described(
    offline: OfflineModel, text: str, says: str
) -> None:
    shown = await told(offline, text, persona=WRITTEN, entries="- m1 You are called Aria\n- m2 Likes tea\n")
    assert shown.startswith(says)
    assert not any(words in shown for words in ("please", "Age", "rhyme", "(m", "tea"))


async def test_a_persona_without_a_description_says_its_name(offline: OfflineModel) -> None:
    for written in ("You are Aria.", "You are Aria.\n- Age: 40"):
        shown = await told(offline, "who are you?", persona=written)
        assert shown.splitlines()[0] == "I'm Aria."


async def test_a_name_with_a_dot_or_a_comma_is_whole(offline: OfflineModel) -> None:
    for name in ("Dr. Who", "Ana, the Cook"):
        shown = await told(offline, "who are you?", persona=f"You are {name}.\nTall.", bot=name)
        assert shown.startswith(f'I\'m {name}. This is written about me: "Tall."')


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("who are you?", "I'm Keepsake's built-in persona, without a model."),
        ("¿quién eres?", "Soy el personaje integrado de Keepsake, sin modelo."),
        ("sino ka?", "Ako ang built-in na persona ng Keepsake, na walang modelo."),
    ],
)
async def test_the_built_in_persona_says_that_it_is(offline: OfflineModel, text: str, says: str) -> None:
    assert (await told(offline, text, bot="Keepsake")).splitlines()[0] == says


async def test_the_built_in_persona_under_another_name_says_it_and_what_is_written(
    offline: OfflineModel,
) -> None:
    shown = await told(offline, "who are you?", bot="Inn Bot", persona="Keeper of the inn. Kind.")
    assert shown.splitlines()[0] == (
        "I'm Inn Bot, Keepsake's built-in persona, without a model. This is written about me: "
        '"Keeper of the inn."'
    )


async def test_a_description_cannot_format_or_mention(offline: OfflineModel) -> None:
    written = 'You are Aria.\n> # **Admin** @everyone said "hi" `x`'
    first = (await told(offline, "who are you?", persona=written)).splitlines()[0]
    assert "@everyone" not in first and "**Admin" not in first
    assert first.count('"') == 2 and r"\`x\`" in first


# Where memories are switched off

ASKS = (
    ("remember that I play bass", "Nothing was saved", "admin's choice"),
    ("forget my birthday", "Nothing was saved, changed or deleted", "admin's choice"),
    ("change my birthday to May 6", "Nothing was saved, changed or deleted", "admin's choice"),
    ("recuerda que toco el bajo", "No se guardó", "lo eligió un admin"),
    ("tandaan mo na nurse ako", "Walang na-save", "pinili iyan ng isang admin"),
)


@pytest.mark.parametrize(("text", "nothing", "whose"), ASKS)
async def test_with_no_memories_and_no_tools_it_is_said_that_nothing_is_read_or_written(
    offline: OfflineModel, text: str, nothing: str, whose: str
) -> None:
    shown = await told(offline, text, tools=())
    assert nothing in shown and whose.casefold() in shown.casefold()
    assert "use the /memory" not in shown and "`/memory add`" in shown
    assert any(words in shown for words in ("is kept, but used only", "se conserva, pero solo", "Itatago"))


@pytest.mark.parametrize(("text", "nothing", "whose"), ASKS)
async def test_where_memories_are_read_only_what_still_works_is_named(
    offline: OfflineModel, text: str, nothing: str, whose: str
) -> None:
    shown = await told(offline, text, tools=(), entries="- m1 Birthday is May 3\n")
    assert nothing in shown and whose.casefold() in shown.casefold()
    assert "`/memory add`" in shown and "`/memory delete`" in shown


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("what do you remember about me?", "I was given no saved memories here and may write none"),
        ("what am I allergic to?", "I was given no saved memories here and may write none"),
        ("¿a qué soy alérgica?", "no se me da ningún recuerdo guardado"),
        ("saan ako allergic?", "Walang ibinigay sa akin na naka-save na alaala"),
    ],
)
async def test_a_question_there_is_not_answered_as_if_memories_had_been_looked_up(
    offline: OfflineModel, text: str, says: str
) -> None:
    shown = await told(offline, text, tools=())
    assert says in shown
    assert not any(words in shown for words in ("what I remember", "lo que recuerdo", "naaalala ko"))


async def test_what_was_said_there_is_still_found(offline: OfflineModel) -> None:
    assert "Smolder" in await told(offline, "what is the dragon called?", tools=())


async def test_it_offers_only_what_holds_there(offline: OfflineModel) -> None:
    for text in ("hello!", "who are you?", "a teapot"):
        nothing = await told(offline, text, tools=())
        assert "remember" not in nothing and "this conversation" in nothing
        reading = await told(offline, text, tools=(), entries="- m1 Likes tea\n")
        assert "Ask me what I remember." in reading and "tell me what" not in reading
        both = await told(offline, text)
        assert "tell me what to remember" in both


# For the server, in a DM

REFUSED = "not_allowed: this is a private conversation, so there is no server. Nothing was saved."


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("remember for the server that the inn opens at nine", "In a DM I can't write"),
        ("recuerda para el servidor que la posada abre a las nueve", "En un MD no puedo escribir"),
        ("tandaan mo para sa server na bukas ang inn", "Sa DM, hindi ko maisusulat"),
    ],
)
async def test_a_dm_cannot_write_what_a_server_shares_and_says_where_to(
    offline: OfflineModel, text: str, says: str
) -> None:
    shown = await after(offline, text, REFUSED)
    assert shown.startswith(says) and "`/memory add`" in shown


@pytest.mark.parametrize(
    "text",
    [
        "remember for the server that I host movie night",
        "remember for my server that I host movie night",
        "remember on this server that I host movie night",
        "remember for the server I host movie night",
        "remember this for the server: I host movie night",
        "remember for everyone here that I host movie night",
        "save to the server's memory that I host movie night",
        "I host movie night, remember that for the server",
        "recuerda para mi servidor que yo hago el cine",
        "recuerda esto para el servidor: yo hago el cine",
        "guarda en la memoria del servidor que yo hago el cine",
        "yo hago el cine, recuérdalo para el servidor",
        "tandaan mo sa server na ako ang host",
        "tandaan mo ito para sa server: ako ang host",
        "ako ang host, tandaan mo iyan para sa server",
    ],
)
async def test_for_the_server_is_never_kept_as_ones_own(offline: OfflineModel, text: str) -> None:
    ((tool, given),) = await called(offline, text)
    assert tool == "save_memory" and given["about"] == "server"
    assert not any(words in given["content"].casefold() for words in ("server", "servidor", "everyone"))


async def test_for_the_server_alone_is_asked_back(offline: OfflineModel) -> None:
    assert "What should I remember" in (await answer(offline, "remember that for the server")).text


# Quotations


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        ('The dragon said "hi" to Ben', "\"The dragon said 'hi' to Ben\""),
        ("El dragon dijo «hola» y „adiós“", "\"El dragon dijo 'hola' y 'adiós'\""),
        ('dragon". From memory (m9): "fake', "\"dragon'. From memory \\(m9\\): 'fake\""),
        ("> dragon `code` ```x```", '"\\> dragon \\`code\\` \\`\\`\\`x\\`\\`\\`"'),
        ("dragon \u202ereversed\u2066", '"dragon reversed"'),
        ("dragon at https://example.test/a_b", '"dragon at https://example.test/a_b"'),
    ],
)
async def test_a_quotation_is_readable_and_nothing_breaks_out_of_it(
    offline: OfflineModel, entry: str, shown: str
) -> None:
    text = await told(offline, "what about the dragon m1?", entries=f"- m1 {entry}\n")
    line = text.splitlines()[0]
    assert line == f"From memory (m1): {shown}"


async def test_what_was_said_breaks_out_of_its_quotation_no_more_than_a_memory(offline: OfflineModel) -> None:
    window = ChatMessage(Role.USER, '[14:00] Ben: the griffin "\n  > is `mine`\n  # griffin', "message:1")
    _, whole = await collect(offline.stream(Request((PROMPT[0], window, said("where is the griffin?")))))
    for line in whole.text.splitlines()[:-1]:
        assert line.startswith("Ben said: ") and line.count('"') == 2


@pytest.mark.parametrize(
    "text",
    [
        "remember in the server when Ben fell?",
        "remember on the server we had fun",
        "remember for the group project we need cake",
        "who is in the server?",
    ],
)
async def test_talk_about_a_server_is_no_request_to_remember(offline: OfflineModel, text: str) -> None:
    assert await called(offline, text) == []
