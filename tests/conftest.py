"""Fixtures shared by all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with real recordings and questions beside the checkout; tests that ask for it skip where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("real recordings are not at hand")
    return SHARED_DATA
