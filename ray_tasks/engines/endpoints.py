"""Which endpoint takes the next request: the least loaded one, never more than its bound, none that is resting.

One that failed a request rests until it answers another that is under way, or for some seconds. Whoever fails at once
is always the least loaded, and would draw all calls away from those that answer.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

Api = TypeVar("Api")

REST_S: Final = 5.0
LONGEST_REST_S: Final = 60.0
"""How long an endpoint is left alone that failed a request: at first, and at most."""


@dataclass
class Endpoint(Generic[Api]):
    """An endpoint: what speaks to it, the requests under way, and until when it is left alone (monotonic seconds).

    `rests`: how often it was left alone since it last answered.
    """

    url: str
    api: Api
    under_way: int = 0
    rests_until: float = 0.0
    rests: int = 0


class Endpoints(Generic[Api]):
    """Shares requests out among endpoints, on one event loop; those that wait are served in their order.

    `given_up`: a call has waited for the allowed time in vain, and nobody has answered since; so others need not.
    `answers` counts those of all.
    """

    def __init__(
        self, endpoints: Sequence[Endpoint[Api]], bound: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.all = tuple(endpoints)
        self._bound, self._clock = bound, clock
        self.given_up = False
        self.answers = 0
        self._waiting: deque[asyncio.Future[Endpoint[Api]]] = deque()

    async def take(self) -> Endpoint[Api]:
        """An endpoint with room for one more request, which must be given back; waits until there is one."""
        free = self._choose() if not self._waiting else None
        if free is not None:
            free.under_way += 1
            return free
        place: asyncio.Future[Endpoint[Api]] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        self._serve()
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.give_back(place.result())
            raise

    def give_back(self, endpoint: Endpoint[Api]) -> None:
        """Ends a request."""
        endpoint.under_way -= 1
        self._serve()

    def answered(self, endpoint: Endpoint[Api]) -> None:
        """Notes that an endpoint answers: it rests no more."""
        endpoint.rests, endpoint.rests_until = 0, 0.0
        self.answers += 1
        self.given_up = False

    def rest(self, endpoint: Endpoint[Api]) -> None:
        """Leaves one alone that failed, as far as there are others: twice as long each time until it answers."""
        now = self._clock()
        if endpoint.rests_until <= now:  # else it rests already: those that asked it together found out together
            endpoint.rests_until = now + min(LONGEST_REST_S, REST_S * 2**endpoint.rests)
            endpoint.rests += 1

    def others_awake(self, endpoint: Endpoint[Api]) -> bool:
        """Whether another endpoint is not resting."""
        now = self._clock()
        return any(other is not endpoint and other.rests_until <= now for other in self.all)

    def _serve(self) -> None:
        while self._waiting:
            if self._waiting[0].done():
                self._waiting.popleft()
                continue
            free = self._choose()
            if free is None:
                return
            free.under_way += 1
            self._waiting.popleft().set_result(free)

    def _choose(self) -> Endpoint[Api] | None:
        """The least loaded endpoint that is not resting; where all rest, the one that has rested longest."""
        now = self._clock()
        awake = [endpoint for endpoint in self.all if endpoint.rests_until <= now]
        if awake:
            chosen = min(awake, key=lambda endpoint: endpoint.under_way)
        else:
            chosen = min(self.all, key=lambda endpoint: (endpoint.under_way >= self._bound, endpoint.rests_until))
        return chosen if chosen.under_way < self._bound else None
