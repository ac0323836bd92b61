"""The sample week, written once, and plain readers of its files: the tests judge what was released."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ray_tasks.corpus.week_time import HOUR_MS, parse_point
from sample_week import SampleWeek, write_sample_week

_NAME = re.compile(
    r"(?:(?P<wearer>B\d_[A-Z]+)_DAY(?P<day>\d)|DAY(?P<odd_day>\d)_(?P<odd_wearer>B\d_[A-Z]+))_(?P<hour>\d\d)0{6}"
)
_STAMP = re.compile(r"(\d\d):(\d\d):(\d\d),(\d{3}) --> (\d\d):(\d\d):(\d\d),(\d{3})")


@dataclass(frozen=True)
class FileCue:
    """A cue as it stands in a file: times in ms from the file's hour, and its lines."""

    path: Path
    wearer: str
    day: int
    hour: int
    start_ms: int
    end_ms: int
    lines: tuple[str, ...]

    def week_ms(self) -> int:
        return ((self.day - 1) * 24 + self.hour) * HOUR_MS + self.start_ms


@dataclass(frozen=True)
class SyncRow:
    """A row of a Sync file; start in week time, ms (whole seconds)."""

    wearer: str
    start_ms: int
    text: str
    kind: str
    clip: str


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> SampleWeek:
    return write_sample_week(tmp_path_factory.mktemp("sample"))


@pytest.fixture(scope="session")
def spoken(sample: SampleWeek) -> list[FileCue]:
    return read_cues(sample.corpus / "EgoLifeCap" / "Transcript")


@pytest.fixture(scope="session")
def dense(sample: SampleWeek) -> list[FileCue]:
    return read_cues(sample.corpus / "EgoLifeCap" / "DenseCaption")


@pytest.fixture(scope="session")
def sync(sample: SampleWeek) -> list[SyncRow]:
    rows = []
    for path in sorted((sample.corpus / "EgoLifeCap" / "Sync").iterdir()):
        wearer, day, _hour = _parts(path)
        for clip in json.loads(path.read_text(encoding="utf-8")):
            for row in clip["data"]:
                start_ms = parse_point(row["start"], default_day=day).ms
                rows.append(SyncRow(wearer, start_ms, row["text"], row["type"], clip["video_file"]))
    return rows


@pytest.fixture(scope="session")
def questions(sample: SampleWeek) -> dict[str, list[dict[str, Any]]]:
    return {wearer: json.loads(path.read_text(encoding="utf-8")) for wearer, path in sample.questions.items()}


def read_cues(folder: Path) -> list[FileCue]:
    """All cues of all subtitle files below a folder, in the order of the files."""
    cues = []
    for path in sorted(folder.rglob("*.srt")):
        wearer, day, hour = _parts(path)
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        for block in text.removesuffix("\n\n").split("\n\n"):
            _number, stamp, *lines = block.split("\n")
            match = _STAMP.fullmatch(stamp)
            assert match, f"{path}: {stamp!r}"
            h1, m1, s1, f1, h2, m2, s2, f2 = map(int, match.groups())
            start, end = ((h1 * 60 + m1) * 60 + s1) * 1000 + f1, ((h2 * 60 + m2) * 60 + s2) * 1000 + f2
            cues.append(FileCue(path, wearer, day, hour, start, end, tuple(lines)))
    return cues


def _parts(path: Path) -> tuple[str, int, int]:
    match = _NAME.match(path.name)
    assert match, path
    return match["wearer"] or match["odd_wearer"], int(match["day"] or match["odd_day"]), int(match["hour"])
