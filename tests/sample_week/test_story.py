"""The script: what it says of people and places holds together, and slips in it are told with file and scene."""

from __future__ import annotations

from typing import Any

import pytest

from sample_week import story
from sample_week.staging import stage_day
from sample_week.story import Span, StoryError, Words, load_week, split_words

DAY: dict[str, Any] = {
    "day": 1,
    "recorded": {"Mara": ["09:00-12:00"], "Tobi": ["09:00-10:00"]},
    "stretches": ["09:00-09:30 kitchen: Mara, Tobi"],
    "scenes": [{"title": "Hello", "when": "09:05 kitchen: Mara, Tobi", "beats": [{"Mara": "Good morning."}]}],
}
HEAD = {
    "wearers": {"Mara": "B1_MARA", "Tobi": "B2_TOBI"},
    "guests": ["Ines"],
    "chinese_names": {},
    "sync": ["Mara"],
    "reserved": [],
    "days": ["day.yaml"],
}


def week_of(monkeypatch: pytest.MonkeyPatch, **changes: object) -> story.Week:
    files = {"week.yaml": HEAD, "day.yaml": {**DAY, **changes}}
    monkeypatch.setattr(story, "read_yaml", files.__getitem__)
    return load_week()


def scene(*beats: dict[str, str], when: str = "09:05 kitchen: Mara, Tobi") -> list[dict[str, Any]]:
    return [{"title": "Slip", "when": when, "beats": list(beats)}]


def test_english_and_chinese_are_told_apart() -> None:
    assert split_words("The kettle is on. | 水烧上了。") == Words("The kettle is on.", "水烧上了。")
    assert split_words("No translation here.") == Words("No translation here.")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scenes": scene({"Ines": "Hello."})}, "'Ines' is not in this scene"),
        ({"scenes": scene({"Ines sees": "A hat."}, when="09:05 kitchen: Mara, Ines")}, "Ines has no camera"),
        ({"scenes": scene({"Mara": "Yes.", "Tobi": "No."})}, "either seen or said by one person"),
        ({"scenes": scene({"id": "nothing"})}, "either seen or said by one person"),
        ({"scenes": scene({"at": "soon", "Mara": "Yes."})}, "minutes:seconds"),
        ({"scenes": scene({"Mara": "Yes."}, when="09:05 kitchen: Mara, Olga")}, r"unknown people \['Olga'\]"),
        ({"scenes": scene({"Mara": "Yes."}, when="early, kitchen")}, "expected 'HH:MM place: people'"),
        ({"scenes": scene({"Mara": "A.", "id": "x"}, {"Mara": "B.", "id": "x"})}, "is used twice: 'x'"),
        ({"stretches": ["09:00-09:30 kitchen: Mara", "09:20-09:40 yard: Mara"]}, "Mara is in two stretches at once"),
        ({"stretches": ["09:00 kitchen: Mara"]}, "expected 'HH:MM-HH:MM'"),
    ],
)
def test_a_slip_in_the_script_is_told_with_its_file(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(StoryError, match=f"^(day|week)\\.yaml.*{message}"):
        week_of(monkeypatch, **changes)


def test_nobody_can_be_in_two_scenes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    long_talk = scene(*[{"Mara": "And another thing."}] * 30) + scene({"Mara": "Here."}, when="09:06 yard: Mara")
    week = week_of(monkeypatch, scenes=long_talk)
    with pytest.raises(StoryError, match="Mara is still in a scene when 'Slip' begins"):
        stage_day(week, week.days[0])


def test_a_camera_that_is_off_cannot_show_anything_but_its_wearer_may_speak(monkeypatch: pytest.MonkeyPatch) -> None:
    late = "10:30 kitchen: Mara, Tobi"
    week = week_of(monkeypatch, scenes=scene({"Tobi": "Nobody films me."}, when=late))
    assert [row.wearer for row in stage_day(week, week.days[0]).rows] == ["B1_MARA"]
    week = week_of(monkeypatch, scenes=scene({"Tobi sees": "A wall."}, when=late))
    with pytest.raises(StoryError, match="Tobi films nothing at 'A wall"):
        stage_day(week, week.days[0])


def test_a_beat_cannot_be_dated_before_the_one_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    week = week_of(monkeypatch, scenes=scene({"at": "2:00", "Mara": "Later."}, {"at": "1:00", "Mara": "Sooner."}))
    with pytest.raises(StoryError, match="comes too early"):
        stage_day(week, week.days[0])


def test_both_wearers_record_a_shared_word_a_moment_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    week = week_of(monkeypatch)
    mara, tobi = stage_day(week, week.days[0]).rows
    assert (mara.speaker, mara.words) == (tobi.speaker, tobi.words) == ("Mara", Words("Good morning."))
    assert 0 < tobi.start_ms - mara.start_ms < 1_000


def test_spans_that_touch_do_not_meet() -> None:
    assert not Span(0, 10).meets(Span(10, 20))
    assert Span(0, 11).meets(Span(10, 20))
    assert Span(0, 10).holds(0, 9)
    assert not Span(0, 10).holds(0, 10)
