"""Drafting and curating."""

from __future__ import annotations

import numpy as np
import pytest

from ray_tasks.corpus.week_time import day_of
from ray_tasks.retrieval.curator import RuleCurator, spread_over_days
from ray_tasks.retrieval.planner import RulePlanner
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.types import Evidence
from ray_tasks.retrieval.weights import UNTRAINED
from tests.retrieval.small_memory import a_week, ask, clock, embed, make_memory

LATER = clock(3, 20, 0)


def planner(rounds: int = 3) -> RulePlanner:
    return RulePlanner(embed, RetrievalSettings(evidence=5, pool_per_round=10, rounds=rounds), UNTRAINED)


def test_the_pool_is_in_order_of_time_without_repeats_and_grows_with_rounds() -> None:
    question = ask("What did I do after the last time I sliced the pineapple?", LATER, "Wash the knife", "Sing")
    memory = make_memory(a_week())
    sizes = []
    for rounds in (1, 2, 3):
        (draft,) = planner(rounds=rounds).draft([question], memory)
        times = [item.start_ms for item in draft.pool]
        assert times == sorted(times)
        assert len({(item.start_ms, item.text) for item in draft.pool}) == len(draft.pool)
        assert draft.rounds == rounds
        sizes.append(len(draft.pool))
    assert sizes[0] == 10
    assert sizes == sorted(sizes)


def test_rounds_that_have_nothing_to_ask_are_not_counted() -> None:
    memory = make_memory(a_week())
    (free,) = planner().draft([ask("Where is the passport?", LATER)], memory)
    (choices,) = planner().draft([ask("Where is the passport?", LATER, "Roof", "Drawer")], memory)
    (times,) = planner().draft([ask("When did we sing?", LATER, "Last night", "Yesterday at noon")], memory)
    assert (free.rounds, choices.rounds, times.rounds) == (1, 2, 1)


def test_an_explanation_tells_of_every_round_what_was_best_and_what_time_added() -> None:
    memory = make_memory(a_week())
    question = ask("What did I do after the last time I sliced the pineapple?", LATER, "Wash the knife", "Sing")
    (draft,) = planner().draft([question], memory)
    rounds = planner().explain(question, memory)
    assert [turn.number for turn in rounds] == list(range(1, draft.rounds + 1))
    queries = [turn.calls[0].query for turn in rounds]
    assert "Wash the knife" not in queries[0] and "Wash the knife" in queries[1]
    assert queries[2].startswith("after ")
    for turn in rounds:
        (call,) = turn.calls
        assert call.time_text == "latest"
        scores = [found.item.score for found in call.found]
        assert scores == sorted(scores, reverse=True)
        for found in call.found:
            assert found.joined == "+" and found.relevance <= 0
            assert found.similarity + found.relevance == pytest.approx(found.item.score)
            assert draft.pool[found.number - 1].item_id == found.item.item_id
    ids = [found.item.item_id for turn in rounds for found in turn.calls[0].found if found.new]
    assert len(ids) == len(set(ids))


def test_what_follows_the_anchor_is_raised_more_than_what_precedes_it() -> None:
    memory = make_memory(a_week())
    question = ask("What did I do after the last time I sliced the pineapple?", LATER)
    with_anchor, without = (planner(rounds=rounds).draft([question], memory)[0].pool for rounds in (3, 1))
    raised = {item.start_ms: item.score for item in with_anchor}
    plain = {item.start_ms: item.score for item in without}
    event = ask("", clock(2, 15, 10)).at_ms
    after = [time for time in raised if event < time <= event + 600_000]
    before = [time for time in raised if event - 600_000 <= time < event]
    assert len(after) > len(before)
    assert all(raised[time] >= plain.get(time, -np.inf) for time in raised)
    assert max(raised[time] for time in after) > max((raised[time] for time in before), default=-np.inf)


def items(*scored: tuple[str, float]) -> list[Evidence]:
    return [
        Evidence(str(i), "action", ask("", at).at_ms, ask("", at).at_ms + 30_000, str(i), score)
        for i, (at, score) in enumerate(scored)
    ]


def test_curation_keeps_the_best_in_order_of_time() -> None:
    pool = items((clock(1, 10, 0), 1.0), (clock(1, 11, 0), 3.0), (clock(2, 10, 0), 2.0))
    kept = RuleCurator(RetrievalSettings(evidence=2)).curate(ask("Who sang?", LATER), pool)
    assert [item.score for item in kept] == [3.0, 2.0]


def test_curation_drops_what_ends_after_the_question() -> None:
    pool = items((clock(1, 10, 0), 1.0), (clock(3, 19, 59, 45), 9.0))
    kept = RuleCurator(RetrievalSettings()).curate(ask("Who sang?", LATER), pool)
    assert [item.score for item in kept] == [1.0]


def test_habits_are_spread_over_days_where_scores_are_close() -> None:
    day_one = [(clock(1, 10, minute), 2.0 - minute / 100) for minute in range(3)]
    pool = items(*day_one, (clock(2, 10, 0), 1.95), (clock(3, 10, 0), 0.5))
    ranked = sorted(pool, key=lambda item: -item.score)
    assert [day_of(item.start_ms) for item in spread_over_days(ranked, 2)] == [1, 2]
    assert [day_of(item.start_ms) for item in spread_over_days(ranked, 4)] == [1, 2, 1, 1]
    curator = RuleCurator(RetrievalSettings(evidence=2))
    habit = curator.curate(ask("Who usually sings?", LATER), pool)
    once = curator.curate(ask("Who sang?", LATER), pool)
    assert {day_of(item.start_ms) for item in habit} == {1, 2}
    assert {day_of(item.start_ms) for item in once} == {1}
