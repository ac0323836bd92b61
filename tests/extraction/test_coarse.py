"""Activities and conversations of a shard."""

from __future__ import annotations

import pytest

from ray_tasks.extraction.coarse import extract_coarse
from ray_tasks.extraction.types import LONGEST_MS, SHORTEST_MS, WINDOW_MS, Extraction
from ray_tasks.rows import Atom
from tests.extraction.script import WEARER, clock, record

COOKING = (
    "I peel the potatoes.",
    "I cut the potatoes into the pot.",
    "Tobi fills the pot with water.",
    "I stir the potatoes in the kitchen.",
)
BUILDING = (
    "I saw a plank for the shelf.",
    "Ines holds the plank of the shelf.",
    "I screw the bracket to the plank.",
    "I hang the shelf in the garage.",
)


def acts(lines: tuple[str, ...], start: str, minutes: int) -> str:
    """A line each ten seconds, over and over, from `start` on."""
    first = clock(start) // 1000
    return "\n".join(
        f"{second // 3600}:{second // 60 % 60:02d}:{second % 60:02d} * {lines[number % len(lines)]}"
        for number, second in enumerate(range(first, first + 60 * minutes, 10))
    )


def talk(start: str, seconds: int, every: int = 10) -> str:
    """Tobi and Ines in turn about the boat, a line each `every` seconds."""
    first = clock(start) // 1000
    lines = ("Tobi: The boat needs paint.", "Ines: The paint is in the shed.")
    return "\n".join(
        f"{second // 3600}:{second // 60 % 60:02d}:{second % 60:02d} {lines[number % 2]}"
        for number, second in enumerate(range(first, first + seconds, every))
    )


def coarse(script: str) -> Extraction:
    return extract_coarse(record(script), [], wearer=WEARER)


def activities(script: str) -> list[Atom]:
    return [atom for atom in coarse(script).atoms if atom.view == "activity"]


def conversations(script: str) -> list[Atom]:
    return [atom for atom in coarse(script).atoms if atom.view == "conversation"]


def test_a_change_of_what_is_done_ends_an_activity() -> None:
    first, second = activities(acts(COOKING, "11:00:00", 4) + "\n" + acts(BUILDING, "11:04:00", 4))
    assert (first.start_ms, first.end_ms) == (clock("11:00:00"), clock("11:04:00"))
    assert (second.start_ms, second.end_ms) == (clock("11:04:00"), clock("11:08:00"))
    assert "potatoes" in first.text
    assert "potatoes" not in second.text
    assert "shelf" in second.text


def test_an_activity_names_acts_place_and_people() -> None:
    (atom,) = activities(acts(COOKING, "11:00:00", 3))
    assert "kitchen" in atom.text
    assert atom.people == ("Mara", "Tobi")
    assert "Tobi" in atom.text
    assert atom.text.endswith(".")


def test_somebody_who_only_talks_is_with_the_wearer() -> None:
    (atom,) = activities(acts(COOKING, "11:00:00", 2) + "\n11:01:05 Nele: The water boils.")
    assert "with Nele" in atom.text
    assert "Nele" in atom.people


