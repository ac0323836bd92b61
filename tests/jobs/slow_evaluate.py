"""`daybook evaluate` with an encoder that is there at once but slow: `python -m tests.jobs.slow_evaluate ...`.

The code counts as unchanged from run to run, whoever edits it meanwhile.
"""

from __future__ import annotations

import time
from typing import Any

from jobs import answering, exams
from jobs.console import run_app
from jobs.evaluate import evaluate
from tests.jobs.quick_encoder import QuickEncoder

SECONDS_EACH_CALL = 0.05


class SlowEncoder(QuickEncoder):
    """The same after a while."""

    def queries(self, texts: list[str]) -> Any:
        """Unit vectors."""
        time.sleep(SECONDS_EACH_CALL)
        return super().queries(texts)


if __name__ == "__main__":
    vars(answering)["load_encoder"] = SlowEncoder
    vars(exams)["code_digest"] = lambda: "unchanged"
    run_app(evaluate)
