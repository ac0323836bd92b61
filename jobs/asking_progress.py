"""How an evaluation's progress is shown: a bar on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence

from jobs.console import LOG_EVERY_SECONDS, log, log_line, progress_bars
from ray_tasks.evaluation.answers import ScoredAnswer


class AskingProgress:
    """Questions answered, rate, time left and errors. Use as a context manager."""

    def __init__(self) -> None:
        self._total = self._done = self._kept = self._errors = 0
        self._begun = self._spoke = time.monotonic()
        self._bar = progress_bars(disable=not log.is_terminal)
        self._task = self._bar.add_task("questions", total=None, rate="")

    def __enter__(self) -> AskingProgress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, total: int, left: int) -> None:
        """Says what there is to do: `left` of `total` questions."""
        self._total, self._kept = total, total - left
        self._begun = self._spoke = time.monotonic()
        self._bar.update(self._task, total=total, completed=self._kept)
        if self._kept:
            log_line(f"{self._kept} of {total} answers are kept from an earlier run (--again asks for them anew)")

    def answered(self, answers: Sequence[ScoredAnswer]) -> None:
        """Counts answers that came, and tells of errors."""
        self._done += len(answers)
        self._errors += sum(answer.error is not None for answer in answers)
        now = time.monotonic()
        rate = self._done / max(now - self._begun, 1e-9)
        wrong = f", {self._errors} failed" if self._errors else ""
        self._bar.update(self._task, completed=self._kept + self._done, rate=f"{rate:.1f}/s{wrong}")
        if not log.is_terminal and now - self._spoke >= LOG_EVERY_SECONDS:
            self._spoke = now
            left = (self._total - self._kept - self._done) / rate
            log_line(f"{self._kept + self._done}/{self._total} questions, {rate:.1f}/s{wrong}, {left:.0f} s left")

    def void(self, title: str, fault: str) -> None:
        """Tells that a whole evaluation is void."""
        log_line(f"{title} is void: {fault}")

    def where(self) -> str:
        """How far it came, for the words of a deadline."""
        return f"{self._kept + self._done} of {self._total} questions are answered and kept"
