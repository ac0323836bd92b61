"""Weights of answers as a readable file."""

from __future__ import annotations

import json

import pytest

from ray_tasks.retrieval.answer_weights import UNTRAINED, AnswerWeights, trained_weights
from ray_tasks.retrieval.weights import WeightsError


def test_weights_survive_their_json() -> None:
    assert AnswerWeights.from_json(UNTRAINED.to_json()) == UNTRAINED
    assert AnswerWeights.from_json(trained_weights().to_json()) == trained_weights()


def test_the_packaged_weights_say_where_they_come_from() -> None:
    told = trained_weights().provenance
    assert told["trained_on"]
    assert set(told["kinds"]) == set(trained_weights().kinds)


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("kinds", "person"), {"name_of_mara": 1.0}, "unknown features of person: name_of_mara"),
        (("kinds",), {}, "lack the kind"),
        (("temperatures", "time"), 0, "temperature of time must be above 0"),
        (("found", "weights"), {"luck": 1.0}, "unknown features: luck"),
        (("found",), {}, "not weights of answers"),
    ],
)
def test_wrong_weights_are_refused(path: tuple[str, ...], value: object, told: str) -> None:
    document = json.loads(UNTRAINED.to_json())
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with pytest.raises(WeightsError, match=told):
        AnswerWeights.from_json(json.dumps(document))


@pytest.mark.parametrize("text", ["", "[]", "{}", "3", '{"found": 3}'])
def test_what_is_no_table_of_weights_is_refused(text: str) -> None:
    with pytest.raises(WeightsError):
        AnswerWeights.from_json(text)
