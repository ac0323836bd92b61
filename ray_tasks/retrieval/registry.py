"""Methods by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ray_tasks.engines.settings import ChatSettings
from ray_tasks.engines.steps import ChatRunner
from ray_tasks.errors import UsageError
from ray_tasks.retrieval.caption_rag import CaptionPlanner, KeepAll
from ray_tasks.retrieval.curator import RuleCurator
from ray_tasks.retrieval.egocite import EgoCite
from ray_tasks.retrieval.imprint.method import ALL_RECORDS, IMPRINT, Answering, Imprint, settings_of
from ray_tasks.retrieval.imprint.retrieving import Retriever
from ray_tasks.retrieval.llm.compose import compose, compose_baseline, compose_imprint
from ray_tasks.retrieval.llm.method import agents_identity
from ray_tasks.retrieval.planner import RulePlanner
from ray_tasks.retrieval.responder import RuleResponder
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.types import Embed, Method
from ray_tasks.retrieval.weights import FusionWeights, load_weights
from ray_tasks.storage.shards import content_key

RULES_VERSION: Final = "rules-3"
"""To be raised with every change of what the methods on rules find or answer."""

METHODS: Final[dict[str, str]] = {
    "egocite": "EgoCITE: several rounds of dense and lexical search with time, curated to 15 items; rules or a model",
    "caption-rag": "the plain baseline: the 15 captions nearest to the question by cosine",
    "imprint": "Imprint: interaction records compressed into recurring entries, answers read from their fields",
    "all-records": "Imprint's baseline: the same without compression, every interaction record by itself",
}
"""Names of the methods, each with one line about it."""


class UnknownMethodError(UsageError):
    """A method that does not exist; the message lists those that do."""


def make_method(
    name: str,
    embed: Embed,
    settings: RetrievalSettings | None = None,
    weights: FusionWeights | None = None,
    model: ChatSettings | None = None,
    chat: Callable[[], ChatRunner] | None = None,
) -> Method:
    """The method of a name; `embed` must be the embedder with which the memory was built.

    Signals are summed by `weights`, by default those that the settings name. Steps ask for some texts twice, so an
    embedder that remembers its texts saves time. Where the settings give a step of the method to a language model (see
    model_steps), `model` says which and `chat` opens its client at the first question; the result is then an
    AsyncMethod too. Raises UnknownMethodError for a name that is not in METHODS, WeightsError for weights that cannot
    be read, and UsageError where a step needs a model and none is given.
    """
    chosen = settings or RetrievalSettings()
    steps = model_steps(name, chosen)
    if name in (IMPRINT, ALL_RECORDS):
        return _on_records(name, embed, chosen, model, chat)
    table = load_weights(chosen.weights) if weights is None else weights
    if not steps and name == "egocite":
        responder = RuleResponder(embed, aggregate=chosen.aggregate)
        return EgoCite(RulePlanner(embed, chosen, table), RuleCurator(chosen), responder)
    if not steps:  # a baseline answers from its items alone
        return EgoCite(CaptionPlanner(embed, chosen), KeepAll(), RuleResponder(embed, aggregate=False), name)
    if model is None or chat is None:
        raise _no_model(steps)
    if name == "egocite":
        return compose(embed, chosen, table, model, chat)
    return compose_baseline(name, CaptionPlanner(embed, chosen), KeepAll(), chosen, model, chat)


def _on_records(
    name: str,
    embed: Embed,
    settings: RetrievalSettings,
    model: ChatSettings | None,
    chat: Callable[[], ChatRunner] | None,
) -> Method:
    """A method on interaction records; the respond step alone may be a language model's."""
    imprint = settings_of(name, settings.imprint)
    steps = model_steps(name, settings)
    if steps and (model is None or chat is None):
        raise _no_model(steps)
    if not steps or model is None or chat is None:
        responder = RuleResponder(embed, aggregate=False)
        return Imprint(Answering(embed, Retriever(settings, imprint), imprint), responder, name)
    return compose_imprint(name, embed, settings, imprint, model, chat)


def _no_model(steps: tuple[str, ...]) -> UsageError:
    return UsageError(
        f"the settings leave {', '.join(steps)} to a language model, but none is given: name its endpoint "
        "(--llm-url http://host:8000/v1, or `agents` in the configuration), or set these steps to rules"
    )


def model_steps(name: str, settings: RetrievalSettings) -> tuple[str, ...]:
    """The steps of a method that the settings leave to a language model; baselines draft and curate on rules only.

    Raises UnknownMethodError.
    """
    if name not in METHODS:
        raise UnknownMethodError(f"there is no method {name!r}; choose one of {', '.join(METHODS)}")
    steps = ("draft", "curate", "respond") if name == "egocite" else ("respond",)
    return tuple(step for step in steps if getattr(settings, step) == "llm")


def method_identity(name: str, settings: RetrievalSettings, model: ChatSettings | None = None) -> str:
    """All that decides what a method answers from a memory, for the keys of stored answers.

    That is its name, its settings, the content of its weights, the version of the rules and, where it asks a model, the
    model and the prompts. Raises WeightsError where the settings name weights that cannot be read.
    """
    values = {**settings.to_json(), "weights": load_weights(settings.weights).digest}
    digest = content_key(name, sorted(values.items()), RULES_VERSION)[:16]
    asked = f" {agents_identity(settings, model)}" if model_steps(name, settings) and model is not None else ""
    return f"{name} {digest}{asked}"
