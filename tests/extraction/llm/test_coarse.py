"""Activities and conversations by a scripted model: cuts, summaries, taking apart, fallbacks, books."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ray_tasks.corpus.week_time import HOUR_MS, MINUTE_MS
from ray_tasks.engines.messages import ChatRequest, EmptyReplyError, RefusedError, TruncatedError, UnreachableError
from ray_tasks.extraction.llm.faults import SOFT
from ray_tasks.extraction.llm.schemas import Group, Groups, Parts, Summary
from ray_tasks.extraction.types import LONGEST_MS, WINDOW_MS
from ray_tasks.rows import ATOM_SCHEMA, to_table
from tests.chat_server.scripted import Scripted
from tests.extraction.llm.scripted import Script, correction, data_of, groups, scripted
from tests.extraction.llm.test_fine import CORRECTIONS, ERRORS, GARBAGE, NASTY
from tests.extraction.llm.test_segments import window
from tests.extraction.llm.windows import WINDOWS, Window, faults_of
from tests.extraction.script import WEARER, record, texts

SOUP = """
    11:00:03 * I chop the leeks in the kitchen.
    11:00:40 Tobi: The guests come at eight for the soup.
    11:01:05 * I stir the soup in the pot.
    11:01:40 * I set the table for the guests.
"""
COOK = "I cook leek soup for the guests in the kitchen."
TALK = "Tobi talks with me about the guests who come at eight for soup."


def script_of(**replies: Scripted | list[Scripted]) -> Script:
    """A script by step: `cut_activity`, `cut_conversation`, `activity`, `conversation`, `apart`, `correct`."""
    defaults: dict[str, Scripted] = {
        "cut_activity": groups((0, 3)),
        "cut_conversation": groups((1, 1)),
        "activity": {"summary": COOK},
        "conversation": {"summary": TALK},
        "apart_activity": {"summaries": [COOK]},
        "apart_conversation": {"summaries": [TALK]},
        "correct": correction(),
    }
    left: dict[str, list[Scripted]] = {step: [*reply] for step, reply in replies.items() if isinstance(reply, list)}

    def script(request: ChatRequest) -> Scripted:
        step = request.purpose.removeprefix("extract-").replace("-", "_")
        if step in left:
            return left[step].pop(0)
        reply = replies.get(step, defaults[step])
        assert not isinstance(reply, list)
        return reply

    return script


def test_blocks_and_summaries_become_atoms() -> None:
    captions = record(SOUP)
    extractor, chat = scripted(script_of(cut_activity=groups((0, 1), (2, 3))))
    made = extractor.extract_coarse(captions, [], wearer=WEARER)
    assert [(atom.view, atom.text, atom.caption_ids) for atom in made.atoms] == [
        ("activity", COOK, tuple(caption.caption_id for caption in captions[:2])),
        ("conversation", TALK, (captions[1].caption_id,)),
        ("activity", COOK, tuple(caption.caption_id for caption in captions[2:])),
    ]
    assert made.atoms[0].people == ("Mara", "Tobi")
    assert made.atoms[1].people == ("Mara", "Tobi")
    assert made.ledger.to_json() == {"in": 4, "done": 4, "filtered": {}, "failed": {}, "notes": {}}
    assert made.calls.calls == len(chat.requests) == 5


def test_windows_are_half_hours_of_the_clock() -> None:
    lines = [f"11:{minute:02d}:03 * I lift jug {minute}." for minute in range(60)]
    extractor, chat = scripted(
        script_of(
            cut_activity=groups(*((first, first + 9) for first in range(0, 30, 10))),
            activity={"summary": "I lift jugs of plum wine from the shelf in the cellar."},
        )
    )
    made = extractor.extract_coarse(record("\n".join(lines)), [], wearer=WEARER)
    assert len(chat.of("extract-cut-activity")) == 2
    assert not chat.of("extract-cut-conversation")  # nobody speaks
    assert len(made.atoms) == 6
    assert {atom.start_ms // WINDOW_MS for atom in made.atoms} == {22, 23}


def test_faulty_groups_are_asked_again_with_what_is_wrong_and_then_repaired() -> None:
    captions = record(SOUP)
    wrong = groups((0, 1), (3, 9))
    extractor, chat = scripted(script_of(cut_activity=[wrong, wrong, wrong]))
    made = extractor.extract_coarse(captions, [], wearer=WEARER)
    cuts = chat.of("extract-cut-activity")
    assert len(cuts) == 3
    told = cuts[1].messages[-1].text
    assert "group 3 to 9 is no run of captions between 0 and 3" in told
    assert "captions 2, 3 are in no group" in told
    assert made.ledger.notes["repaired_out_of_range"] == 1
    assert made.ledger.notes["repaired_left_out"] == 1
    assert [len(atom.caption_ids) for atom in made.atoms if atom.view == "activity"] == [4]


def test_groups_that_are_right_at_the_second_go_are_taken() -> None:
    extractor, chat = scripted(script_of(cut_activity=[groups((0, 9)), groups((0, 1), (2, 3))]))
    made = extractor.extract_coarse(record(SOUP), [], wearer=WEARER)
    assert len(chat.of("extract-cut-activity")) == 2
    assert len(texts(made.atoms, "activity")) == 2
    assert not [note for note in made.ledger.notes if note.startswith("repaired")]


def test_a_cut_that_fails_is_made_by_rules() -> None:
    extractor, _ = scripted(script_of(cut_activity=TruncatedError("no"), cut_conversation=RefusedError("no")))
    made = extractor.extract_coarse(record(SOUP), [], wearer=WEARER)
    assert made.ledger.notes["fallback_truncated"] == made.ledger.notes["fallback_refused"] == made.ledger.taken == 4
    assert made.ledger.done == 4
    assert texts(made.atoms, "activity") == [COOK]
    assert texts(made.atoms, "conversation") == [TALK]


def test_a_summary_that_fails_is_made_by_rules() -> None:
    extractor, _ = scripted(script_of(activity=EmptyReplyError("no")))
    made = extractor.extract_coarse(record(SOUP), [], wearer=WEARER)
    assert made.ledger.notes["fallback_empty"] == made.ledger.taken == 4
    (text,) = texts(made.atoms, "activity")
    assert "soup" in text
    assert made.ledger.done == 4


def test_plain_talk_without_a_group_is_asked_about_and_then_cut_by_rules() -> None:
    talk = "\n".join(f"11:00:{second:02d} {('Tobi', 'Ines')[second % 2]}: Jug {second} is full." for second in range(6))
    captions = record(f"{talk}\n11:00:40 * I lift a jug.")
    extractor, chat = scripted(
        script_of(
            cut_activity=groups((0, 1)),
            cut_conversation=groups(),
            conversation={"summary": "Tobi and Ines talk about which of the jugs are full now."},
        )
    )
    made = extractor.extract_coarse(captions, [], wearer=WEARER)
    assert len(chat.of("extract-cut-conversation")) == 3
    assert len(texts(made.atoms, "conversation")) == 1
    assert made.ledger.notes["fallback_no_groups"] == made.ledger.taken == 2
    extractor, chat = scripted(script_of(cut_activity=groups((0, 1)), cut_conversation=groups()))
    extractor.extract_coarse(record(SOUP), [], wearer=WEARER)
    assert len(chat.of("extract-cut-conversation")) == 1


def test_an_unreachable_endpoint_fails_the_shard() -> None:
    extractor, _ = scripted(script_of(conversation=UnreachableError("gone")))
    with pytest.raises(UnreachableError):
        extractor.extract_coarse(record(SOUP), [], wearer=WEARER)


COARSE = [window for window in WINDOWS if window.view != "action"]


def on_window(labelled: Window, summary: str, again: str) -> tuple[list[str], dict[str, int], int]:
    """Texts of the window's view, notes, and corrective questions, where the model says `summary` and then `again`."""
    captions = record(labelled.script)
    other = "activity" if labelled.view == "conversation" else "conversation"
    replies: dict[str, Scripted | list[Scripted]] = {
        f"cut_{labelled.view}": groups((0, len(captions) - 1)),
        f"cut_{other}": groups(),
        labelled.view: {"summary": summary},
        f"apart_{labelled.view}": {"summaries": [again]},
        other: RefusedError("no"),
        "correct": correction((0, again)),
    }
    extractor, chat = scripted(script_of(**replies))
    made = extractor.extract_coarse(captions, [], wearer=WEARER)
    assert made.ledger.missing == 0
    return texts(made.atoms, labelled.view), made.ledger.notes, len(chat.of("extract-correct"))


