"""From finished shards to the tasks of the next stage: which inputs each has, and the key that follows from them.

A key is made of the digests of what a shard really reads (of an hour's rows, of a five-minute halo), not of its inputs'
keys. So a change runs again exactly the shards that depend on it, and stops where the output comes out the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import Layout, content_hash, plan_sources
from ray_tasks.scheduling.tasks import Finished, ShardTask
from ray_tasks.storage.shards import Shard, content_key

STAGE_VERSIONS: Final[Mapping[str, str]] = {
    "observe": "2",
    "describe": "1",
    "translate": "1",
    "caption": "1",
    "narrate": "1",
    "records": "3",
    "extract": "2",
    "segment": "2",
    "join": "2",
    "embed": "1",
    "part": "2",
    "train": "1",
    "fill": "1",
    "index": "2",
    "phrases": "1",
    "compress": "1",
    "interactions": "1",
}
"""Raise a version whenever the code of a stage gives another output for the same input."""

Records = Mapping[Shard, Finished]
Where = list[str]
"""The stage and the key of a shard that is read."""


def observe_tasks(layout: Layout) -> list[ShardTask]:
    """One task for each hour that has source files."""
    tasks = []
    for (wearer, day, hour), files in plan_sources(layout).items():
        entries = [{**asdict(file), "path": str(file.path.resolve())} for file in files]
        # Where a file lies does not decide what is in it, but its name, kind and offset do.
        identity = [[file.label, file.kind, file.base_ms, content_hash(file)] for file in files]
        tasks.append(make_task("observe", Shard(wearer, day, hour), identity, {"files": entries}))
    return tasks


def caption_tasks(observed: Records, described: Records | None = None) -> list[ShardTask]:
    """One task for each hour in which an observation starts, whatever files it comes from."""
    read, seen = _touching(observed), _touching(described or {})
    tasks = []
    for shard in sorted({*read, *seen}):
        identity: list[Any] = [digest for digest, _ in read[shard]]
        inputs = {"rows": [place for _, place in read[shard]]}
        if seen[shard]:
            identity = [identity, [digest for digest, _ in seen[shard]]]
            inputs["video"] = [place for _, place in seen[shard]]
        tasks.append(make_task("caption", shard, identity, inputs))
    return tasks


def _touching(records: Records) -> dict[Shard, list[tuple[str, Where]]]:
    """By hour, the digests of the rows that start in it, and the shard that holds them."""
    touching: dict[Shard, list[tuple[str, Where]]] = defaultdict(list)
    for _, record in sorted(records.items()):
        for shard, digest in record.extra["touches"].items():
            touching[Shard.parse(shard)].append((digest, where(record)))
    return touching


def atom_tasks(captions: Records, *, engine: str, version: str) -> list[ShardTask]:
    """Fine and coarse extraction of each hour of captions, with the end of the hour before as halo."""
    return [
        make_task(stage, shard, [engine, version, *identity], inputs)
        for shard, identity, inputs in with_halo(captions)
        for stage in ("extract", "segment")
    ]


def with_halo(captions: Records) -> Iterator[tuple[Shard, list[str | None], dict[str, Where | None]]]:
    """Each hour of captions with what decides its content and where that is: its own and the end of the one before.

    Of that hour only the last five minutes count, so that nothing is made again for what changes before them.
    """
    for shard, record in sorted(captions.items()):
        before = captions.get(shard.later(-1))
        tail = before.extra["tail"] if before else None
        yield (
            shard,
            [record.digest, tail],
            {"caption": where(record), "halo": where(before) if before and tail else None},
        )


def compared_by(config: BuildConfig, encoder: str) -> str | None:
    """The encoder whose vectors decide which windows are joined; none where rules compare them by their words."""
    return None if config.engine == "rules" else encoder


def join_tasks(segments: Records, *, engine: str, version: str, encoder: str | None = None) -> list[ShardTask]:
    """One task for each wearer and day; `encoder` as of compared_by."""
    days: dict[Shard, list[Finished]] = defaultdict(list)
    for shard, record in sorted(segments.items()):
        days[Shard(shard.wearer, shard.day)].append(record)
    return [
        make_task(
            "join",
            day,
            [engine, version, *([encoder] if encoder else []), *digests(records)],
            {"segment": [record.key for record in records]},
        )
        for day, records in sorted(days.items())
    ]


def embed_tasks(extracted: Records, joined: Records, *, encoder: str) -> list[ShardTask]:
    """One task for each shard of atoms: hours of actions and utterances, days of activities and conversations."""
    return [
        make_task("embed", shard, [encoder, record.digest], {"atoms": where(record)})
        for records in (extracted, joined)
        for shard, record in sorted(records.items())
    ]


def part_tasks(captions: Records, extracted: Records, joined: Records, embedded: Records) -> list[ShardTask]:
    """One task for each shard of vectors: an hour with its captions, or a day."""
    tasks = []
    for shard, vectors in sorted(embedded.items(), key=_by_shard):
        atoms = (joined if shard.hour is None else extracted)[shard]
        read = [record for record in (captions.get(shard), atoms, vectors) if record]
        inputs = {"atoms": where(atoms), "vectors": where(vectors)}
        if shard in captions:
            inputs["captions"] = where(captions[shard])
        tasks.append(make_task("part", shard, [[record.stage, record.digest] for record in read], inputs))
    return tasks


def trained_views(parts: Records, ivf_from_rows: int) -> dict[str, dict[str, int]]:
    """By wearer, the views that have enough rows for inverted lists, and on how many of the first rows they train.

    That is the largest power of two of them: so lists are trained again when a memory has doubled or its first rows
    have changed, not every night.
    """
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for shard, record in parts.items():
        rows[shard.wearer].update(record.extra["counts"])
    large = {
        wearer: {view: 1 << (n.bit_length() - 1) for view, n in sorted(counts.items()) if n >= ivf_from_rows}
        for wearer, counts in rows.items()
    }
    return {wearer: views for wearer, views in large.items() if views}


def train_tasks(parts: Records, *, ivf_from_rows: int) -> list[ShardTask]:
    """One task for each wearer with a view of at least so many rows."""
    tasks = []
    of_wearer: dict[str, list[Finished]] = defaultdict(list)
    for shard, record in sorted(parts.items(), key=_by_shard):
        of_wearer[shard.wearer].append(record)
    for wearer, views in sorted(trained_views(parts, ivf_from_rows).items()):
        chosen = {view: _first_parts(of_wearer[wearer], view, rows) for view, rows in views.items()}
        identity = {view: [views[view], digests(records)] for view, records in chosen.items()}
        inputs = {
            view: {"rows": views[view], "parts": [record.key for record in records]} for view, records in chosen.items()
        }
        tasks.append(make_task("train", Shard(wearer), identity, {"views": inputs}))
    return tasks


def _first_parts(parts: Iterable[Finished], view: str, rows: int) -> list[Finished]:
    """Those of a wearer's parts, in order of time, that hold the first `rows` rows of a view."""
    chosen: list[Finished] = []
    for record in parts:
        if rows > 0 and (here := record.extra["counts"].get(view, 0)):
            chosen.append(record)
            rows -= here
    return chosen


