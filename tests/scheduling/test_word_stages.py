"""The stages of video, translation, prose and records inside whole builds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ray_tasks.captioning.identity import load_identities
from ray_tasks.captioning.videos import discover_videos
from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import discover
from ray_tasks.extraction.records.types import records_from_table
from ray_tasks.rows import Caption, from_table
from ray_tasks.scheduling.build import Build, BuildOutcome
from ray_tasks.scheduling.gates import balanced_books
from ray_tasks.scheduling.planning_words import Footage
from ray_tasks.storage.cache import ShardCache
from ray_tasks.storage.shards import Shard
from ray_tasks.storage.store import LocalStore
from tests.captioning.clips import make_clip
from tests.chat_server import ChatServer
from tests.scheduling.corpus import write_hour
from tests.scheduling.inline import InlineExecutor, SilentReporter
from tests.scheduling.model_script import passable
from tests.scheduling.test_model_build import config_for

HOUR = Shard("B1_MARA", 1, 9)


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    """An hour with Chinese captions and English speech, a clip of its first half minute, and who is seen in it."""
    write_hour(tmp_path, "B1_MARA", 1, 9, [("00:05", "00:08", "Tobi: the kettle is on the shelf.")])
    seen = [("00:02", "00:04", "我看着灯。"), ("05:00", "05:04", "我把灯放在桌上。")]
    write_hour(tmp_path, "B1_MARA", 1, 9, seen, "DenseCaption")
    clip = tmp_path / "video/B1_MARA/DAY1/DAY1_B1_MARA_09000000.mp4"
    clip.parent.mkdir(parents=True)
    make_clip(clip, times=[index / 4 for index in range(4 * 20)])
    (tmp_path / "people").mkdir()
    (tmp_path / "people/B1_MARA_DAY1_09000000-10000000.txt").write_text("Tobi - grey coat\n", encoding="utf-8")
    return tmp_path


def build(recordings: Path, config: BuildConfig, *, video: bool = False) -> tuple[BuildOutcome, InlineExecutor]:
    footage = Footage(discover_videos(recordings / "video"), load_identities(recordings / "people")) if video else None
    executor = InlineExecutor()
    store = LocalStore(recordings / "root")
    outcome = Build(store, config, executor, SilentReporter(), 1, "run-1").run(discover(recordings), footage)
    assert not outcome.failures, [result.failure for result in outcome.failures]
    assert balanced_books(outcome.by_wearer).passed, balanced_books(outcome.by_wearer).words
    return outcome, executor


def captions(recordings: Path, outcome: BuildOutcome, stage: str = "caption") -> list[Caption]:
    cache = ShardCache(LocalStore(recordings / "root"))
    record = cache.find(stage, outcome.records[stage][HOUR].key)
    assert record
    return from_table(cache.read_table(record), Caption)


def test_rows_in_chinese_reach_the_captions_in_english(recordings: Path) -> None:
    with ChatServer(passable) as server:
        config = config_for(server).model_copy(update={"engine": "rules", "translate": "llm"})
        outcome, _ = build(recordings, config)
    texts = [caption.text for caption in captions(recordings, outcome)]
    assert all(text.isascii() for text in texts)
    assert "Tobi: the kettle is on the shelf." in texts[0]
    assert outcome.totals["translate"].calls.balanced


def test_video_takes_the_place_of_written_captions_where_there_is_any_and_speech_stays(recordings: Path) -> None:
    with ChatServer(passable) as server:
        outcome, _ = build(recordings, config_for(server).model_copy(update={"engine": "rules"}), video=True)
        asked = [json.dumps(body, ensure_ascii=False) for body in server.requests]
    first, *_ = captions(recordings, outcome)
    assert "I look at 15 lamps on the workbench." in first.text
    assert "Tobi: the kettle is on the shelf." in first.text
    assert "我看着灯" not in first.text
    assert first.video_uri and first.video_uri.endswith("DAY1_B1_MARA_09000000.mp4")
    assert len(asked) == 2, "two windows of fifteen seconds in a clip of twenty"
    assert all("Tobi - grey coat" in body for body in asked)
    assert not any("kettle" in body for body in asked), "pictures never go together with speech"
    assert outcome.totals["caption"].ledger.filtered["superseded_by_video"] == 1
    later = captions(recordings, outcome)[-1]
    assert "我把灯放在桌上" in later.text, "no video shows this half minute"


def test_prose_replaces_the_text_of_captions_and_keeps_their_lines(recordings: Path) -> None:
    with ChatServer(passable) as server:
        config = config_for(server).model_copy(update={"engine": "rules", "translate": "llm", "prose": "llm"})
        outcome, _ = build(recordings, config)
    before, told = captions(recordings, outcome), captions(recordings, outcome, "narrate")
    assert [caption.lines for caption in told] == [caption.lines for caption in before]
    assert told[0].text == "I put lamp 0 on the table. Tobi says that the kettle is on the shelf."
    assert outcome.records["extract"].keys() == outcome.records["narrate"].keys()


def test_records_are_made_beside_atoms_and_change_no_other_stage(recordings: Path) -> None:
    without, _ = build(recordings, BuildConfig())
    outcome, executor = build(recordings, BuildConfig(records="rules"))
    assert {asked.split()[0] for asked in executor.asked} == {"records", "phrases", "compress", "interactions"}
    assert outcome.indexes[Shard("B1_MARA")].digest == without.indexes[Shard("B1_MARA")].digest
    cache = ShardCache(LocalStore(recordings / "root"))
    record = cache.find("records", outcome.records["records"][HOUR].key)
    assert record and all(row.wearer == "B1_MARA" for row in records_from_table(cache.read_table(record)))


def test_a_second_build_with_all_stages_asks_nothing_and_a_changed_clip_is_described_again(recordings: Path) -> None:
    every = {"engine": "rules", "translate": "llm", "prose": "llm", "records": "rules"}
    with ChatServer(passable) as server:
        config = config_for(server).model_copy(update=every)
        build(recordings, config, video=True)
        _, executor = build(recordings, config, video=True)
        assert executor.asked == []
        make_clip(recordings / "video/B1_MARA/DAY1/DAY1_B1_MARA_09000000.mp4", times=[i / 4 for i in range(4 * 14)])
        _, executor = build(recordings, config, video=True)
    assert executor.asked[0] == "describe B1_MARA/DAY1/09"
    assert "translate B1_MARA/DAY1/09" not in executor.asked
