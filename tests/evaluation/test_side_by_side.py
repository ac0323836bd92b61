"""Evaluations side by side: what is pooled, what is told apart, what is tested against what."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ray_tasks.errors import UsageError
from ray_tasks.evaluation.side_by_side import ResultError, StoredResult, compare_results
from tests.evaluation.results import result

RIGHT, WRONG = [True] * 8, [False] * 8


def part(comparison: dict[str, Any], benchmark: str = "egolifeqa") -> dict[str, Any]:
    found: dict[str, Any] = comparison["benchmarks"][benchmark]
    return found


def test_methods_stand_side_by_side_with_a_paired_test() -> None:
    found = part(
        compare_results(
            [result(WRONG, name="base", method="caption-rag"), result(RIGHT, name="ours", method="egocite")]
        )
    )
    assert [(one["label"], one["n"], one["accuracy"]["percent"]) for one in found["methods"]] == [
        ("caption-rag", 8, 0.0),
        ("egocite", 8, 100.0),
    ]
    (paired,) = found["paired"]
    assert (paired["label"], paired["against"], paired["shared"]) == ("egocite", "caption-rag", 8)
    accuracy = next(change for change in paired["changes"] if change["figure"] == "accuracy")
    assert (accuracy["better"], accuracy["worse"], accuracy["verdict"]) == (8, 0, "better")
    assert found["same_questions"]


def test_wearers_are_pooled_and_settings_told_apart() -> None:
    found = part(
        compare_results(
            [
                result(RIGHT, name="a", wearer="B1_MARA"),
                result(WRONG, name="b", wearer="B2_TOBI", questions="tobi"),
                result(WRONG, name="c", wearer="B1_MARA", decay=0.98),
            ]
        )
    )
    assert [(one["label"], one["n"], one["wearers"]) for one in found["methods"]] == [
        ("egocite (decay=None)", 16, ["B1_MARA", "B2_TOBI"]),
        ("egocite (decay=0.98)", 8, ["B1_MARA"]),
    ]
    assert found["methods"][0]["accuracy"]["percent"] == 50.0
    assert {name: one["accuracy"]["percent"] for name, one in found["methods"][0]["by_wearer"].items()} == {
        "B1_MARA": 100.0,
        "B2_TOBI": 0.0,
    }
    assert found["paired"][0]["shared"] == 8
    assert not found["same_questions"]


def test_methods_that_differ_in_their_model_alone_are_told_apart_by_their_identity() -> None:
    one, two, three = result(RIGHT, name="a"), result(RIGHT, name="b"), result(RIGHT, name="c", rounds=1)
    for stored, identity in ((one, "small"), (two, "large"), (three, "small, one round")):
        stored.document["config"]["identity"] = identity
    labels = [method["label"] for method in part(compare_results([one, three]))["methods"]]
    assert labels == ["egocite (rounds=3)", "egocite (rounds=1)"]
    older = result([True] * 4, name="older", rounds=2)
    newer = result([True] * 4, name="newer", rounds=3, draft="rules")
    labels = [method["label"] for method in part(compare_results([older, newer]))["methods"]]
    assert labels == ["egocite (rounds=2)", "egocite (rounds=3)"]
    same = result([True] * 4, name="same", rounds=3)
    labels = [method["label"] for method in part(compare_results([same, newer]))["methods"]]
    assert labels == ["egocite (draft=None)", "egocite (draft=rules)"]
    labels = [method["label"] for method in part(compare_results([one, two, three]))["methods"]]
    assert labels[:2] == ["egocite (identity=small, rounds=3)", "egocite (identity=large, rounds=3)"]


def test_other_questions_under_the_same_ids_are_never_paired() -> None:
    comparison = compare_results([result(RIGHT, method="a"), result(RIGHT, method="b", questions="others")])
    (paired,) = part(comparison)["paired"]
    assert (paired["shared"], paired["changes"]) == (0, [])


def test_the_method_to_test_against_is_chosen_by_its_evaluation() -> None:
    results = [result(RIGHT, name=name, method=name) for name in ("a", "b", "c")]
    assert [one["against"] for one in part(compare_results(results, against="b"))["paired"]] == ["b", "b"]
    with pytest.raises(UsageError, match="--against z: it is not among a, b, c"):
        compare_results(results, against="z")


def test_groups_hold_every_question() -> None:
    (method,) = part(compare_results([result([True, False, True, None])]))["methods"]
    assert {name: group["n"] for name, group in method["by_category"].items()} == {"EntityLog": 2, "HabitInsight": 2}
    assert {name: group["n"] for name, group in method["by_time_aware"].items()} == {"yes": 2, "no": 2}
    assert {name: group["n"] for name, group in method["by_gap"].items()} == {"up to 1 h": 4}
    assert {name: group["n"] for name, group in method["by_horizon"].items()} == {
        "DAY1": 1,
        "DAY2": 2,
        "DAY3": 3,
        "DAY4": 4,
    }


def test_a_day_and_a_wearer_narrow_the_questions() -> None:
    results = [result(RIGHT), result(WRONG, name="two", wearer="B2_TOBI", questions="tobi")]
    (method,) = part(compare_results(results, until_day=3, wearers=["B2_TOBI"]))["methods"]
    assert (method["n"], method["accuracy"]["percent"]) == (3, 0.0)
    with pytest.raises(UsageError, match="no answers are left"):
        compare_results(results, wearers=["B3_INES"])
    with pytest.raises(UsageError, match="no answers are left"):
        compare_results(results, until_day=0)


def test_benchmarks_are_apart_and_each_has_its_published_figures() -> None:
    comparison = compare_results([result(RIGHT), result(RIGHT, name="two", benchmark="egomem")])
    assert list(comparison["benchmarks"]) == ["egolifeqa", "egomem"]
    for name in comparison["benchmarks"]:
        published = part(comparison, name)["published"]
        assert {one["benchmark"] for one in published} == {name, None}
        assert all(one["published"] and one["source"] and one["table"] and one["column"] for one in published)
    json.dumps(comparison)


def test_the_same_evaluation_twice_is_refused() -> None:
    with pytest.raises(ResultError, match="are the same evaluation"):
        compare_results([result(RIGHT, name="a"), result(RIGHT, name="b")])


def test_a_result_without_times_is_compared_but_for_gaps_and_days() -> None:
    old = result(RIGHT)
    for answer in old.document["answers"]:
        del answer["at_ms"], answer["targets"]
    (method,) = part(compare_results([old]))["methods"]
    assert method["accuracy"]["percent"] == 100.0
    assert list(method["by_gap"]) == ["no target"]
    assert method["by_horizon"] == {}


def test_a_file_holds_one_result_or_a_list_of_them() -> None:
    document = dict(result(RIGHT).document)
    assert [one.name for one in StoredResult.parse("x.json", json.dumps(document))] == ["x.json"]
    assert [one.name for one in StoredResult.parse("x.json", json.dumps([document, document]))] == [
        "x.json[0]",
        "x.json[1]",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "an empty list"),
        ("7", "not the result of an evaluation"),
        ("{}", "not the result of an evaluation"),
        ('{"answers": [{}], "config": {}, "benchmark": "x"}', "answers without id"),
        ('{"answers": [], "config": [], "benchmark": "x"}', "not the result of an evaluation"),
    ],
)
def test_what_is_no_result_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(ResultError, match=message) as raised:
        StoredResult.parse("mine.json", text)
    assert "mine.json" in str(raised.value)
