"""The sample week on S3 is the sample week on a local folder, byte for byte and answer for answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.conftest import Undisturbed
from tests.chaos.folder_and_s3 import Exam, differences
from tests.chaos.s3 import environment, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


def test_a_memory_on_s3_is_the_one_on_a_folder(
    week: Path, whole_week: Undisturbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exams = [Exam(wearer, week / "questions" / f"{wearer}.json") for wearer in ("B1_MARA", "B2_TOBI")]
    with serving() as (server, root):
        variables = environment(server.url, tmp_path / "copies")
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        assert differences(whole_week.order, root, variables, exams, tmp_path) == []
