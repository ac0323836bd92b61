"""The configuration of captioning from video: how clips are cut into pictures, and what is asked about them."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

DECIDES: Final = (
    "window_s",
    "pictures_per_second",
    "longest_side",
    "jpeg_quality",
    "longest_clip_s",
    "reply",
    "max_sentences",
    "max_words",
    "max_tokens",
)
"""The settings that decide what is described, and so are part of cache keys; the others only say how fast."""


class VideoSettings(BaseModel):
    """Captioning from video (EgoCITE Appendix B.1: 15 seconds at one frame a second, without speech)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    window_s: int = Field(15, ge=1, le=30, description="seconds of video that are described at once")
    pictures_per_second: int = Field(1, ge=1, le=10, description="pictures taken of each second")
    longest_side: int = Field(768, ge=32, le=4096, description="pixels of a picture's longer side; never enlarged")
    jpeg_quality: int = Field(85, ge=1, le=95, description="quality of the pictures that are sent")
    longest_clip_s: int = Field(3600, ge=30, description="seconds of one clip that are read; the rest is reported")
    reply: Literal["json", "text"] = Field("json", description="how the model answers: sentences in JSON, or prose")
    max_sentences: int = Field(12, ge=1, description="sentences beyond which a description is too long")
    max_words: int = Field(220, ge=10, description="words beyond which a description is too long")
    max_tokens: int = Field(512, ge=16, description="the longest reply")
    decoders: int = Field(2, ge=1, description="processes that decode video, ahead of the model")
    windows_ahead: int = Field(16, ge=1, description="windows held ready beyond those that are being described")
    stall_s: float = Field(600.0, gt=0, description="seconds without a window after which a clip is given up")

    def deciding(self) -> dict[str, object]:
        """What decides the descriptions, for cache keys."""
        return {name: getattr(self, name) for name in DECIDES}
