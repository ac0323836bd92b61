"""Inverted lists (IVF) beside a Flat index, for views whose exact scan has become too slow.

A template is trained once on a sample; every part is filled into an empty copy of it, and the filled parts are merged.
Lists hold rows by number, ascending, hence in order of time, with their vectors in one byte a component: a quarter of
the Flat index. They only name candidates, whose scores are then computed from the vectors themselves (rings.py).

What a template was trained on, and how rows to come are spread over lists, decides which candidates are looked at and
so what an approximate search may miss. It never decides what may be seen (a range of row numbers, exact) nor a score.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from ray_tasks.index import device
from ray_tasks.index.memory import MemoryMismatchError
from ray_tasks.index.search import Float32, Int64

SAMPLES_PER_LIST: Final = 256
"""Rows of the training sample for each list; FAISS takes no more."""

COVERAGE: Final = 0.995
"""Share of nearest neighbours, within the training sample, whose lists a search looks into."""

_NEIGHBOURS: Final = 15
_PROBES: Final = 256


def lists_for(rows: int) -> int:
    """How many lists suit so many rows: a power of two, about a quarter of the square root.

    Fewer than usual, since a search looks into every probed list once for each ring of time.
    """
    return 1 << max(1, rows.bit_length() // 2 - 2)


def train_template(sample: Float32, lists: int) -> bytes:
    """An empty trained index (n, d) -> FAISS file; how many lists a search probes is measured on the sample and kept.

    Raises MemoryMismatchError for a sample smaller than the number of lists.
    """
    import faiss

    if len(sample) < lists:
        raise MemoryMismatchError(f"{len(sample)} rows are too few to train {lists} lists")
    dimension = sample.shape[1]
    quantizer = faiss.IndexFlatIP(dimension)
    kind = faiss.ScalarQuantizer.QT_8bit
    template = faiss.IndexIVFScalarQuantizer(quantizer, dimension, lists, kind, faiss.METRIC_INNER_PRODUCT)
    template.cp.seed = 1
    template.cp.min_points_per_centroid = 1
    template.cp.spherical = True
    # Codes of the vectors themselves, in a range twice as wide as the sample's: what is recorded later may be unlike
    # it, and beyond the range a component is cut off.
    template.by_residual = False
    template.sq.rangestat_arg = 0.5
    device.train(template, sample)
    template.nprobe = _probes_needed(template, sample)
    return bytes(faiss.serialize_index(template).data)


def _probes_needed(template: Any, sample: Float32) -> int:
    """The number of nearest lists that hold COVERAGE of the nearest neighbours of rows of the sample.

    A sample is sparser than the memory, so its neighbours lie further apart: the memory needs no more lists.
    """
    asked = np.unique(np.linspace(0, len(sample) - 1, _PROBES).astype(np.int64))
    similarity = sample[asked] @ sample.T
    similarity[np.arange(len(asked)), asked] = -np.inf
    count = min(_NEIGHBOURS, len(sample) - 1)
    nearest = np.argpartition(-similarity, count - 1, axis=1)[:, :count]
    list_of = template.quantizer.search(sample, 1)[1][:, 0]
    ranking = template.quantizer.search(sample[asked], template.nlist)[1]
    ranks = np.argsort(ranking, axis=1)[np.arange(len(asked))[:, None], list_of[nearest]]
    return int(np.quantile(ranks, COVERAGE, method="higher")) + 1


def fill_template(template: bytes, vectors: Float32) -> bytes:
    """A copy of a template with vectors (n, d) under the numbers 0 to n - 1, as a FAISS file."""
    import faiss

    filled = device.add(_read(template), vectors)
    return bytes(faiss.serialize_index(filled).data)


@dataclass(frozen=True)
class FilledPart:
    """A filled template, and where its rows stand when all parts are laid end to end."""

    first: int
    data: bytes


def merge_filled(template: bytes, parts: Iterable[FilledPart], sources: Int64, path: Path) -> None:
    """Merges filled parts into one index, whose rows are numbered in their final order, and writes it to `path`.

    `sources` (n,): where each row, in its final order, stands when the parts are laid end to end. In memory are the
    merged lists, a quarter of the vectors, and one part. Raises MemoryMismatchError where rows are missing or too many.
    """
    import faiss

    merged = _read(template)
    for part in parts:
        merged.merge_from(_read(part.data), part.first)
    if merged.ntotal != len(sources):
        raise MemoryMismatchError(f"{path.name}: parts hold {merged.ntotal} rows of {len(sources)}")
    final = np.empty(len(sources), np.int64)
    final[sources] = np.arange(len(sources))
    for number in range(merged.nlist):
        _renumber(merged.invlists, number, final)
    faiss.write_index(merged, str(path))


def _renumber(lists: Any, number: int, final: Int64) -> None:
    """Gives the rows of a list their final numbers, ascending as a search by range expects, in place."""
    import faiss

    size = lists.list_size(number)
    if size == 0:
        return
    ids = faiss.rev_swig_ptr(lists.get_ids(number), size)
    ids[:] = final[ids]
    if np.any(np.diff(ids) < 0):
        codes = faiss.rev_swig_ptr(lists.get_codes(number), size * lists.code_size).reshape(size, lists.code_size)
        order = np.argsort(ids)
        ids[:], codes[:] = ids[order], codes[order]


def _read(data: bytes) -> Any:
    import faiss

    return faiss.deserialize_index(np.frombuffer(data, np.uint8))


@dataclass(frozen=True)
class InvertedIndex:
    """The inverted lists of a view, memory-mapped from their file."""

    path: Path

    @cached_property
    def _index(self) -> Any:
        import faiss

        index: Any = faiss.read_index(str(self.path), faiss.IO_FLAG_MMAP_IFC)
        index.parallel_mode = 1  # one query uses all threads: they share out the lists
        return index

    @property
    def rows(self) -> int:
        """Rows in the lists."""
        return int(self._index.ntotal)

    @property
    def probed(self) -> int:
        """Lists that a search looks into."""
        return int(self._index.nprobe)

    @property
    def least_rows(self) -> int:
        """Fewer visible rows than this are scanned exactly in the time that it takes to look into the lists."""
        return int(self._index.nlist) * SAMPLES_PER_LIST // 4

    @property
    def error(self) -> float:
        """See Source.error; each component is known to a 256th of its range."""
        return 0.01

    @property
    def approximate(self) -> bool:
        """See Source.approximate."""
        return True

    def nearest(
        self, query: Float32, first: int, stop: int, count: int, *, closely: bool = True
    ) -> tuple[Float32, Int64]:
        """See Source.nearest; what is most similar is likely to be in a sixteenth of the lists that are probed."""
        import faiss

        selector = faiss.IDSelectorRange(first, stop, True)
        parameters: Any = faiss.SearchParametersIVF()
        parameters.sel, parameters.nprobe = selector, self.probed if closely else max(1, self.probed // 16)
        similarity, rows = self._index.search(query[None], count, params=parameters)
        found = rows[0] >= 0
        return similarity[0][found], rows[0][found]
