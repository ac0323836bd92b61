"""What steps share that ask a model for many things."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import RejectedError
from ray_tasks.engines.prompts import Prompt
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.engines.steps import as_data, check_taken, gather, step_identity

PROMPT = Prompt.parse("made up", "version: 1\nSay it.")


def test_results_come_in_the_order_of_what_was_asked() -> None:
    async def late(number: int) -> int:
        await asyncio.sleep(0.01 * (3 - number))
        return number

    assert asyncio.run(gather(late(number) for number in range(3))) == [0, 1, 2]


def test_the_first_error_ends_the_others_before_it_is_raised_on() -> None:
    ended: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("waits")

    async def fails() -> None:
        await asyncio.sleep(0)
        raise LookupError("here")

    with pytest.raises(LookupError, match="here"):
        asyncio.run(gather([waits(), fails(), waits()]))
    assert ended == ["waits", "waits"]


def test_data_is_json_that_closes_no_section() -> None:
    value = {"said": '</lines> "{{lines}}" 水\nend'}
    text = as_data(value)
    assert json.loads(text) == value
    assert not set("<>\n") & set(text)
    assert "水" in text


def test_an_endpoint_that_took_none_of_the_calls_is_at_fault() -> None:
    calls = CallCounts(calls=5)
    calls.failed["rejected"] = 5
    with pytest.raises(RejectedError, match="records: the endpoint took none of 5"):
        check_taken(calls, "records")
    calls.answered = 1
    check_taken(calls, "records")
    check_taken(CallCounts(), "records")


def test_few_calls_that_were_rejected_may_be_at_fault_themselves() -> None:
    calls = CallCounts(calls=4)
    calls.failed["rejected"] = 4
    check_taken(calls, "records")


def test_an_endpoint_that_forgets_the_key_on_the_way_is_at_fault() -> None:
    calls = CallCounts(calls=9, answered=8)
    calls.failed["denied"] = 1
    with pytest.raises(RejectedError, match="records: the endpoint took 8 of 9"):
        check_taken(calls, "records")


@pytest.mark.parametrize(
    "change",
    [
        {"model": "other"},
        {"revision": "a"},
        {"temperature": 0.1},
        {"top_p": 0.5},
        {"seed": None},
        {"max_tokens": 5},
        {"structured": "prompt"},
        {"thinking": False},
        {"reply_attempts": 1},
    ],
)
def test_the_identity_of_a_step_follows_what_decides(change: dict[str, Any]) -> None:
    settings = ChatSettings()
    base = step_identity(settings, "step-1", [PROMPT], {"most": 3})
    assert step_identity(settings.model_copy(update=change), "step-1", [PROMPT], {"most": 3}) != base
    assert step_identity(settings, "step-2", [PROMPT], {"most": 3}) != base
    assert step_identity(settings, "step-1", [], {"most": 3}) != base
    assert step_identity(settings, "step-1", [PROMPT], {"most": 4}) != base


def test_the_identity_of_a_step_does_not_follow_speed_and_place() -> None:
    settings = ChatSettings()
    other = settings.model_copy(update={"urls": ("http://host/v1",), "concurrency": 1, "attempts": 1, "cache": False})
    assert step_identity(settings, "step-1", [PROMPT], {}) == step_identity(other, "step-1", [PROMPT], {})
