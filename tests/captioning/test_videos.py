"""Finding clips, whatever their names look like."""

from __future__ import annotations

from pathlib import Path

import pytest

from ray_tasks.captioning.videos import VideoFile, discover_videos, fingerprint
from ray_tasks.corpus.problems import CorpusError
from ray_tasks.corpus.week_time import HOUR_MS, MINUTE_MS, parse_week_time, week_ms


def write(root: Path, *names: str, content: bytes = b"video") -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def kinds(root: Path) -> list[str]:
    return [problem.kind for problem in discover_videos(root).problems]


def test_clips_are_found_in_order_of_wearer_and_time_and_sorted_into_hours(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        "P2_TOBI/DAY2/DAY2_P2_TOBI_09000000.mp4",
        "P1_MARA/DAY10/DAY10_P1_MARA_09000000.mp4",
        "P1_MARA/DAY2/DAY2_P1_MARA_11595810.mp4",
        "P1_MARA/DAY2/DAY2_P1_MARA_11094208.mp4",
        "P1_MARA/DAY2/DAY2_P1_MARA_12000000.mp4",
        "P1_MARA/DAY2/.DAY2_P1_MARA_12003000.mp4",
        ".cache/x.mp4",
    )
    layout = discover_videos(root)
    assert layout.problems == ()
    assert [(clip.wearer, clip.start_ms) for clip in layout.clips] == [
        ("P1_MARA", parse_week_time("DAY2 11094208")),
        ("P1_MARA", parse_week_time("DAY2 11595810")),
        ("P1_MARA", parse_week_time("DAY2 12000000")),
        ("P1_MARA", parse_week_time("DAY10 09000000")),
        ("P2_TOBI", parse_week_time("DAY2 09000000")),
    ]
    assert {shard: len(clips) for shard, clips in layout.by_hour().items()} == {
        ("P1_MARA", 2, 11): 2,
        ("P1_MARA", 2, 12): 1,
        ("P1_MARA", 10, 9): 1,
        ("P2_TOBI", 2, 9): 1,
    }
    assert layout.clips[0].label == "P1_MARA/DAY2/DAY2_P1_MARA_11094208.mp4"


@pytest.mark.parametrize(
    ("name", "clock_ms", "problem"),
    [
        ("DAY6_P1_MARA_10000000.mp4", 10 * HOUR_MS, None),
        ("P1_MARA_DAY6_10000000.MP4", 10 * HOUR_MS, None),
        ("p1_mara_day06_9300000.mp4", 9 * HOUR_MS + 30 * MINUTE_MS, None),
        ("P1_MARA_DAY6_100000.mp4", 10 * HOUR_MS, None),
        ("DAY6_P2_TOBI_10000000.mp4", 10 * HOUR_MS, "name_disagrees"),
        ("DAY5_P1_MARA_10000000.mp4", 10 * HOUR_MS, "name_disagrees"),
        ("10000000.mp4", 10 * HOUR_MS, "name_disagrees"),
    ],
)
def test_the_folder_says_whose_and_the_last_number_when(
    tmp_path: Path, name: str, clock_ms: int, problem: str | None
) -> None:
    layout = discover_videos(write(tmp_path, f"P1_MARA/DAY6/{name}"))
    (clip,) = layout.clips
    assert (clip.wearer, clip.day, clip.start_ms) == ("P1_MARA", 6, week_ms(6, clock_ms))
    assert [found.kind for found in layout.problems] == ([problem] if problem else [])


