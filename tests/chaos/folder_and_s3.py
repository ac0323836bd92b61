"""Builds and asks the same on a local folder and on S3, and tells what is not the same.

As a script, on recordings of your own and with the encoder that --config names, by default the embedded one; an S3
server other than the built-in one is found by the usual AWS variables, and --s3-root then names an empty prefix on it::

    python -m tests.chaos.folder_and_s3 --corpus DIR --wearer W --questions FILE --scratch DIR [--s3-root s3://b/p]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ray_tasks.storage.store import open_store
from tests.chaos.builds import Order, Running, completed, ray_folder
from tests.chaos.memories import content
from tests.chaos.s3 import environment, serving


@dataclass(frozen=True)
class Exam:
    """Questions to one wearer; `method` answers them."""

    wearer: str
    questions: Path
    method: str = "egocite"


def run(arguments: list[str], variables: Mapping[str, str], log: Path) -> None:
    """Runs a command to its end; raises AssertionError with what it printed where it fails."""
    completed(lambda: Running(arguments, variables, log))


def differences(order: Order, s3: str, variables: Mapping[str, str], exams: Sequence[Exam], folder: Path) -> list[str]:
    """Builds `order` on its own root and on the root `s3`, and compares files, memories and answers.

    A root that has a memory already is taken as it is. This process must see the S3 server by its own environment, too;
    `variables` are for the builds.
    """
    remote = replace(order, root=s3, environment=variables)
    for number, each in enumerate((order, remote)):
        if open_store(each.root).exists("current.json"):
            continue
        started = time.monotonic()
        with ray_folder() as temporary:
            run(each.arguments(), {**each.environment, "RAY_TMPDIR": temporary}, folder / f"build{number}.log")
        sys.stderr.write(f"built {each.root} in {time.monotonic() - started:.0f} s\n")
    local, far = content(open_store(order.root)), content(open_store(s3))
    sys.stderr.write(f"{len(local.cache):,} and {len(far.cache):,} files; {local.memory_id} and {far.memory_id}\n")
    found = local.differences(far)
    for exam in exams:
        answers = [
            _answers(each, exam, folder / f"{exam.wearer}-{number}") for number, each in enumerate((order, remote))
        ]
        sys.stderr.write(f"{exam.wearer}: {len(answers[0]['answers'])} answers, accuracy {answers[0]['accuracy']}\n")
        found += [f"{exam.wearer}: {name}" for name in answers[0] if answers[0][name] != answers[1].get(name)]
    return found


def _answers(order: Order, exam: Exam, stem: Path) -> dict[str, Any]:
    """What `evaluate --json` says, without times and without the name of the root."""
    out = stem.with_suffix(".json")
    asked = ["evaluate", "--root", order.root, "--benchmark", "egolifeqa", "--questions", str(exam.questions)]
    chosen = ["--wearer", exam.wearer, "--method", exam.method, "--json", str(out)]
    run([*asked, *chosen], order.environment, stem.with_suffix(".log"))
    said = json.loads(out.read_text(encoding="utf-8"))
    figures = ("n", "accuracy", "hit", "hit_first", "near_hit", "evidence_minutes", "unanswered", "by_category")
    kept: dict[str, Any] = {name: said[name] for name in figures}
    timeless = ("id", "predicted", "correct", "hit", "near_hit", "evidence")
    kept["answers"] = [{name: answer[name] for name in timeless} for answer in said["answers"]]
    return kept


def main(arguments: Sequence[str] | None = None) -> int:
    """Compares, tells, and gives 0 where all is the same and 1 where it is not."""
    parser = argparse.ArgumentParser(description="Compare a memory on a local folder with one on S3.")
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--wearer", action="append", default=[])
    parser.add_argument("--questions", action="append", type=Path, default=[], help="one file for each --wearer")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--scratch", type=Path, required=True, help="an empty folder")
    parser.add_argument("--s3-root", help="an empty prefix of a running server; otherwise one is started")
    given = parser.parse_args(arguments)
    given.scratch.mkdir(parents=True, exist_ok=True)
    selection = tuple(word for wearer in given.wearer for word in ("--wearer", wearer))
    order = Order(given.corpus, str(given.scratch / "root"), selection, given.config)
    exams = [Exam(*pair) for pair in zip(given.wearer, given.questions, strict=False)]
    with ExitStack() as stack:
        root, variables = given.s3_root, {}
        if root is None:
            server, root = stack.enter_context(serving())
            variables = environment(server.url, given.scratch / "copies")
            os.environ.update(variables)
        found = differences(order, root, variables, exams, given.scratch)
    sys.stdout.write("\n".join(found or ["no difference"]) + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
