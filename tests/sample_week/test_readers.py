"""The project's own readers take the sample week whole, and find in it exactly the planted flaws."""

from __future__ import annotations

from ray_tasks.corpus.doctor import inspect_corpus
from ray_tasks.corpus.layout import discover
from ray_tasks.corpus.observe import observe
from ray_tasks.corpus.week_time import week_ms
from sample_week import ODDITIES, SampleWeek


def test_every_named_beat_is_observed_at_its_time(sample: SampleWeek) -> None:
    observed = observe(discover(sample.corpus).files)
    found = {(row.wearer, row.start_ms // 1000, row.speaker or "", row.text) for row in observed.observations}
    expected = {
        (row.wearer, week_ms(row.day, row.start_ms) // 1000, row.speaker, row.words.english)
        for row in sample.evidence.values()
    }
    assert len(expected) > 100
    assert expected <= found


def test_only_the_empty_cue_and_the_spoken_rows_of_sync_are_filtered(sample: SampleWeek) -> None:
    ledgers = observe(discover(sample.corpus).files).ledgers
    assert dict(ledgers["transcript"].filtered) == {"empty": ODDITIES["empty_cues"]}
    assert set(ledgers["sync"].filtered) == {"superseded_by_transcript"}
    assert not ledgers["dense"].filtered
    assert not any(ledger.failed for ledger in ledgers.values())


def test_the_doctor_counts_what_was_planted(sample: SampleWeek) -> None:
    report = inspect_corpus(sample.corpus)
    totals = report.totals("transcript")
    past = ODDITIES["cues_running_past_their_hour"] + ODDITIES["cues_starting_past_their_hour"]
    assert {name: totals[name] for name in ("overlap", "reversed", "past_hour", "no_speaker", "one_language_en")} == {
        "overlap": ODDITIES["overlapping_cues"],
        "reversed": ODDITIES["reversed_cues"],
        "past_hour": past,
        "no_speaker": ODDITIES["cues_without_speaker"],
        "one_language_en": ODDITIES["english_only_cues"],
    }
    assert totals["one_language_zh"] == ODDITIES["chinese_only_cues"]
    odd_names = [problem for problem in report.problems if problem.kind == "odd_name"]
    assert len(odd_names) == ODDITIES["odd_file_names"]
