"""The rules engine as one exchangeable whole, and on real recordings."""

from __future__ import annotations

from pathlib import Path

import pytest

from ray_tasks.corpus.fuse import fuse
from ray_tasks.corpus.layout import discover
from ray_tasks.corpus.observe import observe
from ray_tasks.extraction.report import atom_report
from ray_tasks.extraction.rules import RulesExtractor
from ray_tasks.extraction.types import LONGEST_MS, Extractor
from tests.extraction.script import WEARER, record


def test_the_rules_are_an_extractor() -> None:
    engine: Extractor = RulesExtractor()
    captions = record("11:00:00 * I fill the jug.\n11:00:03 Tobi: The kettle boils.\n11:00:05 Ines: The tea is ready.")
    fine = engine.extract_fine(captions, [], wearer=WEARER)
    coarse = engine.extract_coarse(captions, [], wearer=WEARER)
    joined = engine.join_windows(coarse.atoms)
    assert [atom.view for atom in fine.atoms] == ["action", "utterance", "utterance"]
    assert sorted(atom.view for atom in joined.atoms) == ["activity", "conversation"]
    assert {(atom.engine, atom.prompt_version) for atom in (*fine.atoms, *joined.atoms)} == {
        (engine.engine, engine.version)
    }


@pytest.mark.real
def test_an_hour_of_real_recordings_is_read_without_loss(shared_data: Path) -> None:
    files = [file for file in discover(shared_data / "egolife", ["A1_JAKE"], [1]).files if "_11" in file.path.name]
    observed = observe(files)
    captions = fuse(observed.observations, observed.clips.get("A1_JAKE", {}))
    engine = RulesExtractor()
    fine = engine.extract_fine(captions, [], wearer="A1_JAKE")
    coarse = engine.join_windows(engine.extract_coarse(captions, [], wearer="A1_JAKE").atoms)
    assert fine.ledger.taken == len(observed.observations)
    assert fine.ledger.missing == 0
    assert all(atom.end_ms - atom.start_ms <= LONGEST_MS for atom in coarse.atoms)
    report = atom_report([*fine.atoms, *coarse.atoms])
    assert report.share(report.unresolved, "action") < 15.0
    assert report.quoted.total() == 0
    assert min(report.atoms[view] for view in ("action", "utterance", "activity", "conversation")) > 0
