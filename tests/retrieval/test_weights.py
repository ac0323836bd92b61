"""Tables of weights and settings."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from ray_tasks.retrieval.registry import method_identity
from ray_tasks.retrieval.settings import RetrievalSettings, SettingsError
from ray_tasks.retrieval.weights import UNTRAINED, FusionWeights, Term, WeightsError, load_weights


def test_a_table_survives_json() -> None:
    assert FusionWeights.from_json(UNTRAINED.to_json()) == UNTRAINED


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"terms": [{"signal": "dense"}]}', '{"terms": 3}'])
def test_what_is_no_table_is_a_clear_error(text: str) -> None:
    with pytest.raises(WeightsError):
        FusionWeights.from_json(text)


def test_unknown_signals_and_empty_tables_are_refused() -> None:
    table = json.loads(UNTRAINED.to_json())
    table["terms"][0]["signal"] = "magic"
    with pytest.raises(WeightsError, match="magic"):
        FusionWeights.from_json(json.dumps(table))
    with pytest.raises(WeightsError, match="not zero"):
        replace(UNTRAINED, terms=(Term("dense", "core", 0.0),))


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


def test_both_tables_of_the_package_load_and_the_learned_one_says_on_what_it_was_trained() -> None:
    assert load_weights("untrained") is UNTRAINED
    learned = load_weights("learned")
    assert learned.training["questions"] > 0
    assert learned.training["figures"]["learned, cross-validated"]["hit"]["percent"] > 0
    assert all(term.weight > 0 for term in learned.terms)


def test_a_table_of_ones_own_is_loaded_and_read_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(UNTRAINED.to_json())
    assert load_weights(str(path)) == UNTRAINED
    path.write_text(replace(UNTRAINED, recency=1.25).to_json())
    os.utime(path, ns=(1, 1))
    assert load_weights(str(path)).recency == 1.25


def test_a_file_that_is_missing_or_no_table_is_named(tmp_path: Path) -> None:
    missing, broken = tmp_path / "none.json", tmp_path / "broken.json"
    broken.write_text("{")
    for path in (missing, broken):
        with pytest.raises(WeightsError, match=path.name):
            load_weights(str(path))


@pytest.mark.parametrize(
    "change", [{"over": "median"}, {"reach": -1}, {"reach": 99}, {"weight": float("nan")}, {"signal": "magic"}]
)
def test_terms_that_mean_nothing_are_refused(change: dict[str, object]) -> None:
    table = json.loads(UNTRAINED.to_json())
    table["terms"][0].update(change)
    with pytest.raises(WeightsError):
        FusionWeights.from_json(json.dumps(table))


def test_the_identity_of_a_method_follows_what_its_weights_are_not_what_they_are_called(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(replace(UNTRAINED, provenance="the same by another name").to_json())
    untrained, learned = (RetrievalSettings(weights=name) for name in ("untrained", "learned"))
    assert method_identity("egocite", untrained) != method_identity("egocite", learned)
    assert method_identity("egocite", untrained) == method_identity("egocite", RetrievalSettings(weights=str(path)))
    path.write_text(replace(UNTRAINED, recency=1.0).to_json())
    os.utime(path, ns=(1, 1))
    assert method_identity("egocite", untrained) != method_identity("egocite", RetrievalSettings(weights=str(path)))
