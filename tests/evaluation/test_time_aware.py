"""The split into time-aware and time-unaware questions."""

from __future__ import annotations

import pytest

from ray_tasks.evaluation.time_aware import TIME_KEYWORDS, is_time_aware


def test_the_table_has_all_keywords_of_its_five_rows() -> None:
    assert [len(words) for words in TIME_KEYWORDS.values()] == [9, 8, 10, 17, 11]


@pytest.mark.parametrize("word", [word for words in TIME_KEYWORDS.values() for word in words])
def test_every_keyword_makes_a_question_time_aware(word: str) -> None:
    assert is_time_aware(f"Did Tobi mend the gate {word.title()}?")


@pytest.mark.parametrize(
    "text",
    [
        "Who carried the crate on DAY3?",
        "What did Mara say on day_2?",
        "Who came at nine o’clock?",
        "Who LAST used the kettle?",
        "When did Ines leave?",
    ],
)
def test_day_labels_and_curly_quotes_count(text: str) -> None:
    assert is_time_aware(text)


@pytest.mark.parametrize(
    "text",
    [
        "Who owns the blastproof box?",  # "last" inside a word
        "Where is the Monday box?",  # "day" inside a word
        "Who likes the nightingale?",
        "Which candidate did Tobi name?",
        "What is in the green crate?",
        "",
    ],
)
def test_keywords_inside_other_words_do_not_count(text: str) -> None:
    assert not is_time_aware(text)