@pytest.mark.parametrize("labelled", COARSE, ids=lambda window: window.name)
def test_right_summaries_stand_and_wrong_ones_are_put_right(labelled: Window) -> None:
    for _, right in labelled.right:
        assert on_window(labelled, right, "")[0] == [right]
        for _, wrong, rule in labelled.wrong:
            found, notes, questions = on_window(labelled, wrong, right)
            assert found == [right]
            assert notes["disentangled"] if rule == "coupled" else notes[f"wrong_{rule}"]
            assert questions <= 1


@pytest.mark.parametrize("labelled", COARSE, ids=lambda window: window.name)
def test_wrong_summaries_give_way_after_two_questions(labelled: Window) -> None:
    for kind, wrong, _ in labelled.wrong:
        found, notes, questions = on_window(labelled, wrong, wrong)
        hard = [one.rule for one in faults_of(labelled, kind, wrong) if one.rule not in SOFT]
        if hard == ["coupled"]:
            assert found == [wrong]
            assert notes["kept_coupled_rule"] == 1
        else:
            assert len(found) == 1
            assert found != [wrong]
            rule = next(one for one in hard if one != "coupled" or len(hard) == 1)
            assert notes[f"fallback_rule_{rule}"] == len(record(labelled.script))
        assert questions == 2


