"""Words, verbs and clauses: the grammar under the rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.extraction.objects import single_object
from ray_tasks.extraction.people import Roster, label_names
from ray_tasks.extraction.predicate import find_predicate
from ray_tasks.extraction.sentences import clauses, clean
from ray_tasks.extraction.speech import analyse, as_statement
from ray_tasks.extraction.verbs import first_person, verb_base, verb_forms
from ray_tasks.extraction.words import content_words, is_english, stem, without_quotes


@pytest.mark.parametrize(
    ("word", "base", "form"),
    [
        ("tapped", "tap", "past"),
        ("took", "take", "past"),
        ("carries", "carry", "third"),
        ("lying", "lie", "ing"),
        ("passes", "pass", "third"),
        ("making", "make", "ing"),
        ("fetched", "fetch", "past"),
    ],
)
def test_verbs_are_known_in_all_forms(word: str, base: str, form: str) -> None:
    assert verb_base(word) == base
    assert form in verb_forms(word)


def test_nouns_are_no_verbs() -> None:
    assert not any(verb_forms(word) for word in ("kettle", "shelf", "rope", "bench", "everyone"))


@pytest.mark.parametrize(("verb", "expected"), [("picks", "pick"), ("is", "am"), ("has", "have"), ("took", "took")])
def test_a_verb_agrees_with_i(verb: str, expected: str) -> None:
    assert first_person(verb) == expected


@pytest.mark.parametrize(
    ("clause", "verb", "subject"),
    [
        ("I'm slowly filling the jug.", "filling", "wearer"),
        ("Tobi has taken the rope.", "taken", "other"),
        ("The tall woman with a hat sells fish.", "sells", "other"),
        ("Tobi and I carry the bench.", "carry", "wearer"),
        ("We have a rope.", "have", "wearer"),
    ],
)
def test_subject_and_verb_are_found(clause: str, verb: str, subject: str) -> None:
    words = clause.split()
    predicate = find_predicate(words)
    assert predicate is not None
    assert words[predicate.verb].strip(".") == verb
    assert predicate.subject == subject


@pytest.mark.parametrize("clause", ["A muddy boot", "Tobi, try again.", "On the left", ""])
def test_where_no_verb_is_found_nothing_is_guessed(clause: str) -> None:
    assert find_predicate(clause.split()) is None


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("I pick up a blue jug.", ("the blue jug", False)),
        ("Tobi carried these planks away.", ("these planks", True)),
        ("I put the lid on the pot.", None),
        ("I walked to the market.", None),
        ("I clap my hands.", None),
        ("I sleep.", None),
    ],
)
def test_the_only_object_of_a_clause(clause: str, expected: tuple[str, bool] | None) -> None:
    assert single_object(clause) == expected


@given(st.text(max_size=80))
def test_any_text_is_read_without_error_and_without_quote_marks(text: str) -> None:
    for clause in clauses(text):
        assert clause.text
        assert '"' not in clause.text
    assert '"' not in analyse(text).content
    assert clean(clean(text)) == clean(text)


@given(
    st.lists(
        st.sampled_from(
            [
                "I",
                "Tobi",
                "fill",
                "fills",
                "filling",
                "the",
                "a",
                "jug",
                "and",
                "then",
                "while",
                ",",
                "it",
                "to",
                "me",
                ".",
                "put",
            ]
        ),
        max_size=12,
    )
)
def test_words_are_never_lost_where_a_line_is_not_understood(words: list[str]) -> None:
    line = " ".join(words)
    kept = " ".join(text for clause in clauses(line) for text in (clause.assumed or (clause.text,)))
    assert set(content_words(line)) <= set(content_words(kept))


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("Are all the lanterns outside?", "all the lanterns are outside"),
        ("Is this the right shelf?", "this is the right shelf"),
        ("Has Tobi eaten?", "Tobi has eaten"),
        ("Did the boat leave at six?", "the boat did leave at six"),
        ("Are there any buckets in the shed?", "there are buckets in the shed"),
        ("Do you want the green one?", None),
        ("Is it wet or dry?", None),
        ("Where is the rope?", None),
        ("Isn't the rope wet?", None),
        ("This one? Is it wet?", None),
    ],
)
def test_a_question_is_turned_into_a_statement_only_where_its_order_is_plain(
    question: str, statement: str | None
) -> None:
    assert as_statement(question) == statement


@pytest.mark.parametrize(
    ("text", "question", "reply"),
    [
        ("Where is the rope?", "open", "none"),
        ("Is the rope wet?", "polar", "none"),
        ("What is this", "open", "none"),
        ("What I need is a rope", "none", "none"),
        ("Yes, yes, sure.", "none", "yes"),
        ("No problem.", "none", "yes"),
        ("No, not yet.", "none", "no"),
        ("On the shelf.", "none", "fragment"),
        ("Let's go.", "none", "none"),
        ("They have spoons.", "none", "none"),
    ],
)
def test_questions_and_answers_are_told_apart(text: str, question: str, reply: str) -> None:
    speech = analyse(text)
    assert (speech.question, speech.reply) == (question, reply)


@pytest.mark.parametrize(
    ("label", "names"),
    [
        ("Tobi", ("Tobi",)),
        ("Tobi/Ines", ("Tobi", "Ines")),
        ("Liv Moe", ("Liv Moe",)),
        ("Others", ()),
        ("Other people", ()),
        ("其他人", ()),
        ("18", ()),
        (None, ()),
    ],
)
def test_labels_name_people_or_nobody(label: str | None, names: tuple[str, ...]) -> None:
    assert label_names(label) == names


def test_an_unused_name_is_unknown_and_a_wearer_always_known() -> None:
    roster = Roster("P1_MARA")
    assert roster.named("Tobi and Mara wait.", 0) == ("Mara",)


def test_stems_quotes_and_scripts() -> None:
    words = content_words("I am washing the pots and the pot")
    assert [stem(word) for word in words] == ["wash", "pot", "pot"]
    assert without_quotes("He said “come” and 'go home', didn't he") == "He said come and go home, didn't he"
    assert is_english("OK 好") and not is_english("去仓库")
