"""Without a model: looking up, quoting, obeying "remember" and "forget", never inventing."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.llm import tokenizers
from memory.llm.offline import OfflineModel
from memory.llm.offline_words import neutral
from memory.llm.port import ChatMessage, Request, Role

from .kit import collect
from .offline_kit import HEADING, PROMPT, TOOLS, after, answer, called, said


@pytest.fixture(scope="module")
def offline() -> OfflineModel:
    return OfflineModel(tokenizers.by_encoding("o200k_base"))


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("what am I allergic to?", 'From memory (m3): "Allergic to peanuts"'),
        ("@Moth Lady do you know which foods I'm allergic to?", 'From memory (m3): "Allergic to peanuts"'),
        ("Moth Lady, when is my birthday?", 'From memory (m4): "Birthday is May 3"'),
        ("what's my favorite color?", 'From memory (m5): "Favourite colour is green"'),
        ("when's movie night", 'From memory (m1): "Movie night is on Friday at 20:00"'),
        ("what does m2 say?", 'From memory (m2): "No spoilers in general"'),
        ("what is the dragon called?", 'Alice said: "The dragon\'s name is Smolder"'),
        ("where does the dragon sleep?", 'Alice said: "and it sleeps in the cave"'),
        ("¿a qué soy alérgica?", 'De la memoria (m3): "Allergic to peanuts"'),
        ("¿cómo se llama mi gato?", 'De la memoria (m7): "Tiene un gato llamado Miso"'),
        ("cuándo es mi cumpleaños", 'De la memoria (m4): "Birthday is May 3"'),
        ("mahilig ba ako sa tsaa?", 'Mula sa memorya (m8): "Mahilig sa tsaa"'),
        ("kailan ang kaarawan ko?", 'Mula sa memorya (m4): "Birthday is May 3"'),
    ],
)
async def test_a_question_is_answered_by_what_is_there(
    offline: OfflineModel, question: str, found: str
) -> None:
    text = (await answer(offline, question)).text
    assert found in text
    assert text.splitlines()[-1].startswith("-# ")


async def test_what_was_said_is_quoted_without_a_time_of_another_zone(offline: OfflineModel) -> None:
    for question in (
        "what is the dragon called?",
        "¿cómo se llama el dragon?",
        "ano ang pangalan ng dragon?",
    ):
        text = (await answer(offline, question)).text
        assert "Smolder" in text and "14:0" not in text


async def test_an_answer_comes_in_several_pieces_with_its_cost(offline: OfflineModel) -> None:
    pieces, whole = await collect(offline.stream(Request((*PROMPT, said("what am I allergic to?")))))
    assert len(pieces) > 3
    assert whole.usage.prompt > 50 and whole.usage.completion > 5


async def test_the_same_prompt_gets_the_same_answer(offline: OfflineModel) -> None:
    assert await answer(offline, "movie night?") == await answer(offline, "movie night?")


async def test_nobody_is_told_another_members_personal_memory(offline: OfflineModel) -> None:
    for question in (
        "what is Alice allergic to?",
        "when is Alice's birthday?",
        "what do you know about Alice?",
    ):
        text = (await answer(offline, question, "Bob")).text
        assert "peanuts" not in text and "May 3" not in text and "m3" not in text
    assert "shellfish" in (await answer(offline, "what am I allergic to?", "Bob")).text


@pytest.mark.parametrize(
    ("name", "own", "others"),
    [
        ("Alice (…1234)", "peanuts", ("wasps", "shellfish")),
        ("Alice (…9999)", "wasps", ("peanuts", "shellfish")),
        ("Alice", "", ("peanuts", "wasps", "shellfish")),
    ],
)
async def test_of_two_members_with_one_nickname_neither_is_told_the_others_memories(
    offline: OfflineModel, name: str, own: str, others: tuple[str, ...]
) -> None:
    personal = ChatMessage(
        Role.SYSTEM,
        f"{HEADING}About Alice (…1234):\n- m3 Allergic to peanuts\nAbout Alice (…9999):\n"
        "- m9 Allergic to wasps\nAbout Bob:\n- m6 Allergic to shellfish\n",
        "memories.personal",
    )
    question = said("what am I allergic to?", name)
    _, whole = await collect(offline.stream(Request((PROMPT[0], personal, question), TOOLS)))
    assert own in whole.text
    assert not any(word in whole.text for word in others)
    for handle, fact in (("m3", "peanuts"), ("m9", "wasps")):
        _, whole = await collect(
            offline.stream(Request((PROMPT[0], personal, said(f"forget {handle}", name)), TOOLS))
        )
        forgotten = [json.loads(call.arguments) for call in whole.tool_calls]
        assert forgotten == ([{"handle": handle}] if fact == own else [])


async def test_a_memory_about_the_server_is_told_to_everybody(offline: OfflineModel) -> None:
    shared = ChatMessage(
        Role.SYSTEM, f"{HEADING}About this server:\n- m1 Allergic to losing\n", "memories.activated"
    )
    for name in ("Alice", "Bob"):
        question = said("what is this server allergic to?", name)
        _, whole = await collect(offline.stream(Request((PROMPT[0], shared, question), TOOLS)))
        assert "Allergic to losing" in whole.text


async def test_what_is_known_of_the_asker_can_be_listed(offline: OfflineModel) -> None:
    text = (await answer(offline, "what do you remember about me?")).text
    assert "peanuts" in text and "May 3" in text and "shellfish" not in text


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("tell me about quantum physics", "No model is configured"),
        ("explícame la física cuántica por favor", "No hay ningún modelo configurado"),
        ("ipaliwanag mo ang quantum physics sa akin", "Walang naka-configure na modelo"),
    ],
)
async def test_finding_nothing_is_said_plainly_and_worded_for_members(
    offline: OfflineModel, question: str, sentence: str
) -> None:
    text = (await answer(offline, question)).text
    assert sentence in text and "operator" in text.replace("Quien administra el bot", "operator")
    assert "LLM_" not in text


@pytest.mark.parametrize(
    ("greeting", "begins"),
    [
        ("hi!", "Hi Alice"),
        ("@Moth Lady hello", "Hi Alice"),
        ("¡Hola!", "¡Hola, Alice"),
        ("buenos días", "¡Hola, Alice"),
        ("Buenas noches, Keepsake", "¡Hola, Alice"),
        ("magandang umaga", "Hi Alice! Itanong"),
        ("kumusta po", "Hi Alice"),
    ],
)
async def test_a_greeting_is_greeted(offline: OfflineModel, greeting: str, begins: str) -> None:
    assert (await answer(offline, greeting)).text.startswith(begins)


@pytest.mark.parametrize(
    ("text", "content", "about"),
    [
        ("remember that I'm allergic to cats", "Allergic to cats", "user"),
        ("please remember I have two dogs", "Has two dogs", "user"),
        ("remember that I play bass", "Plays bass", "user"),
        ("don't forget that I study law", "Studies law", "user"),
        ("remember that I can't hear well", "Can't hear well", "user"),
        ("remember that my sister is Ana", "Sister is Ana", "user"),
        ("remember me as Captain", "Goes by Captain", "user"),
        ("remember that the raid is on Sunday", "The raid is on Sunday", "user"),
        ("remember that our guild's raid is on Sunday", "Our guild's raid is on Sunday", "server"),
        ("remember that everyone votes on Monday", "Everyone votes on Monday", "server"),
        ("remember that this server was founded in 2020", "This server was founded in 2020", "server"),
        ("remember that I'm an admin of this server", "An admin of this server", "user"),
        ("recuerda que soy celíaca", "Celíaca", "user"),
        ("recuerda que me llamo Inés", "Se llama Inés", "user"),
        ("no olvides que mi perro es Bruno", "Perro: Bruno", "user"),
        ("recuerda que no me gusta el té", "No le gusta el té", "user"),
        ("apunta que nuestro clan es Luna", "Nuestro clan es Luna", "server"),
        ("tandaan mo na allergic ako sa hipon", "Allergic sa hipon", "user"),
        ("tandaan mo na ako si Jun", "Pangalan: Jun", "user"),
        ("huwag mong kalimutan na Luna ang clan namin", "Luna ang clan namin", "server"),
    ],
)
async def test_a_request_to_remember_becomes_a_tool_call(
    offline: OfflineModel, text: str, content: str, about: str
) -> None:
    assert await called(offline, text) == [("save_memory", {"content": content, "about": about})]


async def test_a_new_value_for_the_same_thing_is_an_update(offline: OfflineModel) -> None:
    assert await called(offline, "remember that my birthday is May 4") == [
        ("update_memory", {"handle": "m4", "content": "Birthday is May 4"})
    ]
    assert await called(offline, "remember that my favourite colour is blue") == [
        ("update_memory", {"handle": "m5", "content": "Favourite colour is blue"})
    ]


async def test_an_update_never_touches_another_members_entry(offline: OfflineModel) -> None:
    assert [name for name, _ in await called(offline, "remember that my birthday is May 4", "Bob")] == [
        "save_memory"
    ]


async def test_two_members_requests_are_both_obeyed_by_name(offline: OfflineModel) -> None:
    inputs = (said("remember that I play bass", "Alice", 9), said("remember that I sing", "Bob", 10))
    _, whole = await collect(offline.stream(Request((*PROMPT, *inputs), TOOLS)))
    assert [json.loads(call.arguments)["user"] for call in whole.tool_calls] == ["Alice", "Bob"]
    assert len({call.id for call in whole.tool_calls}) == 2


@pytest.mark.parametrize(
    ("text", "handle"),
    [
        ("forget that I'm allergic to peanuts", "m3"),
        ("forget my birthday", "m4"),
        ("forget m5", "m5"),
        ("olvida que tengo un gato", "m7"),
        ("kalimutan mo na mahilig ako sa tsaa", "m8"),
        ("forget about movie night", "m1"),
    ],
)
async def test_a_request_to_forget_becomes_a_tool_call(offline: OfflineModel, text: str, handle: str) -> None:
    assert await called(offline, text) == [("delete_memory", {"handle": handle})]


@pytest.mark.parametrize(
    "text", ["forget my job", "forget m6", "forget m99", "forget that Bob is allergic to shellfish"]
)
async def test_what_is_not_ones_own_is_not_forgotten(offline: OfflineModel, text: str) -> None:
    whole = await answer(offline, text)
    assert whole.tool_calls == ()
    assert "shellfish" not in whole.text


@pytest.mark.parametrize("text", ["forget that I'm allergic to wasps", "olvida que tengo un perro"])
async def test_a_fact_that_only_resembles_what_was_named_is_not_forgotten(
    offline: OfflineModel, text: str
) -> None:
    assert (await answer(offline, text)).tool_calls == ()


@pytest.mark.parametrize(
    ("text", "words", "sentence"),
    [
        ("remember that I play bass", "saved m12", 'I\'ll remember that: "Plays bass".'),
        ("recuerda que soy celíaca", "saved m12", 'Lo recordaré: "Celíaca".'),
        ("tandaan mo na nurse ako", "saved m12", 'Tatandaan ko iyan: "Nurse".'),
        ("remember that I play bass", "duplicate m3", "I already remember that."),
        ("remember that I play bass", "limit_reached: 100 of 100", "full"),
        ("remember that everyone sings", "needs_approval", "waits for approval"),
        ("remember that everyone sings", "not_allowed: in a DM", "may not"),
        ("remember that I play bass", "too_long(500): 620 characters; nothing", "at most 500 characters"),
        ("recuerda que soy celíaca", "too_long(500): 620 characters; nothing", "máximo 500 caracteres"),
        ("tandaan mo na nurse ako", "too_long(500): 620 characters; nothing", "hanggang 500 character"),
        ("remember that I play bass", "too_long(500): 620 characters; nothing", "please shorten it"),
        ("remember that I play bass", "disabled", "switched off"),
        ("remember that I play bass", "error", "didn't work"),
        ("remember that I play bass", "", "didn't work"),
        ("forget m3", "deleted m3", "I've forgotten that (m3)."),
        ("olvida m3", "pinned_protected m3", "fijado"),
        ("forget m3", "pinned_protected m3", "pinned"),
        (
            "remember that my birthday is May 4",
            "updated m4",
            'I\'ve updated what I remember: "Birthday is May 4".',
        ),
    ],
)
async def test_the_outcome_is_confirmed_in_the_members_language(
    offline: OfflineModel, text: str, words: str, sentence: str
) -> None:
    told = await after(offline, text, words)
    assert sentence in told and "\n" not in told


async def test_without_tools_nothing_is_claimed(offline: OfflineModel) -> None:
    whole = await answer(offline, "remember that I play bass", tools=())
    assert whole.tool_calls == () and "Nothing was saved" in whole.text


async def test_a_request_that_only_points_is_asked_back(offline: OfflineModel) -> None:
    assert "What should I remember" in (await answer(offline, "remember that")).text


async def test_quotes_cannot_mention_or_format_and_links_stay_whole(offline: OfflineModel) -> None:
    text = (await answer(offline, "where is the guide?")).text
    assert "https://example.test/a_b_c" in text
    assert "@everyone" not in text and "**now**" not in text


@pytest.mark.parametrize(
    "text",
    ["@everyone", "<@123>", "<@&5>", "**b**", "||s||", "```x```", "> q", "# h", "-# s", "[a](http://b)"],
)
def test_a_neutral_text_holds_no_live_markup(text: str) -> None:
    shown = re.sub(r"https?://\S+", "", neutral(text))
    assert not re.search(r"(?<!\\)[*|`<>#\[\]()]|@everyone|^-#|@\d", shown)


def _one_mark(text: str) -> str:
    """A quotation holds no quotation marks but ``'``, and none of the signs that turn a text around."""
    return re.sub(
        r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", "", re.sub('["“”„‟«»＂″〝〞❝❞]', "'", text)
    )


