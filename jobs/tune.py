"""Learns the weights of retrieval from questions whose evidence is known."""

from __future__ import annotations

import json as json_format
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from jobs.answering import load_encoder
from jobs.console import console, ends_well, log, print_json, progress_bars, run_app
from jobs.exams import Asked
from jobs.options import (
    DEFAULT_ROOT,
    AskedWearersOption,
    BenchmarkOption,
    JsonOption,
    QuestionFilesOption,
    RootOption,
    SetOption,
)
from jobs.question_options import question_files, read_settings
from ray_tasks.errors import UsageError
from ray_tasks.evaluation.egolifeqa import BENCHMARK
from ray_tasks.index.opening import open_wearer
from ray_tasks.provenance import code_digest
from ray_tasks.retrieval.signals import measure
from ray_tasks.retrieval.weights import FusionWeights, load_weights
from ray_tasks.scheduling.asking_actor import MethodChoice
from ray_tasks.scheduling.asking_source import check_encoder, query_embedder
from ray_tasks.storage.manifests import current_manifest
from ray_tasks.storage.store import open_store
from ray_tasks.tuning.candidates import Candidates, candidates_of
from ray_tasks.tuning.considered import CONSIDERED
from ray_tasks.tuning.judging import Judged, cross_validate, judge_table, parts_of
from ray_tasks.tuning.learning import DEFAULT_STRENGTH, Material

LEAST_QUESTIONS = 20
LEARNED = "learned, cross-validated"


@ends_well
def tune(
    questions: QuestionFilesOption,
    wearer: AskedWearersOption = None,
    root: RootOption = DEFAULT_ROOT,
    benchmark: BenchmarkOption = BENCHMARK,
    folds: Annotated[int, typer.Option(help="Parts of cross-validation; none splits a target.", min=2, max=50)] = 5,
    repeats: Annotated[int, typer.Option(help="How often, with other folds each time.", min=1, max=50)] = 3,
    l2: Annotated[
        float, typer.Option(help="How strongly weights are held to the untrained ones.", min=0.0)
    ] = DEFAULT_STRENGTH,
    against: Annotated[
        list[str] | None,
        typer.Option(help="Another table to compare with: learned, or a file of weights; may be repeated."),
    ] = None,
    ablate: Annotated[bool, typer.Option("--ablate", help="Also cross-validate without each part in turn.")] = False,
    set_: SetOption = None,
    out: Annotated[Path | None, typer.Option(help="Write the weights to this file.", show_default=False)] = None,
    json: JsonOption = False,
) -> None:
    """Learn how to sum the signals of retrieval from questions whose evidence is known.

    Prints how well the weights do on questions left out of learning (hit: the best 15 clips hold the target; near: they
    come within five minutes), beside the untrained ones. Nothing but signals of clips is learned from: no id, name or
    date. Exit code 0: learned; 2: the command or its input is at fault.

    Examples:

        daybook tune --root memories --questions A1_JAKE.json --wearer A1_JAKE --out weights.json

        daybook tune --root memories --questions A1_JAKE=one.json --questions A2_ALICE=two.json --ablate

        daybook evaluate --root memories --questions A1_JAKE=one.json --set weights=weights.json
    """
    if out is not None and not out.absolute().parent.is_dir():
        raise UsageError(f"--out {out}: there is no folder {out.absolute().parent}")
    tables = {name: load_weights(name) for name in dict.fromkeys(["untrained", *(against or [])])}
    use_choices = read_settings(set_ or []).use_choices
    files = [(owner, Asked.read(path, owner, benchmark)) for owner, path in question_files(questions, wearer or [])]
    with progress_bars(disable=json) as progress:
        bar = progress.add_task("measure", total=sum(len(asked.file.questions) for _, asked in files), rate="")
        candidates = gather(root, files, tables, use_choices, lambda: progress.advance(bar))
        learned_from = sum(one.usable and bool((one.gains > 0).any()) for one in candidates)
        if learned_from < LEAST_QUESTIONS:
            raise UsageError(
                f"only {learned_from} questions have a target that their memory holds, and {LEAST_QUESTIONS} are "
                "needed; give more with --questions"
            )
        material = Material.of(candidates, CONSIDERED)
        parts = parts_of(material) if ablate else {}
        bar = progress.add_task("learn", total=(1 + len(parts)) * folds * repeats, rate="")

        def judge(of: Material) -> Judged:
            return cross_validate(
                candidates, of, strength=l2, folds=folds, repeats=repeats, on_fold=lambda: progress.advance(bar)
            )

        judged = {name: judge_table(candidates, name) for name in tables} | {LEARNED: judge(material)}
        ablated = {name: judge(material.without(numbers)) for name, numbers in parts.items()}
    weights = learn(material, judged, l2, describe(files, learned_from, use_choices, folds, repeats))
    if out is not None:
        out.write_text(weights.to_json(), encoding="utf-8")
    report(weights, judged, ablated, out, json)


