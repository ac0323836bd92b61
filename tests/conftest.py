"""Fixtures shared by all tests."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from hypothesis import settings

# Whoever runs the tests may have Ctrl-C ignored, as a shell does for what it starts in the background; tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine is no fault of the code: properties are checked for what they say, not for how fast.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with real recordings beside the checkout; tests that ask for it skip where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("real recordings are not at hand")
    return SHARED_DATA
