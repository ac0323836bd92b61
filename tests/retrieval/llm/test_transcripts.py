"""Whole talks over real HTTP, one for each thing that models do: what is sent, what they say, and what comes of it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from ray_tasks.engines.client import open_chat
from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.curator import RuleCurator
from ray_tasks.retrieval.llm.method import AgentMethod
from ray_tasks.retrieval.llm.policy import PolicyCurator
from ray_tasks.retrieval.registry import make_method
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.trace import Trace
from ray_tasks.retrieval.types import Answer
from tests.chat_server import ChatServer, Reply
from tests.chat_server.faults import Fault
from tests.chat_server.replies import as_reply
from tests.retrieval.llm.wire_model import asked_of, obliging, purpose_of
from tests.retrieval.small_memory import a_week, ask, clock, embed, make_memory

LANTERN = ask("Who repaired the lantern?", clock(2, 12, 0), "Tobi", "Mara", "Me", "Nuri", name="lantern")
PASSPORT = ask("Where is the passport?", clock(3, 19, 0), "In the blue drawer", "On the roof", name="passport")
CALLS = RetrievalSettings(draft="llm", curate="llm", respond="llm", tool_mode="calls")
AUTO = replace(CALLS, tool_mode="auto")
PROSE = replace(CALLS, answer_form="prose")
KEEPING = replace(CALLS, curate_tool=True)

Said = str | dict[str, Any] | Reply
FOUND = "20 found; 20 new"
KEPT: Said = {"qualifier": "none", "keep": [2, 5, 9]}
MARA: Said = {"reason": "She holds it.", "cited": [], "answer": "B"}


@pytest.fixture(scope="module")
def memory() -> WearerMemory:
    return make_memory(a_week())


def call(*named: tuple[str, str]) -> Reply:
    """A turn of tool calls with their arguments as text."""
    return Reply(tool_calls=named)


def search(query: str, time: str = "", tool: str = "search_action_utterance") -> tuple[str, str]:
    """A search."""
    return tool, json.dumps({"query": query, **({"time_query": time} if time else {})})


DONE = ("answer", "{}")
LOOK = call(search("lantern"))


@dataclass
class Log:
    """A model that says given things in turn, and the talk as lines."""

    draft: Sequence[Said] = (LOOK, call(DONE))
    curate: Sequence[Said] = (KEPT,)
    respond: Sequence[Said] = (MARA,)
    lines: list[str] = field(default_factory=list)
    _told: dict[str, int] = field(default_factory=dict)
    _turns: dict[str, int] = field(default_factory=dict)

    def reply(self, body: dict[str, Any]) -> Said:
        """See Script."""
        purpose = purpose_of(body)
        named = [one["function"]["name"] for message in body["messages"] for one in message.get("tool_calls", ())]
        assert all(re.fullmatch("[A-Za-z0-9_-]{1,64}", name) for name in named), "endpoints take no other names"
        turn = self._turns.setdefault(purpose, 0)
        self._turns[purpose] += 1
        known = self._told.get(purpose, 1)
        said: Sequence[Said] = getattr(self, purpose)
        for message in body["messages"][known:]:
            if message["role"] == "tool" or (message["role"] == "user" and known > 1):
                self.lines.append(f"{purpose} is told: {_short(message['content'])}")
        remark = body["messages"][-1]["content"].partition("Your last reply could not be used: ")[2]
        if remark:
            self.lines.append(f"{purpose} is told of its last reply: {remark.partition(':')[0]}")
        if known == 1:
            self.lines.append(f"{purpose} is asked")
        self._told[purpose] = len(body["messages"])
        chosen = said[min(turn, len(said) - 1)]
        self.lines.append(f"{purpose} says: {_summary(as_reply(chosen))}")
        return chosen


def _short(text: str) -> str:
    """The beginning of what is told, without lists of numbers."""
    plain = " ".join(text.split()).partition("Round ")[0]
    return re.sub(r"(new|known): \d+(?:, \d+)*", r"\1", plain)[:72].rstrip()


def _summary(reply: Reply) -> str:
    if reply.status != 200:
        return f"[{reply.status}]"
    if reply.refusal:
        return "[refuses]"
    calls = " + ".join(f"{name} {arguments}" for name, arguments in reply.tool_calls)
    return (calls or reply.text or "[nothing]") + (" [cut]" if reply.finish_reason == "length" else "")


def talk(log: Log, memory: WearerMemory, settings: RetrievalSettings = CALLS, **client: Any) -> Trace:
    """Lets the model answer who repaired the lantern; unusable replies are asked for once unless `client` says more."""
    with ChatServer(log.reply) as server:
        model = ChatSettings(model="test-model", urls=(server.url,), outage_s=0, **{"reply_attempts": 1, **client})
        with open_chat(model) as chat:
            method = make_method("egocite", embed, settings, model=model, chat=lambda: chat)
            assert isinstance(method, AgentMethod)
            return method.trace(LANTERN, memory)


UNREADABLE = "draft is told of its last reply: a call in it could not be read"
END = ["curate is asked", f"curate says: {json.dumps(KEPT)}", "respond is asked", f"respond says: {json.dumps(MARA)}"]
"""How a talk ends once the pool is filled."""
LOOKED = [
    'draft says: search_action_utterance {"query": "lantern"}',
    f"draft is told: {FOUND}.",
    "draft says: answer {}",
]


def test_several_calls_in_one_turn(memory: WearerMemory) -> None:
    log = Log(
        draft=[call(search("lantern", "DAY1"), search("kite", "", "search_activity"), search("fern")), call(DONE)]
    )
    trace = talk(log, memory)
    assert log.lines == [
        "draft is asked",
        'draft says: search_action_utterance {"query": "lantern", "time_query": "DAY1"}'
        ' + search_activity {"query": "kite"} + search_action_utterance {"query": "fern"}',
        "draft is told: 20 found; near DAY1 00:00:00-23:59:59; 20 new.",
        "draft is told: 0 found; none of them new.",
        "draft is told: 20 found; 20 new.",
        "draft says: answer {}",
        *END,
    ]
    assert (trace.answer.choice, trace.answer.notes, len(trace.pool)) == ("B", (), 40)


def test_a_search_and_answer_in_one_turn(memory: WearerMemory) -> None:
    log = Log(draft=[call(search("lantern"), DONE)])
    trace = talk(log, memory)
    assert log.lines == [
        "draft is asked",
        'draft says: search_action_utterance {"query": "lantern"} + answer {}',
        *END,
    ]
    assert (trace.answer.choice, len(trace.pool)) == ("B", 20)


def test_arguments_that_are_no_json(memory: WearerMemory) -> None:
    log = Log(draft=[call(("search_action_utterance", '{"query": "lant')), *Log.draft])
    trace = talk(log, memory)
    assert log.lines[:4] == [
        "draft is asked",
        'draft says: search_action_utterance {"query": "lant',
        UNREADABLE,
        'draft says: search_action_utterance {"query": "lantern"}',
    ]
    assert (trace.answer.choice, trace.answer.rounds, trace.answer.notes) == ("B", 3, ("draft_invalid_json",))
    assert "are not JSON" in trace.rounds[0].problem


def test_a_tool_that_there_is_not_beside_one_that_there_is(memory: WearerMemory) -> None:
    log = Log(draft=[call(("look everywhere!", "{}"), search("lantern")), call(DONE)])
    trace = talk(log, memory)
    assert log.lines == [
        "draft is asked",
        'draft says: look everywhere! {} + search_action_utterance {"query": "lantern"}',
        "draft is told: There is no tool 'look everywhere!'. Call one of: search_action_utteranc",
        "draft is told: 20 found; 20 new.",
        "draft says: answer {}",
        *END,
    ]
    assert (trace.answer.choice, trace.answer.rounds, trace.answer.notes) == ("B", 2, ("call_unusable",))


def test_no_call_at_all(memory: WearerMemory) -> None:
    log = Log(draft=["It was Mara, I think.", *Log.draft])
    trace = talk(log, memory)
    assert log.lines[:3] == [
        "draft is asked",
        "draft says: It was Mara, I think.",
        "draft is told: You called no tool. Call a search, or answer if the pool is good enough.",
    ]
    assert log.lines[3:] == [*LOOKED, *END]
    assert (trace.answer.choice, trace.answer.notes) == ("B", ("no_call",))


def test_no_call_from_an_endpoint_that_may_hide_its_tools(memory: WearerMemory) -> None:
    """The next round asks for one JSON action instead."""
    step = {"thought": "", "action": "search_action_utterance", "query": "lantern", "time_query": "", "keep": []}
    log = Log(draft=["It was Mara, I think.", step, {**step, "action": "answer"}])
    trace = talk(log, memory, AUTO)
    assert [line for line in log.lines if line.startswith("draft is")] == [
        "draft is asked",
        "draft is told: You called no tool. Call a search, or answer if the pool is good enough.",
        "draft is told: 20 found; 20 new.",
    ]
    assert (trace.answer.choice, trace.answer.notes) == ("B", ("no_call", "tools_not_used"))


def test_an_endpoint_that_takes_no_tools(memory: WearerMemory) -> None:
    step = {"thought": "", "action": "search_action_utterance", "query": "lantern", "time_query": "", "keep": []}
    log = Log(draft=[Reply(status=400, text="no tools here"), step, {**step, "action": "answer"}])
    trace = talk(log, memory, AUTO)
    assert log.lines[:3] == ["draft is asked", "draft says: [400]", f"draft says: {json.dumps(step)}"]
    assert (trace.answer.choice, trace.answer.notes) == ("B", ("tools_not_taken",))


def test_a_time_that_cannot_be_read(memory: WearerMemory) -> None:
    log = Log(draft=[call(search("lantern", "when Mara came")), call(search("lantern", "DAY1 morning")), call(DONE)])
    trace = talk(log, memory)
    assert log.lines[:5] == [
        "draft is asked",
        'draft says: search_action_utterance {"query": "lantern", "time_query": "when Mara came"}',
        "draft is told: Not searched: time_query 'when Mara came' cannot be read; write a point",
        'draft says: search_action_utterance {"query": "lantern", "time_query": "DAY1 morning"}',
        "draft is told: 20 found; near DAY1 00:00:00-12:12:00; 20 new.",
    ]
    assert (trace.answer.choice, trace.answer.notes) == ("B", ("time_unreadable",))


def test_an_answer_before_any_search_and_a_search_twice(memory: WearerMemory) -> None:
    log = Log(draft=[call(DONE), LOOK, LOOK, call(DONE)])
    trace = talk(log, memory)
    assert [line for line in log.lines if line.startswith("draft is told")] == [
        "draft is told: The pool is still empty. Search first.",
        "draft is told: 20 found; 20 new.",
        "draft is told: Not searched: round 2 did just this. Change the words, the view or the t",
    ]
    assert (trace.answer.choice, trace.answer.notes) == ("B", ("answer_too_early", "call_repeated"))


def test_curating_the_pool_while_drafting_to_some_and_to_none(memory: WearerMemory) -> None:
    turns = [LOOK, call(("curate_index", '{"keep": [99]}')), call(("curate_index", '{"keep": [3, 1]}')), call(DONE)]
    log = Log(draft=turns)
    trace = talk(log, memory, KEEPING)
    assert [line for line in log.lines if line.startswith("draft is told")] == [
        "draft is told: 20 found; 20 new.",
        "draft is told: None of these numbers is in the pool, so nothing was removed.",
        "draft is told: 18 items removed, 2 kept.",
    ]
    assert log.lines[-2:] == END[-2:], "a pool that may be kept whole needs no curation"
    assert (trace.answer.choice, len(trace.curated), trace.answer.notes) == ("B", 2, ("call_unusable",))


@pytest.mark.parametrize(
    ("said", "note"),
    [
        (Reply(refusal="I would rather not."), "draft_refused"),
        (Reply('{"thou', finish_reason="length"), "draft_truncated"),
        (Reply(""), "draft_empty"),
        (Reply(status=400, text="too long"), "draft_rejected"),
    ],
)
def test_drafting_that_fails_is_done_by_the_rules(memory: WearerMemory, said: Reply, note: str) -> None:
    log = Log(draft=[said])
    trace = talk(log, memory)
    plain = {name.partition(":")[0] for name in trace.answer.notes}
    assert note in plain and any(name.startswith("draft_fallback_") for name in plain)
    assert log.lines[-4:] == END
    assert trace.answer.choice == "B" and any("lantern" in item.text for item in trace.pool)


@pytest.mark.parametrize(
    ("said", "note"),
    [
        ({"qualifier": "none", "keep": []}, "curate_fallback_none"),
        ({"qualifier": "none", "keep": [77, 78]}, "curate_fallback_none"),
        (Reply(refusal="I would rather not."), "curate_fallback_refused"),
        (Reply('{"qualifier": "la', finish_reason="length"), "curate_fallback_truncated"),
        ("All of them, please.", "curate_fallback_invalid_json"),
        (Reply(""), "curate_fallback_empty"),
        (Reply(status=400, text="too long"), "curate_fallback_rejected"),
    ],
)
def test_curation_to_none_or_that_fails_is_done_by_the_policy(memory: WearerMemory, said: Said, note: str) -> None:
    log = Log(curate=[said])
    trace = talk(log, memory)
    assert log.lines == ["draft is asked", *LOOKED, "curate is asked", log.lines[5], *END[-2:]]
    assert note in trace.answer.notes
    assert trace.curated == PolicyCurator(RuleCurator(CALLS)).curate(LANTERN, trace.pool)
    assert trace.answer.choice == "B"


@pytest.mark.parametrize(
    ("said", "note"),
    [
        (Reply('{"reason": "She ho', finish_reason="length"), "respond_truncated"),
        ("Bananas are yellow.", "respond_invalid_json"),
        (Reply(""), "respond_empty"),
        ({"reason": "", "cited": [], "answer": "F"}, "respond_invalid_json"),
    ],
)
def test_an_answer_that_cannot_be_read_is_asked_for_once_more(memory: WearerMemory, said: Said, note: str) -> None:
    asked = ["respond is asked", f"respond says: {_summary(as_reply(said))}"]
    log = Log(respond=[said, MARA])
    trace = talk(log, memory)
    assert [*log.lines[-4:-2], log.lines[-1]] == [*asked, END[-1]]
    assert log.lines[-2].startswith("respond is told: This reply cannot be read: it names ")
    assert (trace.answer.choice, trace.answer.status) == ("B", "answered")
    assert {note, "respond_again"} <= set(trace.answer.notes)
    log = Log(respond=[said])
    trace = talk(log, memory)
    assert (trace.answer.choice, trace.answer.status) == (None, "unparsed")
    assert log.lines.count(asked[1]) == 2
    assert "respond_unparsed" in trace.answer.notes


def test_a_refusal_to_answer(memory: WearerMemory) -> None:
    log = Log(respond=[Reply(refusal="I would rather not.")])
    trace = talk(log, memory)
    assert log.lines[-2:] == ["respond is asked", "respond says: [refuses]"]
    assert (trace.answer.choice, trace.answer.status, trace.answer.notes) == (None, "declined", ("respond_refused",))


@pytest.mark.parametrize(
    ("said", "choice"),
    [
        ("Answer: A. Wait, at DAY1 10:20:00 it is Mara who has the screwdriver.\nAnswer: B", "B"),
        ("<think>Answer: C</think>Mara it is.\nAnswer: B", "B"),
        ("Answer: A or B", None),
    ],
)
def test_of_several_stated_answers_the_last_counts(memory: WearerMemory, said: str, choice: str | None) -> None:
    assert talk(Log(respond=[said]), memory, PROSE).answer.choice == choice


def test_an_unusable_reply_is_drawn_again_before_it_costs_a_round(memory: WearerMemory) -> None:
    log = Log(draft=[call(("search_action_utterance", "{")), *Log.draft])
    trace = talk(log, memory, reply_attempts=2)
    assert log.lines[1:4] == ["draft says: search_action_utterance {", *LOOKED[:2]]
    assert (trace.answer.rounds, trace.answer.notes) == (2, ())


class HangingServer(ChatServer):
    """Lets some requests hang, so many times each or for ever."""

    hangs: Callable[[dict[str, Any]], bool]
    times: int = 1_000_000

    def _fault(self, body: dict[str, Any]) -> Fault | None:
        if not self.hangs(body) or self.times <= 0:
            return None
        self.times -= 1
        return "hang"


def asked_while(
    hangs: Callable[[dict[str, Any]], bool], memory: WearerMemory, times: int = 1_000_000
) -> tuple[Answer, list[Answer], CallCounts]:
    """The answer of a question some of whose requests hang, and those of others that are asked meanwhile."""
    server = HangingServer(obliging, latency_s=0.03)
    server.hangs, server.times = hangs, times
    counts = CallCounts()

    async def others(method: AgentMethod, first: asyncio.Task[Answer]) -> list[Answer]:
        answers = []
        while not first.done():
            answers.append(await method.answer_async(LANTERN, memory, counts))
        return answers

    async def both(method: AgentMethod) -> tuple[Answer, list[Answer]]:
        first = asyncio.create_task(method.answer_async(PASSPORT, memory, counts))
        rest = await others(method, first)
        return await first, rest

    with server:
        model = ChatSettings(model="test-model", urls=(server.url,), outage_s=0, attempts=2, timeout_s=0.4)
        with open_chat(model.model_copy(update={"longest_wait_s": 0.05})) as chat:
            method = make_method("egocite", embed, CALLS, model=model, chat=lambda: chat)
            assert isinstance(method, AgentMethod)
            first, rest = asyncio.run(both(method))
    return first, rest, counts


def about_the_passport(purpose: str) -> Callable[[dict[str, Any]], bool]:
    """Requests of one agent about the passport."""
    return lambda body: purpose_of(body) == purpose and asked_of(body)["question"] == PASSPORT.text


def test_a_request_that_hangs_once_is_sent_again(memory: WearerMemory) -> None:
    answer, _, counts = asked_while(about_the_passport("respond"), memory, times=1)
    assert (answer.choice, answer.status) == ("B", "answered")
    assert not any(note.startswith("respond_") for note in answer.notes)
    assert counts.retries["timeout"] == 1 and counts.balanced


@pytest.mark.parametrize(
    ("purpose", "status", "note"),
    [
        ("draft", "answered", "draft_fallback_engine_fault"),
        ("curate", "answered", "curate_fallback_engine_fault"),
        ("respond", "error", "respond_engine_fault"),
    ],
)
def test_a_request_that_always_hangs_costs_its_step_and_no_other_question(
    memory: WearerMemory, purpose: str, status: str, note: str
) -> None:
    answer, others, counts = asked_while(about_the_passport(purpose), memory)
    assert answer.status == status and note in answer.notes
    assert bool(answer.error) is (status == "error")
    assert others and all(other.choice == "D" for other in others)
    assert counts.balanced and counts.failed["engine_fault"] == 1
