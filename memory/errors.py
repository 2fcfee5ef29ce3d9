"""Every error that crosses a room. Each carries a sentence for the person who sees it.

KeepsakeError
├── SettingsError          bad environment; names every bad variable at once
├── StoreError
│   ├── StoreBusy          locked for too long; nothing was written, try again
│   ├── StoreFull          disk full; nothing was written
│   ├── StoreUnavailable   the database does not answer
│   └── SchemaTooNew       written by a newer Keepsake; refuses to start
├── BudgetError            the protected blocks alone exceed the model's budget; nothing was sent
└── ModelError             the model's door (``memory.llm.port`` documents when each is raised)
    ├── ModelUnavailable   cannot be reached, 5xx after retries
    ├── ModelTimeout       no answer, or no next piece, in time
    ├── ModelRateLimited   429 after retries; ``retry_after`` seconds when told
    ├── ModelAuthError     401, 403: the key is wrong
    ├── ModelRequestError  400, 404, 422: the request or the model's name is wrong
    │   ├── ContextOverflow    the prompt is longer than the model takes
    │   └── ToolsUnsupported   the endpoint says that it takes no tools
    ├── ModelRefused       the provider's filter stopped the answer
    ├── ModelEmpty         an answer without text and without tool calls
    └── ModelMalformed     the answer could not be read, or its stream was cut
"""

from __future__ import annotations


class KeepsakeError(Exception):
    """Base of all. ``str(error)`` is a plain sentence that may be shown to a person."""


class SettingsError(KeepsakeError):
    """Bad environment variables. ``problems``: one sentence for each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class StoreError(KeepsakeError):
    """The database could not do what was asked. Nothing was half-written."""


class StoreBusy(StoreError):
    """Somebody else held the database for too long."""


class StoreFull(StoreError):
    """No space left on the disk."""


class StoreUnavailable(StoreError):
    """The database does not answer, or its file cannot be opened."""


class SchemaTooNew(StoreError):
    """The database was written by a newer version."""


class BudgetError(KeepsakeError):
    """Protected blocks alone do not fit. ``needed`` and ``budget`` are tokens (SPEC §5)."""

    def __init__(self, needed: int, budget: int, largest: tuple[tuple[str, int], ...] = ()) -> None:
        parts = ", ".join(f"{name} {tokens:,}" for name, tokens in largest)
        detail = f" The largest parts: {parts}." if parts else ""
        super().__init__(
            f"What must always be sent needs {needed:,} tokens and the model's budget is {budget:,}."
            f" Nothing was sent.{detail}"
            " Shorten the prompts or unpin memories, or set LLM_CONTEXT_WINDOW if the model takes more."
        )
        self.needed = needed
        self.budget = budget
        self.largest = largest


class ModelError(KeepsakeError):
    """The model did not give a usable answer. ``again``: True when trying again can help."""

    again = True


class ModelUnavailable(ModelError):
    """Cannot be reached, or failed on its side."""


class ModelTimeout(ModelError):
    """Did not answer in time."""


class ModelRateLimited(ModelError):
    """Too many requests. ``retry_after``: seconds, when the provider said so."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelAuthError(ModelError):
    """The key was refused."""

    again = False


class ModelRequestError(ModelError):
    """The endpoint refused the request itself."""

    again = False


class ContextOverflow(ModelRequestError):
    """The prompt is longer than the model takes."""


class ToolsUnsupported(ModelRequestError):
    """The endpoint takes no tools."""


class ModelRefused(ModelError):
    """The provider's filter stopped the answer."""

    again = False


class ModelEmpty(ModelError):
    """Neither text nor tool calls."""


class ModelMalformed(ModelError):
    """Unreadable, or cut off before its end."""
