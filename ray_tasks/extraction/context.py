"""What the lines before have said: the five-minute context of a caption (EgoCITE section 4.1)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from ray_tasks.extraction.people import Roster, label_names
from ray_tasks.extraction.speech import Speech, analyse
from ray_tasks.extraction.types import CONTEXT_MS
from ray_tasks.rows import Caption, Line

ANSWER_WITHIN_MS = 10_000
"""An answer follows its question within ten seconds."""

_LOOP_LENGTH = 5


@dataclass(frozen=True, slots=True)
class Said:
    """A spoken line of the context."""

    line: Line
    speech: Speech

    def may_be_answered_by(self, line: Line) -> bool:
        """Whether a line is by somebody else and close enough to answer this one."""
        gap = line.start_ms - self.line.end_ms
        return self.line.speaker != line.speaker and gap <= ANSWER_WITHIN_MS and self.line.start_ms <= line.start_ms


class Context:
    """The lines of the last five minutes, as one caption may see them.

    A line of an earlier caption that ends after the current caption is not seen.
    """

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._lines: deque[tuple[int, Line]] = deque()
        self._spoken: deque[Said] = deque(maxlen=2 * _LOOP_LENGTH)
        self._caption: Caption | None = None

    def enter(self, caption: Caption) -> None:
        """Makes a caption the current one and forgets what is older than its context."""
        self._caption = caption
        while self._lines and self._lines[0][0] < caption.start_ms - CONTEXT_MS:
            self._lines.popleft()

    def add(self, line: Line) -> None:
        """Adds a line of the current caption."""
        if self._caption is not None:
            self._lines.append((self._caption.start_ms, line))
            if line.modality == "speech":
                self._spoken.append(Said(line, analyse(line.text)))

    def said(self) -> list[Said]:
        """The latest spoken lines in sight, in order of time."""
        return [said for said in self._spoken if self._sees(said.line)]

    def is_loop(self, line: Line) -> bool:
        """Whether a spoken line repeats the five spoken lines before it, as a speech recogniser does on silence."""
        last = [said.line for said in self.said()[-_LOOP_LENGTH:]]
        return len(last) == _LOOP_LENGTH and all((one.speaker, one.text) == (line.speaker, line.text) for one in last)

    def people(self) -> tuple[str, ...]:
        """Everybody but the wearer who speaks or is named in sight."""
        return tuple(dict.fromkeys([*self.speakers(), *self.mentioned()]))

    def speakers(self) -> tuple[str, ...]:
        """Everybody but the wearer who speaks in sight."""
        names = [name for _, line in self._lines if self._sees(line) for name in label_names(line.speaker)]
        return tuple(dict.fromkeys(name for name in names if name != self._roster.me))

    def mentioned(self, within_ms: int = CONTEXT_MS) -> tuple[str, ...]:
        """Everybody but the wearer who is named in a text in sight, or in those that end in its last `within_ms`."""
        seen = [line for _, line in self._lines if self._sees(line)]
        since_ms = max((line.end_ms for line in seen), default=0) - within_ms
        at_ms = self._caption.end_ms if self._caption else 0
        names = [name for line in seen if line.end_ms >= since_ms for name in self._roster.named(line.text, at_ms)]
        return tuple(dict.fromkeys(name for name in names if name != self._roster.me))

    def seen_texts(self) -> list[str]:
        """Visual lines in sight."""
        return [line.text for _, line in self._lines if line.modality == "visual" and self._sees(line)]

    def _sees(self, line: Line) -> bool:
        return self._caption is not None and line.end_ms <= self._caption.end_ms
