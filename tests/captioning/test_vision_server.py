"""The whole way with a model that looks: mp4, decoding, JPEG, HTTP, image processor, vision model, caption, shard.

The model's weights are random, so its words mean nothing; what is tested is that they arrive where they belong.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ray_tasks.captioning.describe import describe
from ray_tasks.captioning.identity import Identities
from ray_tasks.captioning.settings import VideoSettings
from ray_tasks.captioning.videos import discover_videos
from ray_tasks.corpus.fuse import fuse
from ray_tasks.engines.client import ChatClient
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.rows import CAPTION_SCHEMA, Caption, from_table, to_table
from tests.captioning.clips import WriteClip
from tests.engines.checkpoints import TOKENS_PER_IMAGE
from tests.engines.live import vision_server

__all__ = ["vision_server"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400)]


def test_a_clip_is_seen_described_and_stored(
    vision_server: ChatSettings, write_clip: WriteClip, tmp_path: Path
) -> None:
    write_clip("P1_MARA/DAY1/DAY1_P1_MARA_11000000.mp4", 4, size=(320, 240))
    layout = discover_videos(tmp_path)
    video = VideoSettings(window_s=2, reply="text", max_tokens=16, max_sentences=100)
    with ChatClient(vision_server) as client:
        made = client.run(describe(layout.clips, Identities(), client, vision_server, video))
    assert made.ledger.taken == 2
    assert made.ledger.missing == 0
    assert made.calls.balanced
    assert made.calls.answered >= 2, "every window was asked about and answered"
    assert made.calls.images == 2 * made.calls.calls
    assert made.calls.tokens_in > 2 * TOKENS_PER_IMAGE * made.calls.answered, "the server did not read the pictures"
    assert [row.source.rsplit("#", 1)[1] for row in made.observations] == ["1", "2"]
    captions = fuse(made.observations, made.clips)
    assert from_table(to_table(captions, CAPTION_SCHEMA), Caption) == captions
    assert captions[0].n_visual == 2
