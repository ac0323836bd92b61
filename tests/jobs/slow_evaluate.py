"""`daybook evaluate` with an encoder that is there at once but slow: `python -m tests.jobs.slow_evaluate ...`.

The code counts as unchanged from run to run, whoever edits it meanwhile. A question with CURSED in it raises.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jobs import answering, exams, fan_out
from jobs.console import run_app
from jobs.evaluate import evaluate
from ray_tasks.embedding.encoder import SentenceEncoder
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.types import Answer, Method, Question
from ray_tasks.scheduling.asking_actor import MethodChoice
from ray_tasks.scheduling.asking_source import MemorySource, choose_method
from tests.jobs.quick_encoder import QuickEncoder

SECONDS_EACH_CALL = 0.05
CURSED = "cursed"


class SlowEncoder(QuickEncoder):
    """The same after a while."""

    def queries(self, texts: list[str]) -> Any:
        """Unit vectors."""
        time.sleep(SECONDS_EACH_CALL)
        return super().queries(texts)


@dataclass(frozen=True)
class Cursed:
    """A method that raises for the questions that are cursed."""

    method: Method

    @property
    def name(self) -> str:
        """See Method."""
        return self.method.name

    def answer(self, question: Question, memory: WearerMemory) -> Answer:
        """See Method."""
        return self.answer_many([question], memory)[0]

    def answer_many(self, questions: Sequence[Question], memory: WearerMemory) -> list[Answer]:
        """See Method."""
        if any(CURSED in question.text for question in questions):
            raise RuntimeError("a cursed question")
        return self.method.answer_many(list(questions), memory)


class SlowSource(MemorySource):
    """The same for actors."""

    @cached_property
    def encoder(self) -> SentenceEncoder:
        """See MemorySource."""
        slow: Any = SlowEncoder(self.manifest.embedding_model)
        return slow  # type: ignore[no-any-return]

    def method(self, choice: MethodChoice, in_flight: int) -> Method:
        """See MemorySource."""
        return Cursed(super().method(choice, in_flight))


def cursed_method(*arguments: Any) -> Method:
    """Stands in for choose_method."""
    return Cursed(choose_method(*arguments))


if __name__ == "__main__":
    # By its name, so that actors find the class in this module.
    from tests.jobs import slow_evaluate

    vars(answering)["load_encoder"] = SlowEncoder
    vars(answering)["choose_method"] = cursed_method
    vars(fan_out)["MemorySource"] = slow_evaluate.SlowSource
    vars(exams)["code_digest"] = lambda: "unchanged"
    run_app(evaluate)
