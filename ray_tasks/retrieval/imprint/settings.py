"""Settings of Imprint's retrieval: the paper's values as defaults, and a switch for every reading that may differ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from ray_tasks.retrieval.setting_values import SettingsError, check_literals

IGNORABLE: Final = ("selection", "consolidation", "importance")
MOST_ENTRIES: Final = 1000


@dataclass(frozen=True, slots=True)
class ImprintSettings:
    """How entries are ranked and an answer is read from them (Imprint Eq. 3, Algorithm 2, Tables 8 and 9).

    object_weight, action_weight, importance_weight: gamma 1 to 3; they are divided by their sum, as Table 8 does where
    one is 0. top_k: entries that count as evidence. temporal_pool: how many of the best entries the temporal constraint
    is applied to, of which top_k are then kept; 0, as the paper has it, applies it to the top_k themselves. occasion:
    "one" keeps the single earliest or latest entry for "the first/last time", as the paper says; "order" keeps all and
    puts it first. matching: for first and last times, company and habits only members count whose object and
    action fit at least this share of the best fit found, since the paper speaks of "matching interactions"; 0 counts
    whatever was found.

    theta: the match from which an option is taken directly; the paper gives no value. Containment of lemmas is a match
    of 1, otherwise it is a cosine. share: the same for the shares of votes by which persons and habits are decided.
    direct: whether answers are read from records at all before the respond step is asked.

    rescore: "query" lets the importance of an entry decay from the end of its last visible member to the question, the
    final re-scoring of Appendix C without knowledge of what comes later; "none" leaves it, as Algorithm 1 does.
    ignore: what compression did and the question does not look at. selection: records that were not important enough
    count too; consolidation: every record is an entry of its own; importance: it is no part of the score.
    """

    object_weight: float = 0.53
    action_weight: float = 0.29
    importance_weight: float = 0.18
    top_k: int = 5
    temporal_pool: int = 0
    occasion: Literal["one", "order"] = "one"
    matching: float = 0.8
    theta: float = 0.6
    share: float = 0.5
    direct: bool = True
    rescore: Literal["none", "query"] = "none"
    ignore: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        weights = (self.object_weight, self.action_weight, self.importance_weight)
        if min(weights) < 0 or sum(weights) <= 0:
            raise SettingsError(f"the weights of the score must not be negative, and not all 0: {weights}")
        if not 1 <= self.top_k <= MOST_ENTRIES or not 0 <= self.temporal_pool <= MOST_ENTRIES:
            raise SettingsError(f"top_k must lie between 1 and {MOST_ENTRIES}, temporal_pool between 0 and that")
        for name in ("theta", "share", "matching"):
            if not 0 <= getattr(self, name) <= 1:
                raise SettingsError(f"{name} must lie in [0, 1], not {getattr(self, name)}")
        check_literals(self)
        if not set(self.ignore) <= set(IGNORABLE):
            raise SettingsError(f"ignore must be some of {', '.join(IGNORABLE)}, not {', '.join(self.ignore)}")

    @property
    def gammas(self) -> tuple[float, float, float]:
        """The weights of object, action and importance, which sum to 1."""
        weight = 0.0 if "importance" in self.ignore else self.importance_weight
        total = self.object_weight + self.action_weight + weight
        if total <= 0:
            raise SettingsError("importance is ignored and the other weights of the score are 0")
        return self.object_weight / total, self.action_weight / total, weight / total

    def of_all_records(self) -> ImprintSettings:
        """The same for the baseline of Table 1, which knows nothing of compression."""
        return replace(self, ignore=IGNORABLE)
