"""Problems name their place and do not flood."""

from __future__ import annotations

from ray_tasks.corpus.problems import SHOWN_PER_KIND, Problem, ProblemLog


def test_a_problem_says_file_line_and_kind() -> None:
    assert (
        str(Problem("reversed", "a.srt", "ends before it starts", 12)) == "a.srt:12: ends before it starts [reversed]"
    )
    assert str(Problem("empty_file", "a.srt", "the file is empty")) == "a.srt: the file is empty [empty_file]"
    assert Problem("x", "a.srt", "y", 3).to_json() == {"kind": "x", "file": "a.srt", "detail": "y", "line": 3}


def test_problems_are_listed_by_line_and_the_many_are_counted() -> None:
    log = ProblemLog("a.srt")
    for line in range(SHOWN_PER_KIND + 5, 0, -1):
        log.add("many", "odd", line)
    log.add("one", "odd", 10)
    listed = log.listed()
    assert len(listed) == SHOWN_PER_KIND + 2
    assert listed[-1].detail == "and 5 more of this kind"
    placed = [problem.line for problem in listed[:-1] if problem.line is not None]
    assert placed == sorted(placed)
    assert log.counts == {"many": SHOWN_PER_KIND + 5, "one": 1}