def test_a_coupled_summary_is_taken_apart_into_atoms_of_the_same_captions() -> None:
    both = "I cook leek soup for the guests and Tobi sets the table."
    parts = ["I cook leek soup for the guests in the kitchen.", "Tobi sets the table in the kitchen for the guests."]
    extractor, chat = scripted(script_of(activity={"summary": both}, apart_activity={"summaries": parts}))
    made = extractor.extract_coarse(record(SOUP), [], wearer=WEARER)
    assert texts(made.atoms, "activity") == parts
    assert len({(atom.caption_ids, atom.start_ms, atom.end_ms) for atom in made.atoms if atom.view == "activity"}) == 1
    (request,) = chat.of("extract-apart-activity")
    assert json.dumps(both) in request.messages[1].text
    assert made.ledger.notes == {"disentangled": 1}


def test_a_wrong_part_is_asked_again_alone() -> None:
    both = "I cook leek soup for the guests and Tobi sets the table."
    parts = ["I cook leek soup for the guests in the kitchen.", "He sets the table in the kitchen for the guests."]
    put_right = "Tobi sets the table in the kitchen for the guests."
    extractor, chat = scripted(
        script_of(activity={"summary": both}, apart_activity={"summaries": parts}, correct=[correction((1, put_right))])
    )
    made = extractor.extract_coarse(record(SOUP), [], wearer=WEARER)
    assert texts(made.atoms, "activity") == [parts[0], put_right]
    (question,) = chat.of("extract-correct")
    assert parts[0] not in question.messages[-1].text


def test_a_block_of_lines_without_words_makes_no_atom_and_is_counted() -> None:
    extractor, chat = scripted(script_of())
    made = extractor.extract_coarse(record("11:00:03 * \n11:00:05 Tobi: "), [], wearer=WEARER)
    assert made.atoms == ()
    assert chat.requests == []
    assert made.ledger.to_json()["filtered"] == {"no_activity_or_conversation": 1}


def test_only_people_who_say_something_must_be_named() -> None:
    captions = record(SOUP + "11:01:50 Nele: Hmm.")
    extractor, _ = scripted(script_of(cut_conversation=groups((1, 3))))
    made = extractor.extract_coarse(captions, [], wearer=WEARER)
    assert texts(made.atoms, "conversation") == [TALK]
    assert [atom.people for atom in made.atoms if atom.view == "conversation"] == [("Mara", "Tobi", "Nele")]


STEPS = {"extract-activity", "extract-conversation"}
GROUPS = st.builds(
    Groups,
    groups=st.lists(st.builds(Group, first=st.integers(0, 12), last=st.integers(0, 99)), max_size=6),
)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_reply_breaks_the_books_or_the_schema(data: st.DataObject) -> None:
    def script(request: ChatRequest) -> Scripted:
        if request.purpose == "extract-correct":
            fitting: st.SearchStrategy[Scripted] = CORRECTIONS
        elif "cut" in request.purpose:
            fitting = GROUPS
        elif request.purpose in STEPS:
            fitting = st.builds(Summary, summary=NASTY)
        else:
            fitting = st.builds(Parts, summaries=st.lists(NASTY, min_size=1, max_size=4))
        reply: Scripted = data.draw(st.one_of(fitting, ERRORS, GARBAGE))
        return reply

    captions = window(8)
    extractor, chat = scripted(script)
    made = extractor.extract_coarse(captions, [], wearer=WEARER)
    assert made.ledger.taken == made.ledger.done == 8
    assert made.calls.balanced
    assert made.calls.calls == len(chat.requests)
    assert to_table(made.atoms, ATOM_SCHEMA).num_rows == len({atom.atom_id for atom in made.atoms}) == len(made.atoms)
    known = [caption.caption_id for caption in captions]
    for atom in made.atoms:
        first, last = known.index(atom.caption_ids[0]), known.index(atom.caption_ids[-1])
        assert list(atom.caption_ids) == known[first : last + 1]
        assert atom.text.strip()
        assert atom.end_ms - atom.start_ms <= LONGEST_MS


def test_the_data_of_a_block_is_its_captions() -> None:
    captions = window(8)
    extractor, chat = scripted(script_of(cut_activity=groups((0, 3), (4, 7)), cut_conversation=groups()))
    extractor.extract_coarse(captions, [], wearer=WEARER)
    second = data_of(chat.of("extract-activity")[1])
    assert "jug 4" in second
    assert "jug 3" not in second
    assert captions[0].start_ms == 11 * HOUR_MS
    assert captions[-1].end_ms == 11 * HOUR_MS + 4 * MINUTE_MS