def _plain(shown: str) -> str:
    return re.sub(r"\\(.)", r"\1", shown.replace("\u200b", ""))


WORDS = st.lists(
    st.sampled_from(
        [
            "dragon",
            "cake",
            "**bold**",
            "@everyone",
            "Miso",
            "said",
            "peanuts",
            '"x"',
            "-",
            "1.",
            "á",
            "m1",
            "<@1>",
        ]
    ),
    min_size=1,
    max_size=6,
).map(" ".join)
LINES = st.one_of(WORDS, st.text(max_size=40))


@given(entries=st.lists(LINES, max_size=4), window=st.lists(LINES, max_size=4), question=LINES)
@settings(max_examples=150, deadline=None)
async def test_every_quotation_stands_in_the_prompt(
    entries: list[str], window: list[str], question: str, offline: OfflineModel
) -> None:
    def flat(text: str) -> str:
        return " ".join(text.split())

    memories = "".join(f"- m{number} {flat(text)}\n" for number, text in enumerate(entries, 1) if flat(text))
    messages = (
        ChatMessage(Role.SYSTEM, f"{HEADING}About Alice:\n{memories}", "memories.personal"),
        *(
            ChatMessage(Role.USER, f"[14:00] Bob: {flat(text)}", f"message:{at}")
            for at, text in enumerate(window)
        ),
        said(flat(question)),
    )
    _, whole = await collect(offline.stream(Request(messages, TOOLS)))
    prompt = "\n".join(message.text for message in messages)
    for line in whole.text.splitlines():
        quotation = re.search(r'(?:\(m\d+\)|said): "(.*)"', line)
        if quotation:
            assert '"' not in quotation[1]
            assert _plain(quotation[1]) in _one_mark(prompt.replace("\u200b", ""))
    assert "@everyone" not in whole.text


async def test_a_prompt_of_another_shape_is_answered_too(offline: OfflineModel) -> None:
    for messages in (
        (),
        (ChatMessage(Role.USER, "hello"),),
        (ChatMessage(Role.TOOL, "x", tool_call_id="1"),),
    ):
        _, whole = await collect(offline.stream(Request(messages)))
        assert whole.text
