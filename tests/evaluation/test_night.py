"""A night's summary: what it keeps, what it says changed, and how a person reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ray_tasks.evaluation.night import compare_nights, evaluation_entry, memory_facts
from ray_tasks.evaluation.night_table import night_text
from ray_tasks.storage.manifests import Manifest, WearerEntry


def result(hits: list[bool], *, error: str | None = None, **config: Any) -> dict[str, Any]:
    """An evaluation's result with one question for each hit."""
    answers: list[dict[str, Any]] = [
        {"id": number, "correct": True, "hit": hit, "near_hit": True, "evidence_minutes": 7.5, "error": None}
        for number, hit in enumerate(hits)
    ]
    if error:
        answers[0]["error"] = error
    return {
        "n": len(hits),
        "accuracy": 100.0,
        "hit": 100.0 * sum(hits) / len(hits),
        "near_hit": 100.0,
        "evidence_minutes": 7.5,
        "seconds": 1.5,
        "config": {
            "benchmark": "egolifeqa",
            "questions": "B1_MARA.json",
            "questions_sha256": "abc",
            "method": "egocite",
            "settings": {"decay": 0.99},
            "code": "c0de",
            "memory_id": "m1",
            **config,
        },
        "answers": answers,
    }


def night(name: str = "n1", hits: list[bool] | None = None, **config: Any) -> dict[str, Any]:
    """A summary as jobs.night makes it, with one wearer."""
    entry = evaluation_entry(result(hits or [True] * 20, **config), "root/evaluations/x", kept=False)
    return {
        "night": name,
        "state": "published",
        "job": {"user": "mara", "host": "node-1", "submission_id": "nightly-1", "commit": "f00d"},
        "corpus": "recordings",
        "memory_id": f"memory-of-{name}",
        "made_shards": 7,
        "failed_shards": 0,
        "wearers": {"B1_MARA": {"hours": 3, "captions": 40, "atoms": {"action": 100, "utterance": 20}}},
        "gates": [
            {"name": "shards", "passed": True, "measured": 0, "bound": "at most 0", "words": "0 shards failed"},
            {"name": "canary", "passed": True, "measured": None, "bound": "at least 95%", "words": "nothing new"},
        ],
        "evaluations": {"B1_MARA": entry},
        "seconds": {"observe": 2.0, "total": 9.0},
        "comparison": {"night": None, "note": "there is no earlier night"},
    }


def compared(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    return {**now, "comparison": compare_nights(before, now)}


def test_an_evaluation_is_kept_with_the_outcome_of_every_question() -> None:
    entry = evaluation_entry(result([True, False], error="ValueError: x"), "place", kept=True)
    assert entry["outcomes"]["1"] == {"correct": True, "hit": False, "near_hit": True, "evidence_minutes": 7.5}
    assert (entry["errors"], entry["kept"], entry["questions_sha256"]) == (1, True, "abc")


def test_facts_of_a_memory_leave_captions_apart_from_atoms() -> None:
    shards = {"caption": {"B1_MARA/DAY1/09": "k", "B1_MARA/DAY1/10": "k"}}
    entry = WearerEntry("B1_MARA", "Mara", {}, {"caption": 4, "action": 9}, {}, shards)
    facts = memory_facts(Manifest({"B1_MARA": entry}, "e", "m"))
    assert facts == {"B1_MARA": {"hours": 2, "captions": 4, "atoms": {"action": 9}}}


def test_the_same_night_again_changes_nothing() -> None:
    summary = compared(night("n1"), night("n2"))
    comparison = summary["comparison"]
    assert comparison["night"] == "n1"
    assert {change["verdict"] for change in comparison["evaluations"]["B1_MARA"]["changes"]} == {"same"}
    assert comparison["atoms"] == {}
    assert comparison["totals"] == {"hours": [3, 3], "captions": [40, 40], "atoms": [120, 120]}
    assert comparison["seconds"]["total"] == [9.0, 9.0]


def test_a_fall_beyond_noise_is_a_verdict_and_a_small_one_is_not() -> None:
    fall = compared(night("n1"), night("n2", [False] * 8 + [True] * 12))
    hit = next(
        change for change in fall["comparison"]["evaluations"]["B1_MARA"]["changes"] if change["figure"] == "hit"
    )
    assert (hit["verdict"], hit["worse"], hit["now"]) == ("worse", 8, 60.0)
    dip = compared(night("n1"), night("n2", [False] * 2 + [True] * 18))
    hit = next(change for change in dip["comparison"]["evaluations"]["B1_MARA"]["changes"] if change["figure"] == "hit")
    assert hit["verdict"] == "within noise"


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"questions_sha256": "other"}, "other questions"),
        ({"method": "caption-rag"}, "another method"),
        ({"settings": {"decay": 0.5}}, "other settings"),
    ],
)
def test_evaluations_that_are_not_alike_are_not_compared(config: dict[str, Any], why: str) -> None:
    entry = compared(night("n1"), night("n2", **config))["comparison"]["evaluations"]["B1_MARA"]
    assert entry["changes"] == [] and why in entry["note"]


