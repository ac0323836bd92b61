"""JSON from outside: whatever is wrong with it ends in one kind of error."""

from __future__ import annotations

import json
import math
import re
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
    try:
        text = data.decode("utf-8-sig")
        value = _DECODER.decode(text)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise MalformedJsonError(f"not JSON ({error.msg}, line {error.lineno}, column {error.colno})") from error
    except UnicodeDecodeError as error:
        raise MalformedJsonError(f"not UTF-8 at byte {error.start}") from error
    except UnicodeEncodeError as error:
        raise MalformedJsonError("it holds half a character (an unpaired surrogate)") from error
    except RecursionError as error:
        raise MalformedJsonError("it is nested too deeply") from error
    except ValueError as error:
        raise MalformedJsonError(str(error)) from error
    return value


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


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)
