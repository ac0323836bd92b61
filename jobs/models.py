"""The language models of a configuration: asked once before hours are spent, and by `doctor`."""

from __future__ import annotations

from jobs.checks import Check
from ray_tasks.config import BuildConfig
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.errors import DaybookError
from ray_tasks.scheduling.models import models_of


class ModelsNotReadyError(DaybookError):
    """A language model that the build needs does not answer as it should."""


def check_models(config: BuildConfig, *, video: bool) -> None:
    """Asks every model that already runs one question; raises ModelsNotReadyError, naming address and remedy.

    A model that the job starts for itself is checked when it is up.
    """
    for settings in models_of(config, video=video):
        if settings.urls:
            wrong = [check.found for check in ask_model(settings) if check.state == "broken"]
            if wrong:
                raise ModelsNotReadyError("; ".join(wrong))


def ask_model(settings: ChatSettings) -> list[Check]:
    """What one model's endpoints say to a real call."""
    from ray_tasks.engines.probe import check_endpoint

    checks = []
    for found in check_endpoint(settings):
        if found.ok:
            words = f"{settings.model} at {found.url} answered in {found.seconds:.2f} s ({found.tokens} tokens)"
            checks.append(Check("model", "ok", words))
        else:
            checks.append(Check("model", "broken", "; ".join(found.problems)))
    return checks


def doctor_models(config: BuildConfig) -> list[Check]:
    """The same for `doctor`, where a model that a job would start is started for the check."""
    from ray_tasks.engines.serve import serving
    from ray_tasks.scheduling.session import ray_session

    checks = []
    for settings in models_of(config, video=config.vlm is not None):
        if settings.urls:
            checks += ask_model(settings)
        elif settings.serve is None:
            fault = f"{settings.model} has neither `urls` nor `serve`"
            checks.append(Check("model", "broken", fault, "name where it answers, or how the job starts it"))
        else:
            try:
                with ray_session(), serving(settings, lambda _: None) as up:
                    checks += ask_model(up)
            except DaybookError as error:
                checks.append(Check("model", "broken", str(error)))
    return checks or [Check("model", "ok", "the configuration asks no language model")]
