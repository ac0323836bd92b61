"""From what a build made to the manifest of its memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import discover
from ray_tasks.scheduling.assembly import assemble_manifest
from ray_tasks.scheduling.build import Build, BuildOutcome
from ray_tasks.scheduling.tasks import STAGE_ORDER
from ray_tasks.storage.store import LocalStore
from tests.scheduling.corpus import write_hour
from tests.scheduling.inline import InlineExecutor, SilentReporter


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> BuildOutcome:
    corpus = tmp_path_factory.mktemp("corpus")
    for wearer in ("B1_MARA", "B2_TOBI"):
        write_hour(corpus, wearer, 1, 9, [("01:00", "01:04", "Ines: the rope is in the shed.")])
    store = LocalStore(tmp_path_factory.mktemp("root"))
    return Build(store, BuildConfig(), InlineExecutor(), SilentReporter(), 1, "run-1").run(discover(corpus))


def test_each_wearer_has_files_and_the_keys_of_its_own_shards(outcome: BuildOutcome) -> None:
    manifest, kept = assemble_manifest(outcome, BuildConfig(), None, "recordings")
    assert kept == ()
    assert set(manifest.wearers) == {"B1_MARA", "B2_TOBI"}
    for wearer, entry in manifest.wearers.items():
        assert entry.wearer == wearer
        assert "action.faiss" in entry.files
        assert set(entry.shards) == set(STAGE_ORDER)
        assert all(shard.startswith(wearer) for shards in entry.shards.values() for shard in shards)
        hour = next(record for shard, record in outcome.records["caption"].items() if shard.wearer == wearer)
        assert entry.shards["caption"] == {f"{wearer}/DAY1/09": hour.key}
    assert manifest.build["corpus"] == "recordings"
    assert manifest.build["sources_in"] == 2


def test_a_wearer_that_was_not_built_stays_only_beside_vectors_of_the_same_encoder(outcome: BuildOutcome) -> None:
    made, _ = assemble_manifest(outcome, BuildConfig(), None, "recordings")
    before = replace(made, wearers={"B3_INES": replace(made.wearers["B1_MARA"], wearer="B3_INES")})
    manifest, kept = assemble_manifest(outcome, BuildConfig(), before, "recordings")
    assert kept == ("B3_INES",)
    assert set(manifest.wearers) == {"B1_MARA", "B2_TOBI", "B3_INES"}
    _, kept = assemble_manifest(outcome, BuildConfig(), replace(before, encoder="another"), "recordings")
    assert kept == ()
