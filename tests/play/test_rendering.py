"""What our page draws differently from simcord's, and that it is still simcord's otherwise."""

from __future__ import annotations

from simcord.preview import _markdown, _messages, _snapshot

from play import rendering


def kinds(text: str) -> list[str]:
    return [token["type"] for token in rendering._tokens(text, "message")]


def test_a_quote_ends_with_its_line_as_on_discord() -> None:
    assert kinds("> quoted\nplain") == kinds("> quoted\n\nplain")
    assert kinds("> one\n> two") != kinds("> one\n\n> two")
    assert kinds(">>> all\nof it") == [token["type"] for token in _markdown.markdown_tokens(">>> all\nof it")]
    code = "```\n> not a quote\nplain\n```"
    assert rendering._tokens(code) == _markdown.markdown_tokens(code)


def test_remembered_texts_are_what_simcord_makes_of_them_and_never_shared() -> None:
    context = {"users": {"5": "Ana"}, "commands": {}}
    for text in ("**bold** <@5> `code`", "", "line\nline"):
        expected = _markdown.markdown_tokens(text, "message", context=context)
        first = rendering._tokens(text, "message", context=context)
        first.append({"type": "mine"})
        assert rendering._tokens(text, "message", context=context) == expected
    assert rendering._tokens("<@5>", context=context) != rendering._tokens(
        "<@5>", context={"users": {"5": "Al"}}
    )
    assert rendering._tokens(None) == []


def test_simcord_still_has_the_names_that_are_replaced() -> None:
    rendering.make_it_fit()
    assert _messages.markdown_tokens is rendering._tokens
    assert _snapshot._message_navigation is rendering._newest


def test_small_print_and_mentions_are_drawn_in_embeds_as_on_discord() -> None:
    rendering.make_it_fit()
    tokens = rendering._tokens("> fact\n-# about <@5>", "embed_description", context={"users": {"5": "Ana"}})
    assert "subtext" in str(tokens[-1])
    assert "@Ana" in str(tokens[-1])
