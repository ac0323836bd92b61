from __future__ import annotations

from pathlib import Path

import faiss
import numpy as np
import pytest

from ray_tasks.index.flat_file import FlatFile
from ray_tasks.index.memory import MemoryMismatchError


@pytest.mark.parametrize("pieces", [[], [1], [3, 4, 1], [0, 5]])
@pytest.mark.parametrize("dimension", [4, 384])
def test_a_file_written_in_pieces_is_faiss_s_own(tmp_path: Path, pieces: list[int], dimension: int) -> None:
    vectors = np.random.default_rng(3).standard_normal((sum(pieces), dimension)).astype(np.float32)
    with FlatFile(tmp_path / "a.faiss", dimension, len(vectors)) as out:
        for part in np.split(vectors, np.cumsum(pieces)[:-1]) if pieces else []:
            out.append(part)
    index = faiss.IndexFlatIP(dimension)
    index.add(vectors)
    faiss.write_index(index, str(tmp_path / "b.faiss"))
    assert (tmp_path / "a.faiss").read_bytes() == (tmp_path / "b.faiss").read_bytes()


def test_too_few_vectors_are_an_error(tmp_path: Path) -> None:
    with (
        pytest.raises(MemoryMismatchError, match=r"a\.faiss: 2 vectors came for 3 rows"),
        FlatFile(tmp_path / "a.faiss", 4, 3) as out,
    ):
        out.append(np.zeros((2, 4), np.float32))


def test_an_error_while_writing_stays_the_error_to_report(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), FlatFile(tmp_path / "a.faiss", 4, 3):
        raise ZeroDivisionError
