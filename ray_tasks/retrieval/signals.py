"""Signals of every clip for a question: how well its rows, its words and its surroundings fit each query variant.

All signals of a question cover the clips that ended by its time, and so do the mean and deviation that turn them into
z-scores; nothing later enters. A batch shares one call of the embedder and one pass over the vectors, and gives each
question the bits it would get alone (see whole_vectors).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ray_tasks.embedding.whole_vectors import NO_ROW, Float32, Float64, as_cosines, whole_vectors
from ray_tasks.index.lexical import tokenize
from ray_tasks.index.memory import MemoryMismatchError, WearerMemory
from ray_tasks.retrieval.choice_kinds import times_of
from ray_tasks.retrieval.clip_table import ClipTable
from ray_tasks.retrieval.coarse_rows import coarse_cosines
from ray_tasks.retrieval.queries import Variants, make_variants
from ray_tasks.retrieval.time_query import TimeQuery, parse_time_query
from ray_tasks.retrieval.types import Embed, Question
from ray_tasks.retrieval.weights import Column, Signal, Variant
from ray_tasks.retrieval.window_words import WindowWords

Z_LOW, Z_HIGH = -4.0, 12.0
EMBEDDED: frozenset[Signal] = frozenset(["dense", "seen", "said", "clip", "coarse"])
_QUESTIONS_AT_ONCE = 64


@dataclass(frozen=True)
class Measured:
    """A question with all that is known of it before clips are ranked.

    choice_times: the windows of each choice where the choices are times, else empty. queries: (2, d) whole vectors of
    the question and its core. columns: z-scores (visible,) of the signals that the weights name.
    """

    question: Question
    variants: Variants
    time: TimeQuery
    choice_times: tuple[tuple[tuple[int, int], ...], ...]
    table: ClipTable
    visible: int
    queries: Float32
    columns: dict[Column, Float64]

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
    columns: Iterable[Column],
    *,
    use_choices: bool = True,
) -> Iterator[Measured]:
    """Measures the signals of `columns` for every question, in order; `use_choices` False hides the choices.

    Raises MemoryMismatchError where the embedder's vectors have another length than those of the memory.
    """
    table, wanted = ClipTable.of(memory), tuple(dict.fromkeys(columns))
    for first in range(0, len(questions), _QUESTIONS_AT_ONCE):
        yield from _measure_group(questions[first : first + _QUESTIONS_AT_ONCE], table, embed, wanted, use_choices)


def _measure_group(
    questions: Sequence[Question], table: ClipTable, embed: Embed, columns: Sequence[Column], use_choices: bool
) -> Iterator[Measured]:
    texts_of = [_texts(question, use_choices) for question in questions]
    visible = [table.visible(question.at_ms) for question in questions]
    texts = search_texts(questions, columns, use_choices=use_choices)
    row_of = {text: number for number, text in enumerate(texts)}
    vectors = whole_vectors(check_dimension(embed(texts), table))
    products = _products(table, vectors, max(visible, default=0))
    for question, variants, count in zip(questions, texts_of, visible, strict=True):
        values = ClipValues(table, count, question.at_ms, row_of, vectors, products)
        yield Measured(
            question=question,
            variants=variants,
            time=parse_time_query(question.text, question.at_ms),
            choice_times=times_of(question) if use_choices else (),
            table=table,
            visible=count,
            queries=vectors[[row_of[text] for text in (variants.question, variants.core)]],
            columns={column: values.column(variants, column) for column in columns},
        )


def search_texts(questions: Sequence[Question], columns: Sequence[Column], *, use_choices: bool = True) -> list[str]:
    """All texts whose vectors the columns need for some questions, each once."""
    variants = dict.fromkeys(["question", "core", *(column[1] for column in columns if column[0] in EMBEDDED)])
    texts = (_texts(question, use_choices) for question in questions)
    return list(dict.fromkeys(text for of in texts for variant in variants for text in _variant_texts(of, variant)))


def _products(table: ClipTable, vectors: Float32, visible: int) -> dict[str, Float32]:
    """Products of every clip's best row of each kind, and of its own vector, with every text; (texts, visible)."""
    products = {"clip": vectors @ table.vectors[:visible].T}
    for name, block in zip(("seen", "said"), table.blocks, strict=True):
        best = np.full((visible, len(vectors)), NO_ROW, np.float32)
        block.best_in_clips(vectors, best)
        products[name] = np.ascontiguousarray(best.T)
    return products


