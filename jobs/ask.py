"""Asks a memory one question."""

from __future__ import annotations

import string
from dataclasses import asdict
from typing import Annotated, Any

import typer

from jobs.answering import Respondent
from jobs.console import console, ends_well, print_json, run_app
from jobs.options import DEFAULT_ROOT, JsonOption, MethodOption, RootOption
from ray_tasks.corpus.week_time import WeekTimeError, format_for_people, format_week_time, parse_week_time
from ray_tasks.errors import UsageError
from ray_tasks.retrieval.types import Answer, Question
from ray_tasks.storage.manifests import current_manifest
from ray_tasks.storage.store import open_store

SHOWN_EVIDENCE = 8


@ends_well
def ask(
    question: Annotated[str, typer.Argument(help="The question, in the wearer's words.", show_default=False)],
    wearer: Annotated[str, typer.Option(help="Whose memory is asked.", show_default=False)],
    at: Annotated[str, typer.Option(help="When it is asked, for example 'DAY3 16010000'.", show_default=False)],
    root: RootOption = DEFAULT_ROOT,
    choice: Annotated[list[str] | None, typer.Option(help="A possible answer; may be repeated.")] = None,
    method: MethodOption = "egocite",
    json: JsonOption = False,
) -> None:
    """Ask one question of a wearer's memory, as of a moment: nothing that was recorded later is seen.

    Examples:

        daybook ask --root memories --wearer A1_JAKE --at "DAY3 16010000" "Where did I leave the tape?"

        daybook ask --root memories --wearer A1_JAKE --at "DAY3 16010000" "Who cooked last?" --choice Me --choice Mara
    """
    asked = make_question(question, wearer, at, choice or [])
    store = open_store(root)
    respondent = Respondent.of(store, current_manifest(store), method)
    answer = respondent.method.answer(asked, respondent.memory(wearer))
    if json:
        print_json(answer_json(asked, answer))
    else:
        show_answer(asked, answer)


def make_question(text: str, wearer: str, at: str, choices: list[str]) -> Question:
    """A question as typed; raises UsageError for an unreadable time or more choices than letters."""
    try:
        at_ms = parse_week_time(at)
    except WeekTimeError as error:
        raise UsageError(f"--at: {error}") from error
    if not text.strip():
        raise UsageError("the question is empty")
    if len(choices) > len(string.ascii_uppercase):
        raise UsageError(f"at most {len(string.ascii_uppercase)} choices can be lettered, not {len(choices)}")
    labelled = tuple(zip(string.ascii_uppercase, choices, strict=False))
    return Question("ask", wearer, at_ms, text.strip(), labelled)


def show_answer(question: Question, answer: Answer, *, limit: int = SHOWN_EVIDENCE) -> None:
    """Prints the answer and the evidence it rests on, best first, at most `limit` items."""
    chosen = dict(question.choices).get(answer.choice or "")
    if answer.status == "declined":
        console.print(f"nothing was recorded before {format_for_people(question.at_ms)}")
        return
    if chosen is not None:
        odds = dict(answer.probabilities).get(answer.choice or "")
        console.print(
            f"{answer.choice}. {chosen}" + (f"  ({100 * odds:.0f}%)" if odds is not None else ""), markup=False
        )
    elif answer.text:
        console.print(answer.text, markup=False)
    for item in sorted(answer.evidence, key=lambda item: (-item.score, item.start_ms))[:limit]:
        console.print(
            f"  {format_for_people(item.start_ms)}  {item.view:<12} {item.text}", markup=False, soft_wrap=True
        )


def answer_json(question: Question, answer: Answer) -> dict[str, Any]:
    """The answer as plain JSON values; times are week time in ms, with a written form beside."""
    return {
        "question": question.text,
        "wearer": question.wearer,
        "at": format_week_time(question.at_ms),
        "status": answer.status,
        "choice": answer.choice,
        "answer": dict(question.choices).get(answer.choice or "", answer.text or None),
        "probabilities": dict(answer.probabilities),
        "evidence": [{**asdict(item), "at": format_week_time(item.start_ms)} for item in answer.evidence],
        "rounds": answer.rounds,
        "notes": list(answer.notes),
    }


if __name__ == "__main__":
    run_app(ask)
