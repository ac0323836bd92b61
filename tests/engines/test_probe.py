"""What doctor finds at endpoints."""

from __future__ import annotations

import socket

import pytest

from ray_tasks.engines.messages import Image
from ray_tasks.engines.probe import check_endpoint
from ray_tasks.errors import UsageError
from tests.chat_server import ChatServer, FaultPlan, Reply, schema_of
from tests.engines.asking import settings_for


def test_a_healthy_endpoint_has_no_problem() -> None:
    with ChatServer() as server:
        (check,) = check_endpoint(settings_for(server))
        assert check.ok
        assert check.models == ("test-model",)
        assert check.seconds is not None
        assert check.tokens > 0
        assert schema_of(server.requests[0])
        assert check.to_json()["ok"] is True


def test_a_picture_is_shown_where_one_is_given() -> None:
    with ChatServer() as server:
        assert check_endpoint(settings_for(server), picture=Image(b"jpeg"))[0].ok
        assert server.served.images == 1


def test_an_unknown_model_is_answered_with_those_that_are_served() -> None:
    with ChatServer(model="served-here") as server:
        (check,) = check_endpoint(settings_for(server))
        assert not check.ok
        assert "does not serve test-model but served-here" in check.problems[0]
        assert not server.requests


def test_every_endpoint_is_checked() -> None:
    with socket.socket() as free, ChatServer() as server:
        free.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        alive, gone, elsewhere = check_endpoint(settings_for(server, dead, server.url.replace("/v1", "/v2")))
    assert alive.ok
    assert "start the server, or mend the address" in gone.problems[0]
    assert "ends in /v1" in elsewhere.problems[0]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply("ready"), "not the JSON that was asked for"),
        (Reply('{"word"', finish_reason="length"), "raise max_tokens"),
        (Reply(""), "the reply is empty"),
        (Reply(None, refusal="No."), "the model declined"),
    ],
)
def test_a_reply_of_no_use_is_a_problem(reply: Reply, said: str) -> None:
    with ChatServer(lambda _: reply) as server:
        (check,) = check_endpoint(settings_for(server))
    assert said in check.problems[0]
    assert check.seconds is None


def test_a_faulty_endpoint_is_asked_once() -> None:
    with ChatServer(faults=FaultPlan(share=1, kinds=["500"], in_a_row=99)) as server:
        (check,) = check_endpoint(settings_for(server, outage_s=300.0))
        assert "status 500" in check.problems[0]
        assert len(server.requests) == 1


def test_without_endpoints_the_error_names_the_remedy() -> None:
    with pytest.raises(UsageError, match="no endpoint for the model"):
        check_endpoint(settings_for())
