"""Actions and utterances of a shard: EgoScheme's rules, each with a right and a wrong example."""

from __future__ import annotations

import pytest

from ray_tasks.extraction.fine import ENGINE, RULES_VERSION, extract_fine
from ray_tasks.rows import ATOM_SCHEMA, Atom, from_table, to_table
from tests.extraction.script import WEARER, actions, clock, ledger_of, record, texts, utterances


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("I fasten the shelf bracket with a screwdriver.", "I fasten the shelf bracket with a screwdriver."),
        ("Tobi laughs loudly.", "Tobi laughs loudly."),
        ("Ines enters the boat shed.", "Ines enters the boat shed."),
        ("I took off my watch.", "I took off my watch."),
        ("I walk into the kitchen.", "I walk into the kitchen."),
        ("I'm going upstairs.", "I'm going upstairs."),
        ("I raise my hand.", "I raise my hand."),
        ("I nod.", "I nod."),
        ("I stood up.", "I stood up."),
        ("Hmm, I, um, put this lid on the jar now.", "I put this lid on the jar."),
        ('I say, "Bring the rope."', "I say, Bring the rope."),
    ],
)
def test_what_is_an_action_is_kept(line: str, expected: str) -> None:
    assert actions(f"11:00:00 * {line}") == [expected]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("I walk forward.", "undirected_motion"),
        ("Keep moving forward.", "undirected_motion"),
        ("I turned around.", "undirected_motion"),
        ("I took two steps to the left.", "undirected_motion"),
        ("I glanced to the right.", "undirected_motion"),
        ("I touched my nose.", "micro_gesture"),
        ("I adjusted my glasses.", "micro_gesture"),
        ("I lower my head", "micro_gesture"),
        ("I said a sentence.", "no_content"),
        ("Alright, alright.", "no_content"),
        ("We are talking.", "no_content"),
        ("...", "no_content"),
    ],
)
def test_what_holds_nothing_is_filtered_with_its_reason(line: str, reason: str) -> None:
    assert actions(f"11:00:00 * {line}") == []
    assert ledger_of(f"11:00:00 * {line}").filtered == {reason: 1}


def test_an_act_beside_a_motion_survives_it() -> None:
    assert actions("11:00:00 * I turned around and walked over to the shelf.") == ["I walked over to the shelf."]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("I fill the jug and open the tap.", ["I fill the jug.", "I open the tap."]),
        ("I peeled the carrots, then washed the pot.", ["I peeled the carrots.", "I washed the pot."]),
        ("I was stirring soup while talking to Tobi.", ["I was stirring soup.", "I was talking to Tobi."]),
        (
            "I'm peeling a carrot while Tobi is sawing the plank.",
            ["I'm peeling a carrot.", "Tobi is sawing the plank."],
        ),
        ("I picked up the cup and put it on the table.", ["I picked up the cup.", "I put the cup on the table."]),
        ("Tobi picked up his hat and looked at his watch.", ["Tobi picked up his hat.", "Tobi looked at his watch."]),
    ],
)
def test_coupled_acts_are_parted(line: str, expected: list[str]) -> None:
    assert actions(f"11:00:00 * {line}") == expected


@pytest.mark.parametrize(
    "line",
    [
        "I mix the salt and pepper.",
        "I picked up and opened the crate.",
        "I took the cup out of the box and put it on the table.",
        "I want to pick up the crate and open it.",
        "I watch Tobi open the crate and close it.",
        "Tobi and Ines are carrying the bench.",
        "I handed Tobi the cup and told him the plan.",
    ],
)
def test_what_belongs_together_is_not_parted(line: str) -> None:
    assert actions(f"11:00:00 * {line}") == [line]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Hand the cup to Ines.", "I hand the cup to Ines."),
        ("doing a soundcheck", "I am doing a soundcheck."),
        ("Took the jug from the shelf.", "I took the jug from the shelf."),
        ("Put your hand on the gatepost.", "I put my hand on the gatepost."),
        ("Tobi, try again.", "Tobi, try again."),
        ("Give me the paper.", "Give me the paper."),
        ("Took out their cups.", "Took out their cups."),
        ("Holding a knife, Ines cut the melon.", "Holding a knife, Ines cut the melon."),
        ("A muddy boot", "A muddy boot."),
    ],
)
def test_a_missing_subject_is_the_wearer_only_where_nobody_else_can_be_meant(line: str, expected: str) -> None:
    assert actions(f"11:00:00 * {line}") == [expected]


