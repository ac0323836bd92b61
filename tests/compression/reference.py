"""Imprint's compression as its text has it, record by record, with nothing done at once: slow, and easy to check."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ray_tasks.compression.settings import UNIT_MS, CompressionSettings
from ray_tasks.corpus.week_time import day_of

Vector = list[int]
SCALE = 4000


def whole(vector: np.ndarray) -> Vector:
    """A unit vector in whole steps of 1/4000."""
    return [round(float(np.float32(value) * np.float32(SCALE))) for value in vector]


def cosine(a: Vector, b: Vector) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True)) / SCALE**2


def direction(values: list[float]) -> Vector:
    length = math.sqrt(sum(value * value for value in values))
    return [round(value * (SCALE / max(length, 1e-9))) for value in values]


@dataclass
class Pattern:
    members: list[Vector]
    count: int = 0
    last_ms: int = 0


@dataclass
class Entry:
    alone: list[Vector] = field(default_factory=list)
    context: list[Vector] = field(default_factory=list)


def mean_direction(vectors: list[Vector]) -> Vector:
    return direction([float(sum(column)) for column in zip(*vectors, strict=True)])


def compress(
    vectors: np.ndarray, starts: list[int], settings: CompressionSettings
) -> list[tuple[int, int, float, int]]:
    """(prototype, kind, importance, entry) of each record; kinds and discarded entries as in the code under test."""
    seen: list[tuple[Vector, int]] = []
    patterns: list[Pattern] = []
    entries: list[Entry] = []
    results: list[tuple[int, int, float, int]] = []
    for number, (vector, start) in enumerate(zip(vectors, starts, strict=True)):
        e = whole(vector)
        c = in_context(e, start, seen, settings)
        seen.append((e, day_of(start)))
        prototype, kind, count, elapsed, size = 0, 1, 1, 0, 0
        if settings.prototypes:
            prototype, kind, elapsed = assign(c, start, patterns, settings)
            count, size = patterns[prototype].count, len(patterns)
        w = weight(count, elapsed, size, settings)
        entry = -1
        if w >= settings.least_importance:
            entry = number if not settings.consolidation else consolidate(e, c, entries, settings)
        results.append((prototype, kind, w, entry))
    return results


def in_context(e: Vector, start: int, seen: list[tuple[Vector, int]], settings: CompressionSettings) -> Vector:
    pairs = []
    for other, day in list(reversed(seen))[: settings.history]:
        similar = cosine(e, other)
        if day == day_of(start) and similar > settings.history_threshold:
            pairs.append((similar, other))
    if not pairs or sum(similar for similar, _ in pairs) <= 0:
        return direction([float(value) for value in e])
    total = 0.0
    gathered = [0.0] * len(e)
    for similar, other in pairs:
        total += similar
        gathered = [have + similar * value for have, value in zip(gathered, other, strict=True)]
    alpha = settings.history_weight
    return direction([(1 - alpha) * own + alpha * (have / total) for own, have in zip(e, gathered, strict=True)])


def assign(c: Vector, start: int, patterns: list[Pattern], settings: CompressionSettings) -> tuple[int, int, int]:
    similar = [cosine(c, mean_direction(pattern.members)) for pattern in patterns]
    nearest = max(range(len(patterns)), key=lambda i: (similar[i], -i), default=-1)
    if nearest >= 0 and similar[nearest] > settings.prototype_threshold:
        kind = 0
        patterns[nearest].members.append(c)
    elif len(patterns) < settings.most_prototypes:
        patterns.append(Pattern([c], last_ms=start))
        nearest, kind = len(patterns) - 1, 1
    else:
        kind = 2
    pattern = patterns[nearest]
    elapsed = 0 if kind == 1 else max(start - pattern.last_ms, 0)
    pattern.count += 1
    pattern.last_ms = max(pattern.last_ms, start)
    return nearest, kind, elapsed


def weight(count: int, elapsed: int, size: int, settings: CompressionSettings) -> float:
    if not settings.importance:
        return 1.0
    frequency = math.log(1 + count) if settings.frequency else 1.0
    hours = elapsed / UNIT_MS[settings.elapsed_unit]
    recency = math.exp(-settings.decay * hours) if settings.recency else 1.0
    distinctiveness = 1 / (1 + math.log(1 + size)) if settings.distinctiveness else 1.0
    return frequency * recency * distinctiveness


def consolidate(e: Vector, c: Vector, entries: list[Entry], settings: CompressionSettings) -> int:
    best, best_sum = -1, -math.inf
    for number, entry in enumerate(entries):
        alone, context = cosine(e, mean_direction(entry.alone)), cosine(c, mean_direction(entry.context))
        near = alone > settings.merge_threshold and context > settings.merge_threshold
        if near and alone + context > best_sum:
            best, best_sum = number, alone + context
    if best < 0:
        entries.append(Entry())
        best = len(entries) - 1
    entries[best].alone.append(e)
    entries[best].context.append(c)
    return best
