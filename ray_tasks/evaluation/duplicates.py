"""Questions that a file asks more than once, often with their options shuffled, and what that does to accuracy.

Two entries are the same question if text and options are the same, whatever the options' order. Where their keys name
different options, they are the same only if asked at the same moment: at another moment another answer can be right.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ray_tasks.evaluation.answers import ScoredAnswer
from ray_tasks.evaluation.questions import BenchmarkQuestion, normalise_text


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Entries that are one question, in the order of the file.

    predicted: the text of the option chosen for each, None where nothing was answered. consistent: all alike.
    """

    question_ids: tuple[str, ...]
    shuffled: bool
    keys_agree: bool
    predicted: tuple[str | None, ...]
    consistent: bool


@dataclass(frozen=True, slots=True)
class DuplicateReport:
    """accuracy is in percent over unique questions, each counting once with the share of its copies answered right."""

    unique: int
    accuracy: float | None
    groups: tuple[DuplicateGroup, ...]

    @property
    def inconsistent(self) -> tuple[DuplicateGroup, ...]:
        """Groups that got different answers."""
        return tuple(group for group in self.groups if not group.consistent)


def group_same_questions(questions: Sequence[BenchmarkQuestion]) -> list[list[BenchmarkQuestion]]:
    """The questions in groups of the same one, in the order of the file; most groups have one member."""
    alike: dict[tuple[str, tuple[str, ...]], list[BenchmarkQuestion]] = defaultdict(list)
    for question in questions:
        options = tuple(sorted(normalise_text(text) for _, text in question.question.choices))
        alike[normalise_text(question.question.text), options].append(question)
    groups: list[list[BenchmarkQuestion]] = []
    for members in alike.values():
        if len({_key_text(member) for member in members}) == 1:
            groups.append(members)
            continue
        moments: dict[int, list[BenchmarkQuestion]] = defaultdict(list)
        for member in members:
            moments[member.question.at_ms].append(member)
        groups.extend(moments.values())
    return groups


def report_duplicates(questions: Sequence[BenchmarkQuestion], answers: Mapping[str, ScoredAnswer]) -> DuplicateReport:
    """Accuracy by unique question and the groups of duplicates; `answers` are by question id."""
    groups = group_same_questions(questions)
    shares = [share for group in groups if (share := _share_right(group, answers)) is not None]
    return DuplicateReport(
        unique=len(groups),
        accuracy=100.0 * math.fsum(shares) / len(shares) if shares else None,
        groups=tuple(_describe(group, answers) for group in groups if len(group) > 1),
    )


def _share_right(group: Sequence[BenchmarkQuestion], answers: Mapping[str, ScoredAnswer]) -> float | None:
    """The share of copies answered right among those with a key, None where none has one."""
    outcomes = [answers[member.question.question_id].correct for member in group]
    known = [outcome for outcome in outcomes if outcome is not None]
    return sum(known) / len(known) if known else None


def _describe(group: Sequence[BenchmarkQuestion], answers: Mapping[str, ScoredAnswer]) -> DuplicateGroup:
    predicted = tuple(_option(member, answers[member.question.question_id].predicted) for member in group)
    return DuplicateGroup(
        question_ids=tuple(member.question.question_id for member in group),
        shuffled=len({tuple(normalise_text(text) for _, text in member.question.choices) for member in group}) > 1,
        keys_agree=len({_key_text(member) for member in group}) == 1,
        predicted=predicted,
        consistent=len({None if text is None else normalise_text(text) for text in predicted}) == 1,
    )


def _option(question: BenchmarkQuestion, label: str | None) -> str | None:
    """The text of an option, None for no label."""
    return next((text for offered, text in question.question.choices if offered == label), None)


def _key_text(question: BenchmarkQuestion) -> str | None:
    text = _option(question, question.answer)
    return None if text is None else normalise_text(text)
