"""Without a model: a fact that names another member without a mention is that member's (SPEC §4.4)."""

from __future__ import annotations

import json

import pytest

from memory.llm import tokenizers
from memory.llm.offline import OfflineModel
from memory.llm.port import ChatMessage, Request, Role, ToolCall

from .kit import collect
from .offline_kit import HEADING, TOOLS, said

WINDOW = ("Ben: morning", "Bob Lee: hi", "Will: hey")


@pytest.fixture(scope="module")
def offline() -> OfflineModel:
    return OfflineModel(tokenizers.by_encoding("o200k_base"))


def prompt(*inputs: ChatMessage, window: tuple[str, ...] = WINDOW) -> tuple[ChatMessage, ...]:
    return (
        ChatMessage(Role.SYSTEM, "You are Keepsake, a friendly companion.", "system"),
        *(
            ChatMessage(Role.USER, f"[14:0{n}] {line}", f"message:{n}")
            for n, line in enumerate((*window, "Alice: hello"))
        ),
        ChatMessage(Role.SYSTEM, f"{HEADING}About Alice:\n- m1 Likes tea\n", "memories.personal"),
        *inputs,
    )


async def asked(model: OfflineModel, messages: tuple[ChatMessage, ...]) -> tuple[str, tuple[ToolCall, ...]]:
    _, whole = await collect(model.stream(Request(messages, TOOLS)))
    return whole.text, whole.tool_calls


async def saved(
    model: OfflineModel, text: str, window: tuple[str, ...] = WINDOW
) -> tuple[str, str | None, str]:
    """What is saved, about which named member, in whose scope."""
    shown, (call,) = await asked(model, prompt(said(text), window=window))
    assert shown == "" and call.name == "save_memory"
    given = json.loads(call.arguments)
    return given["content"], given.get("user"), given["about"]


def answered(calls: tuple[ToolCall, ...], *results: str) -> tuple[ChatMessage, ...]:
    told = zip(calls, results, strict=True)
    return (
        ChatMessage(Role.ASSISTANT, "", tool_calls=calls),
        *(ChatMessage(Role.TOOL, words, tool_call_id=call.id) for call, words in told),
    )


@pytest.mark.parametrize(
    ("text", "content", "user"),
    [
        ("remember that Ben likes cake", "Likes cake", "Ben"),
        ("remember that ben likes cake", "Likes cake", "Ben"),
        ("remember Ben's birthday is May 3", "Birthday is May 3", "Ben"),
        ("remember that Ben’s birthday is May 3", "Birthday is May 3", "Ben"),
        ("Ben likes cake, remember that", "Likes cake", "Ben"),
        ("remember that Bob Lee can't hear well", "Can't hear well", "Bob Lee"),
        ("remember that Will likes cake", "Likes cake", "Will"),
        ("recuerda que a Ben le gusta el pastel", "Le gusta el pastel", "Ben"),
        ("recuerda que a Ben no le gusta el té", "No le gusta el té", "Ben"),
        ("recuerda que le gusta el pastel a Ben", "Le gusta el pastel", "Ben"),
        ("recuerda que Ben es vegano", "Es vegano", "Ben"),
        ("recuerda que el cumpleaños de Ben es el 3 de mayo", "El cumpleaños es el 3 de mayo", "Ben"),
        ("tandaan mo na gusto ni Ben ang cake", "Gusto ang cake", "Ben"),
        ("tandaan mo na mahilig si Ben sa tsaa", "Mahilig sa tsaa", "Ben"),
        ("tandaan mo na hindi kumakain si Ben ng karne", "Hindi kumakain ng karne", "Ben"),
        ("tandaan mo na si Ben ay nurse", "Nurse", "Ben"),
        ("tandaan mo na ang birthday ni Ben ay Mayo 3", "Ang birthday ay Mayo 3", "Ben"),
    ],
)
async def test_a_fact_that_names_another_member_is_about_that_member(
    offline: OfflineModel, text: str, content: str, user: str
) -> None:
    assert await saved(offline, text) == (content, user, "user")


