from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from jobs import checks


def _installed(monkeypatch: pytest.MonkeyPatch, versions: dict[str, str]) -> None:
    def version(name: str) -> str:
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(metadata, "version", version)


def test_this_machine_has_what_the_tests_need() -> None:
    assert [check.name for check in (checks.check_python(), checks.check_packages()) if check.state != "ok"] == []


def test_missing_packages_are_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    _installed(monkeypatch, {name: "1" for name in checks.PACKAGES if name != "srt"})
    check = checks.check_packages()
    assert check.state == "broken"
    assert "srt" in check.found and "pip install" in check.mend


@pytest.mark.parametrize(
    ("versions", "state", "says"),
    [
        ({}, "broken", "no package"),
        ({"faiss-cpu": "1.15.1", "faiss-gpu": "1.15.1"}, "broken", "2 packages"),
        ({"faiss-cpu": "1.15.1"}, "ok", "faiss-cpu 1.15.1"),
    ],
)
def test_exactly_one_package_may_provide_faiss(
    monkeypatch: pytest.MonkeyPatch, versions: dict[str, str], state: str, says: str
) -> None:
    _installed(monkeypatch, versions)
    check = checks.check_faiss()
    assert check.state == state
    assert says in check.found
    assert (check.mend != "") == (state == "broken")


def test_a_folder_that_does_not_exist_yet_is_judged_by_its_parent(tmp_path: Path) -> None:
    assert checks.check_folder(tmp_path / "a" / "b").state == "ok"
    assert not (tmp_path / "a").exists()
    assert checks.check_disk(tmp_path / "a" / "b").name == "disk"


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    check = checks.check_folder(tmp_path)
    assert check.state == "broken"
    assert str(tmp_path) in check.found and "--root" in check.mend


def test_little_space_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "MIN_FREE_BYTES", 1 << 60)
    assert checks.check_disk(tmp_path).state == "warning"
