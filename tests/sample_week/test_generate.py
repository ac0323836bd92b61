"""The files as a whole: layout, size, determinism, and what happens to folders that hold something else."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ray_tasks.corpus.week_time import parse_point
from sample_week import SampleWeek, SampleWeekError, write_sample_week
from sample_week.__main__ import main

REPOSITORY = Path(__file__).resolve().parents[2]
WINDOW_MS = 30_000


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_two_runs_give_the_same_bytes(sample: SampleWeek, tmp_path: Path) -> None:
    write_sample_week(tmp_path / "again")
    assert contents(tmp_path / "again") == contents(sample.corpus)


def test_another_process_with_another_hash_seed_gives_the_same_bytes(sample: SampleWeek, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "TZ": "Pacific/Auckland", "LC_ALL": "C"}
    command = [sys.executable, "-m", "sample_week", str(tmp_path / "there")]
    subprocess.run(command, cwd=REPOSITORY, env=environment, check=True, capture_output=True)
    assert contents(tmp_path / "there") == contents(sample.corpus)


def test_writing_again_leaves_finished_files_alone_and_mends_a_damaged_one(tmp_path: Path) -> None:
    first = write_sample_week(tmp_path)
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    good = files[7].read_bytes()
    files[7].write_bytes(good[:40])
    for path in files:
        os.utime(path, ns=(1, 1))
    assert write_sample_week(tmp_path) == first
    assert files[7].read_bytes() == good
    assert [path for path in files if path.stat().st_mtime_ns != 1] == [files[7]]


def test_a_folder_with_other_recordings_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    stranger = tmp_path / "EgoLifeCap" / "Transcript" / "C7_OLGA" / "DAY1" / "C7_OLGA_DAY1_09000000.srt"
    stranger.parent.mkdir(parents=True)
    stranger.write_text("1\n00:00:01,000 --> 00:00:02,000\nOlga: hello\n")
    before = contents(tmp_path)
    with pytest.raises(SampleWeekError, match=r"C7_OLGA_DAY1_09000000\.srt is no part of the sample week: choose"):
        write_sample_week(tmp_path)
    assert contents(tmp_path) == before


def test_the_command_says_where_the_files_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert str(tmp_path / "questions" / "B2_TOBI.json") in out


def test_the_command_explains_an_unusable_folder_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert main([str(blocked)]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_writing_takes_seconds_at_most(tmp_path: Path) -> None:
    begin = time.process_time()  # how much else the machine has to do does not matter
    write_sample_week(tmp_path)
    assert time.process_time() - begin < 10.0


def test_both_released_forms_are_there(sample: SampleWeek) -> None:
    names = [Path(name).parts for name in contents(sample.corpus)]
    folders = Counter("/".join(parts[: 3 if parts[1] != "Sync" else 2]) for parts in names if parts[0] == "EgoLifeCap")
    assert folders == {
        "EgoLifeCap/Transcript/B1_MARA": 18,
        "EgoLifeCap/Transcript/B2_TOBI": 18,
        "EgoLifeCap/DenseCaption/B2_TOBI": 18,
        "EgoLifeCap/Sync": 17,
    }


def test_the_week_is_large_enough_to_be_lost_in_and_small_enough_to_embed(
    spoken: list[Any], dense: list[Any], sync: list[Any]
) -> None:
    visual = [(row.wearer, row.start_ms, row.text) for row in sync if row.kind == "caption"]
    visual += [(cue.wearer, cue.week_ms(), cue.lines[-1]) for cue in dense]
    heard = [(cue.wearer, cue.week_ms(), cue.lines[-1]) for cue in spoken]
    rows = visual + heard
    assert 8_000 <= len(rows) <= 12_000
    assert 3_000 <= len({text for _, _, text in rows}) <= 7_000
    assert 2_000 <= len({(wearer, start_ms // WINDOW_MS) for wearer, start_ms, _ in rows}) <= 2_600


def test_the_cameras_are_off_at_noon_and_for_half_an_hour_of_tobis_friday(spoken: list[Any], dense: list[Any]) -> None:
    planted_at_noon = [cue for cue in spoken if cue.hour == 11 and cue.start_ms >= 3_600_000]
    assert len(planted_at_noon) == 1
    assert not [cue for cue in spoken + dense if cue.hour in {12, 13}]
    friday = [cue.start_ms for cue in spoken + dense if (cue.wearer, cue.day, cue.hour) == ("B2_TOBI", 2, 10)]
    assert friday
    assert not [start_ms for start_ms in friday if 20 * 60_000 <= start_ms < 50 * 60_000]


def test_one_hour_has_sound_but_no_picture(spoken: list[Any], sync: list[Any]) -> None:
    hour = (24 + 16) * 3_600_000
    assert not [row for row in sync if hour <= row.start_ms < hour + 3_600_000]
    assert [cue for cue in spoken if (cue.wearer, cue.day, cue.hour) == ("B1_MARA", 2, 16)]


def test_both_wearers_hear_the_same_words_when_they_are_together(spoken: list[Any]) -> None:
    tea = (10 * 60 + 2) * 60_000
    heard = {
        wearer: [cue.lines[-1].replace("：", ": ") for cue in spoken if cue.wearer == wearer and cue.week_ms() < tea]
        for wearer in ("B1_MARA", "B2_TOBI")
    }
    mara = [line for line in heard["B1_MARA"] if "knee" in line or "bus fourteen" in line]
    assert mara == [line for line in heard["B2_TOBI"] if "knee" in line or "bus fourteen" in line]
    assert len(mara) == 3


def test_a_clip_that_begins_a_recording_is_named_after_its_first_frame(sync: list[Any]) -> None:
    first = min(row.clip for row in sync)
    assert first == "DAY1_B1_MARA_09011208.mp4"


def test_sync_rows_lie_in_the_window_of_their_clip(sync: list[Any]) -> None:
    for row in sync:
        day, clock = row.clip[3], row.clip.removesuffix(".mp4")[-8:]
        window = parse_point(clock, default_day=day).ms // WINDOW_MS
        doubled = row.kind == "transcript" and row.start_ms // WINDOW_MS == window - 1
        assert row.start_ms // WINDOW_MS == window or doubled
