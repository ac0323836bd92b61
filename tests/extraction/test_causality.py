"""Nothing that ends after an atom may influence it, and nothing depends on what people are called."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from ray_tasks.corpus.fuse import fuse
from ray_tasks.corpus.week_time import HOUR_MS, SECOND_MS
from ray_tasks.extraction.coarse import extract_coarse
from ray_tasks.extraction.fine import extract_fine
from ray_tasks.extraction.join import join_windows
from ray_tasks.extraction.types import window_end
from ray_tasks.rows import Atom, Caption, Observation
from tests.extraction.script import WEARER, seen_by

SEEN = (
    "I pick up a blue jug.",
    "I put it on the shelf.",
    "Tobi is cutting the bread.",
    "He looks at her.",
    "washing the pot",
    "I turned around and walked to the kitchen.",
    "I walk forward.",
    "Ines hands the rope to Nele.",
    "Mara sits down and reads the map.",
    "I looked at TobiInes.",
    "We carry the bench into the garden.",
    "The tent is on the grass.",
)
SAID = (
    ("Tobi", "Is the kettle on?"),
    ("Mara", "Yes."),
    ("Ines", "Ines, where is the tent?"),
    ("Ines", "That one."),
    ("Mara", "Tobi, bring the rope."),
    (None, "The boat leaves at six."),
    ("Nele", "He lost the key of the boat."),
    ("Tobi", "Hahaha."),
    ("Others", "We need another bucket of paint."),
)
EVENTS = st.tuples(
    st.integers(0, 40 * 60),
    st.one_of(st.integers(0, 5), st.integers(0, 34)),
    st.one_of(st.sampled_from(SEEN), st.sampled_from(SAID)),
)


def recording(events: list[tuple[int, int, str | tuple[str | None, str]]], *, stretch: int = 1) -> list[Caption]:
    """Captions of events (second after 10:55, length, text or (speaker, text)).

    No line outlasts the next window, unless lengths are stretched.
    """
    rows = []
    for number, (second, length, what) in enumerate(events):
        start = 10 * HOUR_MS + (55 * 60 + second) * SECOND_MS
        end = start + length * stretch * SECOND_MS
        if stretch == 1:
            end = min(end, (start // 30_000 + 2) * 30_000)
        speaker, text = (None, what) if isinstance(what, str) else what
        modality = "visual" if isinstance(what, str) else "speech"
        rows.append(Observation(WEARER, 1, start, end, modality, speaker, text, "en", f"#{number}"))  # type: ignore[arg-type]
    return fuse(rows, {})


def parted(captions: list[Caption]) -> tuple[list[Caption], list[Caption]]:
    """The halo of the five minutes before eleven, and what is later."""
    eleven = 11 * HOUR_MS
    return [one for one in captions if one.start_ms < eleven], [one for one in captions if one.start_ms >= eleven]


@settings(max_examples=60, deadline=None)
@given(st.lists(EVENTS, min_size=1, max_size=60), st.integers(0, 42 * 60))
def test_atoms_that_end_by_a_time_do_not_change_with_what_comes_after_it(
    events: list[tuple[int, int, str | tuple[str | None, str]]], second: int
) -> None:
    at_ms = 10 * HOUR_MS + (55 * 60 + second) * SECOND_MS
    halo, shard = parted(recording(events))
    halo_then, shard_then = seen_by(halo, at_ms), seen_by(shard, at_ms)
    fine = [atom for atom in extract_fine(shard, halo, wearer=WEARER).atoms if atom.end_ms <= at_ms]
    fine_then = extract_fine(shard_then, halo_then, wearer=WEARER).atoms
    assert fine == [atom for atom in fine_then if atom.atom_id in {one.atom_id for one in fine}]
    assert {atom.caption_ids for atom in fine_then} - {atom.caption_ids for atom in fine} <= {
        (caption.caption_id,) for caption in shard if caption.end_ms > at_ms
    }
    coarse = [atom for atom in extract_coarse(shard, halo, wearer=WEARER).atoms if atom.end_ms <= at_ms]
    coarse_then = extract_coarse(shard_then, halo_then, wearer=WEARER).atoms
    assert all(atom in coarse_then for atom in coarse)
    for view in ("activity", "conversation"):
        extra = [atom for atom in coarse_then if atom.view == view and atom not in coarse]
        assert len(extra) <= 1 or any(caption.end_ms > at_ms for caption in shard_then)


@settings(max_examples=60, deadline=None)
@given(st.lists(EVENTS, min_size=1, max_size=60), st.integers(0, 42 * 60))
def test_lines_of_minutes_leak_into_no_earlier_action_or_utterance(
    events: list[tuple[int, int, str | tuple[str | None, str]]], second: int
) -> None:
    at_ms = 10 * HOUR_MS + (55 * 60 + second) * SECOND_MS
    halo, shard = parted(recording(events, stretch=4))
    fine = [atom for atom in extract_fine(shard, halo, wearer=WEARER).atoms if atom.end_ms <= at_ms]
    fine_then = extract_fine(seen_by(shard, at_ms), seen_by(halo, at_ms), wearer=WEARER).atoms
    assert all(atom in fine_then for atom in fine)


@settings(max_examples=40, deadline=None)
@given(st.lists(EVENTS, min_size=1, max_size=60))
def test_the_words_of_a_coarse_atom_come_from_its_own_captions(
    events: list[tuple[int, int, str | tuple[str | None, str]]],
) -> None:
    captions = recording(events)
    by_id = {caption.caption_id: caption for caption in captions}
    for atom in extract_coarse(captions, [], wearer=WEARER).atoms:
        own = [by_id[caption_id] for caption_id in atom.caption_ids]
        assert atom.start_ms == own[0].start_ms
        assert atom.end_ms == max(caption.end_ms for caption in own)
        source = " ".join(caption.text for caption in own).lower()
        for thing in re.findall(r"\b(?:jug|bread|pot|rope|bench|tent|kettle|boat|bucket|paint|key|map)\b", atom.text):
            assert thing in source or _from_line_before(thing, captions, own[0])


def _from_line_before(thing: str, captions: list[Caption], first: Caption) -> bool:
    """Whether a word was put in for an "it" from the captions before, which the context allows."""
    return any(thing in one.text for one in captions if one.start_ms < first.start_ms)


def renamed(captions: list[Caption], names: dict[str, str]) -> list[Caption]:
    """Captions in which people are called otherwise, labels included."""
    pattern = re.compile("|".join(names))

    def rename(text: str) -> str:
        return pattern.sub(lambda match: names[match.group()], text)

    return [
        replace(
            caption,
            text=rename(caption.text),
            lines=tuple(
                replace(line, text=rename(line.text), speaker=line.speaker and rename(line.speaker))
                for line in caption.lines
            ),
        )
        for caption in captions
    ]


@settings(max_examples=40, deadline=None)
@given(st.lists(EVENTS, min_size=1, max_size=60))
def test_renaming_everybody_renames_the_atoms_and_changes_nothing_else(
    events: list[tuple[int, int, str | tuple[str | None, str]]],
) -> None:
    names = {"Tobi": "Zora", "Ines": "Arvid", "Nele": "Quirin"}
    halo, shard = parted(recording(events))

    def everything(before: list[Caption], captions: list[Caption]) -> list[Atom]:
        coarse = extract_coarse(captions, before, wearer=WEARER).atoms
        fine = extract_fine(captions, before, wearer=WEARER).atoms
        return [*fine, *join_windows(coarse).atoms]

    # A name that no line has used like one yet is a word to the rules, and may stand among the topics in small letters.
    spellings = names | {name.lower(): new.lower() for name, new in names.items()}

    def expected(atom: Atom) -> tuple[object, ...]:
        text = re.sub("|".join(spellings), lambda match: spellings[match.group()], atom.text)
        people = tuple(names.get(name, name) for name in atom.people)
        return atom.view, atom.start_ms, atom.end_ms, text, people, atom.caption_ids

    before = sorted((expected(atom) for atom in everything(halo, shard)), key=repr)
    after = everything(renamed(halo, names), renamed(shard, names))
    assert before == sorted(
        ((atom.view, atom.start_ms, atom.end_ms, atom.text, atom.people, atom.caption_ids) for atom in after), key=repr
    )


@settings(max_examples=30, deadline=None)
@given(st.lists(EVENTS, min_size=1, max_size=40))
def test_the_ledgers_balance_and_ids_are_unique(
    events: list[tuple[int, int, str | tuple[str | None, str]]],
) -> None:
    captions = recording(events)
    fine, coarse = (extract(captions, [], wearer=WEARER) for extract in (extract_fine, extract_coarse))
    assert fine.ledger.taken == sum(len(caption.lines) for caption in captions)
    assert coarse.ledger.taken == len(captions)
    assert fine.ledger.missing == coarse.ledger.missing == 0
    atoms = [*fine.atoms, *coarse.atoms]
    assert len({atom.atom_id for atom in atoms}) == len(atoms)


def test_window_end_is_the_next_half_minute_of_the_clock() -> None:
    (caption,) = recording([(300 + 5, 40, SEEN[0])])
    assert window_end(caption) == 11 * HOUR_MS + 30_000
    assert caption.end_ms == 11 * HOUR_MS + 45_000
