"""Small corpora of invented recordings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ray_tasks.corpus.layout import Kind, SourceFile
from ray_tasks.corpus.srt_reader import ReadFile, read_srt
from ray_tasks.corpus.sync import ReadSync, read_sync
from ray_tasks.corpus.week_time import HOUR_MS, week_ms

WriteCorpus = Callable[[Mapping[str, str | bytes]], Path]
ReadSpeech = Callable[..., ReadFile]
ReadClips = Callable[..., ReadSync]


@pytest.fixture
def write_corpus(tmp_path: Path) -> WriteCorpus:
    """Writes files, named below EgoLifeCap, and returns the corpus folder."""

    def write(files: Mapping[str, str | bytes]) -> Path:
        for name, content in files.items():
            path = tmp_path / "week" / "EgoLifeCap" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path / "week"

    return write


def source_file(kind: Kind, hour: int = 11, day: int = 1) -> SourceFile:
    """The file of an invented wearer for one hour."""
    name = f"P1_MARA_DAY{day}_{hour:02d}000000.{'json' if kind == 'sync' else 'srt'}"
    folders = {"transcript": f"Transcript/P1_MARA/DAY{day}", "dense": f"DenseCaption/P1_MARA/DAY{day}", "sync": "Sync"}
    return SourceFile(Path(folders[kind]) / name, "P1_MARA", day, hour, kind, week_ms(day, hour * HOUR_MS))


@pytest.fixture
def read_speech() -> ReadSpeech:
    """Reads a transcript of P1_MARA's DAY1, 11 h (or what the keywords say) from text or bytes."""

    def read(
        content: str | bytes, *, hour: int = 11, day: int = 1, kind: Kind = "transcript", limit_ms: int | None = None
    ) -> ReadFile:
        data = content.encode() if isinstance(content, str) else content
        read = read_srt(data, source_file(kind, hour, day), limit_ms)
        read.ledger.check("the file")
        return read

    return read


@pytest.fixture
def read_clips() -> ReadClips:
    """Reads a Sync file of P1_MARA's DAY1, 11 h (or what the keywords say) from bytes, text or what goes into JSON."""

    def read(content: object, *, hour: int = 11, day: int = 1, speech_superseded: bool = False) -> ReadSync:
        data = (
            content
            if isinstance(content, bytes)
            else (content if isinstance(content, str) else json.dumps(content)).encode()
        )
        read = read_sync(data, source_file("sync", hour, day), speech_superseded=speech_superseded)
        read.ledger.check("the file")
        return read

    return read
