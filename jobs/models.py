"""The language models of a configuration: asked once before hours are spent, and by `doctor`."""

from __future__ import annotations

import io

from jobs.checks import Check
from jobs.console import say
from ray_tasks.captioning.decoders import check_decoder
from ray_tasks.config import BuildConfig
from ray_tasks.engines.messages import Image
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.errors import DaybookError, UsageError
from ray_tasks.scheduling.models import models_of


class ModelsNotReadyError(DaybookError):
    """A language model that the build needs does not answer as it should."""


def check_models(config: BuildConfig, *, video: bool) -> None:
    """Asks every model that already runs one question; raises ModelsNotReadyError, naming address and remedy.

    A model that the job starts for itself is checked when it is up. Raises UsageError for one that is neither.
    """
    for settings in models_of(config, video=video):
        if not settings.urls and settings.serve is None:
            raise UsageError(
                f"nothing says where {settings.model} answers: name an endpoint with --llm-url (or `urls` in the "
                "configuration), or say under `serve` how the job starts it"
            )
        if settings.urls:
            asked = ask_model(settings, sees=video and settings == config.seeing)
            wrong = [check.found for check in asked if check.state == "broken"]
            if wrong:
                raise ModelsNotReadyError("; ".join(wrong))


def ask_model(settings: ChatSettings, *, sees: bool) -> list[Check]:
    """What one model's endpoints say to a real call, about a picture where the model is to see."""
    from ray_tasks.engines.probe import check_endpoint

    checks = []
    for found in check_endpoint(settings, picture=_grey_square() if sees else None):
        if found.ok:
            words = f"{settings.model} at {found.url} answered in {found.seconds:.2f} s ({found.tokens} tokens)"
            checks.append(Check("model", "ok", words))
        else:
            checks.append(Check("model", "broken", "; ".join(found.problems)))
    return checks


def doctor_models(config: BuildConfig) -> list[Check]:
    """The same for `doctor`, where a model that a job would start is started for the check."""
    checks = []
    video = config.vlm is not None
    for settings in models_of(config, video=video):
        try:
            checks += _ask_or_start(settings, sees=video and settings == config.seeing)
        except DaybookError as error:
            checks.append(Check("model", "broken", str(error)))
    return checks or [Check("model", "ok", "the configuration asks no language model")]


def _ask_or_start(settings: ChatSettings, *, sees: bool) -> list[Check]:
    from ray_tasks.engines.serve import serving
    from ray_tasks.scheduling.session import ray_session

    if settings.urls:
        return ask_model(settings, sees=sees)
    if settings.serve is None:
        fault = f"{settings.model} has neither `urls` nor `serve`"
        return [Check("model", "broken", fault, "name where it answers, or how the job starts it")]
    with ray_session(), serving(settings, say) as up:
        return ask_model(up, sees=sees)


def _grey_square() -> Image:
    """A picture of nothing, large enough for every model."""
    check_decoder()
    from PIL import Image as Picture

    out = io.BytesIO()
    Picture.new("RGB", (224, 224), "grey").save(out, "JPEG")
    return Image(out.getvalue())
