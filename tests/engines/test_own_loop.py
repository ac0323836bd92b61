"""The event loop in its own thread."""

from __future__ import annotations

import asyncio
import os
import signal
import threading

import pytest

from ray_tasks.engines.own_loop import OwnLoop


async def _nothing() -> None:
    """A last coroutine that does nothing."""


async def _double(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


async def _fail() -> None:
    raise ValueError("broken")


def test_results_and_errors_come_through_from_several_threads() -> None:
    own, found = OwnLoop(), list[int]()
    threads = [threading.Thread(target=lambda n=n: found.append(own.run(_double(n)))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [0, 2, 4, 6, 8, 10, 12, 14]
    with pytest.raises(ValueError, match="broken"):
        own.run(_fail())
    own.close(_nothing())


def test_ctrl_c_cancels_the_coroutine_and_waits_for_its_end() -> None:
    own, seen = OwnLoop(), list[str]()

    async def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    with pytest.raises(KeyboardInterrupt):
        own.run(work())
    assert seen == ["cancelled"]
    assert own.run(_double(2)) == 4
    own.close(_nothing())


def test_closing_ends_what_is_under_way_and_the_next_use_begins_anew() -> None:
    own, begun, said = OwnLoop(), threading.Event(), list[str]()

    async def work() -> None:
        begun.set()
        await asyncio.sleep(600)

    def wait() -> None:
        try:
            own.run(work())
        except RuntimeError as error:
            said.append(str(error))

    thread = threading.Thread(target=wait)
    thread.start()
    assert begun.wait(30)
    own.close(_nothing())
    thread.join(30)
    assert said == ["the chat client was closed while calls were under way"]
    assert own.run(_double(3)) == 6
    own.close(_nothing())
    own.close(_nothing())


def test_waiting_for_oneself_is_refused() -> None:
    own = OwnLoop()

    async def work() -> int:
        return own.run(_double(1))

    with pytest.raises(RuntimeError, match="await it instead"):
        own.run(work())
    own.close(_nothing())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_gets_a_loop_of_its_own() -> None:
    own = OwnLoop()
    assert own.run(_double(1)) == 2
    child = os.fork()
    if child == 0:
        os._exit(0 if own.run(_double(4)) == 8 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert own.run(_double(2)) == 4
    own.close(_nothing())
