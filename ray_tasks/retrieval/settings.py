"""Settings of retrieval that a run may change and an evaluation records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Final, Literal, TypeVar

from ray_tasks.index.search import DEFAULT_DECAY
from ray_tasks.retrieval.imprint.settings import ImprintSettings
from ray_tasks.retrieval.setting_values import SettingsError, as_kind, check_literals
from ray_tasks.retrieval.types import MAX_EVIDENCE
from ray_tasks.rows import VIEWS

__all__ = ["LEAST_CONTEXT_TOKENS", "Agent", "RetrievalSettings", "SettingsError"]

Agent = Literal["rules", "llm"]
"""Who does a step of the method `egocite`: rules without weights, or a language model."""

LEAST_CONTEXT_TOKENS: Final = 1000


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """What a method may be told.

    decay: EgoCITE's lambda per recorded hour, in (0, 1]. evidence: items kept, 1 to 15. pool_per_round: clips that one
    round adds to the pool. rounds: 1 searches for the question alone, 2 for its choices too, 3 also beside the event by
    which it places another one. use_choices: whether retrieval may look at the choices at all. weights: how signals are
    summed: `learned`, `untrained`, or a file that `daybook tune` wrote (on a cluster, one that every machine sees).
    aggregate: whether rules that answer may count occasions over the whole memory for habits, absences and counts,
    beside the items kept.

    draft, curate, respond: who does the step. What follows is for a language model. draft_rounds: its turns in
    drafting, of which the last has no search unless it is the only one. k_fine, k_activity, k_conversation: rows that
    one search finds. views: those that can be searched. curate_tool: whether it may remove items from the pool while it
    drafts (EgoCITE: only strong models gain by it). tool_mode: tool calls, or one JSON action in each round; auto tries
    tool calls and leaves them to endpoints that take them. answer_form: JSON, or prose that ends in the letter.
    context_tokens: about the longest request of an agent; what does not fit is left out and counted.

    imprint: what the methods on interaction records are told beside it; they are set as imprint.top_k=10.
    """

    decay: float = DEFAULT_DECAY
    evidence: int = MAX_EVIDENCE
    pool_per_round: int = 50
    rounds: int = 3
    use_choices: bool = True
    aggregate: bool = True
    weights: str = "learned"
    draft: Agent = "rules"
    curate: Agent = "rules"
    respond: Agent = "rules"
    draft_rounds: int = 5
    k_fine: int = 20
    k_activity: int = 10
    k_conversation: int = 10
    views: tuple[str, ...] = VIEWS
    curate_tool: bool = False
    tool_mode: Literal["auto", "calls", "json"] = "auto"
    answer_form: Literal["json", "prose"] = "json"
    context_tokens: int = 24_000
    imprint: ImprintSettings = field(default_factory=ImprintSettings)

    def __post_init__(self) -> None:
        if not 0 < self.decay <= 1:
            raise SettingsError(f"decay must lie in (0, 1], not {self.decay}")
        if not 1 <= self.evidence <= MAX_EVIDENCE:
            raise SettingsError(f"evidence must lie between 1 and {MAX_EVIDENCE}, not {self.evidence}")
        if self.pool_per_round < self.evidence:
            raise SettingsError(
                f"pool_per_round ({self.pool_per_round}) must not be less than evidence ({self.evidence})"
            )
        if not 1 <= self.rounds <= 3:
            raise SettingsError(f"rounds must lie between 1 and 3, not {self.rounds}")
        check_literals(self)
        for name, least, most in (
            ("draft_rounds", 1, 20),
            ("k_fine", 1, 100),
            ("k_activity", 1, 100),
            ("k_conversation", 1, 100),
            ("context_tokens", LEAST_CONTEXT_TOKENS, 10_000_000),
        ):
            if not least <= getattr(self, name) <= most:
                raise SettingsError(f"{name} must lie between {least} and {most}, not {getattr(self, name)}")
        if not self.views or not set(self.views) <= set(VIEWS):
            raise SettingsError(f"views must be some of {', '.join(VIEWS)}, not {', '.join(self.views) or 'none'}")

    def changed(self, changes: Mapping[str, object]) -> RetrievalSettings:
        """These settings with some of them changed, also from text ("0.98", "yes", "action,activity").

        A part of them is changed by a name with a dot (imprint.top_k), or by a mapping. Raises SettingsError, which
        names the setting.
        """
        return _changed(self, _nested(changes), "")

    def changes(self) -> dict[str, object]:
        """What differs from the defaults."""
        default = RetrievalSettings().to_json()
        return {name: value for name, value in self.to_json().items() if value != default[name]}

    def to_json(self) -> dict[str, object]:
        """Plain values for a report or a cache key."""
        return asdict(self)


def _nested(changes: Mapping[str, object]) -> dict[str, object]:
    """Changes with the dotted names of one part as a mapping under its name."""
    nested: dict[str, object] = {}
    for name, value in changes.items():
        part, dot, rest = name.partition(".")
        if dot:
            before = nested.get(part)
            nested[part] = {**(before if isinstance(before, Mapping) else {}), rest: value}
        else:
            nested[name] = value
    return nested


Settings = TypeVar("Settings", "RetrievalSettings", ImprintSettings)


def _changed(settings: Settings, changes: Mapping[str, object], prefix: str) -> Settings:
    known = {field.name: getattr(settings, field.name) for field in fields(settings)}
    read: dict[str, Any] = {}
    for name, value in changes.items():
        if name not in known:
            raise SettingsError(f"there is no setting {prefix + name!r}; choose one of {', '.join(known)}")
        if not isinstance(known[name], ImprintSettings):
            read[name] = as_kind(prefix + name, value, known[name])
        elif isinstance(value, Mapping):
            read[name] = _changed(known[name], value, f"{name}.")
        else:
            parts = ", ".join(f"{name}.{one.name}" for one in fields(known[name]))
            raise SettingsError(f"{name} has several settings; set one of {parts}")
    return replace(settings, **read)
