"""The whole way on the bundled sample week: build, ask, evaluate."""

from __future__ import annotations

import time
from pathlib import Path

from jobs.answering import Respondent
from jobs.ask import make_question, show_answer
from jobs.build_text import show_build
from jobs.building import build_and_publish
from jobs.console import console, ends_well, run_app
from jobs.evaluating import Asked, run_evaluation
from jobs.options import DEFAULT_ROOT, MethodOption, RootOption
from jobs.request import BuildRequest
from ray_tasks.corpus.week_time import format_for_people
from ray_tasks.evaluation.table import render_evaluation
from ray_tasks.storage.store import open_store


@ends_well
def demo(root: RootOption = DEFAULT_ROOT, method: MethodOption = "egocite") -> None:
    """Build a memory of the bundled sample week, ask it three questions, and evaluate it on 40.

    The sample week is invented: two wearers, three days. It is written below the root (for an S3 root, to
    ./sample-week), and nothing is downloaded.

    Example:

        daybook demo --root memories
    """
    from sample_week import SAMPLE_QUESTIONS, write_sample_week

    started = time.monotonic()
    store = open_store(root)
    # Recordings are read from a folder, also where memories are kept elsewhere.
    week = write_sample_week((Path() if "://" in root else Path(root)) / "sample-week")
    console.rule("1. build")
    console.print(f"recordings: {week.corpus}", markup=False, soft_wrap=True)
    built = build_and_publish(BuildRequest(week.corpus), store)
    show_build(built)

    console.rule("2. ask")
    respondent = Respondent.of(store, built.manifest, method)
    memories = {wearer: respondent.memory(wearer) for wearer in week.questions}
    for sample in SAMPLE_QUESTIONS:
        question = make_question(sample.text, sample.wearer, sample.at, list(sample.choices))
        console.print(f"\n[bold]{question.text}[/]  ({sample.wearer}, {format_for_people(question.at_ms)})")
        show_answer(question, respondent.method.answer(question, memories[sample.wearer]))

    console.rule("3. evaluate")
    for wearer, path in week.questions.items():
        asked = Asked.read(path, wearer)
        evaluation, _, _ = run_evaluation(respondent, asked, wearer)
        console.print(render_evaluation(evaluation, asked.file.ledger))
    console.rule()
    console.print(f"the whole way in {time.monotonic() - started:.0f} s; look closer with:")
    console.print(f"  daybook inspect --root {root}\n  daybook doctor --corpus {week.corpus}", soft_wrap=True)


if __name__ == "__main__":
    run_app(demo)
