"""What a build is asked for, as commands, run records and retries hand it on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ray_tasks.captioning.identity import load_identities
from ray_tasks.captioning.videos import VideoLayout, discover_videos
from ray_tasks.config import BuildConfig
from ray_tasks.corpus.layout import Layout, discover
from ray_tasks.errors import UsageError
from ray_tasks.scheduling.planning_words import Footage
from ray_tasks.scheduling.selection import Recordings, select


@dataclass(frozen=True)
class BuildRequest:
    """What to build: recordings, a selection of them (empty: all), and how.

    `video` is a folder of clips to be described, `identities` one of files that say who can be seen in them. With
    `shards` or `limit` only some hours are made, and nothing is published (see scheduling.selection).
    """

    corpus: Path | None
    wearers: tuple[str, ...] = ()
    days: tuple[str, ...] = ()
    config: BuildConfig = field(default_factory=BuildConfig)
    shards: tuple[str, ...] = ()
    limit: int | None = None
    video: Path | None = None
    identities: Path | None = None

    @property
    def partial(self) -> bool:
        """Whether only some hours are asked for."""
        return bool(self.shards) or self.limit is not None

    @property
    def source(self) -> str:
        """Where the recordings are, as manifests name it."""
        return str((self.corpus or self.video or Path()).absolute())

    def discover(self) -> Recordings:
        """The recordings that are asked for; raises CorpusError or UsageError where there are none such."""
        if self.corpus is None and self.video is None:
            raise UsageError("nothing to build from: name the recordings with --corpus DIR, or clips with --video DIR")
        if self.identities and not self.video:
            raise UsageError("--identities says who is seen in video; name the clips with --video DIR")
        video = discover_videos(self.video, self.wearers, self.days) if self.video else None
        layout = self._layout({clip.wearer for clip in video.clips} if video else set())
        layout, video, selection = select(layout, self.shards, self.limit, video)
        return Recordings(layout, self._footage(video), selection)

    def _layout(self, filmed: set[str]) -> Layout:
        """The source files; wearers of whom only clips are at hand have none."""
        if self.corpus is None:
            return Layout(Path(), (), ())
        if filmed.isdisjoint(self.wearers):
            return discover(self.corpus, self.wearers, self.days)
        written = {file.wearer for file in discover(self.corpus).files}
        wearers = tuple(wearer for wearer in self.wearers if wearer in written or wearer not in filmed)
        return discover(self.corpus, wearers, self.days) if wearers else Layout(self.corpus, (), ())

    def _footage(self, video: VideoLayout | None) -> Footage | None:
        if video is None:
            return None
        return Footage(video, load_identities(self.identities, self.wearers))

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary; folders as absolute paths."""
        folders = {name: getattr(self, name) for name in ("corpus", "video", "identities")}
        return {
            **{name: str(folder.absolute()) if folder else None for name, folder in folders.items()},
            "wearers": list(self.wearers),
            "days": list(self.days),
            "config": self.config.model_dump(mode="json"),
            "shards": list(self.shards),
            "limit": self.limit,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BuildRequest:
        """The inverse of to_json."""
        folders = {name: Path(data[name]) if data.get(name) else None for name in ("corpus", "video", "identities")}
        return cls(
            wearers=tuple(data["wearers"]),
            days=tuple(data["days"]),
            config=BuildConfig(**data["config"]),
            shards=tuple(data.get("shards", ())),
            limit=data.get("limit"),
            **folders,
        )
