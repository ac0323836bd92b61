"""The released transcripts and Sync files: nothing is lost, to the cue."""

from __future__ import annotations

from pathlib import Path

import pytest

from ray_tasks.corpus.doctor import CorpusReport, inspect_corpus
from ray_tasks.corpus.fuse import fuse
from ray_tasks.corpus.layout import discover
from ray_tasks.corpus.observe import Observed, observe

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def corpus(shared_data: Path) -> Path:
    return shared_data / "egolife"


@pytest.fixture(scope="module")
def report(corpus: Path) -> CorpusReport:
    return inspect_corpus(corpus)


@pytest.fixture(scope="module")
def observed(corpus: Path) -> Observed:
    return observe(discover(corpus, ["A1_JAKE"]).files)


def test_every_cue_of_every_transcript_is_accounted_for(report: CorpusReport) -> None:
    totals = report.totals("transcript")
    assert (totals["files"], totals["rows"]) == (402, 300_957)
    assert not [name for name in totals if name.startswith("failed_")]


def test_the_doctor_finds_what_was_measured_by_other_means(report: CorpusReport) -> None:
    totals = report.totals("transcript")
    share = {name: round(100 * totals[name] / totals["rows"], 1) for name in totals}
    assert (totals["past_hour"], totals["starts_past_hour"], totals["stray"]) == (123, 15, 1)
    assert (share["overlap"], share["crosses_window"], share["zero_in_seconds"]) == (23.0, 5.2, 6.1)
    assert share["one_language_zh"] == 3.7
    assert (totals["reversed"], totals["recogniser_loop"]) == (0, 0)
    assert sum(problem.kind == "odd_name" for problem in report.problems) == 11
    assert max(file.longest_ms for file in report.files) == 70_866


def test_a_wearer_with_odd_file_names_has_speech_on_that_day(report: CorpusReport) -> None:
    day = [file for file in report.files if (file.wearer, file.day) == ("A4_LUCIA", 6)]
    assert len(day) == 11
    assert all(sum(file.speakers.values()) > 0 for file in day)


def test_the_rows_of_sync_are_used_or_superseded(observed: Observed) -> None:
    ledger = observed.ledgers["sync"]
    assert (ledger.taken, ledger.done, dict(ledger.filtered)) == (124_856, 69_256, {"superseded_by_transcript": 55_600})
    assert observed.ledgers["transcript"].taken == 56_640
    assert observed.ledgers["transcript"].failed == {}


def test_every_observation_is_in_exactly_one_caption(observed: Observed) -> None:
    captions = fuse(observed.observations, observed.clips["A1_JAKE"])
    lines = [line for caption in captions for line in caption.lines]
    assert len(lines) == len(observed.observations)
    assert sum(line.modality == "visual" for line in lines) == 69_256
    assert len(captions) == 6_223
    for caption in captions:
        assert caption.start_ms <= min(line.start_ms for line in caption.lines)
        assert caption.end_ms >= max(line.end_ms for line in caption.lines)
    assert sum(observed.touches.values()) == len(lines)
