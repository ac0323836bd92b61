"""The view rules on the labelled windows: right statements stand, wrong ones break the rule they are labelled with."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

import pytest

from ray_tasks.engines.prompts import Prompt
from ray_tasks.extraction.llm.faults import SOFT, remarks
from ray_tasks.extraction.llm.schemas import Kind
from ray_tasks.extraction.llm.sources import Shard, Source
from ray_tasks.extraction.llm.validate import check_fine
from ray_tasks.extraction.llm.wording import normalise
from tests.extraction.llm.windows import WINDOWS, Window, faults_of
from tests.extraction.script import WEARER, record

ANY: Final = Source("Zora", frozenset(["Tobi", "Ines", "Nele", "Jonas", "Pia"]), frozenset(), foreign=True)
SUBTLE: Final[tuple[tuple[Kind, str, str], ...]] = (
    ("speech", "Tobi says he will sweep the barn floor tomorrow.", ""),
    ("speech", "Jonas says the ferry will be late on Sunday.", ""),
    ("speech", "Jonas agrees with Pia on painting the boat green.", ""),
    ("speech", "Tobi tells me that our train leaves at six in the evening.", ""),
    ("speech", "Tobi suggests to Ines that they go to the lake and swim there.", ""),
    ("speech", "Tobi asks me to sweep the floor and mop the stairs.", ""),
    ("speech", "Nele asks whether anybody has seen the key of the boat.", ""),
    ("speech", "Tobi thanks Ines for the soup with leeks.", ""),
    ("speech", "Ines offers Tobi something to drink from the jug.", ""),
    ("object", "I carry the jug and water to the tent in the garden.", ""),
    ("object", "I rake the grass and leaves in the yard behind the barn.", ""),
    ("object", "I use the knife as a lever to open the lid.", ""),
    ("object", "I cut the bread that Tobi baked in the morning.", ""),
    ("object", "I'm sitting at the computer to cut the boat film.", ""),
    ("object", "Tobi takes his coat from the hook beside the door.", ""),
    ("object", "I turn on the lamp beside the bed in the guest room.", ""),
    ("object", "I move the chair to the yard behind the house.", ""),
    ("movement", "I go upstairs to the bedroom with the blue lamp.", ""),
    ("movement", "Tobi walks to Ines at the table in the yard.", ""),
    ("gesture", "Tobi raises his hand and nods at Ines.", "coupled"),
    ("object", "I hand it to Tobi at the table in the yard.", "pronoun"),
    ("object", "Tobi puts this on the shelf in the kitchen.", "pronoun"),
    ("object", "Tobi's phone rings on the table in the kitchen.", "unnamed_subject"),
    ("object", "My phone rings on the table in the kitchen.", "unnamed_subject"),
    ("object", "Everyone carries the benches into the barn.", "unnamed_subject"),
    ("object", "Tobi picks up the jug, Ines opens the window.", "coupled"),
    ("object", "I hang the lamps, the garlands and the flags on the rope.", ""),
    ("speech", "Ines tells Tobi that dinner is ready and asks Nele to ring.", "coupled"),
    ("speech", "Tobi tells Ines that it is broken in the middle.", "pronoun"),
    ("speech", "Tobi speaks with Ines in the yard behind the house.", "incomplete_speech"),
    ("speech", "Tobi speaks with Ines about the yard behind the house.", ""),
    ("movement", "I walk along with my hands on my back.", "undirected_motion"),
)

RIGHT = [(window, kind, text) for window in WINDOWS for kind, text in window.right]
WRONG = [(window, kind, text, rule) for window in WINDOWS for kind, text, rule in window.wrong]


@pytest.mark.parametrize(("window", "kind", "text"), RIGHT, ids=[f"{w.name}: {text}" for w, _, text in RIGHT])
def test_right_statements_stand(window: Window, kind: Kind, text: str) -> None:
    assert faults_of(window, kind, text) == ()


@pytest.mark.parametrize(
    ("window", "kind", "text", "rule"), WRONG, ids=[f"{rule}: {text[:60]}" for _, _, text, rule in WRONG]
)
def test_wrong_statements_break_their_rule(window: Window, kind: Kind, text: str, rule: str) -> None:
    assert rule in {fault.rule for fault in faults_of(window, kind, text)}


def test_the_examples_of_the_prompt_keep_the_rules() -> None:
    told = re.findall(r"-> (\w+): (.+?\.)(?= ->|\n|$)", Prompt.load("ray_tasks.extraction.llm", "fine").text)
    assert len(told) == 5
    source = Source("Pauline", frozenset(["Pia", "Omar"]), frozenset(), foreign=True)
    for kind, text in told:
        assert check_fine(text, kind, source) == ()


@pytest.mark.parametrize("name", ["Will", "Mark", "Élodie", "Liu Ting", "Anne-Marie"])
def test_names_that_look_like_other_words_are_names(name: str) -> None:
    captions = record(f"11:00:03 {name}: The soup is ready.\n11:00:09 * {name} cuts the bread.")
    shard = Shard(captions, [], WEARER)
    source = shard.source(captions[0].lines)
    assert check_fine(f"{name} tells me that the soup in the pot is ready.", "speech", source) == ()
    assert check_fine(f"{name} cuts the bread beside the soup on the table.", "object", source) == ()
    assert check_fine(f"{name} says that the soup is ready and cuts the bread.", "speech", source) == ()


@pytest.mark.parametrize(("kind", "text", "rule"), SUBTLE, ids=[text for _, text, _ in SUBTLE])
def test_what_is_easily_taken_for_a_fault_or_for_none(kind: Kind, text: str, rule: str) -> None:
    found = {fault.rule for fault in check_fine(normalise(text, "Zora"), kind, ANY)} - SOFT
    assert found == ({rule} if rule else set())


def test_every_rule_is_broken_at_least_twice_and_there_are_forty_windows() -> None:
    broken = Counter(rule for _, _, _, rule in WRONG)
    assert len(WINDOWS) == 40
    assert {rule: broken[rule] for rule in remarks() if broken[rule] < 2} == {}
    assert set(broken) <= set(remarks())