def test_a_file_of_another_name_with_the_same_questions_and_another_code_are_compared() -> None:
    entry = compared(night("n1"), night("n2", questions="renamed.json", code="n3w"))["comparison"]["evaluations"]
    assert entry["B1_MARA"]["changes"] and entry["B1_MARA"]["note"] == "the code changed as well"


def test_atoms_that_changed_are_listed_by_wearer_and_view() -> None:
    now = night("n2")
    now["wearers"] = {"B2_TOBI": {"hours": 1, "captions": 9, "atoms": {"action": 5}}, **now["wearers"]}
    now["wearers"]["B1_MARA"]["atoms"] = {"action": 90, "utterance": 20}
    comparison = compare_nights(night("n1"), now)
    assert comparison["atoms"] == {"B1_MARA": {"action": [100, 90]}, "B2_TOBI": {"action": [0, 5]}}


@pytest.mark.parametrize("part", ["memory_id", "wearers", "seconds", "evaluations"])
@pytest.mark.parametrize("damage", [None, 7, "text", [1], {"B1_MARA": 3}])
def test_a_damaged_summary_of_the_night_before_is_said_and_not_fatal(part: str, damage: object) -> None:
    before = night("n1")
    before[part] = damage
    comparison = compare_nights(before, night("n2"))
    assert comparison["night"] == "n1" or "damaged" in comparison["note"]
    assert night_text({**night("n2"), "comparison": comparison})


def test_a_person_reads_all_that_matters() -> None:
    now = night("n2", [False] * 8 + [True] * 12)
    now["gates"][0] |= {"passed": False, "words": "3 shards failed [oddly]"}
    text = night_text(compared(night("n1"), now))
    for words in (
        "night n2: published", "memory-of-n2", "nightly-1", "f00d", "3 hours", "120 atoms", "3 shards failed [oddly]",
        "refused", "at most 0", "B1_MARA (20)", "accuracy", "60.0", "100.0", "worse (p = 0.0078)", "before: night n1",
        "observe", "total",
    ):  # fmt: skip
        assert words in text, words
    assert "within noise" not in text


def test_a_night_without_evaluations_and_one_that_could_not_ask_are_shown() -> None:
    refused = {**night("n1"), "state": "refused", "evaluations": {}}
    assert "not compared with a night before: there is no earlier night" in night_text(refused)
    broken = night("n2")
    broken["evaluations"] = {"B1_MARA": {"fault": "action.faiss is missing"}}
    text = night_text(compared(night("n1"), broken))
    assert "not evaluated: action.faiss is missing" in text


def test_a_summary_survives_json() -> None:
    summary = compared(night("n1"), night("n2"))
    assert json.loads(json.dumps(summary)) == summary
    assert night_text(json.loads(json.dumps(summary))) == night_text(summary)
