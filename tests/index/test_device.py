"""Index work on a GPU, with a stand-in that has the interface of faiss-gpu and runs on the CPU."""

from __future__ import annotations

from typing import Any

import faiss
import numpy as np
import pytest

from ray_tasks.index import memory
from ray_tasks.index.device import MOST_RESULTS, GpuRows
from ray_tasks.index.inverted import fill_template, train_template
from tests.index.views import moments, topics, view_of


class GpuFlat(faiss.IndexFlatIP):
    """A Flat index that, like GpuIndexFlat, knows no selector and returns no more than MOST_RESULTS rows."""

    def search(self, *arguments: Any, **options: Any) -> Any:
        """See faiss.Index.search."""
        assert options.get("params") is None, "GpuIndexFlat ignores selectors"
        assert arguments[1] <= MOST_RESULTS
        return super().search(*arguments, **options)


class StandIn:
    """What was moved to and from the GPU."""

    def __init__(self) -> None:
        self.moved: list[str] = []

    def to_gpu(self, resources: Any, device: int, index: Any, options: Any = None) -> Any:
        """See faiss.index_cpu_to_gpu."""
        assert device == 0 and options is None and resources is not None
        self.moved.append(type(index).__name__)
        if not isinstance(index, faiss.IndexFlatIP):
            return index
        flat = GpuFlat(index.d)
        if index.ntotal:
            flat.add(index.reconstruct_n(0, index.ntotal))
        return flat

    def to_cpu(self, index: Any) -> Any:
        """See faiss.index_gpu_to_cpu."""
        self.moved.append("back")
        return index


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """One GPU."""
    stand_in = StandIn()
    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 1)
    monkeypatch.setattr(faiss, "StandardGpuResources", object, raising=False)
    monkeypatch.setattr(faiss, "index_cpu_to_gpu", stand_in.to_gpu, raising=False)
    monkeypatch.setattr(faiss, "index_gpu_to_cpu", stand_in.to_cpu, raising=False)
    monkeypatch.setattr(memory, "LEAST_GPU_ROWS", 1_000)
    return stand_in


def test_training_and_filling_go_to_the_gpu_and_come_back_as_the_same_file(gpu: StandIn) -> None:
    vectors = topics(1, 600)
    on_gpu = fill_template(train_template(vectors, 4), vectors)
    assert gpu.moved == ["IndexFlatIP", "IndexIVFScalarQuantizer", "back"]
    filled = faiss.deserialize_index(np.frombuffer(on_gpu, np.uint8))
    assert (type(filled).__name__, filled.ntotal) == ("IndexIVFScalarQuantizer", 600)


def test_without_a_gpu_nothing_is_moved(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 0)
    fill_template(train_template(topics(1, 300), 4), topics(1, 300))
    view = view_of(topics(1, 2_000), moments(1, 2_000), None)
    view.search(view.vectors[0], at_ms=int(view.end_ms[-1]), k=3)
    assert gpu.moved == []


@pytest.mark.parametrize(("first", "stop"), [(0, 1_000), (0, 64), (64, 128), (10, 20), (60, 70), (130, 999), (0, 0)])
def test_a_range_is_answered_from_whole_blocks_and_what_is_left(gpu: StandIn, first: int, stop: int) -> None:
    vectors = topics(2, 1_000)
    rows = GpuRows.upload(vectors, block_rows=64)
    assert len(rows.blocks) == 15
    similarity, found = rows.nearest(vectors[5], first, stop, 12)
    expected = np.argsort(-(vectors[first:stop] @ vectors[5]), kind="stable")[:12] + first
    assert found.tolist() == expected.tolist()
    assert np.allclose(similarity, vectors[found] @ vectors[5], atol=1e-5)


def test_exact_search_on_the_gpu_is_the_cpu_s_and_sees_no_future(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = GpuRows.upload
    monkeypatch.setattr(GpuRows, "upload", lambda vectors: upload(vectors, block_rows=256))
    vectors = topics(3, 3_000)
    vectors[2_000:] = vectors[0]
    view = view_of(vectors, moments(3, 3_000), None)
    for row in (1_999, 1_000, 300):
        at = int(view.end_ms[row])
        for window in (None, (int(view.start_ms[row // 2]),) * 2):
            hits = view.search(vectors[0], at_ms=at, k=15, time_query=window)
            assert hits == view.search(vectors[0], at_ms=at, k=15, time_query=window, exact=True)
            assert all(hit.row <= row for hit in hits)
    assert gpu.moved == ["IndexFlatIP"] * (3_000 // 256)


def test_a_view_that_does_not_fit_on_the_gpu_is_searched_on_the_cpu(
    gpu: StandIn, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: Any) -> Any:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(faiss, "index_cpu_to_gpu", full, raising=False)
    view = view_of(topics(4, 20_000), moments(4, 20_000), None)
    at = int(view.end_ms[-1])
    assert view.search(view.vectors[9], at_ms=at, k=4) == view.search(view.vectors[9], at_ms=at, k=4, exact=True)
    assert "searched on the CPU: out of memory" in caplog.text


def test_what_cannot_be_proven_is_scanned(gpu: StandIn) -> None:
    vectors = np.repeat(topics(5, 1), 20_000, axis=0)
    view = view_of(vectors, moments(5, 20_000), None)
    at = int(view.end_ms[-1])
    window = (int(view.start_ms[10_000]),) * 2
    hits = view.search(vectors[0], at_ms=at, k=5, time_query=window)
    assert hits == view.search(vectors[0], at_ms=at, k=5, time_query=window, exact=True)
