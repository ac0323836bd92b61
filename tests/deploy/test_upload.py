"""deploy/runtime_env.yaml: what `ray job submit` would upload from the checkout, packed by Ray's own code."""

from __future__ import annotations

import importlib
import zipfile
from pathlib import Path
from typing import Any, Final

import pytest

from tests.deploy.documents import ROOT, load, packages, secrets

LIMIT_BYTES: Final = 5_000_000
CODE: Final = tuple(sorted(packages()))


def pack(checkout: Path, folder: Path) -> zipfile.ZipFile:
    """The package that `ray job submit --runtime-env deploy/runtime_env.yaml` sends from a checkout."""
    packaging: Any = importlib.import_module("ray._private.runtime_env.packaging")
    upload: Any = importlib.import_module("ray._private.runtime_env.working_dir").upload_working_dir_if_needed
    target = folder / "package.zip"

    def keep(working_dir: str, excludes: list[str], is_file: bool = False) -> None:
        assert not is_file
        packaging.create_package(working_dir, target, include_gitignore=True, excludes=excludes)

    environment = load("deploy/runtime_env.yaml")
    assert environment["working_dir"] == "."
    upload({**environment, "working_dir": str(checkout)}, include_gitignore=True, upload_fn=keep)
    return zipfile.ZipFile(target)


def test_the_upload_of_this_checkout_is_small_and_all_code(tmp_path: Path) -> None:
    with pack(ROOT, tmp_path) as package:
        names = package.namelist()
        assert (tmp_path / "package.zip").stat().st_size < LIMIT_BYTES
        assert sum(entry.file_size for entry in package.infolist()) < LIMIT_BYTES
    assert {name.split("/")[0] for name in names} == set(CODE)
    assert not [name for name in names if "__pycache__" in name]


def test_no_module_and_no_data_file_of_the_code_is_missing(tmp_path: Path) -> None:
    expected = {
        path.relative_to(ROOT).as_posix()
        for name in CODE
        for suffix in ("py", "yaml", "txt", "json")
        for path in (ROOT / name).rglob(f"*.{suffix}")
        if "__pycache__" not in path.parts
    }
    with pack(ROOT, tmp_path) as package:
        assert expected <= set(package.namelist())


@pytest.mark.parametrize(
    "stray",
    [
        ".git/objects/pack/large.pack",
        ".venv/lib/torch.so",
        ".env",
        "daybook-root/current.json",
        "recordings/M1_MARA/DAY1/notes.srt",
        "x",
        "notebooks/look.ipynb",
        "jobs/__pycache__/build.cpython-311.pyc",
        "ray_tasks/corpus/__pycache__/layout.cpython-311.pyc",
    ],
)
def test_what_else_lies_in_a_checkout_stays_there(tmp_path: Path, stray: str) -> None:
    checkout = tmp_path / "checkout"
    for name in CODE:
        (checkout / name / "deep").mkdir(parents=True)
        (checkout / name / "deep" / "module.py").touch()
    (checkout / stray).parent.mkdir(parents=True, exist_ok=True)
    (checkout / stray).write_bytes(b"private")
    with pack(checkout, tmp_path) as package:
        assert sorted(package.namelist()) == [f"{name}/deep/module.py" for name in CODE]


def test_ray_accepts_the_file_and_it_installs_nothing_and_holds_no_key() -> None:
    environment = load("deploy/runtime_env.yaml")
    assert environment.keys() == {"working_dir", "excludes", "env_vars"}
    assert all(isinstance(value, str) for value in environment["env_vars"].values())
    runtime_env: Any = importlib.import_module("ray.runtime_env").RuntimeEnv
    assert runtime_env(**environment).to_dict() == environment
    assert secrets(environment) == []
