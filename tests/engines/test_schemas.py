"""Schemas in the strict form."""

from __future__ import annotations

from typing import Literal

import jsonschema
import pytest
from pydantic import BaseModel, Field

from ray_tasks.engines.schemas import strict_schema


class Part(BaseModel):
    """A part."""

    title: str = Field("none", description="what it is called")
    kind: Literal["a", "b"] | None = None


class Whole(BaseModel):
    """A whole."""

    parts: list[Part] = Field(min_length=1)
    default: int = 3


class Open(BaseModel):
    """A model that no strict schema can describe."""

    words: dict[str, int]


def test_every_object_is_closed_and_all_its_fields_are_required() -> None:
    schema = strict_schema(Whole)
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["parts", "default"]
    assert schema["$defs"]["Part"]["required"] == ["title", "kind"]
    assert schema["$defs"]["Part"]["additionalProperties"] is False


def test_fields_that_are_named_like_words_of_schemas_stay() -> None:
    schema = strict_schema(Whole)
    assert set(schema["properties"]) == {"parts", "default"}
    assert set(schema["$defs"]["Part"]["properties"]) == {"title", "kind"}
    assert "default" not in schema["properties"]["default"]
    assert schema["$defs"]["Part"]["properties"]["title"]["description"] == "what it is called"


def test_what_the_schema_takes_the_model_takes() -> None:
    schema = strict_schema(Whole)
    jsonschema.Draft202012Validator.check_schema(schema)
    value = {"parts": [{"title": "x", "kind": None}], "default": 1}
    jsonschema.validate(value, schema)
    assert Whole.model_validate(value).parts[0].title == "x"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"parts": [], "default": 1}, schema)


def test_an_open_dictionary_is_refused() -> None:
    with pytest.raises(TypeError, match="Open has an open dictionary"):
        strict_schema(Open)