@pytest.mark.parametrize(
    ("text", "content", "about"),
    [
        ("remember that Zoe likes cake", "Zoe likes cake", "user"),
        ("remember that Bob likes cake", "Bob likes cake", "user"),
        ("remember that Ben Carter likes cake", "Ben Carter likes cake", "user"),
        ("remember that Benny likes cake", "Benny likes cake", "user"),
        ("remember that Ben and Bob Lee like cake", "Ben and Bob Lee like cake", "user"),
        ("remember that Alice likes cake", "Alice likes cake", "user"),
        ("remember that Ben is my brother", "Ben is my brother", "user"),
        ("remember that I live with Ben", "Lives with Ben", "user"),
        ("remember that the cake is for Ben", "The cake is for Ben", "user"),
        ("remember that will power is needed", "Will power is needed", "user"),
        ("remember for the server that Ben likes cake", "Ben likes cake", "server"),
        ("recuerda que Ben y Ana son novios", "Ben y Ana son novios", "user"),
        ("tandaan mo na kapatid ko si Ben", "Kapatid si Ben", "user"),
        ("tandaan mo na ang dragon ay si Ben", "Ang dragon ay si Ben", "user"),
    ],
)
async def test_any_other_fact_is_kept_as_before(
    offline: OfflineModel, text: str, content: str, about: str
) -> None:
    assert await saved(offline, text) == (content, None, about)


async def test_of_two_members_alike_in_name_neither_is_chosen(offline: OfflineModel) -> None:
    window = ("Ben (…1234): morning", "Ben (…9999): hi")
    text = "remember that Ben likes cake"
    assert await saved(offline, text, window) == ("Ben likes cake", None, "user")
    window = ("Ben: morning", "ben: hi")
    assert await saved(offline, text, window) == ("Ben likes cake", None, "user")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("remember that Ben likes cake", "only Ben can approve it"),
        ("recuerda que a Ben le gusta el pastel", "solo Ben puede aprobarlo"),
        ("tandaan mo na gusto ni Ben ang cake", "si Ben lang ang puwedeng mag-apruba"),
        ("remember that @Ben likes cake", "only Ben can approve it"),
    ],
)
async def test_it_is_said_that_it_waits_and_for_whom(offline: OfflineModel, text: str, says: str) -> None:
    asking = prompt(said(text))
    _, calls = await asked(offline, asking)
    shown, more = await asked(offline, (*asking, *answered(calls, "needs_approval: it waits.")))
    assert says in shown and "`/approvals`" in shown and more == ()


async def test_what_waits_otherwise_names_nobody(offline: OfflineModel) -> None:
    asking = prompt(said("remember that our inn opens at nine"))
    _, calls = await asked(offline, asking)
    shown, _ = await asked(offline, (*asking, *answered(calls, "needs_approval: it waits.")))
    assert shown.startswith("That waits for approval")


@pytest.mark.parametrize("words", ["user_not_found: in play are Alice.", "ambiguous_user: which one?"])
async def test_a_speaker_who_is_no_member_in_play_costs_nobody_a_memory(
    offline: OfflineModel, words: str
) -> None:
    """Other bots and personas speak in the prompt like members do."""
    asking = prompt(said("remember that Ben likes cake"), said("remember that I own a dog", "Bob Lee", 10))
    _, calls = await asked(offline, asking)
    first = answered(calls, words, "saved m5")
    shown, again = await asked(offline, (*asking, *first))
    assert shown == 'I\'ll remember that: "Owns a dog".'
    (call,) = again
    given = json.loads(call.arguments)
    assert given == {"content": "Ben likes cake", "about": "user", "user": "Alice"}
    shown, more = await asked(offline, (*asking, *first, *answered(again, "saved m6")))
    assert shown.startswith('I\'ll remember that as you said it: "Ben likes cake"') and more == ()


async def test_a_mention_of_somebody_who_is_not_in_play_saves_nothing(offline: OfflineModel) -> None:
    asking = prompt(said("remember that @Ben likes cake"))
    _, calls = await asked(offline, asking)
    shown, more = await asked(offline, (*asking, *answered(calls, "user_not_found: in play are Alice.")))
    assert "Nothing was saved" in shown and more == ()
