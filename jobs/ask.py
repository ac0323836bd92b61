"""Asks a memory one question."""

from __future__ import annotations

import string
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any

import typer

from jobs.answering import Respondent
from jobs.console import console, ends_well, print_json, run_app
from jobs.options import (
    DEFAULT_ROOT,
    ConfigOption,
    JsonOption,
    LlmModelOption,
    LlmUrlOption,
    MethodOption,
    RootOption,
    SetOption,
)
from jobs.question_options import answering_model, read_settings
from ray_tasks.corpus.week_time import WeekTimeError, format_for_people, format_week_time, parse_week_time
from ray_tasks.errors import UsageError
from ray_tasks.retrieval.registry import model_steps
from ray_tasks.retrieval.types import Answer, Evidence, Question
from ray_tasks.storage.manifests import current_manifest
from ray_tasks.storage.store import open_store

SHOWN_EVIDENCE = 3


@ends_well
def ask(
    question: Annotated[str, typer.Argument(help="The question, in the wearer's words.", show_default=False)],
    wearer: Annotated[str, typer.Option(help="Whose memory is asked.", show_default=False)],
    at: Annotated[str, typer.Option(help="When it is asked, for example 'DAY3 16010000'.", show_default=False)],
    root: RootOption = DEFAULT_ROOT,
    choice: Annotated[list[str] | None, typer.Option(help="A possible answer; may be repeated.")] = None,
    method: MethodOption = "egocite",
    set_: SetOption = None,
    llm_url: LlmUrlOption = None,
    llm_model: LlmModelOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Ask one question of a wearer's memory, as of a moment: nothing that was recorded later is seen.

    Exit code 0: answered, or nothing is remembered, or the model declined or said nothing that can be read, which is
    told; 1: the language model could not be asked; 2: the command or its input is at fault.

    Examples:

        daybook ask --root memories --wearer A1_JAKE --at "DAY3 16010000" "Where did I leave the tape?"

        daybook ask --root memories --wearer A1_JAKE --at "DAY3 16010000" "Who cooked last?" --choice Me --choice Mara

        daybook ask --root memories --wearer A1_JAKE --at "DAY3 16010000" "Where is the rope?" --set draft=llm
        --set respond=llm --llm-url http://host:8000/v1 --llm-model NAME
    """
    asked = make_question(question, wearer, at, choice or [])
    settings = read_settings(set_ or [])
    asks = bool(model_steps(method, settings))
    model = answering_model(config, llm_url, llm_model, asks=asks, starts=False)
    store = open_store(root)
    respondent = Respondent.of(store, current_manifest(store), method, settings, model)
    answer = respondent.method.answer(asked, respondent.memory(wearer))
    if json:
        print_json(answer_json(asked, answer))
    else:
        show_answer(asked, answer)
    if answer.status == "error":
        raise typer.Exit(1)


def make_question(text: str, wearer: str, at: str, choices: list[str]) -> Question:
    """A question as typed; raises UsageError for an unreadable time or more choices than letters."""
    try:
        at_ms = parse_week_time(at)
    except WeekTimeError as error:
        raise UsageError(f"--at: {error}") from error
    if not text.strip():
        raise UsageError("the question is empty")
    try:
        "".join((text, *choices)).encode()
    except UnicodeEncodeError as error:
        raise UsageError("the question or a choice is not text in UTF-8; set the terminal's encoding to it") from error
    if len(choices) > len(string.ascii_uppercase):
        raise UsageError(f"at most {len(string.ascii_uppercase)} choices can be lettered, not {len(choices)}")
    labelled = tuple(zip(string.ascii_uppercase, choices, strict=False))
    return Question("ask", wearer, at_ms, text.strip(), labelled)


def show_answer(question: Question, answer: Answer, *, limit: int = SHOWN_EVIDENCE) -> None:
    """Prints the answer with how sure it is, the probability of every choice, and the best `limit` items behind it."""
    if answer.status == "declined" and not answer.evidence:
        console.print(f"nothing was recorded before {format_for_people(question.at_ms)}")
        return
    for line in _said(question, answer):
        console.print(line, markup=False, soft_wrap=True)
    for item in best_evidence(answer, limit):
        console.print(
            f"  {format_for_people(item.start_ms)}  {item.view:<12} {item.text}", markup=False, soft_wrap=True
        )


def _said(question: Question, answer: Answer) -> Iterator[str]:
    """The choice with the odds of all, if any, or the reason; how sure it is; or why there is no answer."""
    if answer.status == "error":
        yield f"no answer: {answer.error}"
        return
    if answer.status == "unparsed":
        yield "no answer: the model's replies state none"
    sure = "" if answer.found is None else f"{100 * answer.found:.0f}% sure that this was found"
    if not_found(answer):
        yield f"not found: nothing that is remembered fits the question well ({sure}); the nearest:"
    texts = dict(question.choices)
    chosen = texts.get(answer.choice or "")
    if chosen is not None:
        yield f"{'a guess: ' if not_found(answer) else ''}{answer.choice}. {chosen}"
        for label, odds in answer.probabilities:
            yield f"  {100 * odds:3.0f}%  {label}. {texts[label]}"
    if answer.text and not answer.probabilities and not not_found(answer):
        yield answer.text  # beside odds, the rules only repeat their best evidence
    if sure and not not_found(answer):
        yield f"({sure})"


def not_found(answer: Answer) -> bool:
    """Whether a method says that the memory does not hold what was asked."""
    return "not_found" in answer.notes


def best_evidence(answer: Answer, limit: int = SHOWN_EVIDENCE) -> list[Evidence]:
    """The items with the highest scores, best first, at most `limit`; of those alike the earlier first."""
    return sorted(answer.evidence, key=lambda item: (-item.score, item.start_ms))[:limit]


def answer_json(question: Question, answer: Answer) -> dict[str, Any]:
    """The answer as plain JSON values; times are week time in ms, with a written form beside.

    found: how likely it is that the memory holds what was asked; not_found: whether that is below the threshold.
    best: the ids of the best evidence, best first.
    """
    answered = answer.status == "answered"
    return {
        "question": question.text,
        "wearer": question.wearer,
        "at": format_week_time(question.at_ms),
        "status": answer.status,
        "choice": answer.choice,
        "answer": dict(question.choices).get(answer.choice or "", answer.text or None) if answered else None,
        "said": answer.text or None,
        "probabilities": dict(answer.probabilities),
        "found": answer.found,
        "not_found": not_found(answer),
        "best": [item.item_id for item in best_evidence(answer)],
        "evidence": [{**asdict(item), "at": format_week_time(item.start_ms)} for item in answer.evidence],
        "cited": [{"start_ms": start, "end_ms": end, "at": format_week_time(start)} for start, end in answer.cited],
        "rounds": answer.rounds,
        "calls": answer.calls,
        "tokens_in": answer.tokens_in,
        "tokens_out": answer.tokens_out,
        "notes": list(answer.notes),
        "error": answer.error or None,
    }


if __name__ == "__main__":
    run_app(ask)
