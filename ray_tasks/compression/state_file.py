"""The state of compression between two days as a Parquet file: equal states give equal bytes."""

from __future__ import annotations

import io
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ray_tasks.compression.online import State
from ray_tasks.embedding.whole_vectors import Float32, Float64

PARTS: Final = ("prototype", "entry", "entry_context", "history")
_SEEN, _LAST_END, _DIMENSION = b"seen", b"last_end_ms", b"dimension"


def state_bytes(state: State) -> bytes:
    """A state as a file; all that it sums is whole, so integers hold it exactly."""
    dimension = state.prototype_sums.shape[1]
    matrices = (state.prototype_sums, *state.entry_sums, state.history)
    zeros = [np.zeros(len(matrix), np.int64) for matrix in matrices]
    counts = [state.recurrences, zeros[1], zeros[2], state.history_days]
    times = [state.last_ms, *zeros[1:]]
    flat = np.concatenate([np.asarray(matrix, np.int32).ravel() for matrix in matrices])
    names = np.repeat(np.arange(len(PARTS)), [len(matrix) for matrix in matrices])
    table = pa.table(
        {
            "part": pa.DictionaryArray.from_arrays(pa.array(names, pa.int8()), list(PARTS)).cast(pa.string()),
            "sum": pa.FixedSizeListArray.from_arrays(pa.array(flat), dimension),
            "count": pa.array(np.concatenate(counts)),
            "last_ms": pa.array(np.concatenate(times)),
        }
    )
    facts = {_SEEN: state.seen, _LAST_END: state.last_end_ms, _DIMENSION: dimension}
    table = table.replace_schema_metadata({name: str(value).encode() for name, value in facts.items()})
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd", use_dictionary=["part"], write_statistics=False)
    return sink.getvalue()


def read_state(data: bytes) -> State:
    """The inverse of state_bytes."""
    table = pq.read_table(pa.BufferReader(data))
    facts = table.schema.metadata
    dimension = int(facts[_DIMENSION])
    flat = table.column("sum").combine_chunks().flatten().to_numpy(zero_copy_only=False)
    sums = np.asarray(flat, np.float64).reshape(len(table), dimension)
    parts = np.array(table.column("part").to_pylist())
    counts, last_ms = (np.asarray(table.column(name).to_numpy(), np.int64) for name in ("count", "last_ms"))
    prototype, entry, context, history = (np.flatnonzero(parts == part) for part in PARTS)
    stacked: Float64 = np.stack([sums[entry], sums[context]])
    past: Float32 = np.asarray(sums[history], np.float32)
    return State(
        sums[prototype],
        counts[prototype],
        last_ms[prototype],
        stacked,
        past,
        counts[history],
        int(facts[_SEEN]),
        int(facts[_LAST_END]),
    )
