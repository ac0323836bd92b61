"""Builds of some hours: what they make is what a build of everything makes, and no more than they need."""

from __future__ import annotations

from pathlib import Path

import pytest

from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import discover
from ray_tasks.corpus.problems import CorpusError
from ray_tasks.errors import UsageError
from ray_tasks.scheduling.build import Build, BuildOutcome
from ray_tasks.scheduling.estimate import plan_build
from ray_tasks.scheduling.selection import Recordings, select
from ray_tasks.storage.store import LocalStore
from tests.scheduling.corpus import small_corpus, write_hour
from tests.scheduling.inline import InlineExecutor, SilentReporter


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_corpus(tmp_path_factory.mktemp("corpus"))


def _build(corpus: Path, root: Path, *shards: str, limit: int | None = None) -> tuple[BuildOutcome, list[str]]:
    executor = InlineExecutor()
    layout, _, selection = select(discover(corpus), shards, limit)
    store = LocalStore(root)
    build = Build(store, BuildConfig(), executor, SilentReporter(), 1, "run-1", selection=selection)
    return build.run(layout), executor.asked


def test_an_hour_is_made_with_what_it_needs_and_nothing_else(corpus: Path, tmp_path: Path) -> None:
    _, asked = _build(corpus, tmp_path, "B2_TOBI/DAY2/10")
    hour, before = "B2_TOBI/DAY2/10", "B2_TOBI/DAY2/09"
    assert sorted(asked) == sorted(
        [f"observe {hour}", f"observe {before}", f"caption {hour}", f"caption {before}"]
        + [f"{stage} {hour}" for stage in ("extract", "segment", "embed")]
    )


def test_a_plan_of_an_hour_counts_what_is_then_made(corpus: Path, tmp_path: Path) -> None:
    layout, _, selection = select(discover(corpus), ["B2_TOBI/DAY2/10"])
    planned = plan_build(Recordings(layout, None, selection), LocalStore(tmp_path), BuildConfig())
    _, asked = _build(corpus, tmp_path, "B2_TOBI/DAY2/10")
    made = {stage: sum(task.startswith(f"{stage} ") for task in asked) for stage in planned.stages}
    assert {stage: part.to_do for stage, part in planned.stages.items()} == made
    again = plan_build(Recordings(layout, None, selection), LocalStore(tmp_path), BuildConfig())
    assert again.to_do == 0


def test_a_whole_day_is_joined_as_well(corpus: Path, tmp_path: Path) -> None:
    _, asked = _build(corpus, tmp_path, "B1_MARA/DAY1")
    assert {"join B1_MARA/DAY1", "embed B1_MARA/DAY1", "extract B1_MARA/DAY1/12"} <= set(asked)
    assert not [task for task in asked if "DAY2" in task or "B2_TOBI" in task or task.startswith(("part", "index"))]


def test_all_hours_of_a_day_one_by_one_are_the_whole_day(corpus: Path, tmp_path: Path) -> None:
    _, asked = _build(corpus, tmp_path, *(f"B1_MARA/DAY1/{hour:02d}" for hour in (9, 10, 11)))
    assert "join B1_MARA/DAY1" in asked


def test_a_build_of_everything_finds_what_was_made_of_some_hours(corpus: Path, tmp_path: Path) -> None:
    _, first = _build(corpus, tmp_path / "root", "B1_MARA/DAY1/11", "B2_TOBI/DAY2")
    whole, rest = _build(corpus, tmp_path / "root")
    assert not set(first) & set(rest)
    untouched, _ = _build(corpus, tmp_path / "other")
    assert whole.records == untouched.records


def test_a_limit_takes_the_first_hours(corpus: Path, tmp_path: Path) -> None:
    outcome, _ = _build(corpus, tmp_path, limit=2)
    assert [str(shard) for shard in outcome.records["extract"]] == ["B1_MARA/DAY1/09", "B1_MARA/DAY1/10"]
    of_day, _ = _build(corpus, tmp_path, "B2_TOBI/DAY1", limit=1)
    assert [str(shard) for shard in of_day.records["extract"]] == ["B2_TOBI/DAY1/09"]


def test_the_halo_of_the_first_hour_reaches_into_the_day_before(tmp_path: Path) -> None:
    for day, hour in ((1, 23), (2, 0)):
        write_hour(tmp_path / "c", "B1_MARA", day, hour, [("59:00", "59:10", f"Tobi: gate {hour} is open.")])
    _, asked = _build(tmp_path / "c", tmp_path / "part", "B1_MARA/DAY2/00")
    assert "caption B1_MARA/DAY1/23" in asked
    assert "extract B1_MARA/DAY1/23" not in asked
    _, rest = _build(tmp_path / "c", tmp_path / "part")
    assert not set(asked) & set(rest)


def test_an_hour_into_which_rows_run_can_be_named(corpus: Path, tmp_path: Path) -> None:
    outcome, _ = _build(corpus, tmp_path, "B1_MARA/DAY1/12")
    assert [str(shard) for shard in outcome.records["extract"]] == ["B1_MARA/DAY1/12"]


@pytest.mark.parametrize(
    ("shard", "says"),
    [
        ("B1_MARA/DAY1/20", "B1_MARA/DAY1/09, B1_MARA/DAY1/10, B1_MARA/DAY1/11"),
        ("B1_MARA/DAY7/09", "B1_MARA/DAY1, B1_MARA/DAY2"),
        ("B1_MARA/DAY7", "B1_MARA/DAY1, B1_MARA/DAY2"),
        ("B3_INES", "B1_MARA, B2_TOBI"),
    ],
)
def test_a_shard_that_is_not_there_is_named_with_those_nearby(corpus: Path, shard: str, says: str) -> None:
    with pytest.raises(CorpusError, match=says) as raised:
        select(discover(corpus), [shard])
    assert shard in str(raised.value)


def test_what_is_no_shard_is_refused(corpus: Path) -> None:
    with pytest.raises(UsageError, match="not a shard"):
        select(discover(corpus), ["B1_MARA/3/16"])


def test_without_a_selection_nothing_is_narrowed(corpus: Path) -> None:
    layout = discover(corpus)
    assert select(layout) == (layout, None, None)
