"""The methods on records as a whole: what they read, what they show, and what their switches change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ray_tasks.compression.settings import CompressionSettings
from ray_tasks.corpus.week_time import DAY_MS
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.errors import UsageError
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.imprint.table import NoInteractionsError
from ray_tasks.retrieval.registry import make_method, method_identity
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.trace import Traceable
from ray_tasks.retrieval.types import Answer, AsyncMethod, Question
from tests.retrieval.llm.scripted import runner
from tests.retrieval.small_memory import a_week, ask, clock, embed, make_interactions, make_memory

PINEAPPLE = ask(
    "When was the last time I sliced the pineapple?",
    clock(3, 12, 0),
    "Yesterday afternoon",
    "This morning",
    "Last night",
)
LANTERN = ask("Who repaired the lantern?", clock(1, 12, 0), "Tobi", "Mara", "Me", "Nuri")
FERN = ask("Who usually waters the fern?", clock(3, 19, 30), "Mara", "Tobi", "Nuri")
FREE = ask("Where is the passport?", clock(3, 19, 0))


@pytest.fixture(scope="module")
def memory() -> WearerMemory:
    """A week in which no record is too unimportant, since the one that is asked for is a rare one."""
    memory = make_memory(a_week())
    assert memory.interactions is not None
    kept = make_interactions(memory.interactions.records, CompressionSettings(least_importance=0))
    return replace(memory, interactions=kept)


def answer(question: Question, memory: WearerMemory, method: str = "imprint", **told: object) -> Answer:
    """The answer with some settings."""
    settings = RetrievalSettings().changed({f"imprint.{name}": value for name, value in told.items()})
    return make_method(method, embed, settings).answer(question, memory)


@pytest.mark.parametrize("method", ["imprint", "all-records"])
def test_answers_are_read_from_records_and_name_them(method: str, memory: WearerMemory) -> None:
    when, who, habit = (answer(question, memory, method) for question in (PINEAPPLE, LANTERN, FERN))
    assert (when.choice, who.choice, habit.choice) == ("A", "B", "A")
    for one in (when, who, habit):
        assert "read_from_records" in one.notes
        assert one.fields is not None
        assert one.basis in one.fields
    assert when.basis == "time: DAY2 15:10:00"
    assert who.basis == "people: Mara"
    assert "person 'Mara', action 'repair', object 'lantern', tool 'screwdriver'" in who.text


def test_evidence_is_the_captions_of_the_records(memory: WearerMemory) -> None:
    found = answer(LANTERN, memory)
    assert {item.view for item in found.evidence} == {"caption"}
    assert any("lantern" in item.text for item in found.evidence)
    assert 1 <= len(found.evidence) <= 15


def test_without_direct_answers_the_respond_step_is_asked(memory: WearerMemory) -> None:
    found = answer(LANTERN, memory, direct="no")
    assert "read_from_records" not in found.notes
    assert found.choice == "B"
    assert found.basis == "people: Mara"


def test_a_question_without_choices_gets_a_text(memory: WearerMemory) -> None:
    found = answer(FREE, memory)
    assert (found.choice, found.basis) == (None, "")
    assert found.text


def test_the_number_of_entries_bounds_the_evidence(memory: WearerMemory) -> None:
    sizes = [len(answer(LANTERN, memory, top_k=k).evidence) for k in (1, 2, 5, 20)]
    assert sizes == sorted(sizes)
    assert sizes[0] <= 3
    assert sizes[-1] == 15


def test_a_larger_pool_finds_what_the_constraint_would_have_left_nothing_of(memory: WearerMemory) -> None:
    question = ask("What did I fold yesterday at 3 pm?", clock(3, 12, 0), "A towel", "A kite")
    wide = answer(question, memory, top_k=1, temporal_pool=200)
    assert wide.evidence
    assert all(item.start_ms // DAY_MS == 1 for item in wide.evidence)


def test_where_nothing_satisfies_the_constraint_nothing_is_read_but_something_is_shown(memory: WearerMemory) -> None:
    found = answer(ask("Who opened the jar on the first day?", clock(3, 19, 30), "Nuri", "Tobi"), memory, top_k=1)
    assert "temporal_unmet" in found.notes
    assert found.evidence
    assert found.basis == ""


def test_all_records_knows_nothing_of_compression(memory: WearerMemory) -> None:
    assert memory.interactions is not None
    compressed = memory.interactions.compressed
    shuffled = replace(compressed, importance=compressed.importance[::-1].copy(), entries=compressed.entries * 0)
    other = replace(memory, interactions=replace(memory.interactions, compressed=shuffled))
    for question in (PINEAPPLE, LANTERN, FERN, FREE):
        assert answer(question, other, "all-records") == answer(question, memory, "all-records")
    assert any(answer(question, other) != answer(question, memory) for question in (PINEAPPLE, LANTERN, FERN, FREE))


def test_a_memory_without_records_says_how_to_build_one(memory: WearerMemory) -> None:
    with pytest.raises(NoInteractionsError, match="`records: rules`"):
        answer(LANTERN, replace(memory, interactions=None))


def test_every_setting_is_part_of_the_identity() -> None:
    plain = RetrievalSettings()
    changed = plain.changed({"imprint.top_k": 10})
    assert method_identity("imprint", plain) != method_identity("imprint", changed)
    assert method_identity("imprint", plain) != method_identity("all-records", plain)


def test_a_trace_tells_the_cues_and_what_was_found(memory: WearerMemory) -> None:
    method = make_method("imprint", embed)
    assert isinstance(method, Traceable)
    lines = "\n".join(method.trace(PINEAPPLE, memory).lines())
    assert "object 'pineapple', action 'slice'" in lines
    assert "last time" in lines


def test_a_model_is_only_asked_what_the_records_do_not_tell(memory: WearerMemory) -> None:
    chat = runner(respond={"reason": "There is a kite.", "cited": [], "answer": "B"})
    settings = RetrievalSettings(respond="llm")
    method = make_method("imprint", embed, settings, model=ChatSettings(model="test-model"), chat=lambda: chat)
    assert isinstance(method, AsyncMethod)
    told, asked = method.answer_many(
        [LANTERN, ask("Why is the kite green?", clock(3, 12, 0), "Paint", "Grass")], memory
    )
    assert (told.choice, told.calls) == ("B", 0)
    assert "read_from_records" in told.notes
    assert (asked.choice, asked.calls, asked.text) == ("B", 1, "There is a kite.")
    assert asked.fields and asked.basis == ""
    assert len(chat.of("respond")) == 1
    with pytest.raises(UsageError, match="leave respond to a language model"):
        make_method("imprint", embed, settings)
