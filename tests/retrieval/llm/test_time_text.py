"""Times in every shape that models write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS, format_week_time, parse_week_time, week_ms
from ray_tasks.retrieval.llm.time_text import ReadTime, TimeTextError, read_time

NOW = "DAY3 15300000"
AT = parse_week_time(NOW)


def span(start: str, end: str | None = None) -> tuple[int, int]:
    return parse_week_time(start), parse_week_time(end or start)


def day(first: int, last: int | None = None) -> tuple[int, int]:
    return week_ms(first), min(week_ms((last or first) + 1) - 1, AT)


@pytest.mark.parametrize(
    "text",
    [
        "DAY1 11:15",
        "DAY1 11:15:00",
        "day 1, 11:15",
        "Day1 at 11.15",
        "DAY1_11150000",
        "DAY1 111500",
        "DAY1 11150000",
        "DAY1T11:15",
        "DAY1 1115",
        "DAY1 11h15",
        "DAY1 11:15 am",
        "around DAY1 11:15",
        "DAY1, approximately 11:15",
        "[DAY1 11:15]",
        "11:15 on day 1",
        "DAY1 11:15 - DAY1 11:15",
    ],
)
def test_points(text: str) -> None:
    read = read_time(text, AT)
    assert read == ReadTime(*span("DAY1 11150000"))


@pytest.mark.parametrize(
    "text",
    [
        "DAY2 12000000-18000000",
        "DAY2 18000000-12000000",
        "DAY2 12:00 to DAY2 18:00",
        "DAY2 18:00 to DAY2 12:00",
        "DAY2 12:00 ~ 18:00",
        "DAY2 12:00–18:00",
        "DAY2 12-18",
        "DAY2 12 pm until 6 pm",
        "between DAY2 12:00 and DAY2 18:00",
        "from day 2 12:00 through 18:00",
        "DAY2 12000000 → DAY2 18000000",
        "DAY2_12000000_18000000",
        "12:00 to DAY2 18:00",
        "DAY2 from 12:00 to 18:00",
    ],
)
def test_ranges(text: str) -> None:
    assert read_time(text, AT) == ReadTime(*span("DAY2 12000000", "DAY2 18000000"))


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("DAY2", day(2)),
        ("Day 2", day(2)),
        ("on DAY2", day(2)),
        ("all day DAY2", day(2)),
        ("DAY1-DAY2", day(1, 2)),
        ("DAY2 to DAY1", day(1, 2)),
        ("DAY1-2", day(1, 2)),
        ("DAY2 9300000", span("DAY2 09300000")),
        ("9300000", span("DAY3 09300000")),
        ("11:15", span("DAY3 11150000")),
        ("16:00", span("DAY2 16000000")),
        ("DAY1 22:00-01:00", span("DAY1 22000000", "DAY2 01000000")),
        ("before DAY2 12:00", (0, parse_week_time("DAY2 12000000"))),
        ("after DAY1 18:00", (parse_week_time("DAY1 18000000"), AT)),
        ("since yesterday", (week_ms(2), AT)),
        ("DAY1 to now", (0, AT)),
        ("now", (AT, AT)),
        ("the last time", (AT, AT)),
        ("first", (0, 0)),
        ("this morning", (week_ms(3), week_ms(3) + 43_920_000)),
        ("yesterday afternoon", (week_ms(2) + 12 * HOUR_MS, week_ms(2) + 66_960_000)),
        ("DAY2 afternoon", (week_ms(2) + 12 * HOUR_MS, week_ms(2) + 66_960_000)),
        ("two hours ago", (AT - 9_000_000, AT - 5_400_000)),
        ("DAY1 10:00, DAY2 11:00, DAY1 09:00", span("DAY1 09000000", "DAY2 11000000")),
    ],
)
def test_days_times_of_day_and_phrases(text: str, window: tuple[int, int]) -> None:
    assert read_time(text, AT) == ReadTime(*window)


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("ＤＡＹ１　１１：１５", "DAY1 11:15"),
        ("DAY2，12：00～18：00", "DAY2 12:00 to 18:00"),
        ("DAY1、DAY2", "DAY1 to DAY2"),
        ("DAY2 12:00至18:00", "DAY2 12:00 to 18:00"),
        ("DAY2 12:00到DAY2 18:00", "DAY2 12:00 to 18:00"),
        ("第二天", "DAY2"),
        ("第2天 11:15", "DAY2 11:15"),
        ("DAY二 十一点十五分", "DAY2 11:15"),
        ("DAY1 11點半", "DAY1 11:30"),
        ("DAY2 下午3点", "DAY2 15:00"),
        ("第一天晚上八点到第二天中午十二点", "DAY1 20:00 to DAY2 12:00"),
        ("DAY2 上午", "DAY2 morning"),
        ("今天早上", "this morning"),
        ("昨天下午", "yesterday afternoon"),
        ("前天", "the day before yesterday"),
        ("现在", "now"),
    ],
)
def test_full_width_signs_and_chinese_words_are_read_as_their_english(text: str, same_as: str) -> None:
    read = read_time(text, AT)
    assert read is not None
    assert read.window == read_time(same_as, AT).window  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("['DAY1 11:15', 'DAY2 12:00']", "DAY1 11:15 to DAY2 12:00"),
        ('["DAY1 11:15"]', "DAY1 11:15"),
        ("DAY1 11:15; DAY2 12:00", "DAY1 11:15 to DAY2 12:00"),
        ("DAY2 12:00-18:00, DAY3 12:00", "DAY2 12:00 to DAY3 12:00"),
        ("start=DAY1 11:15, end=DAY1 12:00", "DAY1 11:15 to 12:00"),
        ("t_start = DAY1 11:15; t_end = DAY1 12:00", "DAY1 11:15 to 12:00"),
        ("DAY1 <= t <= DAY2", "DAY1 to DAY2"),
        ("days 1-2", "DAY1 to DAY2"),
        ("Day Two", "DAY2"),
        ("D2 12:00", "DAY2 12:00"),
        ("DAY1: 11:15-12:00", "DAY1 11:15 to 12:00"),
        ("DAY1:11:15", "DAY1 11:15"),
        ("DAY2T12:00:00-T18:00:00", "DAY2 12:00 to 18:00"),
        ("DAY2 12:00:00Z", "DAY2 12:00"),
        ("DAY2 (evening)", "DAY2 evening"),
        ("DAY2 pm", "DAY2 12:00 to 24:00"),
        ("beginning of DAY1", "DAY1"),
    ],
)
def test_lists_and_spellings(text: str, same_as: str) -> None:
    read = read_time(text, AT)
    assert read is not None
    assert read.window == read_time(same_as, AT).window  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("until DAY1 12:00", (0, parse_week_time("DAY1 12000000"))),
        ("up to DAY1 12:00", (0, parse_week_time("DAY1 12000000"))),
        ("start - DAY1 12:00", (0, parse_week_time("DAY1 12000000"))),
        ("<= DAY1 12:00", (0, parse_week_time("DAY1 12000000"))),
        (">= DAY1 12:00", (parse_week_time("DAY1 12000000"), AT)),
        ("DAY1 12:00 onwards", (parse_week_time("DAY1 12000000"), AT)),
        ("from DAY1 12:00 on", (parse_week_time("DAY1 12000000"), AT)),
        ("DAY1 12:00 - end", (parse_week_time("DAY1 12000000"), AT)),
        ("DAY1 12:00-present", (parse_week_time("DAY1 12000000"), AT)),
        ("DAY1+", (0, AT)),
        ("the past two days", (AT - 2 * DAY_MS, AT)),
        ("last 3 hours", (AT - 3 * HOUR_MS, AT)),
        ("past hour", (AT - HOUR_MS, AT)),
        ("at the time of the question", (AT, AT)),
    ],
)
def test_windows_that_are_open_on_one_side_reach_to_the_question_or_the_beginning(
    text: str, window: tuple[int, int]
) -> None:
    assert read_time(text, AT) == ReadTime(*window)


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("DAY5", (AT, AT)),
        ("DAY3 16:00", (AT, AT)),
        ("DAY3 15:00 to 16:00", (parse_week_time("DAY3 15000000"), AT)),
        ("DAY1 00:00 - DAY7 23:59", (0, AT)),
        ("this evening", (AT, AT)),
        ("DAY5 morning", (AT, AT)),
        ("tomorrow", (AT, AT)),
    ],
)
def test_what_lies_after_the_question_is_cut_to_it(text: str, window: tuple[int, int]) -> None:
    assert read_time(text, AT) == ReadTime(*window, cut=True)


@pytest.mark.parametrize("text", ["", "  ", "none", "None.", "null", "N/A", "any time"])
def test_no_time_is_none(text: str) -> None:
    assert read_time(text, AT) is None


@pytest.mark.parametrize(
    "text",
    [
        "DAYn HHMMSSFF",
        "DAY0",
        "DAY2 25:00",
        "DAY2 12:75",
        "99999999",
        "Monday",
        "2024-05-01",
        "12-18",
        "when Mara came",
        "DAY1 11:15 minus two hours",
        "DAY1 11:15 when Mara came",
        "DAY1 11:15 ± 10 min",
        "第几天",
        "DAY二十五点",
        "x" * 500,
    ],
)
def test_what_cannot_be_read_is_an_error_that_says_how_to_write_it(text: str) -> None:
    with pytest.raises(TimeTextError, match="DAY1 11:15"):
        read_time(text, AT)


WORDS = st.one_of(
    st.sampled_from(["DAY1", "DAY2", "DAY9", "day", "DAY", "3", "0", "7", "11:15", "12000000", "9300000", "25:00"]),
    st.sampled_from(["to", "-", "~", ",", "_", ":", ".", "between", "from", "and", "before", "after", "now", "last"]),
    st.sampled_from(["morning", "yesterday", "this", "am", "pm", "ago", "hours", "99999", "１２", "½", "Ⅻ", "²", "一"]),
    st.sampled_from(["第", "天", "点", "半", "十", "下午", "到", "、", ">", "<=", "onwards", "end", "past", "T", "d"]),
)


@given(
    st.one_of(st.text(max_size=80), st.lists(WORDS, max_size=8).map(" ".join), st.lists(WORDS, max_size=6).map("".join))
)
def test_any_text_is_a_window_before_the_question_or_a_plain_error(text: str) -> None:
    try:
        read = read_time(text, AT)
    except TimeTextError:
        return
    assert read is None or 0 <= read.start_ms <= read.end_ms <= AT


@given(
    st.integers(0, 5 * DAY_MS // 50), st.integers(0, 5 * DAY_MS // 50), st.sampled_from([" to ", "-", " ~ ", " until "])
)
def test_any_two_written_points_give_the_window_between_them(one: int, other: int, separator: str) -> None:
    at = 6 * DAY_MS
    first, second = one * 50, other * 50
    read = read_time(f"{format_week_time(first)}{separator}{format_week_time(second)}", at)
    assert read == ReadTime(min(first, second), max(first, second))
