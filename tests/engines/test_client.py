"""The client against a real server: replies, bounds, the cache, cancellation, endpoints."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ray_tasks.engines.client import ChatClient, open_chat
from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import ChatReply, Image, Message, Sampling, Tool, ToolCall
from ray_tasks.engines.reply_cache import object_key, request_key
from ray_tasks.errors import UsageError
from ray_tasks.storage.local import LocalStore
from ray_tasks.storage.store import StoreError
from tests.chat_server import ChatServer, FaultPlan, Reply, text_of
from tests.engines.asking import Greeting, ask, ask_all, say, settings_for

LOOK_UP = Tool("look_up", "Finds an hour.", {"type": "object", "properties": {"hour": {"type": "integer"}}})


def test_a_reply_is_parsed_and_booked() -> None:
    counts = CallCounts()
    with (
        ChatServer(lambda body: {"word": text_of(body), "number": 3}) as server,
        ChatClient(settings_for(server)) as chat,
    ):
        reply = ask(chat, say("早上好 {{x}}", schema=Greeting), counts)
        assert reply.parsed == Greeting(word="早上好 {{x}}", number=3)
        assert (counts.calls, counts.answered, counts.attempts, counts.failed.total()) == (1, 1, 1, 0)
        assert (counts.tokens_in, counts.tokens_out) == (server.served.tokens_in, server.served.tokens_out)
        assert counts.balanced
        assert counts.seconds > 0
        assert server.requests[0]["seed"] == 0


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "secret")
    with ChatServer() as server, ChatClient(settings_for(server, api_key_env="A_KEY")) as chat:
        ask(chat, say())
        assert server.headers[0]["Authorization"] == "Bearer secret"


def test_a_keys_line_end_is_not_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "secret\r\n")
    with ChatServer() as server, ChatClient(settings_for(server, api_key_env="A_KEY")) as chat:
        ask(chat, say())
        assert server.headers[0]["Authorization"] == "Bearer secret"


@pytest.mark.parametrize("key", ["sec\nret", "se\x1bcret", "s\u00e9cret"])
def test_a_key_that_no_header_can_hold_is_a_named_mistake(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("A_KEY", key)
    with ChatServer() as server, ChatClient(settings_for(server, api_key_env="A_KEY")) as chat:
        with pytest.raises(UsageError, match="A_KEY") as caught:
            ask(chat, say())
        assert key not in str(caught.value)
        assert not server.requests


def test_without_a_seed_none_is_sent() -> None:
    with ChatServer() as server, ChatClient(settings_for(server)) as chat:
        ask(chat, say(sampling=Sampling(seed=None)))
        assert "seed" not in server.requests[0]


def test_tools_are_called_and_their_results_sent_back() -> None:
    def script(body: dict[str, Any]) -> Reply | str:
        if body["messages"][-1]["role"] == "tool":
            return f"It was at {body['messages'][-1]['content']}."
        return Reply(tool_calls=[("look_up", '{"hour": 9}')])

    with ChatServer(script) as server, ChatClient(settings_for(server)) as chat:
        first = ask(chat, say("When?", tools=(LOOK_UP,)))
        call = first.tool_calls[0]
        assert (call.name, call.arguments) == ("look_up", {"hour": 9})
        turns = (Message("assistant", "", tool_calls=(call,)), Message("tool", "nine", call_id=call.call_id))
        request = say("When?", tools=(LOOK_UP,))
        assert ask(chat, replace(request, messages=request.messages + turns)).text == "It was at nine."
        assert server.requests[1]["messages"][1]["tool_calls"][0]["id"] == call.call_id


def test_images_arrive_and_are_booked() -> None:
    counts = CallCounts()
    pictures = (Image(b"one"), Image(b"two", "image/png"))
    with ChatServer() as server, ChatClient(settings_for(server)) as chat:
        ask(chat, replace(say(), messages=(Message("user", "Look.", pictures),)), counts)
        assert counts.images == server.served.images == 2
        assert counts.tokens_in == server.served.tokens_in


def test_tokens_that_are_not_told_are_noted() -> None:
    counts = CallCounts()
    with ChatServer(lambda _: Reply("hi", usage=None)) as server, ChatClient(settings_for(server)) as chat:
        ask(chat, say(), counts)
    assert (counts.tokens, counts.unmetered) == (0, 1)


def test_never_more_under_way_than_allowed_but_as_many_as_that() -> None:
    with ChatServer(latency_s=0.1) as server, ChatClient(settings_for(server, concurrency=7)) as chat:
        counts = CallCounts()
        ask_all(chat, (say(f"{n}") for n in range(40)), counts)
        assert server.served.most_at_once == 7
        assert counts.answered == 40
    with ChatServer(latency_s=0.1) as server, ChatClient(settings_for(server), concurrency=2) as chat:
        ask_all(chat, (say(f"{n}") for n in range(8)), CallCounts())
        assert server.served.most_at_once == 2


def test_several_endpoints_share_the_work() -> None:
    with ChatServer(latency_s=0.05) as one, ChatServer(latency_s=0.05) as two:
        with ChatClient(settings_for(one, two, concurrency=3)) as chat:
            ask_all(chat, (say(f"{n}") for n in range(30)), CallCounts())
        assert one.served.most_at_once == two.served.most_at_once == 3
        assert one.served.requests + two.served.requests == 30
        assert min(one.served.requests, two.served.requests) >= 8


def test_it_answers_on_any_event_loop() -> None:
    counts = CallCounts()
    with ChatServer() as server, ChatClient(settings_for(server)) as chat:
        for _ in range(2):
            assert asyncio.run(chat.ask(say(), counts)).text == "ok"
        assert ask(chat, say(), counts).text == "ok"
    assert counts.answered == 3


def test_a_closed_client_opens_again() -> None:
    with ChatServer() as server:
        chat = ChatClient(settings_for(server))
        assert ask(chat, say()).text == "ok"
        chat.close()
        assert ask(chat, say()).text == "ok"
        chat.close()


def test_without_endpoints_the_error_names_the_remedy() -> None:
    with pytest.raises(UsageError, match="--llm-url"):
        open_chat(settings_for())


class TestCache:
    """The response cache."""

    def test_an_equal_request_costs_nothing(self, tmp_path: Path) -> None:
        counts = CallCounts()
        with ChatServer(lambda body: {"word": text_of(body), "number": 1}) as server:
            for _ in range(2):
                with ChatClient(settings_for(server), LocalStore(tmp_path)) as chat:
                    first = ask(chat, say("a", schema=Greeting), counts)
                    again = ask(chat, say("a", schema=Greeting, purpose="other"), counts)
                    assert again == replace(first, cached=True)
            assert server.served.requests == 1
            assert (
                counts.to_json() | {"seconds": 0}
                == CallCounts(
                    calls=4,
                    answered=4,
                    cached=3,
                    attempts=1,
                    tokens_in=server.served.tokens_in,
                    tokens_out=server.served.tokens_out,
                    cached_tokens=3 * (server.served.tokens_in + server.served.tokens_out),
                ).to_json()
            )
            assert counts.balanced

    def test_equal_requests_at_the_same_time_are_sent_once(self, tmp_path: Path) -> None:
        counts = CallCounts()
        with ChatServer(latency_s=0.1) as server, ChatClient(settings_for(server), LocalStore(tmp_path)) as chat:
            replies = ask_all(chat, [say("a"), say("b")] * 10, counts)
            assert server.served.requests == 2
        assert [reply.text for reply in replies if isinstance(reply, ChatReply)] == ["ok"] * 20
        assert (counts.calls, counts.cached, counts.attempts) == (20, 18, 2)
        assert counts.balanced

    def test_where_the_first_of_equal_requests_fails_another_is_sent(self, tmp_path: Path) -> None:
        counts = CallCounts()
        settings = settings_for("http://unused/v1", reply_attempts=1)
        said = iter(["", "", "fine"])
        with ChatServer(lambda _: next(said), latency_s=0.05) as server:
            settings = settings.model_copy(update={"urls": (server.url,)})
            with ChatClient(settings, LocalStore(tmp_path)) as chat:
                replies = ask_all(chat, [say()] * 5, counts)
        assert sum(isinstance(reply, ChatReply) for reply in replies) == 3
        assert (counts.calls, counts.answered, counts.cached, counts.failed) == (5, 3, 2, Counter(empty=2))
        assert counts.balanced

    def test_unusable_replies_are_not_kept(self, tmp_path: Path) -> None:
        cut, store = Reply("x", finish_reason="length"), LocalStore(tmp_path)
        with ChatServer(lambda _: cut) as server, ChatClient(settings_for(server), store) as chat:
            ask_all(chat, [say()], CallCounts())
        assert not list(LocalStore(tmp_path).list_keys("replies"))

    def test_without_cache_every_request_is_sent(self, tmp_path: Path) -> None:
        with ChatServer() as server, ChatClient(settings_for(server, cache=False), LocalStore(tmp_path)) as chat:
            ask_all(chat, [say()] * 3, CallCounts())
            assert server.served.requests == 3
        assert not list(LocalStore(tmp_path).list_keys("replies"))

    def test_a_damaged_entry_is_asked_for_anew_and_mended(self, tmp_path: Path) -> None:
        store, counts = LocalStore(tmp_path), CallCounts()
        with ChatServer() as server, ChatClient(settings_for(server), store) as chat:
            key = object_key(request_key(say(), chat.settings))
            store.write(key, b"{")
            assert not ask(chat, say(), counts).cached
            assert ask(chat, say(), counts).cached
            assert server.served.requests == 1

    def test_a_store_that_fails_costs_requests_but_no_replies(self, tmp_path: Path) -> None:
        class Broken(LocalStore):
            def read(self, key: str) -> bytes:
                raise StoreError("broken")

            def write(self, key: str, data: bytes, *, durable: bool = True) -> str:
                raise StoreError("broken")

        counts = CallCounts()
        with ChatServer() as server, ChatClient(settings_for(server), Broken(tmp_path)) as chat:
            assert ask(chat, say(), counts).text == "ok"
            assert ask(chat, say(), counts).text == "ok"
            assert server.served.requests == 2
        assert (counts.answered, counts.store_errors) == (2, 4)


class TestEndings:
    """What happens to calls that are cut short."""

    def test_cancelled_calls_are_booked_if_they_had_begun(self) -> None:
        counts = CallCounts()

        async def work(chat: ChatClient, server: ChatServer) -> None:
            calls = [asyncio.create_task(chat.ask(say(f"{n}"), counts)) for n in range(5)]
            while server.served.requests < 2:
                await asyncio.sleep(0.01)
            for call in calls:
                call.cancel()
            assert all(isinstance(end, asyncio.CancelledError) for end in await _ends(calls))
            server.latency_s = 0
            assert (await chat.ask(say("after"), counts)).text == "ok"

        with (
            ChatServer(latency_s=600) as server,
            ChatClient(settings_for(server, concurrency=2, timeout_s=900)) as chat,
        ):
            chat.run(work(chat, server))
        assert (counts.calls, counts.answered, counts.attempts) == (3, 1, 3)
        assert counts.failed == Counter(cancelled=2)
        assert counts.balanced

    def test_a_call_cancelled_on_another_event_loop_is_cancelled(self) -> None:
        counts = CallCounts()

        async def work(chat: ChatClient, server: ChatServer) -> None:
            call = asyncio.create_task(chat.ask(say(), counts))
            while not server.served.requests:
                await asyncio.sleep(0.01)
            call.cancel()
            assert isinstance((await _ends([call]))[0], asyncio.CancelledError)
            while not counts.failed:
                await asyncio.sleep(0.01)

        with ChatServer(latency_s=600) as server, ChatClient(settings_for(server, timeout_s=900)) as chat:
            asyncio.run(asyncio.wait_for(work(chat, server), 60))
        assert counts.failed == Counter(cancelled=1)
        assert counts.balanced

    def test_ctrl_c_cancels_all_calls(self) -> None:
        counts = CallCounts()

        def interrupt(body: dict[str, Any]) -> str:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
            return "too late"

        with ChatServer(interrupt) as server, ChatClient(settings_for(server)) as chat:
            with pytest.raises(KeyboardInterrupt):
                ask(chat, say(), counts)
            assert counts.failed == Counter(cancelled=1)
            assert counts.balanced
            server.reply = lambda _: "fine"
            assert ask(chat, say(), counts).text == "fine"

    def test_closing_ends_what_is_under_way(self) -> None:
        counts, ended = CallCounts(), list[str]()
        with ChatServer(latency_s=600) as server:
            chat = ChatClient(settings_for(server, timeout_s=900))

            def wait() -> None:
                try:
                    ask(chat, say(), counts)
                except RuntimeError as error:
                    ended.append(str(error))

            thread = threading.Thread(target=wait)
            thread.start()
            while not server.served.requests:
                time.sleep(0.01)
            chat.close()
            thread.join(30)
        assert ended == ["the chat client was closed while calls were under way"]
        assert counts.failed == Counter(cancelled=1)
        assert counts.balanced


class TestTranscripts:
    """One file for each call."""

    def test_a_transcript_tells_all_of_a_call_but_not_its_pictures(self, tmp_path: Path) -> None:
        store = LocalStore(tmp_path)
        plan = FaultPlan(share=1, kinds=("wrong_json", "500"), in_a_row=2)
        request = replace(say(schema=Greeting), messages=(Message("user", "看", (Image(b"picture" * 99),)),))
        with ChatServer(faults=plan) as server:
            settings = settings_for(server, transcripts=True)
            with ChatClient(settings, store, transcripts="runs/r1/transcripts") as chat:
                ask(chat, request)
                ask(chat, request)
        files = [json.loads(store.read(key)) for key in store.list_keys("runs/r1/transcripts/greeting")]
        asked, kept = sorted(files, key=lambda file: bool(file["cached"]))
        assert len(asked["attempts"]) == 3
        assert [attempt["fault"].split(":")[0] if attempt["fault"] else None for attempt in asked["attempts"]][
            -1
        ] is None
        assert asked["attempts"][0]["endpoint"] == server.url
        assert asked["request"]["messages"][0]["content"][0]["text"] == "看"
        assert "sha256" in asked["request"]["messages"][0]["content"][1]
        assert asked["reply"]["text"] == '{"word": "word", "number": 0}'
        assert (kept["cached"], kept["attempts"]) == (True, [])

    def test_a_failure_is_told_and_the_endpoints_key_is_not(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("A_KEY", "a-secret-key")
        store = LocalStore(tmp_path)
        with ChatServer(lambda _: "") as server:
            settings = settings_for(server, transcripts=True, api_key_env="A_KEY", reply_attempts=2)
            with ChatClient(settings, store, transcripts="runs/r1/transcripts/") as chat:
                ask_all(chat, [say(purpose="../odd purpose/你")], CallCounts())
        (key,) = store.list_keys("runs/r1/transcripts")
        content = store.read(key)
        transcript = json.loads(content)
        assert transcript["failure"].startswith("empty: ")
        assert [attempt["seed"] for attempt in transcript["attempts"]] == [0, 1]
        assert b"a-secret-key" not in content


def test_tool_calls_come_back_from_the_cache(tmp_path: Path) -> None:
    script = Reply(tool_calls=[("look_up", '{"hour": 9}')])
    with ChatServer(lambda _: script) as server, ChatClient(settings_for(server), LocalStore(tmp_path)) as chat:
        first = ask(chat, say(tools=(LOOK_UP,)))
        assert ask(chat, say(tools=(LOOK_UP,))) == replace(first, cached=True)
        assert first.tool_calls == (ToolCall("call_1_0", "look_up", {"hour": 9}),)


async def _ends(calls: list[asyncio.Task[ChatReply]]) -> list[ChatReply | BaseException]:
    return await asyncio.gather(*calls, return_exceptions=True)
