"""The command `evaluate` on Ray and in its own process: equal answers, failing questions, a killed process group."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from ray_tasks.evaluation.answers import ScoredAnswer
from ray_tasks.evaluation.kept import KeptAnswers
from ray_tasks.storage.local import LocalStore
from ray_tasks.storage.manifests import publish
from tests.jobs.memories import THINGS, WEARERS, build_memory, write_corpus, write_questions
from tests.jobs.slow_evaluate import CURSED

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
COPIES = 20
"""Of each question: 480 questions of two wearers in all."""
KILLS = 3


@dataclass
class Place:
    """A published memory, and the question files of its wearers."""

    root: Path
    files: dict[str, Path]

    def command(self, out: Path, *more: object) -> list[str]:
        """The command that asks everything."""
        files = [part for wearer, file in self.files.items() for part in ("--questions", f"{wearer}={file}")]
        arguments = [sys.executable, "-m", "tests.jobs.slow_evaluate", "--root", self.root, *files, "--json", out]
        return [*map(str, arguments), *map(str, more)]

    def evaluate(self, out: Path, *more: object, expect: int = 0) -> tuple[list[dict[str, Any]], str]:
        """Runs it; its results and what it told."""
        done = subprocess.run(self.command(out, *more), env=ENVIRONMENT, capture_output=True, text=True, check=False)
        assert done.returncode == expect, done.stderr
        return json.loads(out.read_text(encoding="utf-8")), done.stderr

    def tables(self) -> dict[str, list[ScoredAnswer]]:
        """The answers of each finished evaluation, without their time."""
        store = LocalStore(self.root)
        return {
            path.parent.name: [
                replace(answer, seconds=0.0)
                for answer in KeptAnswers(store, f"evaluations/{path.parent.name}").load().values()
            ]
            for path in self.root.glob("evaluations/*/answers.parquet")
        }

    def stored(self) -> Counter[tuple[str, str]]:
        """How often each question's answer is stored in parts, by evaluation and id."""
        parts = self.root.glob("evaluations/*/parts/*.parquet")
        return Counter(
            (part.parents[1].name, number)
            for part in parts
            for number in pq.read_table(part).column("question_id").to_pylist()
        )


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}


def make_place(folder: Path, copies: int) -> Place:
    """A memory of two wearers, and so many times twelve questions to each."""
    store, _, manifest = build_memory(write_corpus(folder / "corpus"), folder / "root")
    publish(store, manifest, None)
    entries = json.loads(write_questions(folder / "short.json").read_text(encoding="utf-8"))
    files = {}
    for wearer in WEARERS:
        files[wearer] = folder / f"{wearer}.json"
        long = [
            {**entry, "ID": f"{copy}-{entry['ID']}", "question": f"{entry['question']} ({copy}, {wearer})"}
            for copy in range(copies)
            for entry in entries
        ]
        files[wearer].write_text(json.dumps(long), encoding="utf-8")
    return Place(store.root, files)


def test_answers_on_ray_have_the_bits_of_those_in_one_process(tmp_path: Path) -> None:
    place = make_place(tmp_path, 4)
    out = tmp_path / "out.json"
    methods = ("--method", "egocite", "--method", "caption-rag")
    here, _ = place.evaluate(out, *methods)
    of_here = place.tables()
    on_ray, told = place.evaluate(out, *methods, "--again", "--cpus", 2)
    assert [(one["wearer"], one["method"], one["n"]) for one in on_ray] == [
        (wearer, method, 4 * len(THINGS)) for wearer in WEARERS for method in ("egocite", "caption-rag")
    ]
    assert len(of_here) == 4 and place.tables() == of_here
    assert all(answer.evidence_ids for answers in of_here.values() for answer in answers)
    assert "kept from an earlier run" not in told and [one["hit"] for one in here] == [one["hit"] for one in on_ray]


@pytest.mark.parametrize("on_ray", [False, True])
def test_a_failing_question_costs_no_other_and_is_asked_again(tmp_path: Path, on_ray: bool) -> None:
    place = make_place(tmp_path, 1)
    cursed = json.loads(place.files[WEARERS[1]].read_text(encoding="utf-8"))
    cursed[3]["question"] += f" It is {CURSED}."
    place.files[WEARERS[1]].write_text(json.dumps(cursed), encoding="utf-8")
    out, more = tmp_path / "out.json", ("--cpus", 2) if on_ray else ()
    results, _ = place.evaluate(out, *more, expect=1)
    errors = [{answer["id"]: answer["error"] for answer in result["answers"] if answer["error"]} for result in results]
    assert errors == [{}, {"0-3": "RuntimeError: a cursed question"}]
    assert [len(result["answers"]) for result in results] == [len(THINGS)] * 2
    again, told = place.evaluate(out, *more, expect=1)
    assert "23 of 24 answers are kept" in " ".join(told.split())
    assert again[0] == results[0] and again[1]["kept"] == 11  # a result that is whole stays as it is


def test_a_killed_process_group_loses_and_repeats_nothing(tmp_path: Path) -> None:
    place = make_place(tmp_path, COPIES)
    out, dice = tmp_path / "out.json", random.Random(7)
    kills = 0
    while kills < KILLS:
        goal = sum(place.stored().values()) + dice.randint(1, 90)
        process = subprocess.Popen(
            place.command(out, "--cpus", 2),
            env=ENVIRONMENT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        while process.poll() is None and sum(place.stored().values()) < goal:
            time.sleep(0.05)
        time.sleep(dice.uniform(0, 0.3))
        if process.poll() is not None:
            break
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
        assert all(times == 1 for times in place.stored().values())
    assert kills
    before = place.stored()
    results, told = place.evaluate(out, "--cpus", 2)
    kept = re.search(r"(\d+) of (\d+) answers are kept", told)
    # Actors may store what they had under way when their driver was killed, so it can be more.
    assert kept and int(kept.group(2)) == COPIES * 24 and int(kept.group(1)) >= sum(before.values())
    ids = [f"{copy}-{number}" for copy in range(COPIES) for number in range(len(THINGS))]
    assert [[answer["id"] for answer in result["answers"]] for result in results] == [ids] * 2
    assert not place.stored()
    resumed = place.tables()
    place.evaluate(out, "--again")
    assert place.tables() == resumed
