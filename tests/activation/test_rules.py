"""Activation by keywords and channels (SPEC §7)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.activation import rules
from memory.types import Memory, Scope

AT = datetime(2026, 3, 1, tzinfo=UTC)


def entry(*keywords: str, channels: tuple[int, ...] = (), pinned: bool = False) -> Memory:
    return Memory(1, Scope.server(7), "text", pinned, AT, AT, keywords=keywords, channels=channels)


@pytest.mark.parametrize(
    ("keyword", "line", "found"),
    [
        ("dragon", "The DRAGON wakes", True),
        ("dragon", "dragonfly", True),
        ('"dragon"', "dragonfly", False),
        ('"dragon"', "a dragon!", True),
        ("“dragon”", "dragonfly", False),
        ("straße", "STRASSE", True),
        ("ｆｕｌｌ", "full width", True),
        ("c++", "I write C++", True),
        ('"c++"', "I write C++.", True),
        ("  ", "anything", False),
        ('""', "anything", False),
        ("niño", "El Niño", True),
    ],
)
def test_a_keyword_calls_up_an_entry_only_where_it_appears(keyword: str, line: str, found: bool) -> None:
    assert bool(rules.active([entry(keyword)], (1,), [line])) is found


def test_an_entry_without_keywords_is_always_on() -> None:
    assert rules.active([entry()], (1,), [])


def test_keyword_and_channel_must_both_pass() -> None:
    tagged = entry("dragon", channels=(5,))
    assert rules.active([tagged], (5,), ["a dragon"])
    assert not rules.active([tagged], (6,), ["a dragon"])
    assert not rules.active([tagged], (5,), ["a knight"])


def test_a_pinned_entry_ignores_keywords_but_not_channels() -> None:
    assert rules.active([entry("dragon", pinned=True)], (1,), ["a knight"])
    assert not rules.active([entry("dragon", channels=(5,), pinned=True)], (6,), ["a dragon"])
