"""From interaction records to Imprint's memory, day after day: what is made again; days in a row are one run."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ray_tasks.compression.files import full_phrases, in_order
from ray_tasks.compression.interactions import InteractionMemory
from ray_tasks.compression.online import Compressor
from ray_tasks.compression.settings import CompressionSettings
from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import discover
from ray_tasks.extraction.records.types import RECORD_SCHEMA
from ray_tasks.index.opening import open_wearer
from ray_tasks.rows import to_table
from ray_tasks.scheduling.assembly import assemble_manifest
from ray_tasks.scheduling.build import Build, BuildOutcome
from ray_tasks.scheduling.estimate import plan_build
from ray_tasks.scheduling.selection import Recordings
from ray_tasks.storage.store import LocalStore
from tests.scheduling.corpus import small_corpus, write_hour
from tests.scheduling.inline import HashingEncoder, InlineExecutor, SilentReporter

CONFIG = BuildConfig(records="rules")
Built = tuple[Path, Path, BuildOutcome]


def build(
    corpus: Path, root: Path, config: BuildConfig = CONFIG, executor: InlineExecutor | None = None
) -> tuple[BuildOutcome, list[str]]:
    executor = executor or InlineExecutor()
    outcome = Build(LocalStore(root), config, executor, SilentReporter(), 1, "run-1").run(discover(corpus))
    return outcome, executor.asked


def interactions(root: Path, outcome: BuildOutcome, wearer: str = "B1_MARA") -> InteractionMemory:
    manifest, _ = assemble_manifest(outcome, CONFIG, None, "corpus")
    found = open_wearer(LocalStore(root), manifest, wearer).interactions
    assert found is not None
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A corpus, the root of a build with interactions, and what that build did."""
    corpus = small_corpus(tmp_path_factory.mktemp("corpus"))
    root = tmp_path_factory.mktemp("root")
    return corpus, root, build(corpus, root)[0]


def test_the_books_balance_from_records_to_the_memory(built: Built) -> None:
    totals = built[2].totals
    assert not built[2].failures
    records = totals["records"].rows
    assert records > 100
    assert totals["compress"].ledger.taken == totals["interactions"].ledger.taken == records
    assert totals["compress"].rows + totals["compress"].ledger.filtered["not_important"] == records


def test_days_in_a_row_give_what_one_run_over_the_week_gives(built: Built) -> None:
    memory = interactions(built[1], built[2])
    assert {record.start_ms // 86_400_000 for record in memory.records} == {0, 1}
    table = in_order(to_table(list(memory.records), RECORD_SCHEMA))
    vectors = HashingEncoder(CONFIG.embedding_model)(full_phrases(table))
    whole = Compressor(vectors.shape[1]).feed(vectors, memory.start_ms, memory.end_ms)
    for name in ("prototypes", "kinds", "importance", "entries"):
        assert np.array_equal(getattr(whole, name), getattr(memory.compressed, name)), name


def test_phrases_and_records_belong_together(built: Built) -> None:
    memory = interactions(built[1], built[2])
    encoder = HashingEncoder(CONFIG.embedding_model)
    for row in range(0, len(memory), 17):
        record = memory.records[row]
        assert memory.phrases[memory.actions[row]] == record.action
        assert (memory.objects[row] == -1) == (record.object == "")
    assert np.abs(memory.vectors / 4000 - encoder(list(memory.phrases))).max() < 1e-3
    assert memory.settings == CompressionSettings()
    assert sum(memory.compressed.assignments().values()) == len(memory)
    assert memory.records[-1].end_ms == max(record.end_ms for record in memory.records[:])
    with pytest.raises(IndexError):
        memory.records[len(memory)]


def test_a_new_day_costs_that_day_alone_and_gives_what_a_fresh_build_gives(built: Built, tmp_path: Path) -> None:
    corpus, root = tmp_path / "corpus", tmp_path / "root"
    shutil.copytree(built[0], corpus)
    shutil.copytree(built[1], root)
    write_hour(corpus, "B1_MARA", 3, 9, [("01:00", "01:05", "Tobi: the kettle is back on the shelf.")])
    planned = plan_build(Recordings(discover(corpus)), LocalStore(root), CONFIG)
    again, asked = build(corpus, root)
    stages = Counter(line.split()[0] for line in asked)
    assert stages["phrases"] == stages["compress"] == stages["interactions"] == 1
    assert {name: planned.stages[name].to_do for name in ("phrases", "compress", "interactions")} == {
        "phrases": 1,
        "compress": 1,
        "interactions": 1,
    }
    fresh, _ = build(corpus, tmp_path / "other")
    for stage in ("phrases", "compress", "interactions"):
        made, expected = ({s: r.digest for s, r in out.records[stage].items()} for out in (again, fresh))
        assert made == expected, stage


def test_other_settings_compress_again_and_embed_nothing(built: Built, tmp_path: Path) -> None:
    shutil.copytree(built[1], tmp_path / "root")
    config = CONFIG.model_copy(update={"compression": CompressionSettings().without("consolidation")})
    outcome, asked = build(built[0], tmp_path / "root", config)
    assert Counter(line.split()[0] for line in asked) == {"compress": 4, "interactions": 2}
    memory = interactions(tmp_path / "root", outcome)
    kept = memory.compressed.entries[memory.kept(len(memory))]
    assert len(set(kept.tolist())) == len(memory.compressed.founders) == len(kept)


def test_a_day_that_fails_leaves_its_wearer_out_and_the_same_command_goes_on(built: Built, tmp_path: Path) -> None:
    root = tmp_path / "root"
    shutil.copytree(built[1], root)
    shutil.rmtree(root / "cache/compress")
    shutil.rmtree(root / "cache/interactions")
    outcome, asked = build(built[0], root, executor=InlineExecutor(broken={"compress B1_MARA/DAY1"}))
    assert [str(failure.shard) for failure in outcome.failures] == ["B1_MARA/DAY1"]
    assert "compress B1_MARA/DAY2" not in asked
    assert [str(shard) for shard in outcome.records["interactions"]] == ["B2_TOBI"]
    again, _ = build(built[0], root)
    assert interactions(root, again).compressed.entries.tolist() == interactions(*built[1:]).compressed.entries.tolist()


def test_a_record_that_runs_over_midnight_is_met_in_the_day_in_which_it_ends(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    write_hour(
        corpus, "B1_MARA", 1, 23, [("59:40", "62:00", "Tobi: I carry the lamp home."), ("58:00", "58:05", "Hm.")]
    )
    write_hour(corpus, "B1_MARA", 2, 0, [("00:31", "00:40", "Tobi: I open the blue gate.")])
    write_hour(corpus, "B1_MARA", 2, 9, [("00:31", "00:40", "Tobi: I close the blue gate.")])
    outcome, _ = build(corpus, tmp_path / "root")
    assert not outcome.failures
    memory = interactions(tmp_path / "root", outcome)
    assert {str(shard) for shard in outcome.records["compress"]} <= {"B1_MARA/DAY1", "B1_MARA/DAY2"}
    assert np.all(np.diff(memory.end_ms) >= 0)
    assert any(record.speech and "lamp" in record.speech for record in memory.records)


def test_without_records_there_is_no_memory_of_interactions(built: Built, tmp_path: Path) -> None:
    shutil.copytree(built[1], tmp_path / "root")
    outcome, _ = build(built[0], tmp_path / "root", BuildConfig())
    manifest, _ = assemble_manifest(outcome, BuildConfig(), None, "corpus")
    assert open_wearer(LocalStore(tmp_path / "root"), manifest, "B1_MARA").interactions is None
