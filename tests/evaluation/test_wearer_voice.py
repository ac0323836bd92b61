"""From the third person to the first: what is turned, and what is left and reported."""

from __future__ import annotations

import pytest

from ray_tasks.evaluation.wearer_voice import WearerVoice

VOICE = WearerVoice("B1_MARA")


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("What did Mara eat after she left the shed?", "What did I eat after I left the shed?"),
        ("Where is Mara going?", "Where am I going?"),
        ("Does Mara usually water the basil?", "Do I usually water the basil?"),
        ("Has MARA ever used the saw?", "Have I ever used the saw?"),
        ("What Mara picks up first when he comes in", "What I pick up first when I come in"),
        ("When did Mara and Tobi cook?", "When did I and Tobi cook?"),
        ("What is Mara holding in her hand?", "What am I holding in my hand?"),
        ("What did Mara buy for herself?", "What did I buy for myself?"),
        ("Who gave Mara the rope?", "Who gave me the rope?"),
        ("With whom did B1_MARA talk after the camera wearer left?", "With whom did I talk after I left?"),
        ("Is Mara's bag red?", "Is my bag red?"),
        ("Mara's going home", "I'm going home"),
        ("Is the bag Tobi's or Mara's?", "Is the bag Tobi's or mine?"),
        ("Mara", "Me"),
        ("Tobi and Mara", "Tobi and me"),
        ("Where did I leave my rope?", "Where did I leave my rope?"),
        ("Who cooked for Tobi?", "Who cooked for Tobi?"),
    ],
)
def test_the_name_becomes_the_form_of_i_that_fits(told: str, asked: str) -> None:
    turned = VOICE.turn(told)
    assert (turned.text, turned.changed, turned.unresolved) == (asked, told != asked, False)


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("What did Tobi tell Mara about her rope?", "What did Tobi tell me about her rope?"),
        ("Who did Mara meet, and what did she say?", "Who did I meet, and what did she say?"),
        ("What did he cook?", "What did he cook?"),
    ],
)
def test_a_pronoun_that_may_be_anothers_stays_and_is_reported(told: str, asked: str) -> None:
    turned = VOICE.turn(told)
    assert (turned.text, turned.unresolved) == (asked, True)


def test_an_options_pronoun_is_the_wearers_where_the_question_names_nobody_else() -> None:
    alone = VOICE.turn("She put it in her bag", "What did Mara do with the rope?")
    assert (alone.text, alone.unresolved) == ("I put it in my bag", False)
    shared = VOICE.turn("She put it in her bag", "What did Mara do with the rope of Ines?")
    assert (shared.text, shared.unresolved) == ("She put it in her bag", True)


def test_other_words_that_hold_the_name_stay() -> None:
    turned = VOICE.turn("Did the Maratha sweets reach Tamara?")
    assert (turned.text, turned.changed) == ("Did the Maratha sweets reach Tamara?", False)
