"""JSON from outside: whatever is wrong with it ends in one kind of error."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn

_INT_DIGITS: Final = 4000
"""Python reads no more than 4300."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class MalformedJsonError(ValueError):
    """A text that is no JSON, or JSON that cannot be worked with; the message says what and where."""


def parse_json(data: bytes) -> Any:
    """The value of a UTF-8 JSON document (a byte order mark is skipped).

    Raises MalformedJsonError for anything else, and also for what Python's parser takes or stumbles over: numbers that
    are not finite or too long, nesting beyond its stack, escapes of half a character.
    """
    with json_faults():
        text = data.decode("utf-8-sig")
        value = _DECODER.decode(text)
        refuse_half_characters(text, value)
    return value


@contextmanager
def json_faults() -> Iterator[None]:
    """Whatever is wrong with JSON that is read inside the block comes out as MalformedJsonError."""
    try:
        yield
    except json.JSONDecodeError as error:
        raise MalformedJsonError(f"not JSON ({error.msg}, line {error.lineno}, column {error.colno})") from error
    except UnicodeDecodeError as error:
        raise MalformedJsonError(f"not UTF-8 at byte {error.start}") from error
    except UnicodeEncodeError as error:
        raise MalformedJsonError("it holds half a character (an unpaired surrogate)") from error
    except RecursionError as error:
        raise MalformedJsonError("it is nested too deeply") from error
    except MalformedJsonError:
        raise
    except ValueError as error:
        raise MalformedJsonError(str(error)) from error


def refuse_half_characters(text: str, value: Any) -> None:
    """Raises UnicodeEncodeError where the JSON text of a value escapes half of a character."""
    if _SURROGATE.search(text):
        json.dumps(value, ensure_ascii=False).encode()


def strict_decoder(pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> json.JSONDecoder:
    """A decoder that refuses numbers that are not finite; `pairs` makes objects of their names and values."""
    return json.JSONDecoder(parse_float=_finite, parse_constant=_refuse, object_pairs_hook=pairs)


def read_int(text: str) -> int | str:
    """For `json.loads(parse_int=...)` of a user's file: a number too long for Python stays a text.

    So it is judged where it stands, and costs nothing around it.
    """
    return int(text) if len(text) <= _INT_DIGITS else text


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise MalformedJsonError(f"the number {text[:20]} is too large")
    return value


def _refuse(name: str) -> NoReturn:
    raise MalformedJsonError(f"{name} is no number")


_DECODER = strict_decoder()
