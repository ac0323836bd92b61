"""`daybook evaluate` with an encoder that is there at once but slow: `python -m tests.jobs.slow_evaluate ...`.

The code counts as unchanged from run to run, whoever edits it meanwhile.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from jobs import answering, exams
from jobs.console import run_app
from jobs.evaluate import evaluate
from ray_tasks.embedding.encoder import encoder_identity
from tests.jobs.memories import embed

SECONDS_EACH_CALL = 0.05


@dataclass(frozen=True)
class SlowEncoder:
    """Stands in for a SentenceEncoder."""

    model: str

    @property
    def identity(self) -> str:
        """As the memory's manifest has it."""
        return encoder_identity(self.model)

    def queries(self, texts: list[str]) -> Any:
        """Unit vectors, after a while."""
        time.sleep(SECONDS_EACH_CALL)
        return embed(texts)


if __name__ == "__main__":
    vars(answering)["load_encoder"] = SlowEncoder
    vars(exams)["code_digest"] = lambda: "unchanged"
    run_app(evaluate)