def _texts(question: Question, use_choices: bool) -> Variants:
    choices = tuple(text for _, text in question.choices) if use_choices else ()
    return make_variants(question.text, choices, question.at_ms)


def _variant_texts(variants: Variants, variant: Variant) -> list[str]:
    """The texts of a variant; where no choice says more than a time, with_choice is the question."""
    if variant == "question":
        return [variants.question]
    if variant == "core":
        return [variants.core]
    if variant == "context":
        return [variants.context]
    if variant == "with_choice":
        return [text for text in variants.with_choice if text] or [variants.question]
    return [text for text in variants.choices if text]


@dataclass
class ClipValues:
    """The signals of one question over its visible clips; what several of them share is computed once.

    products: (texts, clips) products of whole vectors by signal, NO_ROW where a clip has no such rows.
    """

    table: ClipTable
    visible: int
    at_ms: int
    row_of: Mapping[str, int]
    vectors: Float32
    products: Mapping[str, Float32]
    _scores: dict[tuple[Signal, str], Float64] = field(default_factory=dict)
    _columns: dict[Column, Float64] = field(default_factory=dict)
    _windows: dict[int, WindowWords] = field(default_factory=dict)

    def column(self, variants: Variants, column: Column) -> Float64:
        """(visible,) z-scores of a column; zeros where its variant has no text."""
        if column not in self._columns:
            self._columns[column] = self._column(variants, column)
        return self._columns[column]

    def _column(self, variants: Variants, column: Column) -> Float64:
        signal, variant, over, reach = column
        if reach:
            return z_scores(self._neighbour_means(self.column(variants, (signal, variant, over, 0)), reach))
        texts = _variant_texts(variants, variant)
        if not texts:
            return np.zeros(self.visible)
        scores = [self._score(signal, text) for text in texts]
        if len(scores) == 1:
            return scores[0]
        return np.asarray(np.max(scores, axis=0) if over == "max" else np.mean(scores, axis=0), np.float64)

    def _score(self, signal: Signal, text: str) -> Float64:
        key = (signal, text)
        if key not in self._scores:
            self._scores[key] = z_scores(self._values(signal, text))
        return self._scores[key]

    def _values(self, signal: Signal, text: str) -> Float64:
        n, table = self.visible, self.table
        if signal == "words":
            return table.captions.lexical.scores(tokenize(text), n)
        if signal == "said_words":
            return table.blocks[1].lexical.scores(tokenize(text), n)
        if signal == "row_words":
            return table.row_words(tokenize(text), n)
        if signal in ("window", "window5"):
            reach = 6 if signal == "window" else 2
            if reach not in self._windows:
                self._windows[reach] = WindowWords.of(table, n, reach)
            return self._windows[reach].scores(tokenize(text))
        row = self.row_of[text]
        if signal == "coarse":
            return np.asarray(coarse_cosines(table.coarse, self.vectors[[row]], self.at_ms, n)[0], np.float64)
        if signal == "dense":
            best: Float32 = np.maximum(self.products["seen"][row, :n], self.products["said"][row, :n])
            return as_cosines(best)
        values = as_cosines(self.products[signal][row, :n])
        values[values == -1.0] = np.nan
        return values

    def _neighbour_means(self, scores: Float64, reach: int) -> Float64:
        low, high = self.table.neighbours(reach, self.visible)
        sums = np.concatenate([[0.0], np.cumsum(scores)])
        return np.asarray((sums[high] - sums[low]) / (high - low), np.float64)


def check_dimension(vectors: Float32, table: ClipTable) -> Float32:
    """The vectors, if they fit the memory's."""
    expected = table.captions.dimension
    if vectors.ndim != 2 or vectors.shape[1] != expected:
        raise MemoryMismatchError(
            f"the embedder gives vectors of shape {vectors.shape}, but those of the memory have {expected} dimensions "
            f"(made by {table.captions.model}); use that model or rebuild the memory"
        )
    return vectors
