"""Tasks of the stages in which a language model is asked beside extraction: video, translation, prose and records.

Their keys hold what decides the model's words (model, revision, sampling, prompt text), as the identity of each part.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ray_tasks.captioning.describe import describer_identity
from ray_tasks.captioning.identity import Identities
from ray_tasks.captioning.narrate import narrator_identity
from ray_tasks.captioning.translate import translator_identity
from ray_tasks.captioning.videos import VideoLayout, fingerprint
from ray_tasks.config import BuildConfig
from ray_tasks.extraction.engines import no_client
from ray_tasks.extraction.records.engines import make_record_extractor
from ray_tasks.scheduling.planning import Records, make_task, where, with_halo
from ray_tasks.scheduling.tasks import ShardTask
from ray_tasks.storage.shards import Shard


@dataclass(frozen=True)
class Footage:
    """Video to be described, and who can be seen in it."""

    video: VideoLayout
    identities: Identities

    def problems(self) -> list[dict[str, Any]]:
        """What was odd about the places and names of clips and of identity files."""
        return [asdict(problem) for problem in (*self.video.problems, *self.identities.problems)]


def describe_tasks(footage: Footage, config: BuildConfig) -> list[ShardTask]:
    """One task for each hour in which a clip begins."""
    describer = describer_identity(config.seeing, config.video)
    tasks = []
    for (wearer, day, hour), clips in sorted(footage.video.by_hour().items()):
        shard = Shard(wearer, day, hour)
        known = footage.identities.for_hour(wearer, day, hour, config.video.longest_clip_s)
        identity = [describer, [[clip.label, fingerprint(clip)] for clip in clips], known]
        # A clip of an hour may run into the next day, whose people are others.
        people = [file for file in footage.identities.files if file.wearer == wearer and file.day in (day, day + 1)]
        inputs = {
            "clips": [{**asdict(clip), "path": str(clip.path.absolute())} for clip in clips],
            "identities": [asdict(file) for file in people],
        }
        tasks.append(make_task("describe", shard, identity, inputs))
    return tasks


def translate_tasks(observed: Records, config: BuildConfig) -> list[ShardTask]:
    """One task for each hour of source rows."""
    translator = translator_identity(config.llm)
    return [
        make_task("translate", shard, [translator, record.digest], {"rows": where(record)})
        for shard, record in sorted(observed.items())
    ]


def narrate_tasks(captions: Records, config: BuildConfig) -> list[ShardTask]:
    """One task for each hour of captions."""
    narrator = narrator_identity(config.llm)
    return [
        make_task("narrate", shard, [narrator, record.digest], {"caption": where(record)})
        for shard, record in sorted(captions.items())
    ]


def record_tasks(captions: Records, config: BuildConfig) -> list[ShardTask]:
    """One task for each hour of captions, with the end of the hour before as halo."""
    extractor = make_record_extractor(config.records, config.llm, no_client)
    return [
        make_task("records", shard, [extractor.engine, extractor.version, *identity], inputs)
        for shard, identity, inputs in with_halo(captions)
    ]