def test_a_bare_verb_after_somebody_elses_act_stays_as_it_is() -> None:
    script = """
        11:00:00 * Tobi is cutting the bread.
        11:00:03 * eating a slice of bread
        11:00:20 * I open the window.
        11:00:23 * eating an apple
    """
    assert actions(script)[1] == "Eating a slice of bread."
    assert actions(script)[3] == "I am eating an apple."


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Mara picks up the hammer.", "I pick up the hammer."),
        ("Mara is stirring the soup.", "I am stirring the soup."),
        ("Mara has a rope.", "I have a rope."),
        ("Mara's cup stands on the bench.", "My cup stands on the bench."),
        ("Tobi hands the rope to Mara.", "Tobi hands the rope to me."),
        ("Tobi and Mara carry the bench.", "Tobi and I carry the bench."),
        ("Marabel picks up the hammer.", "Marabel picks up the hammer."),
    ],
)
def test_the_wearers_name_becomes_i_and_the_verb_agrees(line: str, expected: str) -> None:
    assert actions(f"11:00:00 * {line}") == [expected]


def test_a_pronoun_is_resolved_where_the_context_names_one_person() -> None:
    script = """
        11:00:00 * Tobi walks to the shelf.
        11:01:10 * He opens the red crate.
        11:01:20 * I look at his hammer.
    """
    assert actions(script) == ["Tobi walks to the shelf.", "Tobi opens the red crate.", "I look at Tobi's hammer."]


def test_a_pronoun_with_two_candidates_is_kept() -> None:
    script = """
        11:00:00 * Tobi walks to the shelf.
        11:00:40 Ines: The rope is wet.
        11:01:10 * He opens the red crate.
    """
    assert actions(script)[-1] == "He opens the red crate."
    assert ledger_of(script).notes["pronoun_unresolved"] == 1


def test_an_unnamed_person_is_a_candidate_too() -> None:
    script = """
        11:00:00 * Tobi walks to the shelf.
        11:00:10 * A woman comes in.
        11:00:40 * She opens the red crate.
    """
    assert actions(script)[-1] == "She opens the red crate."


def test_somebody_named_more_than_five_minutes_ago_is_no_candidate() -> None:
    script = """
        11:00:00 * Tobi walks to the shelf.
        11:06:00 * He opens the red crate.
    """
    assert actions(script)[-1] == "He opens the red crate."


def test_it_is_the_one_thing_of_the_line_before() -> None:
    script = """
        11:00:00 * I pick up a blue jug.
        11:00:04 * I put it on the shelf.
    """
    assert actions(script) == ["I pick up a blue jug.", "I put the blue jug on the shelf."]


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("I take the jug out of the crate.", "I put it on the shelf."),
        ("Tobi picks up the jug.", "I put it on the shelf."),
        ("I clap my hands.", "I shake them."),
        ("I pick up the jug.", "I look into it."),
        ("I pick up the jug.", "I give it a try."),
    ],
)
def test_it_stays_where_it_may_be_something_else(before: str, line: str) -> None:
    assert actions(f"11:00:00 * {before}\n11:00:04 * {line}")[-1] == line


def test_names_of_people_are_learned_from_labels_and_from_use() -> None:
    script = """
        11:00:00 Ines: The rope is wet.
        11:00:05 * Joris is talking to Ines.
        11:00:10 * I hand the rope to Nele.
        11:00:15 * I open Google.
    """
    atoms = extract_fine(record(script), [], wearer=WEARER).atoms
    assert [atom.people for atom in atoms] == [("Ines",), ("Joris", "Ines"), ("Mara", "Nele"), ("Mara",)]


