"""What people are called changes nothing, nor does the order of questions and choices, nor that nothing was filmed.

A morning of the sample week is built in this process. Its encoder hears the first names only, so that rows are as alike
as before and whatever differs comes from the code.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.invariance import Renaming, in_other_order, names_in, new_names, rename_files
from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import SourceFile, discover
from ray_tasks.corpus.observe import observe
from ray_tasks.evaluation.egolifeqa import read_egolifeqa
from ray_tasks.index.memory import WearerMemory
from ray_tasks.index.opening import open_wearer
from ray_tasks.retrieval.registry import make_method
from ray_tasks.retrieval.types import Answer, Evidence, Question
from ray_tasks.rows import VIEWS
from ray_tasks.scheduling.assembly import assemble_manifest
from ray_tasks.scheduling.build import Build
from ray_tasks.scheduling.making import run_task
from ray_tasks.scheduling.stages import STAGES
from ray_tasks.scheduling.tasks import ShardResult, ShardTask, WorkerSettings
from ray_tasks.scheduling.worker import Worker
from ray_tasks.storage.store import LocalStore
from sample_week import SampleWeek, write_sample_week
from tests.index.builder import MemoryBuilder
from tests.scheduling.inline import SilentReporter

WEARER, OTHER = "B1_MARA", "B2_TOBI"
DAY, HOURS = 2, (9, 10, 11)


class Encoder:
    """A hashing encoder that gives everybody the first name back before it reads a text."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._old = {new: old for old, new in names.items()}

    def back(self, text: str) -> str:
        """A text with the names that people had at first."""
        for new, old in self._old.items():
            text = text.replace(new, old)
        return text

    def __call__(self, texts: list[str]) -> npt.NDArray[np.float32]:
        return MemoryBuilder(dimension=64).embed([self.back(text) for text in texts])

    def count_tokens(self, texts: list[str]) -> int:
        """Words."""
        return sum(len(text.split()) for text in texts)


@dataclass(frozen=True)
class Here:
    """Runs tasks in this process."""

    encoder: Encoder

    def run(self, tasks: Sequence[ShardTask], settings: WorkerSettings) -> Iterator[ShardResult]:
        """See Executor.run."""
        worker = Worker(settings)
        worker.__dict__["encoder"] = self.encoder
        try:
            yield from (run_task(task, worker, STAGES) for task in tasks)
        finally:
            worker.close()


@dataclass(frozen=True)
class Remembered:
    """A memory, its questions, and the encoder of both."""

    memory: WearerMemory
    questions: list[Question]
    encoder: Encoder

    def answers(self, questions: list[Question] | None = None) -> list[Answer]:
        """The answers to all questions, or to others."""
        return make_method("egocite", self.encoder).answer_many(questions or self.questions, self.memory)

    def rows(self) -> set[tuple[str, int, int, str]]:
        """The rows of all views with the names that people had at first."""
        return {
            (name, int(view.start_ms[row]), int(view.end_ms[row]), self.encoder.back(view.text(row)))
            for name, view in self.memory.views.items()
            for row in range(len(view))
        }


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> SampleWeek:
    return write_sample_week(tmp_path_factory.mktemp("sample"))


@pytest.fixture(scope="module")
def plain(week: SampleWeek, tmp_path_factory: pytest.TempPathFactory) -> Remembered:
    return remembered(week, tmp_path_factory.mktemp("plain"), morning(week, WEARER), WEARER, {})


def morning(week: SampleWeek, wearer: str) -> list[SourceFile]:
    return [file for file in discover(week.corpus, [wearer], [DAY]).files if file.hour in HOURS]


def remembered(
    week: SampleWeek, folder: Path, files: Sequence[SourceFile], wearer: str, names: Mapping[str, str]
) -> Remembered:
    """The memory of some files with everybody renamed."""
    renaming, encoder = Renaming(names), Encoder(names)
    rename_files([file.path for file in files], week.corpus, folder, renaming)
    questions = folder / "questions.json"
    questions.write_text(renaming.apply(week.questions[wearer].read_text(encoding="utf-8")), encoding="utf-8")
    store, config = LocalStore(folder / "root"), BuildConfig()
    outcome = Build(store, config, Here(encoder), SilentReporter(), 1, "run-1").run(discover(folder))
    manifest, _ = assemble_manifest(outcome, config, None, str(folder))
    renamed = renaming.apply(wearer)
    asked = [one.question for one in read_egolifeqa(questions, renamed).questions]
    return Remembered(open_wearer(store, manifest, renamed), asked, encoder)


def told(answers: Sequence[Answer]) -> dict[str, tuple[frozenset[str], tuple[tuple[int, int], ...]]]:
    return {one.question_id: (likeliest(one), tuple((e.start_ms, e.end_ms) for e in one.evidence)) for one in answers}


def likeliest(answer: Answer) -> frozenset[str]:
    """The choice; where others are just as likely these too, since then their wording decides, and so names may."""
    chances = dict(answer.probabilities)
    best = max(chances.values(), default=0.0)
    return frozenset(label for label, chance in chances.items() if chance > best - 1e-9)


def names_of(week: SampleWeek) -> list[str]:
    return names_in(WEARER, observe(discover(week.corpus).files).observations)


def test_names_are_read_from_the_corpus(week: SampleWeek) -> None:
    assert set(names_of(week)) == {"Mara", "Tobi", "Ines", "Pavel", "Lotte"}
    assert not set(new_names(names_of(week)).values()) & set(names_of(week))


