"""One night, step by step: plan, build and publish, evaluate, and close with a summary that is kept in the store."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jobs.answering import Respondent
from jobs.building import Built, build_and_publish
from jobs.console import log
from jobs.evaluating import Asked, stored_or_run
from jobs.gating import FAULTS
from jobs.request import BuildRequest
from jobs.stopping import DeadlineError, deadline
from ray_tasks.errors import UsageError
from ray_tasks.evaluation.night import compare_nights, evaluation_entry, memory_facts
from ray_tasks.evaluation.night_table import night_text
from ray_tasks.scheduling.estimate import plan_build
from ray_tasks.scheduling.holder import this_holder
from ray_tasks.scheduling.plan_figures import Plan
from ray_tasks.storage.manifests import Manifest, memory_before, pointer_to_replace, timestamp
from ray_tasks.storage.nights import read_previous_night, write_night
from ray_tasks.storage.preflight import preflight
from ray_tasks.storage.store import ObjectStore


class Night:
    """One night; its time, and with it the deadline, runs from its making."""

    def __init__(
        self,
        store: ObjectStore,
        request: BuildRequest,
        asked: Mapping[str, Asked],
        method: str,
        deadline_s: float | None,
    ) -> None:
        self._store, self._request, self._asked = store, request, asked
        self._method, self._deadline_s = method, deadline_s
        self._started, self._begun = timestamp(), time.monotonic()
        self._plan_s = self._evaluate_s = 0.0
        self._previous, self._why_not = read_previous_night(store)
        # The build says what is wrong with a damaged pointer or manifest, and replaces it.
        self._before, _ = memory_before(store, pointer_to_replace(store)[0])
        self._check_wearers()
        preflight(store)

    def _check_wearers(self) -> None:
        """Questions for somebody who is nowhere are told now and not after hours; raises UsageError."""
        everything = replace(self._request, wearers=(), days=()).discover()
        known = {file.wearer for file in everything.layout.files}
        known |= {clip.wearer for clip in everything.footage.video.clips} if everything.footage else set()
        known |= set(self._before.wearers if self._before else ())
        if strangers := sorted(set(self._asked) - known):
            raise UsageError(
                f"there are questions for {', '.join(strangers)}, but recordings only of {', '.join(sorted(known))}"
            )

    def plan(self) -> Plan:
        """What the build would do, and how long it would take."""
        last = self._before.build if self._before else None
        planned = plan_build(self._request.discover(), self._store, self._request.config, last)
        self._plan_s = self._elapsed()
        return planned

    def build(self, cpus: int | None) -> Built:
        """Builds and publishes; raises RefusedError where a gate does not let it."""
        left = self._left()
        return build_and_publish(
            self._request, self._store, cpus=cpus, deadline_s=left, method=self._method, command="nightly"
        )

    def evaluate(self, manifest: Manifest) -> dict[str, dict[str, Any]]:
        """Asks the question files of one memory, from start to end the same, whatever is published meanwhile."""
        begun = time.monotonic()
        words = f"the deadline has passed; memory {manifest.memory_id} is published, not all questions were asked"
        entries: dict[str, dict[str, Any]] = {}
        try:
            with deadline(self._left(), lambda _: words):
                for wearer, asked in self._asked.items():
                    log.print(f"{wearer}: {len(asked.file.questions)} questions of {asked.file.path}", soft_wrap=True)
                    try:
                        entries[wearer] = self._ask(manifest, asked, wearer)
                    except FAULTS as error:
                        entries[wearer] = {"fault": str(error)}
        except DeadlineError as error:  # what is published still gets its summary
            log.print(str(error), markup=False, soft_wrap=True)
            entries |= {wearer: {"fault": words} for wearer in self._asked if wearer not in entries}
        self._evaluate_s = time.monotonic() - begun
        return entries

    def _ask(self, manifest: Manifest, asked: Asked, wearer: str) -> dict[str, Any]:
        manifest.entry(wearer)
        done = stored_or_run(Respondent.of(self._store, manifest, self._method, keep_queries=True), asked, wearer)
        return evaluation_entry(done.result, done.place, kept=done.kept)

    def close(self, built: Built, evaluations: Mapping[str, dict[str, Any]]) -> tuple[dict[str, Any], str]:
        """The summary, compared with the night before and kept in the store; and where it is."""
        passed = all(gate.passed for gate in built.gates)
        build = {**built.outcome.wave_seconds, "gates": built.gate_seconds}
        seconds = {"plan": self._plan_s, **build, "evaluate": self._evaluate_s, "total": self._elapsed()}
        summary: dict[str, Any] = {
            "night": built.run_id,
            "state": "refused" if not passed else "published" if built.published else "unchanged",
            "started": self._started,
            "ended": timestamp(),
            "job": this_holder().model_dump(),
            "corpus": built.manifest.build["corpus"],
            "memory_id": built.manifest.memory_id,
            "made_shards": built.outcome.made,
            "failed_shards": len(built.outcome.failures),
            "wearers": memory_facts(built.manifest),
            "gates": [gate.to_json() for gate in built.gates],
            "evaluations": dict(evaluations),
            "seconds": {part: round(spent, 2) for part, spent in seconds.items()},
        }
        summary["comparison"] = compare_nights(self._previous, summary, self._why_not)
        return summary, write_night(self._store, summary, night_text(summary))

    def _elapsed(self) -> float:
        return time.monotonic() - self._begun

    def _left(self) -> float | None:
        return None if self._deadline_s is None else max(self._deadline_s - self._elapsed(), 0.0)
