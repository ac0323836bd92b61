"""Interaction records by rules: acts and utterances taken apart, none of them known before its time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.extraction.records.rules import RulesRecordExtractor
from ray_tasks.extraction.records.types import (
    RECORD_SCHEMA,
    Interaction,
    Record,
    Records,
    make_records,
    records_from_table,
)
from ray_tasks.rows import to_table
from tests.extraction.script import WEARER, clock, record, seen_by

EXTRACTOR = RulesRecordExtractor()


def extract(script: str) -> Records:
    """The records of a script."""
    return EXTRACTOR.extract(record(script), wearer=WEARER)


def only(line: str) -> Record:
    """The one record of a visual line."""
    (found,) = extract(f"11:00:00 * {line}").records
    return found


@pytest.mark.parametrize(
    ("line", "person", "action", "thing"),
    [
        ("I pick up a blue jug.", "Mara", "pick up", "blue jug"),
        ("I put the jug down.", "Mara", "put down", "jug"),
        ("I put my hat on.", "Mara", "put on", "hat"),
        ("I am looking at the phone.", "Mara", "look at", "phone"),
        ("I walked into the kitchen.", "Mara", "walk into", "kitchen"),
        ("I take the ladle out of the drawer.", "Mara", "take out", "ladle"),
        ("I pour a cup of tea.", "Mara", "pour", "cup of tea"),
        ("I mix the salt and the pepper.", "Mara", "mix", "salt and pepper"),
        ("I try to open the crate.", "Mara", "try to open", "crate"),
        ("I start cutting the bread.", "Mara", "cut", "bread"),
        ("I stop stirring the soup.", "Mara", "stop stirring", "soup"),
        ("I picked up and opened the crate.", "Mara", "pick up", ""),
        ("Tobi hands the rope to me.", "Tobi", "hand", "rope"),
        ("Tobi gives me the rope.", "Tobi", "give", "rope"),
        ("A waiter brings the menu.", "waiter", "bring", "menu"),
        ("He is sawing the plank.", "someone", "saw", "plank"),
        ("I nod.", "Mara", "nod", ""),
        ("Mara wipes the table slowly.", "Mara", "wipe", "table"),
    ],
)
def test_an_act_has_a_person_an_action_and_an_object(line: str, person: str, action: str, thing: str) -> None:
    found = only(line)
    assert (found.person, found.action, found.object) == (person, action, thing)


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("I fasten the bracket with a screwdriver in the shed.", "tool", "screwdriver"),
        ("I fasten the bracket with a screwdriver in the shed.", "location", "shed"),
        ("I cut the bread using a small knife.", "tool", "small knife"),
        ("I carry the bench with both hands.", "tool", None),
        ("I walked into the kitchen.", "location", "kitchen"),
        ("I went outside.", "location", "outside"),
        ("I open the Floraleaf app.", "app", "Floraleaf"),
        ("I open Floraleaf.", "app", "Floraleaf"),
        ("I charge the power bank.", "location", None),
        ("I carry the bench to the wall.", "attributes", ("to wall",)),
        ("Tobi gives me the rope.", "attributes", ("to Mara",)),
        ("I cut the bread for Tobi.", "attributes", ("for Tobi",)),
    ],
)
def test_what_stands_beside_an_act_is_its_context(line: str, field: str, value: object) -> None:
    assert getattr(only(line), field) == value


@pytest.mark.parametrize("part", ["and go ", "to want ", "to the shed ", "the jug of ", "out of "])
def test_a_line_without_end_is_read_like_any_other(part: str) -> None:
    found = extract(f"11:00:00 * I want {part * 1200}").records
    assert all(len(one.action.split()) < 10 for one in found)


def test_a_person_is_no_tool() -> None:
    found = extract("11:00:00 Tobi: Come on now everybody.\n11:00:03 * I carry the bench with Tobi.").records
    assert (found[-1].tool, found[-1].attributes) == (None, ("with Tobi",))


def test_who_is_watched_is_the_object_and_not_what_they_do() -> None:
    found = extract("11:00:00 Tobi: The bench is heavy.\n11:00:03 * I watch Tobi open the crate.").records[-1]
    assert (found.action, found.object) == ("watch", "Tobi")


def test_who_acts_together_has_a_record_each() -> None:
    found = extract("11:00:00 Tobi: The bench is heavy.\n11:00:03 * Tobi and I carry the bench.").records[1:]
    assert [(one.person, one.action, one.object, one.attributes) for one in found] == [
        ("Tobi", "carry", "bench", ("with Mara",)),
        ("Mara", "carry", "bench", ("with Tobi",)),
    ]


def test_coupled_acts_are_records_of_their_own() -> None:
    found = extract("11:00:00 * I fill the jug and open the tap.").records
    assert [(one.action, one.object) for one in found] == [("fill", "jug"), ("open", "tap")]


@pytest.mark.parametrize(
    ("line", "person", "action", "thing", "attributes"),
    [
        ("Tobi: Where did you put the blue kettle?", "Tobi", "ask", "blue kettle", ()),
        ("Mara: The rope is wet.", "Mara", "say", "rope", ()),
        ("Tobi: Let's go to the market.", "Tobi", "suggest", "market", ()),
        ("Tobi: Mara, bring the rope.", "Tobi", "tell", "Mara", ("to Mara",)),
        (": The rope is wet.", "someone", "say", "rope", ()),
    ],
)
def test_speech_is_an_act_with_its_own_words(
    line: str, person: str, action: str, thing: str, attributes: tuple[str, ...]
) -> None:
    (found,) = extract(f"11:00:00 {line}").records
    assert (found.person, found.action, found.attributes) == (person, action, attributes)
    assert found.object == thing
    assert found.speech == line.partition(": ")[2]


def test_an_answer_is_told_with_whom_it_answers() -> None:
    found = extract("11:00:00 Tobi: Are all the lanterns outside?\n11:00:03 Mara: Yes.").records[-1]
    assert (found.person, found.action, found.object, found.speech) == ("Mara", "confirm", "lanterns", "Yes.")
    assert found.attributes == ("to Tobi",)


def test_every_line_is_counted_once_and_says_why_it_gave_nothing() -> None:
    script = """
        11:00:00 * I wash the pot.
        11:00:04 * I wash the pot.
        11:00:08 * I walk forward.
        11:00:10 * The tent falls down.
        11:00:12 * A muddy boot
        11:00:15 Tobi: Um...
        11:00:18 * I nod.
    """
    done = extract(script)
    assert done.ledger.to_json() == {
        "in": 7,
        "done": 2,
        "filtered": {
            "duplicate_in_caption": 1,
            "no_content": 1,
            "no_person": 1,
            "no_predicate": 1,
            "undirected_motion": 1,
        },
        "failed": {},
        "notes": {"without_object": 1},
    }


def test_a_record_starts_with_its_line_and_ends_with_its_caption() -> None:
    found = extract("11:00:03 * I wash the pot.\n11:00:20-11:00:40 Tobi: The rope is wet.").records
    assert [(one.start_ms, one.end_ms) for one in found] == [
        (clock("11:00:03"), clock("11:00:40")),
        (clock("11:00:20"), clock("11:00:40")),
    ]


def test_the_same_act_elsewhere_is_another_record() -> None:
    found = extract("11:00:00 * I put the jug on the table.\n11:00:05 * I put the jug on the shelf.").records
    assert [one.attributes for one in found] == [("on table",), ("on shelf",)]
    assert len({one.record_id for one in found}) == 2


def test_equal_input_gives_equal_records() -> None:
    script = "11:00:00 * I wash the pot.\n11:00:31 * I wash the pot.\n11:00:40 Tobi: The rope is wet."
    assert extract(script) == extract(script)
    assert len({one.record_id for one in extract(script).records}) == 3


def test_records_survive_their_table() -> None:
    found = extract("11:00:00 * I cut the bread with a knife.\n11:00:04 Tobi: The rope is wet.").records
    table = to_table(found, RECORD_SCHEMA)
    assert table.schema == RECORD_SCHEMA
    assert records_from_table(table) == list(found)


def test_a_record_of_somebody_named_twice_is_one() -> None:
    (caption,) = record("11:00:00 * I wash the pot.")
    one = Interaction(("Mara", "Mara"), "wash", "pot")
    assert len(make_records(caption, [(caption.start_ms, one), (caption.start_ms + 5, one)])) == 1


PARTS = st.sampled_from(
    [
        "* I take the jug.",
        "* I put it on the shelf.",
        "* He opens the crate.",
        "* Tobi is talking to Ines.",
        "* Joris hands the rope to Nele.",
        "Tobi: Is the kettle on?",
        "Mara: Yes.",
        "Ines: Nele, bring the lantern.",
        ": Um...",
    ]
)


@given(
    st.lists(st.tuples(st.integers(0, 150), st.integers(1, 80), PARTS), min_size=1, max_size=14), st.integers(0, 300)
)
def test_nothing_later_changes_what_is_known_at_a_time(lines: list[tuple[int, int, str]], at: int) -> None:
    def stamp(second: int) -> str:
        return f"11:{second // 60:02d}:{second % 60:02d}"

    script = "\n".join(f"{stamp(start)}-{stamp(start + lasts)} {text}" for start, lasts, text in sorted(lines))
    captions = record(script)
    at_ms = clock("11:00:00") + at * 1000
    whole = EXTRACTOR.extract(captions, wearer=WEARER)
    assert whole.ledger.missing == 0
    known = [one for one in whole.records if one.end_ms <= at_ms]
    cut = EXTRACTOR.extract(seen_by(captions, at_ms), wearer=WEARER).records
    assert {one.record_id for one in known} <= {one.record_id for one in cut}
    assert all(replace(one, end_ms=0) in {replace(other, end_ms=0) for other in cut} for one in known)
