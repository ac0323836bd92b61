"""Prompts: versioned text files beside the code that sends them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Self

_VERSION = re.compile(r"version:[ \t]*(?P<number>[1-9]\d*)[ \t]*\r?\n")
_PLACE = re.compile(r"\{\{[ \t]*(?P<name>[a-z_][a-z0-9_]*)[ \t]*\}\}")


class PromptError(ValueError):
    """A prompt file or a filling of it that is wrong: a mistake in the program, not in anybody's data."""


@dataclass(frozen=True)
class Prompt:
    """A text with places such as ``{{caption}}``; `digest` is the sha256 of version and text, for cache keys."""

    name: str
    version: int
    text: str
    digest: str
    places: frozenset[str] = field(repr=False)

    @classmethod
    def parse(cls, name: str, content: str) -> Self:
        """A prompt from a file's content, whose first line is ``version: N``; raises PromptError."""
        head = _VERSION.match(content)
        if not head:
            raise PromptError(f"prompt {name}: the first line must be `version: N`, with N from 1")
        text = content[head.end() :].strip()
        if not text:
            raise PromptError(f"prompt {name} holds no text after its version")
        version = int(head["number"])
        digest = hashlib.sha256(f"{version}\n{text}".encode()).hexdigest()[:16]
        return cls(name, version, text, digest, frozenset(match["name"] for match in _PLACE.finditer(text)))

    @classmethod
    def load(cls, package: str, name: str) -> Prompt:
        """The prompt ``prompts/{name}.txt`` of a package (or ``{name}.txt`` in it); raises PromptError."""
        return _load(package, name)

    def fill(self, **values: object) -> str:
        """The text with every place filled.

        Values are data: they are put in once and never looked at, so braces or whole places in them come through as
        they are. Raises PromptError for a place without a value and for a value without a place.
        """
        missing, unknown = self.places - values.keys(), values.keys() - self.places
        if missing or unknown:
            wrong = [f"no value for {name}" for name in sorted(missing)] + [
                f"no place for {n}" for n in sorted(unknown)
            ]
            raise PromptError(f"prompt {self.name}: {', '.join(wrong)}")
        return _PLACE.sub(lambda match: str(values[match["name"]]), self.text)


@cache
def _load(package: str, name: str) -> Prompt:
    folder = resources.files(package)
    tried = (folder / "prompts" / f"{name}.txt", folder / f"{name}.txt")
    for file in tried:
        if file.is_file():
            return Prompt.parse(f"{package}/{name}", file.read_text(encoding="utf-8"))
    raise PromptError(f"{package} has no prompt {name}: {tried[0]} is missing")
