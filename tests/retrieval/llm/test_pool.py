"""The pool: no repeats, in order of time, numbers that stay, a bound on what is shown."""

from __future__ import annotations

import json

from ray_tasks.retrieval.llm.asking import tokens_of
from ray_tasks.retrieval.llm.pool import Pool
from ray_tasks.retrieval.types import Evidence


def item(name: str, start: int, score: float = 0.5, text: str | None = None) -> Evidence:
    return Evidence(name, "action", start * 60_000, start * 60_000 + 30_000, text or f"I do {name}", score)


def test_items_stand_once_in_order_of_time_with_numbers_that_stay() -> None:
    pool = Pool()
    assert pool.add(item("late", 9)) == (1, True)
    assert pool.add(item("early", 1)) == (2, True)
    assert pool.add(item("late", 9, score=0.9)) == (1, False)
    assert pool.add(item("twin", 9, text="I do late")) == (1, False)
    assert [one.item_id for one in pool.evidence] == ["early", "late"]
    assert pool.evidence[1].score == 0.9
    assert pool.keep([2]) == 1
    assert pool.add(item("third", 5)) == (3, True)
    assert pool.add(item("late", 9)) == (1, True)
    assert [one.item_id for one in pool.evidence] == ["early", "third", "late"]


def test_a_curation_that_knows_no_item_removes_none() -> None:
    pool = Pool()
    pool.add(item("one", 1))
    assert pool.keep([7, 8]) == 0
    assert len(pool) == 1
    assert pool.has(1)
    assert not pool.has(7)


def test_what_is_new_is_marked_and_shown_first_when_there_is_little_room() -> None:
    pool = Pool()
    for number in range(1, 31):
        pool.add(item(f"thing{number}", number, score=number / 100))
    lines, left_out = pool.shown(frozenset({3, 4}), 10_000)
    assert left_out == 0
    rows = [json.loads(line) for line in lines]
    assert [row["id"] for row in rows] == list(range(1, 31))
    assert [row["id"] for row in rows if row.get("new")] == [3, 4]
    room = sum(tokens_of(line) for line in lines[:5])
    few, left_out = pool.shown(frozenset({3, 4}), room)
    shown = [json.loads(line)["id"] for line in few]
    assert shown[:2] == [3, 4]
    assert shown[-1] == 30
    assert len(few) + left_out == 30
    assert sum(map(tokens_of, few)) <= room
    assert pool.shown(frozenset(), -5) == ([], 30)