def test_names_written_together_are_parted() -> None:
    script = """
        11:00:00 Ines: The rope is wet.
        11:00:03 Tobi: So is the tent.
        11:00:05 * I looked at InesTobi.
        11:00:08 * I opened OpenOffice.
    """
    assert actions(script) == ["I looked at Ines and Tobi.", "I opened OpenOffice."]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Tobi: The packages are outside.", "Tobi says: The packages are outside."),
        ("Tobi: Where is the kettle?", "Tobi asks: Where is the kettle?"),
        ("Tobi: Let's go to the market.", "Tobi suggests: Let's go to the market."),
        ("Mara: The rope is wet.", "I say: The rope is wet."),
        ("Mara: Where is the kettle?", "I ask: Where is the kettle?"),
        ("Tobi: Mara, bring the rope.", "Tobi tells me: Bring the rope."),
        ("Tobi: Um, oh, the kettle boils, haha.", "Tobi says: The kettle boils"),
        ('Tobi: She said "bring the rope".', "Tobi says: She said bring the rope."),
        (": The kettle boils.", "Someone says: The kettle boils."),
        ("Others: The kettle boils.", "Someone says: The kettle boils."),
    ],
)
def test_speech_has_a_speaker_an_act_and_its_own_words(line: str, expected: str) -> None:
    assert utterances(f"11:00:00 {line}") == [expected]


@pytest.mark.parametrize("line", ["Tobi: Okay.", "Tobi: Um...", "Tobi: Yes, yes.", "Tobi: Oh.", "Tobi: What?"])
def test_speech_without_content_is_filtered(line: str) -> None:
    assert utterances(f"11:00:00 {line}") == []
    assert ledger_of(f"11:00:00 {line}").filtered == {"no_content": 1}


def test_laughter_is_a_gesture() -> None:
    assert actions("11:00:00 Tobi: Hahaha.\n11:00:04 Mara: Haha") == ["Tobi laughs.", "I laugh."]


def test_yes_takes_up_the_question_it_answers() -> None:
    script = "11:00:00 Tobi: Are all the lanterns outside?\n11:00:03 Mara: Yes."
    assert utterances(script)[-1] == "I confirm to Tobi: all the lanterns are outside."


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("Tobi: Is the kettle on?", "Ines: No.", "Ines denies to Tobi: the kettle is on."),
        ("Tobi: Do you want the green one?", "Mara: Yes.", "I answer yes to Tobi: Do you want the green one?"),
        ("Mara: Which cup do you want?", "Tobi: That one.", "Tobi answers me (Which cup do you want?): That one."),
        ("Tobi: We need another rope.", "Mara: Okay.", "I agree with Tobi: We need another rope."),
        ("Tobi: Ines, is the kettle on?", "Ines: Yes.", "Ines confirms to Tobi: the kettle is on."),
    ],
)
def test_answers_are_joined_with_what_they_answer(first: str, second: str, expected: str) -> None:
    assert utterances(f"11:00:00 {first}\n11:00:03 {second}")[-1] == expected


@pytest.mark.parametrize(
    "script",
    [
        "11:00:00 Tobi: Is the kettle on?\n11:00:02 Ines: Is the door open?\n11:00:05 Mara: Yes.",
        "11:00:00 Tobi: Is the kettle on?\n11:00:20 Mara: Yes.",
        "11:00:00 Tobi: Is the kettle on?\n11:00:03 Tobi: Yes.",
        "11:00:00 Ines: Well.\n11:00:01 Tobi: Ines, is the kettle on?\n11:00:04 Mara: Yes.",
        "11:00:00 Tobi: Where is the kettle?\n11:00:03 Mara: Yes.",
    ],
    ids=["two questions", "too late", "own question", "asked somebody else", "no yes-or-no question"],
)
def test_an_answer_without_one_plausible_question_is_not_joined(script: str) -> None:
    assert all(text.startswith(("Tobi asks", "Ines asks")) for text in utterances(script))


def test_a_chinese_line_keeps_its_text_and_is_counted() -> None:
    script = "11:00:00 Tobi: 去仓库\n11:00:05 Tobi: 嗯"
    assert utterances(script) == ["Tobi says: 去仓库"]
    ledger = ledger_of(script)
    assert ledger.notes["not_english"] == 1
    assert ledger.filtered == {"no_content": 1}


