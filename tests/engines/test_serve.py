"""A model comes up on Ray Serve, is waited for, answers under an address of its own, and is gone afterwards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import ray

from ray_tasks.engines import serve as module
from ray_tasks.engines.first_call import FirstCallError, first_call
from ray_tasks.engines.serve import ServeError, serving
from ray_tasks.engines.settings import ChatSettings, ServeSettings
from ray_tasks.errors import UsageError
from ray_tasks.scheduling.session import ray_session
from tests.engines.checkpoints import need
from tests.engines.stand_in import deploy


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """A Ray of three CPUs."""
    need("ray.serve", "uvicorn", "fastapi")
    with ray_session(3):
        yield


@pytest.fixture
def stand_in(cluster: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in is deployed instead of a real model."""
    monkeypatch.setattr(module, "_deploy", ray.remote(num_cpus=0)(deploy))


def settings_of(model: str, **changes: float) -> ChatSettings:
    """A model on the CPU, which takes one."""
    values = {"gpus": 0, "cpus": 1, "ready_s": 600, **changes}
    return ChatSettings(model=model, serve=ServeSettings(source="/weights", **values))


def apps() -> list[str]:
    """The applications on Ray Serve now."""
    from ray import serve

    return list(serve.status().applications)


def test_settings_with_urls_are_handed_on_untouched() -> None:
    settings = ChatSettings(model="good", urls=("http://127.0.0.1:1/v1",), serve=ServeSettings())
    with serving(settings, print) as running:
        assert running is settings


def test_without_urls_and_serve_the_remedy_is_named() -> None:
    with pytest.raises(UsageError, match="serve"), serving(ChatSettings(model="good"), print):
        pass


@pytest.mark.slow
def test_a_model_comes_up_answers_and_is_gone_afterwards(stand_in: None) -> None:
    said: list[str] = []
    with serving(settings_of("good"), said.append) as running:
        first_call(running.urls[0], "good")
        assert len(apps()) == 1
    assert apps() == []
    assert any("good answers after" in line for line in said)
    with pytest.raises(FirstCallError):
        first_call(running.urls[0], "good")


@pytest.mark.slow
def test_two_models_at_a_time_have_addresses_of_their_own(stand_in: None) -> None:
    with serving(settings_of("good"), print) as one:
        with serving(settings_of("better"), print) as two:
            assert one.urls != two.urls
        first_call(one.urls[0], "good")


@pytest.mark.slow
def test_a_model_is_taken_down_when_the_work_fails(stand_in: None) -> None:
    with pytest.raises(KeyboardInterrupt), serving(settings_of("good"), print) as running:
        raise KeyboardInterrupt
    with pytest.raises(FirstCallError):
        for _ in range(100):
            first_call(running.urls[0], "good")


@pytest.mark.slow
def test_what_a_replica_says_when_it_does_not_start_is_passed_on(stand_in: None) -> None:
    with pytest.raises(ServeError, match="the weights are of another model"), serving(settings_of("broken"), print):
        pass
    assert apps() == []


@pytest.mark.slow
def test_waiting_ends(stand_in: None) -> None:
    with pytest.raises(ServeError, match=r"serve\.ready_s"), serving(settings_of("endless", ready_s=1), print):
        pass


@pytest.mark.slow
def test_a_model_that_refuses_every_call_is_not_waited_for(stand_in: None) -> None:
    with pytest.raises(ServeError, match="no chat template"), serving(settings_of("strict"), print):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [{"gpus": 1}, {"cpus": 8}, {"cpus": 3}, {"cpus": 1, "replicas": 3}])
def test_a_model_that_never_fits_is_refused_at_once(stand_in: None, wanted: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="takes"), serving(settings_of("good", **wanted), print):
        pass
