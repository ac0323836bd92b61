"""Reading and searching the deployment files, for the tests of all of them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).resolve().parents[2]

_SECRET_NAME: Final = re.compile(
    r"private_?key|public_?key|access_?key|secret_?key|key_?name|session_?token|password|credentials",
    re.IGNORECASE,
)
_SECRET_VALUE: Final = re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|PRIVATE KEY|\.pem\b")
_RAY_PIN: Final = re.compile(r"ray\[[a-z,]+\]==([\d.]+)")
_UNITS: Final = {"": 1, "g": 1 << 30, "m": 1 << 20, "Gi": 1 << 30, "Mi": 1 << 20}


def load(name: str) -> Any:
    """The YAML document in a file of the checkout."""
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def load_all(name: str) -> list[Any]:
    """All YAML documents in a file of the checkout."""
    return list(yaml.safe_load_all((ROOT / name).read_text(encoding="utf-8")))


def pyproject() -> dict[str, Any]:
    """What the project declares."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def ray_version() -> str:
    """The version to which the project pins Ray."""
    (version,) = [match[1] for line in pyproject()["project"]["dependencies"] if (match := _RAY_PIN.fullmatch(line))]
    return str(version)


def packages() -> set[str]:
    """The top-level packages that the project ships."""
    return {pattern.removesuffix("*") for pattern in pyproject()["tool"]["setuptools"]["packages"]["find"]["include"]}


def leaves(document: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every scalar of a document with the keys and positions that lead to it; empty containers count as scalars."""
    if isinstance(document, dict) and document:
        for key, value in document.items():
            yield from leaves(value, (*path, str(key)))
    elif isinstance(document, list) and document:
        for position, value in enumerate(document):
            yield from leaves(value, (*path, str(position)))
    else:
        yield path, document


def secrets(document: Any) -> list[str]:
    """Where a document names or holds a credential."""
    return [
        "/".join(path)
        for path, value in leaves(document)
        if any(_SECRET_NAME.search(key) for key in path)
        or _SECRET_VALUE.search(str(value))
        or (isinstance(value, str) and re.search(r"AWS_(?:ACCESS|SECRET|SESSION)", value))
    ]


def in_bytes(size: str) -> int:
    """Docker's `18g` and Kubernetes' `16Gi` in bytes; raises ValueError for other notations."""
    match = re.fullmatch(r"(\d+)([A-Za-z]*)", size)
    if not match or match[2] not in _UNITS:
        raise ValueError(f"not a size these tests read: {size!r}")
    return int(match[1]) * _UNITS[match[2]]
