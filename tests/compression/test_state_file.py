from __future__ import annotations

import numpy as np

from ray_tasks.compression.online import Compressor
from ray_tasks.compression.state_file import read_state, state_bytes
from tests.compression.test_online import SMALL, stream


def test_a_state_comes_back_as_it_was_and_equal_states_give_equal_bytes() -> None:
    vectors, starts = stream(4, 90)
    compressor = Compressor(12, SMALL)
    compressor.feed(vectors[:50], starts[:50], starts[:50])
    data = state_bytes(compressor.state)
    again = Compressor.resume(read_state(data), SMALL)
    assert state_bytes(again.state) == data
    left = [one.feed(vectors[50:], starts[50:], starts[50:]) for one in (compressor, again)]
    assert np.array_equal(left[0].entries, left[1].entries)
    assert np.array_equal(left[0].importance, left[1].importance)


def test_a_state_before_the_first_record_is_kept_too() -> None:
    state = read_state(state_bytes(Compressor(12, SMALL).state))
    assert state.entry_sums.shape == (2, 0, 12)
    assert state.seen == 0
