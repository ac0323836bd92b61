"""Clips to windows of pictures: the right frames, of whole and of broken files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ray_tasks.captioning import decode
from ray_tasks.captioning.container import list_packets
from ray_tasks.captioning.settings import VideoSettings
from tests.captioning.clips import WriteClip, image_of, read, shown, time_of

LONG = [index / 4 for index in range(130)]


def test_a_clip_of_thirty_seconds_gives_two_windows_of_a_picture_a_second(write_clip: WriteClip) -> None:
    windows, end = read(write_clip("a.mp4", 30))
    assert shown(windows) == [
        (1, 0, 15_000, [float(second) for second in range(15)]),
        (2, 15_000, 30_000, [float(second) for second in range(15, 30)]),
    ]
    assert end == decode.ClipEnd()


def test_the_rest_of_a_clip_is_a_window_of_its_own_from_a_second_on(write_clip: WriteClip) -> None:
    windows, end = read(write_clip("a.mp4", 16))
    assert shown(windows)[1] == (2, 15_000, 16_000, [15.0])
    assert end == decode.ClipEnd()
    windows, end = read(write_clip("b.mp4", 15.75))
    assert [window.number for window in windows] == [1]
    assert end == decode.ClipEnd(filtered="short_tail")


def test_a_clip_of_less_than_a_second_is_not_described(write_clip: WriteClip) -> None:
    windows, end = read(write_clip("a.mp4", 0.75))
    assert windows == []
    assert (end.failed, end.filtered, end.oddities[0][0]) == (None, "short_clip", "short_clip")


@pytest.mark.parametrize("gop", [1, 3, 6, 250])
def test_the_same_frames_come_out_however_far_key_frames_are_apart(write_clip: WriteClip, gop: int) -> None:
    windows, _ = read(write_clip("a.mp4", 9, gop=gop), window_s=4)
    assert [times for *_, times in shown(windows)] == [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0]]


def test_little_is_decoded_where_key_frames_are_near(write_clip: WriteClip) -> None:
    clip = write_clip("a.mp4", 12, gop=4)
    listing = list_packets(clip, 60)
    reading = decode._Reading(clip, VideoSettings(), listing)
    stretches = decode._needed(listing, reading.plan(listing.times))
    assert sum(len(stretch) for stretch in stretches) == 12 < len(listing.packets) == 48


def test_frames_of_a_variable_rate_are_taken_by_their_time(write_clip: WriteClip) -> None:
    times = [0, 0.25, 0.5, 3.25, 3.5, 5.75, 6.0, 6.25, 11]
    windows, _ = read(write_clip("a.mp4", times=times), window_s=6)
    assert shown(windows) == [(1, 0, 6000, [0.0, 3.25, 5.75]), (2, 6000, windows[1].end_ms, [6.0, 11.0])]
    assert 11_000 < windows[1].end_ms <= 12_000


def test_several_pictures_a_second(write_clip: WriteClip) -> None:
    windows, _ = read(write_clip("a.mp4", 3), pictures_per_second=2)
    assert shown(windows) == [(1, 0, 3000, [0.0, 0.5, 1.0, 1.5, 2.0, 2.5])]


def test_the_same_file_gives_the_same_bytes(write_clip: WriteClip) -> None:
    clip = write_clip("a.mp4", 3)
    assert read(clip) == read(clip)


def left_half_white(_: float) -> np.ndarray:
    picture = np.zeros((48, 64, 3), np.uint8)
    picture[:24, :32] = 255
    return picture


def bright_corner(picture: bytes) -> str:
    """Which quarter of a picture is bright."""
    image = np.asarray(image_of(picture).convert("L"), np.float64)
    height, width = image.shape
    quarters = {
        f"{row} {column}": image[y : y + height // 2, x : x + width // 2].mean()
        for row, y in (("top", 0), ("bottom", height // 2))
        for column, x in (("left", 0), ("right", width // 2))
    }
    return max(quarters, key=quarters.__getitem__)


@pytest.mark.parametrize(
    ("degrees", "flipped", "size", "corner"),
    [
        (None, False, (64, 48), "top left"),
        (90, False, (48, 64), "bottom left"),
        (180, False, (64, 48), "bottom right"),
        (-90, False, (48, 64), "top right"),
        (0, True, (64, 48), "top right"),
    ],
)
def test_pictures_stand_upright(
    write_clip: WriteClip, degrees: float | None, flipped: bool, size: tuple[int, int], corner: str
) -> None:
    clip = write_clip("a.mp4", 2, picture=left_half_white, degrees=degrees, flipped=flipped)
    ((picture, *_),) = [window.pictures for window in read(clip)[0]]
    assert image_of(picture).size == size
    assert bright_corner(picture) == corner


def test_pictures_are_made_smaller_but_never_larger(write_clip: WriteClip) -> None:
    clip = write_clip("a.mp4", 1, size=(96, 48))
    sizes = [image_of(read(clip, longest_side=side)[0][0].pictures[0]).size for side in (32, 48, 768)]
    assert sizes == [(32, 16), (48, 24), (96, 48)]


def test_a_container_longer_than_its_video_ends_with_the_video(write_clip: WriteClip) -> None:
    windows, end = read(write_clip("a.mp4", 4, audio_s=20))
    assert shown(windows) == [(1, 0, 4000, [0.0, 1.0, 2.0, 3.0])]
    assert end.failed is None


def cut(path: Path, share: float) -> Path:
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    return path


def test_a_file_cut_off_behind_its_index_gives_what_it_holds(write_clip: WriteClip) -> None:
    noise = np.random.default_rng(1)

    def picture(_: float) -> np.ndarray:
        return noise.integers(0, 255, (48, 64, 3), dtype=np.uint8)

    clip = write_clip("a.mp4", 12, options={"movflags": "faststart"}, picture=picture)
    windows, end = read(cut(clip, 0.6), window_s=2)
    assert 2 <= len(windows) < 6
    assert all(window.pictures for window in windows)
    assert end.failed == "cut_short"


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.6])
def test_a_file_without_its_index_fails_as_a_whole(write_clip: WriteClip, share: float) -> None:
    windows, end = read(cut(write_clip("a.mp4", 12), share))
    assert windows == []
    assert end.failed in ("unreadable_video", "no_video_stream", "no_frames")
    assert "fetch it again" in end.oddities[0][1]


@pytest.mark.parametrize("length", [200, 300, 406, 500, 700, 900, 1100, 1300])
def test_a_file_cut_inside_its_first_frame_or_index_harms_nobody(write_clip: WriteClip, length: int) -> None:
    clip = write_clip("a.mp4", 4, options={"movflags": "faststart"})
    clip.write_bytes(clip.read_bytes()[:length])
    assert read(clip)[1].failed


def damaged(path: Path, first: int, last: int) -> Path:
    """Overwrites the packets from one to another, in the order of decoding."""
    import av

    with av.open(str(path)) as file:
        places = [(packet.pos or 0, packet.size) for packet in file.demux(video=0) if packet.size]
    data = bytearray(path.read_bytes())
    for position, size in places[first : last + 1]:
        data[position + 4 : position + size] = b"\xff" * (size - 4)
    path.write_bytes(data)
    return path


def test_damaged_frames_are_never_shown_nor_what_is_built_upon_them(write_clip: WriteClip) -> None:
    clip = damaged(write_clip("a.mp4", 12, gop=8), 17, 18)
    windows, end = read(clip, window_s=4)
    assert sorted(shown(windows)) == [
        (1, 0, 4000, [0.0, 1.0, 2.0, 3.0]),
        (2, 4000, 8000, [4.0, 6.0, 7.0]),
        (3, 8000, 12_000, [8.0, 9.0, 10.0, 11.0]),
    ]
    assert "damaged_frames" in dict(end.oddities)
    assert end.failed is None


def test_a_window_of_damage_only_is_given_without_pictures(write_clip: WriteClip) -> None:
    clip = damaged(write_clip("a.mp4", 12, gop=8), 16, 31)
    windows, _ = read(clip, window_s=4)
    assert sorted(shown(windows)) == [
        (1, 0, 4000, [0.0, 1.0, 2.0, 3.0]),
        (2, 4000, 8000, []),
        (3, 8000, 12_000, [8.0, 9.0, 10.0, 11.0]),
    ]


def test_a_window_ends_where_damage_begins(write_clip: WriteClip) -> None:
    clip = damaged(write_clip("a.mp4", 12, gop=8), 24, 31)
    (window,) = [window for window in read(clip, window_s=4)[0] if window.number == 2]
    assert [time_of(picture) for picture in window.pictures] == [4.0, 5.0]
    assert 5000 < window.end_ms <= 7000


def test_a_file_of_damage_only_fails(write_clip: WriteClip) -> None:
    windows, end = read(damaged(write_clip("a.mp4", 4), 0, 15))
    assert [window.pictures for window in windows] == [()]
    assert "damaged_frames" in dict(end.oddities)


def test_sound_without_video_fails(write_clip: WriteClip) -> None:
    windows, end = read(write_clip("a.mp4", times=[], audio_s=2))
    assert (windows, end.failed) == ([], "no_video_stream")


def test_a_text_named_like_a_clip_fails(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    path.write_text("not a video at all\n" * 50, encoding="utf-8")
    assert read(path)[1].failed == "unreadable_video"
    assert read(tmp_path / "absent.mp4")[1].failed == "unreadable_video"
    assert read(tmp_path)[1].failed == "unreadable_video"


def test_a_playlist_named_like_a_clip_opens_nothing_else(write_clip: WriteClip, tmp_path: Path) -> None:
    write_clip("secret.mp4", 4)
    playlist = tmp_path / "a.mp4"
    playlist.write_text("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nsecret.mp4\n#EXT-X-ENDLIST\n", encoding="utf-8")
    assert read(playlist) == ([], read(playlist)[1])
    assert read(playlist)[1].failed == "unreadable_video"


@pytest.mark.parametrize("container", ["matroska", "mpegts"])
def test_a_container_other_than_its_name_says_is_read(write_clip: WriteClip, container: str) -> None:
    windows, end = read(write_clip("a.mp4", 4, container=container))
    assert [time for window in windows for time in map(time_of, window.pictures)] == [0.0, 1.0, 2.0, 3.0]
    assert end.failed is None


def test_frames_without_times_are_counted_at_the_nominal_rate(write_clip: WriteClip) -> None:
    windows, end = read(write_clip("a.mp4", 100, container="h264"), window_s=8)
    assert sum(len(window.pictures) for window in windows) == 16  # 400 frames at the 25 a second of such files
    assert "no_timestamps" in dict(end.oddities)


def test_what_lies_beyond_the_longest_clip_is_reported_and_not_read(write_clip: WriteClip) -> None:
    windows, end = read(write_clip("a.mp4", times=LONG), longest_clip_s=30)
    assert [window.number for window in windows] == [1, 2]
    assert windows[1].end_ms == 30_000
    assert end.failed == "over_long"


def test_a_late_video_keeps_its_distance_from_the_start(write_clip: WriteClip) -> None:
    late = [2 + index / 4 for index in range(12)]
    windows, _ = read(write_clip("a.mp4", times=late, audio_s=6))
    assert shown(windows) == [(1, 0, 5000, [2.0, 3.0, 4.0])]
