"""What replies of the response agent state."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ray_tasks.corpus.week_time import parse_week_time
from ray_tasks.engines.messages import ChatReply
from ray_tasks.engines.schemas import strict_schema
from ray_tasks.retrieval.llm.replies import cited_captions, reply_model, stated_in, stated_in_prose
from ray_tasks.retrieval.types import Evidence

ABCD = ("A", "B", "C", "D")
START = parse_week_time("DAY1 10200015")
CAPTION = Evidence("c", "caption", START, START + 30_000, "Mara repairs the lantern", 0.0)
NEXT = Evidence("d", "caption", START + 30_000, START + 60_000, "Tobi sings", 0.0)


def test_the_letter_of_a_structure_is_one_of_those_that_are_offered() -> None:
    model = reply_model(ABCD)
    said = model.model_validate({"reason": " Because. ", "cited": ["DAY1 10:20:00"], "answer": "B"})
    stated = stated_in(ChatReply("", said), ABCD)
    assert (stated.status, stated.letter, stated.text, stated.cited) == (
        "answered",
        "B",
        "Because.",
        ("DAY1 10:20:00",),
    )
    with pytest.raises(ValidationError):
        model.model_validate({"reason": "", "cited": [], "answer": "E"})
    assert strict_schema(model)["properties"]["answer"]["enum"] == list(ABCD)
    assert reply_model(ABCD) is model


def test_a_free_answer_is_its_text() -> None:
    said = reply_model(()).model_validate({"reason": "I saw it.", "cited": [], "answer": "Mara did."})
    stated = stated_in(ChatReply("", said), ())
    assert (stated.status, stated.letter, stated.text) == ("answered", None, "Mara did.")
    nothing = reply_model(()).model_validate({"reason": "", "cited": [], "answer": " "})
    assert stated_in(ChatReply("", nothing), ()).status == "unparsed"


@pytest.mark.parametrize(
    ("text", "status", "letter"),
    [
        ("At DAY1 10:20:00 Tobi holds it. Answer: A. Wait, it is Mara who repairs it.\nAnswer: B", "answered", "B"),
        ("<think>Answer: C</think>Mara does.\nAnswer: B", "answered", "B"),
        ("Answer: A or B", "unparsed", None),
        ("Answer: F", "unparsed", None),
        ("Mara and her lantern.", "unparsed", None),
        ("", "unparsed", None),
        ("The captions do not tell who repaired it.", "declined", None),
    ],
)
def test_the_last_stated_letter_of_prose_counts(text: str, status: str, letter: str | None) -> None:
    stated = stated_in_prose(text, ABCD)
    assert (stated.status, stated.letter) == (status, letter)


def test_times_that_prose_names_are_its_citations() -> None:
    stated = stated_in_prose("At DAY1 10:20:00 she repairs it, and at DAY2 11:00:00 too.\nAnswer: B", ABCD)
    assert stated.cited == ("DAY1 10:20:00", "DAY2 11:00:00")


def test_citations_are_kept_where_a_shown_caption_holds_them() -> None:
    at = parse_week_time("DAY3 10000000")
    cited = ["DAY1 10:20:00", "DAY1 10200015", "DAY1 10:20:15-10:20:30", "DAY1 10:20:31", "DAY2 10:00", "soon", ""]
    assert cited_captions(cited, (CAPTION, NEXT), at) == (
        ((CAPTION.start_ms, CAPTION.end_ms), (NEXT.start_ms, NEXT.end_ms)),
        3,
    )


@given(st.text(max_size=200))
def test_no_text_breaks_the_reading(text: str) -> None:
    stated = stated_in_prose(text, ABCD)
    assert stated.letter in (None, *ABCD)
    assert (stated.letter is not None) <= (stated.status == "answered")
    assert stated_in_prose(text, ()).status in ("answered", "unparsed")
