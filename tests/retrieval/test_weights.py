"""Tables of weights and settings."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ray_tasks.retrieval.settings import RetrievalSettings, SettingsError
from ray_tasks.retrieval.weights import DEFAULT_WEIGHTS, FusionWeights, Term, WeightsError


def test_a_table_survives_json() -> None:
    assert FusionWeights.from_json(DEFAULT_WEIGHTS.to_json()) == DEFAULT_WEIGHTS


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"terms": [{"signal": "dense"}]}', '{"terms": 3}'])
def test_what_is_no_table_is_a_clear_error(text: str) -> None:
    with pytest.raises(WeightsError):
        FusionWeights.from_json(text)


def test_unknown_signals_and_empty_tables_are_refused() -> None:
    table = json.loads(DEFAULT_WEIGHTS.to_json())
    table["terms"][0]["signal"] = "magic"
    with pytest.raises(WeightsError, match="magic"):
        FusionWeights.from_json(json.dumps(table))
    with pytest.raises(WeightsError, match="not zero"):
        replace(DEFAULT_WEIGHTS, terms=(Term("dense", "core", 0.0),))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"decay": 0.0}, "decay"),
        ({"decay": 1.5}, "decay"),
        ({"evidence": 16}, "evidence"),
        ({"evidence": 0}, "evidence"),
        ({"pool_per_round": 3}, "pool_per_round"),
        ({"rounds": 0}, "rounds"),
        ({"rounds": 4}, "rounds"),
    ],
)
def test_settings_out_of_range_are_refused_by_name(change: dict[str, float], named: str) -> None:
    with pytest.raises(SettingsError, match=named):
        RetrievalSettings(**change)  # type: ignore[arg-type]


def test_settings_are_plain_values_and_hashable() -> None:
    assert json.loads(json.dumps(RetrievalSettings().to_json()))["decay"] == 0.99
    assert hash(RetrievalSettings(decay=0.9)) != hash(RetrievalSettings())
