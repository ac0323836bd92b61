"""What the names of files and folders tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from ray_tasks.corpus.file_names import clock_in, entries, is_wearer, names_other
from ray_tasks.corpus.week_time import HOUR_MS, WeekTimeError


@pytest.mark.parametrize("name", ["B1_MARA_DAY1_10000000.srt", "DAY1_B1_MARA_10000000.mp4.srt", "12345678_100000.mp4"])
def test_the_last_clock_time_of_a_name_is_its_beginning(name: str) -> None:
    assert clock_in(name) == 10 * HOUR_MS


@pytest.mark.parametrize("name", ["B1_MARA_DAY1.srt", "B1_MARA_99000000.srt", "123456789.srt"])
def test_a_name_without_a_clock_time_is_told_apart(name: str) -> None:
    with pytest.raises(WeekTimeError):
        clock_in(name)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("B1_MARA_DAY3_10000000.srt", False),
        ("day_3_b1_mara_10000000.srt", False),
        ("B1_MARA_10000000.srt", False),
        ("B2_TOBI_DAY3_10000000.srt", True),
        ("B1_MARA_DAY4_10000000.srt", True),
    ],
)
def test_a_name_may_name_another_wearer_or_day(name: str, other: bool) -> None:
    assert names_other(name, "B1_MARA", 3) is other


def test_what_cannot_be_a_wearer() -> None:
    assert [name for name in ("B1_MARA", "Mara", "old clips", "a:b", ".trash", "") if is_wearer(name)] == [
        "B1_MARA",
        "Mara",
    ]


def test_hidden_entries_and_absent_folders_hold_nothing(tmp_path: Path) -> None:
    for name in ("b", "a", ".hidden"):
        (tmp_path / name).touch()
    assert [entry.name for entry in entries(tmp_path)] == ["a", "b"]
    assert entries(tmp_path / "absent") == entries(tmp_path / "a") == []
