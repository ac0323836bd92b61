"""Builds on an S3 server that refuses a tenth of the requests and cuts one in fifty, killed and resumed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.chaos.builds import Victim
from tests.chaos.conftest import SEED, Undisturbed
from tests.chaos.s3 import environment, faulty, serving
from tests.chaos.watching import watched

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("victim", ["driver", "worker", "Ray and driver"])
def test_a_killed_build_on_a_faulty_server_ends_as_on_a_folder(
    victim: Victim, light_day: Undisturbed, tmp_path: Path, tell: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = SEED * 1000 + sum(map(ord, victim))
    with serving() as (server, root), faulty(server, seed) as proxy:
        for name, value in environment(server.url, tmp_path / "copies").items():
            monkeypatch.setenv(name, value)
        order = light_day.elsewhere(root, **environment(proxy.url, tmp_path / "builds-copies"))
        result = watched(order, light_day.content, victim, seed, light_day.seconds, tmp_path / "logs")
        refused = proxy.count("503")
        cut = len(proxy.seen) - refused - proxy.count(None)
    tell(f"faulty S3, {len(proxy.seen):,} requests, {refused} refused, {cut} cut: {result}")
    assert not result.faults, str(result)
    assert result.samples and refused and cut
