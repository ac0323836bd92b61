"""Learning of answers on made-up examples."""

from __future__ import annotations

import numpy as np
import pytest

from ray_tasks.errors import UsageError
from ray_tasks.retrieval.answer_weights import UNTRAINED
from ray_tasks.tuning.answers import FOLDS, ChoiceExample, FoundExample, fit_answers, grouped_folds
from ray_tasks.tuning.logit import fit_choices, fit_yes_no, softmax


def made_up(n: int, telling: float, misleading: float) -> list[ChoiceExample]:
    """Questions of the kind "other" in which one feature tells the key and the other may lead away from it."""
    generator = np.random.default_rng(3)
    examples = []
    for number in range(n):
        key = int(generator.integers(4))
        together, words = generator.normal(size=4), generator.normal(size=4)
        together[key] += telling
        words[key] -= misleading
        features = {"fits_together": tuple(together), "words": tuple(words)}
        examples.append(ChoiceExample("other", features, key, f"group {number // 2}"))
    return examples


def searches(n: int) -> list[FoundExample]:
    generator = np.random.default_rng(4)
    return [
        FoundExample(
            {"best_cosine": float(generator.normal(0.7 if found else 0.4, 0.1)), "words_held": 0.5},
            found,
            f"group {number}",
            "held" if found else "not held",
        )
        for number in range(n)
        for found in (True, False)
    ]


def test_weights_follow_what_tells_the_key() -> None:
    fitted = fit_answers(made_up(80, 1.5, 1.5), [], {"trained_on": "dice"})
    assert fitted.kinds["other"]["fits_together"] > 0 > fitted.kinds["other"]["words"]
    figures = fitted.provenance["kinds"]["other"]
    assert figures["weights"] == "trained"
    assert figures["accuracy"] > figures["untrained"]["accuracy"]
    assert fitted.kinds["person"] == UNTRAINED.kinds["person"]
    assert fitted.provenance["trained_on"] == "dice"


def test_noise_gives_answers_that_are_sure_of_nothing() -> None:
    fitted = fit_answers(made_up(80, 0.0, 0.0), [], {})
    assert fitted.provenance["kinds"]["other"]["sureness"] < 45


def test_the_threshold_refuses_few_that_are_there_and_most_that_are_not() -> None:
    fitted = fit_answers(made_up(80, 1.0, 0.0), searches(60), {})
    rates = fitted.provenance["found"]["by_sort"]
    assert rates["held"]["called_not_found"] < 20 < 70 < rates["not held"]["called_not_found"]
    assert fitted.found.chance({"best_cosine": 0.8, "words_held": 0.5}) > fitted.found.threshold
    assert fitted.found.chance({"best_cosine": 0.3, "words_held": 0.5}) < fitted.found.threshold


def test_the_same_examples_give_the_same_file() -> None:
    one, other = (fit_answers(made_up(40, 1.0, 0.0), searches(40), {}).to_json() for _ in range(2))
    assert one == other


def test_too_few_questions_teach_nothing() -> None:
    with pytest.raises(UsageError, match="nothing can be learned"):
        fit_answers(made_up(5, 1.0, 0.0), searches(3), {})


def test_a_group_is_never_split() -> None:
    groups = [f"g{number // 3}" for number in range(40)]
    folds = grouped_folds(groups, 1)
    assert len(folds) == FOLDS
    assert sorted(place for _, outside in folds for place in outside) == list(range(40))
    for inside, outside in folds:
        assert not {groups[i] for i in inside} & {groups[i] for i in outside}
    assert grouped_folds(["one"] * 9, 0) == []


def test_a_feature_that_never_varies_gets_no_weight() -> None:
    generator = np.random.default_rng(5)
    options = [np.column_stack([generator.normal(size=3), np.ones(3)]) for _ in range(20)]
    weights = fit_choices(options, [int(np.argmax(matrix[:, 0])) for matrix in options], 0.01)
    assert weights[0] > 1
    assert weights[1] == pytest.approx(0)


def test_yes_and_no_weigh_alike_whatever_their_numbers() -> None:
    rows = np.concatenate([np.full((90, 1), 0.0), np.full((10, 1), 1.0)])
    bias, slopes = fit_yes_no(rows, rows[:, 0] > 0.5, 0.001)
    assert bias + 0.5 * slopes[0] == pytest.approx(0, abs=0.05)
    assert softmax(np.array([1000.0, 0.0])).tolist() == [1.0, 0.0]
