"""Signals of every clip for a question: how well its rows, its words and its surroundings fit each query variant.

All signals of a question cover the clips that ended by its time, and so do the mean and deviation that turn them into
z-scores; nothing later enters. A batch shares one call of the embedder and one pass over the vectors, and gives each
question the bits it would get alone (see whole_vectors).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ray_tasks.index.lexical import tokenize
from ray_tasks.index.memory import MemoryMismatchError, WearerMemory
from ray_tasks.retrieval.choice_kinds import times_of
from ray_tasks.retrieval.clip_table import ClipTable
from ray_tasks.retrieval.coarse_rows import coarse_cosines
from ray_tasks.retrieval.queries import Variants, make_variants
from ray_tasks.retrieval.time_query import TimeQuery, parse_time_query
from ray_tasks.retrieval.types import Embed, Question
from ray_tasks.retrieval.weights import FusionWeights, Signal, Variant
from ray_tasks.retrieval.whole_vectors import NO_ROW, Float32, Float64, as_cosines, whole_vectors
from ray_tasks.retrieval.window_words import WindowWords

WINDOW_REACH = 6
Z_LOW, Z_HIGH = -4.0, 12.0
_QUESTIONS_AT_ONCE = 64


@dataclass(frozen=True)
class Measured:
    """A question with all that is known of it before clips are ranked.

    choice_times: the windows of each choice where the choices are times, else empty. queries: (2, d) whole vectors of
    the question and its core. columns: z-scores (visible,) by signal and variant.
    """

    question: Question
    variants: Variants
    time: TimeQuery
    choice_times: tuple[tuple[tuple[int, int], ...], ...]
    table: ClipTable
    visible: int
    queries: Float32
    columns: dict[tuple[Signal, Variant], Float64]

    @property
    def named_windows(self) -> list[tuple[int, int]]:
        """The windows of week time that the question itself names."""
        return [(window.start_ms, window.end_ms) for window in self.time.windows]

    @property
    def choice_windows(self) -> list[tuple[int, int]]:
        """All windows named by the choices, where these are times."""
        return [window for windows in self.choice_times for window in windows]


def z_scores(values: Float64) -> Float64:
    """Values (n,) in standard deviations from their mean, clipped to -4..12; zeros for NaN and where all are equal."""
    unknown = np.isnan(values)
    if unknown.any():
        scores = np.zeros(len(values))
        scores[~unknown] = z_scores(values[~unknown])
        return scores
    centred = values - values.mean() if len(values) else values
    deviation = float(np.sqrt(np.mean(centred * centred))) if len(values) else 0.0
    return np.clip(centred / deviation, Z_LOW, Z_HIGH) if deviation > 1e-9 else np.zeros(len(values))


def measure(
    questions: Sequence[Question],
    memory: WearerMemory,
    embed: Embed,
    weights: FusionWeights,
    *,
    use_choices: bool = True,
) -> Iterator[Measured]:
    """Measures for every question, in order, the signals that `weights` names; `use_choices` False hides the choices.

    Raises MemoryMismatchError where the embedder's vectors have another length than those of the memory.
    """
    table = ClipTable.of(memory)
    for first in range(0, len(questions), _QUESTIONS_AT_ONCE):
        yield from _measure_group(questions[first : first + _QUESTIONS_AT_ONCE], table, embed, weights, use_choices)


def _measure_group(
    questions: Sequence[Question], table: ClipTable, embed: Embed, weights: FusionWeights, use_choices: bool
) -> Iterator[Measured]:
    variants = [_variants_of(question, use_choices) for question in questions]
    visible = [table.visible(question.at_ms) for question in questions]
    texts = search_texts(questions, use_choices=use_choices)
    column_of = {text: number for number, text in enumerate(texts)}
    queries = whole_vectors(check_dimension(embed(texts), table))
    similarities = _similarities(table, queries, max(visible, default=0))
    for question, variant, n in zip(questions, variants, visible, strict=True):
        yield Measured(
            question=question,
            variants=variant,
            time=parse_time_query(question.text, question.at_ms),
            choice_times=times_of(question) if use_choices else (),
            table=table,
            visible=n,
            queries=queries[[column_of[text] for text in (variant.question, variant.core)]],
            columns=_columns(question.at_ms, variant, table, weights, similarities, column_of, queries),
        )


def search_texts(questions: Sequence[Question], *, use_choices: bool = True) -> list[str]:
    """All texts whose vectors measure needs for some questions, each once."""
    variants = (_variants_of(question, use_choices) for question in questions)
    return list(dict.fromkeys(text for v in variants for text in _dense_texts(v)))


def _variants_of(question: Question, use_choices: bool) -> Variants:
    choices = tuple(text for _, text in question.choices) if use_choices else ()
    return make_variants(question.text, choices, question.at_ms)


def _dense_texts(variants: Variants) -> list[str]:
    return [variants.question, variants.core, *(text for text in (*variants.with_choice, *variants.choices) if text)]


def _similarities(table: ClipTable, queries: Float32, visible: int) -> dict[Signal, Float32]:
    """Products of every clip's best row, and of its own vector, with every text; shapes (texts, visible)."""
    best = np.full((visible, len(queries)), NO_ROW, np.float32)
    for block in table.blocks:
        block.best_in_clips(queries, best)
    return {"dense": np.ascontiguousarray(best.T), "clip": queries @ table.vectors[:visible].T}


def check_dimension(vectors: Float32, table: ClipTable) -> Float32:
    """The vectors, if they fit the memory's."""
    expected = table.captions.dimension
    if vectors.ndim != 2 or vectors.shape[1] != expected:
        raise MemoryMismatchError(
            f"the embedder gives vectors of shape {vectors.shape}, but those of the memory have {expected} dimensions "
            f"(made by {table.captions.model}); use that model or rebuild the memory"
        )
    return vectors


def _columns(
    at_ms: int,
    variants: Variants,
    table: ClipTable,
    weights: FusionWeights,
    similarities: dict[Signal, Float32],
    column_of: dict[str, int],
    queries: Float32,
) -> dict[tuple[Signal, Variant], Float64]:
    """The signals that the weights name, as z-scores over the clips that ended by at_ms."""
    n = table.visible(at_ms)
    windows = WindowWords.of(table, n, WINDOW_REACH)
    lexical = table.captions.lexical
    groups: dict[Variant, list[str]] = {
        "question": [variants.question],
        "core": [variants.core],
        "with_choice": [text for text in variants.with_choice if text] or [variants.question],
        "choice": [text for text in variants.choices if text],
    }
    columns: dict[tuple[Signal, Variant], Float64] = {}
    for term in weights.terms:
        texts = groups[term.variant]
        if term.signal == "words":
            values = [lexical.scores(tokenize(text), n) for text in texts]
        elif term.signal == "window":
            values = [windows.scores(tokenize(text)) for text in texts]
        elif term.signal == "coarse":
            values = list(coarse_cosines(table.coarse, queries[[column_of[text] for text in texts]], at_ms, n))
        else:
            values = [as_cosines(similarities[term.signal][column_of[text], :n]) for text in texts]
        columns[term.signal, term.variant] = _largest(values, n)
    return columns


def _largest(scores: list[Float64], n: int) -> Float64:
    """The largest z-score among several texts for each clip; zeros without any."""
    if not scores:
        return np.zeros(n)
    return np.asarray(np.max([z_scores(np.ascontiguousarray(values)) for values in scores], axis=0), np.float64)
