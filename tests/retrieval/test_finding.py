"""How near a search came to what was asked."""

from __future__ import annotations

from ray_tasks.retrieval.answer_weights import UNTRAINED, FoundWeights
from ray_tasks.retrieval.responder import RuleResponder
from tests.retrieval.small_memory import ask, embed, make_memory
from tests.retrieval.test_responder import CLIPS, LATER, evidence


def found_and_notes(text: str, *choices: str) -> tuple[float, tuple[str, ...]]:
    memory = make_memory(CLIPS)
    (reply,) = RuleResponder(embed, UNTRAINED).respond([ask(text, LATER, *choices)], [evidence(4, 3, 2, 1)], memory)
    assert reply.found is not None
    return reply.found, reply.notes


def test_what_the_memory_holds_is_found_and_what_it_does_not_is_not() -> None:
    there, notes = found_and_notes("Who opens the jar of honey?")
    elsewhere, refusal = found_and_notes("Where did the zeppelin land at midnight?")
    assert there > 0.5 > elsewhere
    assert notes == ()
    assert refusal == ("not_found",)


def test_a_question_not_found_still_gets_a_choice() -> None:
    found, notes = found_and_notes("Where did the zeppelin land at midnight?", "On a glacier", "In a harbour")
    assert notes == ("not_found",)
    assert found < UNTRAINED.found.threshold


def test_chances_stay_probabilities_for_any_features() -> None:
    steep = FoundWeights(0.0, {"best_cosine": 1e6}, 0.5)
    assert 0 < steep.chance({"best_cosine": -1.0}) < 1e-6
    assert steep.chance({"best_cosine": 1.0}) > 1 - 1e-6
