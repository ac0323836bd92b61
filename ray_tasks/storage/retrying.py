"""Trying again: exponential backoff with full jitter and one bound on attempts and seconds."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class RetryPolicy:
    """How long one request is waited for, and how often and how long it is tried again; times in seconds.

    `total_s` bounds when a last attempt may begin, so that a slow transfer that makes progress is not broken off. An
    operation of several requests (the parts of a large object) has these bounds for each: every one that succeeds is
    progress.
    """

    attempts: int = 10
    total_s: float = 180.0
    first_delay_s: float = 0.2
    longest_delay_s: float = 20.0
    connect_timeout_s: float = 5.0
    read_timeout_s: float = 60.0

    def delay_s(self, failures: int, uniform: Callable[[float, float], float]) -> float:
        """The pause after so many failures: uniform from zero to an exponentially growing bound (full jitter)."""
        return uniform(0.0, min(self.longest_delay_s, self.first_delay_s * 2 ** (failures - 1)))


PATIENT: Final = RetryPolicy()
"""For work: rides out a few minutes of an overloaded store."""

HASTY: Final = RetryPolicy(8, 5.0, 0.1, 0.5, 2.0, 4.0)
"""For checks before a run: a store that answers is given several tries, one that does not is reported in seconds."""


class ExhaustedError(Exception):
    """Every attempt failed; `last` is what the last one ended with."""

    def __init__(self, attempts: int, seconds: float, last: Exception) -> None:
        super().__init__(f"{attempts} attempts in {seconds:.1f} s, the last ended with: {last}")
        self.attempts = attempts
        self.seconds = seconds
        self.last = last


def retry(
    call: Callable[[int], T],
    policy: RetryPolicy,
    is_transient: Callable[[Exception], bool],
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    uniform: Callable[[float, float], float] = random.uniform,
) -> T:
    """What `call(attempt)`, with attempts counted from 1, returns in the first attempt that does not fail transiently.

    Raises ExhaustedError after the policy's last attempt, and at once any error that is not transient.
    """
    start = clock()
    attempt = 1
    while True:
        try:
            return call(attempt)
        except Exception as error:
            if not is_transient(error):
                raise
            delay = policy.delay_s(attempt, uniform)
            spent = clock() - start
            if attempt >= policy.attempts or spent + delay > policy.total_s:
                raise ExhaustedError(attempt, spent, error) from error
        sleep(delay)
        attempt += 1
