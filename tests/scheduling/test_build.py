from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import discover
from ray_tasks.extraction.rules import RulesExtractor
from ray_tasks.scheduling import planning
from ray_tasks.scheduling.build import Build, BuildOutcome
from ray_tasks.scheduling.making import run_task
from ray_tasks.scheduling.planning import STAGE_VERSIONS
from ray_tasks.scheduling.stages import STAGES
from ray_tasks.scheduling.tasks import WorkerSettings
from ray_tasks.scheduling.worker import Worker
from ray_tasks.storage.cache import DATA_FILE
from ray_tasks.storage.store import LocalStore
from tests.scheduling.corpus import small_corpus, write_hour
from tests.scheduling.inline import InlineExecutor, SilentReporter


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, BuildOutcome]:
    """A corpus, the root of its first build, and what that build did."""
    corpus = small_corpus(tmp_path_factory.mktemp("corpus"))
    root = tmp_path_factory.mktemp("root")
    outcome, _ = _build(corpus, root)
    return corpus, root, outcome


def _build(corpus: Path, root: Path, executor: InlineExecutor | None = None) -> tuple[BuildOutcome, InlineExecutor]:
    executor = executor or InlineExecutor()
    build = Build(LocalStore(root), BuildConfig(), executor, SilentReporter(), 1, "run-1")
    return build.run(discover(corpus)), executor


def _copies(built: tuple[Path, Path, BuildOutcome], tmp_path: Path) -> tuple[Path, Path]:
    corpus, root, _ = built
    shutil.copytree(corpus, tmp_path / "corpus")
    shutil.copytree(root, tmp_path / "root")
    return tmp_path / "corpus", tmp_path / "root"


def test_every_stage_ran_and_its_books_balance(built: tuple[Path, Path, BuildOutcome]) -> None:
    _, _, outcome = built
    assert list(outcome.totals) == ["observe", "caption", "extract", "segment", "join", "embed", "part", "index"]
    assert not outcome.failures
    for totals in outcome.totals.values():
        assert totals.ledger.missing == 0
    assert outcome.totals["caption"].ledger.taken == outcome.totals["observe"].rows
    assert outcome.totals["extract"].ledger.taken == outcome.totals["caption"].ledger.done
    assert outcome.totals["index"].rows == outcome.totals["embed"].rows


def test_a_cue_past_its_file_makes_a_shard_of_its_own_hour(built: tuple[Path, Path, BuildOutcome]) -> None:
    _, _, outcome = built
    hours = {str(shard) for shard in outcome.records["caption"]}
    assert "B1_MARA/DAY1/12" in hours
    assert "B2_TOBI/DAY1/12" not in hours


def test_a_second_build_does_no_work(built: tuple[Path, Path, BuildOutcome]) -> None:
    corpus, root, first = built
    outcome, executor = _build(corpus, root)
    assert executor.asked == []
    assert outcome.made == 0
    for stage, records in first.records.items():
        assert {shard: record.key for shard, record in outcome.records[stage].items()} == {
            shard: record.key for shard, record in records.items()
        }


def test_a_changed_cue_runs_again_only_what_depends_on_it(
    built: tuple[Path, Path, BuildOutcome], tmp_path: Path
) -> None:
    corpus, root = _copies(built, tmp_path)
    path = next((corpus / "EgoLifeCap/Transcript/B2_TOBI/DAY2").glob("*_09*"))
    path.write_text(path.read_text().replace("kettle 20", "teapot 20"), encoding="utf-8")
    _, executor = _build(corpus, root)
    hour, day = "B2_TOBI/DAY2/09", "B2_TOBI/DAY2"
    allowed = {f"{stage} {hour}" for stage in ("observe", "caption", "extract", "segment", "embed", "part")}
    allowed |= {f"join {day}", f"embed {day}", f"part {day}", "index B2_TOBI"}
    assert {f"observe {hour}", f"caption {hour}", f"extract {hour}", f"embed {hour}"} <= set(executor.asked) <= allowed


def test_a_change_in_the_last_five_minutes_also_reaches_the_next_hour(
    built: tuple[Path, Path, BuildOutcome], tmp_path: Path
) -> None:
    corpus, root = _copies(built, tmp_path)
    path = next((corpus / "EgoLifeCap/Transcript/B2_TOBI/DAY2").glob("*_09*"))
    path.write_text(path.read_text().replace("gate 9", "gate seven"), encoding="utf-8")
    _, executor = _build(corpus, root)
    assert "extract B2_TOBI/DAY2/10" in executor.asked
    assert "caption B2_TOBI/DAY2/10" not in executor.asked
    assert not [asked for asked in executor.asked if "DAY1" in asked or "B1_MARA" in asked or "DAY2/11" in asked]


def test_a_change_that_changes_no_row_stops_at_the_first_stage(
    built: tuple[Path, Path, BuildOutcome], tmp_path: Path
) -> None:
    corpus, root = _copies(built, tmp_path)
    path = next((corpus / "EgoLifeCap/Transcript/B2_TOBI/DAY2").glob("*_09*"))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    _, executor = _build(corpus, root)
    assert executor.asked == ["observe B2_TOBI/DAY2/09"]


