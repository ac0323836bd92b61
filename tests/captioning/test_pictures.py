"""Frames to JPEG."""

from __future__ import annotations

from fractions import Fraction

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.captioning.pictures import encode_picture, scaled
from tests.captioning.clips import image_of


def frame_with_a_bright_corner() -> av.VideoFrame:
    array = np.zeros((48, 64, 3), np.uint8)
    array[:24, :32] = 255
    return av.VideoFrame.from_ndarray(array, format="rgb24")


@given(st.integers(1, 10_000), st.integers(1, 10_000), st.integers(32, 4096))
def test_a_size_fits_keeps_its_shape_and_never_grows(width: int, height: int, longest: int) -> None:
    wide, high = scaled(width, height, longest)
    assert 1 <= wide <= width
    assert 1 <= high <= height
    assert max(wide, high) <= longest or (wide, high) == (width, height)
    ratio = max(wide, high) / max(width, height)
    assert abs(wide - width * ratio) <= 1
    assert abs(high - height * ratio) <= 1


def test_wide_pixels_make_a_wide_picture() -> None:
    frame = frame_with_a_bright_corner()
    assert image_of(encode_picture(frame, 768, 85, Fraction(3, 2))).size == (96, 48)
    assert image_of(encode_picture(frame, 48, 85, Fraction(3, 2))).size == (48, 24)


@pytest.mark.parametrize(("tag", "bright"), [("", (8, 8)), ("90", (40, 8)), ("180", (56, 40)), ("270", (8, 56))])
def test_an_old_rotate_tag_counts_where_there_is_no_matrix(tag: str, bright: tuple[int, int]) -> None:
    image = image_of(encode_picture(frame_with_a_bright_corner(), 768, 85, None, tag)).convert("L")
    value = image.getpixel(bright)
    assert isinstance(value, int)
    assert value > 200
    assert image.getpixel((image.width - 1 - bright[0], image.height - 1 - bright[1])) == pytest.approx(0, abs=40)


def test_quality_decides_the_size_and_colours_stay() -> None:
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    frame = av.VideoFrame.from_ndarray(noise, format="rgb24")
    assert len(encode_picture(frame, 64, 30)) < len(encode_picture(frame, 64, 90))
    red = av.VideoFrame.from_ndarray(np.full((16, 16, 3), (200, 30, 60), np.uint8), format="rgb24")
    assert image_of(encode_picture(red, 64, 90)).getpixel((8, 8)) == pytest.approx((200, 30, 60), abs=6)
