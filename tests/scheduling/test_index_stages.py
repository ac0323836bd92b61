"""From vectors to merged indexes: what is made again when something changes, with and without inverted lists."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import discover
from ray_tasks.index import inverted
from ray_tasks.index.opening import open_wearer
from ray_tasks.index.recall import ivf_recall
from ray_tasks.scheduling.assembly import assemble_manifest
from ray_tasks.scheduling.build import Build, BuildOutcome
from ray_tasks.scheduling.estimate import plan_build
from ray_tasks.scheduling.planning import fill_tasks, train_tasks, trained_views
from ray_tasks.scheduling.selection import Recordings
from ray_tasks.scheduling.tasks import Finished, ShardResult, ShardTask, WorkerSettings
from ray_tasks.storage.shards import Shard
from ray_tasks.storage.store import LocalStore
from tests.scheduling.corpus import small_corpus, write_hour
from tests.scheduling.inline import InlineExecutor, SilentReporter

LISTS = BuildConfig(ivf_from_rows=40)
Built = tuple[Path, Path, BuildOutcome]


def _build(corpus: Path, root: Path, config: BuildConfig = LISTS) -> tuple[BuildOutcome, list[str]]:
    executor = InlineExecutor()
    outcome = Build(LocalStore(root), config, executor, SilentReporter(), 1, "run-1").run(discover(corpus))
    return outcome, executor.asked


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A corpus, the root of a build with inverted lists, and what that build did."""
    corpus = small_corpus(tmp_path_factory.mktemp("corpus"))
    root = tmp_path_factory.mktemp("root")
    return corpus, root, _build(corpus, root)[0]


