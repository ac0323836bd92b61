"""Matrix products on one core each: those of a question are too small to be shared among cores.

Where the library of numpy shares them all the same, its threads spend most of the time waiting for each other: on two
busy cores a question took four times the CPU time. The products are the same to the bit (see embedding/whole_vectors).
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np
from threadpoolctl import threadpool_limits


def products_on_one_core() -> AbstractContextManager[object]:
    """Limits numpy's products in the whole process, from the call on; as a context manager, until its end."""
    np.zeros((1, 1)) @ np.zeros((1, 1))  # only a library that is loaded can be limited
    limits: AbstractContextManager[object] = threadpool_limits(1, user_api="blas")
    return limits
