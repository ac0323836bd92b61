"""The loss ledger: books that balance, and books that do not."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ray_tasks.ledger import Ledger, LedgerError, merge_ledgers

reasons = st.dictionaries(st.sampled_from(["empty", "bad_stamp", "loop"]), st.integers(0, 50)).map(Counter)
ledgers = st.builds(Ledger, st.integers(0, 200), st.integers(0, 200), reasons, reasons, reasons)


def test_a_row_that_is_accounted_for_nowhere_is_named_with_its_place() -> None:
    ledger = Ledger(taken=5, done=2, filtered=Counter(empty=1), failed=Counter(bad_stamp=1))
    assert ledger.missing == 1
    with pytest.raises(LedgerError, match="stage extract: 1 of 5 rows are unaccounted for"):
        ledger.check("stage extract")
    ledger.done += 1
    ledger.check("stage extract")


def test_a_row_that_is_booked_twice_is_found_too() -> None:
    with pytest.raises(LedgerError, match="-1 of 1"):
        Ledger(taken=1, done=2).check("here")


def test_notes_are_about_rows_that_were_kept_and_change_no_balance() -> None:
    Ledger(taken=1, done=1, notes=Counter(reversed=1)).check("here")


@given(st.lists(ledgers, max_size=5))
def test_sums_keep_what_is_missing_and_survive_json(parts: list[Ledger]) -> None:
    total = merge_ledgers(parts)
    assert total.missing == sum(part.missing for part in parts)
    assert total.taken == sum(part.taken for part in parts)
    assert Ledger.from_json(total.to_json()).to_json() == total.to_json()
