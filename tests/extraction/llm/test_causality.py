"""Nothing that ends after an atom is shown to the model that writes it, and nothing later changes it."""

from __future__ import annotations

import hashlib
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from ray_tasks.corpus.fuse import fuse
from ray_tasks.corpus.week_time import HOUR_MS, MINUTE_MS, SECOND_MS
from ray_tasks.engines.messages import ChatRequest, RefusedError
from ray_tasks.extraction.types import CONTEXT_MS
from ray_tasks.rows import Caption, Observation
from tests.chat_server.scripted import Scripted
from tests.extraction.llm.scripted import correction, data_of, entries, entry, groups, scripted
from tests.extraction.script import WEARER, seen_by

LENGTH = st.one_of(st.integers(0, 8), st.integers(0, 200))
CLOSE = st.lists(st.tuples(st.integers(4 * 60, 9 * 60), LENGTH, st.booleans()), min_size=1, max_size=24)
FAR = st.lists(st.tuples(st.integers(0, 70 * 60), LENGTH, st.booleans()), min_size=1, max_size=40)
EVENTS = st.one_of(CLOSE, FAR)
WINDOW_END = 11 * HOUR_MS + 30 * MINUTE_MS


def recording(events: list[tuple[int, int, bool]]) -> tuple[list[Caption], list[Caption]]:
    """Halo and shard of events (second after 10:55, length, whether spoken), each with a jug of its own."""
    rows = []
    for number, (second, length, spoken) in enumerate(events):
        start = 10 * HOUR_MS + (55 * 60 + second) * SECOND_MS
        text = f"I lift the jug number{number}x."
        rows.append(
            Observation(
                WEARER,
                1,
                start,
                start + length * SECOND_MS,
                "speech" if spoken else "visual",
                ("Tobi", "Ines", "Nele")[number % 3] if spoken else None,
                text,
                "en",
                f"#{number}",
            )
        )
    captions = fuse(rows, {})
    eleven = 11 * HOUR_MS
    return [one for one in captions if one.start_ms < eleven], [one for one in captions if one.start_ms >= eleven]


def telling(request: ChatRequest) -> Scripted:
    """A model whose every word, fault and failure depends on all of its request."""
    digest = hashlib.sha256(repr(request.messages).encode()).hexdigest()
    if digest[0] in "012":
        return RefusedError("no")
    subject = "He lifts" if digest[1] in "0123" else "I lift"
    text = f"{subject} the jug of plum wine for Nele from the label {digest[:8]}."
    if request.purpose == "extract-fine":
        return entries(entry(0, "object", text), entry(0, "object", "x", resolved=digest[2] in "0123456789"))
    if request.purpose == "extract-correct":
        return correction((0, text))
    if "apart" in request.purpose:
        return {"summaries": [text, f"I lift another jug of plum wine {digest[:8]}."]}
    if "cut" in request.purpose:
        last = len(data_of(request).splitlines()) - 1
        return groups(*((first, min(first + 5, last)) for first in range(0, last + 1, 6)))
    ending = " and I carry the wine." if digest[3] in "0123" else "."
    return {"summary": text[:-1] + ending}


def ends(captions: list[Caption]) -> dict[str, int]:
    """When each jug's line ends."""
    return {jug: line.end_ms for caption in captions for line in caption.lines for jug in jugs(line.text)}


def jugs(text: str) -> list[str]:
    return re.findall(r"number\d+x", text)


@settings(max_examples=60, deadline=None)
@given(EVENTS)
def test_requests_show_no_line_that_ends_after_their_captions(events: list[tuple[int, int, bool]]) -> None:
    halo, shard = recording(events)
    line_ends = ends([*halo, *shard])
    caption_of = {jug: caption for caption in [*halo, *shard] for line in caption.lines for jug in jugs(line.text)}
    extractor, chat = scripted(telling)
    extractor.extract_fine(shard, halo, wearer=WEARER)
    extractor.extract_coarse(shard, halo, wearer=WEARER)
    for request in chat.requests:
        own = [caption_of[jug] for jug in jugs(data_of(request))]
        shown = [jug for message in request.messages for jug in jugs(message.text)]
        assert own
        assert all(line_ends[jug] <= max(caption.end_ms for caption in own) for jug in shown)
        if "cut" in request.purpose:
            assert len({caption.start_ms // (30 * MINUTE_MS) for caption in own}) == 1
            assert set(shown) == set(jugs(data_of(request)))
        else:
            since = min(caption.start_ms for caption in own) - CONTEXT_MS
            assert all(caption_of[jug].start_ms >= since for jug in shown)


@settings(max_examples=60, deadline=None)
@given(EVENTS, st.one_of(st.integers(5 * 60, 12 * 60), st.integers(0, 72 * 60)))
def test_actions_and_utterances_do_not_change_with_what_comes_after(
    events: list[tuple[int, int, bool]], second: int
) -> None:
    at_ms = 10 * HOUR_MS + (55 * 60 + second) * SECOND_MS
    halo, shard = recording(events)
    full, chat = scripted(telling)
    then, chat_then = scripted(telling)
    atoms = [one for one in full.extract_fine(shard, halo, wearer=WEARER).atoms if one.end_ms <= at_ms]
    atoms_then = then.extract_fine(seen_by(shard, at_ms), seen_by(halo, at_ms), wearer=WEARER).atoms
    assert all(atom in atoms_then for atom in atoms)
    over = {jug for caption in shard if caption.end_ms <= at_ms for line in caption.lines for jug in jugs(line.text)}
    asked_then = {request.messages for request in chat_then.requests}
    assert all(request.messages in asked_then for request in chat.requests if over.issuperset(jugs(data_of(request))))


@settings(max_examples=40, deadline=None)
@given(EVENTS)
def test_later_half_hours_change_nothing_of_activities_and_conversations(events: list[tuple[int, int, bool]]) -> None:
    halo, shard = recording(events)
    full, _ = scripted(telling)
    then, _ = scripted(telling)
    window = [caption for caption in shard if caption.start_ms < WINDOW_END]
    atoms = [one for one in full.extract_coarse(shard, halo, wearer=WEARER).atoms if one.start_ms < WINDOW_END]
    assert list(then.extract_coarse(window, halo, wearer=WEARER).atoms) == atoms


@settings(max_examples=60, deadline=None)
@given(EVENTS, st.one_of(st.integers(5 * 60, 12 * 60), st.integers(5 * 60, 72 * 60)))
def test_with_equal_bounds_the_words_of_a_block_do_not_change_with_what_comes_after(
    events: list[tuple[int, int, bool]], second: int
) -> None:
    """Bounds may move inside their half hour; here the cut is the same with and without what comes later."""
    at_ms = 10 * HOUR_MS + (55 * 60 + second) * SECOND_MS
    halo, shard = recording(events)
    full, _ = scripted(telling)
    then, _ = scripted(telling)
    atoms = [one for one in full.extract_coarse(shard, halo, wearer=WEARER).atoms if one.end_ms <= at_ms]
    atoms_then = then.extract_coarse(seen_by(shard, at_ms), seen_by(halo, at_ms), wearer=WEARER).atoms
    bounds_then = {(atom.view, atom.caption_ids) for atom in atoms_then}
    assert all(atom in atoms_then for atom in atoms if (atom.view, atom.caption_ids) in bounds_then)
