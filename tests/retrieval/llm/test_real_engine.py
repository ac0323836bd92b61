"""The agents with a real engine on the CPU: the way through all three steps; the quality of its words is no matter.

Two cores take half an hour for it, so it runs only where DAYBOOK_ENGINE_QUESTIONS is set.
"""

from __future__ import annotations

import os

import pytest

from ray_tasks.engines.client import open_chat
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.retrieval.llm.method import AgentMethod
from ray_tasks.retrieval.registry import make_method
from ray_tasks.retrieval.settings import RetrievalSettings
from tests.engines.live import served
from tests.retrieval.small_memory import a_week, ask, clock, embed, make_memory

__all__ = ["served"]

QUESTIONS = [
    ask("Who repaired the lantern?", clock(2, 12, 0), "Tobi", "Mara", "Me", "Nuri", name="lantern"),
    ask("Where is the passport?", clock(3, 19, 0), "In the blue drawer", "On the roof", name="passport"),
    ask("Who usually waters the fern?", clock(2, 19, 30), "Mara", "Tobi", "Nuri", name="habit"),
    ask("When did I last slice the pineapple?", clock(3, 12, 0), "Yesterday", "Today", name="last"),
    ask("Who opened the jar of honey?", clock(3, 19, 30), "Nuri", "Tobi", name="honey"),
]


@pytest.mark.slow
@pytest.mark.skipif("DAYBOOK_ENGINE_QUESTIONS" not in os.environ, reason="set DAYBOOK_ENGINE_QUESTIONS to ask them")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("mode", ["auto", "json"])
def test_five_questions_go_all_the_way(served: ChatSettings, mode: str) -> None:
    """An engine without a parser for tools is asked in JSON; small replies and requests suit its 4096 tokens."""
    model = served.model_copy(update={"max_tokens": 400})
    settings = RetrievalSettings(
        draft="llm",
        curate="llm",
        respond="llm",
        tool_mode=mode,  # type: ignore[arg-type]
        draft_rounds=3,
        context_tokens=3000,
    )
    with open_chat(model) as chat:
        method = make_method("egocite", embed, settings, model=model, chat=lambda: chat)
        assert isinstance(method, AgentMethod)
        memory = make_memory(a_week())
        answers = method.answer_many(QUESTIONS, memory)
    for question, answer in zip(QUESTIONS, answers, strict=True):
        assert answer.status in ("answered", "unparsed")
        assert answer.choice in (None, *(label for label, _ in question.choices))
        assert 0 < len(answer.evidence) <= 15
        assert answer.tokens_in > 0
    assert any(answer.status == "answered" for answer in answers)
