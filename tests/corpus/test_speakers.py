"""Speaker labels, and colons that are none."""

from __future__ import annotations

import pytest

from ray_tasks.corpus.speakers import split_label


@pytest.mark.parametrize(
    ("line", "speaker", "text"),
    [
        ("Mara: kettle on", "Mara", "kettle on"),
        ("Mara:kettle on", "Mara", "kettle on"),
        ("Mara：kettle on", "Mara", "kettle on"),
        ("托比： 好", "托比", "好"),
        ("Mara's  Mum :  come in", "Mara's Mum", "come in"),
        ("Tobi.: fine", "Tobi", "fine"),
        ("Guest 2: hello", "Guest 2", "hello"),
        ("Male guest: hello", "Male guest", "hello"),
        ("Tobi and Ines: hello", "Tobi and Ines", "hello"),
        ("Other (Ines Roth): hello", "Other (Ines Roth)", "hello"),
        ("(Lyrics): la la", "(Lyrics)", "la la"),
        ("Mara: Mara: kettle on", "Mara", "kettle on"),
        ("Mara: Tobi: he said so", "Mara", "Tobi: he said so"),
        ("Mara: at 19:30 we eat", "Mara", "at 19:30 we eat"),
        ("Mara:", "Mara", ""),
        ("Tobi: 40", "Tobi", "40"),
    ],
)
def test_a_label_ends_at_the_first_colon(line: str, speaker: str, text: str) -> None:
    assert split_label(line) == (speaker, text)


@pytest.mark.parametrize(
    "line",
    [
        "kettle on",
        "At 19:30 we eat",
        "Noon 12:15 at the gate",
        "http://example.org/seeds",
        "00: start",
        "19:30",
        ": nothing before it",
        "So we need three things: rope, tape and a saw",
        "The green crate, the one under the bench: open it",
        "Is it ready?: yes",
        "whatever she told us: no",
        "A label that is far too long for any one name: hello",
        "我们明天早上一起去仓库托比: 好",
        "90%: done",
    ],
)
def test_sentences_times_and_addresses_have_no_speaker(line: str) -> None:
    assert split_label(line) == (None, line)
