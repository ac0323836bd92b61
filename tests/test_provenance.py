"""What made a result."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ray_tasks import provenance
from ray_tasks.errors import UsageError


def copy_of_the_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small package that the digest is taken of instead."""
    package = folder / "package"
    (package / "deep").mkdir(parents=True)
    (package / "a.py").write_text("one = 1\n", encoding="utf-8")
    (package / "deep" / "words.txt").write_text("kettle\n", encoding="utf-8")
    (package / "deep" / "a.pyc").write_bytes(b"compiled")
    monkeypatch.setattr(provenance, "__file__", str(package / "provenance.py"))
    return package


def digest() -> str:
    """The digest as a fresh process would take it."""
    provenance.code_digest.cache_clear()
    return provenance.code_digest()


@pytest.fixture(autouse=True)
def forget() -> None:
    provenance.code_digest.cache_clear()


def test_equal_code_has_an_equal_digest_wherever_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_of_the_package(tmp_path / "here", monkeypatch)
    first = digest()
    copy_of_the_package(tmp_path / "there", monkeypatch)
    assert digest() == first and len(first) == 16


@pytest.mark.parametrize("change", ["content", "name", "new", "word list"])
def test_any_change_of_code_or_word_lists_changes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    package = copy_of_the_package(tmp_path, monkeypatch)
    first = digest()
    if change == "content":
        (package / "a.py").write_text("one = 2\n", encoding="utf-8")
    elif change == "name":
        (package / "a.py").rename(package / "b.py")
    elif change == "new":
        (package / "deep" / "c.py").touch()
    else:
        (package / "deep" / "words.txt").write_text("rope\n", encoding="utf-8")
    assert digest() != first


def test_what_python_compiles_is_no_part_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = copy_of_the_package(tmp_path, monkeypatch)
    first = digest()
    (package / "deep" / "a.pyc").write_bytes(b"compiled again")
    assert digest() == first


def test_a_files_digest_is_its_sha256_and_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "questions.json"
    path.write_bytes(b"[]")
    assert provenance.file_digest(path) == hashlib.sha256(b"[]").hexdigest()
    with pytest.raises(UsageError, match=r"missing\.json"):
        provenance.file_digest(tmp_path / "missing.json")
