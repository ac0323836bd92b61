"""A part of a corpus: the hours that ``--shard`` and ``--limit`` name, and the source files that these depend on.

An hour's atoms depend on the captions of that hour and of the one before it (the halo). Captions of an hour depend on
every file with a row in it, and rows run past the end of their file's hour; so the files of some hours before are read
as well. What is made is then the very shards that a build of everything makes, which finds them done.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ray_tasks.captioning.videos import VideoLayout
from ray_tasks.corpus.layout import Layout, ShardKey
from ray_tasks.corpus.problems import CorpusError
from ray_tasks.storage.shards import Shard

if TYPE_CHECKING:
    from ray_tasks.scheduling.planning_words import Footage

REACH_HOURS: Final = 6
"""How far before a wanted hour files are read. Rows run past their file's hour by seconds, rarely by an hour."""

NAMED: Final = 12
"""Shards that an error lists."""


@dataclass(frozen=True)
class Selection:
    """Hours that are wanted, and days that are wanted whole."""

    hours: frozenset[ShardKey]
    days: frozenset[tuple[str, int]]

    def includes(self, stage: str, shard: Shard) -> bool:
        """Whether a build of this selection makes a shard: up to embed, and joined only where the whole day is."""
        if stage in ("observe", "describe", "translate", "embed"):
            return True  # of the narrowed layout, and of what was extracted
        if stage == "join":
            return (shard.wearer, shard.day) in self.days
        if stage in ("extract", "segment", "records"):
            return self._wants(shard)
        return stage in ("caption", "narrate") and (self._wants(shard) or self._wants(shard.later(1)))

    def _wants(self, shard: Shard) -> bool:
        assert shard.day is not None and shard.hour is not None
        return (shard.wearer, shard.day) in self.days or (shard.wearer, shard.day, shard.hour) in self.hours


@dataclass(frozen=True)
class Recordings:
    """What a build is made from: source files, video where it is to be described, and the hours that are wanted."""

    layout: Layout
    footage: Footage | None = None
    selection: Selection | None = None


def select(
    layout: Layout, shards: Sequence[str] = (), limit: int | None = None, video: VideoLayout | None = None
) -> tuple[Layout, VideoLayout | None, Selection | None]:
    """The files, clips and hours of the shards named, of these the first `limit` hours; all where neither is given.

    Raises CorpusError for a shard without recordings, naming those nearby, and UsageError for what is no shard.
    """
    if not shards and limit is None:
        return layout, video, None
    clips = video.clips if video else ()
    there = sorted({*(file.shard for file in layout.files), *(clip.shard for clip in clips)})
    wanted = sorted({hour for text in shards for hour in _hours_of(Shard.parse(text), there)}) if shards else there
    chosen = frozenset(wanted[:limit])
    whole = {(wearer, day) for wearer, day, _ in chosen}
    whole -= {(wearer, day) for wearer, day, hour in there if (wearer, day, hour) not in chosen}
    needed = {Shard(*hour).later(-back) for hour in chosen for back in range(REACH_HOURS + 1)}
    files = tuple(file for file in layout.files if Shard(*file.shard) in needed)
    if video:
        video = replace(video, clips=tuple(clip for clip in clips if Shard(*clip.shard) in needed))
    return Layout(layout.root, files, layout.problems), video, Selection(chosen, frozenset(whole))


def _hours_of(shard: Shard, there: Sequence[ShardKey]) -> list[ShardKey]:
    """The recorded hours that a shard names: one, those of a day, or those of a wearer."""
    of_wearer = [key for key in there if key[0] == shard.wearer]
    of_day = [key for key in of_wearer if shard.day in (None, key[1])]
    found = [key for key in of_day if shard.hour in (None, key[2])]
    if found:
        return found
    if shard.day is not None and shard.hour is not None:
        before = shard.later(-1)
        if (before.wearer, before.day, before.hour) in of_wearer:
            return [(shard.wearer, shard.day, shard.hour)]  # rows of the hour before may run into it
    if of_day:
        nearby = _listed(str(Shard(*key)) for key in of_day)
    elif of_wearer:
        nearby = _listed(sorted({str(Shard(wearer, day)) for wearer, day, _ in of_wearer}))
    else:
        nearby = _listed(sorted({wearer for wearer, _, _ in there}))
    raise CorpusError(f"--shard {shard}: the corpus has no recordings of it; there are {nearby}")


def _listed(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - NAMED} more" if len(listed) > NAMED else ""
    return ", ".join(listed[:NAMED]) + more
