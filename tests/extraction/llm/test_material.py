"""Captions as data: one JSON object a line, bounded, and never able to leave its section."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.extraction.llm.material import line_json, lines_json, numbered_json
from ray_tasks.rows import Line
from tests.extraction.llm.test_segments import window
from tests.extraction.script import record

SCRIPT = """
    11:00:03 * I lift the jug.
    11:00:05 Tobi: Is it full?
    11:00:08 : Yes.
"""


def test_a_line_tells_when_and_what_was_seen_or_who_said_what() -> None:
    seen, said, unknown = record(SCRIPT)[0].lines
    assert json.loads(line_json(seen, 4)) == {"line": 4, "time": "11:00:03", "seen": "I lift the jug."}
    assert json.loads(line_json(said)) == {"time": "11:00:05", "speaker": "Tobi", "said": "Is it full?"}
    assert json.loads(line_json(unknown))["speaker"] is None


@given(st.text(max_size=40), st.text(max_size=10))
def test_no_text_leaves_its_line_or_its_section(text: str, speaker: str) -> None:
    line = Line(0, 1, "speech", speaker, text, "en")
    told = line_json(line)
    assert json.loads(told)["said"] == text
    assert len(told.split("\n")) == 1
    assert not {"<", ">"} & set(told)


def test_the_latest_lines_are_kept_where_not_all_fit() -> None:
    lines = [line for caption in window(8) for line in caption.lines]
    text, left_out = lines_json(lines, 200)
    told = text.splitlines()
    assert left_out == len(lines) - 3
    assert [json.loads(one).get("said") or json.loads(one)["seen"] for one in told] == [
        "Here is jug 6.",
        "I lift jug 7.",
        "Here is jug 7.",
    ]
    assert lines_json(lines, 0) == ("", len(lines))
    assert lines_json(lines, 10_000)[1] == 0


def test_captions_share_the_room_and_none_is_left_out() -> None:
    text, left_out = numbered_json(window(8), 160)
    told = [json.loads(one) for one in text.splitlines()]
    assert left_out == 8
    assert [one["caption"] for one in told] == list(range(8))
    assert [one["lines"] for one in told[:2]] == [["I lift jug 0."], ["I lift jug 1."]]
    text, left_out = numbered_json(window(2), 10_000)
    whole = [json.loads(one) for one in text.splitlines()]
    assert left_out == 0
    assert whole[1] == {
        "caption": 1,
        "time": "11:00:30",
        "lines": ["I lift jug 1.", "Tobi says: Here is jug 1."],
    }
