"""The JSON schema of a pydantic model, in the strict form that endpoints can hold a reply to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel


@cache
def strict_schema(model: type[BaseModel]) -> Mapping[str, Any]:
    """The schema: every object closed, all its fields required, no defaults.

    Raises TypeError for a model with an open dictionary, which no strict schema can describe.
    """
    schema: dict[str, Any] = _strict(model.model_json_schema(), model.__name__)
    return schema


@cache
def schema_text(model: type[BaseModel]) -> str:
    """The schema on one line."""
    return json.dumps(strict_schema(model), ensure_ascii=False)


def _strict(node: Any, name: str) -> Any:
    if isinstance(node, list):
        return [_strict(part, name) for part in node]
    if not isinstance(node, dict):
        return node
    if "properties" in node:
        fields = {field: _strict(part, name) for field, part in node["properties"].items()}
        rest = {key: _strict(part, name) for key, part in node.items() if key not in {"properties", "default", "title"}}
        return {**rest, "properties": fields, "required": list(fields), "additionalProperties": False}
    if node.get("type") == "object":
        raise TypeError(f"{name} has an open dictionary; give it a model with named fields, or a list of pairs")
    return {key: _strict(part, name) for key, part in node.items() if key not in {"default", "title"}}