def test_no_activity_is_longer_than_ten_minutes_or_crosses_the_half_hour() -> None:
    atoms = activities(acts(COOKING, "11:05:00", 40))
    assert all(atom.end_ms - atom.start_ms <= LONGEST_MS for atom in atoms)
    assert all(atom.start_ms // WINDOW_MS == (atom.end_ms - 1) // WINDOW_MS for atom in atoms)
    assert [atom.start_ms for atom in atoms[1:]] == [atom.end_ms for atom in atoms[:-1]]


def test_no_activity_is_shorter_than_a_minute_while_the_recording_goes_on() -> None:
    pieces = [acts((COOKING, BUILDING)[minute % 2], f"11:{minute:02d}:00", 1) for minute in range(30)]
    assert all(atom.end_ms - atom.start_ms >= SHORTEST_MS for atom in activities("\n".join(pieces)))


def test_a_gap_in_the_recording_ends_an_activity_and_nothing_is_claimed_for_it() -> None:
    first, second = activities(acts(COOKING, "11:00:00", 2) + "\n" + acts(COOKING, "11:10:00", 2))
    assert first.end_ms == clock("11:02:00")
    assert second.start_ms == clock("11:10:00")


def test_a_recording_of_half_a_minute_is_an_activity_of_half_a_minute() -> None:
    (atom,) = activities("11:00:00 * I peel the potatoes.")
    assert atom.end_ms - atom.start_ms == 30_000


def test_nothing_but_motion_is_an_activity_in_its_own_words() -> None:
    (atom,) = activities("11:00:00 * I walk forward.\n11:00:40 * I turn left.")
    assert atom.text.startswith("I walk forward; I turn left")


def test_a_minute_without_talk_ends_a_conversation() -> None:
    first, second = conversations(talk("11:00:00", 60) + "\n" + talk("11:01:52", 60))
    assert first.end_ms == clock("11:01:00")
    assert second.start_ms == clock("11:01:30")


def test_a_pause_of_less_than_a_minute_does_not() -> None:
    (atom,) = conversations(talk("11:00:00", 60) + "\n" + talk("11:01:51", 60))
    assert (atom.start_ms, atom.end_ms) == (clock("11:00:00"), clock("11:03:00"))


def test_a_long_line_is_no_silence() -> None:
    (atom,) = conversations("11:00:00-11:01:20 Tobi: The boat needs paint.\n11:02:00 Ines: The paint is in the shed.")
    assert len(atom.caption_ids) == 2


def test_a_conversation_names_who_talks_about_what() -> None:
    (atom,) = conversations(talk("11:00:00", 60) + "\n11:00:05 Mara: The boat is green.")
    assert atom.text.startswith("Tobi, Ines and I talk about ")
    assert "boat" in atom.text
    assert "paint" in atom.text
    assert atom.people == ("Tobi", "Mara", "Ines")


def test_one_voice_alone_only_talks() -> None:
    script = "11:00:00 Mara: The boat needs paint.\n11:00:10 Mara: The rope is wet."
    (atom,) = conversations(script)
    assert atom.text.startswith("I talk about ")


@pytest.mark.parametrize(
    "script", ["11:00:00 Tobi: Okay.\n11:00:03 Ines: Hahaha.", "11:00:00 Mara: The boat is green."]
)
def test_a_few_empty_words_or_one_lone_line_are_no_conversation(script: str) -> None:
    result = coarse(script)
    assert result.atoms == ()
    assert result.ledger.filtered == {"no_activity_or_conversation": 1}


def test_no_conversation_is_longer_than_ten_minutes_or_crosses_the_half_hour() -> None:
    atoms = conversations(talk("11:05:00", 40 * 60))
    assert all(atom.end_ms - atom.start_ms <= LONGEST_MS for atom in atoms)
    assert all(atom.start_ms // WINDOW_MS == (atom.end_ms - 1) // WINDOW_MS for atom in atoms)


def test_texts_keep_to_forty_five_words() -> None:
    script = acts(COOKING + BUILDING, "11:00:00", 9) + "\n" + talk("11:00:05", 500)
    assert all(15 <= len(atom.text.split()) <= 45 for atom in coarse(script).atoms)


def test_every_caption_is_counted_once_and_an_empty_shard_gives_nothing() -> None:
    script = acts(COOKING, "11:00:00", 2) + "\n11:05:00 Tobi: Okay."
    ledger = coarse(script).ledger
    assert (ledger.taken, ledger.done, ledger.missing) == (5, 4, 0)
    empty = extract_coarse([], [], wearer=WEARER)
    assert (empty.atoms, empty.ledger.taken) == ((), 0)


def test_a_wearer_without_visual_lines_has_conversations_only() -> None:
    assert {atom.view for atom in coarse(talk("11:00:00", 120)).atoms} == {"conversation"}
