"""Small clips whose frames tell by their brightness when they were recorded."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from PIL import Image

from ray_tasks.captioning.decode import ClipEnd, Window, read_clip
from ray_tasks.captioning.settings import VideoSettings

RATE = 4
TICKS = 1000

WriteClip = Callable[..., Path]


def make_clip(
    path: Path,
    times: Sequence[float],
    *,
    size: tuple[int, int] = (64, 48),
    gop: int = 6,
    degrees: float | None = None,
    flipped: bool = False,
    audio_s: float = 0,
    container: str | None = None,
    picture: Callable[[float], np.ndarray] | None = None,
    options: dict[str, str] | None = None,
) -> Path:
    """A clip with frames at these times (seconds), each a clock_face of its time; without times no video."""
    form = container or path.suffix.removeprefix(".")
    with av.open(str(path), "w", format=form, options=options or {}) as file:
        video = (
            file.add_stream("libx264", rate=RATE, options={"bf": "2", "x264-params": "scenecut=0"}) if times else None
        )
        audio = file.add_stream("aac", rate=8000) if audio_s else None
        if video:
            video.width, video.height, video.pix_fmt, video.gop_size = *size, "yuv420p", gop
            video.codec_context.time_base = Fraction(1, TICKS)
            if degrees is not None or flipped:
                video.set_display_rotation(degrees or 0, hflip=flipped)
            for time in times:
                array = picture(time) if picture else clock_face(time, size)
                frame = av.VideoFrame.from_ndarray(array, format="rgb24")
                frame.pts, frame.time_base = round(time * TICKS), Fraction(1, TICKS)
                file.mux(video.encode(frame))
            file.mux(video.encode(None))
        if audio:
            sound = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
            sound.sample_rate = 8000
            for index in range(int(audio_s * 8000 / 1024)):
                sound.pts = index * 1024
                file.mux(audio.encode(sound))
            file.mux(audio.encode(None))
    return path


def clock_face(time: float, size: tuple[int, int]) -> np.ndarray:
    """A picture whose left half is as bright as its second is late, and its right half as its part of a second."""
    picture = np.empty((size[1], size[0], 3), np.uint8)
    picture[:, : size[0] // 2] = min(255, int(time) * 6)
    picture[:, size[0] // 2 :] = round(time % 1 * RATE) * 60
    return picture


def time_of(picture: bytes) -> float:
    """When the frame of a picture was recorded."""
    face = np.asarray(image_of(picture).convert("L"), np.float64)
    half = face.shape[1] // 2
    return round(float(face[:, : half - 4].mean()) / 6) + round(float(face[:, half + 4 :].mean()) / 60) / RATE


def image_of(picture: bytes) -> Image.Image:
    """A JPEG, decoded."""
    image = Image.open(io.BytesIO(picture))
    image.load()
    return image


def read(path: Path, **settings: object) -> tuple[list[Window], ClipEnd]:
    """The windows of a clip and its end, which comes last and once."""
    *windows, end = read_clip(path, VideoSettings(**settings))
    assert isinstance(end, ClipEnd)
    return [window for window in windows if isinstance(window, Window)], end


def shown(windows: Iterable[Window]) -> list[tuple[int, int, int, list[float]]]:
    """(number, start, end, times of its pictures) of windows."""
    return [(w.number, w.start_ms, w.end_ms, [time_of(picture) for picture in w.pictures]) for w in windows]


class ScriptedReader:
    """Gives windows as a test lists them, without any video."""

    def __init__(self, clips: dict[str, Sequence[Window | ClipEnd | BaseException]]) -> None:
        self._clips = clips
        self.stopped = self.closed = False

    def read(self, path: Path) -> Iterator[Window | ClipEnd]:
        for item in self._clips[path.name]:
            if isinstance(item, BaseException):
                raise item
            yield item

    def stop(self) -> None:
        self.stopped = True

    def close(self) -> None:
        self.closed = True
