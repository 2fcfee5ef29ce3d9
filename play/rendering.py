"""Makes simcord's page cheap enough to redraw while the bot streams, and a little more like Discord's.

simcord builds a page once an action; we build it for every look that finds a change. Two things cost nine
tenths of that: a Markdown parser compiled anew for each text, and a hidden list of every message.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from simcord.preview import _component_projection, _markdown, _messages, _queries, _snapshot

_KEPT_TEXTS = 4_000
_LISTED = 30

_parse = _markdown.markdown_tokens
_list_messages = _snapshot._message_navigation
_same_speaker = _snapshot._is_compact_message
_known: OrderedDict[tuple[str, str, str], str] = OrderedDict()

_REWORDED = {
    "/selects.js": (
        ('"Select an option"', '"Make a selection"'),
        ('"Select one or more options"', '"Make a selection"'),
        ('"SimCord selection draft actions"', '"Make a selection"'),
        ('"SimCord selection draft"', '"Make a selection"'),
    ),
    # A picked choice shows its name, not the value that the bot is sent.
    "/commands.js": ((': String(value?.raw ?? "")', ': String(value?.label ?? value?.raw ?? "")'),),
}


def _tokens(value: Any, profile: str = "message", *, context: Mapping[str, Any] | None = None) -> Any:
    """simcord's ``markdown_tokens``, remembered: the same text in the same context has the same tokens.

    Kept as JSON, because the caller changes what it is given.
    """
    if value is None:
        return []
    value = _ended_quotes(str(value))
    key = (value, profile, json.dumps(context, sort_keys=True, default=str) if context else "")
    if key in _known:
        _known.move_to_end(key)
    else:
        _known[key] = json.dumps(_parse(value, profile, context=context))
        if len(_known) > _KEPT_TEXTS:
            _known.popitem(last=False)
    return json.loads(_known[key])


def _ended_quotes(text: str) -> str:
    """End a quote at the first line without ``>``, as Discord does; CommonMark would let it go on."""
    if "```" in text or ">>> " in text:
        return text
    return re.sub(r"^( {0,3}>.*)\n(?! {0,3}>)(?=.*\S)", r"\1\n\n", text, flags=re.MULTILINE)


def _newest(preview: Any, page: Any, visible: list[Any]) -> Any:
    """simcord's message list, which our page doesn't show; a reply's label reads its newest rows."""
    return _list_messages(preview, page, visible[-_LISTED:])


def _goes_on(previous: Any, message: Any, timezone: str, env: Any) -> bool:
    """Whether a message needs no head of its own; simcord would put two personas of one webhook together."""
    named = (
        None if previous is None else (previous.author_name, previous.author_avatar),
        (message.author_name, message.author_avatar),
    )
    return named[0] == named[1] and bool(_same_speaker(previous, message, timezone, env))


def reworded(path: str, script: str) -> str:
    """A part of simcord's page, with what a person reads in Discord's words."""
    for theirs, discords in _REWORDED.get(path, ()):
        script = script.replace(theirs, discords)
    return script


def make_it_fit() -> None:
    """Put these in simcord's place. Where a name isn't there any more, simcord stays as it is."""
    for module in (_component_projection, _messages, _queries, _snapshot):
        if getattr(module, "markdown_tokens", None) is _parse:
            module.markdown_tokens = _tokens
    if getattr(_snapshot, "_message_navigation", None) is _list_messages:
        _snapshot._message_navigation = _newest
    if getattr(_snapshot, "_is_compact_message", None) is _same_speaker:
        _snapshot._is_compact_message = _goes_on
    # simcord leaves these out in embeds; Discord shows all three in a description and in a field's value.
    for name in ("embed_description", "embed_field_value"):
        policy = getattr(_markdown, "_FIELD_POLICIES", {}).get(name, {})
        policy |= {key: True for key in ("mentions", "commands", "subtext") if key in policy}
