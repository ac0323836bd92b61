"""JSON that a model wrote: taken only where it is whole, unambiguous and of the model that was asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from ray_tasks.strict_json import MalformedJsonError, json_faults, refuse_half_characters, strict_decoder

Model = TypeVar("Model", bound=BaseModel)

MOST_STARTS: Final = 200
"""Brackets of a text at which JSON is looked for, so that no text costs more than so many readings."""

_OPENING = re.compile(r"[{\[]")


def decode(text: str) -> Any:
    """The value of a JSON text; raises MalformedJsonError.

    Refused are also doubled names, numbers that are not finite or endless, nesting beyond Python's stack and halves of
    characters: of all these, readers of JSON make different things.
    """
    value, end = _value_at(text, len(text) - len(text.lstrip()))
    if text[end:].strip():
        raise MalformedJsonError(f"not JSON (something follows it at character {end})")
    return value


def read_model(text: str, model: type[Model]) -> Model:
    """The text as JSON of a model; raises MalformedJsonError, whose message says where it differs."""
    decode(text)
    try:
        return model.model_validate_json(text.strip())
    except ValidationError as error:
        raise MalformedJsonError(_differences(error)) from error


def find_model(text: str, model: type[Model]) -> Model:
    """JSON of a model in a text that may also hold prose and code fences; raises MalformedJsonError.

    Every outermost JSON value is tried. Two that fit and differ are as useless as none: which one is meant is a guess.
    """
    try:
        return read_model(text, model)
    except MalformedJsonError as error:
        wrong = error
    found: list[Model] = []
    for part in _parts(text):
        try:
            candidate = read_model(part, model)
        except MalformedJsonError as error:
            wrong = error
            continue
        if candidate not in found:
            found.append(candidate)
    if len(found) > 1:
        raise MalformedJsonError(f"it holds {len(found)} different answers")
    if not found:
        raise wrong
    return found[0]


def _parts(text: str) -> Iterator[str]:
    """The outermost JSON objects and lists of a text."""
    position = 0
    for _ in range(MOST_STARTS):
        opening = _OPENING.search(text, position)
        if not opening:
            return
        try:
            _, position = _value_at(text, opening.start())
            yield text[opening.start() : position]
        except MalformedJsonError:
            position = opening.end()


def _value_at(text: str, start: int) -> tuple[Any, int]:
    """The JSON value that begins there, and where it ends."""
    with json_faults():
        value, end = _DECODER.raw_decode(text, start)
        refuse_half_characters(text[start:end], value)
    return value, end


def _differences(error: ValidationError) -> str:
    """The first differences, without what the text says: it may be long."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    named = [f"{'.'.join(str(part) for part in one['loc']) or 'the whole'}: {one['msg']}" for one in found[:3]]
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return f"{error.title}: {'; '.join(named)}{more}"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        doubled = next(name for name in names if names.count(name) > 1)
        raise MalformedJsonError(f"the name {doubled[:40]!r} is there twice")
    return value


_DECODER = strict_decoder(_unique)
