"""What runs on across a half hour becomes one, by cosine and a merge call."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from ray_tasks.corpus.week_time import DAY_MS, HOUR_MS, MINUTE_MS
from ray_tasks.engines.messages import RefusedError, UnreachableError
from ray_tasks.extraction.llm.extractor import LlmExtractor
from ray_tasks.extraction.types import Extraction
from ray_tasks.rows import Atom, View, make_atom_id
from tests.chat_server.scripted import Scripted
from tests.extraction.llm.scripted import ScriptedRunner, correction, scripted
from tests.extraction.script import WEARER

HALF = 11 * HOUR_MS + 30 * MINUTE_MS
FIRST = "I cook leek soup for the guests in the kitchen."
SECOND = "I cook soup with leeks for eight guests with Tobi."
WHOLE = "I cook leek soup for eight guests in the kitchen with Tobi."


def atom(text: str, start_ms: int, end_ms: int, view: View = "activity", *, block: str = "") -> Atom:
    return Atom(
        atom_id=make_atom_id(WEARER, view, start_ms, text),
        wearer=WEARER,
        view=view,
        start_ms=start_ms,
        end_ms=end_ms,
        text=text,
        people=("Mara", "Tobi") if "Tobi" in text else ("Mara",),
        caption_ids=(block or f"{view}:{start_ms}",),
        engine="llm:scripted",
        prompt_version="llm-1",
    )


PAIR = (
    atom(FIRST, HALF - 4 * MINUTE_MS, HALF),
    atom(SECOND, HALF + 20_000, HALF + 5 * MINUTE_MS),
)


def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Cosine 1 for texts about soup, 0 for others."""
    vectors = [[1.0, 0.0] if "soup" in text else [0.0, 1.0] for text in texts]
    return np.asarray(vectors, dtype=np.float32)


def join(
    atoms: Sequence[Atom], reply: Scripted | None = None, again: Scripted | None = None
) -> tuple[Extraction, ScriptedRunner]:
    def script(request: object) -> Scripted:
        is_again = len(chat.requests) > 1
        return (again or correction()) if is_again else (reply or {"summary": WHOLE})

    extractor, chat = scripted(script)
    return extractor.join_windows(atoms, embed=embed), chat


