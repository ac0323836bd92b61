"""Which replies become captions, and which are asked for again."""

from __future__ import annotations

import pytest

from ray_tasks.captioning.replies import FAULTS, judge, split_prose


def fault_of(*sentences: str, max_sentences: int = 12, max_words: int = 220) -> str | None:
    return judge(sentences, max_sentences, max_words)[1]


def test_sentences_become_one_text() -> None:
    assert judge(["I open the  red\ndoor", " Tobi waves! ", ""], 12, 220) == ("I open the red door. Tobi waves!", None)


@pytest.mark.parametrize("sentences", [[], [""], ["  ", "\n"], ["..."], ["\x00"]])
def test_nothing_is_empty(sentences: list[str]) -> None:
    assert judge(sentences, 12, 220) == ("", "empty")


def test_too_many_sentences_or_words_are_too_long() -> None:
    assert fault_of("I stand.", "Tobi sits.", "Ines reads.", max_sentences=3) is None
    assert fault_of("I stand.", "Tobi sits.", "Ines reads.", max_sentences=2) == "too_long"
    assert fault_of("I put the blue jug on the table.", max_words=8) is None
    assert fault_of("I put the blue jug on the table.", max_words=7) == "too_long"


def test_a_loop_is_none_of_sixty_memories() -> None:
    assert fault_of(*["I wipe the table."] * 60, max_sentences=100) == "loop"
    assert fault_of("I wipe the table " * 30) == "loop"
    assert fault_of(*["I wipe the table.", "Tobi watches me."] * 4) == "loop"


def test_saying_a_thing_twice_is_no_loop() -> None:
    assert fault_of("I stir the pot.", "Tobi cuts an onion.", "I stir the pot again.", "Ines sets the table.") is None
    assert fault_of("I walk.", "I walk.", "I walk.") is None


@pytest.mark.parametrize(
    "text",
    [
        "I'm unable to view this clip.",
        "I’m sorry, but I can’t help with that.",
        "I cannot see any images in your message.",
        "As an AI, I do not have eyes.",
        "Sorry, I need more information.",
        "I can't process these pictures.",
    ],
)
def test_a_refusal_is_no_memory(text: str) -> None:
    assert fault_of(text) == "refused"


@pytest.mark.parametrize(
    "text",
    [
        "I can't reach the shelf and fetch a chair.",
        "Tobi holds up a card that says: sorry, I'm late.",
        "I am sorting pictures on the table.",
        "I see a screen with the words I cannot open the file.",
        "I cannot see much, since the room is dark.",
    ],
)
def test_words_that_only_sound_like_a_refusal_stay(text: str) -> None:
    assert judge([text], 12, 220) == (text, None)


def test_prose_is_split_without_its_trimmings() -> None:
    text = 'Sure, here it is:\n```\n- I open the door. Tobi waves!\n2. Ines reads "The Sea." I sit down.\n```\n'
    assert split_prose(text) == ["I open the door.", "Tobi waves!", 'Ines reads "The Sea."', "I sit down."]


def test_every_fault_can_be_told_to_the_model() -> None:
    assert set(FAULTS) == {"empty", "too_long", "truncated", "loop", "refused"}
