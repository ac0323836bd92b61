"""How an answer came about: rounds of searches with their scores, the pool, what was kept of it, and the answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

from ray_tasks.corpus.week_time import format_for_people
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.types import Answer, Evidence, Question


@dataclass(frozen=True, slots=True)
class Found:
    """A row that a search found: its number in the pool, S and R apart (EgoCITE Eq. 1), and whether it was new.

    joined: how the two make the score. Rules add (their S is a mean of z-scores, so R enters as a logarithm).
    """

    number: int
    item: Evidence
    similarity: float
    relevance: float
    new: bool
    joined: str = "x"


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the model made it, the window of week time that was read in it, and what it was told."""

    tool: str
    query: str
    time_text: str
    window: tuple[int, int] | None
    found: tuple[Found, ...]
    told: str


@dataclass(frozen=True, slots=True)
class Round:
    """One turn of the drafting agent. said: its words beside the calls; problem: why the turn had no usable call."""

    number: int
    said: str
    calls: tuple[Call, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """One question from its search to its answer. `shown` are the captions that the response agent was shown."""

    question: Question
    rounds: tuple[Round, ...]
    pool: tuple[Evidence, ...]
    curated: tuple[Evidence, ...]
    shown: tuple[Evidence, ...]
    answer: Answer

    def to_json(self) -> dict[str, Any]:
        """Plain values; times in ms of week time."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """The trace for a terminal, line by line."""
        question, answer = self.question, self.answer
        yield f"{question.question_id} at {format_for_people(question.at_ms)}: {question.text}"
        for label, text in question.choices:
            yield f"  {label}) {text}"
        for turn in self.rounds:
            yield from _round_lines(turn)
        kept = {item.item_id for item in self.curated}
        yield f"pool: {len(self.pool)} items, kept {len(self.curated)} (marked *)"
        for item in self.pool:
            yield f"  {'*' if item.item_id in kept else ' '} {_item_line(item)}"
        if self.shown:
            yield f"captions shown: {len(self.shown)}"
            for item in self.shown:
                yield f"    {_item_line(item)}"
        yield f"answer: {answer.choice or '-'} ({answer.status}) {' '.join(answer.text.split())}".rstrip()
        if answer.error:
            yield f"error: {answer.error}"
        if answer.cited:
            yield f"cited: {', '.join(interval(*span) for span in answer.cited)}"
        if answer.notes:
            yield f"notes: {', '.join(answer.notes)}"
        yield (
            f"{answer.rounds} rounds, {answer.calls} calls, {answer.tokens_in} tokens read, {answer.tokens_out} written"
        )


@runtime_checkable
class Traceable(Protocol):
    """A method that can tell how an answer came about."""

    def trace(self, question: Question, memory: WearerMemory) -> Trace:
        """The answer that `Method.answer` gives, with all that led to it."""
        ...


def _round_lines(turn: Round) -> Iterator[str]:
    yield f"round {turn.number}" + (f": {' '.join(turn.said.split())}" if turn.said.strip() else "")
    if turn.problem:
        yield f"  no usable call: {turn.problem}"
    for call in turn.calls:
        when = "" if call.window is None else f" in {interval(*call.window)}"
        asked = f" {call.time_text!r}" if call.time_text else ""
        yield f"  {call.tool} {call.query!r}{asked}{when}: {call.told}".rstrip()
        for found in call.found:
            mark = "+" if found.new else " "
            scores = f"S {found.similarity:.3f} {found.joined} R {found.relevance:.3f} = {found.item.score:.3f}"
            yield f"    {mark}[{found.number}] {scores}  {_item_line(found.item)}"


def _item_line(item: Evidence) -> str:
    return f"{interval(item.start_ms, item.end_ms)} {item.view}: {' '.join(item.text.split())}"


def interval(start_ms: int, end_ms: int) -> str:
    """``DAY1 11:09:42-11:10:12``, with the day twice where it ends on another one; a point alone."""
    start, end = format_for_people(start_ms), format_for_people(end_ms)
    if start == end:
        return start
    day, clock = end.split(" ")
    return f"{start}-{clock if start.startswith(day + ' ') else end}"
