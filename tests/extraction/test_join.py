"""Joining activities and conversations across the borders of windows and hours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from ray_tasks.extraction.join import join_windows
from ray_tasks.rows import Atom, View, make_atom_id
from tests.extraction.script import WEARER, clock

PEEL = "I peel the potatoes in the kitchen; with Tobi; also: pot, salt."
STIR = "I stir the potatoes in the pot; with Ines; also: salt, spoon."
SAW = "I cut a plank; also: shelf, bracket."


def atom(
    start: str, end: str, text: str, view: View = "activity", people: tuple[str, ...] = (), engine: str = "rules"
) -> Atom:
    begin = clock(start)
    identity = make_atom_id(WEARER, view, begin, text)
    captions = (f"{WEARER}:{start}", f"{WEARER}:{end}")
    return Atom(identity, WEARER, view, begin, clock(end), text, people, captions, engine, "1")


@pytest.mark.parametrize(
    ("before", "border", "after"), [("11:27:00", "11:30:00", "11:33:00"), ("11:57:00", "12:00:00", "12:03:00")]
)
def test_an_activity_that_runs_on_over_the_border_is_one(before: str, border: str, after: str) -> None:
    first = atom(before, border, PEEL, people=("Mara", "Tobi"))
    second = atom(border, after, STIR, people=("Mara", "Ines"))
    result = join_windows([second, first])
    (joined,) = result.atoms
    assert (joined.start_ms, joined.end_ms) == (clock(before), clock(after))
    assert joined.people == ("Mara", "Tobi", "Ines")
    assert joined.caption_ids == (*first.caption_ids, second.caption_ids[1])
    acts = "I peel the potatoes in the kitchen; I stir the potatoes in the pot"
    assert joined.text == f"{acts}; with Tobi, Ines; also: pot, salt, spoon."
    assert joined.atom_id == make_atom_id(WEARER, "activity", clock(before), joined.text)
    assert (result.ledger.taken, result.ledger.done, result.ledger.notes["joined_activity"]) == (2, 2, 1)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (atom("11:27:00", "11:30:00", PEEL), atom("11:30:00", "11:33:00", SAW)),
        (atom("11:22:00", "11:30:00", PEEL), atom("11:30:00", "11:33:00", STIR)),
        (atom("11:27:00", "11:29:00", PEEL), atom("11:30:00", "11:33:00", STIR)),
        (atom("11:24:00", "11:27:00", PEEL), atom("11:27:00", "11:29:00", STIR)),
        (atom("11:27:00", "11:30:00", PEEL), replace(atom("11:30:00", "11:33:00", STIR), view="conversation")),
    ],
    ids=["something else", "more than ten minutes", "apart", "inside one window", "another view"],
)
def test_others_stay_apart(first: Atom, second: Atom) -> None:
    assert sorted(join_windows([first, second]).atoms, key=lambda one: one.start_ms) == [first, second]


def test_only_the_first_atom_of_a_window_is_joined() -> None:
    atoms = [atom("11:28:00", "11:30:00", PEEL), atom("11:30:00", "11:32:00", PEEL), atom("11:32:00", "11:34:00", PEEL)]
    assert [one.start_ms for one in join_windows(atoms).atoms] == [clock("11:28:00"), clock("11:32:00")]


def test_a_piece_of_less_than_a_minute_joins_whatever_it_says() -> None:
    (joined,) = join_windows([atom("11:29:30", "11:30:00", SAW), atom("11:30:00", "11:33:00", PEEL)]).atoms
    assert "plank" in joined.text
    assert "potatoes" in joined.text


def test_a_conversation_goes_on_while_the_people_stay() -> None:
    first = atom("11:27:00", "11:30:00", "Tobi and I talk about boats.", "conversation", ("Tobi", "Mara"))
    second = atom(
        "11:30:00", "11:33:00", "Ines, Tobi and I talk about paint.", "conversation", ("Ines", "Tobi", "Mara")
    )
    (joined,) = join_windows([first, second]).atoms
    assert joined.text == f"{first.text} {second.text}"
    others = replace(second, people=("Ines", "Nele"))
    assert join_windows([first, others]).atoms == (first, others)


@pytest.mark.parametrize(("cosine", "count"), [(0.95, 1), (0.85, 2)])
def test_texts_of_a_language_model_are_compared_by_their_vectors(cosine: float, count: int) -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        asked.extend(texts)
        return np.array([[1.0, 0.0], [cosine, (1 - cosine**2) ** 0.5]], dtype=np.float32)

    atoms = [atom("11:27:00", "11:30:00", PEEL, engine="chat"), atom("11:30:00", "11:33:00", SAW, engine="chat")]
    assert len(join_windows(atoms, embed=embed).atoms) == count
    assert asked == [PEEL, SAW]


def test_texts_of_rules_need_no_vectors() -> None:
    def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        raise AssertionError(texts)

    assert (
        len(join_windows([atom("11:27:00", "11:30:00", PEEL), atom("11:30:00", "11:33:00", STIR)], embed=embed).atoms)
        == 1
    )


def test_order_and_repeats_of_the_input_change_nothing() -> None:
    atoms = [atom("11:27:00", "11:30:00", PEEL), atom("11:30:00", "11:33:00", STIR), atom("11:40:00", "11:44:00", SAW)]
    result = join_windows([*atoms[::-1], atoms[0]])
    assert result.atoms == join_windows(atoms).atoms
    assert result.ledger.filtered == {"duplicate": 1}


def test_fine_atoms_are_left_out_and_counted() -> None:
    result = join_windows([atom("11:27:00", "11:27:30", "I peel a potato.", "action")])
    assert result.atoms == ()
    assert result.ledger.filtered == {"fine_view": 1}
    assert join_windows([]).atoms == ()


def test_atoms_of_several_wearers_are_refused() -> None:
    with pytest.raises(ValueError, match="P1_MARA, P2_TOBI"):
        join_windows(
            [atom("11:27:00", "11:30:00", PEEL), replace(atom("11:30:00", "11:33:00", STIR), wearer="P2_TOBI")]
        )
