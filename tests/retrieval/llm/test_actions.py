"""Calls in every shape that models make them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.engines.messages import ChatReply, ToolCall
from ray_tasks.retrieval.llm.actions import (
    Complaint,
    Curate,
    Finish,
    Search,
    Step,
    calls_of,
    describe_tools,
    numbers_of,
    read_call,
    tools_of,
)
from ray_tasks.retrieval.settings import RetrievalSettings

PLAIN = RetrievalSettings()
CURATING = RetrievalSettings(curate_tool=True)


def read(name: str, settings: RetrievalSettings = PLAIN, **arguments: Any) -> object:
    return read_call(ToolCall("c", name, arguments), settings)


def test_the_tools_of_the_paper_are_offered_and_curation_only_where_it_is_switched_on() -> None:
    names = ["search_action_utterance", "search_activity", "search_conversation", "answer"]
    assert [tool.name for tool in tools_of(PLAIN)] == names
    assert "curate_index" in [tool.name for tool in tools_of(CURATING)]
    assert "curate_index" not in describe_tools(PLAIN)
    assert isinstance(read("curate_index", keep=[1]), Complaint)


def test_views_that_are_left_out_are_not_searched_and_their_tools_not_offered() -> None:
    some = RetrievalSettings(views=("action", "conversation"))
    assert [tool.name for tool in tools_of(some)] == ["search_action_utterance", "search_conversation", "answer"]
    assert read("search_action_utterance", some, query="kite") == Search("search_action_utterance", ("action",), "kite")
    assert isinstance(read("search_activity", some, query="kite"), Complaint)


def test_searches_are_read() -> None:
    assert read("search_activity", query=" fly  a kite ", time_query="DAY2") == Search(
        "search_activity", ("activity",), "fly a kite", "DAY2"
    )
    assert read("functions.search_activity", query=["green", "kite"]) == Search(
        "search_activity", ("activity",), "green kite"
    )


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (None, ""),
        (9300000, "9300000"),
        (["DAY1 10:00", "DAY1 12:00"], "DAY1 10:00 to DAY1 12:00"),
        ({"start": "DAY1 10:00", "end": "DAY1 12:00"}, "DAY1 10:00 to DAY1 12:00"),
        ({"start": "DAY1 10:00", "end": None}, "DAY1 10:00"),
    ],
)
def test_times_are_taken_in_any_json(time: object, text: str) -> None:
    action = read("search_activity", query="kite", time_query=time)
    assert isinstance(action, Search)
    assert action.time_text == text


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("find_everything", {"query": "kite"}, "There is no tool 'find_everything'. Call one of: search_action"),
        ("search_activity", {}, "needs query"),
        ("search_activity", {"query": "  "}, "needs query"),
        ("search_activity", {"query": {"text": "kite"}}, "needs query"),
        ("curate_index", {}, "needs keep"),
        ("curate_index", {"keep": []}, "needs keep"),
        ("curate_index", {"keep": "all of them"}, "needs keep"),
    ],
)
def test_what_cannot_be_done_is_told(name: str, arguments: dict[str, Any], told: str) -> None:
    action = read_call(ToolCall("c", name, arguments), CURATING)
    assert isinstance(action, Complaint)
    assert told in action.told


def test_answer_and_curation_are_read() -> None:
    assert read("answer", reason="enough") == Finish()
    assert read("curate_index", CURATING, keep=["E3", 7.0, "[4]", "5, 6", 3, True, None]) == Curate((3, 7, 4, 5, 6))


def test_numbers_are_read_in_any_shape() -> None:
    assert numbers_of("3 and 4") == (3, 4)
    assert numbers_of(None) == numbers_of([]) == numbers_of(True) == ()
    assert numbers_of([1e300, "99999999999", -3]) == (-3,)


def test_calls_that_an_engine_left_in_the_text_are_found() -> None:
    text = (
        'I search. <tool_call>{"name": "search_activity", "arguments": {"query": "kite"}}</tool_call> '
        "<tool_call>broken</tool_call><tool_call>[1]</tool_call>"
        '<tool_call>{"name": "answer"}</tool_call>'
    )
    assert [(call.name, dict(call.arguments)) for call in calls_of(ChatReply(text))] == [
        ("search_activity", {"query": "kite"}),
        ("answer", {}),
    ]
    assert calls_of(ChatReply("I am done.")) == []


def test_a_json_action_is_the_same_as_a_call() -> None:
    step = Step(thought="kites", action="search_activity", query="kite", time_query="DAY2", keep=[])
    (call,) = calls_of(ChatReply("", step))
    assert read_call(call, PLAIN) == Search("search_activity", ("activity",), "kite", "DAY2")


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=20)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=10,
)


@given(
    st.one_of(st.text(max_size=20), st.sampled_from([tool.name for tool in tools_of(CURATING)])),
    st.dictionaries(st.sampled_from(["query", "time_query", "keep", "other"]), JSON, max_size=4),
)
def test_no_call_whatever_it_holds_breaks_the_reading(name: str, arguments: dict[str, Any]) -> None:
    action = read_call(ToolCall("c", name, arguments), CURATING)
    assert isinstance(action, Search | Curate | Finish | Complaint)
    if isinstance(action, Search):
        assert action.query.strip()
