"""The first call to a model that has just come up: it proves that the model answers, and warms it up."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from http import HTTPStatus
from typing import Final

TIMEOUT_S: Final = 300.0
"""How long the first call may take: it compiles what later calls find ready."""

PASSING: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
"""What a front answers that has not heard of the model yet, or is busy; all other 4xx are the request's fault."""


class FirstCallError(Exception):
    """No answer. `final`: nor will there be one, since the request itself is refused."""

    def __init__(self, message: str, *, final: bool) -> None:
        super().__init__(message)
        self.final = final


def first_call(url: str, model: str) -> None:
    """Asks for one token at an OpenAI-compatible endpoint (``http://host:port/.../v1``); raises FirstCallError."""
    body = {"model": model, "messages": [{"role": "user", "content": "Good morning."}], "max_tokens": 1}
    request = urllib.request.Request(
        f"{url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            json.load(answer)["choices"][0]
    except urllib.error.HTTPError as error:
        said = error.read(2000).decode(errors="replace").strip()
        final = error.code < HTTPStatus.INTERNAL_SERVER_ERROR and error.code not in PASSING
        raise FirstCallError(f"{error.code} {said[:400]}", final=final) from error
    except (OSError, ValueError, LookupError) as error:
        raise FirstCallError(f"{type(error).__name__}: {error}", final=False) from error
