"""Real engines for slow tests, as fixtures; import them into a test module that wants them.

- `served`: Gemma 3 270M on vLLM under Ray Serve LLM, on the CPU, through `serving`.
- `vision_server`: the tiny Gemma 3 with eyes under `transformers serve`, on the CPU.

Both give ChatSettings with urls, last for one test module, and skip where the packages are missing.
"""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from ray_tasks.engines.serve import serving
from ray_tasks.engines.serve_front import free_port
from ray_tasks.engines.settings import ChatSettings, ServeSettings
from ray_tasks.scheduling.session import ray_session
from tests.engines.checkpoints import gemma_text, gemma_vision, need

READY_S = 900.0
"""Ready in one or two minutes on two quiet cores; a busy machine is no fault of the code."""


def cpu_settings(folder: Path) -> ChatSettings:
    """A checkpoint on vLLM's CPU build: small buffers, no compilation. It reserves no CPU, since Ray has only two."""
    serve = ServeSettings(
        source=str(folder),
        gpus=0,
        cpus=0,
        ready_s=READY_S,
        engine={"max_model_len": 8192, "dtype": "float32", "enforce_eager": True, "max_num_seqs": 16},
        env={"VLLM_CPU_KVCACHE_SPACE": "1"},
    )
    return ChatSettings(
        model="gemma-3-270m", serve=serve, concurrency=8, timeout_s=READY_S, max_tokens=64, longest_wait_s=5
    )


@pytest.fixture(scope="module")
def served() -> Iterator[ChatSettings]:
    """Settings with the url of a running Gemma 3 270M, in a Ray session of two CPUs that lasts as long."""
    need("vllm", "ray.serve")
    settings = cpu_settings(gemma_text())
    with ray_session(2), serving(settings, print) as running:
        yield running


@pytest.fixture(scope="module")
def vision_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChatSettings]:
    """Settings with the url of a running vision model. Its words are random."""
    need("transformers", "PIL", "uvicorn", "fastapi")
    folder = gemma_vision()
    log = tmp_path_factory.mktemp("vision") / "server.log"
    port = free_port()
    command = [str(Path(sys.executable).with_name("transformers")), "serve", str(folder)]
    options = ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    with log.open("w") as sink:
        server = subprocess.Popen([*command, *options], stdout=sink, stderr=subprocess.STDOUT)
    try:
        _wait_for(f"http://127.0.0.1:{port}/v1/models", server, log)
        yield ChatSettings(
            model=str(folder),
            urls=(f"http://127.0.0.1:{port}/v1",),
            structured="prompt",
            timeout_s=READY_S,
            concurrency=2,
        )
    finally:
        server.terminate()
        server.wait(60)


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + READY_S
    while time.monotonic() < end:
        if server.poll() is not None:
            break
        try:
            urllib.request.urlopen(url, timeout=10).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    pytest.fail(f"`transformers serve` did not come up:\n{log.read_text()[-3000:]}")