def fill_tasks(parts: Records, trained: Records, *, ivf_from_rows: int) -> list[ShardTask]:
    """One task for each part that has rows of a view for which a template was trained."""
    tasks = []
    large = trained_views(parts, ivf_from_rows)
    for shard, record in sorted(parts.items(), key=_by_shard):
        template = trained.get(Shard(shard.wearer))
        views = [view for view in large.get(shard.wearer, ()) if view in record.extra["counts"]]
        if template and views:
            inputs = {"part": record.key, "train": template.key, "views": views}
            tasks.append(make_task("fill", shard, [record.digest, template.digest, views], inputs))
    return tasks


def index_tasks(parts: Records, trained: Records, filled: Records) -> list[ShardTask]:
    """One task for each wearer that has captions: the merge of its parts."""
    by_wearer: dict[str, list[tuple[Finished, Finished | None]]] = defaultdict(list)
    for shard, record in sorted(parts.items(), key=_by_shard):
        by_wearer[shard.wearer].append((record, filled.get(shard)))
    tasks = []
    for wearer, records in sorted(by_wearer.items()):
        template = trained.get(Shard(wearer))
        identity = {
            "parts": [part.digest for part, _ in records],
            "fills": [fill.digest if fill else None for _, fill in records],
            "train": template.digest if template else None,
        }
        inputs = {
            "parts": [part.key for part, _ in records],
            "fills": [fill.key if fill else None for _, fill in records],
            "train": template.key if template else None,
        }
        tasks.append(make_task("index", Shard(wearer), identity, inputs))
    return tasks


def _by_shard(item: tuple[Shard, Finished]) -> tuple[str, int, int]:
    shard = item[0]
    return shard.wearer, shard.day or 0, -1 if shard.hour is None else shard.hour


def where(record: Finished) -> Where:
    return [record.stage, record.key]


def digests(records: Iterable[Finished]) -> list[str]:
    """What finished shards hold, in their order."""
    return [record.digest for record in records]


def make_task(stage: str, shard: Shard, identity: Any, inputs: Mapping[str, Any]) -> ShardTask:
    return ShardTask(stage, shard, content_key(stage, STAGE_VERSIONS[stage], str(shard), identity), inputs)
