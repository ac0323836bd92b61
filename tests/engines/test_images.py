"""A picture goes the whole way: JPEG, message, HTTP, image processor, vision model, reply."""

from __future__ import annotations

import asyncio
import io

import pytest

from ray_tasks.engines.client import ChatClient
from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import ChatRequest, Image, Message, Sampling
from ray_tasks.engines.settings import ChatSettings
from tests.engines.checkpoints import TOKENS_PER_IMAGE, need
from tests.engines.live import vision_server

__all__ = ["vision_server"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400)]


def test_a_picture_is_looked_at_and_answered(vision_server: ChatSettings) -> None:
    with_picture, without = CallCounts(), CallCounts()
    with ChatClient(vision_server) as client:
        reply = client.run(client.ask(_request(_jpeg(), _jpeg()), with_picture))
        client.run(client.ask(_request(), without))
    assert reply.text
    assert with_picture.answered == without.answered == 1
    assert with_picture.images == 2
    seen = with_picture.tokens_in - without.tokens_in
    assert seen >= 2 * TOKENS_PER_IMAGE, "the server did not read the pictures"


def test_different_pictures_give_different_replies(vision_server: ChatSettings) -> None:
    counts = CallCounts()

    async def both() -> tuple[str, str]:
        red = client.ask(_request(_jpeg((200, 20, 20))), counts)
        blue = client.ask(_request(_jpeg((20, 20, 200))), counts)
        replies = await asyncio.gather(red, blue)
        return replies[0].text, replies[1].text

    with ChatClient(vision_server) as client:
        red, blue = client.run(both())
    assert red != blue, "random weights answer every difference differently, unless the picture is lost on the way"


def _request(*pictures: Image) -> ChatRequest:
    turn = Message("user", "What does Mara hold?", images=pictures)
    return ChatRequest((turn,), "test", sampling=Sampling(max_tokens=200))


def _jpeg(colour: tuple[int, int, int] = (20, 160, 40)) -> Image:
    need("PIL")
    from PIL import Image as Picture

    data = io.BytesIO()
    Picture.new("RGB", (320, 240), colour).save(data, "JPEG")
    return Image(data.getvalue())
