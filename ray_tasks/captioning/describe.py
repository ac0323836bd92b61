"""Clips of one hour to visual observations: one chat call for each window of pictures (EgoCITE Appendix B.1).

Pictures go with who may be seen and with what is worth noting, never with speech: asked about both, models write down
what they read instead of what they see. Speech is joined afterwards, when captions are fused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ray_tasks.captioning.asking import ask_about, describer_identity
from ray_tasks.captioning.decode import ClipEnd, Window
from ray_tasks.captioning.decoders import ClipReader, DecoderProcess, check_decoder, decoding
from ray_tasks.captioning.identity import Identities
from ray_tasks.captioning.settings import VideoSettings
from ray_tasks.captioning.videos import VideoFile
from ray_tasks.corpus.fuse import Clip, order_in_time, window_start
from ray_tasks.corpus.language import language_of
from ray_tasks.corpus.problems import Problem, ProblemLog
from ray_tasks.corpus.week_time import day_of, format_for_people
from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import Chat, ChatError, UnreachableError
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.engines.steps import check_taken
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Observation

__all__ = ["Described", "describe", "describer_identity"]


@dataclass
class Described:
    """What clips gave. The ledger counts windows, and one for each part of a clip that gave none.

    `clips` are the known videos by the start of their caption's window. Every observation is visual, of one window,
    and ends where its pictures end.
    """

    observations: list[Observation] = field(default_factory=list)
    clips: dict[int, Clip] = field(default_factory=dict)
    ledger: Ledger = field(default_factory=Ledger)
    problems: list[Problem] = field(default_factory=list)
    calls: CallCounts = field(default_factory=CallCounts)


async def describe(
    clips: Sequence[VideoFile],
    identities: Identities,
    chat: Chat,
    settings: ChatSettings,
    video: VideoSettings | None = None,
    readers: Callable[[VideoSettings], ClipReader] = DecoderProcess,
) -> Described:
    """The windows of clips, described; the next ones are decoded while the model answers.

    A clip or window that gives nothing is booked with its reason and named in the problems. Raises ChatError where no
    endpoint answers or none takes the requests, UsageError where video cannot be decoded on this machine.
    """
    check_decoder()
    video = video or VideoSettings()
    work = _Work(sorted(clips, key=lambda clip: (clip.wearer, clip.start_ms)), identities, chat, settings, video)
    decoders = [readers(video) for _ in range(min(video.decoders, len(clips)))]
    held = settings.concurrency * max(1, len(settings.urls)) + video.windows_ahead
    if decoders:
        paths = [clip.path for clip in work.clips]
        async with decoding(paths, decoders, held) as (items, places):
            try:
                async with asyncio.TaskGroup() as group:
                    async for index, item in items:
                        if isinstance(item, ClipEnd):
                            work.end(index, item)
                        else:
                            task = group.create_task(work.window(index, item))
                            task.add_done_callback(lambda _: places.release())
            except BaseExceptionGroup as errors:
                raise errors.exceptions[0] from None
    return work.finish()


@dataclass
class _Work:
    """The description of clips under way."""

    clips: list[VideoFile]
    identities: Identities
    chat: Chat
    settings: ChatSettings
    video: VideoSettings
    made: Described = field(default_factory=Described)
    logs: dict[int, ProblemLog] = field(default_factory=dict)
    seen: set[tuple[int, int]] = field(default_factory=set)

    async def window(self, index: int, window: Window) -> None:
        """Describes one window of a clip, or books why not."""
        clip = self.clips[index]
        self.made.ledger.taken += 1
        if not window.pictures:
            self._fail(index, window, "undecodable", "its pictures are all damaged")
            return
        start = clip.start_ms + window.start_ms
        self.seen.add((index, window_start(start)))
        identity = self.identities.choose(clip.wearer, start)
        known = identity.text if identity else None
        try:
            answer = await ask_about(window, clip.wearer, known, self.chat, self.settings, self.video, self.made.calls)
        except UnreachableError:
            raise
        except ChatError as error:
            self._fail(index, window, error.kind, str(error))
            return
        if answer.asked_again:
            self.made.ledger.notes["asked_again"] += answer.asked_again
        if answer.fault:
            self._fail(index, window, answer.fault, "no usable description came, also when asked again")
            return
        self.made.ledger.done += 1
        if identity is None:
            self.made.ledger.notes["identity_unknown"] += 1
        elif identity.distance(start):
            self.made.ledger.notes["identity_nearest"] += 1
        end = clip.start_ms + window.end_ms
        source = f"{clip.label}#{window.number}"
        text, lang = answer.text, language_of(answer.text)
        self.made.observations.append(
            Observation(clip.wearer, day_of(start), start, end, "visual", None, text, lang, source)
        )

    def end(self, index: int, end: ClipEnd) -> None:
        """Books how the reading of a clip ended."""
        for reason, booked in ((end.failed, self.made.ledger.failed), (end.filtered, self.made.ledger.filtered)):
            if reason:
                self.made.ledger.taken += 1
                booked[reason] += 1
        for kind, detail in end.oddities:
            self._log(index).add(kind, detail)

    def finish(self) -> Described:
        """Everything in order, once all windows are done; raises RejectedError where no request was taken."""
        made = self.made
        check_taken(made.calls, "descriptions of video")
        made.ledger.check("video windows")
        made.observations.sort(key=lambda row: (row.wearer, *order_in_time(row)))
        made.problems = [problem for index in sorted(self.logs) for problem in self.logs[index].listed()]
        made.clips = self._clips()
        return made

    def _clips(self) -> dict[int, Clip]:
        """The video of each caption's window: the first that starts in it, else one that runs on in it."""
        found = sorted((window, self.clips[index].start_ms, self.clips[index].label) for index, window in self.seen)
        clips: dict[int, Clip] = {}
        for runs_on in (False, True):
            for window, start, label in found:
                if (window_start(start) != window) == runs_on:
                    clips.setdefault(window, Clip(max(start, window), label))
        return clips

    def _fail(self, index: int, window: Window, reason: str, detail: str) -> None:
        when = format_for_people(self.clips[index].start_ms + window.start_ms)
        self.made.ledger.failed[reason] += 1
        self._log(index).add(reason, f"{when}, window {window.number}: {detail}", window.number)

    def _log(self, index: int) -> ProblemLog:
        return self.logs.setdefault(index, ProblemLog(self.clips[index].label))
