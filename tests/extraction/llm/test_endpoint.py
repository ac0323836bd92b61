"""The engine over HTTP: an endpoint that fails a fifth of its requests changes nothing but the books."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from ray_tasks.engines.client import ChatClient
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.extraction.llm.extractor import LlmExtractor
from ray_tasks.extraction.types import Extraction
from tests.chat_server import ChatServer, FaultPlan, schema_of, text_of
from tests.extraction.script import WEARER, record

CAPTIONS = record(
    "\n".join(
        f"11:{n // 2:02d}:{n % 2 * 30 + 3:02d} * I lift jug {n} of plum wine.\n"
        f"11:{n // 2:02d}:{n % 2 * 30 + 9:02d} Tobi: Jug {n} is for Nele."
        for n in range(24)
    )
)


def telling(body: dict[str, Any]) -> dict[str, Any]:
    """Statements of which some are wrong, chosen by the words of a request."""
    said = text_of(body)
    digest = hashlib.sha256(said.encode()).hexdigest()
    subject = "He lifts" if digest[0] in "0123" else "I lift"
    text = f"{subject} the jug of plum wine that is for Nele, number {digest[:6]}."
    names = set((schema_of(body) or {})["properties"])
    if names == {"entries"}:
        return {"entries": [{"line": 0, "kind": "object", "resolved": True, "text": text}]}
    if names == {"corrections"}:
        return {"corrections": [{"entry": 0, "text": text}]}
    if names == {"groups"}:
        last = int(re.findall(r"numbered from 0 to (\d+)", said)[0])
        return {"groups": [{"first": first, "last": min(first + 7, last)} for first in range(0, last + 1, 8)]}
    return {"summary": text}


def extract(faults: FaultPlan | None) -> list[Extraction]:
    with ChatServer(telling, faults=faults) as server:
        settings = ChatSettings(model="test-model", urls=(server.url,), longest_wait_s=0.05, attempts=8)
        with ChatClient(settings) as chat:
            extractor = LlmExtractor(settings, lambda: chat)
            return [
                extractor.extract_fine(CAPTIONS, [], wearer=WEARER),
                extractor.extract_coarse(CAPTIONS, [], wearer=WEARER),
            ]


def test_faults_of_an_endpoint_change_nothing_but_the_books() -> None:
    healthy = extract(None)
    faulty = extract(FaultPlan(share=0.2))
    for well, ill in zip(healthy, faulty, strict=True):
        assert well.atoms
        assert ill.atoms == well.atoms
        assert ill.ledger == well.ledger
        assert well.calls.calls == ill.calls.calls
        assert well.calls.retries.total() == 0
        assert ill.calls.balanced
    assert sum(one.calls.retries.total() for one in faulty) > 0
