"""Takes a model down when the job that started it is gone without having done so itself.

A killed driver cannot tidy up, and Ray Serve keeps applications for good: the machines with GPUs would be paid for
until somebody noticed.
"""

from __future__ import annotations

import time
from typing import Any, Final

import ray
from ray.exceptions import ActorDiedError, GetTimeoutError, RayError

from ray_tasks.engines.serve_front import HEAD

LOOK_EVERY_S: Final = 10.0


class Watch:
    """Guards an application of Ray Serve, by name, for as long as this process lives and does not end the watch.

    A sign of life, which Ray ends with this process and starts again elsewhere if only its machine is lost, is asked
    for by a watcher on the head, which outlives this process.
    """

    def __init__(self, app: str) -> None:
        sign: Any = ray.remote(_SignOfLife)
        watcher: Any = ray.remote(_Watcher)
        self._sign = sign.options(num_cpus=0, max_restarts=-1).remote()
        self._watcher = watcher.options(
            num_cpus=0, name=f"watch-{app}", namespace="daybook", lifetime="detached", resources={HEAD: 0.001}
        ).remote(app, self._sign)
        self._watcher.look.remote()

    def end(self) -> None:
        """Nothing is taken down from now on."""
        ray.kill(self._watcher)
        ray.kill(self._sign)


class _SignOfLife:
    """An actor that Ray ends with the process that made it."""

    def here(self) -> bool:
        return True


class _Watcher:
    """An actor that stays until it is told to go, or has taken the application down."""

    def __init__(self, app: str, sign: Any) -> None:
        self._app, self._sign = app, sign

    def look(self) -> None:
        """Returns never: either it is killed, or it takes the application down and leaves."""
        from ray import serve

        while self._alive():
            time.sleep(LOOK_EVERY_S)
        serve.delete(self._app)
        ray.actor.exit_actor()  # type: ignore[no-untyped-call]

    def _alive(self) -> bool:
        try:
            return bool(ray.get(self._sign.here.remote(), timeout=LOOK_EVERY_S))
        except ActorDiedError:
            return False
        except (RayError, GetTimeoutError):
            return True  # it is being started again on another machine
