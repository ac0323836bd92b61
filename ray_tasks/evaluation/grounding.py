"""Whether an answer is grounded in what was retrieved (grounded accuracy, Imprint section 4.1).

The paper: an answer is grounded when it is obtained from a retrieved interaction and its explanation matches that
interaction's fields; who judges that, it does not say. Here code does, from the answer alone. Methods on records name
the field that tells the answer, which must be one of the retrieved records'. Of all others the retrieved texts are the
fields, sentence by sentence: one of them must hold what was chosen. In both, an option that is a time is told by
something retrieved that lies in it, people by being named, and words that the question says itself tell nothing.
"""

from __future__ import annotations

import re
from typing import Final

from ray_tasks.index.lexical import tokenize
from ray_tasks.retrieval.choice_kinds import kind_of, mentions, people_in, times_of
from ray_tasks.retrieval.types import Answer, Evidence, Question
from ray_tasks.rows import wearer_name

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")


def is_grounded(question: Question, answer: Answer) -> bool:
    """Whether what was retrieved tells the choice of an answer, be it right or wrong."""
    labels = [label for label, _ in question.choices]
    if answer.status != "answered" or answer.choice not in labels or not answer.evidence:
        return False
    if answer.fields is not None:
        return bool(answer.basis) and answer.basis in answer.fields
    return _is_told(question, labels.index(answer.choice), answer.evidence)


def _is_told(question: Question, number: int, evidence: tuple[Evidence, ...]) -> bool:
    """Whether some retrieved text tells the option of that number."""
    option, windows = question.choices[number][1], times_of(question)
    if windows:
        return any(first <= item.start_ms <= last for item in evidence for first, last in windows[number])
    told = ((sentence, item.view) for item in evidence for sentence in _SENTENCE.split(item.text))
    if kind_of(question) == "person":
        people, wearer = people_in(option), wearer_name(question.wearer)
        return bool(people) and any(all(mentions(one, text, view, wearer) for one in people) for text, view in told)
    words = set(tokenize(option))
    return bool(words - set(tokenize(question.text))) and any(words <= set(tokenize(text)) for text, _ in told)
