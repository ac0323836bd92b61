"""Searches by S x R: the rank that a time query gives, two views as one, and nothing from the future."""

from __future__ import annotations

import numpy as np
import pytest

from ray_tasks.corpus.week_time import parse_week_time
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.llm.searching import ScoredItem, Wanted, search_together
from ray_tasks.retrieval.llm.time_text import read_time
from ray_tasks.retrieval.settings import RetrievalSettings
from tests.retrieval.llm.scripted import DONE, calls, find, method, runner
from tests.retrieval.small_memory import Clip, Coarse, ask, clock, embed, make_memory

QUERY = "I frost the vanilla cupcake with sugar pearls in the pantry"
NOW = parse_week_time("DAY4 20000000")


def festival() -> WearerMemory:
    """Four recorded days. The sought first cupcake is told in more words than 23 later ones, so it is less similar."""
    clips = [
        Clip(clock(day, hour, minute), ("Tobi reads a magazine",), ())
        for day in (1, 2, 3, 4)
        for hour in range(9, 20)
        for minute in (0, 30)
    ]
    clips.append(
        Clip(
            clock(1, 10, 5),
            ("I frost the vanilla cupcake with sugar pearls in the pantry beside Nuri and Tobi today",),
            (),
        )
    )
    clips += [Clip(clock(3, 11, minute), (f"{QUERY} number{minute}",), ()) for minute in range(1, 24)]
    clips += [Clip(clock(4, 12, 5), (), (f"Mara: {QUERY}.",))]
    return make_memory(clips)


def rank(found: list[ScoredItem]) -> int:
    return next(place for place, one in enumerate(found, start=1) if "beside Nuri" in one.item.text)


def search(memory: WearerMemory, time: str | None, k: int, *views: str, at_ms: int = NOW) -> list[ScoredItem]:
    read = None if time is None else read_time(time, at_ms)
    window = None if read is None else read.window
    query = np.asarray(embed([QUERY])[0])
    (found,) = search_together([Wanted(memory, views, query, at_ms, k, window, 0.99)])
    return found


def test_the_right_time_query_brings_a_target_of_rank_24_into_the_first_20() -> None:
    memory = festival()
    by_similarity = search(memory, None, 100, "action")
    assert rank(by_similarity) == 24
    assert all("beside Nuri" not in one.item.text for one in search(memory, None, 20, "action"))
    by_time = search(memory, "DAY1 09:00 to DAY1 12:00", 20, "action")
    assert rank(by_time) <= 4
    target = by_time[rank(by_time) - 1]
    assert target.relevance == 1.0
    assert target.item.score == pytest.approx(target.similarity)
    wrong = search(memory, "DAY3 11:00", 20, "action")
    assert all("beside Nuri" not in one.item.text for one in wrong)


def test_the_time_of_the_question_brings_the_last_activity_of_rank_21_into_the_first_10() -> None:
    clips = [
        Clip(clock(day, hour, minute), ("Tobi reads a magazine",), ())
        for day in (1, 2, 3, 4)
        for hour in range(9, 20)
        for minute in (0, 30)
    ]
    told = [(clock(1, 9, minute), f"{QUERY} number{minute}") for minute in range(20)]
    told.append((clock(4, 18, 0), f"{QUERY} beside Nuri and Tobi today"))
    starts = [(parse_week_time(at), text) for at, text in told]
    memory = make_memory(clips, [Coarse("activity", start, start + 90_000, text) for start, text in starts])
    assert rank(search(memory, None, 100, "activity")) == 21
    assert all("beside Nuri" not in one.item.text for one in search(memory, None, 10, "activity"))
    assert rank(search(memory, "the last time", 10, "activity")) <= 4


@pytest.mark.parametrize(("time", "found"), [("", False), ("DAY1 morning", True), ("DAY3 11:00", False)])
def test_the_drafting_agent_finds_that_target_only_if_its_time_is_right(time: str, found: bool) -> None:
    chat = runner(
        draft=[calls(find(QUERY, time)), calls(DONE)],
    )
    chosen = RetrievalSettings(draft="llm", tool_mode="calls")
    question = ask("Where did I frost the first cupcake?", "DAY4 20000000", "In the pantry", "In the yard")
    trace = method(chat, chosen).trace(question, festival())
    assert len(trace.pool) == 20
    assert any("beside Nuri" in item.text for item in trace.pool) is found


def test_s_and_r_are_told_apart_and_multiply() -> None:
    for one in search(festival(), "DAY1", 20, "action"):
        assert one.item.score == pytest.approx(one.similarity * one.relevance if one.similarity > 0 else one.similarity)
        assert 0 < one.relevance <= 1


def test_actions_and_utterances_share_one_ranking() -> None:
    memory = festival()
    both = search(memory, "DAY4", 20, "action", "utterance")
    assert [one.item.score for one in both] == sorted((one.item.score for one in both), reverse=True)
    assert len(both) == 20
    assert {one.item.view for one in both} == {"action", "utterance"}
    apart = search(memory, "DAY4", 20, "action") + search(memory, "DAY4", 20, "utterance")
    best = sorted((one.item.score for one in apart), reverse=True)[:20]
    assert [one.item.score for one in both] == best


def test_a_search_sees_what_ended_by_the_question_and_nothing_more() -> None:
    memory = festival()
    early = parse_week_time("DAY3 11100000") + 29_999
    found = search(memory, "DAY3", 100, "action", "utterance", at_ms=early)
    assert found
    assert all(one.item.end_ms <= early for one in found)
    assert not any("number10" in one.item.text for one in found)


def test_searches_together_find_what_each_finds_alone() -> None:
    memories = [festival(), festival()]
    texts = [QUERY, "Tobi reads", "a magazine", "vanilla sugar"]
    views = [("action", "utterance"), ("action",), ("activity",), ("utterance", "conversation")]
    day = 24 * 3_600_000
    searches = [
        Wanted(memory, names, np.asarray(embed([text])[0]), NOW - late * day, 7, window, 0.9)
        for memory in memories
        for late, (text, names) in enumerate(zip(texts, views, strict=True))
        for window in (None, (NOW - 3 * day, NOW - 2 * day))
    ]
    alone = [search_together([one])[0] for one in searches]
    assert search_together(searches) == alone
    assert any(alone) and all(
        item.item.end_ms <= one.at_ms for one, found in zip(searches, alone, strict=True) for item in found
    )


def test_relevance_does_not_tell_whether_the_day_goes_on_after_the_question() -> None:
    """Asked in a pause, "now" is as far from what was seen before it as if nothing had been recorded after it."""
    at_ms = parse_week_time("DAY2 12450000")
    clips = [
        Clip(clock(2, hour, minute), ("Tobi reads a magazine",)) for hour in (10, 11, 15) for minute in (0, 20, 40)
    ]
    until_now, whole = make_memory(clips, until=at_ms), make_memory(clips)
    for time in ("now", "DAY2 12:30", "DAY2 11:30 to DAY2 18:00", "DAY1 to DAY9"):
        assert search(whole, time, 5, "action", at_ms=at_ms) == search(until_now, time, 5, "action", at_ms=at_ms)
    assert search(whole, "now", 1, "action", at_ms=at_ms)[0].relevance > 0.9999
