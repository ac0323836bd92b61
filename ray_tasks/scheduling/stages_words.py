"""The stages that ask a language model beside extraction, as thin functions: video, translation, prose, records.

Each runs its part of a shard's calls on the loop of the worker's client, and hands back their books with the rows.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from ray_tasks.captioning.describe import describe
from ray_tasks.captioning.identity import Identities, Identity
from ray_tasks.captioning.narrate import narrate
from ray_tasks.captioning.translate import translate
from ray_tasks.captioning.videos import VideoFile
from ray_tasks.corpus.week_time import day_of
from ray_tasks.extraction.records.engines import make_record_extractor
from ray_tasks.extraction.records.types import RECORD_SCHEMA
from ray_tasks.rows import Caption, from_table, to_table
from ray_tasks.scheduling.passing import captions_and_halo, captions_output, observations_output, table_output
from ray_tasks.scheduling.tasks import ShardTask, StageOutput
from ray_tasks.scheduling.worker import Worker

VIDEO = "video"
"""The kind under which windows of clips are booked beside the rows of source files."""


def describe_hour(task: ShardTask, worker: Worker) -> StageOutput:
    """The clips that begin in an hour to visual observations."""
    clips = [VideoFile(**{**entry, "path": Path(entry["path"])}) for entry in task.inputs["clips"]]
    missing = [clip.label for clip in clips if not clip.path.is_file()]
    if missing:
        # The driver has seen these files, so the fault is this machine's (a mount that is missing).
        raise OSError(f"clips cannot be read here: {', '.join(missing)}; is the folder mounted on every machine?")
    known = Identities(tuple(Identity(**entry) for entry in task.inputs["identities"]))
    config, chat = worker.settings.config, worker.seeing_chat
    made = chat.run(describe(clips, known, chat, config.seeing, config.video))
    extra = {
        "problems": [asdict(problem) for problem in made.problems],
        "ledgers": {VIDEO: made.ledger.to_json()},
    }
    return observations_output(task.shard.wearer, made.observations, made.clips, made.ledger, extra, made.calls)


def translate_hour(task: ShardTask, worker: Worker) -> StageOutput:
    """The observations of an hour of source files, those in Chinese in English."""
    rows, clips = worker.observations([task.inputs["rows"]])
    made = worker.chat.run(translate(rows, worker.chat, worker.settings.config.llm))
    return observations_output(task.shard.wearer, made.observations, clips, made.ledger, {}, made.calls)


def narrate_hour(task: ShardTask, worker: Worker) -> StageOutput:
    """The captions of an hour, each told as one account."""
    captions = from_table(worker.table(*task.inputs["caption"]), Caption)
    made = worker.chat.run(narrate(captions, worker.chat, worker.settings.config.llm, task.shard.wearer))
    return captions_output(made.captions, task.shard, made.ledger, made.calls)


def record_hour(task: ShardTask, worker: Worker) -> StageOutput:
    """The captions of an hour to interaction records."""
    config = worker.settings.config
    extractor = make_record_extractor(config.records, config.llm, lambda: worker.chat)
    captions, halo = captions_and_halo(task, worker)
    made = extractor.extract(captions, halo, wearer=task.shard.wearer)
    ends = sorted({day_of(record.end_ms) for record in made.records})
    return table_output(to_table(made.records, RECORD_SCHEMA), made.ledger, {"ends": ends}, made.calls)
