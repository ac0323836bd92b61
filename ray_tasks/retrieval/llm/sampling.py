"""The sampling agent by a language model (EgoCITE §4.2, Appendix B.4): one call that curates the pool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import ChatError, Message
from ray_tasks.engines.prompts import Prompt
from ray_tasks.retrieval.agents import Curation, SamplingAgent
from ray_tasks.retrieval.llm.asking import PACKAGE, Asker, Books, ends_all, tokens_of
from ray_tasks.retrieval.llm.showing import item_json, question_json
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.types import Evidence, Question

PURPOSE: Final = "curate"


class Kept(BaseModel):
    """A curation: the word of time that was found in the question, and the numbers of the items to keep."""

    model_config = ConfigDict(extra="forbid")

    qualifier: Literal["last", "first", "usually", "before", "after", "named_time", "none"]
    keep: Annotated[list[Annotated[int, Field(ge=0, le=99_999)]], Field(max_length=60)]


class LlmCurator:
    """Curates by one call; a pool of no more items than may be kept needs none and stays whole.

    `policy` stands in where the model fails or keeps nothing, and chooses among its choice where that is too large.
    """

    def __init__(self, asker: Asker, settings: RetrievalSettings, policy: SamplingAgent) -> None:
        self._asker, self._settings, self._policy = asker, settings, policy

    async def curate(self, question: Question, pool: Sequence[Evidence], counts: CallCounts) -> Curation:
        """See AsyncSamplingAgent."""
        books = Books(counts)
        visible = _in_order(item for item in pool if item.end_ms <= question.at_ms)
        if len(visible) <= self._settings.evidence:
            return Curation(tuple(visible))
        kept = await self._ask(question, visible, books) or list(self._policy.curate(question, visible))
        if len(kept) > self._settings.evidence:
            books.noted["curate_too_many"] += 1
            kept = list(self._policy.curate(question, kept))
        return Curation(tuple(_in_order(kept)), books.tokens_in, books.tokens_out, books.notes, books.calls)

    async def _ask(self, question: Question, visible: Sequence[Evidence], books: Books) -> list[Evidence]:
        """The items that the model keeps; none where it fails, which is noted."""
        system = Prompt.load(PACKAGE, "curate").fill(most=self._settings.evidence)
        asked = question_json(question, choices=question.choices)
        room = self._settings.context_tokens - tokens_of(system) - tokens_of(asked) - 100
        numbered, left_out = self._fitting(visible, room)
        books.noted["curate_items_left_out"] += left_out
        pool = "\n".join(item_json(item, number) for number, item in numbered.items())
        filled = Prompt.load(PACKAGE, "curate_data").fill(question=asked, pool=pool, most=self._settings.evidence)
        try:
            reply = await self._asker.ask(
                [Message("system", system), Message("user", filled)], PURPOSE, books, schema=Kept
            )
        except ChatError as error:
            if ends_all(error):
                raise
            books.noted[f"curate_fallback_{error.kind}"] += 1
            return []
        wanted = dict.fromkeys(reply.parsed.keep) if isinstance(reply.parsed, Kept) else {}
        books.noted["curate_unknown_item"] += sum(number not in numbered for number in wanted)
        kept = [numbered[number] for number in wanted if number in numbered]
        books.noted["curate_fallback_none"] += not kept
        return kept

    @staticmethod
    def _fitting(visible: Sequence[Evidence], room_tokens: int) -> tuple[dict[int, Evidence], int]:
        """Items by number, counted from 1 in order of time, the best that fit; and how many do not."""
        ranked = sorted(visible, key=lambda item: (-item.score, item.start_ms, item.item_id))
        fitting: set[str] = set()
        for item in ranked:
            room_tokens -= tokens_of(item_json(item, len(visible)))
            if room_tokens < 0:
                break
            fitting.add(item.item_id)
        numbered = {n: item for n, item in enumerate(visible, start=1) if item.item_id in fitting}
        return numbered, len(visible) - len(numbered)


def _in_order(items: Iterable[Evidence]) -> list[Evidence]:
    return sorted(items, key=lambda item: (item.start_ms, item.end_ms, item.item_id))
