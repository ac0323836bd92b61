"""Method `caption-rag`: the captions nearest to the question, and nothing else (the plain baseline).

One query, cosine over the caption vectors, no time, no words, no choices; the answer is made as in `egocite`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.agents import Draft
from ray_tasks.retrieval.clip_table import ClipTable
from ray_tasks.retrieval.evidence import caption_evidence
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.trace import Call, Found, Round
from ray_tasks.retrieval.types import Embed, Evidence, Question


class CaptionPlanner:
    """Drafts the captions with the largest cosine to the question."""

    def __init__(self, embed: Embed, settings: RetrievalSettings) -> None:
        self._embed = embed
        self._settings = settings

    def draft(self, questions: Sequence[Question], memory: WearerMemory) -> list[Draft]:
        """The best captions of each question, in order of time."""
        if not questions:
            return []
        table = ClipTable.of(memory)
        queries = self._embed([question.text for question in questions])
        drafts: list[Draft] = []
        for question, query in zip(questions, queries, strict=True):
            hits = memory.captions.search(query, at_ms=question.at_ms, k=self._settings.evidence)
            in_order = sorted(hits, key=lambda hit: hit.row)
            drafts.append(Draft(tuple(caption_evidence(table, hit.row, hit.score) for hit in in_order), rounds=1))
        return drafts

    def explain(self, question: Question, memory: WearerMemory) -> tuple[Round, ...]:
        """The one search, best first; time plays no part in it."""
        pool = self.draft([question], memory)[0].pool
        ranked = sorted(enumerate(pool, start=1), key=lambda numbered: (-numbered[1].score, numbered[0]))
        found = tuple(Found(number, item, item.score, 1.0, True) for number, item in ranked)
        return (Round(1, "", (Call("search_captions", question.text, "", None, found, f"{len(found)} captions"),)),)


class KeepAll:
    """Curates nothing away: the draft holds no more than may be kept."""

    def curate(self, question: Question, pool: Sequence[Evidence]) -> tuple[Evidence, ...]:
        """The pool as it is, less anything that ends after the question's time."""
        return tuple(item for item in pool if item.end_ms <= question.at_ms)
