"""Replies and what must be read from them: the known table of faults, and many more rows of the same kinds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.retrieval.llm.letters import Letter, read_letter

LABELS = ("A", "B", "C", "D")
ROWS = [json.loads(line) for line in (Path(__file__).parent / "replies.jsonl").read_text(encoding="utf-8").splitlines()]

TABLE = [
    ("A slow look at both shelves shows the red mug, so C.", "C", "answered"),
    ("Based on the notes, I choose (D).", "D", "answered"),
    ("<think>Answer: A? No, the crate moved at noon.</think>\nAnswer: C", "C", "answered"),
    ("My final pick is B. Option A only looks right.", "B", "answered"),
    ("**Answer:** (D)", "D", "answered"),
    ("Answer: **D**", "D", "answered"),
    ("答案：B", "B", "answered"),
    ("应该是C吧", "C", "answered"),
    ("\\boxed{\\text{D}}", "D", "answered"),
    ("Antwort: C", "C", "answered"),
    ("Option C (the blue bucket), not A.", "C", "answered"),
    ("c) under the bench", "C", "answered"),
    ("Answer seems open; I would say B", "B", "weak"),
    ("Answer: A\nLooking again at noon.\nCorrection. Answer: B", "B", "answered"),
    ("Answer: A … Correction. Answer: B", "B", "answered"),
    ('{"answer": "B", "confidence": 0.4}', "B", "answered"),
    ("Answer: A or C", None, "unparsed_two"),
    ("Answer: E", None, "not_offered"),
    ("<think>Perhaps A. Answer: A", None, "truncated"),
    ("Nothing in memory settles this.", None, "declined"),
    ("Error: rate limit", None, "error"),
]
"""The published faults that a pattern for the first or the last lone letter gets wrong."""


@pytest.mark.parametrize(("reply", "label", "status"), TABLE)
def test_the_known_faults_are_read_right(reply: str, label: str | None, status: str) -> None:
    assert read_letter(reply, LABELS) == Letter(label, status)  # type: ignore[arg-type]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['status']}: {row['reply'][:40]!r}")
def test_more_replies_of_the_same_kinds_are_read_right(row: dict[str, str | None]) -> None:
    letter = read_letter(row["reply"] or "", LABELS)
    assert (letter.label, letter.status) == (row["label"], row["status"])


def test_only_the_labels_shown_are_offered() -> None:
    assert read_letter("Answer: E", ("A", "B", "C", "D", "E")) == Letter("E", "answered")
    assert read_letter("Answer: C", ("A", "B")) == Letter(None, "not_offered")
    assert read_letter("answer: b", ("a", "b")) == Letter("B", "answered")


def test_labels_that_are_no_single_letters_are_refused() -> None:
    with pytest.raises(ValueError, match="single Latin letters"):
        read_letter("Answer: 1", ("1", "2"))


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("Answer: B", "answered"),
        ("Maybe B.", "answered"),
        ("I don't know.", "declined"),
        ("Error: rate limit", "error"),
        ("Answer: A or C", "unparsed"),
        ("Answer: E", "unparsed"),
        ("<think>A", "unparsed"),
        ("under the bench", "unparsed"),
    ],
)
def test_the_status_of_an_answer_is_the_coarser_one(reply: str, status: str) -> None:
    assert read_letter(reply, LABELS).answer_status == status


@given(st.text())
def test_no_text_makes_it_fail_and_a_label_goes_with_a_reading(reply: str) -> None:
    letter = read_letter(reply, LABELS)
    assert (letter.label in LABELS) == (letter.status in ("answered", "weak"))


@given(thought=st.text(alphabet=st.characters(exclude_characters="<[◁")), label=st.sampled_from(LABELS))
def test_thoughts_never_change_the_answer(thought: str, label: str) -> None:
    assert read_letter(f"<think>{thought}</think>\nAnswer: {label}", LABELS) == Letter(label, "answered")


@given(
    label=st.sampled_from(LABELS),
    form=st.sampled_from(
        ["Answer: {}", "({})", "\\boxed{{{}}}", '{{"answer": "{}"}}', "<answer>{}</answer>", "**{}**"]
    ),
    low=st.booleans(),
)
def test_every_formal_way_reads_every_letter(label: str, form: str, low: bool) -> None:
    shown = label.lower() if low else label
    assert read_letter(form.format(shown), LABELS) == Letter(label, "answered")
