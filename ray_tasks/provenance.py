"""What made a result: digests of code and of files."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from ray_tasks.errors import UsageError

CODE_SUFFIXES: Final = frozenset({".py", ".txt", ".yaml", ".json"})


@cache
def code_digest() -> str:
    """16 hex digits of this package's source: equal code, equal digest, wherever it is installed."""
    package = Path(__file__).parent
    whole = hashlib.sha256()
    for path in sorted(package.rglob("*")):
        if path.suffix in CODE_SUFFIXES and path.is_file():
            whole.update(f"{path.relative_to(package).as_posix()}\0".encode())
            whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:16]


def file_digest(path: Path) -> str:
    """The sha256 of a file's bytes; raises UsageError where it cannot be read."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
