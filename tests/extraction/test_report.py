"""How self-contained atoms are, in counts that add up."""

from __future__ import annotations

import pytest

from ray_tasks.extraction.pronouns import has_unresolved, put_name
from ray_tasks.extraction.report import AtomReport, atom_report
from ray_tasks.rows import Atom, View


def atom(text: str, view: View = "action") -> Atom:
    return Atom("id", "P1_MARA", view, 0, 1, text, (), (), "rules", "1")


def test_pronouns_quotes_and_words_as_said_are_counted_by_view() -> None:
    report = atom_report(
        [
            atom("I put it on the shelf."),
            atom("Tobi takes his coat."),
            atom('Tobi says "come".', "utterance"),
            atom("Tobi says: Come to the shed.", "utterance"),
            atom("Tobi confirms to me: the kettle is on.", "utterance"),
        ]
    )
    assert report.atoms == {"action": 2, "utterance": 3}
    assert report.unresolved["action"] == 1
    assert report.quoted == {"action": 0, "utterance": 1}
    assert report.as_said["utterance"] == 1
    assert report.share(report.unresolved, "action") == 50.0
    assert report.share(report.quoted) == 20.0
    assert AtomReport().share({}) == 0.0


def test_reports_of_shards_add_up_and_survive_json() -> None:
    first, second = [atom("I put it away.")], [atom("Tobi nods."), atom('"Yes"', "utterance")]
    total = atom_report(first).add(atom_report(second))
    assert total == atom_report(first + second)
    assert AtomReport.from_json(total.to_json()) == total


@pytest.mark.parametrize(
    ("text", "unresolved"),
    [
        ("He opens the crate.", True),
        ("I talk to her.", True),
        ("I give her the jug.", True),
        ("Tobi waits for them.", True),
        ("Ines takes her coat.", False),
        ("Ines puts on their hats.", False),
        ("It is raining.", False),
        ("The item is here.", False),
    ],
)
def test_a_pronoun_counts_as_subject_or_object_only(text: str, unresolved: bool) -> None:
    assert has_unresolved(text) is unresolved


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She takes her coat.", "Ines takes her coat."),
        ("I talk with her.", "I talk with Ines."),
        ("I look at his map.", "I look at Ines's map."),
        ("He's reading a map.", "Ines is reading a map."),
        ("She's taken the map.", "Ines has taken the map."),
    ],
)
def test_a_name_takes_the_place_of_a_pronoun(text: str, expected: str) -> None:
    assert put_name(text, "Ines") == expected
