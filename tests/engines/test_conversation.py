"""Calls among faults: what is sent again, what is given up, and that the books are the server's."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections import Counter
from email.utils import formatdate
from typing import Any

import pytest

from ray_tasks.engines.client import ChatClient
from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import (
    ChatError,
    ChatReply,
    EmptyReplyError,
    EngineFaultError,
    InvalidJsonError,
    RefusedError,
    RejectedError,
    Sampling,
    TruncatedError,
    UnreachableError,
)
from tests.chat_server import FAULTS, ChatServer, Fault, FaultPlan, Reply, schema_of, text_of
from tests.engines.asking import Greeting, ask, ask_all, say, settings_for

BOOKED_AS: dict[Fault, str] = {
    "429": "rate_limited",
    "500": "server_error",
    "truncated": "truncated",
    "wrong_json": "invalid_json",
    "hang": "timeout",
    "cut": "cut",
    "empty": "empty",
    "bad_body": "bad_body",
}


def _echo(body: dict[str, Any]) -> dict[str, Any] | str:
    """A reply that depends on the request."""
    return {"word": text_of(body), "number": len(text_of(body))} if schema_of(body) else text_of(body).upper()


def _requests(count: int) -> list[Any]:
    return [say(f"Good day {n}", schema=Greeting if n % 4 else None) for n in range(count)]


def _dead_url() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_outlasted_and_booked(fault: Fault) -> None:
    counts = CallCounts()
    plan = FaultPlan(share=1, kinds=[fault], in_a_row=1)
    timeout_s = 1.0 if fault == "hang" else 20.0
    with ChatServer(_echo, faults=plan) as server, ChatClient(settings_for(server, timeout_s=timeout_s)) as chat:
        reply = ask(chat, say("Hello", schema=Greeting), counts)
        assert reply.parsed == Greeting(word="Hello", number=5)
        assert server.served.faults[fault] >= 1
        if fault == "slow":
            assert (counts.attempts, counts.retries.total()) == (1, 0)
        elif fault != "hang":  # a busy machine may be silent for a second more than once
            assert counts.retries == Counter({BOOKED_AS[fault]: 1})
            assert server.served.requests == 2
        assert (counts.tokens_in, counts.tokens_out) == (server.served.tokens_in, server.served.tokens_out)
        assert counts.balanced


@pytest.mark.parametrize("seed", range(3))
def test_among_mixed_faults_all_ends_as_without_any_and_the_books_are_the_servers(seed: int) -> None:
    with ChatServer(_echo) as server, ChatClient(settings_for(server)) as chat:
        healthy = ask_all(chat, _requests(120), CallCounts())
    counts = CallCounts()
    with ChatServer(_echo, faults=FaultPlan(seed=seed)) as server, ChatClient(settings_for(server)) as chat:
        replies = ask_all(chat, _requests(120), counts)
        served = server.served
    assert [_content(reply) for reply in replies] == [_content(reply) for reply in healthy]
    assert (counts.calls, counts.answered, counts.failed.total()) == (120, 120, 0)
    assert counts.attempts == served.requests
    assert counts.retries == Counter({BOOKED_AS[kind]: n for kind, n in served.faults.items() if kind != "slow"})
    assert (counts.tokens_in, counts.tokens_out) == (served.tokens_in, served.tokens_out)
    assert counts.balanced
    assert len(served.faults) >= 6


def test_books_balance_where_calls_fail() -> None:
    counts = CallCounts()
    plan = FaultPlan(share=0.6, in_a_row=99)
    with ChatServer(_echo, faults=plan) as server:
        with ChatClient(settings_for(server, attempts=2, reply_attempts=2)) as chat:
            ends = ask_all(chat, _requests(120), counts)
        failures = Counter(end.kind for end in ends if isinstance(end, ChatError))
        assert counts.failed == failures
        assert set(failures) >= {"unreachable", "truncated", "invalid_json", "empty"}
        assert counts.answered == sum(isinstance(end, ChatReply) for end in ends) > 0
        assert counts.attempts == server.served.requests
        assert (counts.tokens_in, counts.tokens_out) == (server.served.tokens_in, server.served.tokens_out)
        assert counts.balanced


@pytest.mark.parametrize(
    ("reply", "error", "kind", "attempts", "named"),
    [
        (Reply('{"word": "h', finish_reason="length"), TruncatedError, "truncated", 3, "max_tokens = 55"),
        (Reply('{"word": "hi"}'), InvalidJsonError, "invalid_json", 3, "number: Field required"),
        (Reply(""), EmptyReplyError, "empty", 3, "chat template"),
        (Reply(None, refusal="I would rather not."), RefusedError, "refused", 1, "I would rather not"),
    ],
)
def test_a_reply_that_stays_of_no_use_is_given_up_with_its_own_error(
    reply: Reply, error: type[ChatError], kind: str, attempts: int, named: str
) -> None:
    counts = CallCounts()
    with ChatServer(lambda _: reply) as server, ChatClient(settings_for(server)) as chat:
        with pytest.raises(error, match=named) as caught:
            ask(chat, say(schema=Greeting, sampling=Sampling(max_tokens=55)), counts)
        for part in ("greeting", "test-model", server.url):
            assert part in str(caught.value)
    assert counts.failed == Counter({kind: 1})
    assert counts.attempts == server.served.requests == attempts
    assert counts.balanced


def test_each_further_draw_has_another_seed_and_some_warmth() -> None:
    with ChatServer(lambda _: "") as server, ChatClient(settings_for(server)) as chat:
        ask_all(chat, [say(sampling=Sampling(seed=7))], CallCounts())
        assert [(body["seed"], body["temperature"]) for body in server.requests] == [(7, 0), (8, 0.3), (9, 0.3)]


def test_a_request_that_is_sent_again_after_a_fault_is_the_same() -> None:
    plan = FaultPlan(share=1, kinds=["500", "cut"], in_a_row=2)
    with ChatServer(faults=plan) as server, ChatClient(settings_for(server)) as chat:
        ask(chat, say())
        assert len(server.requests) == 3
        assert server.requests[0] == server.requests[1] == server.requests[2]


def test_a_rejected_request_is_not_repeated_and_the_servers_words_are_told() -> None:
    counts = CallCounts()
    words = r"status 404.*`absent` does not exist.*daybook doctor"
    with ChatServer() as server, ChatClient(settings_for(server, model="absent")) as chat:
        failure = _failure(chat, counts, RejectedError)
    assert re.search(words, failure)
    assert (counts.failed, counts.attempts) == (Counter(denied=1), 1)
    assert counts.balanced


@pytest.mark.parametrize(
    ("status", "remedy"),
    [(400, "the same request"), (401, "A_KEY"), (403, "A_KEY"), (404, "daybook doctor"), (413, ""), (422, "")],
)
def test_each_status_that_rejects_has_its_remedy(status: int, remedy: str) -> None:
    counts, reply = CallCounts(), Reply("at most 4096 tokens", status=status)
    with ChatServer(lambda _: reply) as server, ChatClient(settings_for(server, api_key_env="A_KEY")) as chat:
        failure = _failure(chat, counts, RejectedError)
    assert "at most 4096 tokens" in failure
    assert remedy in failure
    assert counts.attempts == 1
    assert list(counts.failed) == ["denied" if status in {401, 404} else "rejected"]


@pytest.mark.parametrize(
    ("status", "kind"),
    [(408, "timeout"), (429, "rate_limited"), (500, "server_error"), (503, "server_error"), (504, "timeout")],
)
def test_each_status_that_may_pass_is_asked_again(status: int, kind: str) -> None:
    counts, said = CallCounts(), iter([Reply("later", status=status), Reply("fine")])
    with ChatServer(lambda _: next(said)) as server, ChatClient(settings_for(server)) as chat:
        assert ask(chat, say(), counts).text == "fine"
    assert counts.retries == Counter({kind: 1})


@pytest.mark.parametrize("wish", ["0.4", "a date"])
def test_the_server_is_not_asked_before_the_time_it_names(wish: str) -> None:
    header = formatdate(time.time() + 2, usegmt=True) if wish == "a date" else wish
    plan = FaultPlan(share=1, kinds=["429"], in_a_row=1, retry_after=header)
    with ChatServer(faults=plan) as server, ChatClient(settings_for(server, longest_wait_s=60.0)) as chat:
        started = time.monotonic()
        ask(chat, say())
        assert time.monotonic() - started >= 0.4
        assert server.served.requests == 2


def test_no_wish_is_longer_than_the_longest_wait() -> None:
    plan = FaultPlan(share=1, kinds=["429"], in_a_row=1, retry_after="86400")
    with ChatServer(faults=plan) as server, ChatClient(settings_for(server)) as chat:
        assert ask(chat, say()).text == "ok"


def test_with_one_dead_endpoint_of_two_nothing_is_lost() -> None:
    counts = CallCounts()
    with ChatServer(latency_s=0.02) as server, ChatClient(settings_for(_dead_url(), server, concurrency=4)) as chat:
        replies = ask_all(chat, _requests(60), counts)
    assert all(isinstance(reply, ChatReply) for reply in replies)
    assert set(counts.retries) == {"unreachable"}
    assert counts.attempts == 60 + counts.retries["unreachable"]
    assert counts.balanced


@pytest.mark.parametrize("status", [500, 503])
def test_an_endpoint_that_fails_at_once_does_not_draw_the_calls_to_it(status: int) -> None:
    counts = CallCounts()
    with (
        ChatServer(lambda _: Reply(status=status, text="broken")) as broken,
        ChatServer(latency_s=0.3) as server,
        ChatClient(settings_for(broken, server, concurrency=2)) as chat,
    ):
        replies = ask_all(chat, _requests(16), counts)
    assert all(isinstance(reply, ChatReply) for reply in replies)
    assert counts.balanced


def test_an_endpoint_that_is_not_there_is_given_up_by_name() -> None:
    url, counts = _dead_url(), CallCounts()
    with ChatClient(settings_for(url)) as chat:
        failure = _failure(chat, counts, UnreachableError)
    assert re.search(r"takes no connection.*daybook doctor", failure)
    assert url in failure
    assert counts.attempts == 6
    assert counts.failed == Counter(unreachable=1)
    assert counts.balanced


def test_a_server_that_restarts_is_waited_for_beyond_the_allowed_attempts() -> None:
    counts, url = CallCounts(), _dead_url()
    port = int(url.rsplit(":", 1)[1].split("/")[0])
    server = ChatServer(port=port)
    late = threading.Timer(1.5, server.__enter__)
    with ChatClient(settings_for(url, attempts=1, outage_s=120.0, longest_wait_s=0.2)) as chat:
        late.start()
        try:
            replies = ask_all(chat, _requests(5), counts)
        finally:
            late.join()
            server.__exit__(None, None, None)
    assert all(isinstance(reply, ChatReply) for reply in replies)
    assert counts.retries["unreachable"] >= 5
    assert counts.balanced


def test_after_a_long_outage_each_further_call_learns_of_it_at_once() -> None:
    counts = CallCounts()
    with ChatClient(settings_for(_dead_url(), outage_s=0.3, attempts=4)) as chat:
        ask_all(chat, _requests(4), counts)
        before = counts.attempts
        ask_all(chat, [say("late")], counts)
        assert counts.attempts == before + 1
    assert counts.failed == Counter(unreachable=5)
    assert counts.balanced


def test_a_silent_server_is_given_up_in_time() -> None:
    counts = CallCounts()
    plan = FaultPlan(share=1, kinds=["hang"], in_a_row=99)
    with ChatServer(faults=plan) as server, ChatClient(settings_for(server, timeout_s=0.2, attempts=2)) as chat:
        assert "no answer within 0.2 s" in _failure(chat, counts, UnreachableError)
    assert counts.retries == Counter(timeout=1)
    assert counts.balanced


def _failure(chat: ChatClient, counts: CallCounts, kind: type[ChatError]) -> str:
    """The message with which a call fails."""
    with pytest.raises(kind) as caught:
        ask(chat, say(), counts)
    return str(caught.value)


def _content(reply: ChatReply | BaseException) -> tuple[Any, ...]:
    assert isinstance(reply, ChatReply)
    return reply.text, reply.parsed, reply.tool_calls


def test_a_request_on_which_an_engine_breaks_ends_alone_while_others_are_answered() -> None:
    def script(body: dict[str, Any]) -> Reply | str:
        return Reply(status=500, text="assert") if "poison" in text_of(body) else "fine"

    counts = CallCounts()
    with ChatServer(script, latency_s=0.02) as server, ChatClient(settings_for(server, attempts=3)) as chat:
        replies = ask_all(chat, [say("poison"), *(say(f"Good day {n}") for n in range(60))], counts)
    assert isinstance(replies[0], EngineFaultError)
    assert all(isinstance(reply, ChatReply) for reply in replies[1:])
    assert counts.failed == Counter({"engine_fault": 1})
    assert counts.balanced


def test_an_engine_that_breaks_on_everything_is_no_fault_of_a_request() -> None:
    with (
        ChatServer(lambda _: Reply(status=500, text="assert")) as server,
        ChatClient(settings_for(server, attempts=3)) as chat,
    ):
        replies = ask_all(chat, [say(f"Good day {n}") for n in range(4)], CallCounts())
    assert all(isinstance(reply, UnreachableError) for reply in replies)
