"""What the chat server does wrong, and when."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

Fault = Literal["slow", "429", "500", "truncated", "wrong_json", "hang", "cut", "empty", "bad_body"]
FAULTS: Final[tuple[Fault, ...]] = get_args(Fault)


@dataclass(frozen=True)
class FaultPlan:
    """Faults by a pure function of (seed of the plan, request but for its draw, times that it was seen before).

    `share` of the requests get one of `kinds`, but never more than `in_a_row` the same request in succession: so a
    client with more attempts than that always ends with what a healthy server would have said. `slow_s`: how much later
    a slow reply comes. `retry_after`: the header of a 429, if any. A hang lasts until the client or the server ends.
    """

    share: float = 0.2
    kinds: Sequence[Fault] = ("slow", "429", "500", "truncated", "wrong_json", "cut", "empty", "bad_body")
    seed: int = 0
    in_a_row: int = 2
    slow_s: float = 0.05
    retry_after: str | None = "0.01"

    def choose(self, identity: str, seen: int) -> Fault | None:
        """The fault of a request that was seen so many times before, or none."""
        before = 0
        for turn in range(seen + 1):
            fault = self._draw(identity, turn) if before < self.in_a_row else None
            before = before + 1 if fault else 0
        return fault

    def _draw(self, identity: str, turn: int) -> Fault | None:
        digest = hashlib.sha256(f"{self.seed} {turn} {identity}".encode()).digest()
        if int.from_bytes(digest[:8], "big") / 2**64 >= self.share:
            return None
        return self.kinds[int.from_bytes(digest[8:12], "big") % len(self.kinds)]


def identity_of(body: Mapping[str, Any]) -> str:
    """What a request asks for, apart from how its words are drawn: asked again, a client draws anew."""
    asked = {name: value for name, value in body.items() if name not in {"seed", "temperature"}}
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