def test_neighbours_that_are_alike_become_one_atom_with_a_merged_sentence() -> None:
    made, chat = join(PAIR)
    (whole,) = made.atoms
    assert (whole.text, whole.start_ms, whole.end_ms) == (WHOLE, PAIR[0].start_ms, PAIR[1].end_ms)
    assert whole.people == ("Mara", "Tobi")
    assert whole.caption_ids == (*PAIR[0].caption_ids, *PAIR[1].caption_ids)
    assert whole.atom_id == make_atom_id(WEARER, "activity", PAIR[0].start_ms, WHOLE)
    assert made.ledger.to_json() == {
        "in": 2,
        "done": 2,
        "filtered": {},
        "failed": {},
        "notes": {"joined_activity": 1},
    }
    assert made.calls.calls == 1
    told = [json.loads(line) for line in chat.requests[0].messages[1].text.splitlines() if line.startswith('"')]
    assert told == [FIRST, SECOND]


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (atom("I repair the fence of the yard with Tobi.", HALF, HALF + MINUTE_MS), "other words"),
        (atom(SECOND, HALF + 31_000, HALF + MINUTE_MS), "a gap"),
        (atom(SECOND, HALF, HALF + 7 * MINUTE_MS), "too long together"),
        (atom(SECOND, HALF, HALF + MINUTE_MS, "conversation"), "another view"),
        (atom(SECOND, HALF - MINUTE_MS, HALF), "the same window"),
        (atom(SECOND, HALF + 30 * MINUTE_MS, HALF + 31 * MINUTE_MS), "a window between"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_others_stay_apart_and_cost_no_call(second: Atom, why: str) -> None:
    made, chat = join([PAIR[0], second])
    assert set(made.atoms) == {PAIR[0], second}
    assert chat.requests == []
    assert made.calls.calls == 0


def test_midnight_parts_days() -> None:
    night = (atom(FIRST, DAY_MS - MINUTE_MS, DAY_MS), atom(SECOND, DAY_MS, DAY_MS + MINUTE_MS))
    made, chat = join(night)
    assert made.atoms == night
    assert chat.requests == []


def test_of_sentences_taken_apart_the_likest_are_joined_once() -> None:
    fence = atom("I paint the fence of the yard with white paint.", HALF - 4 * MINUTE_MS, HALF, block="b")
    soup = atom(FIRST, HALF - 4 * MINUTE_MS, HALF, block="b")
    made, chat = join([fence, soup, PAIR[1]])
    assert {one.text for one in made.atoms} == {fence.text, WHOLE}
    assert len(chat.requests) == 1


def test_a_merge_that_fails_keeps_both_texts() -> None:
    made, _ = join(PAIR, RefusedError("no"))
    assert [one.text for one in made.atoms] == [f"{FIRST} {SECOND}"]
    assert made.ledger.notes == {"fallback_refused": 2, "joined_activity": 1}


def test_a_merge_that_breaks_rules_is_asked_again_twice() -> None:
    wrong = {"summary": "We cook stuff for the guests in the kitchen."}
    made, chat = join(PAIR, wrong, correction((0, wrong["summary"])))
    assert len(chat.requests) == 3
    assert [one.text for one in made.atoms] == [f"{FIRST} {SECOND}"]
    assert made.ledger.notes["fallback_rule_unnamed_subject"] == 2
    made, chat = join(PAIR, wrong, correction((0, WHOLE)))
    assert [one.text for one in made.atoms] == [WHOLE]


def test_a_merged_conversation_names_everybody_of_both() -> None:
    first = atom("Tobi and I plan the soup for the guests on Saturday.", HALF - MINUTE_MS, HALF, "conversation")
    second = atom("Ines and I plan the soup with leeks for the guests.", HALF, HALF + MINUTE_MS, "conversation")
    first, second = (
        Atom(**{**{name: getattr(one, name) for name in Atom.__slots__}, "people": people})
        for one, people in ((first, ("Mara", "Tobi")), (second, ("Mara", "Ines")))
    )
    without = {"summary": "Tobi and I plan the soup with leeks for the guests on Saturday."}
    right = "Tobi, Ines and I plan the soup with leeks for the guests on Saturday."
    made, _ = join([first, second], without, correction((0, right)))
    assert [one.text for one in made.atoms] == [right]
    assert made.ledger.notes["wrong_missing_participant"] == 1


def test_without_an_embedding_nothing_is_joined_and_that_is_counted() -> None:
    extractor, chat = scripted(lambda _: {"summary": WHOLE})
    made = extractor.join_windows(PAIR)
    assert made.atoms == PAIR
    assert made.ledger.notes == {"not_compared": 1}
    assert chat.requests == []


def test_what_is_no_coarse_atom_or_stands_twice_is_filtered() -> None:
    fine = atom("I chop the leeks.", HALF, HALF + 30_000, "action")
    made, _ = join([*PAIR, PAIR[0], fine])
    assert made.ledger.to_json()["filtered"] == {"duplicate": 1, "fine_view": 1}
    assert made.ledger.missing == 0


def test_an_unreachable_endpoint_fails_the_join() -> None:
    with pytest.raises(UnreachableError):
        join(PAIR, UnreachableError("gone"))


def test_atoms_of_several_wearers_are_refused() -> None:
    other = Atom(**{**{name: getattr(PAIR[1], name) for name in Atom.__slots__}, "wearer": "B2_TOBI"})
    with pytest.raises(ValueError, match="several wearers"):
        join([PAIR[0], other])


def test_nothing_is_opened_where_nothing_is_joined() -> None:
    def refuse() -> ScriptedRunner:
        raise AssertionError("opened")

    from ray_tasks.engines.settings import ChatSettings

    made = LlmExtractor(ChatSettings(), refuse).join_windows([PAIR[0]], embed=embed)
    assert made.atoms == (PAIR[0],)
