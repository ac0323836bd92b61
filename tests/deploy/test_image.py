"""deploy/Dockerfile: what it installs and copies is what the project declares. (No image is built here.)"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Any, Final

import pytest

from tests.deploy.documents import ROOT, packages, pyproject, ray_version

DOCKERFILE: Final = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
PROJECT: Final[dict[str, Any]] = pyproject()["project"]


def instructions(name: str) -> list[str]:
    """The arguments of every instruction of one kind, in order."""
    joined = DOCKERFILE.replace("\\\n", " ")
    return re.findall(rf"^{name} +(.+)$", joined, re.MULTILINE)


def requirements(extra: str) -> subprocess.CompletedProcess[str]:
    """Runs the script with which the Dockerfile lists the requirements."""
    match = re.search(r'<<"SCRIPT"\n(.*?)\nSCRIPT\n', DOCKERFILE, re.DOTALL)
    assert match
    return subprocess.run(
        [sys.executable, "-"],
        input=match[1],
        cwd=ROOT,
        env={**os.environ, "EXTRA": extra},
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_the_image_has_the_projects_python() -> None:
    (base,) = instructions("FROM")
    match = re.match(r"python:(3\.\d+)-slim", base)
    assert match and match[1] == "3.11"
    assert PROJECT["requires-python"] == ">=3.11"


def test_the_image_has_the_projects_ray_with_the_parts_a_cluster_needs() -> None:
    (installed,) = [line for line in instructions("RUN") if "ray[" in line]
    match = re.search(r'"ray\[([a-z,]+)\]==([\d.]+)"', installed)
    assert match
    assert {"data", "default", "serve"} <= set(match[1].split(","))
    assert match[2] == ray_version()


@pytest.mark.parametrize(("extra", "other"), [("cpu", "gpu"), ("gpu", "cpu")])
def test_an_extra_brings_its_own_faiss_and_all_other_dependencies(extra: str, other: str) -> None:
    ended = requirements(extra)
    assert ended.returncode == 0, ended.stderr
    listed = ended.stdout.splitlines()
    assert listed == [*PROJECT["dependencies"], *PROJECT["optional-dependencies"][extra]]
    assert sum(line.startswith("faiss-") for line in listed) == 1
    assert not any(line.startswith(f"faiss-{other}") for line in listed)


def test_an_unknown_extra_stops_the_build() -> None:
    ended = requirements("tpu")
    assert ended.returncode != 0
    assert "EXTRA must be cpu or gpu" in ended.stderr


def test_every_package_and_every_file_the_build_of_the_project_reads_is_copied() -> None:
    copied = {source for line in instructions("COPY") for source in line.split()[:-1]}
    needed = packages() | {"pyproject.toml", PROJECT["readme"], *PROJECT["license-files"]}
    assert copied == needed
    assert all((ROOT / source).exists() for source in copied)


def test_only_what_is_copied_is_sent_to_the_builder() -> None:
    lines = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    copied = {source for line in instructions("COPY") for source in line.split()[:-1]}
    assert patterns[0] == "*"
    assert {pattern.removeprefix("!") for pattern in patterns if pattern.startswith("!")} == copied


def test_the_image_runs_as_the_user_of_the_pods_with_a_home() -> None:
    assert instructions("USER") == ["1000:1000"]
    assert any("--uid 1000" in line and "/bin/bash" in line for line in instructions("RUN"))
    assert "HOME=/home/ray" in instructions("ENV")
    after = DOCKERFILE[DOCKERFILE.index("\nUSER ") :]
    assert "\nRUN " not in after
