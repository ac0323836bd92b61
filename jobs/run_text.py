"""A run in words: who holds it, how far it is, what failed, how it ended."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from jobs.words import duration_text
from ray_tasks.storage.run_rates import Rates, seconds_left
from ray_tasks.storage.run_records import Attempt, FailedShard, RunRecord, Wave, epoch_s, is_alive, silence_s

SHOWN_FAILURES = 10
SHOWN_RUNNING = 5
SLOW_SECONDS = 30.0
"""A shard that has run for so long is worth naming."""


def run_lines(
    run: RunRecord, rates: Rates, running: Sequence[Attempt], failures: Sequence[FailedShard], *, whole: bool = False
) -> Iterator[str]:
    """The lines of one run; `whole` shows all failures, with the end of their tracebacks."""
    alive = is_alive(run)
    yield f"run {run.run_id} ({run.command}): {_ending(run, alive)}"
    yield f"  held by {_holder(run)}"
    for wave in run.waves:
        yield _wave_line(wave, alive)
    if alive:
        yield from _outlook(run, rates)
        yield from _slow(running)
    shown = failures if whole else failures[:SHOWN_FAILURES]
    for failure in shown:
        yield f"  failed: {failure}"
        if whole and failure.traceback:
            yield from (f"      {line}" for line in failure.traceback.splitlines())
    if run.failed > len(shown):
        yield f"  and {run.failed - len(shown):,} more failed; all of them: daybook status --run {run.run_id}"
    if run.missed_writes:
        yield f"  this record missed {run.missed_writes:,} updates, as the store did not take them"


def _ending(run: RunRecord, alive: bool) -> str:
    if run.state == "running":
        if alive:
            return f"running since {run.started}, last heard of {duration_text(silence_s(run))} ago"
        return f"died (last heard of {run.updated}, begun {run.started}); the same command goes on where it stopped"
    ended = f"{run.ended or run.updated}, begun {run.started}"
    if run.state == "finished":
        what = f"published memory {run.memory_id}" if run.published else "published nothing new"
        if run.memory_id and not run.published:
            what += f"; memory {run.memory_id}"
        return f"finished {ended}; {what}"
    verb = {"failed": "failed", "interrupted": "was interrupted", "deadline": "passed its deadline"}[run.state]
    return f"{verb} {ended}: {run.error or 'no reason is recorded'}"


def _holder(run: RunRecord) -> str:
    holder = run.holder
    parts = [f"{holder.user}, process {holder.pid} on {holder.host}"]
    if holder.ray_address:
        parts.append(f"Ray {holder.ray_address}")
    if holder.submission_id:
        parts.append(f"job {holder.submission_id}")
    if holder.commit:
        parts.append(f"commit {holder.commit[:12]}")
    return ", ".join(parts)


def _wave_line(wave: Wave, alive: bool) -> str:
    counts = f"{wave.cached:,} cached, {wave.made:,} made" + (f", {wave.failed:,} failed" if wave.failed else "")
    state = "" if wave.over else ", at work" if alive else ", not finished"
    return (
        f"  {wave.wave:<8} {wave.total - wave.left:,}/{wave.total:,} shards ({counts}) "
        f"in {wave.seconds:.1f} s, {wave.rate:.1f}/s{state}"
    )


def _outlook(run: RunRecord, rates: Rates) -> Iterator[str]:
    wave, whole = seconds_left(run, rates)
    if wave is None:
        return
    line = f"  about {duration_text(wave)} left of this wave"
    yield line if whole is None else f"{line}, at most about {duration_text(whole)} until the end"
    progressed = epoch_s(run.progressed)
    if progressed is not None and time.time() - progressed > SLOW_SECONDS:
        yield f"  no shard has come to its end for {duration_text(time.time() - progressed)}"


def _slow(running: Sequence[Attempt]) -> Iterator[str]:
    slow = [attempt for attempt in running if time.time() - attempt.since > SLOW_SECONDS]
    for attempt in slow[:SHOWN_RUNNING]:
        where = f" on {attempt.host}" if attempt.host else ""
        again = f", attempt {attempt.attempts}" if attempt.attempts > 1 else ""
        yield f"  {attempt.stage} {attempt.shard} runs for {duration_text(time.time() - attempt.since)}{where}{again}"
