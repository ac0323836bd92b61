"""Which endpoint takes a request."""

from __future__ import annotations

import asyncio

import pytest

from ray_tasks.engines.endpoints import REST_S, Endpoint, Endpoints


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def _two(bound: int = 2) -> tuple[Endpoints[None], Clock]:
    clock = Clock()
    return Endpoints([Endpoint("a", None), Endpoint("b", None)], bound, clock=clock), clock


async def _names(endpoints: Endpoints[None], count: int) -> list[str]:
    return [(await endpoints.take()).url for _ in range(count)]


def test_the_least_loaded_takes_the_next() -> None:
    async def work() -> None:
        endpoints, _ = _two()
        assert await _names(endpoints, 4) == ["a", "b", "a", "b"]
        endpoints.give_back(endpoints.all[1])
        assert await _names(endpoints, 1) == ["b"]

    asyncio.run(work())


def test_those_that_wait_are_served_in_turn_and_never_beyond_the_bound() -> None:
    async def work() -> None:
        endpoints, _ = _two(1)
        first = [await endpoints.take(), await endpoints.take()]
        order: list[int] = []

        async def wait(number: int) -> None:
            endpoint = await endpoints.take()
            assert endpoint.under_way == 1
            order.append(number)
            await asyncio.sleep(0)
            endpoints.give_back(endpoint)

        waiting = [asyncio.create_task(wait(number)) for number in range(5)]
        await asyncio.sleep(0)
        assert order == []
        endpoints.give_back(first[0])
        await asyncio.gather(*waiting)
        assert order == [0, 1, 2, 3, 4]
        endpoints.give_back(first[1])
        assert [endpoint.under_way for endpoint in endpoints.all] == [0, 0]

    asyncio.run(work())


@pytest.mark.parametrize("after_its_turn", [False, True])
def test_a_waiter_that_is_cancelled_leaves_no_gap(after_its_turn: bool) -> None:
    async def work() -> None:
        endpoints, _ = _two(1)
        held = [await endpoints.take(), await endpoints.take()]
        gone, next_one = (asyncio.create_task(endpoints.take()) for _ in range(2))
        await asyncio.sleep(0)
        if after_its_turn:
            endpoints.give_back(held[0])
            gone.cancel()
        else:
            gone.cancel()
            await asyncio.sleep(0)
            endpoints.give_back(held[0])
        assert (await asyncio.wait_for(next_one, 10)).url == "a"
        with pytest.raises(asyncio.CancelledError):
            await gone
        assert endpoints.all[0].under_way == 1

    asyncio.run(work())


def test_one_that_rests_is_left_alone_until_it_has_rested() -> None:
    async def work() -> None:
        endpoints, clock = _two()
        endpoints.rest(endpoints.all[0])
        assert not endpoints.others_awake(endpoints.all[1])
        assert await _names(endpoints, 2) == ["b", "b"]
        clock.now = REST_S
        assert endpoints.others_awake(endpoints.all[1])
        assert await _names(endpoints, 1) == ["a"]

    asyncio.run(work())


def test_rests_grow_up_to_a_bound_until_an_answer() -> None:
    endpoints, clock = _two()
    one, rests = endpoints.all[0], list[float]()
    for _ in range(6):
        endpoints.rest(one)
        endpoints.rest(one)
        rests.append(one.rests_until - clock.now)
        clock.now = one.rests_until
    assert rests == [5, 10, 20, 40, 60, 60]
    endpoints.answered(one)
    endpoints.rest(one)
    assert one.rests_until - clock.now == REST_S


def test_where_all_rest_the_one_that_rested_longest_is_tried() -> None:
    async def work() -> None:
        endpoints, clock = _two(1)
        endpoints.rest(endpoints.all[1])
        clock.now = 1
        endpoints.rest(endpoints.all[0])
        assert await _names(endpoints, 2) == ["b", "a"]

    asyncio.run(work())
