"""Drafts without a model: the sentences of the source, as they are. Pure; invents and judges nothing."""

from __future__ import annotations

import json
import re

from memory.llm.port import Request

BLOCK = "drafts.source"
"""The prompt block of a request for drafts; it ends in the source, as a JSON list of objects."""

_SENTENCE = re.compile(r"(?<=[.!?…。！？])\s+|\n+")


def drafts(request: Request) -> str | None:
    """The answer to a request for drafts, a JSON list; None when the request is none."""
    source = next((message.text for message in request.messages if message.block == BLOCK), None)
    if source is None:
        return None
    said = json.loads(source[source.index("[") :])
    found = [sentence.strip() for each in said for sentence in _SENTENCE.split(each["text"])]
    return json.dumps([sentence for sentence in found if sentence], ensure_ascii=False)
