"""The stages of a build as thin functions: read inputs from the shard cache, call the pure logic, hand back files.

No ray here, so the same functions run inside an actor, in a test, or in a debugger.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Final

from ray_tasks.corpus.fuse import fuse, window_start
from ray_tasks.corpus.layout import SourceFile
from ray_tasks.corpus.observe import observe
from ray_tasks.corpus.week_time import hour_of
from ray_tasks.extraction.report import atom_report
from ray_tasks.extraction.types import Extraction
from ray_tasks.ledger import Ledger, merge_ledgers
from ray_tasks.rows import (
    ATOM_SCHEMA,
    Atom,
    from_table,
    to_table,
)
from ray_tasks.scheduling.index_stages import fill_part, make_part, merge_index, train_views
from ray_tasks.scheduling.making import Stages
from ray_tasks.scheduling.passing import (
    captions_and_halo,
    captions_output,
    observations_output,
    table_output,
    vectors_output,
)
from ray_tasks.scheduling.stages_interactions import compress_day, embed_phrases, merge_interactions
from ray_tasks.scheduling.stages_words import describe_hour, narrate_hour, record_hour, translate_hour
from ray_tasks.scheduling.tasks import ShardTask, StageOutput
from ray_tasks.scheduling.worker import Worker


def _observe(task: ShardTask, worker: Worker) -> StageOutput:
    """Source files of one hour to observations, with digests of what lands in each hour: captions depend on those."""
    del worker
    files = [SourceFile(**{**entry, "path": Path(entry["path"])}) for entry in task.inputs["files"]]
    observed = observe(files)
    unread = [str(problem) for problem in observed.problems if problem.kind == "unreadable_file"]
    if unread:
        # The driver has read these files for their keys, so the fault is this machine's (a mount that is missing), and
        # an hour without them must not be taken for the finished one.
        raise OSError("; ".join(unread))
    clips = observed.clips.get(task.shard.wearer, {})
    extra = {
        "problems": [asdict(problem) for problem in observed.problems],
        "ledgers": {kind: ledger.to_json() for kind, ledger in sorted(observed.ledgers.items())},
    }
    books = merge_ledgers(observed.ledgers.values())
    return observations_output(task.shard.wearer, observed.observations, clips, books, extra)


def _caption(task: ShardTask, worker: Worker) -> StageOutput:
    """Observations that start in one hour, whatever file they come from, to captions.

    In a half minute of which video was described, that is what was seen, and the visual rows of source files give way.
    """
    read, clips = worker.observations(task.inputs["rows"])
    here = [row for row in read if (row.day, hour_of(row.start_ms)) == (task.shard.day, task.shard.hour)]
    ledger = Ledger(taken=len(here))
    if "video" in task.inputs:
        described, filmed = worker.observations(task.inputs["video"])
        seen = [row for row in described if (row.day, hour_of(row.start_ms)) == (task.shard.day, task.shard.hour)]
        covered = {window_start(row.start_ms) for row in seen}
        kept = [row for row in here if row.modality != "visual" or window_start(row.start_ms) not in covered]
        ledger.taken += len(seen)
        ledger.filtered["superseded_by_video"] = len(here) - len(kept)
        here, clips = [*kept, *seen], {**clips, **filmed}
    captions = fuse(here, clips)
    ledger.done = sum(len(caption.lines) for caption in captions)
    return captions_output(captions, task.shard, ledger)


def _extract(task: ShardTask, worker: Worker) -> StageOutput:
    """Captions of one hour to action and utterance atoms."""
    captions, halo = captions_and_halo(task, worker)
    return _atoms_output(worker.extractor.extract_fine(captions, halo, wearer=task.shard.wearer))


def _segment(task: ShardTask, worker: Worker) -> StageOutput:
    """Captions of one hour to activity and conversation atoms of its 30-minute windows."""
    captions, halo = captions_and_halo(task, worker)
    return _atoms_output(worker.extractor.extract_coarse(captions, halo, wearer=task.shard.wearer))


def _join(task: ShardTask, worker: Worker) -> StageOutput:
    """Activities and conversations of one day, joined across windows and hours."""
    atoms = [atom for key in task.inputs["segment"] for atom in from_table(worker.table("segment", key), Atom)]
    if worker.settings.config.engine == "rules":  # whose texts no cosine compares, see extraction/join.py
        return _atoms_output(worker.extractor.join_windows(atoms))
    return _atoms_output(worker.extractor.join_windows(atoms, embed=lambda texts: worker.encoder(list(texts))))


def _atoms_output(extraction: Extraction) -> StageOutput:
    extra = {"report": atom_report(extraction.atoms).to_json()}
    return table_output(to_table(extraction.atoms, ATOM_SCHEMA), extraction.ledger, extra, extraction.calls)


def _embed(task: ShardTask, worker: Worker) -> StageOutput:
    """Atoms of a shard to unit vectors."""
    atoms = worker.table(*task.inputs["atoms"])
    return vectors_output(atoms.column("atom_id").to_pylist(), atoms.column("text").to_pylist(), worker)


STAGES: Final[Stages] = {
    "observe": _observe,
    "describe": describe_hour,
    "translate": translate_hour,
    "caption": _caption,
    "narrate": narrate_hour,
    "extract": _extract,
    "segment": _segment,
    "join": _join,
    "records": record_hour,
    "embed": _embed,
    "part": make_part,
    "train": train_views,
    "fill": fill_part,
    "index": merge_index,
    "phrases": embed_phrases,
    "compress": compress_day,
    "interactions": merge_interactions,
}
