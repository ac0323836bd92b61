"""An evaluation as tables for a terminal; what is built here is printed elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from ray_tasks.evaluation import aggregate
from ray_tasks.evaluation.runner import Evaluation
from ray_tasks.ledger import Ledger

_FLAG_WORDS = {
    "no_target": "no usable target (left out of hit)",
    "no_key": "no usable key (left out of accuracy)",
    "bad_target": "a target that cannot be read",
    "target_after_question": "a target later than the question",
    "frame_clamped": "a frame number beyond 19, clamped",
    "numeric_choice": "an option that is no text",
    "empty_choice": "an empty option",
    "duplicate_choice": "the same option twice",
    "missing_choice": "fewer options than four",
    "unknown_category": "an unknown category",
    "repeated_id": "an ID that was there before (made unique)",
    "id_in_both_splits": "an ID that the other split uses too (told apart by its split)",
    "to_first_person": "turned from the third person to the first",
    "pronoun_left": "a pronoun that may or may not be the wearer's (left)",
    "date_to_day": "a calendar date turned into a day",
    "date_left": "a date that is none of the recording's (left)",
    "target_is_a_day": "a target that is a whole day (left out of hit)",
}
_NOTE_WORDS = {
    "not_found": "little that is remembered fits the question (scored as it is)",
    "weak": "answered by a guess (scored as it is)",
    "read_from_records": "read from the records found, without the respond step",
    "temporal_unmet": "no record found lies in the time that is asked for (some are shown all the same)",
    "not_offered": "a letter that no option carries",
    "letter_discarded": "a letter beside a failure, not scored",
    "same_text_as_key": "the key's text chosen under another letter (scored wrong)",
}


def render_evaluation(evaluation: Evaluation, ledger: Ledger | None = None) -> RenderableType:
    """The table of rates and, where anything was odd, a second small one; `ledger` is the question file's."""
    rates = render_rates(evaluation)
    oddities = list(_oddities(evaluation, ledger))
    if not oddities:
        return rates
    table = Table()
    table.add_column("what was odd")
    table.add_column("questions", justify="right")
    for words, count in oddities:
        table.add_row(escape(words), str(count))
    return Group(rates, table)


def render_rates(evaluation: Evaluation) -> Table:
    """Rows: the categories, time-aware yes and no, all. Rates in percent, accuracy with its confidence interval."""
    latency = aggregate.latency_ms(evaluation.answers)
    table = Table(
        title=escape(f"{evaluation.benchmark} · {evaluation.wearer} · {evaluation.method}"),
        caption=(
            f"{evaluation.seconds:.1f} s; {_number(latency['p50'])} ms a question, 95% within "
            f"{_number(latency['p95'])} ms\naccuracy with its {aggregate.CONFIDENCE:.0%} interval\n"
            "first: hit of the first target; grounded: of right answers / of all"
        ),
    )
    table.add_column("")
    for name in ("n", "accuracy", "hit", "first", "near", "min", "grounded"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, summary in evaluation.by_category.items():
        table.add_row(*_row(name, summary))
    table.add_section()
    for name, summary in evaluation.by_time_aware.items():
        table.add_row(*_row(f"time-aware: {name}", summary))
    table.add_section()
    table.add_row(*_row("all", evaluation.overall), style="bold")
    return table


def _row(name: str, summary: aggregate.Summary) -> tuple[str, ...]:
    accuracy = summary.accuracy
    interval = "" if accuracy.low is None or accuracy.high is None else f" ({accuracy.low:.0f}–{accuracy.high:.0f})"
    return (
        name,
        str(summary.n),
        f"{_number(accuracy.percent)}{interval}",
        _number(summary.hit.percent),
        _number(summary.hit_first.percent),
        _number(summary.near_hit.percent),
        _number(summary.evidence_minutes),
        f"{_whole(summary.grounded_accuracy.percent)}/{_whole(summary.grounded.percent)}",
    )


def _whole(value: float | None) -> str:
    """No decimals, a dash where there is nothing to show."""
    return "–" if value is None else f"{value:.0f}"


def _number(value: float | None) -> str:
    """One decimal, a dash where there is nothing to show."""
    return "–" if value is None else f"{value:.1f}"


def _oddities(evaluation: Evaluation, ledger: Ledger | None) -> Iterator[tuple[str, int]]:
    """What a reader of the rates should know, with how many questions it concerns; nothing for zero."""
    flags = Counter(flag for question in evaluation.questions for flag in question.flags)
    for flag in sorted(flags, key=lambda name: (-flags[name], name)):
        yield _FLAG_WORDS.get(flag, flag), flags[flag]
    for status, count in aggregate.count_statuses(evaluation.answers).items():
        if status != "answered":
            yield f"unanswered: {status} (scored wrong)", count
    for note, count in aggregate.count_notes(evaluation.answers).items():
        yield _NOTE_WORDS.get(note, f"answers noted: {note}"), count
    duplicates = evaluation.duplicates
    if duplicates.groups:
        extra = sum(len(group.question_ids) for group in duplicates.groups)
        yield f"asked more than once (accuracy by unique question {_number(duplicates.accuracy)})", extra
    for group in duplicates.inconsistent:
        yield f"answered inconsistently: {', '.join(group.question_ids)}", len(group.question_ids)
    for reason, count in sorted((ledger.failed if ledger else Counter()).items()):
        yield f"skipped: {reason}", count
