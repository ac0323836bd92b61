"""Shows the current memory and the runs that build the next one."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from jobs.console import console, ends_well, log, print_json, run_app
from jobs.options import DEFAULT_ROOT, JsonOption, RootOption
from jobs.run_text import run_lines
from ray_tasks.errors import DaybookError, UsageError
from ray_tasks.storage.manifests import read_manifest, read_pointer
from ray_tasks.storage.run_rates import read_rates, seconds_left
from ray_tasks.storage.run_records import RunRecord, is_alive, open_runs, read_failures, read_run, running_shards
from ray_tasks.storage.store import ObjectStore, open_store


@ends_well
def status(
    root: RootOption = DEFAULT_ROOT,
    run: Annotated[str | None, typer.Option(help="Show this run only, with all its failures.")] = None,
    watch: Annotated[
        float | None, typer.Option(help="Show it again every so many seconds, until no run is left.", min=1)
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show the current memory, every run that is at work, and how the last one ended; from any machine.

    Examples:

        daybook status --root memories

        daybook status --root s3://bucket/daybook --watch 10
    """
    store = open_store(root)
    while True:
        state = State.of(store, run)
        if json:
            print_json(state.to_json())
        else:
            state.show()
        if watch is None or not any(map(is_alive, state.runs)):
            return
        time.sleep(watch)
        log.rule(time.strftime("%H:%M:%S"))


class State:
    """What a store says about its memory and its runs; what cannot be read is a note, and the rest is shown."""

    def __init__(self, store: ObjectStore) -> None:
        self.store = store
        self.memory: dict[str, Any] | None = None
        self.runs: list[RunRecord] = []
        self.latest: RunRecord | None = None
        self.notes: list[str] = []
        self.all_failures = False

    @classmethod
    def of(cls, store: ObjectStore, run_id: str | None) -> State:
        """The whole store, or one run of it; raises UsageError for a run that does not exist."""
        state = cls(store)
        if run_id is not None:
            found = read_run(store, run_id)
            if found is None:
                raise UsageError(f"{store.url} knows no run {run_id}")
            state.runs, state.latest, state.all_failures = [found], found, True
            return state
        state._read_memory()
        state._read_runs()
        return state

    def _read_memory(self) -> None:
        try:
            pointer = read_pointer(self.store)
            if pointer:
                manifest = read_manifest(self.store, pointer.memory_id)
                self.memory = {
                    "memory_id": pointer.memory_id,
                    "created": manifest.created,
                    "wearers": sorted(manifest.wearers),
                    "earlier": list(pointer.history),
                }
        except DaybookError as error:
            self.notes.append(str(error))

    def _read_runs(self) -> None:
        begun, notes = open_runs(self.store)
        self.notes += notes
        try:
            self.latest = read_run(self.store)
        except DaybookError as error:
            if str(error) not in self.notes:
                self.notes.append(str(error))
        self.runs = [run for run in begun if is_alive(run)]
        if self.latest and self.latest.run_id not in {run.run_id for run in self.runs}:
            self.runs.append(self.latest)

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary; `run` is the latest run."""
        described = {run.run_id: self._describe(run) for run in self.runs}
        return {
            "root": self.store.url,
            "memory": self.memory,
            "run": described.get(self.latest.run_id) if self.latest else None,
            "runs": list(described.values()),
            "notes": self.notes,
        }

    def _describe(self, run: RunRecord) -> dict[str, Any]:
        alive = is_alive(run)
        wave, whole = seconds_left(run, read_rates(self.store)[0]) if alive else (None, None)
        running = [attempt.model_dump() for attempt in running_shards(self.store, run.run_id)] if alive else []
        return {
            **run.model_dump(mode="json"),
            "alive": alive,
            "seconds_left_wave": wave,
            "seconds_left": whole,
            "running": running,
        }

    def show(self) -> None:
        """Prints it."""
        for note in self.notes:
            log.print(note, markup=False, soft_wrap=True)
        if self.memory:
            console.print(
                f"current memory {self.memory['memory_id']}, made {self.memory['created']}: "
                f"{', '.join(self.memory['wearers'])}",
                markup=False,
                soft_wrap=True,
            )
        elif not self.notes and not self.all_failures:
            console.print(f"{self.store.url} holds no published memory", markup=False, soft_wrap=True)
        rates, fault = read_rates(self.store)
        if fault:
            log.print(fault, markup=False, soft_wrap=True)
        for run in self.runs:
            running = running_shards(self.store, run.run_id) if is_alive(run) else []
            failures = read_failures(self.store, run) if self.all_failures else run.failures
            for line in run_lines(run, rates, running, failures, whole=self.all_failures):
                console.print(line, markup=False, soft_wrap=True)


if __name__ == "__main__":
    run_app(status)