def test_the_context_reaches_over_the_hour_through_the_halo() -> None:
    captions = record(
        "10:59:50 Tobi: Is the kettle on?\n10:59:55 * I fill the jug.\n11:00:00 Mara: Yes.\n11:00:01 * I lift it."
    )
    halo, shard = captions[:1], captions[1:]
    atoms = extract_fine(shard, halo, wearer=WEARER).atoms
    assert [atom.text for atom in atoms] == ["I confirm to Tobi: the kettle is on.", "I lift the jug."]
    alone = extract_fine(shard, [], wearer=WEARER).atoms
    assert [atom.text for atom in alone] == ["I lift it."]


def test_what_lies_before_the_halo_of_five_minutes_changes_nothing() -> None:
    captions = record(
        "10:50:00 Joris: The boat is green.\n10:58:00 Tobi: The kettle boils.\n11:00:00 * He opens the crate."
    )
    near = extract_fine(captions[2:], captions[1:2], wearer=WEARER)
    assert extract_fine(captions[2:], captions[:2], wearer=WEARER) == near
    assert near.atoms[0].text == "Tobi opens the crate."


def test_repeats_inside_a_caption_are_one_atom_and_the_rest_is_counted() -> None:
    script = "11:00:00 * I wash the pot.\n11:00:05 * I wash the pot.\n11:00:31 * I wash the pot."
    assert actions(script) == ["I wash the pot.", "I wash the pot."]
    assert ledger_of(script).filtered == {"duplicate_in_caption": 1}


def test_a_recognisers_loop_collapses_and_the_line_after_it_stays() -> None:
    loop = "\n".join(f"11:{second // 60:02d}:{second % 60:02d} Tobi: The sea is blue." for second in range(0, 120, 3))
    script = f"{loop}\n11:02:01 Tobi: Found the rope."
    assert utterances(script) == ["Tobi says: The sea is blue.", "Tobi says: Found the rope."]
    ledger = ledger_of(script)
    assert ledger.filtered["recogniser_loop"] == 35
    assert ledger.missing == 0


def test_a_persons_threefold_yes_survives() -> None:
    script = "11:00:00 Ines: Is the kettle on?\n11:00:02 Tobi: Yes.\n11:00:03 Tobi: Yes.\n11:00:04 Tobi: Yes."
    assert utterances(script)[1:] == ["Tobi confirms to Ines: the kettle is on."]


def test_an_atom_has_the_interval_and_the_id_of_its_caption() -> None:
    captions = record("11:00:12-11:00:14 * I fill the jug.\n11:00:29-11:00:36 Tobi: The kettle boils.")
    for atom in extract_fine(captions, [], wearer=WEARER).atoms:
        assert (atom.start_ms, atom.end_ms) == (captions[0].start_ms, clock("11:00:36"))
        assert atom.caption_ids == (captions[0].caption_id,)
        assert (atom.engine, atom.prompt_version) == (ENGINE, RULES_VERSION)


def test_a_line_that_ends_after_the_caption_is_not_in_its_context() -> None:
    captions = record(
        "11:00:00-11:01:20 Tobi: Is the kettle on?\n11:00:31 Ines: The tent is wet.\n11:00:40 * He waits."
    )
    assert texts(extract_fine(captions, [], wearer=WEARER).atoms, "action") == ["Ines waits."]


def test_an_empty_shard_gives_nothing() -> None:
    result = extract_fine([], record("10:59:00 * I fill the jug."), wearer=WEARER)
    assert result.atoms == ()
    assert result.ledger.taken == 0


def test_empty_lines_are_counted() -> None:
    assert ledger_of("11:00:00 Tobi: \n11:00:05 * I fill the jug.").filtered == {"empty": 1}


def test_ids_are_the_same_in_every_run_and_atoms_survive_parquet() -> None:
    captions = record("11:00:00 * I fill the jug.\n11:00:03 Tobi: The kettle boils.")
    atoms = extract_fine(captions, [], wearer=WEARER).atoms
    assert atoms == extract_fine(list(captions), [], wearer=WEARER).atoms
    assert len({atom.atom_id for atom in atoms}) == 2
    assert tuple(from_table(to_table(atoms, ATOM_SCHEMA), Atom)) == atoms