def test_damaged_data_behind_a_done_record_is_made_again(
    built: tuple[Path, Path, BuildOutcome], tmp_path: Path
) -> None:
    corpus, root = _copies(built, tmp_path)
    shard, record = next(iter(built[2].records["extract"].items()))
    path = root / "cache" / "extract" / record.key / DATA_FILE
    path.write_bytes(path.read_bytes()[:-9])
    outcome, executor = _build(corpus, root)
    assert executor.asked == [f"extract {shard}"]
    assert outcome.records["extract"][shard] == record


def test_two_builds_from_nothing_give_the_same_bytes(built: tuple[Path, Path, BuildOutcome], tmp_path: Path) -> None:
    outcome, _ = _build(built[0], tmp_path / "other")
    for stage, records in built[2].records.items():
        for shard, record in records.items():
            assert outcome.records[stage][shard].digest == record.digest, f"{stage} {shard}"


def test_a_failed_shard_is_reported_and_costs_no_other(built: tuple[Path, Path, BuildOutcome], tmp_path: Path) -> None:
    executor = InlineExecutor(broken={"extract B1_MARA/DAY1/10"})
    outcome, _ = _build(built[0], tmp_path / "other", executor)
    assert [(failure.stage, str(failure.shard)) for failure in outcome.failures] == [("extract", "B1_MARA/DAY1/10")]
    failure = outcome.failures[0].failure
    assert failure is not None and failure.error == "KeyError" and "captions_and_halo" in failure.traceback
    assert [record.shard for record in outcome.indexes.values()] == ["B2_TOBI"]
    again, executor = _build(built[0], tmp_path / "other")
    assert "extract B1_MARA/DAY1/10" in executor.asked
    assert "extract B1_MARA/DAY1/09" not in executor.asked
    assert len(again.records["index"]) == 2


def test_a_file_that_a_worker_cannot_read_fails_its_hour_and_leaves_no_finished_one(
    built: tuple[Path, Path, BuildOutcome], tmp_path: Path
) -> None:
    corpus, _ = _copies(built, tmp_path)
    task = planning.observe_tasks(discover(corpus))[0]
    next((corpus / "EgoLifeCap/Transcript/B1_MARA/DAY1").glob("*_09*")).unlink()
    store = LocalStore(tmp_path / "other")
    result = run_task(task, Worker(WorkerSettings(store.url, "run-1", BuildConfig(), 1)), STAGES)
    assert result.failure is not None
    assert (result.failure.error, "cannot be read" in result.failure.message) == ("OSError", True)
    assert not list(store.list_keys("cache"))


def test_equal_recordings_of_two_wearers_are_not_mixed_up(tmp_path: Path) -> None:
    for wearer in ("B1_MARA", "B2_TOBI"):
        write_hour(tmp_path / "corpus", wearer, 1, 9, [("01:00", "01:04", "Ines: the rope is in the shed.")])
    outcome, _ = _build(tmp_path / "corpus", tmp_path / "root")
    for stage in outcome.totals:
        keys = [record.key for record in outcome.records[stage].values()]
        assert len(set(keys)) == len(keys) >= 2


@pytest.mark.parametrize("stage", STAGE_VERSIONS)
def test_another_version_of_a_stage_runs_that_stage_again_and_stops_where_its_output_is_the_same(
    built: tuple[Path, Path, BuildOutcome], tmp_path: Path, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, root = _copies(built, tmp_path)
    monkeypatch.setattr(planning, "STAGE_VERSIONS", {**STAGE_VERSIONS, stage: "another"})
    outcome, executor = _build(corpus, root)
    assert set(executor.asked) == {f"{stage} {shard}" for shard in built[2].records[stage]}
    assert {shard: record.digest for shard, record in outcome.records[stage].items()} == {
        shard: record.digest for shard, record in built[2].records[stage].items()
    }


def test_another_model_embeds_and_indexes_again_and_nothing_before(
    built: tuple[Path, Path, BuildOutcome], tmp_path: Path
) -> None:
    corpus, root = _copies(built, tmp_path)
    executor = InlineExecutor()
    config = BuildConfig(embedding_model="another-model")
    outcome = Build(LocalStore(root), config, executor, SilentReporter(), 1, "run-2").run(discover(corpus))
    shards = {stage: {f"{stage} {shard}" for shard in built[2].records[stage]} for stage in ("embed", "part", "index")}
    # An hour without atoms gives no vectors with any model, so its part stays.
    assert shards["embed"] | shards["index"] <= set(executor.asked) <= set.union(*shards.values())
    assert any(asked in shards["part"] for asked in executor.asked)
    assert outcome.encoder == "another-model"


def test_another_engine_version_extracts_again_and_reads_no_source(
    built: tuple[Path, Path, BuildOutcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, root = _copies(built, tmp_path)
    monkeypatch.setattr(RulesExtractor, "version", "another")
    _, executor = _build(corpus, root)
    stages = {asked.split()[0] for asked in executor.asked}
    assert {"extract", "segment", "join"} <= stages
    assert not stages & {"observe", "caption"}