def test_renaming_reaches_ids_and_names_written_together() -> None:
    renaming = Renaming({"Mara": "Anna Lena", "Tobi": "Zoë"})
    assert renaming.apply("B1_MARA/DAY1: Mara's cup, MaraTobi, Tobias, Maraca") == (
        "B1_ANNA_LENA/DAY1: Anna Lena's cup, Anna LenaZoë, Tobias, Maraca"
    )


@pytest.mark.parametrize(
    "others",
    [
        pytest.param((), id="invented"),
        pytest.param(("Łukasz", "Zoë", "Özlem", "Émile", "Jörg"), id="with accents"),
    ],
)
def test_renaming_everybody_changes_neither_rows_nor_answers(
    week: SampleWeek, plain: Remembered, tmp_path: Path, others: tuple[str, ...]
) -> None:
    names = dict(zip(names_of(week), others, strict=True)) if others else new_names(names_of(week))
    renamed = remembered(week, tmp_path, morning(week, WEARER), WEARER, names)
    assert renamed.rows() == plain.rows()
    assert told(renamed.answers()) == told(plain.answers())


def test_names_of_two_words_change_few_rows_and_no_answer(week: SampleWeek, plain: Remembered, tmp_path: Path) -> None:
    others = ("Anna Lena", "Jean Luc", "Mary Ann", "Ana Sofia", "Jan Ole")
    names = dict(zip(names_of(week), others, strict=True))
    renamed = remembered(week, tmp_path, morning(week, WEARER), WEARER, names)
    # a summary has room for so many words, and a name is now two
    assert len(renamed.rows() & plain.rows()) >= 0.98 * len(plain.rows())
    assert [*map(likeliest, renamed.answers())] == [*map(likeliest, plain.answers())]


def test_chinese_names_change_no_row(week: SampleWeek, tmp_path: Path, plain: Remembered) -> None:
    names = dict(zip(names_of(week), ("美玲", "建国", "小芳", "玉兰", "志强"), strict=True))
    renamed = remembered(week, tmp_path, morning(week, WEARER), WEARER, names)
    assert renamed.rows() == plain.rows()
    # words are counted by character in Chinese, so a name weighs more there
    before, after = renamed.answers(), plain.answers()
    assert sum(one.choice != two.choice for one, two in zip(before, after, strict=True)) <= 2


def test_the_order_of_questions_and_choices_changes_nothing(plain: Remembered) -> None:
    dice = random.Random(3)
    shuffled: list[Question] = []
    for question in dice.sample(plain.questions, len(plain.questions)):
        contents = dice.sample([text for _, text in question.choices], len(question.choices))
        letters = [letter for letter, _ in question.choices]
        choices = tuple(zip(letters, contents, strict=True))
        shuffled.append(Question(question.question_id, question.wearer, question.at_ms, question.text, choices))

    def in_words(questions: list[Question]) -> dict[str, tuple[str | None, tuple[Evidence, ...]]]:
        texts = {question.question_id: dict(question.choices) for question in questions}
        return {
            one.question_id: (texts[one.question_id].get(one.choice or ""), one.evidence)
            for one in plain.answers(questions)
        }

    assert in_words(shuffled) == in_words(plain.questions)


def test_questions_in_another_order_keep_their_keys(week: SampleWeek) -> None:
    entries = json.loads(week.questions[WEARER].read_text(encoding="utf-8"))
    shuffled = in_other_order(entries)
    keys = {entry["ID"]: entry[f"choice_{entry['answer'].lower()}"] for entry in entries}
    assert {entry["ID"]: entry[f"choice_{entry['answer'].lower()}"] for entry in shuffled} == keys
    assert [entry["ID"] for entry in shuffled] != [entry["ID"] for entry in entries]
    assert [entry["answer"] for entry in sorted(shuffled, key=lambda entry: entry["ID"])] != [
        entry["answer"] for entry in entries
    ]


def test_a_wearer_of_whom_only_speech_was_kept_has_a_memory_that_answers(week: SampleWeek, tmp_path: Path) -> None:
    files = [file for file in morning(week, OTHER) if file.kind == "transcript"]
    heard = remembered(week, tmp_path, files, OTHER, {})
    assert len(heard.memory.views["utterance"]) > 100
    for name in VIEWS:
        assert all(heard.memory.views[name].text(row).strip() for row in range(len(heard.memory.views[name])))
    late = [question for question in heard.questions if question.at_ms > int(heard.memory.captions.end_ms[0])]
    answers = heard.answers(late)
    assert late and len(answers) == len(late)
    for question, answer in zip(late, answers, strict=True):
        assert answer.status == "answered"
        assert answer.choice in dict(question.choices)
        assert 0 < len(answer.evidence) <= 15
        assert all(item.end_ms <= question.at_ms for item in answer.evidence)


def test_what_was_said_is_found_in_a_memory_of_speech_alone(week: SampleWeek, tmp_path: Path) -> None:
    files = [file for file in morning(week, OTHER) if file.kind == "transcript"]
    heard = remembered(week, tmp_path, files, OTHER, {})
    said = heard.memory.views["utterance"]
    end = int(heard.memory.captions.end_ms[-1])
    for row in range(0, len(said), max(len(said) // 10, 1)):
        question = Question("q", OTHER, end, said.text(row))
        (answer,) = heard.answers([question])
        moment = int(said.start_ms[row])
        near = any(item.start_ms - 300_000 <= moment <= item.end_ms + 300_000 for item in answer.evidence)
        assert near, said.text(row)
