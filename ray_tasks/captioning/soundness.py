"""Which decoded frames can be trusted.

After damage, decoders go on: they fill holes with what was there before and say nothing. What is built upon a lost
frame is therefore wrong until decoding begins anew with a key packet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from av.video.frame import VideoFrame


class Soundness:
    """Follows packets into the decoder, and tells of the frames, which come out later, whether they are whole.

    `timed`: packets say when their frames are shown, by which these are known again.
    """

    def __init__(self, timed: bool) -> None:
        self._timed = timed
        self._broken = False
        self._from: int | None = None
        self._sound: set[int | None] = set()

    def before(self, packet: Any | None) -> None:
        """Takes note of a packet that is about to be decoded; None ends a stretch."""
        if packet is None:
            return
        if self._broken and packet.is_keyframe:
            self._broken, self._from = False, packet.pts
        # Shown before the key packet, it may be built upon what was lost before that.
        if not self._broken and (self._from is None or (packet.pts is not None and packet.pts >= self._from)):
            self._sound.add(packet.pts)

    def error(self, packet: Any | None) -> None:
        """Takes note that a packet could not be decoded."""
        self._broken = True
        self._sound.discard(packet.pts if packet else None)

    def of(self, frame: VideoFrame) -> bool:
        """Whether a frame can be trusted."""
        return not frame.is_corrupt and (frame.pts in self._sound if self._timed else not self._broken)
