"""What commands that put questions to a memory make of their options: files, settings, and the model that answers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from ray_tasks.config import load_config
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.errors import UsageError
from ray_tasks.retrieval.settings import RetrievalSettings


def question_files(given: Sequence[str], wearers: Sequence[str]) -> list[tuple[str, Path]]:
    """(wearer, file) of all --questions, each once: A1_JAKE=FILE, or a file or folder for every --wearer.

    Raises UsageError where nothing says whose questions they are.
    """
    found: list[tuple[str, Path]] = []
    for text in given:
        owner, equals, file = text.partition("=")
        if equals and owner and file and not Path(text).exists():
            found.append((owner, Path(file)))
        elif wearers:
            found += [(wearer, Path(text)) for wearer in wearers]
        else:
            raise UsageError(f"--questions {text}: whose are they? Add --wearer A1_JAKE, or say A1_JAKE={text}")
    return list(dict.fromkeys(found))


def read_sweep(changes: Sequence[str]) -> list[RetrievalSettings]:
    """Settings of retrieval with those of --set, each combination once where names have several values.

    Raises UsageError for a setting that is unknown or out of range.
    """
    values: dict[str, dict[str, None]] = {}
    for text in changes:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise UsageError(f"--set {text}: expected a name and a value, such as rounds=2")
        values.setdefault(name.strip(), {})[value.strip()] = None
    combinations = itertools.product(*values.values())
    changed = [RetrievalSettings().changed(dict(zip(values, chosen, strict=True))) for chosen in combinations]
    return list(dict.fromkeys(changed))


def read_settings(changes: Sequence[str]) -> RetrievalSettings:
    """The same where there can be only one combination; raises UsageError where there are several."""
    settings, *others = read_sweep(changes)
    if others:
        raise UsageError("--set: a setting has several values, which only `daybook evaluate` tries one after another")
    return settings


def answering_model(
    config: Path | None, urls: list[str] | None, model: str | None, *, asks: bool, starts: bool = True
) -> ChatSettings | None:
    """The language model that answers, None where the settings ask none.

    `starts`: whether the command can start the model that is named under `serve`. Raises UsageError where nothing says
    how to reach it, and for a wrong configuration in any case.
    """
    if not asks:
        if config is not None:
            load_config(config)
        return None
    given = {"urls": urls, "model": model}
    apart = load_config(config).agents is not None
    settings = (load_config(config, agents=given) if apart else load_config(config, llm=given)).answering
    if not settings.urls and settings.serve is not None and not starts:
        raise UsageError(
            f"one question is not worth starting {settings.model}: name an endpoint with --llm-url; `daybook evaluate` "
            "starts what stands under `serve`"
        )
    if not settings.urls and settings.serve is None:
        raise UsageError(
            f"nothing says where {settings.model} answers: name an endpoint with --llm-url (or `urls` in the "
            "configuration), or say under `serve` how the job starts it"
        )
    return settings
