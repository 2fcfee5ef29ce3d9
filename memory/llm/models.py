"""What is known of models, as rows. A quirk is a column here and never an ``if provider`` elsewhere.

A row matches by the longest prefix of the model's bare name: lower case, without a vendor's path
(``openai/gpt-4o`` → ``gpt-4o``) and without a fine-tune's ``ft:``. Windows are tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

from memory.llm.port import ModelInfo

DEFAULT_WINDOW = 8_192
"""Assumed for a model of which nothing is known; small, so that nothing is ever over length."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One family of models.

    ``window`` is None when it depends on who serves the model. ``exact``: ``encoding`` is the model's own.
    ``images``: takes ``image_url`` parts. ``completion_tokens``: the limit must be called
    ``max_completion_tokens``. ``temperature``: takes one. ``json_schema``: takes a response schema.
    ``tools``: takes tools at all. ``thinks``: may be silent for minutes before its first piece.
    """

    prefix: str
    window: int | None
    encoding: str = "o200k_base"
    exact: bool = False
    images: bool = False
    completion_tokens: bool = False
    temperature: bool = True
    json_schema: bool = True
    tools: bool = True
    thinks: bool = False


def _openai(prefix: str, window: int, *, images: bool = True, json_schema: bool = True) -> ModelRow:
    return ModelRow(prefix, window, exact=True, images=images, json_schema=json_schema)


def _reasoning(
    prefix: str, window: int, *, images: bool = True, tools: bool = True, json_schema: bool = True
) -> ModelRow:
    return ModelRow(
        prefix,
        window,
        exact=True,
        images=images,
        completion_tokens=True,
        temperature=False,
        json_schema=json_schema,
        tools=tools,
        thinks=True,
    )


def _old(prefix: str, window: int, *, images: bool = False) -> ModelRow:
    return ModelRow(prefix, window, "cl100k_base", exact=True, images=images, json_schema=False)


UNKNOWN = ModelRow("", None, json_schema=False)

ROWS: tuple[ModelRow, ...] = (
    _reasoning("gpt-5", 400_000),
    ModelRow("gpt-5-chat", 128_000, exact=True, images=True, completion_tokens=True, tools=False),
    _openai("gpt-4.1", 1_047_576),
    _openai("gpt-4.5", 128_000),
    _openai("gpt-4o", 128_000),
    _openai("chatgpt-4o", 128_000, json_schema=False),
    _old("gpt-4-turbo", 128_000, images=True),
    _old("gpt-4-1106", 128_000),
    _old("gpt-4-0125", 128_000),
    _old("gpt-4-32k", 32_768),
    _old("gpt-4", 8_192),
    _old("gpt-3.5-turbo-instruct", 4_096),
    _old("gpt-3.5", 16_385),
    _old("gpt-35", 16_385),
    _reasoning("o1", 200_000),
    _reasoning("o1-mini", 128_000, images=False, tools=False, json_schema=False),
    _reasoning("o1-preview", 128_000, images=False, tools=False, json_schema=False),
    _reasoning("o3", 200_000),
    _reasoning("o3-mini", 200_000, images=False),
    _reasoning("o4-mini", 200_000),
    # Open weights: how much of the window is served is the server's choice.
    ModelRow("gpt-oss", None, exact=True, thinks=True),
    ModelRow("llama-4", None, images=True),
    ModelRow("llama", None),
    ModelRow("llama3.2-vision", None, images=True, tools=False),
    ModelRow("meta-llama", None),
    ModelRow("mistral", None),
    ModelRow("ministral", None),
    ModelRow("mixtral", None),
    ModelRow("pixtral", None, images=True),
    ModelRow("qwen", None),
    ModelRow("qwen2-vl", None, images=True),
    ModelRow("qwen2.5-vl", None, images=True),
    ModelRow("qwen2.5vl", None, images=True),
    ModelRow("qwen3-vl", None, images=True),
    ModelRow("qwq", None, thinks=True),
    ModelRow("gemma", None, tools=False),
    ModelRow("gemma-3", None, images=True, tools=False),
    ModelRow("gemma3", None, images=True, tools=False),
    ModelRow("phi", None, tools=False),
    ModelRow("phi4-mini", None),
    ModelRow("llava", None, images=True, tools=False),
    ModelRow("deepseek-r1", None, thinks=True),
    ModelRow("deepseek", None),
    # Hosted by their makers.
    ModelRow("deepseek-chat", 64_000, json_schema=False),
    ModelRow("deepseek-reasoner", 64_000, json_schema=False, thinks=True),
    ModelRow("claude", 200_000, images=True, json_schema=False),
    ModelRow("claude-2", 100_000, tools=False, json_schema=False),
    ModelRow("gemini", 1_048_576, images=True),
    ModelRow("gemini-2.5-pro", 1_048_576, images=True, thinks=True),
    ModelRow("gemini-3", 1_048_576, images=True, thinks=True),
    ModelRow("grok", 131_072),
    ModelRow("grok-2-vision", 32_768, images=True),
    ModelRow("grok-4", 256_000, images=True, thinks=True),
    ModelRow("command-r", 128_000),
    ModelRow("command-a", 256_000),
)

_BY_LENGTH = tuple(sorted(ROWS, key=lambda row: -len(row.prefix)))


def bare_name(model: str) -> str:
    """The name without vendor path, fine-tune mark and upper case."""
    name = model.strip().casefold().removeprefix("ft:")
    return name.rsplit("/", 1)[-1]


def row_for(model: str) -> ModelRow:
    """The row of the longest matching prefix, or :data:`UNKNOWN`."""
    name = bare_name(model)
    for row in _BY_LENGTH:
        rest = name[len(row.prefix) :]
        # "o1" must not claim "o100-large": a family's name ends where the digits of another would go on.
        if name.startswith(row.prefix) and not (row.prefix[-1].isdigit() and rest[:1].isdigit()):
            return row
    return UNKNOWN


def info(model: str, *, configured_window: int | None = None, served_window: int | None = None) -> ModelInfo:
    """All that the engine is told of a model.

    The window is ``LLM_CONTEXT_WINDOW`` when set, else the table's, else what the endpoint's ``/models``
    says, else 8,192 with a note (SPEC §14).
    """
    row = row_for(model)
    notes: list[str] = []
    window = configured_window or row.window or served_window
    if window is None:
        window = DEFAULT_WINDOW
        notes.append(
            f"The context window of {model} is not known; {DEFAULT_WINDOW:,} tokens are assumed."
            " Set LLM_CONTEXT_WINDOW to change this."
        )
    if not row.exact:
        notes.append(f"Token counts for {model} are approximate (counted with {row.encoding}).")
    return ModelInfo(
        name=model,
        context_window=window,
        encoding=row.encoding,
        exact=row.exact,
        images=row.images,
        notes=tuple(notes),
    )
