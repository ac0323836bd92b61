"""The lines of one cue: who says what in which language, and nothing said lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.corpus.dialogue import read_dialogue

Said = tuple[str | None, str, str]


def said(content: str) -> list[Said]:
    return [(spoken.speaker, spoken.text, spoken.lang) for spoken in read_dialogue(content).utterances]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        # a translation, in either order
        ("Mara: 水开了\nMara: the water is boiling", [("Mara", "the water is boiling", "en")]),
        ("Tobi: good\n托比: 好", [("Tobi", "good", "en")]),
        ("Mara: 水开了\nthe water is boiling", [("Mara", "the water is boiling", "en")]),
        ("水开了\nMara: the water is boiling", [("Mara", "the water is boiling", "en")]),
        ("客人：你好\nGuest: hello", [("Guest", "hello", "en")]),
        # one language only
        ("Ines: 去仓库", [("Ines", "去仓库", "zh")]),
        ("Ines: to the shed", [("Ines", "to the shed", "en")]),
        ("Ines: 40", [("Ines", "40", "und")]),
        ("Ines: 去\n仓库", [("Ines", "去 仓库", "zh")]),
        # several speakers, each with a translation
        (
            "Mara: 水开了\nMara: the water is boiling\nTobi: 好\nTobi: good",
            [("Mara", "the water is boiling", "en"), ("Tobi", "good", "en")],
        ),
        (
            "Mara: 水开了\n托比: 好\nMara: the water is boiling\nTobi: good",
            [("Mara", "the water is boiling", "en"), ("Tobi", "good", "en")],
        ),
        # partial: what has no counterpart stays
        (
            "Mara: 水开了\nMara: the water is boiling\nTobi: 好",
            [("Mara", "the water is boiling", "en"), ("Tobi", "好", "zh")],
        ),
        (
            "Mara: 看\nTobi: 吃什么\nTobi: what shall we eat",
            [("Mara", "看", "zh"), ("Tobi", "what shall we eat", "en")],
        ),
        ("Mara: come here\nTobi: 好", [("Mara", "come here", "en"), ("Tobi", "好", "zh")]),
        # an original wrapped over two lines, a translation over two lines
        ("Mara: 水开了\n快来\nMara: the water is boiling, come", [("Mara", "the water is boiling, come", "en")]),
        ("Mara: 水开了\nMara: the water is\nboiling", [("Mara", "the water is boiling", "en")]),
        # an English line that quotes Chinese
        ("Mara: we call it 火锅 here\nTobi: nice", [("Mara", "we call it 火锅 here", "en"), ("Tobi", "nice", "en")]),
        # neighbouring lines of one speaker; a change of speaker and back
        ("Mara: the green crate\ngoes under the bench", [("Mara", "the green crate goes under the bench", "en")]),
        (
            "Mara: one\nTobi: two\nMara: three",
            [("Mara", "one", "en"), ("Tobi", "two", "en"), ("Mara", "three", "en")],
        ),
        # numbers are words
        ("Tobi: how many seeds?\nTobi: 40", [("Tobi", "how many seeds? 40", "en")]),
        ("3\n2\n1", [(None, "3 2 1", "und")]),
        # an original in English and its polished copy
        ("Mara: tutor\nMara: Tutor.", [("Mara", "Tutor.", "en")]),
        ("Mara: yes\nMara: yes\nMara: yes", [("Mara", "yes yes yes", "en")]),
        # a label of its own line, or nothing at all
        ("Mara:\nkettle on", [("Mara", "kettle on", "en")]),
        ("Mara: 水开了\nMara:", [("Mara", "水开了", "zh")]),
        ("Mara:\nMara:", []),
        ("   \n\t", []),
        # subtitle tags
        ("<i>Mara: kettle on</i>", [("Mara", "kettle on", "en")]),
        ("{\\an8}Mara: <font color='red'>kettle</font> on", [("Mara", "kettle on", "en")]),
        ("Mara: if a < b and b > c", [("Mara", "if a < b and b > c", "en")]),
    ],
)
def test_a_cue_gives_its_utterances(content: str, expected: list[Said]) -> None:
    assert said(content) == expected


@pytest.mark.parametrize(
    ("content", "notes"),
    [
        ("Mara: 水开了\nMara: the water is boiling", ("bilingual",)),
        ("Ines: 去仓库", ("untranslated",)),
        ("kettle on", ("no_speaker",)),
        ("Mara: one\nTobi: two", ("several_speakers",)),
        ("Mara: tutor\nMara: Tutor.", ("repeated_line",)),
        ("<i>Mara: kettle on</i>", ("markup",)),
        ("Mara: kettle on", ()),
    ],
)
def test_what_was_done_is_noted(content: str, notes: tuple[str, ...]) -> None:
    assert read_dialogue(content).notes == notes


def test_captions_of_what_is_seen_have_no_speakers() -> None:
    seen = read_dialogue("Mara: a sign on the door", labelled=False)
    assert [tuple(utterance) for utterance in seen.utterances] == [(None, "Mara: a sign on the door", "en")]
    assert seen.notes == ()


words = st.sampled_from(["kettle", "bench", "crate", "seeds", "rope"])
english_lines = st.lists(st.tuples(st.sampled_from(["Mara", "Tobi", "Ines"]), words), min_size=3, max_size=18)


@given(english_lines)
def test_every_line_of_a_cue_in_one_language_is_kept_in_order(lines: list[tuple[str, str]]) -> None:
    utterances = read_dialogue("\n".join(f"{speaker}: {word}" for speaker, word in lines)).utterances
    heard = [(utterance.speaker, word) for utterance in utterances for word in utterance.text.split()]
    assert heard == lines


@given(english_lines)
def test_a_translated_cue_gives_the_same_as_its_translation_alone(lines: list[tuple[str, str]]) -> None:
    english = [f"{speaker}: {word}" for speaker, word in lines]
    chinese = [f"{speaker}: 水开了" for speaker, _ in lines]
    both = "\n".join(line for pair in zip(chinese, english, strict=True) for line in pair)
    assert read_dialogue(both).utterances == read_dialogue("\n".join(english)).utterances


@given(st.text(max_size=200))
def test_no_text_ends_in_a_traceback_or_an_empty_utterance(content: str) -> None:
    assert all(utterance.text.strip() and utterance.speaker != "" for utterance in read_dialogue(content).utterances)
