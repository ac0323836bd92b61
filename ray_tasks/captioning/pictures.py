"""A decoded frame to the picture that is sent: upright, no larger than wanted, JPEG, the same bytes every time."""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from av.video.frame import VideoFrame
    from PIL.Image import Image

_UNIT: Final = 1 << 16
_TURNS: Final[Mapping[tuple[int, ...], str]] = {
    (-1, 0, 0, 1): "FLIP_LEFT_RIGHT",
    (-1, 0, 0, -1): "ROTATE_180",
    (1, 0, 0, -1): "FLIP_TOP_BOTTOM",
    (0, -1, 1, 0): "ROTATE_90",
    (0, 1, -1, 0): "ROTATE_270",
    (0, 1, 1, 0): "TRANSPOSE",
    (0, -1, -1, 0): "TRANSVERSE",
}
"""How a picture is turned (in Pillow's words) by a display matrix a, b, c, d, mapping (x, y) to (ax + cy, bx + dy)."""

_TURNS_BY_TAG: Final[Mapping[str, str]] = {"90": "ROTATE_270", "180": "ROTATE_180", "270": "ROTATE_90"}
"""The same for the `rotate` tag of older files, in degrees clockwise."""


def encode_picture(
    frame: VideoFrame, longest_side: int, quality: int, aspect: Fraction | None = None, rotate_tag: str = ""
) -> bytes:
    """The JPEG of a frame, its longer side at most `longest_side` pixels; `aspect` is a pixel's width by its height.

    The display matrix of the frame says which way is up; the `rotate` tag counts where there is none.
    """
    from av.video.reformatter import Interpolation

    width, height = scaled(max(1, round(frame.width * (aspect or 1))), frame.height, longest_side)
    exact = Interpolation.AREA | Interpolation.ACCURATE_RND | Interpolation.BITEXACT | Interpolation.FULL_CHR_H_INT
    small = frame.reformat(width=width, height=height, format="rgb24", interpolation=int(exact))
    image: Image = small.to_image()  # type: ignore[no-untyped-call]
    out = io.BytesIO()
    _upright(image, _turn(frame, rotate_tag)).save(out, "JPEG", quality=quality)
    return out.getvalue()


def scaled(width: int, height: int, longest_side: int) -> tuple[int, int]:
    """The size of a picture whose longer side is at most `longest_side`; never larger than it is."""
    ratio = min(1.0, longest_side / max(width, height))
    return max(1, round(width * ratio)), max(1, round(height * ratio))


def _turn(frame: VideoFrame, rotate_tag: str) -> str | None:
    """How the frame must be turned to stand upright."""
    sides: Mapping[str, Any] = cast("Any", frame.side_data)  # whose stubs know of motion vectors only
    matrix = sides.get("DISPLAYMATRIX")
    if matrix is None:
        return _TURNS_BY_TAG.get(rotate_tag)
    a, b, _, c, d, *_ = struct.unpack("=9i", bytes(matrix))
    return _TURNS.get(tuple(round(value / _UNIT) for value in (a, b, c, d)))


def _upright(image: Image, turn: str | None) -> Image:
    from PIL.Image import Transpose

    return image.transpose(Transpose[turn]) if turn else image
