"""Cosines that have the same bits however they are computed.

A float32 matrix product depends in its last bits on the shapes multiplied, so a score could change with the batch a
question is asked in, or with what was recorded after it. Here unit vectors are first rounded to whole multiples of
1/SCALE. Every product and every partial sum is then a whole number below 2**24 (SCALE**2 and a little for the
rounding), which float32 holds exactly, in whatever order it is summed. The rounding moves a cosine by about 1e-4.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

SCALE = 4000.0
NO_ROW = -(SCALE**2)
"""The product of opposite vectors, for clips without rows."""


def whole_vectors(vectors: Float32) -> Float32:
    """Unit vectors (n, d) as whole numbers of 1/SCALE, float32."""
    return np.asarray(np.rint(np.asarray(vectors, np.float32) * np.float32(SCALE)), np.float32)


def cosines(rows: Float32, queries: Float32) -> Float64:
    """Exact products of whole vectors (n, d) and (m, d) as cosines; shape (n, m)."""
    return as_cosines(rows @ queries.T)


def as_cosines(products: Float32) -> Float64:
    """Products of whole vectors as cosines."""
    return np.asarray(products, np.float64) / SCALE**2