def test_what_is_no_clip_is_told_and_not_read(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        "P1_MARA/DAY1/DAY1_P1_MARA_10000000.mp4",
        "P1_MARA/DAY1/DAY1_P1_MARA_10003000.avi",
        "P1_MARA/DAY1/DAY1_P1_MARA_25000000.mp4",
        "P1_MARA/DAY1/kitchen.mp4",
        "P1_MARA/misc/DAY1_P1_MARA_10000000.mp4",
        "P1_MARA/notes.txt",
        "readme.txt",
    )
    (root / "P1_MARA/DAY1/DAY1_P1_MARA_11000000.mp4").mkdir()
    (root / "P1_MARA/DAY3").write_text("")
    assert len(discover_videos(root).clips) == 1
    assert sorted(kinds(root)) == [
        "misplaced",
        "misplaced",
        "misplaced",
        "not_a_file",
        "unknown_day",
        "unknown_day",
        "unreadable_name",
        "unreadable_name",
    ]
    places = {problem.file for problem in discover_videos(root).problems}
    assert {"P1_MARA/DAY1/kitchen.mp4", "P1_MARA/misc", "P1_MARA/DAY3", "readme.txt"} <= places


def test_of_two_clips_with_one_start_the_regular_name_is_read(tmp_path: Path) -> None:
    root = write(tmp_path, "P1_MARA/DAY1/DAY1_P1_MARA_10000000.mp4", "P1_MARA/DAY1/DAY1_P1_MARA_copy_10000000.mp4")
    layout = discover_videos(root)
    assert [clip.path.name for clip in layout.clips] == ["DAY1_P1_MARA_10000000.mp4"]
    assert [problem.kind for problem in layout.problems] == ["duplicate_clip"]


def test_only_what_is_asked_for_is_given(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        "P1_MARA/DAY1/DAY1_P1_MARA_10000000.mp4",
        "P1_MARA/DAY2/DAY2_P1_MARA_10000000.mp4",
        "P2_TOBI/DAY1/DAY1_P2_TOBI_10000000.mp4",
        "P2_TOBI/DAY1/x.txt",
    )
    layout = discover_videos(root, ["P1_MARA"], ["DAY2"])
    assert [clip.shard for clip in layout.clips] == [("P1_MARA", 2, 10)]
    assert layout.problems == ()
    assert len(discover_videos(root, days=[1]).clips) == 2


def test_a_wearer_without_clips_is_told_beside_those_who_have_some(tmp_path: Path) -> None:
    root = write(tmp_path, "P1_MARA/DAY1/DAY1_P1_MARA_10000000.mp4")
    layout = discover_videos(root, ["P1_MARA", "P3_INES"])
    assert [(problem.kind, problem.file) for problem in layout.problems] == [("no_video", "P3_INES")]


def test_a_folder_without_clips_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"no such folder; expected clips in \{wearer\}/DAYn"):
        discover_videos(tmp_path / "absent")
    with pytest.raises(CorpusError, match="no video clips found"):
        discover_videos(tmp_path)
    write(tmp_path, "P1_MARA/DAY1/DAY1_P1_MARA_10000000.mov")
    with pytest.raises(CorpusError, match=r"no video clips found.*is no \.mp4 file"):
        discover_videos(tmp_path)
    write(tmp_path, "P1_MARA/DAY1/DAY1_P1_MARA_10000000.mp4")
    with pytest.raises(CorpusError, match="there are P1_MARA DAY1"):
        discover_videos(tmp_path, ["P3_INES"])
    with pytest.raises(CorpusError, match="not a day label"):
        discover_videos(tmp_path, days=["Monday"])


def clip_at(path: Path) -> VideoFile:
    return VideoFile(path, "P1_MARA", 1, 10, 0)


def test_a_fingerprint_tells_contents_apart(tmp_path: Path) -> None:
    base = bytes(range(256)) * 16_000
    contents = [base, base + b"x", b"x" + base[1:], base[:-1] + b"x", base[:100], b"", b"x"]
    prints = []
    for number, content in enumerate(contents):
        (tmp_path / f"{number}.mp4").write_bytes(content)
        prints.append(fingerprint(clip_at(tmp_path / f"{number}.mp4")))
    assert len(set(prints)) == len(contents)
    (tmp_path / "again.mp4").write_bytes(base)
    assert fingerprint(clip_at(tmp_path / "again.mp4")) == prints[0]
    with pytest.raises(CorpusError, match=r"absent\.mp4: cannot be read"):
        fingerprint(clip_at(tmp_path / "absent.mp4"))
