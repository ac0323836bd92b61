"""From what the canary found to a gate's verdict."""

from __future__ import annotations

from ray_tasks.evaluation.canary import Found, HitChange
from ray_tasks.scheduling.gates_canary import index_recall, known_questions, own_texts

SOUND = [Found("B1_MARA", view, 20, ()) for view in ("action", "utterance")]


def test_rows_that_are_found_pass() -> None:
    result = own_texts(SOUND, {}, 95.0, 1)
    assert (result.passed, result.measured) == (True, 100.0)
    assert "40 rows of 1 of 1 wearers looked for by their own text, 40 found" in result.words


def test_one_view_that_finds_too_little_fails_though_the_others_find_all() -> None:
    lost = Found("B1_MARA", "activity", 20, ("id1", "id2", "id3", "id4"))
    result = own_texts([*SOUND, lost], {}, 95.0, 1)
    assert (result.passed, result.measured) == (False, 80.0)
    assert "B1_MARA, activity: 4 of 20 rows not found, such as id1, id2, id3" in result.words
    assert own_texts([*SOUND, lost], {}, 80.0, 1).passed


def test_a_view_of_few_rows_may_miss_one_and_not_two() -> None:
    assert own_texts([Found("B1_MARA", "activity", 4, ("id1",))], {}, 95.0, 1).passed
    assert not own_texts([Found("B1_MARA", "activity", 4, ("id1", "id2"))], {}, 95.0, 1).passed


def test_a_memory_that_cannot_be_opened_fails() -> None:
    result = own_texts(SOUND, {"B2_TOBI": "action.faiss is not the file of this memory"}, 95.0, 2)
    assert (result.passed, result.measured) == (False, 0.0)
    assert "B2_TOBI: action.faiss" in result.words


def test_where_nothing_was_made_anew_there_is_nothing_to_look_for() -> None:
    result = own_texts([], {}, 95.0, 0)
    assert result.passed and result.measured is None


def test_inverted_lists_must_find_nearly_all_for_every_wearer() -> None:
    assert index_recall({"B1_MARA": 97.0, "B2_TOBI": 99.0}, 97.0).passed
    result = index_recall({"B1_MARA": 96.9, "B2_TOBI": 99.0}, 97.0)
    assert (result.passed, result.measured) == (False, 96.9)
    assert "B1_MARA: 96.9%" in result.words and "B2_TOBI" not in result.words
    exact = index_recall({}, 97.0)
    assert exact.passed and exact.measured is None


def change(before: float, now: float, lost: tuple[str, ...] = (), wearer: str = "B1_MARA") -> HitChange:
    return HitChange(wearer, 20, before, now, lost, ())


def test_a_hit_rate_may_fall_a_little_and_what_was_lost_is_listed() -> None:
    result = known_questions([change(90.0, 85.0, ("17",))], {}, {}, 5.0)
    assert (result.passed, result.measured) == (True, 5.0)
    assert "85.0% of 20, 90.0% before; lost: 17" in result.words


def test_a_hit_rate_may_not_fall_by_more_for_any_wearer() -> None:
    changes = [change(50.0, 80.0), change(90.0, 80.0, ("3", "17"), "B2_TOBI")]
    result = known_questions(changes, {}, {}, 5.0)
    assert (result.passed, result.measured) == (False, 10.0)
    assert "B2_TOBI: 80.0% of 20, 90.0% before; lost: 3, 17" in result.words
    assert "B1_MARA" not in result.words


def test_who_cannot_be_compared_is_said_and_no_fault() -> None:
    apart = {"B1_MARA": "not in the memory before", "B2_TOBI": "not in the memory before"}
    result = known_questions([], apart, {}, 5.0)
    assert result.passed and result.measured is None
    assert result.words == "B1_MARA, B2_TOBI not compared: not in the memory before"


def test_questions_that_cannot_be_asked_of_the_new_memory_are_a_fault() -> None:
    result = known_questions([], {}, {"B1_MARA": "rows are missing"}, 5.0)
    assert not result.passed
    assert "B1_MARA: rows are missing" in result.words


def test_without_known_questions_nothing_is_held_against_the_memory() -> None:
    assert known_questions([], {}, {}, 5.0).words == "none are configured"
