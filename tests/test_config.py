"""The configuration of a build: defaults, files, overrides, and mistakes in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ray_tasks.config import BuildConfig, load_config
from ray_tasks.errors import UsageError


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "build.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_the_defaults_hold() -> None:
    assert load_config(None) == BuildConfig()
    assert load_config(None, engine=None) == BuildConfig()


def test_a_file_changes_defaults_and_an_override_changes_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "max_failed_shards: 2\nembedding_model: some/folder\n")
    assert load_config(path).max_failed_shards == 2
    assert load_config(path, max_failed_shards=5) == BuildConfig(embedding_model="some/folder", max_failed_shards=5)


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    assert load_config(write(tmp_path, "# nothing yet\n")) == BuildConfig()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("engine: magic\n", "engine"),
        ("max_failed_shards: -1\n", "max_failed_shards"),
        ("max_failed_shards: many\n", "max_failed_shards"),
        ("max_failed_shard: 1\n", "max_failed_shard"),
        ("- engine\n", "names and values"),
        ("engine: [rules\n", "not a YAML file"),
    ],
)
def test_a_mistake_is_told_with_file_and_field(tmp_path: Path, text: str, says: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(UsageError) as raised:
        load_config(path)
    assert str(path) in str(raised.value)
    assert says in str(raised.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent\.yaml: cannot be read"):
        load_config(tmp_path / "absent.yaml")
    (tmp_path / "build.yaml").write_bytes(b"engine: \xff\n")
    with pytest.raises(UsageError, match="not a YAML file"):
        load_config(tmp_path / "build.yaml")
