from __future__ import annotations

from collections.abc import Callable

import pytest

from ray_tasks.storage.retrying import ExhaustedError, RetryPolicy, retry


class _Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.pauses.append(seconds)


def _longest(_low: float, high: float) -> float:
    return high


def _failing(times: int) -> Callable[[int], int]:
    def call(attempt: int) -> int:
        if attempt <= times:
            raise TimeoutError(f"attempt {attempt}")
        return attempt

    return call


def _run(call: Callable[[int], int], policy: RetryPolicy, clock: _Clock) -> int:
    return retry(
        call,
        policy,
        lambda error: isinstance(error, TimeoutError),
        clock=lambda: clock.now,
        sleep=clock.sleep,
        uniform=_longest,
    )


def test_pauses_grow_exponentially_up_to_the_longest() -> None:
    clock = _Clock()
    assert _run(_failing(6), RetryPolicy(10, 1000, 1.0, 10.0), clock) == 7
    assert clock.pauses == [1, 2, 4, 8, 10, 10]


def test_attempts_are_bounded_and_the_last_cause_is_kept() -> None:
    clock = _Clock()
    with pytest.raises(ExhaustedError, match=r"3 attempts in 3\.0 s, .*attempt 3") as caught:
        _run(_failing(99), RetryPolicy(3, 1000, 1.0, 10.0), clock)
    assert (caught.value.attempts, str(caught.value.last)) == (3, "attempt 3")


def test_no_attempt_begins_after_the_total() -> None:
    clock = _Clock()
    with pytest.raises(ExhaustedError):
        _run(_failing(99), RetryPolicy(99, 20.0, 1.0, 8.0), clock)
    assert clock.pauses == [1, 2, 4, 8]


def test_other_errors_are_not_tried_again() -> None:
    calls: list[int] = []

    def call(attempt: int) -> int:
        calls.append(attempt)
        raise KeyError("no")

    with pytest.raises(KeyError):
        _run(call, RetryPolicy(), _Clock())
    assert calls == [1]


@pytest.mark.parametrize(("failures", "bound"), [(1, 0.2), (2, 0.4), (7, 12.8), (8, 20.0), (60, 20.0)])
def test_a_pause_is_drawn_from_zero_to_its_bound(failures: int, bound: float) -> None:
    drawn: list[tuple[float, float]] = []

    def draw(low: float, high: float) -> float:
        drawn.append((low, high))
        return high / 3

    assert RetryPolicy().delay_s(failures, draw) == bound / 3
    assert drawn == [(0.0, bound)]
