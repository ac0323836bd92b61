"""A video clip to windows of pictures, decoding little of it and holding one window at a time.

First the packets are listed, which says when every frame is shown; then only the stretches that the wanted frames need
are decoded. Where some of these are damaged, or the file does not tell times, everything is decoded to see what is
intact, and the windows that failed are taken from that. A damaged frame, and whatever is built upon it, is never shown
to a model: it would describe what the damage looks like.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ray_tasks.captioning.container import (
    Listing,
    UselessClipError,
    list_packets,
    microseconds,
    opened,
    packets_of,
    reason_of,
)
from ray_tasks.captioning.frames import SECOND_US, WindowPlan, lay_out, needed_packets
from ray_tasks.captioning.pictures import encode_picture
from ray_tasks.captioning.settings import VideoSettings
from ray_tasks.captioning.soundness import Soundness

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

VERSION: Final = 1
"""Part of cache keys; raised whenever other frames are chosen or pictures come out otherwise."""

SHORTEST_S: Final = 1.0
"""What is shorter than this, a clip or the rest of one after its last whole window, is not described."""

_DECODER: Final = {"err_detect": "explode", "max_pixels": str(64 << 20)}
_SLACK_US: Final = 2 * SECOND_US


@dataclass(frozen=True, slots=True)
class Window:
    """The pictures (JPEG) of one window of a clip, in order of time; times count from the clip's start.

    Without pictures it is a window whose frames are all damaged.
    """

    number: int
    start_ms: int
    end_ms: int
    pictures: tuple[bytes, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ClipEnd:
    """How the reading of a clip ended: `failed` or `filtered` says why it, or a part of it, gave no window.

    `oddities` are (kind, detail) of what a person should know.
    """

    failed: str | None = None
    filtered: str | None = None
    oddities: tuple[tuple[str, str], ...] = ()


@dataclass
class _Reading:
    """A clip in the course of being read; `errors` counts packets that could not be decoded."""

    path: Path
    settings: VideoSettings
    listing: Listing
    errors: int = 0

    def plan(self, times: Sequence[int], shown_us: int | None = None) -> list[WindowPlan]:
        """The windows of frames with these start times."""
        width, rate = self.settings.window_s, self.settings.pictures_per_second
        last = self.listing.last_us
        return lay_out(times, window_s=width, pictures_per_second=rate, last_us=last, shown_us=shown_us)


def read_clip(path: Path, settings: VideoSettings) -> Iterator[Window | ClipEnd]:
    """The windows of a clip, then how it ended. Whatever is wrong with the file is said in the end, not raised.

    Windows with damaged frames come after the whole ones.
    """
    import av

    try:
        reading = _Reading(path, settings, list_packets(path, settings.longest_clip_s))
        yield from _windows(reading)
    except UselessClipError as error:
        detail = f"{error}; not described: fetch it again or take it away"
        yield ClipEnd(failed=error.kind, oddities=((error.kind, detail),))
    except (av.FFmpegError, ValueError, LookupError) as error:
        detail = f"cannot be decoded ({reason_of(error)}); what it gave before is used"
        yield ClipEnd(failed="undecodable_video", oddities=(("undecodable_video", detail),))


def _windows(reading: _Reading) -> Iterator[Window | ClipEnd]:
    """The whole windows, then those that had to be taken from what is intact, then those of which nothing is."""
    timed = reading.listing.timed
    plans, tail = _without_tail(reading.plan(reading.listing.times)) if timed else ([], None)
    done: set[int] = set()
    for plan, pictures in _taken(reading, plans, _needed(reading.listing, plans)):
        if len(pictures) == len(plan.taken):
            done.add(plan.number)
            yield _window(plan, pictures)
    if not timed or len(done) < len(plans):
        reading.errors = 0  # what was met on the way is met again
        intact = reading.plan([time for time, _, _ in _decoded(reading, None)], None if not timed else SECOND_US)
        if not timed:
            plans, tail = _without_tail(intact)
        missing = {plan.number for plan in plans} - done
        for plan, pictures in _taken(reading, [plan for plan in intact if plan.number in missing], None):
            done.add(plan.number)
            yield _window(plan, pictures)
    yield from (_window(plan, ()) for plan in plans if plan.number not in done)
    yield _end(reading, plans, tail)


def _window(plan: WindowPlan, pictures: Sequence[bytes]) -> Window:
    return Window(plan.number, plan.start_us // 1000, plan.end_us // 1000, tuple(pictures))


def _without_tail(plans: list[WindowPlan]) -> tuple[list[WindowPlan], str | None]:
    """The windows without a last one of less than SHORTEST_S, and the word under which that is counted."""
    if not plans or plans[-1].seconds >= SHORTEST_S:
        return plans, None
    return plans[:-1], "short_tail" if len(plans) > 1 else "short_clip"


def _end(reading: _Reading, plans: Sequence[WindowPlan], tail: str | None) -> ClipEnd:
    """What a person should know of a clip, and whether it counts as failed."""
    listing, oddities = reading.listing, dict(reading.listing.oddities)
    if reading.errors:
        oddities["damaged_frames"] = f"{reading.errors} frames cannot be decoded; what is intact is used"
    if not listing.timed:
        oddities["no_timestamps"] = f"does not say when frames are shown; counted at {float(listing.rate):g} a second"
    if tail == "short_clip":
        oddities["short_clip"] = "lasts less than a second; not described"
    if listing.claimed_us > listing.held_us + _SLACK_US and "over_long" not in oddities:
        claim, held = listing.claimed_us / SECOND_US, listing.held_us / SECOND_US
        oddities["cut_short"] = f"should last {claim:.1f} s, but breaks off after {held:.1f} s; fetch it again"
    failed: str | None = next((kind for kind in ("cut_short", "over_long") if kind in oddities), None)
    if not plans and not tail:
        failed = "no_frames"
        oddities["no_frames"] = "holds no frame that can be decoded; fetch it again or take it away"
    return ClipEnd(failed, None if failed and tail == "short_clip" else tail, tuple(sorted(oddities.items())))


_Stretches = list[list[int]]
"""Indices of packets to be decoded, in stretches that stand alone."""


def _needed(listing: Listing, plans: Sequence[WindowPlan]) -> _Stretches:
    """What must be decoded for the frames of these windows."""
    return needed_packets(listing.packets, frozenset(time for plan in plans for time in plan.taken))


def _taken(
    reading: _Reading, plans: Sequence[WindowPlan], stretches: _Stretches | None
) -> Iterator[tuple[WindowPlan, tuple[bytes, ...]]]:
    """Each window with the pictures of its frames that could be decoded, in order of time."""
    waiting = list(reversed(plans))
    wanted = frozenset(time for plan in plans for time in plan.taken)
    pictures: dict[int, bytes] = {}
    for time, frame, stream in _decoded(reading, stretches) if wanted else ():
        if time not in wanted:
            continue
        while waiting and time >= waiting[-1].end_us:
            yield waiting.pop(), tuple(pictures.values())
            pictures = {}
        if waiting and time >= waiting[-1].start_us:  # else it comes out of order
            pictures.setdefault(time, _picture(frame, stream, reading.settings))
    while waiting:
        yield waiting.pop(), tuple(pictures.values())
        pictures = {}


def _picture(frame: VideoFrame, stream: VideoStream, settings: VideoSettings) -> bytes:
    tag = stream.metadata.get("rotate", "")
    return encode_picture(frame, settings.longest_side, settings.jpeg_quality, stream.sample_aspect_ratio, tag)


def _decoded(reading: _Reading, stretches: _Stretches | None) -> Iterator[tuple[int, VideoFrame, VideoStream]]:
    """(start from the clip's start, frame, stream) of the intact frames; of all packets where `stretches` is None."""
    listing, limit = reading.listing, reading.settings.longest_clip_s * SECOND_US
    with opened(reading.path) as (container, stream):
        for count, frame in enumerate(_intact(reading, container, stream, stretches)):
            if listing.timed and frame.pts is not None:
                time = microseconds(frame.pts, stream.time_base) - listing.base_us
            else:
                time = int(count * SECOND_US / listing.rate)
            if time >= limit:
                return
            if time >= 0:
                yield time, frame, stream


def _intact(
    reading: _Reading, container: InputContainer, stream: VideoStream, stretches: _Stretches | None
) -> Iterator[VideoFrame]:
    """The frames that are whole: none that is stored after an error and before the next key packet is shown."""
    import av

    context = stream.codec_context
    context.thread_count = 1  # clips are decoded side by side
    context.options = dict(_DECODER)
    soundness = Soundness(reading.listing.timed)
    for packet in _chosen(packets_of(container, stream, {}), stretches):
        soundness.before(packet)
        try:
            frames = context.decode(packet)
        except (av.FFmpegError, ValueError):
            reading.errors += 1
            soundness.error(packet)
            continue
        yield from (frame for frame in frames if soundness.of(frame))
        if packet is None:
            context.flush_buffers()


def _chosen(packets: Iterator[Any], stretches: _Stretches | None) -> Iterator[Any | None]:
    """The packets that are to be decoded, with None after each stretch, so that the frames held back come out."""
    if stretches is None:
        yield from packets
        yield None
        return
    numbered = enumerate(packets)
    for stretch in stretches:
        for index in stretch:
            packet = next((packet for position, packet in numbered if position == index), None)
            if packet is not None:
                yield packet
        yield None
