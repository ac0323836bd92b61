"""What the engine's version depends on, and that order, concurrency and repetition change nothing."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any

import pytest

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import ChatReply, ChatRequest
from ray_tasks.engines.prompts import Prompt
from ray_tasks.engines.settings import ChatSettings, ServeSettings, TokenPrices
from ray_tasks.extraction.llm.extractor import LlmExtractor
from ray_tasks.extraction.llm.parameters import Parameters
from ray_tasks.extraction.types import Extractor
from tests.chat_server.scripted import Scripted
from tests.extraction.llm.scripted import ScriptedRunner, data_of, entries, entry, groups, scripted
from tests.extraction.script import WEARER, record


def closed() -> ScriptedRunner:
    raise AssertionError("nobody has asked anything")


def identity(parameters: Parameters | None = None, **changes: Any) -> tuple[str, str]:
    extractor: Extractor = LlmExtractor(ChatSettings(**changes), closed, parameters)
    return extractor.engine, extractor.version


DECIDING: dict[str, Any] = {
    "model": "other",
    "revision": "abc",
    "temperature": 0.5,
    "top_p": 0.5,
    "seed": 7,
    "max_tokens": 99,
    "structured": "prompt",
    "thinking": True,
    "reply_attempts": 1,
}
IDLE: dict[str, Any] = {
    "urls": ("http://127.0.0.1:8000/v1",),
    "concurrency": 3,
    "timeout_s": 1.0,
    "attempts": 2,
    "longest_wait_s": 1.0,
    "outage_s": 1.0,
    "cache": False,
    "transcripts": True,
    "api_key_env": "OTHER_KEY",
    "prices": TokenPrices(input=1.0),
    "serve": ServeSettings(replicas=2),
}


def test_every_setting_either_decides_or_is_known_not_to() -> None:
    assert set(DECIDING) | set(IDLE) >= set(ChatSettings.model_fields)


@pytest.mark.parametrize("name", DECIDING)
def test_what_decides_replies_changes_engine_or_version(name: str) -> None:
    assert identity(**{name: DECIDING[name]}) != identity()


@pytest.mark.parametrize("name", IDLE)
def test_where_and_how_patiently_is_asked_changes_neither(name: str) -> None:
    assert identity(**{name: IDLE[name]}) == identity()


@pytest.mark.parametrize("name", Parameters.__slots__)
def test_every_parameter_changes_the_version(name: str) -> None:
    changed = Parameters(**{name: getattr(Parameters(), name) + 1})
    assert identity(changed)[1] != identity()[1]


def test_every_prompt_changes_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    before = identity()[1]
    load = Prompt.load

    def changed(package: str, name: str) -> Prompt:
        prompt = load(package, name)
        return Prompt.parse(name, f"version: 9\n{prompt.text}") if name == "fine_data" else prompt

    monkeypatch.setattr(Prompt, "load", changed)
    assert identity()[1] != before


SCRIPT = "\n".join(f"11:{n // 4:02d}:{n % 4 * 15:02d} * I lift the jug number {n} of plum wine." for n in range(40))


def telling(request: ChatRequest) -> Scripted:
    """A model whose words depend on all of a request."""
    digest = hashlib.sha256(repr(request.messages).encode()).hexdigest()[:6]
    if request.purpose == "extract-fine":
        return entries(entry(0, "object", f"I lift the jug of plum wine with the label {digest}."))
    if "cut" in request.purpose:
        last = len(data_of(request).splitlines()) - 1
        return groups(*((first, min(first + 5, last)) for first in range(0, last + 1, 6)))
    return {"summary": f"I lift the jugs of plum wine with the label {digest}."}


class Shuffled(ScriptedRunner):
    """A chat whose replies come in an order of their own."""

    async def ask(self, request: ChatRequest, counts: CallCounts) -> ChatReply:
        number = len(self.requests)
        reply = await super().ask(request, counts)
        await asyncio.sleep((number * 7 % 11) / 5000)
        return reply


def test_the_order_of_replies_changes_nothing() -> None:
    captions = record(SCRIPT)
    plain, _ = scripted(telling)
    shuffled = LlmExtractor(ChatSettings(model="scripted"), lambda: Shuffled(telling))
    for name in ("extract_fine", "extract_coarse"):
        first = getattr(plain, name)(captions, [], wearer=WEARER)
        second = getattr(shuffled, name)(captions, [], wearer=WEARER)
        assert first.atoms == second.atoms
        assert first.ledger == second.ledger
        assert [atom.start_ms for atom in first.atoms] == sorted(atom.start_ms for atom in first.atoms)


def test_the_captions_of_a_shard_are_asked_about_at_once() -> None:
    running, most = 0, 0

    class Counting(ScriptedRunner):
        async def ask(self, request: ChatRequest, counts: CallCounts) -> ChatReply:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1
            return await super().ask(request, counts)

    captions = record(SCRIPT)
    LlmExtractor(ChatSettings(), lambda: Counting(telling)).extract_fine(captions, [], wearer=WEARER)
    assert most == len(captions)


def test_the_client_is_opened_once_and_empty_shards_are_fine() -> None:
    opened = []

    def open_chat() -> ScriptedRunner:
        opened.append(1)
        return ScriptedRunner(telling)

    extractor = LlmExtractor(ChatSettings(), open_chat)
    assert extractor.extract_fine([], [], wearer=WEARER).atoms == ()
    assert extractor.extract_coarse([], [], wearer=WEARER).atoms == ()
    assert extractor.extract_fine(record(SCRIPT), [], wearer=WEARER).atoms
    assert len(opened) == 1
