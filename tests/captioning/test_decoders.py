"""Decoding in processes of their own: in order, bounded, and safe from each other's files."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ray_tasks.captioning import decoders
from ray_tasks.captioning.decode import ClipEnd, Window, read_clip
from ray_tasks.captioning.decoders import ClipReader, DecoderProcess, check_decoder, decoding
from ray_tasks.captioning.settings import VideoSettings
from ray_tasks.errors import UsageError
from tests.captioning.clips import ScriptedReader, WriteClip, shown

SETTINGS = VideoSettings()
Clips = dict[str, Sequence[Window | ClipEnd | BaseException]]


@pytest.fixture
def decoder() -> Iterator[DecoderProcess]:
    process = DecoderProcess(SETTINGS)
    yield process
    process.close()


def test_a_child_reads_one_clip_after_another_as_this_process_would(
    write_clip: WriteClip, decoder: DecoderProcess, tmp_path: Path
) -> None:
    clips = [write_clip("a.mp4", 16), tmp_path / "absent.mp4", write_clip("b.mp4", 2)]
    for clip in clips:
        assert list(decoder.read(clip)) == list(read_clip(clip, SETTINGS))


def test_a_child_that_dies_fails_its_clip_and_is_replaced(write_clip: WriteClip, decoder: DecoderProcess) -> None:
    long, short = write_clip("a.mp4", 60), write_clip("b.mp4", 2)
    items = decoder.read(long)
    first = next(items)
    assert isinstance(first, Window)
    assert decoder._child is not None
    os.kill(decoder._child.pid, signal.SIGKILL)
    *_, end = items
    assert isinstance(end, ClipEnd)
    assert end.failed == "decoder_crashed"
    assert "SIGKILL" in end.oddities[0][1]
    assert len(list(decoder.read(short))) == 2


def test_a_child_that_died_between_two_clips_costs_none(write_clip: WriteClip, decoder: DecoderProcess) -> None:
    clip = write_clip("a.mp4", 2)
    before = list(decoder.read(clip))
    assert decoder._child is not None
    decoder._child.kill()
    decoder._child.wait()
    assert list(decoder.read(clip)) == before


def test_a_clip_given_up_halfway_leaves_nothing_for_the_next(write_clip: WriteClip, decoder: DecoderProcess) -> None:
    items = decoder.read(write_clip("a.mp4", 40))
    next(items)
    items.close()
    short = write_clip("b.mp4", 2)
    assert list(decoder.read(short)) == list(read_clip(short, SETTINGS))


def test_a_child_that_stalls_fails_its_clip_and_is_replaced(write_clip: WriteClip, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "stuck.mp4")  # opening it waits for a writer that never comes
    decoder = DecoderProcess(VideoSettings(stall_s=0.5))
    try:
        assert [item.failed for item in decoder.read(tmp_path / "stuck.mp4") if isinstance(item, ClipEnd)] == [
            "decoder_stalled"
        ]
    finally:
        decoder.close()


def test_a_child_that_does_not_start_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(RuntimeError, match="did not start"):
        list(DecoderProcess(SETTINGS).read(tmp_path / "a.mp4"))


def test_missing_packages_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    check_decoder()
    monkeypatch.setattr(decoders, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match="pip install av pillow"):
        check_decoder()


def window(number: int) -> Window:
    return Window(number, number, number + 1, (b"",))


async def collect(
    paths: Sequence[Path], readers: Sequence[ClipReader], held: int = 4
) -> list[tuple[int, Window | ClipEnd]]:
    found = []
    async with decoding(paths, readers, held) as (items, places):
        async for index, item in items:
            found.append((index, item))
            if isinstance(item, Window):
                places.release()
    return found


def test_all_windows_of_all_clips_come_with_the_index_of_their_clip() -> None:
    clips: Clips = {f"{index}": [*map(window, range(index)), ClipEnd()] for index in range(5)}
    readers = [ScriptedReader(clips) for _ in range(3)]
    found = asyncio.run(collect([Path(name) for name in clips], readers))
    for index in range(5):
        assert [item for at, item in found if at == index] == clips[str(index)]
    assert all(reader.closed for reader in readers)


def test_no_more_windows_are_held_than_allowed() -> None:
    asked: list[int] = []
    reached, passed = threading.Event(), threading.Event()

    class Endless(ScriptedReader):
        def read(self, path: Path) -> Iterator[Window | ClipEnd]:
            for number in range(50):
                asked.append(number)
                if number == 3:
                    reached.set()
                if number == 4:
                    passed.set()
                yield window(number)
            yield ClipEnd()

    async def run() -> int:
        taken = 0
        async with decoding([Path("a")], [Endless({})], 3) as (items, places):
            async for _, item in items:
                if not taken:
                    await asyncio.to_thread(reached.wait, 30)
                    assert not await asyncio.to_thread(passed.wait, 0.3)
                taken += 1
                if isinstance(item, Window):
                    places.release()
        return taken

    assert asyncio.run(run()) == 51


def test_an_error_of_a_reader_is_raised_and_the_others_are_closed() -> None:
    readers = [ScriptedReader({"a": [RuntimeError("no decoder")], "b": [window(1)] * 100}) for _ in range(2)]
    with pytest.raises(RuntimeError, match="no decoder"):
        asyncio.run(collect([Path("b"), Path("a")], readers, held=200))
    assert all(reader.stopped and reader.closed for reader in readers)


def test_giving_up_early_ends_a_decoder_in_the_midst_of_a_clip(write_clip: WriteClip) -> None:
    clip = write_clip("a.mp4", 60)
    decoder = DecoderProcess(SETTINGS)

    async def first() -> list[object]:
        async with decoding([clip] * 20, [decoder], 1) as (items, _):
            async for _, item in items:
                assert isinstance(item, Window)
                return list(shown([item]))
        return []

    assert asyncio.run(first())
    assert decoder._child is None
