"""A video file as a list of packets: what is in it and when, told without decoding anything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ray_tasks.captioning.frames import SECOND_US, Packet

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.stream import VideoStream

FORMATS: Final = "mov,matroska,mpegts,avi,mpeg,flv,h264,hevc"
"""Containers that are opened, whatever a file is called. None of them refers to other files or addresses."""

_OPTIONS: Final = {"format_whitelist": FORMATS, "protocol_whitelist": "file"}
_MOST_FRAMES_A_SECOND: Final = 250
_LATEST_BEGIN_US: Final = 60 * SECOND_US
_USUAL_RATE: Final = Fraction(30)
_SLICE, _KEY_SLICE = 1, 5
_COVER_PICTURE: Final = 0x400  # AV_DISPOSITION_ATTACHED_PIC


class UselessClipError(ValueError):
    """A file that gives no frames at all; `kind` is the word under which it is counted."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


@dataclass
class Listing:
    """The packets of a clip in order of decoding, their times counted from the clip's start, and what was odd about it.

    `rate` is frames a second as the file says. `claimed_us` is the length of its video as the file says, or 0, and
    `held_us` that of what is there; `last_us` is for how long the last frame is shown, at most a second. `oddities`
    are details by kind.
    """

    packets: list[Packet] = field(default_factory=list)
    rate: Fraction = _USUAL_RATE
    base_us: int = 0
    claimed_us: int = 0
    held_us: int = 0
    last_us: int = 0
    oddities: dict[str, str] = field(default_factory=dict)

    @property
    def timed(self) -> bool:
        """Whether every packet says when it is shown."""
        return all(packet.start_us is not None for packet in self.packets)

    @property
    def times(self) -> list[int]:
        """When the frames are shown."""
        return [packet.start_us for packet in self.packets if packet.shown and packet.start_us is not None]


@contextmanager
def opened(path: Path) -> Iterator[tuple[InputContainer, VideoStream]]:
    """A file and its first video stream, cover pictures aside; raises UselessClipError where there is none."""
    import av

    try:
        container = av.open(str(path), options=dict(_OPTIONS), metadata_errors="replace")
    except (av.FFmpegError, OSError, ValueError) as error:
        raise UselessClipError("unreadable_video", f"cannot be opened as video ({reason_of(error)})") from error
    with container:
        streams = [stream for stream in container.streams.video if not stream.disposition & _COVER_PICTURE]
        # Without a codec context (a file cut inside its first frame) decoding would bring the process down.
        if not streams or streams[0].codec_context is None:
            raise UselessClipError("no_video_stream", "holds no video that can be decoded")
        yield container, streams[0]


def packets_of(container: InputContainer, stream: VideoStream, oddities: dict[str, str]) -> Iterator[Any]:
    """The packets of a stream up to its end, or to where the file breaks off, which is noted."""
    import av

    try:
        for packet in container.demux(stream):
            if packet.size:
                yield packet
    except (av.FFmpegError, LookupError) as error:  # the latter where damage makes streams appear and vanish
        oddities["breaks_off"] = f"breaks off ({reason_of(error)}); what stands before is used"


def list_packets(path: Path, longest_s: int) -> Listing:
    """What a clip holds, of which frames beyond `longest_s` are not shown; raises UselessClipError."""
    listing = Listing()
    found: list[tuple[int | None, Packet]] = []
    with opened(path) as (container, stream):
        listing.rate = stream.average_rate or stream.guessed_rate or _USUAL_RATE
        listing.claimed_us = microseconds(stream.duration or 0, stream.time_base)
        prefix = _length_bytes(stream)
        for packet in packets_of(container, stream, listing.oddities):
            if len(found) >= longest_s * _MOST_FRAMES_A_SECOND:
                listing.oddities["over_long"] = f"holds more than {len(found)} frames; what comes after is not read"
                break
            start = None if packet.pts is None else microseconds(packet.pts, packet.time_base)
            spare = prefix > 0 and _is_spare(memoryview(packet), prefix)
            found.append((start, Packet(start, packet.is_keyframe, not packet.is_discard, spare)))
            listing.last_us = microseconds(packet.duration or 0, packet.time_base)
        begin = container.start_time
    if not found:
        raise UselessClipError("no_frames", "holds no frames")
    starts = [start for start, packet in found if packet.shown and start is not None]
    first, last = min(starts, default=0), max(starts, default=0)
    listing.base_us = begin if begin is not None and 0 <= first - begin <= _LATEST_BEGIN_US else first
    listing.held_us = last - first + listing.last_us
    listing.last_us = min(listing.last_us or int(SECOND_US / listing.rate), SECOND_US)
    for start, packet in found:
        offset = None if start is None else start - listing.base_us
        late = offset is not None and offset >= longest_s * SECOND_US
        if late and packet.shown:
            listing.oddities["over_long"] = f"is longer than {longest_s} s; what comes after is not read"
        listing.packets.append(replace(packet, start_us=offset, shown=packet.shown and not late))
    return listing


def _length_bytes(stream: VideoStream) -> int:
    """How many bytes tell the length of a unit in the packets of H.264 as mp4 stores it; 0 for everything else."""
    extra = stream.codec_context.extradata
    if stream.codec_context.name != "h264" or not extra or len(extra) < 5 or extra[0] != 1:
        return 0
    return (extra[4] & 3) + 1


def _is_spare(data: memoryview, prefix: int) -> bool:
    """Whether nothing is built upon an H.264 packet: it is sound, and all slices in it have a nal_ref_idc of 0.

    Such packets are most of a usual clip. The decoder could skip them itself, but then it no longer says when others
    are damaged.
    """
    position, slices = 0, 0
    while position + prefix < len(data):
        size = int.from_bytes(data[position : position + prefix], "big")
        header = data[position + prefix]
        kind, refers = header & 0x1F, header & 0x60
        if size == 0 or header & 0x80 or (_SLICE <= kind <= _KEY_SLICE and (kind != _SLICE or refers)):
            return False
        slices += kind == _SLICE
        position += prefix + size
    return slices > 0 and position == len(data)


def microseconds(ticks: int, time_base: Fraction | None) -> int:
    """A time of a file in microseconds."""
    return round(ticks * (time_base or Fraction(1, SECOND_US)) * SECOND_US)


def reason_of(error: Exception) -> str:
    """What was wrong, without the path, which the reader knows."""
    return str(getattr(error, "strerror", None) or error).rstrip(".")