def gather(
    root: str,
    files: Sequence[tuple[str, Asked]],
    tables: dict[str, FusionWeights],
    use_choices: bool,
    on_question: Callable[[], None],
) -> list[Candidates]:
    """The candidates of all questions, each asked of its wearer's memory."""
    store = open_store(root)
    manifest = current_manifest(store)
    for owner, _ in files:
        manifest.entry(owner)
    encoder = check_encoder(load_encoder(manifest.embedding_model), manifest)
    embed = query_embedder(MethodChoice("egocite"), encoder, store)
    columns = (*CONSIDERED, *(column for table in tables.values() for column in table.columns))
    found: list[Candidates] = []
    for owner, asked in files:
        memory = open_wearer(store, manifest, owner)
        entries = asked.file.questions
        measuring = measure([entry.question for entry in entries], memory, embed, columns, use_choices=use_choices)
        for number, (entry, measured) in enumerate(zip(entries, measuring, strict=True)):
            generator = np.random.default_rng(number)
            found.append(candidates_of(measured, entry.target_spans, CONSIDERED, tables, generator))
            on_question()
    return found


def describe(
    files: Sequence[tuple[str, Asked]], learned_from: int, use_choices: bool, folds: int, repeats: int
) -> dict[str, Any]:
    """What was learned from, by count, and how it was judged."""
    return {
        "questions": learned_from,
        "wearers": len({owner for owner, _ in files}),
        "benchmarks": sorted({asked.benchmark for _, asked in files}),
        "choices": "shown" if use_choices else "hidden",
        "code": code_digest(),
        "folds": folds,
        "repeats": repeats,
    }


def learn(material: Material, judged: dict[str, Judged], l2: float, described: dict[str, Any]) -> FusionWeights:
    """The table learned from all questions, with its figures on questions left out."""
    everything = np.unique(material.sample.questions)
    figures = {name: judge.to_json() for name, judge in judged.items() if name in ("untrained", LEARNED)}
    provenance = f"learned from {described['questions']} questions of {', '.join(described['benchmarks'])}"
    return material.table(material.fit(everything, l2), provenance, {**described, "l2": l2, "figures": figures})


def report(
    weights: FusionWeights, judged: dict[str, Judged], ablated: dict[str, Judged], out: Path | None, json: bool
) -> None:
    """Prints the weights, how good they are, and what every part is worth."""
    if json:
        documents = {name: judge.to_json() for name, judge in ablated.items()}
        tables = {name: judge.to_json() for name, judge in judged.items()}
        print_json({"weights": json_format.loads(weights.to_json()), "judged": tables, "without": documents})
        return
    console.print(_rates(judged))
    if ablated:
        console.print(_ablation(judged[LEARNED], ablated))
    table = Table()
    for name in ("weight", "signal", "of", "over choices", "clips beside"):
        table.add_column(name, justify="right" if name in ("weight", "clips beside") else "left")
    for term in weights.terms:
        table.add_row(f"{term.weight:.2f}", term.signal, term.variant, term.over, str(term.reach or ""))
    console.print(table)
    if out is not None:
        log.print(escape(f"weights are in {out}; use them with --set weights={out}"), soft_wrap=True)


def _rates(judged: dict[str, Judged]) -> Table:
    table = Table()
    for name in ("weights", "questions", "hit %", "near %", "folds: hit"):
        table.add_column(name, justify="left" if name == "weights" else "right")
    for name, judge in judged.items():
        row = judge.to_json()
        rates = [f"{row[rate]['percent']} [{row[rate]['low']}, {row[rate]['high']}]" for rate in ("hit", "near_hit")]
        spread = [fold["hit"] for fold in row["folds"]]
        shown = f"{min(spread)} to {max(spread)}" if spread else ""
        table.add_row(escape(name), str(row["n"]), *map(escape, rates), shown)
    return table


def _ablation(whole: Judged, ablated: dict[str, Judged]) -> Table:
    table = Table()
    for name in ("without", "hit", "near"):
        table.add_column(name, justify="left" if name == "without" else "right")
    for name, judge in ablated.items():
        hit = 100 * float(judge.hits.mean() - whole.hits.mean())
        near = 100 * float(judge.nears.mean() - whole.nears.mean())
        table.add_row(name, f"{hit:+.1f}", f"{near:+.1f}")
    return table


if __name__ == "__main__":
    run_app(tune)
