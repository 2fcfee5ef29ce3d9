"""Checks a request body against Discord's own OpenAPI description: the part of JSON Schema that it uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list, tuple),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


class DiscordSchema:
    def __init__(self, openapi: dict[str, Any]) -> None:
        self.schemas = openapi["components"]["schemas"]
        self.routes = [
            (re.compile("^" + re.sub(r"\{\w+\}", r"[^/]+", path) + "$"), method.upper(), body)
            for path, methods in openapi["paths"].items()
            for method, operation in methods.items()
            if isinstance(operation, dict) and (body := _body(operation)) is not None
        ]

    def check(self, method: str, path: str, body: Any) -> list[str] | None:
        """What is wrong with a request; None when the description has no body for it."""
        found = [schema for route, verb, schema in self.routes if verb == method and route.match(path)]
        if not found:
            return None
        tries = [list(self.faults(schema, body, "body")) for schema in found]
        return min(tries, key=len)

    def faults(self, schema: Any, value: Any, at: str) -> Iterator[str]:
        if schema is True or not isinstance(schema, dict):
            return
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            if name == "SnowflakeType" and isinstance(value, int) and value >= 0:
                return  # Discord takes ids as numbers too, and discord.py sends some so
            yield from self.faults(self.schemas[name], value, at)
        yield from self._combined(schema, value, at)
        yield from self._scalar(schema, value, at)
        if isinstance(value, dict):
            yield from self._object(schema, value, at)
        if isinstance(value, list | tuple):
            if len(value) > schema.get("maxItems", len(value)) or len(value) < schema.get("minItems", 0):
                yield f"{at}: {len(value)} items"
            for index, item in enumerate(value):
                yield from self.faults(schema.get("items", True), item, f"{at}[{index}]")

    def _combined(self, schema: dict[str, Any], value: Any, at: str) -> Iterator[str]:
        for part in schema.get("allOf", []):
            yield from self.faults(part, value, at)
        for key in ("oneOf", "anyOf"):
            if key in schema:
                tries = [list(self.faults(part, value, at)) for part in schema[key]]
                if all(tries):
                    yield from min(tries, key=len)

    def _scalar(self, schema: dict[str, Any], value: Any, at: str) -> Iterator[str]:
        kinds = schema.get("type")
        if kinds is not None:
            allowed = [kinds] if isinstance(kinds, str) else kinds
            fits = any(isinstance(value, TYPES[kind]) for kind in allowed)
            if not fits or (isinstance(value, bool) and "boolean" not in allowed):
                yield f"{at}: {value!r} is no {allowed}"
                return
        if "const" in schema and value != schema["const"]:
            yield f"{at}: {value!r} is not {schema['const']!r}"
        if "enum" in schema and value not in schema["enum"]:
            yield f"{at}: {value!r} is not among {schema['enum']}"
        if isinstance(value, str):
            if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
                yield f"{at}: {len(value)} characters"
            if "pattern" in schema and not re.search(schema["pattern"], value):
                yield f"{at}: {value!r} does not match {schema['pattern']}"
        elif isinstance(value, int | float) and not isinstance(value, bool):
            low, high = schema.get("minimum", value), schema.get("maximum", value)
            yield from [] if low <= value <= high else [f"{at}: {value} is out of range"]

    def _object(self, schema: dict[str, Any], value: dict[str, Any], at: str) -> Iterator[str]:
        known = schema.get("properties", {})
        for name in schema.get("required", []):
            if name not in value:
                yield f"{at}: {name} is missing"
        for name, item in value.items():
            if name in known:
                yield from self.faults(known[name], item, f"{at}.{name}")
            elif isinstance(schema.get("additionalProperties"), dict):
                yield from self.faults(schema["additionalProperties"], item, f"{at}.{name}")
            elif schema.get("additionalProperties") is False:
                yield f"{at}: {name} is unknown"


def _body(operation: dict[str, Any]) -> Any:
    content = operation.get("requestBody", {}).get("content", {})
    return content.get("application/json", {}).get("schema")
