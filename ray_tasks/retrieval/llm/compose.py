"""Puts the agents of `egocite` together as the settings say, each on rules or by a language model."""

from __future__ import annotations

from collections.abc import Callable

from ray_tasks.engines.settings import ChatSettings
from ray_tasks.engines.steps import ChatRunner
from ray_tasks.retrieval.agents import DraftingAgent, SamplingAgent
from ray_tasks.retrieval.curator import RuleCurator
from ray_tasks.retrieval.imprint.method import Answering, AskingImprint
from ray_tasks.retrieval.imprint.retrieving import Retriever
from ray_tasks.retrieval.imprint.settings import ImprintSettings
from ray_tasks.retrieval.llm.asking import Asker
from ray_tasks.retrieval.llm.drafting import LlmDrafter
from ray_tasks.retrieval.llm.embedding import SharedEmbed
from ray_tasks.retrieval.llm.method import AgentMethod
from ray_tasks.retrieval.llm.policy import PolicyCurator
from ray_tasks.retrieval.llm.responding import LlmResponder
from ray_tasks.retrieval.llm.rules import RulesCurate, RulesDraft, RulesRespond
from ray_tasks.retrieval.llm.sampling import LlmCurator
from ray_tasks.retrieval.planner import RulePlanner
from ray_tasks.retrieval.responder import RuleResponder
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.types import Embed
from ray_tasks.retrieval.weights import FusionWeights


def compose(
    embed: Embed,
    settings: RetrievalSettings,
    weights: FusionWeights,
    model: ChatSettings,
    opening: Callable[[], ChatRunner],
) -> AgentMethod:
    """The method with its agents; `opening` opens the client of the model when the first question is asked."""
    asker, shared = Asker(model, opening), SharedEmbed(embed)
    planner, rules = RulePlanner(shared, settings, weights), RuleCurator(settings)
    # The rules' curator reads the fused scores of the rules' planner; a model's pool has others.
    policy = PolicyCurator(rules) if settings.draft == "llm" else rules
    return AgentMethod(
        LlmDrafter(asker, shared, settings, planner) if settings.draft == "llm" else RulesDraft(planner),
        LlmCurator(asker, settings, policy) if settings.curate == "llm" else RulesCurate(policy),
        LlmResponder(asker, settings)
        if settings.respond == "llm"
        else RulesRespond(RuleResponder(shared, aggregate=settings.aggregate)),
        asker,
    )


def compose_baseline(
    name: str,
    drafting: DraftingAgent,
    sampling: SamplingAgent,
    settings: RetrievalSettings,
    model: ChatSettings,
    opening: Callable[[], ChatRunner],
) -> AgentMethod:
    """A method that finds its evidence on rules, answered by a model."""
    asker = Asker(model, opening)
    return AgentMethod(RulesDraft(drafting), RulesCurate(sampling), LlmResponder(asker, settings), asker, name)


def compose_imprint(
    name: str,
    embed: Embed,
    settings: RetrievalSettings,
    imprint: ImprintSettings,
    model: ChatSettings,
    opening: Callable[[], ChatRunner],
) -> AskingImprint:
    """A method on interaction records that leaves to a model what it cannot read from them."""
    asker, shared = Asker(model, opening), SharedEmbed(embed)
    steps = Answering(shared, Retriever(settings, imprint), imprint)
    return AskingImprint(steps, LlmResponder(asker, settings), asker, name)
