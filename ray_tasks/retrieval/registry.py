"""Methods by name."""

from __future__ import annotations

from typing import Final

from ray_tasks.errors import UsageError
from ray_tasks.retrieval.caption_rag import CaptionPlanner, KeepAll
from ray_tasks.retrieval.curator import RuleCurator
from ray_tasks.retrieval.egocite import EgoCite
from ray_tasks.retrieval.planner import RulePlanner
from ray_tasks.retrieval.responder import RuleResponder
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.types import Embed, Method
from ray_tasks.retrieval.weights import DEFAULT_WEIGHTS, FusionWeights

METHODS: Final[dict[str, str]] = {
    "egocite": "EgoCITE on rules: several rounds of dense and lexical search with time, curated to 15 items",
    "caption-rag": "the plain baseline: the 15 captions nearest to the question by cosine",
}
"""Names of the methods, each with one line about it."""


class UnknownMethodError(UsageError):
    """A method that does not exist; the message lists those that do."""


def make_method(
    name: str,
    embed: Embed,
    settings: RetrievalSettings | None = None,
    weights: FusionWeights = DEFAULT_WEIGHTS,
) -> Method:
    """The method of a name; `embed` must be the embedder with which the memory was built.

    Steps ask for some texts twice, so an embedder that remembers its texts saves time. Raises UnknownMethodError for a
    name that is not in METHODS.
    """
    chosen = settings or RetrievalSettings()
    if name == "egocite":
        return EgoCite(RulePlanner(embed, chosen, weights), RuleCurator(chosen), RuleResponder(embed))
    if name == "caption-rag":
        return EgoCite(CaptionPlanner(embed, chosen), KeepAll(), RuleResponder(embed), name)
    raise UnknownMethodError(f"there is no method {name!r}; choose one of {', '.join(METHODS)}")