@pytest.fixture
def copies(built: Built, tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """Copies of the corpus and the root."""
    shutil.copytree(built[0], tmp_path / "corpus")
    shutil.copytree(built[1], tmp_path / "root")
    yield tmp_path / "corpus", tmp_path / "root"


def _stages(asked: list[str]) -> Counter[str]:
    return Counter(line.split()[0] for line in asked)


def test_large_views_get_lists_and_small_ones_none(built: Built) -> None:
    outcome = built[2]
    assert not outcome.failures
    files = set(outcome.indexes[Shard("B1_MARA")].files)
    assert {"action.ivf", "utterance.ivf", "caption.ivf"} <= files
    assert "conversation.ivf" not in files
    assert len(outcome.records["train"]) == 2
    for totals in outcome.totals.values():
        assert totals.ledger.missing == 0
    assert outcome.totals["part"].rows == outcome.totals["index"].rows == outcome.totals["embed"].rows


def test_lists_change_no_other_file_and_none_is_made_by_default(built: Built, copies: tuple[Path, Path]) -> None:
    outcome, asked = _build(*copies, BuildConfig())
    assert _stages(asked) == {"index": 2}
    for shard, record in outcome.indexes.items():
        with_lists = built[2].indexes[shard].files
        assert record.files == {name: sums for name, sums in with_lists.items() if not name.endswith(".ivf")}


def test_a_memory_with_lists_answers_like_one_without(built: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inverted, "SAMPLES_PER_LIST", 4)
    store = LocalStore(built[1])
    manifest, _ = assemble_manifest(built[2], LISTS, None, "recordings")
    memory = open_wearer(store, manifest, "B1_MARA")
    view = memory.views["utterance"]
    assert view.inverted and view.inverted.least_rows < len(view) // 2
    for row in range(0, len(view), 7):
        at = int(view.end_ms[(row + len(view)) // 2])
        query = np.array(view.vectors[row])
        window = (int(view.start_ms[row]), int(view.end_ms[row]))
        exact = [hit.score for hit in view.search(query, at_ms=at, k=5, time_query=window, exact=True)]
        hits = view.search(query, at_ms=at, k=5, time_query=window)
        assert [hit.score for hit in hits] == pytest.approx(exact)
        assert all(view.end_ms[hit.row] <= at for hit in hits)
    recall = ivf_recall(memory, samples=10)
    assert recall is not None and recall >= 0.97


def test_a_changed_hour_makes_again_its_part_and_the_merge(copies: tuple[Path, Path]) -> None:
    corpus, root = copies
    path = next((corpus / "EgoLifeCap/Transcript/B2_TOBI/DAY2").glob("*_11*"))
    path.write_text(path.read_text().replace("kettle 20", "teapot 20"), encoding="utf-8")
    planned = {
        name: stage.to_do
        for name, stage in plan_build(Recordings(discover(corpus)), LocalStore(root), LISTS).stages.items()
        if stage.to_do
    }
    _, asked = _build(corpus, root)
    late = [line for line in asked if line.split()[0] in {"part", "train", "fill", "index"}]
    # The hour lies behind the rows that the lists were trained on, so they stay.
    assert set(late) <= {"part B2_TOBI/DAY2/11", "part B2_TOBI/DAY2", "fill B2_TOBI/DAY2/11", "index B2_TOBI"}
    assert {"part B2_TOBI/DAY2/11", "fill B2_TOBI/DAY2/11", "index B2_TOBI"} <= set(late)
    assert all(planned[stage] >= count for stage, count in _stages(asked).items())


def test_a_new_day_is_indexed_alone(copies: tuple[Path, Path]) -> None:
    corpus, root = copies
    write_hour(corpus, "B1_MARA", 3, 9, [("01:00", "01:04", "Tobi: the rope is in the shed.")])
    _, asked = _build(corpus, root)
    assert set(asked) == {
        *(
            f"{stage} B1_MARA/DAY3/09"
            for stage in ("observe", "caption", "extract", "segment", "embed", "part", "fill")
        ),
        *(f"{stage} B1_MARA/DAY3" for stage in ("join", "embed", "part")),
        "index B1_MARA",
    }


@pytest.mark.parametrize(
    ("stage", "file"), [("part", "action.faiss"), ("fill", "action.ivf"), ("train", "action.template")]
)
def test_a_damaged_file_is_found_and_made_again(built: Built, copies: tuple[Path, Path], stage: str, file: str) -> None:
    corpus, root = copies
    shard, finished = next(
        (shard, record)
        for shard, record in built[2].records[stage].items()
        if (root / "cache" / stage / record.key / file).exists()
    )
    path = root / "cache" / stage / finished.key / file
    path.write_bytes(path.read_bytes()[:-3])
    outcome, asked = _build(corpus, root)
    assert asked == [f"{stage} {shard}"]
    assert outcome.records[stage][shard].digest == finished.digest


class Vandal(InlineExecutor):
    """Damages a part just before indexes are merged."""

    victim: Path

    def run(self, tasks: Sequence[ShardTask], settings: WorkerSettings) -> Iterator[ShardResult]:
        """See Executor.run."""
        if tasks[0].stage == "index":
            self.victim.write_bytes(self.victim.read_bytes()[:-3])
        yield from super().run(tasks, settings)


def test_a_part_that_is_damaged_under_a_merge_fails_that_merge_alone(built: Built, copies: tuple[Path, Path]) -> None:
    corpus, root = copies
    shutil.rmtree(root / "cache" / "index")
    part = built[2].records["part"][Shard("B1_MARA", 1, 9)]
    executor = Vandal()
    executor.victim = root / "cache" / "part" / part.key / "action.faiss"
    outcome = Build(LocalStore(root), LISTS, executor, SilentReporter(), 1, "run-1").run(discover(corpus))
    (failed,) = outcome.failures
    assert failed.failure and failed.failure.error == "CorruptShardError" and part.key in failed.failure.message
    assert [str(shard) for shard in outcome.indexes] == ["B2_TOBI"]
    again, asked = _build(corpus, root)
    assert asked == ["part B1_MARA/DAY1/09", "index B1_MARA"]
    assert again.indexes[Shard("B1_MARA")].files == built[2].indexes[Shard("B1_MARA")].files


def test_a_plan_knows_what_is_done_and_what_lists_will_cost(built: Built, tmp_path: Path) -> None:
    corpus, root, outcome = built
    plan = plan_build(Recordings(discover(corpus)), LocalStore(root), LISTS)
    assert plan.to_do == 0
    assert plan.stages["fill"].cached == len(outcome.records["fill"])
    shutil.copytree(root, tmp_path / "root")
    shutil.rmtree(tmp_path / "root" / "cache" / "train")
    plan = plan_build(Recordings(discover(corpus)), LocalStore(tmp_path / "root"), LISTS)
    assert (plan.stages["train"].to_do, plan.stages["part"].to_do, plan.stages["index"].to_do) == (2, 0, 2)
    assert plan.stages["fill"].to_do == len(outcome.records["fill"])


def test_merged_files_leave_nothing_behind(built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    _build(built[0], tmp_path / "root", BuildConfig())
    assert list(scratch.iterdir()) == []


def _parts(counts: list[int]) -> dict[Shard, Finished]:
    return {
        Shard("W", 1, hour): Finished("part", f"k{hour}", f"d{hour}", {"counts": {"action": n} if n else {}})
        for hour, n in enumerate(counts)
    }


def test_lists_are_trained_on_the_first_power_of_two_of_the_rows() -> None:
    parts = _parts([30, 0, 30, 30, 30])
    assert trained_views(parts, 100) == {"W": {"action": 64}}
    assert trained_views(parts, 121) == {}
    (task,) = train_tasks(parts, ivf_from_rows=100)
    assert task.inputs["views"]["action"] == {"rows": 64, "parts": ["k0", "k2", "k3"]}
    (grown,) = train_tasks(_parts([30, 0, 30, 30, 30, 5]), ivf_from_rows=100)
    assert grown.key == task.key
    (doubled,) = train_tasks(_parts([30, 0, 30, 30, 30, 8]), ivf_from_rows=100)
    assert doubled.key != task.key


def test_parts_without_rows_of_a_large_view_are_not_filled() -> None:
    trained = {Shard("W"): Finished("train", "t", "t", {})}
    tasks = fill_tasks(_parts([30, 0, 30, 60]), trained, ivf_from_rows=100)
    assert [str(task.shard) for task in tasks] == ["W/DAY1/00", "W/DAY1/02", "W/DAY1/03"]
