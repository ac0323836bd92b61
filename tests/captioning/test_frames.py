"""Which frames are taken, and what must be decoded for them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.captioning.frames import SECOND_US, Packet, WindowPlan, lay_out, needed_packets


def seconds(*values: float) -> list[int]:
    return [round(value * SECOND_US) for value in values]


def plan(number: int, start: float, end: float, *taken: float) -> WindowPlan:
    return WindowPlan(number, round(start * SECOND_US), round(end * SECOND_US), tuple(seconds(*taken)))


def test_the_first_frame_of_each_second_is_taken() -> None:
    times = seconds(0, 0.4, 0.8, 1.2, 1.6, 2.0)
    assert lay_out(times, window_s=15, last_us=400_000) == [plan(1, 0, 2.4, 0, 1.2, 2.0)]


def test_windows_end_at_their_border_or_with_the_clip() -> None:
    times = seconds(*(index / 2 for index in range(66)))
    windows = lay_out(times, window_s=15, last_us=500_000)
    assert [(w.number, w.start_us, w.end_us) for w in windows] == [
        (1, *seconds(0, 15)),
        (2, *seconds(15, 30)),
        (3, *seconds(30, 33)),
    ]
    assert [len(w.taken) for w in windows] == [15, 15, 3]


def test_a_second_without_a_new_frame_has_no_picture_but_a_still_picture_lasts() -> None:
    assert lay_out(seconds(0, 0.2, 9.9), window_s=5, last_us=100_000) == [plan(1, 0, 5, 0), plan(2, 5, 10, 9.9)]


def test_a_window_without_frames_is_left_out_and_numbers_tell_the_time() -> None:
    assert [w.number for w in lay_out(seconds(1, 61), window_s=15)] == [1, 5]


def test_frames_among_damage_last_no_longer_than_told() -> None:
    assert lay_out(seconds(0, 1, 2, 40), window_s=15, shown_us=SECOND_US)[0] == plan(1, 0, 3, 0, 1, 2)


def test_several_pictures_a_second() -> None:
    times = seconds(*(index / 8 for index in range(16)))
    assert lay_out(times, window_s=15, pictures_per_second=2, last_us=125_000) == [plan(1, 0, 2, 0, 0.5, 1, 1.5)]


def test_nothing_lies_in_no_window() -> None:
    assert lay_out([], window_s=15) == []


@given(st.lists(st.integers(0, 100 * SECOND_US), min_size=1), st.integers(1, 30), st.integers(1, 10))
def test_every_window_holds_its_frames_and_no_more_pictures_than_asked(times: list[int], width: int, rate: int) -> None:
    windows = lay_out(times, window_s=width, pictures_per_second=rate)
    for window in windows:
        assert window.start_us == (window.number - 1) * width * SECOND_US
        assert window.start_us <= window.taken[0] <= window.taken[-1] < window.end_us
        assert window.end_us <= window.start_us + width * SECOND_US
        assert len({time * rate // SECOND_US for time in window.taken}) == len(window.taken) <= width * rate
        assert set(window.taken) <= set(times)
    assert {time // (width * SECOND_US) + 1 for time in times} == {window.number for window in windows}


def packets(*rows: tuple[float, bool]) -> list[Packet]:
    return [Packet(round(start * SECOND_US), key) for start, key in rows]


def test_only_the_group_up_to_the_wanted_frame_is_decoded() -> None:
    listed = packets((0, True), (1, False), (2, False), (3, True), (4, False), (5, True), (6, False))
    assert needed_packets(listed, frozenset(seconds(1, 6))) == [[0, 1], [5, 6]]


def test_stretches_that_touch_are_one() -> None:
    listed = packets((0, True), (1, False), (2, True), (3, False))
    assert needed_packets(listed, frozenset(seconds(0, 1, 2))) == [[0, 1, 2]]
    assert needed_packets(listed, frozenset(seconds(1, 3))) == [[0, 1, 2, 3]]


def test_a_frame_shown_before_the_key_it_is_stored_after_needs_the_key_before() -> None:
    listed = packets((0, True), (1, False), (3, True), (2, False), (4, False))
    assert needed_packets(listed, frozenset(seconds(2))) == [[0, 1, 2, 3]]


def test_without_a_key_packet_decoding_begins_with_the_file() -> None:
    assert needed_packets(packets((0, False), (1, False)), frozenset(seconds(1))) == [[0, 1]]


def test_packets_upon_which_nothing_is_built_are_left_out() -> None:
    listed = [*packets((0, True), (2, False)), Packet(SECOND_US, False, spare=True), Packet(3 * SECOND_US, False)]
    assert needed_packets(listed, frozenset(seconds(3))) == [[0, 1, 3]]
    assert needed_packets(listed, frozenset(seconds(1, 3))) == [[0, 1, 2, 3]]


def test_what_an_edit_list_cuts_away_is_not_wanted() -> None:
    hidden = [Packet(0, True, shown=False), Packet(0, False)]
    assert needed_packets(hidden, frozenset([0])) == [[0, 1]]
    assert needed_packets(hidden[:1], frozenset([0])) == []
