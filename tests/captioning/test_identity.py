"""Which notes on the looks of people apply when."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.captioning.identity import Identities, Identity, load_identities
from ray_tasks.corpus.problems import CorpusError
from ray_tasks.corpus.week_time import HOUR_MS, MINUTE_MS, parse_week_time, week_ms

MARA = "P1_MARA"


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def chosen(identities: Identities, when: str, wearer: str = MARA) -> str | None:
    identity = identities.choose(wearer, parse_week_time(when))
    return identity.text if identity else None


def test_the_scene_that_covers_a_time_else_the_nearest_of_the_day_else_none(tmp_path: Path) -> None:
    identities = load_identities(
        write(
            tmp_path,
            {
                "P1_MARA_DAY1_09000000-11000000.txt": "morning",
                "P1_MARA_DAY1_13000000-17000000.txt": "afternoon",
                "P1_MARA_DAY1_14000000-14300000.txt": "bath",
                "P2_TOBI_DAY2_09000000-11000000.txt": "tobi",
            },
        )
    )
    assert identities.problems == ()
    assert chosen(identities, "DAY1 09000000") == chosen(identities, "DAY1 11000000") == "morning"
    assert chosen(identities, "DAY1 13000000") == "afternoon"
    assert chosen(identities, "DAY1 14150000") == "bath"
    assert chosen(identities, "DAY1 11590000") == chosen(identities, "DAY1 12000000") == "morning"
    assert chosen(identities, "DAY1 12000100") == "afternoon"
    assert chosen(identities, "DAY1 23000000") == "afternoon"
    assert chosen(identities, "DAY2 10000000") is None
    assert chosen(identities, "DAY2 10000000", "P2_TOBI") == "tobi"


def test_comments_and_blank_lines_are_left_out(tmp_path: Path) -> None:
    text = "# Who wears the camera\nI am Mara.\n\n  # others\n  Tobi - green coat  \r\n"
    identities = load_identities(write(tmp_path, {"P1_MARA_DAY1_09000000-11000000.txt": text}))
    assert chosen(identities, "DAY1 10000000") == "I am Mara.\nTobi - green coat"


def test_other_encodings_are_read_and_what_cannot_be_used_is_told(tmp_path: Path) -> None:
    identities = load_identities(
        write(
            tmp_path,
            {
                "P1_MARA_DAY1_09000000-11000000.txt": "Tobi - café".encode("utf-16"),
                "P1_MARA_DAY2_09000000-11000000.txt": "Ines 穿着绿色的外套，在门口等我们。".encode("gb18030"),
                "P1_MARA_DAY3_09000000-11000000.txt": b"Tobi \xff\xfe\xfa coat",
                "P1_MARA_DAY4_09000000-11000000.txt": "# only a comment\n",
                "P1_MARA_DAY5_11000000-09000000.txt": "reversed",
                "P1_MARA_DAY5_25000000-26000000.txt": "no such hour",
                "P1_MARA_DAY6.txt": "no times",
                "P1_MARA_DAY7_09000000-11000000.md": "no text file",
                ".hidden": "",
            },
        )
    )
    assert chosen(identities, "DAY1 10000000") == "Tobi - café"
    assert chosen(identities, "DAY2 10000000") == "Ines 穿着绿色的外套，在门口等我们。"
    assert len(identities.files) == 2
    assert {problem.file: problem.kind for problem in identities.problems} == {
        "P1_MARA_DAY3_09000000-11000000.txt": "bad_bytes",
        "P1_MARA_DAY4_09000000-11000000.txt": "empty_file",
        "P1_MARA_DAY5_11000000-09000000.txt": "reversed",
        "P1_MARA_DAY5_25000000-26000000.txt": "unreadable_name",
        "P1_MARA_DAY6.txt": "unreadable_name",
        "P1_MARA_DAY7_09000000-11000000.md": "unreadable_name",
    }


def test_without_a_folder_nobody_is_known_and_a_wrong_folder_is_an_error(tmp_path: Path) -> None:
    assert load_identities(None) == Identities()
    assert Identities().for_hour(MARA, 1, 9) == "none"
    with pytest.raises(CorpusError, match="name a folder of identity files"):
        load_identities(tmp_path / "absent")


def test_only_the_wearers_who_are_asked_for_are_kept(tmp_path: Path) -> None:
    write(tmp_path, {"P1_MARA_DAY1_09000000-11000000.txt": "a", "P2_TOBI_DAY1_09000000-11000000.txt": "b"})
    assert [identity.wearer for identity in load_identities(tmp_path, ["P2_TOBI"]).files] == ["P2_TOBI"]


def scene(start_minute: int, length: int, text: str = "x", day: int = 1) -> Identity:
    start = week_ms(day, start_minute * MINUTE_MS)
    return Identity(f"{start}-{length}-{text}", MARA, start, start + length * MINUTE_MS, text)


def test_a_changed_file_changes_only_the_hours_it_may_be_chosen_for() -> None:
    before = Identities((scene(540, 60, "nine"), scene(840, 60, "two")))
    after = Identities((scene(540, 60, "nine"), scene(840, 60, "two, mended")))
    other_day = Identities((*before.files, scene(540, 60, "nine", day=3)))
    hours = range(24)
    same = [before.for_hour(MARA, 1, hour) == after.for_hour(MARA, 1, hour) for hour in hours]
    assert same[:10] == [True] * 10
    assert same[12:] == [False] * 12
    assert all(before.for_hour(MARA, 1, hour) == other_day.for_hour(MARA, 1, hour) for hour in range(22))


scenes = st.lists(st.tuples(st.integers(0, 1380), st.integers(0, 59)), max_size=4, unique=True)


@given(scenes, scenes, st.integers(0, 23), st.lists(st.integers(0, 2 * HOUR_MS), max_size=20))
def test_hours_with_one_digest_choose_alike(
    left: list[tuple[int, int]], right: list[tuple[int, int]], hour: int, offsets: list[int]
) -> None:
    one, other = (Identities(tuple(scene(*row) for row in rows)) for rows in (left, left + right))
    if one.for_hour(MARA, 1, hour) == other.for_hour(MARA, 1, hour):
        moments = [week_ms(1, hour * HOUR_MS + offset) for offset in offsets]
        assert [one.choose(MARA, ms) for ms in moments] == [other.choose(MARA, ms) for ms in moments]
