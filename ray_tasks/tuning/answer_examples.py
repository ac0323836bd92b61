"""Examples for fit_answers, made of benchmark questions and memories.

What cannot be found is made of the same questions: asked before their target happened, or of somebody else's memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ray_tasks.corpus.week_time import MINUTE_MS
from ray_tasks.evaluation.questions import BenchmarkQuestion, normalise_text
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.answer_features import Case, choice_features
from ray_tasks.retrieval.choice_kinds import kind_of
from ray_tasks.retrieval.curator import RuleCurator
from ray_tasks.retrieval.finding import found_features
from ray_tasks.retrieval.planner import RulePlanner
from ray_tasks.retrieval.responder import RuleResponder
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.types import Embed, Evidence, Question
from ray_tasks.retrieval.weights import FusionWeights
from ray_tasks.tuning.answers import ChoiceExample, FoundExample


def answer_examples(
    questions: Sequence[BenchmarkQuestion],
    memory: WearerMemory,
    embed: Embed,
    settings: RetrievalSettings,
    weights: FusionWeights,
    strangers: Sequence[WearerMemory] = (),
) -> tuple[list[ChoiceExample], list[FoundExample]]:
    """Examples of one wearer's questions; `strangers` are memories in which their answers cannot be."""
    groups = [f"{memory.wearer} {name}" for name in target_groups(questions)]
    asked = [entry.question for entry in questions]
    cases = _cases(asked, memory, embed, settings, weights)
    choices: list[ChoiceExample] = []
    for entry, case, group in zip(questions, cases, groups, strict=True):
        if case is not None and entry.answer is not None:
            features = {name: tuple(map(float, values)) for name, values in choice_features(case).items()}
            choices.append(ChoiceExample(kind_of(entry.question), features, entry.labels.index(entry.answer), group))
    searches = _searches(cases, groups, found=True, sort="asked as it is")
    early = [(entry, group) for entry, group in zip(questions, groups, strict=True) if entry.targets]
    before = [replace(entry.question, at_ms=min(entry.targets) - MINUTE_MS) for entry, _ in early]
    too_early = _cases(before, memory, embed, settings, weights)
    searches += _searches(too_early, [group for _, group in early], found=False, sort="asked before its target")
    for stranger in strangers:
        end = int(stranger.captions.end_ms.max(initial=0))
        elsewhere = [replace(question, wearer=stranger.wearer, at_ms=end) for question in asked]
        searches += _searches(
            _cases(elsewhere, stranger, embed, settings, weights), groups, found=False, sort="asked somebody else"
        )
    return choices, searches


def target_groups(questions: Sequence[BenchmarkQuestion]) -> list[str]:
    """A name for each question, the same for all that share the minute of a target, or their text."""
    group = list(range(len(questions)))

    def root(place: int) -> int:
        while group[place] != place:
            place = group[place]
        return place

    first: dict[object, int] = {}
    for place, entry in enumerate(questions):
        for mark in (normalise_text(entry.question.text), *(target // MINUTE_MS for target in entry.targets)):
            group[root(place)] = root(first.setdefault(mark, place))
    return [questions[root(place)].question.question_id for place in range(len(questions))]


def _searches(cases: Sequence[Case | None], groups: Sequence[str], *, found: bool, sort: str) -> list[FoundExample]:
    """What each case says about being found; without any evidence there is nothing to learn from."""
    return [
        FoundExample(found_features(case.variants.core, case.rows, case.asked), found, group, sort)
        for case, group in zip(cases, groups, strict=True)
        if case is not None
    ]


def _cases(
    questions: Sequence[Question],
    memory: WearerMemory,
    embed: Embed,
    settings: RetrievalSettings,
    weights: FusionWeights,
) -> list[Case | None]:
    """The questions with the evidence that the rules find."""
    drafts = RulePlanner(embed, settings, weights).draft(questions, memory)
    curator = RuleCurator(settings)
    kept: list[tuple[Evidence, ...]] = [
        curator.curate(question, draft.pool) for question, draft in zip(questions, drafts, strict=True)
    ]
    return RuleResponder(embed, aggregate=settings.aggregate).cases(questions, kept, memory)
