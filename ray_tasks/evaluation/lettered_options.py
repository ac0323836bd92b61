"""Options in one list, perhaps with their letters in front ("A. in the shed"), and keys that name one of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from ray_tasks.evaluation.egolifeqa import read_key
from ray_tasks.evaluation.questions import normalise_text, option_text

_LETTER: Final = re.compile(r"\s*\(?([A-Za-z])\s*[.):：、]\s*")


def read_options(raw: object) -> dict[str, str]:
    """Options by label, A, B, ... in their order; empty where `raw` is neither a list nor a dictionary.

    Letters in front are taken off where every option has its own: among others, "A. Milne" is a name.
    """
    values = list(raw.values()) if isinstance(raw, dict) else raw
    if not isinstance(values, list):
        return {}
    texts = [option_text(value) for value in values]
    labels = [chr(ord("A") + position) for position in range(len(texts))]
    found = [_LETTER.match(text) for text in texts]
    if [match.group(1).upper() if match else "" for match in found] == labels:
        texts = [text[match.end() :] for text, match in zip(texts, found, strict=True) if match]
    return dict(zip(labels, texts, strict=True))


def read_key_or_text(values: Iterable[object], options: Mapping[str, str]) -> str | None:
    """The label that the first telling value names: by its letter, by letter and text, or by one option's text."""
    for value in values:
        text = option_text(value)
        lettered = _LETTER.match(text)
        letter = read_key(text, list(options)) or (read_key(lettered.group(1), list(options)) if lettered else None)
        if letter is not None:
            return letter
        same = [label for label, option in options.items() if text and normalise_text(option) == normalise_text(text)]
        if len(same) == 1:
            return same[0]
    return None
