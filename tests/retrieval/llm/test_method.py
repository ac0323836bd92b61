"""The whole method over real HTTP: combinations, faults, and many questions at once."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Iterator
from typing import Any, get_args

import pytest

from ray_tasks.corpus.week_time import parse_week_time
from ray_tasks.engines.client import ChatClient, open_chat
from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import RejectedError, UnreachableError
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.errors import UsageError
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.llm.method import AgentMethod
from ray_tasks.retrieval.registry import make_method, method_identity, model_steps
from ray_tasks.retrieval.settings import Agent, RetrievalSettings
from ray_tasks.retrieval.types import AsyncMethod, Question
from tests.chat_server import ChatServer, FaultPlan, Reply, text_of
from tests.retrieval.llm.wire_model import obliging
from tests.retrieval.small_memory import Coarse, a_week, ask, clock, embed, make_memory

WIDE = [
    Coarse(view, parse_week_time(clock(day, 10, 0)), parse_week_time(clock(day, 10, 9, 30)), text)
    for day in (1, 2, 3)
    for view, text in (("activity", "I tidy the terrace with Nuri"), ("conversation", "Mara and I talk about fern"))
]
QUESTIONS = [
    ask("Who repaired the lantern?", clock(2, 12, 0), "Tobi", "Mara", "Me", "Nuri", name="lantern"),
    ask("Where is the passport?", clock(3, 19, 0), "In the blue drawer", "On the roof", "In the jar", name="passport"),
    ask("Who usually waters the fern?", clock(2, 19, 30), "Mara", "Tobi", "Nuri", name="habit"),
    ask("What happened on the second day?", clock(3, 19, 30), name="free"),
]
ALL = RetrievalSettings(draft="llm", curate="llm", respond="llm")


@pytest.fixture(scope="module")
def memory() -> WearerMemory:
    return make_memory(a_week(), WIDE)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(obliging) as running:
        yield running


def settings_of(server: ChatServer, **more: Any) -> ChatSettings:
    return ChatSettings(model="test-model", urls=(server.url,), outage_s=0, longest_wait_s=0.05, **more)


def made(chat: ChatClient, settings: RetrievalSettings = ALL) -> AgentMethod:
    method = make_method("egocite", embed, settings, model=chat.settings, chat=lambda: chat)
    assert isinstance(method, AgentMethod)
    assert isinstance(method, AsyncMethod)
    return method


COMBINATIONS = [mixed for mixed in itertools.product(get_args(Agent), repeat=3) if "llm" in mixed]


@pytest.mark.parametrize(("draft", "curate", "respond"), COMBINATIONS)
def test_every_combination_of_rules_and_model_answers(
    server: ChatServer, memory: WearerMemory, draft: Agent, curate: Agent, respond: Agent
) -> None:
    settings = RetrievalSettings(draft=draft, curate=curate, respond=respond)
    with open_chat(settings_of(server)) as chat:
        answers = made(chat, settings).answer_many(QUESTIONS, memory)
    purposes = {"draft": 3 * (draft == "llm"), "curate": 1 * (curate == "llm"), "respond": 1 * (respond == "llm")}
    for question, answer in zip(QUESTIONS, answers, strict=True):
        assert answer.question_id == question.question_id
        assert answer.status == "answered"
        assert answer.calls == sum(purposes.values())
        assert answer.tokens_in > 0
        assert 0 < len(answer.evidence) <= 15
        assert all(item.end_ms <= question.at_ms for item in answer.evidence)
        assert [item.start_ms for item in answer.evidence] == sorted(item.start_ms for item in answer.evidence)
        assert len({item.item_id for item in answer.evidence}) == len(answer.evidence)
        if question.choices and respond == "llm":
            assert answer.choice == question.choices[-1][0]
        assert bool(answer.probabilities) is (respond == "rules" and bool(question.choices))
    assert server.served.requests == sum(answer.calls for answer in answers)


def test_rules_alone_ask_no_model_and_need_none(memory: WearerMemory) -> None:
    plain = make_method("egocite", embed)
    assert not isinstance(plain, AsyncMethod)
    assert plain.answer(QUESTIONS[0], memory).calls == 0
    with pytest.raises(UsageError, match="leave curate, respond to a language model, but none is given"):
        make_method("egocite", embed, RetrievalSettings(curate="llm", respond="llm"))


def test_the_baseline_can_be_answered_by_a_model(server: ChatServer, memory: WearerMemory) -> None:
    with open_chat(settings_of(server)) as chat:
        method = make_method("caption-rag", embed, ALL, model=chat.settings, chat=lambda: chat)
        answer = method.answer(QUESTIONS[0], memory)
    assert method.name == "caption-rag"
    assert (answer.choice, answer.calls, len(answer.evidence)) == ("D", 1, 15)
    assert {item.view for item in answer.evidence} == {"caption"}
    assert model_steps("caption-rag", ALL) == ("respond",)
    assert model_steps("egocite", ALL) == ("draft", "curate", "respond")
    assert model_steps("caption-rag", RetrievalSettings(draft="llm")) == ()


def test_an_answer_can_be_traced_from_its_searches_to_its_letter(server: ChatServer, memory: WearerMemory) -> None:
    with open_chat(settings_of(server)) as chat:
        trace = made(chat).trace(QUESTIONS[0], memory)
        assert trace.answer == made(chat).answer(QUESTIONS[0], memory)
    assert [len(turn.calls) for turn in trace.rounds] == [2, 2, 1]
    first = trace.rounds[0].calls[0]
    assert len(first.found) == 20
    assert all(found.new for found in first.found)
    assert len(trace.pool) > len(trace.curated) == 10
    assert set(trace.curated) <= set(trace.pool)
    assert trace.shown
    told = "\n".join(trace.lines())
    assert "round 1" in told
    assert "search_activity 'Who repaired the lantern?' 'DAY1 to now' in DAY1 00:00:00-DAY2 12:00:00" in told
    assert "answer: D (answered) So it is told." in told
    assert "3 rounds, 5 calls" in told
    json.dumps(trace.to_json())


def test_a_model_that_hangs_fails_the_question_and_no_other(memory: WearerMemory) -> None:
    def script(body: dict[str, Any]) -> Any:
        return Reply(status=503, text="overloaded") if "passport" in text_of(body) else obliging(body)

    async def both(method: AgentMethod, counts: CallCounts) -> list[Any]:
        asks = (method.answer_async(question, memory, counts) for question in QUESTIONS[:2])
        return await asyncio.gather(*asks, return_exceptions=True)

    with ChatServer(script) as server, open_chat(settings_of(server, attempts=2)) as chat:
        counts = CallCounts()
        good, bad = asyncio.run(both(made(chat), counts))
        assert good.choice == "D"
        assert isinstance(bad, UnreachableError)
        assert counts.balanced
        assert counts.failed["unreachable"] == 1
    plan = FaultPlan(share=1.0, kinds=("hang",), in_a_row=99)
    with (
        ChatServer(obliging, faults=plan) as server,
        open_chat(settings_of(server, attempts=2, timeout_s=0.2)) as chat,
        pytest.raises(UnreachableError),
    ):
        made(chat).answer(QUESTIONS[0], memory)


def test_faults_on_the_way_change_no_answer(server: ChatServer, memory: WearerMemory) -> None:
    with open_chat(settings_of(server)) as chat:
        quiet = made(chat).answer_many(QUESTIONS, memory)
    plan = FaultPlan(share=0.4, kinds=("slow", "429", "500", "cut", "bad_body"))
    with ChatServer(obliging, faults=plan) as stormy, open_chat(settings_of(stormy)) as chat:
        assert made(chat).answer_many(QUESTIONS, memory) == quiet
        assert stormy.served.faults.total()


def test_broken_arguments_over_the_wire_cost_a_round(memory: WearerMemory) -> None:
    def script(body: dict[str, Any]) -> Any:
        if body.get("tools") and len(body["messages"]) == 2 and "could not be used" not in text_of(body):
            return Reply(tool_calls=[("search_activity", '{"query": "lan'), ("no_such_tool", "{}")])
        return obliging(body)

    with ChatServer(script) as server, open_chat(settings_of(server)) as chat:
        answer = made(chat).answer(QUESTIONS[0], memory)
        assert answer.choice == "D"
        assert answer.rounds == 4
        assert "draft_invalid_json" in answer.notes


def test_an_endpoint_that_takes_nothing_is_an_error_and_not_an_answer(memory: WearerMemory) -> None:
    with (
        ChatServer(lambda _: Reply(status=400, text="no")) as server,
        open_chat(settings_of(server)) as chat,
        pytest.raises(RejectedError, match="the endpoint took none"),
    ):
        made(chat).answer(QUESTIONS[0], memory)
    with (
        ChatServer(obliging, model="another") as server,
        open_chat(settings_of(server)) as chat,
        pytest.raises(RejectedError, match="404"),
    ):
        made(chat).answer(QUESTIONS[0], memory)


def test_many_questions_are_under_way_at_once_and_each_gets_the_answer_it_would_get_alone(
    server: ChatServer, memory: WearerMemory
) -> None:
    server.latency_s = 0.05
    many = [
        Question(f"{question.question_id}{number}", question.wearer, question.at_ms, question.text, question.choices)
        for number in range(8)
        for question in QUESTIONS
    ]
    with open_chat(settings_of(server)) as chat:
        method = made(chat)
        together = method.answer_many(many, memory)
        assert server.served.most_at_once > 16
        for question, answer in zip(many[:8], together, strict=False):
            assert method.answer(question, memory) == answer


def test_identities_tell_what_decides_answers_and_nothing_else() -> None:
    model_ = ChatSettings(model="m")
    rules, agents = RetrievalSettings(), ALL
    assert method_identity("egocite", rules) == method_identity("egocite", rules, model_)
    names = {
        method_identity("egocite", rules),
        method_identity("caption-rag", rules),
        method_identity("egocite", rules.changed({"decay": 0.9})),
        method_identity("egocite", agents, model_),
        method_identity("egocite", agents.changed({"draft_rounds": 3}), model_),
        method_identity("egocite", agents, model_.model_copy(update={"temperature": 1.0})),
        method_identity("egocite", agents, model_.model_copy(update={"revision": "2"})),
    }
    assert len(names) == 7
    assert method_identity("caption-rag", agents.changed({"respond": "rules"}), model_) not in names
    elsewhere = model_.model_copy(update={"urls": ("http://other:1/v1",), "concurrency": 3})
    assert method_identity("egocite", agents, elsewhere) == method_identity("egocite", agents, model_)
