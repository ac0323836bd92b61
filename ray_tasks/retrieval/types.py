"""Questions, evidence and answers: what every method takes and gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ray_tasks.engines.counts import CallCounts
from ray_tasks.index.memory import WearerMemory

MAX_EVIDENCE = 15
"""Items a method may keep before it answers (EgoCITE §5: the retrieval budget of every method)."""

FloatMatrix = npt.NDArray[np.float32]
Status = Literal["answered", "declined", "unparsed", "error"]


@dataclass(frozen=True, slots=True)
class Question:
    """What a method may know of a question: never its key, its target or its id's meaning.

    `choices` holds (label, text) pairs in the order shown, for example ("A", "In my room"); empty for free questions.
    `at_ms` is the week time at which it is asked: nothing that ends later may be seen.
    """

    question_id: str
    wearer: str
    at_ms: int
    text: str
    choices: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """An item that a method found; view is one of the four views or `caption`."""

    item_id: str
    view: str
    start_ms: int
    end_ms: int
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Answer:
    """A method's answer: `choice` is a label of the question (None where there was none to give).

    `probabilities` are (label, probability) in the order of the choices. `evidence` has at most MAX_EVIDENCE items, in
    order of time; best first is by score. `status` tells an answer from a refusal, an unreadable reply and an error,
    and `error` is what went wrong. `calls` and tokens are those of a language model's replies that went into the
    answer, replies from a cache included; what else was asked and failed is in the books of the client. `cited` are the
    captions, as intervals, on which a model says that it relies. `fields` are what the records say that a method on
    records answered from, each as "name: value", and `basis` the one of them that tells the answer, "" where none does;
    None stands for methods without records. `found` is the probability that the evidence answers the question at all,
    None where a method does not measure it; below its threshold `notes` say "not_found".
    """

    question_id: str
    choice: str | None
    evidence: tuple[Evidence, ...]
    status: Status = "answered"
    probabilities: tuple[tuple[str, float], ...] = ()
    text: str = ""
    rounds: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    notes: tuple[str, ...] = field(default=())
    calls: int = 0
    error: str = ""
    cited: tuple[tuple[int, int], ...] = ()
    fields: tuple[str, ...] | None = None
    basis: str = ""
    found: float | None = None


class Embed(Protocol):
    """Texts to unit vectors, float32 of shape (n, d); the embedder with which the memory was built."""

    def __call__(self, texts: list[str]) -> FloatMatrix: ...


class Method(Protocol):
    """One way of answering. Implementations keep no state between questions."""

    @property
    def name(self) -> str:
        """The name by which it is chosen."""
        ...

    def answer(self, question: Question, memory: WearerMemory) -> Answer:
        """Answers from what `memory` held at `question.at_ms`."""
        ...

    def answer_many(self, questions: list[Question], memory: WearerMemory) -> list[Answer]:
        """The same for a batch of one wearer's questions, in their order; each as if it were asked alone."""
        ...


@runtime_checkable
class Preparing(Protocol):
    """A Method, or an agent of one, that does some work once for many questions, with less effort than batch by batch.

    It changes no answer: it may only fill the memory of an embedder.
    """

    def prepare(self, questions: Sequence[Question]) -> None:
        """Does that work for questions that are about to be asked."""
        ...


@runtime_checkable
class AsyncMethod(Protocol):
    """A Method that waits for a language model most of the time, so that many of its questions can be under way."""

    async def answer_async(self, question: Question, memory: WearerMemory, counts: CallCounts) -> Answer:
        """Answers as Method.answer does, on any event loop; books all calls in `counts`.

        Raises UnreachableError where no endpoint answers, and RejectedError where it takes none of the requests: then
        the question was not asked at all and can be asked again. All other failures are part of the answer.
        """
        ...
